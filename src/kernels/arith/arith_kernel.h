/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on tiles of fp32 numbers (which include those of fp16, bf16, fp8 and narrower ones),
 * each result rounded once to nearest even to a format with at most 24 bits of precision. It is
 * computed as an fp64 number that this rounding makes correct; the same loop counts what the
 * rounding did.
 *
 * A sum or a fused a*b + c that does not fit in fp64 is rounded to odd. Quotients and roots are
 * rounded to nearest: 53 bits are more than 2 x 24 + 2 (Figueroa 1995), and an inexact one
 * cannot be a number of 25 bits. Products are exact. */
#ifndef KERNELS_ARITH_ARITH_KERNEL_H
#define KERNELS_ARITH_ARITH_KERNEL_H

#include <stdbool.h>
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

/* What results are rounded to: a signed format that fp32 contains, in which every magnitude up to
 * the largest is a number of a binade or of the subnormals. */
struct dti_arith_target {
    unsigned man_bits;
    double smallest_normal;
    double large;         /* 1.5 x 2^52 times the smallest subnormal */
    double largest, over; /* the largest finite number, and the first one that it would not be */
    double overflow;      /* the magnitude that a finite number beyond it becomes, and that */
    double infinity;      /* of an infinity: infinity, the largest number, or NaN */
    bool has_infinity;    /* an infinity is stored as that: exactly */
    bool has_nan;
};

/* Counted elements; all but the NaN counts refer to elements that are numbers. */
enum dti_arith_count {
    DTI_ARITH_COUNT_INEXACT,
    DTI_ARITH_COUNT_NAN_RESULT, /* exact results that are NaN, */
    DTI_ARITH_COUNT_NAN,        /* and those without a NaN operand */
    DTI_ARITH_COUNT_OVERFLOW,
    DTI_ARITH_COUNT_DIVIDE_BY_ZERO,
    DTI_ARITH_COUNT_TO_ZERO,   /* zero although the exact result is not */
    DTI_ARITH_COUNT_SUBNORMAL, /* inexact, nonzero and below the smallest normal */
    DTI_ARITH_COUNT_ABSORBED,  /* see src/calc/evaluate/bulk.h */
    DTI_ARITH_COUNTS
};

/* There are no kernels for x87, whose registers round sums of doubles twice. Operands are numbers
 * of the target. Writes n results; one that overflowed to NaN, and one whose exact result is NaN,
 * is some NaN. */
typedef void dti_arith_round_fn(const struct dti_arith_tile *tile,
                                const struct dti_arith_target *target, float *ret_results,
                                uint64_t ret[DTI_ARITH_COUNTS]);

/* Marks elements as inexact: ret_marks[i] is 1 if result i is inexact or one of the operands' marks
 * is 1, else 0. marks: of as many operands as the operation has. Returns the number of sums or
 * differences of two finite numbers, one of which is marked, that cancel more than half of the
 * leading bits; those that come to 0 only with zero_cancels. */
typedef uint64_t dti_arith_mark_fn(const struct dti_arith_tile *tile,
                                   const struct dti_arith_target *target, const float *results,
                                   const uint8_t *const marks[3], bool zero_cancels,
                                   uint8_t *ret_marks);

/* What casting finite numbers did to them. A cast that overflows counts as that and INEXACT
 * only; UNDECIDED: NaNs and infinities, which count as nothing else. */
enum dti_rounded_count {
    DTI_ROUNDED_INEXACT,
    DTI_ROUNDED_OVERFLOW,
    DTI_ROUNDED_TO_ZERO,
    DTI_ROUNDED_SUBNORMAL, /* inexact, nonzero and below the smallest normal */
    DTI_ROUNDED_UNDECIDED,
    DTI_ROUNDED_COUNTS
};

struct dti_rounded_limits {
    double overflow_from[2]; /* magnitudes that overflow, [negative]; infinity if none does */
    double smallest_normal;
};

/* The numbers of an array and what a cast stored for them, decoded: arrays of n < 2^32 floats
 * (rounded32) or doubles. ret_inexact: NULL, or receives a 1 for each inexact element,
 * else a 0. */
typedef void dti_arith_rounded_fn(const void *source, const void *stored, size_t n,
                                  const struct dti_rounded_limits *limits,
                                  uint64_t ret[DTI_ROUNDED_COUNTS], uint8_t *ret_inexact);

/* Elements first to first + n - 1 of a uniform list, first even: the leading 64 - cut bits of 64
 * random bits, as fractions below 1. Element i takes words 2i and 2i + 1 of dti_random_bits(); cut
 * is at least 11. */
typedef void dti_arith_uniform_fn(double *ret, size_t n, uint64_t seed, uint32_t stream,
                                  uint64_t first, unsigned cut);

struct dti_arith_kernel {
    dti_arith_round_fn *round;
    dti_arith_mark_fn *mark;
    dti_arith_rounded_fn *rounded32, *rounded64;
    dti_arith_uniform_fn *uniform;
    enum dti_level level;
};
/* NULL if this machine has none. */
const struct dti_arith_kernel *dti_arith_kernel_find(enum dti_level allowed);

#endif
