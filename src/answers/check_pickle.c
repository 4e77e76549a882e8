/* SPDX-License-Identifier: MIT
 *
 * The assertion that the pickles of a file import only what torch.save() writes. */
#include "answers/check_answer.h"

enum dti_status dti_check_pickles(struct dti_check_report *report, size_t at,
                                  struct dti_error *reterr)
{
    struct dti_pickle_scan *const scan = &report->pickles;
    enum dti_status status = dti_pickle_scan(scan, report->path, reterr);
    struct dti_check_failure failure = {
        .assertion = at, .tensor = SIZE_MAX, .fault = DTI_CHECK_GLOBAL};
    report->scanned = status == DTI_OK;
    for (size_t i = 0; i < scan->import_count && status == DTI_OK; i++) {
        failure.index = i;
        if (!scan->imports[i].known)
            status = dti_check_fail(report, &failure, reterr);
    }
    failure.fault = DTI_CHECK_PICKLES;
    for (size_t i = 0; i < scan->fault_count && status == DTI_OK; i++) {
        failure.index = scan->import_count + i;
        status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}
