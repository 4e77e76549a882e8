/* SPDX-License-Identifier: MIT
 *
 * The forms that finfo's answer takes. */
#ifndef DTINFO_CLI_FINFO_H
#define DTINFO_CLI_FINFO_H

#include "cli/dtype_operands.h"
#include "dtinfo/error.h"

/* The full block of each dtype, a blank line between two. */
void dti_finfo_human(const struct dti_dtype_operand *list, size_t count, struct dti_context *cx);

/* A line for each dtype. */
void dti_finfo_table(const struct dti_dtype_operand *list, size_t count, struct dti_context *cx);

enum dti_status dti_finfo_json(const struct dti_dtype_operand *list, size_t count,
                               struct dti_context *cx, struct dti_error *reterr);

/* The format whose limits are meant: the dtype itself, or the parts of a complex one. */
static inline const struct dti_format *finfo_format(const struct dti_format *dtype)
{
    return dtype->kind == DTI_KIND_COMPLEX ? dti_format_get(dtype->part) : dtype;
}

#endif
