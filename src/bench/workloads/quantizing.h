/* SPDX-License-Identifier: MIT
 *
 * The cost of quantizing the operands of a product: both from fp32 to codes, each with the scale
 * of its own range. */
#ifndef BENCH_WORKLOADS_QUANTIZING_H
#define BENCH_WORKLOADS_QUANTIZING_H

#include "bench/measure/frame.h"
#include "convert/quant_plan.h"

/* The location of an operand, as numbers and as codes. */
struct dti_quantizing_place {
    const struct dti_bench_memory *memory;
    size_t operand;
    uint64_t at; /* byte offset in the memory */
};

struct dti_quantizing {
    struct dti_quantizing_place numbers[2], codes[2];
    uint64_t elements[2];
    struct dti_team *team;
    struct dti_quant_plan *plans[2];
};
/* Adds quantizing as a candidate without a limit; the caller has set the places. Fails as
 * dti_quant_plan_new() does. Always call dti_quantizing_end(). */
enum dti_status dti_quantizing_add(struct dti_quantizing *quantizing, enum dti_dtype dtype,
                                   struct dti_frame *frame, struct dti_error *reterr);
void dti_quantizing_end(struct dti_quantizing *quantizing);

/* A request to quantize an array of fp32 with low packing. */
struct dti_quant_request dti_quantizing_request(uint64_t outer, uint64_t length, uint64_t inner);

#endif
