/* SPDX-License-Identifier: MIT
 *
 * The texts of the rows of a .def file as one block: without pointers, which would be relocated at
 * each start, and without the room that arrays of one size waste. Each row, which ends on a line of
 * its own, is a member with all of its texts:
 *
 *     static const struct row_texts {
 *     #define ROW(name, help) char DTI_ROW_TEXT[sizeof(name "\0" help)];
 *     ...
 *     } texts = {
 *     #define ROW(name, help) name "\0" help,
 *     ...
 *     };
 *
 * A row refers to it by offsetof(struct row_texts, DTI_ROW_TEXT), or a loop goes over all of them.
 */
#ifndef UTIL_TEXT_ROW_TEXTS_H
#define UTIL_TEXT_ROW_TEXTS_H

#include <string.h>

#define DTI_ROW_TEXT             DTI_ROW_TEXT_OF(__LINE__)
#define DTI_ROW_TEXT_OF(line)    DTI_ROW_TEXT_NAMED(line)
#define DTI_ROW_TEXT_NAMED(line) of_line_##line

/* The text behind a text. */
static inline const char *dti_text_after(const char *text)
{
    return text + strlen(text) + 1;
}

#endif
