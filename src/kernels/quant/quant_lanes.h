/* SPDX-License-Identifier: MIT
 *
 * What the portable kernels of quantization share. They go piece by piece through small arrays of
 * floats in the first cache, in loops that compilers vectorize. Quotients and products are single
 * operations of fp32, whose results are stored as such before anything else is done with them, so
 * that wider registers change nothing. */
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

/* The nearest integer, ties to even, of |number| < 2^22: in the mantissa of 2^23 + 2^22. */
DTI_LANE int32_t dti_lane_nearest(float number)
{
    const float sum = number + dti_lane_f32(DTI_LANE_MAGIC);
    return (int32_t)(dti_lane_bits_f32(sum) - DTI_LANE_MAGIC);
}

/* Every NaN that comes back is one code. */
DTI_LANE float dti_lane_plain_nan(float number)
{
    const uint32_t bits = dti_lane_bits_f32(number);
    return dti_lane_f32((bits & UINT32_C(0x7fffffff)) > DTI_LANE_INF ? DTI_LANE_NAN : bits);
}

/* a / b as fp32 rounded to odd, which has the one rounding to 22 bits or less still to come. The
 * fp64 quotient does not hide that anything was cut off: with 24-bit integers A and B, A / B is
 * either a number Y of 24 bits, or differs from it by 1 / B at least, 2^-48 of it and more. */
DTI_LANE float dti_lane_quotient_odd(float a, double b)
{
    static const struct dti_encoder e = DTI_LANES_ODD_FP32;
    const double quotient = (double)a / b;
    return dti_lane_f32(
        (uint32_t)dti_lane_float_f64(&e, dti_lane_bits_f64(quotient), DTI_ROUND_ODD, 0));
}

/* The least magnitude, as fp32 bits, that is beyond the largest number of a float after rounding to
 * nearest even: half a step above it, where a tie goes down if the largest is even. */
DTI_LANE uint32_t dti_lane_beyond(const struct dti_encoder *e)
{
    const uint32_t max = (uint32_t)e->max_magnitude, half = UINT32_C(1) << (22 - e->man_bits);
    const uint32_t from = ((uint32_t)(e->min_exponent + 126) << 23) + (max << (23 - e->man_bits));
    const uint32_t odd = e->man_bits > 0 || e->parity_of_code ? max & 1 : 1;
    if (max >> e->man_bits == 0) { /* a subnormal: there is no leading one before its bits */
        const int32_t half_step = e->min_exponent - (int32_t)e->man_bits - 1;
        return dti_lane_bits_f32((float)(2 * max + 1)) + ((uint32_t)half_step << 23) + (odd ^ 1);
    }
    return from + half + (odd ^ 1);
}

#endif
