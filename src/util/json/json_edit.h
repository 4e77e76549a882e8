/* SPDX-License-Identifier: MIT
 *
 * One member of a JSON object changed in its text. Everything else stays, byte for byte: numbers
 * keep their spelling, NaN and Infinity as Python writes them too, and members their order. */
#ifndef UTIL_JSON_JSON_EDIT_H
#define UTIL_JSON_JSON_EDIT_H

#include "util/json/json_read.h"

/* Appends the text to *ret, with its member `key` (ASCII, nothing to be escaped) set to `value`, or
 * without it where value is NULL. A new member comes last. value is JSON with line feeds and two
 * spaces a level; its lines get the indentation of the object, or are joined where the object is on
 * one line. False: the text is no JSON object or has the key twice, and *ret_problem says so
 * without a full stop; or memory ran out (ret->failed). */
bool dti_json_set_member(const char *text, size_t length, const char *key, const char *value,
                         struct dti_buffer *ret, const char **ret_problem);

#endif
