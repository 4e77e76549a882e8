/* SPDX-License-Identifier: MIT
 *
 * Operands that are dtypes, as finfo and iinfo take them: several, separated by blanks or commas,
 * or none for all of a kind. And what one says of a dtype in words. */
#ifndef DTINFO_CLI_OPERAND_KINDS_H
#define DTINFO_CLI_OPERAND_KINDS_H

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

/* The names, blanks and commas between them, which operands are cut into. The list is to be freed;
 * NULL when memory ran out. */
char **dti_dtype_words(char **operands, int operand_count, size_t *ret_count);

/* Looks the operands up and checks them; says their notes on stderr. The list is to be freed. */
enum dti_status dti_dtype_operands_read(char **operands, int operand_count, dti_dtype_check *check,
                                        const struct dti_context *cx,
                                        struct dti_dtype_operand **ret_list, size_t *ret_count,
                                        struct dti_error *reterr);

/* One of IEEE P3109: "binary8p3se", "binary6p2". */
static inline bool dti_format_is_p3109(const struct dti_format *f)
{
    return f->specials == DTI_SPECIALS_P3109E || f->specials == DTI_SPECIALS_P3109F;
}

/* Writes a table of dtypes as dti_put_table() does, and how many P3109 formats are not in it. */
enum dti_status dti_table_without_p3109(const struct dti_context *cx, struct dti_table *table,
                                        size_t hidden, size_t indent, struct dti_error *reterr);

/* Fills an error that says to use another command: "int8 is an integer dtype; use 'dtinfo iinfo
 * int8'". */
enum dti_status dti_dtype_wrong_kind(const struct dti_format *format, const char *what,
                                     const char *command, struct dti_error *reterr);

/* Operands that may be numbers or files: what is said of a file where a number should be, and of
 * one that is not there. */
bool dti_operand_is_number(const char *operand);
/* A file that is there, and no folder. */
bool dti_operand_is_file(const char *operand);

/* "cannot read 'in.bin': No such file or directory", or another errno value; or that the dtype,
 * which stands there instead, comes last. */
enum dti_status dti_no_such_file(const char *path, int cause, struct dti_error *reterr);
/* A file or standard input, of which --from must say what it holds. */
enum dti_status dti_operand_needs_from(const char *path, struct dti_error *reterr);
/* For an operand that is no number: when it is a file, the error becomes that it needs --from. */
void dti_operand_hint(const char *operand, struct dti_error *error);
/* The same for an operand where an option of files was given: DTI_OK when it is a number, "-" or a
 * folder. */
enum dti_status dti_operand_refuse_file(const char *operand, struct dti_error *reterr);

#endif
