/* SPDX-License-Identifier: MIT
 *
 * finfo and iinfo as other libraries print them, character for character, for those who compare. */
#ifndef DTINFO_CLI_INFO_STYLE_H
#define DTINFO_CLI_INFO_STYLE_H

#include "cli/shared/dtype_operands.h"

enum dti_info_style { DTI_INFO_STYLE_TORCH, DTI_INFO_STYLE_NUMPY };
extern const struct dti_choice dti_info_styles[];

/* A line for each dtype. A dtype that the library lacks is an error, or left out when `all` were
 * asked for. */
enum dti_status dti_finfo_in_style(enum dti_info_style style, const struct dti_dtype_operand *list,
                                   size_t count, bool all, struct dti_context *cx,
                                   struct dti_error *reterr);
enum dti_status dti_iinfo_in_style(enum dti_info_style style, const struct dti_dtype_operand *list,
                                   size_t count, bool all, struct dti_context *cx,
                                   struct dti_error *reterr);

#endif
