/* SPDX-License-Identifier: MIT
 *
 * Operands that may be numbers or files: what is said of a file where a number should be, and of
 * one that is not there. */
#ifndef DTINFO_CLI_FILE_OPERANDS_H
#define DTINFO_CLI_FILE_OPERANDS_H

#include <stdbool.h>

#include "dtinfo/error.h"

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
