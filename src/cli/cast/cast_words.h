/* SPDX-License-Identifier: MIT
 *
 * What happened to a number, in words. */
#ifndef DTINFO_CLI_CAST_WORDS_H
#define DTINFO_CLI_CAST_WORDS_H

#include "cli/cast/cast.h"

enum { CAST_DESCRIPTION_SIZE = 240, CAST_LIMIT_SIZE = DTI_TEXT_SIZE + DTI_NAME_SIZE + 12 };

/* "rounded up to nearest, inexact", "exact", "beyond the range, overflow (max 65504)". */
const char *dti_cast_describe(const struct cast_result *result, const struct dti_scalar *scalar,
                              char buffer[CAST_DESCRIPTION_SIZE]);

/* Why the input has no counterpart: "max 65504", "lowest 0", "no nan"; "fp16 max 65504"
 * when it was lost on the way, in a dtype of --via. */
const char *dti_cast_limit(const struct cast_result *result, const struct dti_scalar *scalar,
                           char buffer[CAST_LIMIT_SIZE]);

#endif
