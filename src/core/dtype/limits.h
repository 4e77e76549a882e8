/* SPDX-License-Identifier: MIT
 *
 * Everything that finfo prints, computed from a format: no limit is hard-coded. */
#ifndef CORE_DTYPE_LIMITS_H
#define CORE_DTYPE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "core/value.h"

/* A number that a format may lack: binary8p1se has no subnormals, e8m0 no underflow to zero. */
struct dti_limit {
    bool present;
    bool has_code; /* the format can represent the number */
    uint64_t code;
    struct dti_value value;
};

struct dti_limits {
    struct dti_limit max, lowest;
    struct dti_limit smallest_normal, smallest_subnormal;
    struct dti_limit eps;    /* distance from 1 to the next larger number */
    struct dti_limit epsneg; /* distance from 1 to the next smaller number */
    struct dti_limit step_at_max;
    struct dti_limit overflow_from; /* least magnitude that nearest-even rounds beyond max... */
    bool overflow_inclusive; /* ...inclusive; if false, it is the last one that does not overflow */
    struct dti_limit to_zero_up_to; /* the largest magnitude that nearest-even rounds to zero... */
    bool to_zero_inclusive;         /* ...inclusive */
    uint64_t integers_up_to;        /* every integer from 1 to this is exact; 0 if 1 is not */

    int32_t machep, negep; /* log2 of eps and epsneg, where present */
    int32_t minexp,
        maxexp;            /* exponents of the smallest normal, and of the least power of 2 > max */
    unsigned precision;    /* significant bits, the hidden one included */
    unsigned digits10;     /* decimal digits that survive text -> dtype -> text */
    unsigned max_digits10; /* decimal digits that distinguish all numbers */

    uint64_t nan_codes, inf_codes, finite_codes;
    bool has_nan, has_inf, has_minus_zero, has_subnormals;
    bool has_nan_code;
    uint64_t nan_code; /* the canonical one */
};

/* Floats only. */
void dti_limits_compute(struct dti_limits *ret_limits, const struct dti_format *format);

/* Range of an integer dtype or bool. */
void dti_integer_limits(const struct dti_format *format, struct dti_limit *ret_min,
                        struct dti_limit *ret_max);

/* 10^-digits10, numpy's and torch's `resolution`, as %g and Python's repr both write it: "0.001",
 * "1e-06". The second function writes it without an exponent. */
enum { DTI_RESOLUTION_SIZE = 24 };
void dti_resolution_text(char buffer[DTI_RESOLUTION_SIZE], unsigned digits10);
void dti_resolution_exact(char buffer[DTI_RESOLUTION_SIZE], unsigned digits10);

#endif
