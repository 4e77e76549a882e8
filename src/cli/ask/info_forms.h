/* SPDX-License-Identifier: MIT
 *
 * The forms that the answers of finfo and iinfo take. */
#ifndef DTINFO_CLI_INFO_FORMS_H
#define DTINFO_CLI_INFO_FORMS_H

#include "cli/shared/dtype_operands.h"

/* finfo_human.c */
/* The full block of each dtype, a blank line between two. */
enum dti_status dti_finfo_human(const struct dti_dtype_operand *list, size_t count,
                                struct dti_context *cx, struct dti_error *reterr);

/* A line for each dtype. */
enum dti_status dti_finfo_table(const struct dti_dtype_operand *list, size_t count,
                                struct dti_context *cx, struct dti_error *reterr);

/* The options of both commands. */
struct dti_info_args {
    int style; /* enum dti_info_style */
    bool style_given;
};
extern const struct dti_option dti_info_options[];

/* info_style.c: as other libraries print them, character for character, for those who compare. */
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
