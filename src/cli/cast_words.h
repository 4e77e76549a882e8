/* SPDX-License-Identifier: MIT
 *
 * What happened to a number, in words. */
#ifndef DTINFO_CLI_CAST_WORDS_H
#define DTINFO_CLI_CAST_WORDS_H

#include "cli/cast.h"

enum { CAST_DESCRIPTION_SIZE = 200 };

/* "rounded up to nearest, inexact", "exact", "beyond the range, overflow (max 65504)". */
const char *dti_cast_describe(const struct cast_result *result, const struct dti_scalar *scalar,
                              char buffer[CAST_DESCRIPTION_SIZE]);

/* Why the input has no counterpart: "max 65504", "lowest 0", "no nan". */
const char *dti_cast_limit(const struct cast_result *result, const struct dti_scalar *scalar,
                           char buffer[DTI_TEXT_SIZE + 8]);

#endif
