/* SPDX-License-Identifier: MIT
 *
 * Shared by the portable quantization kernels. They process pieces through small float arrays in
 * the L1 cache, in loops that compilers vectorize. Quotients and products are single fp32
 * operations whose results are stored before further use, so wider registers make no difference. */
#ifndef KERNELS_QUANT_QUANT_LANES_H
#define KERNELS_QUANT_QUANT_LANES_H

#include "kernels/cast/lanes_decode.h"
#include "kernels/cast/lanes_float.h"
#include "kernels/cast/lanes_odd.h"
#include "kernels/lanes_piece.h"
#include "kernels/quant/quant_kernels.h"

#define DTI_LANE_INF   UINT32_C(0x7f800000)
#define DTI_LANE_NAN   UINT32_C(0x7fc00000)
#define DTI_LANE_MAGIC UINT32_C(0x4b400000) /* 2^23 + 2^22 */

DTI_LANE float dti_lane_f32(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

DTI_LANE uint32_t dti_lane_magnitude_f32(float number)
{
    return dti_lane_bits_f32(number) & UINT32_C(0x7fffffff);
}

/* The nearest integer, ties to even, for |number| < 2^22: it appears in the mantissa of 2^23 +
 * 2^22. */
DTI_LANE int32_t dti_lane_nearest(float number)
{
    const float sum = number + dti_lane_f32(DTI_LANE_MAGIC);
    return (int32_t)(dti_lane_bits_f32(sum) - DTI_LANE_MAGIC);
}

/* All NaNs become the same code. */
DTI_LANE float dti_lane_plain_nan(float number)
{
    const uint32_t bits = dti_lane_bits_f32(number);
    return dti_lane_f32((bits & UINT32_C(0x7fffffff)) > DTI_LANE_INF ? DTI_LANE_NAN : bits);
}

/* a / b as fp32 rounded to odd; one more rounding, to at most 22 bits, follows. The fp64
 * quotient preserves whether anything was cut off: for 24-bit integers A and B, A / B is either
 * a number Y of 24 bits, or differs from it by at least 1 / B, more than 2^-48 of it. */
DTI_LANE float dti_lane_quotient_odd(float a, double b)
{
    static const struct dti_encoder e = DTI_LANES_ODD_FP32;
    const double quotient = (double)a / b;
    return dti_lane_f32(
        (uint32_t)dti_lane_float_f64(&e, dti_lane_bits_f64(quotient), DTI_ROUND_ODD, 0));
}

/* The smallest magnitude, as fp32 bits, that exceeds a float's largest number after rounding to
 * nearest even: half a step above it; a tie there rounds down if the largest number is even. */
DTI_LANE uint32_t dti_lane_beyond(const struct dti_encoder *e)
{
    const uint32_t max = (uint32_t)e->max_magnitude, half = UINT32_C(1) << (22 - e->man_bits);
    const uint32_t from = ((uint32_t)(e->min_exponent + 126) << 23) + (max << (23 - e->man_bits));
    const uint32_t odd = e->man_bits > 0 || e->parity_of_code ? max & 1 : 1;
    if (max >> e->man_bits == 0) { /* a subnormal has no implicit leading one */
        const int32_t half_step = e->min_exponent - (int32_t)e->man_bits - 1;
        return dti_lane_bits_f32((float)(2 * max + 1)) + ((uint32_t)half_step << 23) + (odd ^ 1);
    }
    return from + half + (odd ^ 1);
}

#endif
