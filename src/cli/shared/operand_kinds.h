/* SPDX-License-Identifier: MIT
 *
 * Dtype operands, for finfo and iinfo: several, separated by blanks or commas, or none for all of a
 * kind. And a dtype in words. */
#ifndef CLI_SHARED_OPERAND_KINDS_H
#define CLI_SHARED_OPERAND_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "answers/ask.h"
#include "cli/shell/command.h"
#include "core/dtype/dtype.h"
#include "report/json.h"

/* Whether a command takes a dtype. Called without reterr to filter all dtypes if none are named. */
typedef enum dti_status dti_dtype_check(const struct dti_format *format, struct dti_error *reterr);

/* Looks up one name, checks it (check may be NULL) and prints its note on stderr. */
enum dti_status dti_dtype_operand_read(const char *name, dti_dtype_check *check,
                                       const struct dti_command_context *cx,
                                       struct dti_dtype_operand *ret, struct dti_error *reterr);

/* Splits operands at blanks and commas, in place, into names. Free the list; NULL when out of
 * memory. */
char **dti_dtype_words(char **operands, int operand_count, size_t *ret_count);

/* Looks up the operands, checks them and prints their notes on stderr. Free the list. */
enum dti_status dti_dtype_operands_read(char **operands, int operand_count, dti_dtype_check *check,
                                        const struct dti_command_context *cx,
                                        struct dti_dtype_operand **ret_list, size_t *ret_count,
                                        struct dti_error *reterr);

/* Whether it is an IEEE P3109 format: "binary8p3se", "binary6p2". */
static inline bool dti_format_is_p3109(const struct dti_format *f)
{
    return f->specials == DTI_SPECIALS_P3109E || f->specials == DTI_SPECIALS_P3109F;
}

/* Writes a table of dtypes as dti_put_table() does, and the number of P3109 formats omitted from
 * it. */
enum dti_status dti_table_without_p3109(const struct dti_command_context *cx,
                                        struct dti_table *table, size_t hidden, size_t indent,
                                        struct dti_error *reterr);

/* Fills an error that suggests another command: "int8 is an integer dtype; use 'dtinfo iinfo
 * int8'". */
enum dti_status dti_dtype_wrong_kind(const struct dti_format *format, const char *what,
                                     const char *command, struct dti_error *reterr);

/* Operands that may be numbers or files: errors for a file in place of a number, and for a missing
 * file. */
bool dti_operand_is_number(const char *operand);
/* Whether it is an existing file, not a folder. */
bool dti_operand_is_file(const char *operand);

/* "cannot read 'in.bin': No such file or directory", or another errno value; or, for a dtype in its
 * place, that the dtype comes last. */
enum dti_status dti_no_such_file(const char *path, int cause, struct dti_error *reterr);
/* The error for a file or standard input that needs --from. */
enum dti_status dti_operand_needs_from(const char *path, struct dti_error *reterr);
/* For an operand that is not a number: if it is a file, the error becomes that it needs --from; if
 * it is an expression, that `calc` computes it. */
void dti_operand_hint(const char *operand, struct dti_error *error);
/* The same for an operand with an option of files: DTI_OK if it is a number, "-" or a folder. */
enum dti_status dti_operand_refuse_file(const char *operand, struct dti_error *reterr);

#endif
