/* SPDX-License-Identifier: MIT
 *
 * Pages of the commands that read quantized tensors and cast their numbers: a line per storage form
 * of the tensors, the losses of the cast to the dtype, and with -v every tensor. */
#ifndef CLI_REWRITE_DEQUANT_REPORT_H
#define CLI_REWRITE_DEQUANT_REPORT_H

#include "cli/rewrite/rewrite_page.h"

#define DTI_TRANSCODE_EXAMPLE "as in 'dtinfo transcode model --to compressed-tensors -o out'"

extern const struct dti_rewrite_page dti_dequant_page; /* quant --dequant */
extern const struct dti_rewrite_page dti_floats_page;  /* transcode to floats */

/* By enum dti_fate, for all pages of transcode. */
extern const char *const dti_transcode_kept[DTI_FATE_COUNT];

#endif
