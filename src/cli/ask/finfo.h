/* SPDX-License-Identifier: MIT
 *
 * The forms that finfo's answer takes. */
#ifndef DTINFO_CLI_FINFO_H
#define DTINFO_CLI_FINFO_H

#include "cli/shared/dtype_operands.h"
#include "dtinfo/error.h"

/* The full block of each dtype, a blank line between two. */
enum dti_status dti_finfo_human(const struct dti_dtype_operand *list, size_t count,
                                struct dti_context *cx, struct dti_error *reterr);

/* A line for each dtype. */
enum dti_status dti_finfo_table(const struct dti_dtype_operand *list, size_t count,
                                struct dti_context *cx, struct dti_error *reterr);

#endif
