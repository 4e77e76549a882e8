/* SPDX-License-Identifier: MIT
 *
 * What --digest names: one digest, or a list of them; and requests that do not fit a file. */
#include <string.h>

#include "cli/check/check_job.h"
#include "dtinfo/ascii.h"

static enum dti_status refuse(const char *piece, size_t length, const char *problem,
                              struct dti_error *reterr)
{
    return dti_fail_word(reterr, DTI_USAGE, piece, length,
                         "--digest takes sha256:HEX or a list made by sha256sum; %s %s",
                         DTI_QUOTED(piece, length), problem);
}

/* Length of a prefix such as "sha512:" before hexadecimal digits; 0: the text is the name of a
 * list. */
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

enum dti_status dti_check_digest_read(struct dti_check_request *request, const char *text,
                                      struct dti_error *reterr)
{
    const size_t name = algorithm(text), length = strlen(text + name);
    const bool sha256 = name == DTI_DIGEST_NAME && dti_ascii_equal_start(text, "sha256", 6);
    if (name > 0 && !sha256)
        return refuse(text, name + length, "uses another algorithm", reterr);
    if (name == 0 && dti_digest_parse(text, length, &request->digest))
        return refuse(text, length, "lacks the prefix sha256:", reterr);
    if (name == 0)
        return dti_digest_list_read(&request->list, text, reterr);
    if (length == DTI_DIGEST_DIGITS && dti_digest_parse(text + name, length, &request->digest))
        return DTI_OK;
    char problem[48];
    (void)snprintf(problem, sizeof problem, "has %zu digits, not %d", length,
                   (int)DTI_DIGEST_DIGITS);
    return refuse(text, name + length, problem, reterr);
}

/* Checks the request against the file. */
enum dti_status dti_check_refuse(const struct dti_check_report *report, struct dti_error *reterr)
{
    const char *const only = report->request->only, *const path = report->path;
    char file[DTI_QUOTE_SIZE];
    (void)dti_quote(file, path, strlen(path));
    if (report->refusal == DTI_CHECK_ONE_DIGEST)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has %zu files; give a list of their digests, as 'dtinfo inspect "
                        "--digest' prints it",
                        file, dti_digest_count(report->container));
    return dti_fail_word(reterr, DTI_USAGE, only, strlen(only), "%s: --only %s matches no tensor",
                         file, DTI_QUOTED(only, strlen(only)));
}
