/* SPDX-License-Identifier: MIT
 *
 * What bulk.c shares with matrix products. */
#ifndef CALC_EVALUATE_BULK_PARTS_H
#define CALC_EVALUATE_BULK_PARTS_H

#include "calc/evaluate/bulk.h"
#include "calc/evaluate/step_progress.h"
#include "convert/plan.h"
#include "kernels/arith/arith_kernel.h"

/* Elements per tile, so that operands, results and codes stay in the L1 cache. */
enum { DTI_BULK_TILE = 1024 };

struct dti_bulk {
    const struct dti_format *format;
    const struct dti_calc_options *options;
    const struct dti_arith_kernel *kernel;
    struct dti_arith_target target;
    struct dti_plan *to_fp32, *from_fp32;
    size_t code_bytes;
    const struct dti_calc_bulk_marks *marks; /* of the current call, NULL: not kept */
    struct dti_calc_bulk_counts *counts;     /* likewise */
};

/* Decodes n codes. Plans without a stack rule never fail. */
void dti_bulk_load(const struct dti_bulk *bulk, float *ret, const void *codes, size_t n);

/* Adds what a kernel counted, as events at one place. */
void dti_bulk_count_at(const struct dti_bulk *bulk, const uint64_t found[DTI_ARITH_COUNTS],
                       uint64_t cancelled, size_t place);

#endif
