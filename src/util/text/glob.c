/* SPDX-License-Identifier: MIT
 *
 * Backtracking match with two positions: the current one, and where the last '*' could absorb
 * one more byte. */
#include "util/text/glob.h"

#include <string.h>

/* A set such as [a-z] or [!abc] at `at`: its end, or NULL if it is not closed and '[' is
 * literal. *ret_fits: whether it contains the byte. */
static const char *match_set(const char *at, const char *end, unsigned char byte, bool *ret_fits)
{
    bool fits = false;
    const char *p = at + 1;
    const bool negated = p < end && (*p == '!' || *p == '^');
    p += negated;
    for (const char *const first = p; p < end && (*p != ']' || p == first); p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        const unsigned char low = (unsigned char)*p;
        unsigned char high = low;
        if (p + 2 < end && p[1] == '-' && p[2] != ']') {
            p += 2;
            if (*p == '\\' && p + 1 < end)
                p++;
            high = (unsigned char)*p;
        }
        fits = fits || (byte >= low && byte <= high);
    }
    if (p >= end)
        return NULL;
    *ret_fits = fits != negated;
    return p + 1;
}

/* Whether the pattern's first item, not a '*', matches the byte; *ret_next points after the
 * item. */
static bool match_one(const char *at, const char *end, unsigned char byte, const char **ret_next)
{
    bool fits;
    *ret_next = at + 1;
    if (*at == '?')
        return true;
    if (*at == '[') {
        const char *const next = match_set(at, end, byte, &fits);
        if (next) {
            *ret_next = next;
            return fits;
        }
    }
    if (*at == '\\' && at + 1 < end) {
        at++;
        *ret_next = at + 1;
    }
    return (unsigned char)*at == byte;
}

bool dti_glob_match(const char *pattern, size_t pattern_length, const char *name,
                    size_t name_length)
{
    const char *const pattern_end = pattern + pattern_length;
    const char *const name_end = name + name_length;
    const char *star = NULL, *starred = NULL, *next;
    while (name < name_end) {
        if (pattern < pattern_end && *pattern == '*') {
            star = ++pattern;
            starred = name;
        } else if (pattern < pattern_end &&
                   match_one(pattern, pattern_end, (unsigned char)*name, &next)) {
            pattern = next;
            name++;
        } else if (star) {
            pattern = star;
            name = ++starred;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*')
        pattern++;
    return pattern == pattern_end;
}

size_t dti_glob_list_item(const char *list)
{
    size_t length = 0;
    while (list[length] != '\0' && list[length] != ',')
        length += list[length] == '\\' && list[length + 1] != '\0' ? 2 : 1;
    return length;
}

bool dti_glob_list_match(const char *list, const char *name, size_t name_length)
{
    for (;;) {
        const size_t length = dti_glob_list_item(list);
        if (dti_glob_match(list, length, name, name_length))
            return true;
        if (list[length] == '\0')
            return false;
        list += length + 1;
    }
}
