/* SPDX-License-Identifier: MIT
 *
 * Reproducible fp64 arithmetic: each operation rounds once to nearest even in fp64, even if the
 * compiler computes doubles in wider registers (x87). */
#ifndef KERNELS_FP64_H
#define KERNELS_FP64_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/value.h"
#include "core/wide.h"

static inline uint64_t dti_fp64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double dti_fp64_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least fp32 number that is greater than a finite one; nextafterf() would need libm. */
static inline float dti_fp32_above(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = number > 0 ? bits + 1 : number < 0 ? bits - 1 : 1;
    memcpy(&number, &bits, sizeof bits);
    return number;
}

/* The value rounded to nearest even. */
static inline double dti_fp64_from_value(const struct dti_value *value)
{
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
#if FLT_EVAL_METHOD == 0
    /* 63 bits, the last of which is sticky; the conversion rounds them */
    if (value->kind == DTI_CLASS_FINITE && value->exponent > -960 && value->exponent < 1000) {
        const bool more = (value->hi & 1) != 0 || value->lo != 0 || value->sticky;
        const double number = (double)(int64_t)(value->hi >> 1 | more);
        const uint64_t scale = (uint64_t)(value->exponent - 62 + 1023) << 52;
        return dti_fp64_from_bits(scale | (uint64_t)value->negative << 63) * number;
    }
#endif
    dti_encode(dti_format_get(DTI_FP64), value, &policy, 0, &outcome);
    return dti_fp64_from_bits(outcome.code);
}

static inline void dti_fp64_to_value(double number, struct dti_value *ret_value)
{
    dti_decode(dti_format_get(DTI_FP64), dti_fp64_bits(number), ret_value);
}

/* The smallest normal number of a format: 0 for integers, infinity for a float without normal
 * numbers. */
static inline double dti_fp64_smallest_normal(const struct dti_format *format)
{
    struct dti_value value;
    uint64_t code;
    if (!dti_format_is_float(format))
        return 0;
    if (!dti_code_smallest_normal(format, &code))
        return INFINITY;
    dti_decode(format, code, &value);
    return dti_fp64_from_value(&value);
}

#if FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 1
static inline double dti_fp64_add(double a, double b)
{
    return a + b;
}

static inline double dti_fp64_multiply(double a, double b)
{
    return a * b;
}

static inline double dti_fp64_divide(double a, double b)
{
    return a / b;
}
#else
/* libm's fma() rounds once whatever the registers are; volatile keeps the compiler from turning
 * it into an addition. */
static inline double dti_fp64_add(double a, double b)
{
    static const volatile double one = 1;
    return fma(one, a, b);
}

/* Adding -0 preserves the sign of a zero product. */
static inline double dti_fp64_multiply(double a, double b)
{
    static const volatile double nothing = -0.0;
    return fma(a, b, nothing);
}

/* a / b for finite a >= 0, b > 0 with integers: computes at least 63 bits of the quotient, and
 * whether there is a remainder, then rounds once. */
static inline double dti_fp64_divide(double a, double b)
{
    struct dti_value x, y, quotient;
    dti_fp64_to_value(a, &x);
    dti_fp64_to_value(b, &y);
    if (x.kind != DTI_CLASS_FINITE || y.kind != DTI_CLASS_FINITE)
        return a / b;
    uint64_t rest;
    const uint64_t high = dti_wide_div(x.hi >> 1, x.hi << 63, y.hi, &rest);
    dti_value_set_wide(&quotient, false, high, 0, rest != 0,
                       (int64_t)x.exponent - y.exponent - 63 - 64);
    return dti_fp64_from_value(&quotient);
}
#endif

#endif
