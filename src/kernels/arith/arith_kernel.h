/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on tiles of fp32 numbers (which include those of fp16 and bf16). Results are fp64
 * numbers that one more rounding, to at most 24 bits of precision, makes correct; a second
 * kernel counts what that rounding did.
 *
 * A sum or a fused a*b + c that does not fit in fp64 is rounded to odd. Quotients and roots are
 * rounded to nearest: 53 bits are more than 2 x 24 + 2 (Figueroa 1995), and an inexact one
 * cannot be a number of 25 bits. Products are exact. */
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
    const float *x, *y, *z; /* as many as the operation needs */
    size_t n;
};

/* Counted elements; all but the NaN counts refer to elements that are numbers. */
enum dti_arith_count {
    DTI_ARITH_COUNT_INEXACT,
    DTI_ARITH_COUNT_NAN_RESULT, /* all NaN results, */
    DTI_ARITH_COUNT_NAN,        /* and those without a NaN operand */
    DTI_ARITH_COUNT_OVERFLOW,
    DTI_ARITH_COUNT_DIVIDE_BY_ZERO,
    DTI_ARITH_COUNT_TO_ZERO,   /* zero although the exact result is not */
    DTI_ARITH_COUNT_SUBNORMAL, /* inexact, nonzero and below the smallest normal */
    DTI_ARITH_COUNT_ABSORBED,  /* see src/calc/evaluate/bulk.h */
    DTI_ARITH_COUNTS
};

/* There are no kernels for x87, whose registers round sums of doubles twice. */
typedef void dti_arith_exact_fn(const struct dti_arith_tile *tile, double *ret_exact);
/* result: each `exact` rounded to nearest even to the format with this smallest normal. */
typedef void dti_arith_count_fn(const struct dti_arith_tile *tile, const double *exact,
                                const float *result, float smallest_normal,
                                uint64_t ret[DTI_ARITH_COUNTS]);

struct dti_arith_kernel {
    dti_arith_exact_fn *exact;
    dti_arith_count_fn *count;
    enum dti_level level;
};
/* NULL if this machine has none. */
const struct dti_arith_kernel *dti_arith_kernel_find(enum dti_level allowed);

#endif
