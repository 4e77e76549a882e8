/* SPDX-License-Identifier: MIT
 *
 * `cast` of a file of tensors. */
#ifndef DTINFO_CLI_CAST_FILES_H
#define DTINFO_CLI_CAST_FILES_H

#include "cli/shared/cast_file.h"

/* The whole of it. */
enum dti_status dti_cast_files(const struct dti_cast_file_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr);

/* cast_files_human.c: the report for people. */
enum dti_status dti_cast_files_human(struct dti_cast_file *file, struct dti_error *reterr);

#endif
