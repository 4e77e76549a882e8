/* SPDX-License-Identifier: MIT
 *
 * The parts of the transcode command. */
#ifndef DTINFO_CLI_TRANSCODE_JOB_H
#define DTINFO_CLI_TRANSCODE_JOB_H

#include "cli/shared/rewrite_job.h"

/* transcode_human.c: a line per way in which tensors were stored, what stayed the same, and the
 * tensors that did not, with -v all of them. */
extern const struct dti_rewrite_page dti_transcode_page;

#endif
