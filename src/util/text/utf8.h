/* SPDX-License-Identifier: MIT
 *
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef UTIL_TEXT_UTF8_H
#define UTIL_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the code point at the front of text (length > 0) and returns the bytes it takes. Returns 0
 * when the bytes are not UTF-8; one byte is then to be skipped. */
size_t dti_utf8_decode(const char *text, size_t length, uint32_t *ret_point);

/* The other way: returns how many of the bytes are used. point is at most U+10FFFF. */
size_t dti_utf8_encode(uint32_t point, char ret[4]);

/* Whether all of it is UTF-8. */
bool dti_utf8_valid(const char *text, size_t length);

/* The columns of a terminal that it takes: none for a combining mark, two for a wide character, one
 * for anything else and for a byte that is not UTF-8. */
size_t dti_utf8_columns(const char *text, size_t length);

#endif
