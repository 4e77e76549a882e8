/* SPDX-License-Identifier: MIT
 *
 * Glob patterns for tensor names, as in shells: ? [abc] [!abc] and \ before a literal character.
 * '*' also matches dots and slashes. Matching is bytewise and independent of the locale. */
#ifndef UTIL_TEXT_GLOB_H
#define UTIL_TEXT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether one pattern matches the whole name. Time is at most the product of the lengths. */
bool dti_glob_match(const char *pattern, size_t pattern_length, const char *name,
                    size_t name_length);

/* The same for a list, "*norm*,lm_head.weight": whether any pattern matches. A comma in a name
 * is written "\,". */
bool dti_glob_list_match(const char *list, const char *name, size_t name_length);

/* Length of the list's first pattern, up to its comma or the end. */
size_t dti_glob_list_item(const char *list);

#endif
