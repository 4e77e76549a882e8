/* SPDX-License-Identifier: MIT
 *
 * The measurement of quantization: shared by its candidates. */
#ifndef DTINFO_BENCH_QUANT_BENCH_H
#define DTINFO_BENCH_QUANT_BENCH_H

#include "bench/workloads/quantizing.h"

enum { DTI_QUANT_WAYS_MAX = DTI_BENCH_ITEMS_MAX };

struct dti_quant_bench;

/* A method of quantization, and the offsets of its results in each set of buffers. */
struct dti_quant_way {
    struct dti_quant_bench *bench;
    struct dti_quant_plan *plan;
    struct dti_quant_sizes sizes;
    const char *name, *words; /* "" or "rows"; "fp32, per row: the ranges, then the codes" */
    bool has_back;            /* dequantizing is measured too */
    uint64_t codes_at, scales_at, zeros_at;
    float tensor_scale; /* that of the last pass */
};

/* A candidate: one of the two directions. */
struct dti_quant_candidate {
    struct dti_quant_way *way;
    bool back;
    size_t item;
};

struct dti_quant_bench {
    struct dti_frame frame;
    uint64_t rows, columns; /* of the array */
    struct dti_quant_way ways[DTI_QUANT_WAYS_MAX];
    size_t way_count;
    struct dti_quant_candidate measured[DTI_BENCH_ITEMS_MAX];
    size_t measured_count;
    struct dti_bench_memory memory; /* fp32 numbers, dequantized numbers, methods */
    struct dti_bench_memory copied; /* copied by the limits: as many bytes as int8 moves */
    uint64_t bytes, back_at, set_size, copy_bytes; /* of the fp32 numbers, from 0 on; ... */
    enum dti_stores stores;
};

/* quant_verify.c: one pass of a struct dti_quant_candidate over the buffers number `set`. The team
 * is the array's: waking it up is part of the time. */
enum dti_status dti_quant_candidate_run(void *row, size_t set, struct dti_error *reterr);
static inline unsigned char *dti_quant_set(const struct dti_quant_bench *bench, size_t set)
{
    return dti_bench_memory_at(&bench->memory, set, 0);
}

/* Quantizes once more and compares a part with the definition, element by element.
 * DTI_BUG if they differ. */
enum dti_status dti_quant_candidate_verify(struct dti_quant_candidate *row,
                                           struct dti_error *reterr);

#endif
