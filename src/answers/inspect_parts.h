/* SPDX-License-Identifier: MIT
 *
 * What the files of an inspection share. */
#ifndef DTINFO_ANSWERS_INSPECT_PARTS_H
#define DTINFO_ANSWERS_INSPECT_PARTS_H

#include "answers/inspect.h"

/* inspect_select.c: which tensors, in which order. */
enum dti_status dti_inspect_select(struct dti_inspect_report *report, struct dti_error *reterr);
/* inspect_totals.c */
enum dti_status dti_inspect_sum(struct dti_inspect_report *report, struct dti_error *reterr);
/* inspect_scan.c: fills figures and all. */
enum dti_status dti_inspect_scan(struct dti_inspect_report *report, struct dti_error *reterr);

#endif
