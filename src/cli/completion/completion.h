/* SPDX-License-Identifier: MIT
 *
 * The shells that completion is written for, and the word that is being completed. */
#ifndef DTINFO_CLI_COMPLETION_H
#define DTINFO_CLI_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/shell/option.h"

extern const struct dti_choice dti_shells[];

/* The word so far: `kept` goes in front of every candidate as it is, `typed` is what candidates
 * must begin with. In "--via=fp" kept is "--via=", in "bf16,fp" it is "bf16,". */
struct dti_completion {
    FILE *out;
    const char *kept;
    size_t kept_length;
    const char *typed;
};

/* Prints prefix and name as a candidate if it begins with what is typed; whether it does. */
bool dti_completion_offer(const struct dti_completion *c, const char *prefix, const char *name,
                          const char *description);

/* complete_tensors.c: the tensors of the first operand that is a container, as patterns. */
void dti_complete_tensors(struct dti_completion *c, const char *const *operands, size_t count);

#endif
