/* SPDX-License-Identifier: MIT
 *
 * Changes one member of a JSON object in its text. Everything else stays byte for byte: the
 * spelling of numbers (including Python's NaN and Infinity) and the order of members. */
#ifndef UTIL_JSON_JSON_EDIT_H
#define UTIL_JSON_JSON_EDIT_H

#include "util/json/json_read.h"

/* Appends the text to *ret with member `key` (ASCII, nothing to escape) set to `value`, or
 * removed if value is NULL. A new member goes last. value is JSON with line feeds and two spaces
 * a level; its lines are indented like the object, or joined if the object is on one line.
 * Returns false if the text is not a JSON object or has the key twice (*ret_problem is the
 * reason, without a full stop), or if memory ran out (ret->failed). */
bool dti_json_set_member(const char *text, size_t length, const char *key, const char *value,
                         struct dti_buffer *ret, const char **ret_problem);

#endif
