/* SPDX-License-Identifier: MIT
 *
 * Dot products of arrays. Rows of dot_kernels.def, the most demanding level of a dtype first.
 * Each row states what it accumulates in, because the result depends on that. */
#ifndef KERNELS_MATH_DOT_H
#define KERNELS_MATH_DOT_H

#include <stddef.h>

#include "core/dtype/dtype.h"
#include "kernels/cpu.h"
#include "kernels/exact_sum.h"

/* The dot product of n elements; any alignment. Returns the sum as fp64, which holds the
 * accumulator exactly (for int8 below 2^39 elements). */
typedef double dti_dot_fn(const void *a, const void *b, size_t n);

struct dti_dot_kernel {
    const char *name;
    dti_dot_fn *run;
    enum dti_dtype dtype;     /* FP64, FP32, FP16, BF16 or INT8 */
    const char *accumulation; /* "64 fp32 sums, fused multiply-add" */
    double operations;        /* per element: 2 */
    enum dti_level level;
    enum dti_unit unit;
};
extern const struct dti_dot_kernel dti_dot_kernels[];
extern const size_t dti_dot_kernel_count;
const struct dti_dot_kernel *dti_dot_find(enum dti_dtype dtype, enum dti_level allowed);

/* Adds the products without rounding; for fp64 only products that are 0 or above 2^-969 in
 * magnitude. */
void dti_dot_exact(struct dti_exact_sum *sum, enum dti_dtype dtype, const void *a, const void *b,
                   size_t n);

#endif
