/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on tiles of fp32 numbers (fp16 and bf16 are such numbers, too): results as fp64 that
 * one more rounding, to 24 bits of precision or less, makes correct; and what that rounding did.
 *
 * A sum or a fused a*b + c that fp64 does not hold is rounded to odd there. Quotients and roots are
 * to nearest: 53 bits are more than twice 24 and two (Figueroa 1995), and one that is not exact is
 * no number of 25 bits either. Products are exact. */
#ifndef KERNELS_ARITH_ARITH_KERNEL_H
#define KERNELS_ARITH_ARITH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/cpu.h"

enum dti_arith_op {
    DTI_ARITH_ADD,
    DTI_ARITH_SUBTRACT,
    DTI_ARITH_MULTIPLY,
    DTI_ARITH_DIVIDE,
    DTI_ARITH_SQRT,
    DTI_ARITH_FMA,
};

struct dti_arith_tile {
    enum dti_arith_op op;
    const float *x, *y, *z; /* as many as the operation has */
    size_t n;
};

/* What is counted: elements, of numbers but for the NaNs. */
enum dti_arith_count {
    DTI_ARITH_COUNT_INEXACT,
    DTI_ARITH_COUNT_NAN_RESULT, /* all NaN, */
    DTI_ARITH_COUNT_NAN,        /* and those from operands that are none */
    DTI_ARITH_COUNT_OVERFLOW,
    DTI_ARITH_COUNT_DIVIDE_BY_ZERO,
    DTI_ARITH_COUNT_TO_ZERO,   /* zero, where the exact result is not */
    DTI_ARITH_COUNT_SUBNORMAL, /* inexact, not zero, below the smallest normal */
    DTI_ARITH_COUNT_ABSORBED,  /* see src/calc/evaluate/bulk.h */
    DTI_ARITH_COUNTS
};

/* x87 registers round sums of doubles twice: there are no kernels then. */
typedef void dti_arith_exact_fn(const struct dti_arith_tile *tile, double *ret_exact);
/* result: each `exact` rounded to nearest even to the format whose smallest normal is given. */
typedef void dti_arith_count_fn(const struct dti_arith_tile *tile, const double *exact,
                                const float *result, float smallest_normal,
                                uint64_t ret[DTI_ARITH_COUNTS]);

struct dti_arith_kernel {
    dti_arith_exact_fn *exact;
    dti_arith_count_fn *count;
    enum dti_level level;
};
/* NULL: this machine has none. */
const struct dti_arith_kernel *dti_arith_kernel_find(enum dti_level allowed);

#endif
