/* SPDX-License-Identifier: MIT
 *
 * What a product of quantized operands costs before it begins: both from fp32 to codes, each by the
 * scale of its own range. */
#ifndef DTINFO_BENCH_QUANTIZING_H
#define DTINFO_BENCH_QUANTIZING_H

#include "dtinfo/bench_table.h"
#include "dtinfo/quant_plan.h"

/* Where an operand is, as numbers and as codes. */
struct dti_quantizing_place {
    const struct dti_bench_memory *memory;
    size_t operand;
    uint64_t at; /* bytes from its start */
};

struct dti_quantizing {
    struct dti_quant_plan *plans[2];
    struct dti_quantizing_place numbers[2], codes[2];
    uint64_t elements[2];
    struct dti_team *team;
    struct dti_error error; /* of a pass */
};
/* Fails as dti_quant_plan_new() does; dti_quantizing_end() in any case. */
enum dti_status dti_quantizing_init(struct dti_quantizing *ret, enum dti_dtype dtype,
                                    const struct dti_quantizing_place numbers[2],
                                    const struct dti_quantizing_place codes[2],
                                    const uint64_t elements[2], enum dti_level level,
                                    struct dti_team *team, struct dti_error *reterr);
void dti_quantizing_end(struct dti_quantizing *quantizing);
/* Adds it as item and candidate, beside nothing. */
void dti_quantizing_add(struct dti_quantizing *quantizing, struct dti_bench_table *table,
                        struct dti_bench_candidate *candidates);
/* Whether what dti_bench_run() returned is an error of a pass, which *reterr is then. */
enum dti_status dti_quantizing_status(const struct dti_quantizing *quantizing,
                                      enum dti_status status, struct dti_error *reterr);
/* The item's role. */
bool dti_quantizing_is(const struct dti_bench_item *item);

#endif
