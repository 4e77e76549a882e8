/* SPDX-License-Identifier: MIT
 *
 * Tensors of a file with the same dtypes and fate, counted together: a line per kind in the reports
 * on new files. */
#ifndef DTINFO_CLI_TENSOR_KINDS_H
#define DTINFO_CLI_TENSOR_KINDS_H

#include <stdint.h>

#include "dtinfo/table.h"

enum { DTI_KINDS_MAX = 256, DTI_KIND_WORDS = 160 };
struct dti_tensor_kind {
    bool first;            /* listed before unchanged kinds */
    const char *from, *to; /* dtypes; to: NULL if unchanged */
    bool same_bytes;       /* output bytes are not shown */
    unsigned axis;         /* distinguishes kinds with equal words */
    char words[DTI_KIND_WORDS];
    size_t count; /* the sums */
    uint64_t input, output;
};

/* Starts with a count of 0. Kinds beyond the maximum are merged with the last one. */
struct dti_tensor_kinds {
    size_t count;
    struct dti_tensor_kind list[DTI_KINDS_MAX];
};
void dti_kinds_add(struct dti_tensor_kinds *kinds, const struct dti_tensor_kind *kind);

/* "fp32 -> bf16  12 tensors  8.00 MiB -> 4.00 MiB  as it is" */
enum dti_status dti_kinds_write(const struct dti_tensor_kinds *kinds, FILE *out, bool colour,
                                struct dti_error *reterr);

#endif
