/* SPDX-License-Identifier: MIT
 *
 * The measurement of copies: what its candidates share, on the CPU and on devices. */
#ifndef DTINFO_BENCH_COPY_PASSES_H
#define DTINFO_BENCH_COPY_PASSES_H

#include <stdatomic.h>

#include "dtinfo/bench_table.h"

struct dti_copying;

/* A candidate on the CPU: a kernel over the operands, or memory that is made and touched. */
struct dti_copying_pass {
    struct dti_copying *copying;
    const struct dti_copy *copy; /* NULL: makes memory */
    bool huge_pages;             /* of the memory that is made */
};

struct dti_copying {
    const struct dti_bench_request *request;
    struct dti_bench_table *table;
    struct dti_bench_memory *memory; /* source and destination */
    struct dti_bench_candidate candidates[DTI_BENCH_ITEMS_MAX];
    struct dti_copying_pass passes[DTI_BENCH_ITEMS_MAX];
    atomic_bool failed; /* memory could not be made */
};

/* Adds what one CPU does with memory of request->n bytes. */
void dti_copying_add_passes(struct dti_copying *copying, size_t threads);
/* Copies once more and compares; DTI_BUG when a copy is none. */
enum dti_status dti_copying_verify(struct dti_copying *copying, struct dti_team *team,
                                   struct dti_error *reterr);

#endif
