/* SPDX-License-Identifier: MIT
 *
 * JSON strings: finding where one ends, and decoding it. */
#ifndef UTIL_JSON_JSON_STRING_H
#define UTIL_JSON_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buffer.h"

/* Whether a character is printable ASCII that needs no escape in a string. */
static inline bool dti_json_is_plain(char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* The same for eight characters at once: the top bits of those that are not. x - 1 borrows into the
 * top bit of a byte that is 0, x - 0x20 into that of one below 0x20, and x + 1 carries into that of
 * DEL. A byte above a match may be flagged wrongly, which only costs a second look. */
static inline uint64_t dti_json_not_plain(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    const uint64_t quote = eight ^ ones * '"', backslash = eight ^ ones * '\\';
    return ((quote - ones) | (backslash - ones) | (eight - ones * 0x20) | (eight + ones) | eight) &
           tops;
}

static inline bool dti_json_are_plain(uint64_t eight)
{
    return dti_json_not_plain(eight) == 0;
}

/* Copies text up to the first character that needs an escape; returns the length copied. Most
 * texts are short and plain throughout: two possibly overlapping loads check them. */
static inline size_t dti_json_copy_plain(char *out, const char *text, size_t length)
{
    size_t i = 0;
    if (length >= 8) {
        uint64_t eight;
        for (; i < length - 8; i += 8) {
            memcpy(&eight, text + i, 8);
            memcpy(out + i, &eight, 8);
            if (!dti_json_are_plain(eight))
                break;
        }
        memcpy(&eight, text + length - 8, 8);
        memcpy(out + length - 8, &eight, 8);
        if (i >= length - 8 && dti_json_are_plain(eight))
            return length;
    } else if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, text, 4);
        memcpy(&last, text + length - 4, 4);
        memcpy(out, &first, 4);
        memcpy(out + length - 4, &last, 4);
        if (dti_json_are_plain((uint64_t)first << 32 | last))
            return length;
    }
    for (; i < length && dti_json_is_plain(text[i]); i++)
        out[i] = text[i];
    return i;
}

/* End of the number at `at`; on an error, sets *ret_problem and returns the offending place. */
const char *dti_json_number_end(const char *at, const char *end, const char **ret_problem);

/* From after the opening quote: the position of the closing quote. On an error, sets
 * *ret_problem and returns the offending place. */
const char *dti_json_string_end(const char *at, const char *end, bool *ret_escaped,
                                const char **ret_problem);

/* Replaces ret's contents with the decoded characters of a string delimited that way. */
void dti_json_string_decode(struct dti_buffer *ret, const char *text, size_t length);

#endif
