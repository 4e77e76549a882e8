/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of one element without branches, for compiler vectorization and GPU threads. Three
 * steps:
 *
 *   1  x = k pi + r            by fused multiply-adds with pi in two parts. The relative change of
 *                              exp(sin r) is at most the absolute change of r, so r needs no
 *                              relative accuracy near multiples of pi.
 *   2  s = (-1)^k sin r        an odd polynomial; for odd k the sign of r is changed instead
 *   3  exp s                   |s| <= 1: a polynomial, without a reduction of its own
 *
 * Without a fast fused multiply-add, products that must be exact use short factors. */
#ifndef KERNELS_MATH_LANES_EXPSIN_H
#define KERNELS_MATH_LANES_EXPSIN_H

#include <stdbool.h>
#include <string.h>

#include "kernels/lanes_fused.h"
#include "kernels/math/expsin_coefficients.h"

/* Arguments beyond this give NaN; these functions do not handle them. */
#define DTI_EXPSIN_LIMIT 0x1p20

DTI_LANE float dti_lane_flip_f32(float number, uint32_t odd)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits ^= odd << 31;
    memcpy(&number, &bits, sizeof number);
    return number;
}

DTI_LANE double dti_lane_flip_f64(double number, uint64_t odd)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits ^= odd << 63;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* 1 + s + s^2 q for |s| <= 1. Where the result is small, s is close to -1 and 1 + s is exact.
 * Without a fused multiply-add, the rounding error of 1 + s elsewhere is added back. */
DTI_LANE float dti_lane_one_plus_f32(float s, float q)
{
    const float most = 1 + s;
#if DTI_LANE_FUSED
    return __builtin_fmaf(s * s, q, most);
#else
    return most + (s - (most - 1) + s * s * q);
#endif
}

DTI_LANE double dti_lane_one_plus_f64(double s, double q)
{
    const double most = 1 + s;
#if DTI_LANE_FUSED
    return __builtin_fma(s * s, q, most);
#else
    return most + (s - (most - 1) + s * s * q);
#endif
}

/* Steps 2 and 3 for a reduced argument with its sign. */
DTI_LANE float dti_lane_expsin_reduced_f32(float r)
{
/* clang-format off */
#define FIRST(c) (c);
#define TAIL(c)  tail = dti_lane_fma_f32(tail, square, (c));
#define SUM(c)   sum = dti_lane_fma_f32(sum, s, (c));
    const float square = r * r;
    float tail = DTI_EXPSIN_SINE_F32(FIRST, TAIL)
    const float s = dti_lane_fma_f32(r * square, tail, r);
    float sum = DTI_EXPSIN_EXP_F32(FIRST, SUM)
    return dti_lane_one_plus_f32(s, sum);
#undef TAIL
#undef SUM
}

DTI_LANE double dti_lane_expsin_reduced_f64(double r)
{
#define TAIL(c) tail = dti_lane_fma_f64(tail, square, (c));
#define SUM(c)  sum = dti_lane_fma_f64(sum, s, (c));
    const double square = r * r;
    double tail = DTI_EXPSIN_SINE_F64(FIRST, TAIL)
    const double s = dti_lane_fma_f64(r * square, tail, r);
    double sum = DTI_EXPSIN_EXP_F64(FIRST, SUM)
    return dti_lane_one_plus_f64(s, sum);
#undef FIRST
#undef TAIL
#undef SUM
    /* clang-format on */
}

/* Step 1: returns r with its sign, for |x| <= DTI_EXPSIN_LIMIT. Adding 1.5 x 2^23 (2^52) leaves
 * an integer in the lowest bits; where the compiler may use wider registers, it is converted to
 * an integer instead. */
DTI_LANE float dti_lane_reduce_f32(float x)
{
#if DTI_LANE_FUSED
    const float pi[] = DTI_EXPSIN_PI_F32;
    const float integer = 0x1.8p23f;
    const float shifted = __builtin_fmaf(x, pi[0], integer);
    const float k = shifted - integer;
    uint32_t odd;
    memcpy(&odd, &shifted, sizeof odd);
    return dti_lane_flip_f32(__builtin_fmaf(-k, pi[2], __builtin_fmaf(-k, pi[1], x)), odd & 1);
#else
    const double pi[] = DTI_EXPSIN_PI_F64;
    const int32_t k = (int32_t)(x * pi[0] + (x < 0 ? -0.5 : 0.5));
    return dti_lane_flip_f32((float)(x - k * pi[1]), (uint32_t)k & 1);
#endif
}

