/* SPDX-License-Identifier: MIT
 *
 * ASCII characters: the C library's tolower() depends on the locale. Also comparisons of counted
 * text with words, text order, and the last component of a path. */
#ifndef UTIL_TEXT_ASCII_H
#define UTIL_TEXT_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline char dti_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool dti_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of `digits` hexadecimal digits, at most 8; false if one is not a hexadecimal digit. */
static inline bool dti_ascii_hex(const char *text, size_t digits, uint32_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < digits; i++) {
        const char lower = dti_ascii_lower(text[i]);
        if (!dti_ascii_digit(lower) && (lower < 'a' || lower > 'f'))
            return false;
        *ret = *ret << 4 | (uint32_t)(dti_ascii_digit(lower) ? lower - '0' : lower - 'a' + 10);
    }
    return true;
}

static inline bool dti_ascii_equal(const char *a, const char *b)
{
    while (*a != '\0' && dti_ascii_lower(*a) == dti_ascii_lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Compares the first `length` characters of two words that are at least that long. */
static inline bool dti_ascii_equal_start(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (dti_ascii_lower(a[i]) != dti_ascii_lower(b[i]))
            return false;
    }
    return true;
}

static inline bool dti_text_is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static inline bool dti_text_ends(const char *text, size_t length, const char *word)
{
    const size_t size = strlen(word);
    return length >= size && memcmp(text + (length - size), word, size) == 0;
}

/* qsort() and bsearch() callback for NUL-terminated texts, in byte order. */
static inline int dti_text_order(const void *a, const void *b)
{
    const char *const *const one = a, *const *const other = b;
    return strcmp(*one, *other);
}

/* The part of a path after the last slash; the whole path if it has none. */
static inline const char *dti_path_base(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
