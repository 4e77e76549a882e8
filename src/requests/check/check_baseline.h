/* SPDX-License-Identifier: MIT
 *
 * Failures that are known: those in an earlier document of 'dtinfo check --json'. Each covers one
 * failure with the same identity (check_answer.h). */
#ifndef REQUESTS_CHECK_CHECK_BASELINE_H
#define REQUESTS_CHECK_CHECK_BASELINE_H

#include "answers/check/check_answer.h"

struct dti_baseline;

/* Fails with DTI_BAD_INPUT, DTI_NO_MEMORY. */
enum dti_status dti_baseline_read(struct dti_baseline **ret, const char *path,
                                  struct dti_error *reterr);
void dti_baseline_free(struct dti_baseline *baseline); /* NULL is allowed */

/* Marks the known failures of a report: `mark_known` of a request, whose context is a baseline. */
enum dti_status dti_baseline_mark(void *context, struct dti_check_report *report,
                                  struct dti_error *reterr);

/* Known failures of marked reports that occurred less often than in the baseline, by index, in
 * words; NULL behind the last one. Fast for one index after the other. */
const char *dti_baseline_gone(struct dti_baseline *baseline, size_t index);

#endif