DTI_LANE double dti_lane_reduce_f64(double x)
{
#if DTI_LANE_FUSED
    const double pi[] = DTI_EXPSIN_PI_F64;
    const double integer = 0x1.8p52;
    const double shifted = __builtin_fma(x, pi[0], integer);
    const double k = shifted - integer;
    uint64_t odd;
    memcpy(&odd, &shifted, sizeof odd);
    return dti_lane_flip_f64(__builtin_fma(-k, pi[2], __builtin_fma(-k, pi[1], x)), odd & 1);
#else
    const double inverse[] = DTI_EXPSIN_PI_F64, pi[] = DTI_EXPSIN_PI_PARTS_F64;
    const int32_t k = (int32_t)(x * inverse[0] + (x < 0 ? -0.5 : 0.5));
    const double near = x - k * pi[0];
    return dti_lane_flip_f64(near - (k * pi[1] + k * pi[2]), (uint64_t)(uint32_t)k & 1);
#endif
}

/* Also false for NaN. */
DTI_LANE bool dti_lane_expsin_takes(double x)
{
    return x >= -DTI_EXPSIN_LIMIT && x <= DTI_EXPSIN_LIMIT;
}

/* All ones if an argument is within the limit, whose fp32 code is 0x49800000. */
DTI_LANE uint32_t dti_lane_expsin_mask_f32(uint32_t bits)
{
    return (bits & UINT32_C(0x7fffffff)) <= UINT32_C(0x49800000) ? ~UINT32_C(0) : 0;
}

DTI_LANE uint32_t dti_lane_expsin_code_f32(uint32_t bits)
{
    const uint32_t takes = dti_lane_expsin_mask_f32(bits), near = bits & takes;
    float x;
    memcpy(&x, &near, sizeof x);
    const float result = dti_lane_expsin_reduced_f32(dti_lane_reduce_f32(x));
    uint32_t code;
    memcpy(&code, &result, sizeof code);
    return (code & takes) | (UINT32_C(0x7fc00000) & ~takes);
}

DTI_LANE float dti_lane_expsin_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = dti_lane_expsin_code_f32(bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}

DTI_LANE double dti_lane_expsin_f64(double x)
{
    const bool takes = dti_lane_expsin_takes(x);
    const double result = dti_lane_expsin_reduced_f64(dti_lane_reduce_f64(takes ? x : 0));
    return takes ? result : (double)NAN;
}

/* For fp16: every finite number is within the limit. The bits are shifted into fp32's position,
 * where a factor of 2^112 corrects the exponent bias and makes subnormals normal. Infinities and
 * NaNs give NaN. */
DTI_LANE uint16_t dti_lane_expsin_f16(uint16_t code)
{
    const uint32_t magnitude = code & UINT32_C(0x7fff), shifted = magnitude << 13;
    float x;
    memcpy(&x, &shifted, sizeof x);
    const float result = dti_lane_expsin_reduced_f32(
        dti_lane_reduce_f32(dti_lane_flip_f32(x * 0x1p112f, (uint32_t)code >> 15)));
    uint32_t bits;
    memcpy(&bits, &result, sizeof bits);
    bits -= UINT32_C(112) << 23; /* 0.36 to 2.72: always normal */
    bits = (bits + UINT32_C(0xfff) + (bits >> 13 & 1)) >> 13;
    return (uint16_t)(magnitude < UINT32_C(0x7c00) ? bits : UINT32_C(0x7e00));
}

/* Rounds to nearest even; for normal numbers, and NaNs without lower bits. */
DTI_LANE uint16_t dti_lane_round_bf16(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)((bits + UINT32_C(0x7fff) + (bits >> 16 & 1)) >> 16);
}

/* For bf16: NaN beyond the limit. */
DTI_LANE uint16_t dti_lane_expsin_bf16(uint16_t code)
{
    const uint32_t bits = dti_lane_expsin_code_f32((uint32_t)code << 16);
    float number;
    memcpy(&number, &bits, sizeof number);
    return dti_lane_round_bf16(number);
}

#endif
