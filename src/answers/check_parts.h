/* SPDX-License-Identifier: MIT
 *
 * What the files of a check share. */
#ifndef DTINFO_ANSWERS_CHECK_PARTS_H
#define DTINFO_ANSWERS_CHECK_PARTS_H

#include "answers/check_answer.h"

/* check_names.c: an assertion that names, dtypes and shapes alone decide, over the tensors of the
 * list. */
enum dti_status dti_check_names(struct dti_check_report *report, size_t at, const size_t *tensors,
                                size_t count, struct dti_error *reterr);

/* check_run.c: adds a failure; DTI_NO_MEMORY. */
enum dti_status dti_check_fail(struct dti_check_report *report,
                               const struct dti_check_failure *failure, struct dti_error *reterr);

/* check_digest.c: an assertion's files whose digests are others. */
enum dti_status dti_check_digest(struct dti_check_report *report, size_t at,
                                 struct dti_error *reterr);

/* check_values.c: assertions that need the data, over the tensors of the list. */
enum dti_status dti_check_values(struct dti_check_report *report, const size_t *tensors,
                                 size_t count, struct dti_error *reterr);

#endif
