/* SPDX-License-Identifier: MIT
 *
 * One number as JSON: the twins of every number that the program prints. */
#ifndef DTINFO_CLI_NUMBER_JSON_H
#define DTINFO_CLI_NUMBER_JSON_H

#include "dtinfo/dtype.h"
#include "dtinfo/json.h"
#include "dtinfo/value.h"

/* The members value and text. value is a JSON number that an fp64 reader turns into exactly this
 * number, -0.0 for minus zero, and null for nan, inf and what fp64 cannot hold (integer dtypes are
 * written out). format is NULL for a number that is no dtype's. */
void dti_json_number_text(struct dti_json *json, const struct dti_format *format, uint64_t code,
                          const struct dti_value *value);

/* The members value, text, shortest, exact, hexfloat, bits of the open object. `value` is the
 * number that `code` stands for in `format`. exact and hexfloat are null for nan and inf; exact
 * also when it would be longer than DTI_EXACT_MAX. */
enum dti_status dti_json_number_members(struct dti_json *json, const struct dti_format *format,
                                        uint64_t code, const struct dti_value *value,
                                        struct dti_error *reterr);

/* An object of these members; null when `there` is false. */
enum dti_status dti_json_code(struct dti_json *json, const char *key,
                              const struct dti_format *format, bool there, uint64_t code,
                              struct dti_error *reterr);

/* {"sign","exponent","mantissa"} as binary digits; null for integers and bool. */
void dti_json_fields(struct dti_json *json, const struct dti_format *format, uint64_t code);

#endif
