/* SPDX-License-Identifier: MIT
 *
 * The parts of the transcode command. */
#ifndef DTINFO_CLI_TRANSCODE_JOB_H
#define DTINFO_CLI_TRANSCODE_JOB_H

#include "cli/shared/rewrite_job.h"

/* transcode_human.c: a summary line, a line per way in which tensors were stored, what stayed the
 * same, and the tensors that did not, with -v all of them. */
enum dti_status dti_transcode_human(struct dti_rewrite_job *job, struct dti_error *reterr);

#endif
