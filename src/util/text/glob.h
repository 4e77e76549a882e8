/* SPDX-License-Identifier: MIT
 *
 * Patterns for names of tensors, as in shells: ? [abc] [!abc] and \ before a literal character. '*'
 * crosses dots and slashes. Bytes are compared; nothing depends on the locale. */
#ifndef UTIL_TEXT_GLOB_H
#define UTIL_TEXT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether one pattern fits the whole name. Time is at most the product of the lengths. */
bool dti_glob_match(const char *pattern, size_t pattern_length, const char *name,
                    size_t name_length);

/* The same for a list, "*norm*,lm_head.weight": whether any of them fits. A comma that belongs to a
 * name is written "\,". */
bool dti_glob_list_match(const char *list, const char *name, size_t name_length);

/* The length of a list's first pattern: up to its comma, or its end. */
size_t dti_glob_list_item(const char *list);

#endif
