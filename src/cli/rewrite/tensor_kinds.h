/* SPDX-License-Identifier: MIT
 *
 * Tensors of a file with the same dtypes and fate, counted together: a line per kind in the reports
 * on new files. */
#ifndef CLI_REWRITE_TENSOR_KINDS_H
#define CLI_REWRITE_TENSOR_KINDS_H

#include <stdint.h>

#include "report/table.h"

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

#endif
