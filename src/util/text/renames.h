/* SPDX-License-Identifier: MIT
 *
 * Rules that rename: a table of regular expressions, each with the name that replaces what it
 * matches. The text of a table has one rule a line,
 *
 *     REGEX -> NAME        or        REGEX<tab>NAME
 *
 * with blanks around both removed. Empty lines and lines that begin with # are skipped. REGEX is
 * that of regexes.h without lazy repetitions, and matches the whole name. In NAME \1 to \9 are what
 * the groups of REGEX matched, "" for a group that takes no part, and \\ is a backslash. */
#ifndef UTIL_TEXT_RENAMES_H
#define UTIL_TEXT_RENAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"
#include "util/error.h"

struct dti_renames;
/* Reads a table. label: what messages call it, as in "LABEL, line 3: ...". Fails with DTI_BAD_INPUT
 * and with DTI_NO_MEMORY; a table without rules is refused, too. */
enum dti_status dti_renames_read(struct dti_renames **ret, const char *text, size_t length,
                                 const char *label, struct dti_error *reterr);
void dti_renames_free(struct dti_renames *renames); /* NULL is fine */

/* Appends the new name: by the first rule that matches, else the name itself. *ret_line: the line
 * of the rule, 0 for none. Time is limited as in dti_regexes_match(). Not thread-safe. Fails with
 * DTI_BAD_INPUT, also for a new name that is empty, and with DTI_NO_MEMORY. */
enum dti_status dti_renames_apply(struct dti_renames *renames, const char *name, size_t length,
                                  struct dti_buffer *ret, size_t *ret_line,
                                  struct dti_error *reterr);

#endif
