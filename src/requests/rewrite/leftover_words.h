/* SPDX-License-Identifier: MIT
 *
 * Leftovers of killed runs, in words. */
#ifndef REQUESTS_REWRITE_LEFTOVER_WORDS_H
#define REQUESTS_REWRITE_LEFTOVER_WORDS_H

#include "io/output_leftovers.h"
#include "util/remedy.h"

/* A warning for each kind of leftover. output: its path, as on the command line. */
void dti_output_warn_leftovers(const struct dti_output_leftovers *leftovers, const char *output,
                               dti_warn_fn *warn, void *warn_context);

#endif
