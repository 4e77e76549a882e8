/* SPDX-License-Identifier: MIT
 *
 * UTF-8 as defined by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef UTIL_TEXT_UTF8_H
#define UTIL_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at the start of text (length > 0) and returns its length in bytes.
 * Returns 0 if the bytes are not valid UTF-8; the caller then skips one byte. */
size_t dti_utf8_decode(const char *text, size_t length, uint32_t *ret_point);

/* Encodes a code point, at most U+10FFFF; returns the number of bytes used. */
size_t dti_utf8_encode(uint32_t point, char ret[4]);

/* Whether the whole text is valid UTF-8. */
bool dti_utf8_valid(const char *text, size_t length);

/* Terminal columns of the text: 0 for a combining mark, 2 for a wide character, 1 for anything
 * else and for a byte that is not UTF-8. */
size_t dti_utf8_columns(const char *text, size_t length);

#endif
