/* SPDX-License-Identifier: MIT
 *
 * The assertion on whole files: their SHA-256. */
#include <stdlib.h>
#include <string.h>

#include "answers/check_parts.h"

/* What each file should have; before any is read. */
static enum dti_status find(struct dti_check_report *report, const struct dti_digest **ret,
                            struct dti_error *reterr)
{
    const struct dti_check_request *const request = report->request;
    const struct dti_container *const container = report->container;
    const size_t count = dti_digest_count(container);
    const bool list = request->list.path != NULL;
    char label[DTI_QUOTE_SIZE];
    if (!list && count != 1) {
        report->refusal = DTI_CHECK_ONE_DIGEST;
        return dti_fail(reterr, DTI_USAGE, "one digest is given for several files");
    }
    for (size_t i = 0; i < count; i++) {
        const struct dti_input *const input = &dti_digest_file(container, i)->input;
        ret[i] = list ? dti_digest_list_find(&request->list, input) : &request->digest;
        if (!ret[i])
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is not in the list %s",
                            dti_input_label(input, label),
                            DTI_QUOTED(request->list.path, strlen(request->list.path)));
    }
    return DTI_OK;
}

static enum dti_status compare(struct dti_check_report *report, size_t at,
                               const struct dti_digest *const *wanted, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    struct dti_check_failure failure = {
        .assertion = at, .tensor = SIZE_MAX, .fault = DTI_CHECK_OTHER_DIGEST};
    enum dti_status status =
        dti_reading_digests(&report->request->reading, container, &report->digests, reterr);
    for (; failure.index < dti_digest_count(container) && status == DTI_OK; failure.index++) {
        if (memcmp(&report->digests[failure.index], wanted[failure.index],
                   sizeof *wanted[failure.index]) != 0)
            status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

enum dti_status dti_check_digest(struct dti_check_report *report, size_t at,
                                 struct dti_error *reterr)
{
    const size_t count = dti_digest_count(report->container);
    const struct dti_digest **const wanted = calloc(count + 1, sizeof *wanted);
    enum dti_status status =
        wanted ? find(report, wanted, reterr) : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK)
        status = compare(report, at, wanted, reterr);
    free((void *)wanted);
    return status;
}
