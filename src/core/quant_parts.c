/* SPDX-License-Identifier: MIT
 *
 * fp32 arithmetic in integers: exact products, quotients and sums, and one rounding by
 * dti_encode(). */
#include "core/quant_parts.h"

#include "core/wide.h"

static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN,
                                          .nan = DTI_NAN_CANONICAL};
static const struct dti_policy saturating = {
    .round = DTI_ROUND_NEAREST_EVEN, .overflow = DTI_OVERFLOW_SATURATE, .nan = DTI_NAN_CANONICAL};

void dti_fp32_value(uint32_t x, struct dti_value *ret)
{
    dti_decode(dti_format_get(DTI_FP32), x, ret);
}

void dti_integer_value(int64_t integer, struct dti_value *ret)
{
    const bool negative = integer < 0;
    dti_value_set(ret, negative, negative ? UINT64_C(0) - (uint64_t)integer : (uint64_t)integer, 0);
}

uint32_t dti_fp32_round(const struct dti_value *value)
{
    struct dti_outcome outcome;
    dti_encode(dti_format_get(DTI_FP32), value, &nearest, 0, &outcome);
    return (uint32_t)outcome.code;
}

static void set_class(struct dti_value *ret, enum dti_class class, bool negative)
{
    *ret = (struct dti_value){.class = class, .negative = negative};
}

void dti_value_multiply(const struct dti_value *a, const struct dti_value *b, struct dti_value *ret)
{
    const bool negative = a->negative != b->negative;
    const bool zero = a->class == DTI_CLASS_ZERO || b->class == DTI_CLASS_ZERO;
    const bool infinite = a->class == DTI_CLASS_INF || b->class == DTI_CLASS_INF;
    if (a->class == DTI_CLASS_NAN || b->class == DTI_CLASS_NAN || (zero && infinite)) {
        set_class(ret, DTI_CLASS_NAN, false);
    } else if (zero || infinite) {
        set_class(ret, zero ? DTI_CLASS_ZERO : DTI_CLASS_INF, negative);
    } else {
        const int64_t exponent = (int64_t)a->exponent + b->exponent - 126;
        uint64_t high;
        const uint64_t low = dti_wide_mul_add(a->hi, b->hi, 0, 0, &high);
        dti_value_set_wide(ret, negative, high, low, false, exponent);
    }
}

void dti_value_divide(const struct dti_value *a, const struct dti_value *b, struct dti_value *ret)
{
    const bool negative = a->negative != b->negative;
    const bool zero = a->class == DTI_CLASS_ZERO || b->class == DTI_CLASS_INF;
    const bool infinite = a->class == DTI_CLASS_INF || b->class == DTI_CLASS_ZERO;
    if (a->class == DTI_CLASS_NAN || b->class == DTI_CLASS_NAN || (zero && infinite)) {
        set_class(ret, DTI_CLASS_NAN, false);
    } else if (zero || infinite) {
        set_class(ret, zero ? DTI_CLASS_ZERO : DTI_CLASS_INF, negative);
    } else {
        /* (a / 2) / b < 1, in two digits of 64 bits; the first is at least 2^62. */
        const int64_t exponent = (int64_t)a->exponent - b->exponent - 127;
        uint64_t remainder;
        const uint64_t high = dti_wide_div(a->hi >> 1, a->hi << 63, b->hi, &remainder);
        const uint64_t low = dti_wide_div(remainder, 0, b->hi, &remainder);
        dti_value_set_wide(ret, negative, high, low, remainder != 0, exponent);
    }
}

void dti_value_add(const struct dti_value *a, const struct dti_value *b, struct dti_value *ret)
{
    if (b->class == DTI_CLASS_ZERO || a->class == DTI_CLASS_ZERO) {
        const bool negative = a->negative && b->negative;
        *ret = b->class == DTI_CLASS_ZERO ? *a : *b;
        if (ret->class == DTI_CLASS_ZERO)
            ret->negative = negative;
        return;
    }
    if (a->exponent < b->exponent) {
        const struct dti_value *const swap = a;
        a = b;
        b = swap;
    }
    /* The larger one at bits 126 to 103, the smaller shifted below it. One that lies below bit 39
     * moves no rounding by more than its sign, whatever it is. */
    const int64_t gap = (int64_t)a->exponent - b->exponent;
    uint64_t high = a->hi >> 1, low;
    const uint64_t small_high = gap < 63 ? b->hi >> (gap + 1) : 0;
    const uint64_t small_low = gap < 63 ? b->hi << (63 - gap) : 1;
    if (a->negative == b->negative) {
        high += small_high;
        low = small_low;
    } else {
        high -= small_high + (small_low != 0);
        low = UINT64_C(0) - small_low;
    }
    const bool below = high >> 63 != 0 && a->negative != b->negative;
    if (below) /* equal exponents, and b was the larger one; low is 0 then */
        high = UINT64_C(0) - high;
    if ((high | low) == 0)
        set_class(ret, DTI_CLASS_ZERO, false);
    else
        dti_value_set_wide(ret, a->negative != below, high, low, false, (int64_t)a->exponent - 126);
}

/* One operation, rounded. */
static uint32_t rounded(void (*operation)(const struct dti_value *, const struct dti_value *,
                                          struct dti_value *),
                        uint32_t a, uint32_t b)
{
    struct dti_value left, right, result;
    dti_fp32_value(a, &left);
    dti_fp32_value(b, &right);
    operation(&left, &right, &result);
    return dti_fp32_round(&result);
}

uint32_t dti_fp32_multiply(uint32_t a, uint32_t b)
{
    return rounded(dti_value_multiply, a, b);
}

uint32_t dti_fp32_divide(uint32_t a, uint32_t b)
{
    return rounded(dti_value_divide, a, b);
}

uint32_t dti_fp32_add(uint32_t a, uint32_t b)
{
    return rounded(dti_value_add, a, b);
}

int32_t dti_value_integer(const struct dti_value *value, enum dti_round round)
{
    const struct dti_policy policy = {.round = round, .overflow = DTI_OVERFLOW_SATURATE};
    struct dti_outcome outcome;
    dti_encode(dti_format_get(DTI_INT32), value, &policy, 0, &outcome);
    const bool negative = outcome.code >> 31 != 0;
    return (int32_t)((int64_t)outcome.code - (negative ? INT64_C(1) << 32 : 0));
}

uint32_t dti_quant_encode(const struct dti_format *format, const struct dti_value *value,
                          bool *ret_beyond)
{
    struct dti_outcome outcome;
    dti_encode(format, value, &saturating, 0, &outcome);
    *ret_beyond = (outcome.flags & DTI_FLAG_OVERFLOW) != 0;
    return outcome.flags & DTI_FLAG_NO_NAN ? 0 : (uint32_t)outcome.code;
}

uint32_t dti_fp32_amax(const uint32_t *x, size_t n)
{
    uint32_t amax = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t magnitude = dti_fp32_magnitude(x[i]);
        if (magnitude >= DTI_FP32_INF)
            return DTI_FP32_NAN;
        amax = magnitude > amax ? magnitude : amax;
    }
    return amax;
}
