/* SPDX-License-Identifier: MIT
 *
 * The assertions that a file's pickles import only what torch.save() writes, and that no other
 * weights are in the same folder. */
#include "answers/check/check_answer.h"

#include <string.h>

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

bool dti_check_is_invalid_note(const struct dti_note *note)
{
    return strcmp(note->code, "two_models") == 0 || strcmp(note->code, "stray_shards") == 0;
}

/* Reports weights in the folder that are not the model's, but that a program could load. */
enum dti_status dti_check_add_invalid_notes(struct dti_check_report *report, size_t at,
                                            struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < container->note_count && status == DTI_OK; i++) {
        const struct dti_check_failure failure = {
            .assertion = at, .tensor = SIZE_MAX, .fault = DTI_CHECK_OTHER_WEIGHTS, .index = i};
        if (dti_check_is_invalid_note(&container->notes[i]))
            status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}
