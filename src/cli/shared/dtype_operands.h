/* SPDX-License-Identifier: MIT
 *
 * Operands that are dtypes, as finfo and iinfo take them: several, separated by blanks or commas,
 * or none for all of a kind. And what one says of a dtype in words. */
#ifndef DTINFO_CLI_DTYPE_OPERANDS_H
#define DTINFO_CLI_DTYPE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "answers/ask.h"
#include "cli/shell/command.h"
#include "dtinfo/dtype.h"
#include "dtinfo/json.h"

/* Whether a command takes a dtype. Called without reterr for the dtypes of "none means all". */
typedef enum dti_status dti_dtype_check(const struct dti_format *format, struct dti_error *reterr);

/* Looks one name up, checks it (check may be NULL) and says its note on stderr. */
enum dti_status dti_dtype_operand_read(const char *name, dti_dtype_check *check,
                                       const struct dti_context *cx, struct dti_dtype_operand *ret,
                                       struct dti_error *reterr);

/* How many names there are, blanks and commas between them. */
size_t dti_dtype_words(char **operands, int operand_count);

/* Looks the operands up and checks them; says their notes on stderr. The list is to be freed. */
enum dti_status dti_dtype_operands_read(char **operands, int operand_count, dti_dtype_check *check,
                                        const struct dti_context *cx,
                                        struct dti_dtype_operand **ret_list, size_t *ret_count,
                                        struct dti_error *reterr);

/* Fills an error that says to use another command: "int8 is an integer dtype; use 'dtinfo iinfo
 * int8'". */
enum dti_status dti_dtype_wrong_kind(const struct dti_format *format, const char *what,
                                     const char *command, struct dti_error *reterr);

/* The first name of a dtype in a system, or NULL. */
const char *dti_dtype_name_in(const struct dti_format *format, enum dti_system system);

/* An error of --style: "torch.finfo has no tf32; it has fp64, fp32, ...", all that pass the check.
 */
typedef bool dti_dtype_filter(const struct dti_format *format);
enum dti_status dti_dtype_not_there(const struct dti_format *format, const char *where,
                                    dti_dtype_filter *is_there, struct dti_error *reterr);

#endif
