/* SPDX-License-Identifier: MIT
 *
 * What list, finfo and iinfo say of a dtype in JSON: its limits, its layout, its names. */
#ifndef DTINFO_CLI_DTYPE_JSON_H
#define DTINFO_CLI_DTYPE_JSON_H

#include "dtinfo/dtype.h"
#include "dtinfo/json.h"
#include "dtinfo/limits.h"

/* A number object, with shortest and bits null when the limit is no number of the format itself;
 * null when the format has no such limit. Fails when memory ran out. */
enum dti_status dti_json_limit(struct dti_json *json, const char *key,
                               const struct dti_format *format, const struct dti_limit *limit,
                               struct dti_error *reterr);

/* sign_bits, exponent_bits, mantissa_bits and bias; null for complex dtypes, bias also for
 * integers. */
void dti_json_layout(struct dti_json *json, const struct dti_format *format);

/* "names": an array of {system, name, number}. */
void dti_json_dtype_names(struct dti_json *json, const struct dti_format *format);

#endif
