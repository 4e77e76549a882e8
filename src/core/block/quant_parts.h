/* SPDX-License-Identifier: MIT
 *
 * fp32 arithmetic in integers, correctly rounded to nearest even: the primitives of
 * quantization. */
#ifndef CORE_BLOCK_QUANT_PARTS_H
#define CORE_BLOCK_QUANT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/block/quant.h"
#include "core/code/arith.h"

#define DTI_FP32_ONE          UINT32_C(0x3f800000)
#define DTI_FP32_EPS          UINT32_C(0x34000000) /* 2^-23 */
#define DTI_FP32_LEAST_NORMAL UINT32_C(0x00800000)
#define DTI_FP32_MAX          UINT32_C(0x7f7fffff)
#define DTI_FP32_INF          UINT32_C(0x7f800000)
#define DTI_FP32_NAN          UINT32_C(0x7fc00000)
#define DTI_FP32_SIGN         UINT32_C(0x80000000)

static inline uint32_t dti_fp32_magnitude(uint32_t x)
{
    return x & ~DTI_FP32_SIGN;
}

static inline bool dti_fp32_is_finite(uint32_t x)
{
    return dti_fp32_magnitude(x) < DTI_FP32_INF;
}

static inline bool dti_fp32_is_nan(uint32_t x)
{
    return dti_fp32_magnitude(x) > DTI_FP32_INF;
}

static inline bool dti_fp32_is_zero(uint32_t x)
{
    return dti_fp32_magnitude(x) == 0;
}

void dti_fp32_value(uint32_t x, struct dti_value *ret);
void dti_integer_value(int64_t integer, struct dti_value *ret);
/* Rounds to fp32; every NaN gives DTI_FP32_NAN. */
uint32_t dti_fp32_round(const struct dti_value *value);

/* Rounded to nearest even. */
uint32_t dti_fp32_multiply(uint32_t a, uint32_t b);
uint32_t dti_fp32_divide(uint32_t a, uint32_t b);
uint32_t dti_fp32_add(uint32_t a, uint32_t b);

/* Rounds to an integer, clamped to the range of int32; zero for NaN. */
int32_t dti_value_integer(const struct dti_value *value, enum dti_round round);

/* Encodes a value to nearest even, saturating; NaN gives the canonical NaN, or zero's code if
 * there is none. *ret_beyond: the magnitude exceeded the largest after rounding. */
uint32_t dti_quant_encode(const struct dti_format *format, const struct dti_value *value,
                          bool *ret_beyond);

/* The largest magnitude of n numbers; NaN if one of them is not finite. */
uint32_t dti_fp32_amax(const uint32_t *x, size_t n);

#endif
