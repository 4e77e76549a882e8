/* SPDX-License-Identifier: MIT
 *
 * fp32 arithmetic in integers: exact products, quotients and sums (arith.c), and one rounding by
 * dti_encode(). */
#include "core/block/quant_parts.h"

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

uint32_t dti_fp32_multiply(uint32_t a, uint32_t b)
{
    struct dti_value left, right, result;
    dti_fp32_value(a, &left);
    dti_fp32_value(b, &right);
    (void)dti_value_multiply(&result, &left, &right);
    return dti_fp32_round(&result);
}

uint32_t dti_fp32_divide(uint32_t a, uint32_t b)
{
    struct dti_value left, right, result;
    dti_fp32_value(a, &left);
    dti_fp32_value(b, &right);
    (void)dti_value_divide(&result, &left, &right);
    return dti_fp32_round(&result);
}

uint32_t dti_fp32_add(uint32_t a, uint32_t b)
{
    struct dti_value left, right, result;
    dti_fp32_value(a, &left);
    dti_fp32_value(b, &right);
    (void)dti_value_add(&result, &left, &right, nearest.round);
    return dti_fp32_round(&result);
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
