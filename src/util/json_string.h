/* SPDX-License-Identifier: MIT
 *
 * The strings of JSON: where one ends and what it says. */
#ifndef DTINFO_UTIL_JSON_STRING_H
#define DTINFO_UTIL_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/buffer.h"

/* From behind the opening quote: the closing one. Or, with *ret_problem set, the place that no
 * string of JSON has. */
const char *dti_json_string_end(const char *at, const char *end, bool *ret_escaped,
                                const char **ret_problem);

/* The characters of a string that was found so, in place of what ret holds. */
void dti_json_string_decode(struct dti_buffer *ret, const char *text, size_t length);

#endif
