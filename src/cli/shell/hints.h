/* SPDX-License-Identifier: MIT
 *
 * Hints for words from other programs: the rows of hints.def, which take precedence over the
 * nearest spelling. */
#ifndef CLI_SHELL_HINTS_H
#define CLI_SHELL_HINTS_H

#include "requests/option.h"

/* What to use in place of an option that no table has ("limit"): "--top N", or NULL. */
const char *dti_hint_option(const struct dti_option *options, const struct dti_option *globals,
                            const char *name, size_t length);
/* What to use in place of a command: "cast", or NULL. */
const char *dti_hint_command(const char *name);
/* Adds the option of "--top N" to the error's suggestions. */
void dti_hint_suggest(const char *use, struct dti_error *reterr);

/* Whether a word is an expression that `calc` computes. */
bool dti_hint_is_expression(const char *text);

#endif
