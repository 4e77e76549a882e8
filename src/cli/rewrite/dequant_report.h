/* SPDX-License-Identifier: MIT
 *
 * Members of a struct dti_rewrite_command that reads quantized tensors and casts their numbers. */
#ifndef CLI_REWRITE_DEQUANT_REPORT_H
#define CLI_REWRITE_DEQUANT_REPORT_H

#include "cli/rewrite/rewrite_job.h"

/* open: fills request.dequant from job->view and the options on tensors. Fails with DTI_BAD_INPUT,
 * too, if nothing is quantized. */
enum dti_status dti_dequant_view(struct dti_rewrite_job *job, struct dti_error *reterr);
/* page: a line per storage form of the tensors, the losses of the cast to the dtype, and with -v
 * every tensor. */
extern const struct dti_rewrite_page dti_dequant_page;

#endif
