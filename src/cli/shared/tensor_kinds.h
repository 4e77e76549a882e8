/* SPDX-License-Identifier: MIT
 *
 * Tensors of a file that became the same and met the same fate, counted together: a line for each
 * such kind, in the reports on new files. */
#ifndef DTINFO_CLI_TENSOR_KINDS_H
#define DTINFO_CLI_TENSOR_KINDS_H

#include <stdint.h>

#include "dtinfo/table.h"

enum { DTI_KINDS_MAX = 256, DTI_KIND_WORDS = 160 };
struct dti_tensor_kind {
    bool first;            /* listed above those that are not */
    const char *from, *to; /* dtypes; to: NULL where it is the same */
    bool same_bytes;       /* those of the output are not worth saying */
    unsigned axis;         /* what the words may not tell */
    char words[DTI_KIND_WORDS];
    size_t count; /* and these are sums */
    uint64_t input, output;
};

/* Starts with a count of 0. Kinds beyond the most become one with the last: nobody reads so many
 * lines. */
struct dti_tensor_kinds {
    size_t count;
    struct dti_tensor_kind list[DTI_KINDS_MAX];
};
void dti_kinds_add(struct dti_tensor_kinds *kinds, const struct dti_tensor_kind *kind);

/* "fp32 -> bf16  12 tensors  8.00 MiB -> 4.00 MiB  as it is" */
enum dti_status dti_kinds_write(const struct dti_tensor_kinds *kinds, FILE *out, bool colour,
                                struct dti_error *reterr);

#endif
