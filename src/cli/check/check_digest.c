/* SPDX-License-Identifier: MIT
 *
 * The assertion on whole files: their SHA-256. */
#include <stdlib.h>
#include <string.h>

#include "cli/check/check_job.h"
#include "dtinfo/ascii.h"

static enum dti_status refuse(const char *text, const char *problem, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE, "--digest takes sha256:HEX or a list of sha256sum; %s %s",
                   dti_quote(quoted, text, strlen(text)), problem);
    dti_error_argument(reterr, text, strlen(text));
    return DTI_USAGE;
}

/* Bytes of "sha512:" in front of hexadecimal digits alone; 0: it is the name of a list. */
static size_t algorithm(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t length = strspn(text, letters);
    if (length == 0 || text[length] != ':')
        return 0;
    const char *const rest = text + length + 1;
    return rest[strspn(rest, "0123456789abcdefABCDEF")] == '\0' ? length + 1 : 0;
}

enum dti_status dti_check_digest_init(struct check_job *job, struct dti_error *reterr)
{
    const char *const text = job->args->digest;
    const size_t name = algorithm(text), length = strlen(text + name);
    const bool sha256 = name == DTI_DIGEST_NAME && dti_ascii_equal_start(text, "sha256", 6);
    if (name > 0 && !sha256)
        return refuse(text, "is of another algorithm", reterr);
    if (name == 0 && dti_digest_parse(text, length, &job->digest))
        return refuse(text, "lacks sha256: in front", reterr);
    if (name == 0)
        return dti_digest_list_read(&job->list, text, reterr);
    if (length == DTI_DIGEST_DIGITS && dti_digest_parse(text + name, length, &job->digest))
        return DTI_OK;
    char problem[48];
    (void)snprintf(problem, sizeof problem, "has %zu digits, not %d", length,
                   (int)DTI_DIGEST_DIGITS);
    return refuse(text, problem, reterr);
}

/* What each file should have; before any is read. */
static enum dti_status find(const struct check_job *job, const struct dti_container *container,
                            const struct dti_digest **ret, struct dti_error *reterr)
{
    const size_t count = dti_digest_count(container);
    const bool list = job->list.path != NULL;
    char label[DTI_QUOTE_SIZE], quoted[DTI_QUOTE_SIZE];
    if (!list && count != 1)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has %zu files; give a list of their digests, as 'dtinfo inspect "
                        "--digest' prints it",
                        dti_quote(quoted, container->path, strlen(container->path)), count);
    for (size_t i = 0; i < count; i++) {
        const struct dti_input *const input = &dti_digest_file(container, i)->input;
        ret[i] = list ? dti_digest_list_find(&job->list, input) : &job->digest;
        if (!ret[i])
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is not in the list %s",
                            dti_input_label(input, label),
                            dti_quote(quoted, job->list.path, strlen(job->list.path)));
    }
    return DTI_OK;
}

static enum dti_status compare(const struct check_job *job, struct check_report *report,
                               const struct dti_digest *const *wanted, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    struct check_failure failure = {.tensor = SIZE_MAX, .fault = CHECK_OTHER_DIGEST};
    struct dti_progress progress;
    dti_file_progress_start(&progress, job->cx, dti_digest_input_bytes(container));
    const enum dti_status status =
        dti_digest_files(container, report->digests, dti_file_progress_show, &progress, reterr);
    dti_progress_end(&progress);
    if (status != DTI_OK)
        return status;
    while (job->assertions[failure.assertion].kind != CHECK_DIGEST)
        failure.assertion++;
    for (size_t i = 0; i < dti_digest_count(container); i++) {
        failure.index = i;
        if (memcmp(&report->digests[i], wanted[i], sizeof *wanted[i]) != 0 &&
            !dti_check_fail(report, &failure))
            return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    return DTI_OK;
}

enum dti_status dti_check_digest(const struct check_job *job, struct check_report *report,
                                 struct dti_error *reterr)
{
    const size_t count = dti_digest_count(report->container);
    const struct dti_digest **const wanted = calloc(count + 1, sizeof *wanted);
    report->digests = calloc(count + 1, sizeof *report->digests);
    enum dti_status status = wanted && report->digests
                                 ? find(job, report->container, wanted, reterr)
                                 : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK)
        status = compare(job, report, wanted, reterr);
    free((void *)wanted);
    return status;
}
