/* SPDX-License-Identifier: MIT
 *
 * Encodes one number to any float format, as dti_encode() does. Three steps:
 *
 *   1  find the exponent of the result's last bit: that of the number's binade, but at least that
 *      of the subnormals ("least"); shift the significand down to it
 *   2  round what remains and add it to the exponent field: a carry moves to the next binade, and a
 *      full subnormal becomes the smallest normal
 *   3  insert the sign; select the special codes, which are precomputed in the encoder */
#ifndef KERNELS_CAST_LANES_FLOAT_H
#define KERNELS_CAST_LANES_FLOAT_H

#include "kernels/lanes.h"

/* Selects a code of a pair: the second if minus is all ones, the first if it is 0. */
DTI_LANE uint32_t dti_lane_pick32(const uint64_t pair[2], uint32_t minus)
{
    return (uint32_t)pair[0] ^ ((uint32_t)(pair[0] ^ pair[1]) & minus);
}

DTI_LANE uint64_t dti_lane_pick64(const uint64_t pair[2], uint64_t minus)
{
    return pair[0] ^ ((pair[0] ^ pair[1]) & minus);
}

/* In a format without negative numbers, a negative magnitude becomes encoder->negative; in
 * others it gets the sign bit, unless it is a zero in a format without minus zero. */
DTI_LANE uint32_t dti_lane_sign32(const struct dti_encoder *e, uint32_t magnitude, uint32_t minus)
{
    const uint32_t is_signed = e->sign_bit != 0 ? ~UINT32_C(0) : 0;
    const uint32_t minus_zero = e->zero[1] != 0 ? ~UINT32_C(0) : 0;
    const uint32_t mark = (uint32_t)(e->sign_bit != 0 ? e->sign_bit : e->negative);
    const uint32_t marked = minus & (magnitude != 0 ? ~UINT32_C(0) : minus_zero);
    return (magnitude & (is_signed | ~marked)) | (mark & marked);
}

/* The same; nonzero: not 0 if the sign counts even if the magnitude is 0 (formats without zero). */
DTI_LANE uint64_t dti_lane_sign64(const struct dti_encoder *e, uint64_t magnitude, uint64_t minus,
                                  uint64_t nonzero)
{
    const uint64_t is_signed = e->sign_bit != 0 ? ~UINT64_C(0) : 0;
    const uint64_t minus_zero = e->zero[1] != 0 ? ~UINT64_C(0) : 0;
    const uint64_t mark = e->sign_bit != 0 ? e->sign_bit : e->negative;
    const uint64_t marked = minus & ((magnitude | nonzero) != 0 ? ~UINT64_C(0) : minus_zero);
    return (magnitude & (is_signed | ~marked)) | (mark & marked);
}

/* From fp32 bits, for float formats of dti_encoder_takes_hub32(). */
DTI_LANE uint32_t dti_lane_float_f32(const struct dti_encoder *e, uint32_t bits,
                                     enum dti_round round, uint32_t random)
{
    const uint32_t inf = UINT32_C(0x7f800000);
    const uint32_t a = bits & UINT32_C(0x7fffffff), negative = bits >> 31, minus = 0 - negative;
    const uint32_t drop = 23 - e->man_bits, least = (uint32_t)(e->min_exponent + 127);

    const uint32_t own = dti_lane_max32(a >> 23, 1); /* subnormals share the smallest exponent */
    const uint32_t at = dti_lane_max32(own, least);
    const uint32_t significand = a - ((own - 1) << 23);
    const uint32_t shift = drop + (at - own), near = dti_lane_min32(shift, 31);
    const uint32_t kept = significand >> near;
    const uint32_t cut = dti_lane_cut32(round, significand, shift, near);

    uint32_t magnitude = ((at - least) << e->man_bits) + kept;
    const uint32_t odd = (kept ^ ((kept ^ magnitude) & e->parity_of_code)) & 1;
    magnitude += dti_lane_up32(round, cut, odd, negative, random);

    uint32_t code = dti_lane_sign32(e, magnitude, minus);
    code = magnitude > (uint32_t)e->max_magnitude ? dti_lane_pick32(e->overflow, minus) : code;
    code = a == inf ? dti_lane_pick32(e->inf, minus) : code;
    const uint32_t payload = (a >> drop) & (uint32_t)e->nan_payload;
    return a > inf ? dti_lane_pick32(e->nan, minus) | payload : code;
}

/* From fp64 bits, for float formats of dti_encoder_takes_hub64(). */
DTI_LANE uint64_t dti_lane_float_f64(const struct dti_encoder *e, uint64_t bits,
                                     enum dti_round round, uint64_t random)
{
    const uint64_t inf = UINT64_C(0x7ff) << 52, scale = e->scale ? ~UINT64_C(0) : 0;
    const uint64_t a = bits & ~(UINT64_C(1) << 63), negative = bits >> 63, minus = 0 - negative;
    const int64_t drop = 52 - (int64_t)e->man_bits, least = e->min_exponent + 1023;

    const int64_t own = dti_lane_max64((int64_t)(a >> 52), 1);
    const int64_t at = dti_lane_max64(own, least);
    const uint64_t significand = a - ((uint64_t)(own - 1) << 52);
    const int64_t shift = drop + (at - own), near = dti_lane_min64(shift, 63);
    const uint64_t kept = significand >> near;
    const uint64_t cut = dti_lane_cut64(round, significand, shift, near);

    uint64_t magnitude = ((uint64_t)(at - least) << e->man_bits) + kept;
    const uint64_t odd = (kept ^ ((kept ^ magnitude) & e->parity_of_code)) & 1;
    magnitude += dti_lane_up64(round, cut, odd, negative, random);
    magnitude -= scale & (magnitude != 0); /* without subnormals the first binade has field 0 */

    uint64_t code = dti_lane_sign64(e, magnitude, minus, a & scale);
    code = magnitude > e->max_magnitude ? dti_lane_pick64(e->overflow, minus) : code;
    code = a == inf ? dti_lane_pick64(e->inf, minus) : code;
    const uint64_t payload = (a >> drop) & e->nan_payload;
    return a > inf ? dti_lane_pick64(e->nan, minus) | payload : code;
}

/* The sign and magnitude of 64-bit integers; has_sign is a constant after inlining. */
DTI_LANE uint64_t dti_lane_negative(uint64_t bits, bool has_sign)
{
    return has_sign ? bits >> 63 : 0;
}

DTI_LANE uint64_t dti_lane_magnitude(uint64_t bits, bool has_sign)
{
    const uint64_t minus = 0 - dti_lane_negative(bits, has_sign);
    return (bits ^ minus) - minus;
}

/* Shifts a significand left by `step` bits if no bits are lost. Uses a multiplication, because
 * without vectors a branch would be mispredicted half the time. */
DTI_LANE void dti_lane_climb(uint64_t *significand, int64_t *exponent, unsigned step)
{
    const uint64_t by = (uint64_t)(*significand >> (64 - step) == 0) * step;
    *significand <<= by;
    *exponent -= (int64_t)by;
}

/* From a 64-bit magnitude, for any float format. */
DTI_LANE uint64_t dti_lane_float_u64(const struct dti_encoder *e, uint64_t a, uint64_t negative,
                                     enum dti_round round, uint64_t random)
{
    const uint64_t minus = 0 - negative, scale = e->scale ? ~UINT64_C(0) : 0;
    const int64_t least = e->min_exponent;
    const int64_t top_field = (int64_t)dti_low_bits(e->format.exp_bits) - (e->scale ? 0 : 1);

    uint64_t significand = a; /* normalize: move the leading one to bit 63 */
    int64_t own = 63;
    dti_lane_climb(&significand, &own, 32);
    dti_lane_climb(&significand, &own, 16);
    dti_lane_climb(&significand, &own, 8);
    dti_lane_climb(&significand, &own, 4);
    dti_lane_climb(&significand, &own, 2);
    dti_lane_climb(&significand, &own, 1);
    const int64_t at = dti_lane_max64(own, least);
    const int64_t shift =
        63 - (int64_t)e->man_bits + (at - own); /* 1 to 64, because least is at most 1 */
    const uint64_t kept = significand >> 1 >> (shift - 1);
    const uint64_t cut = significand << (64 - shift);

    const int64_t field = at - least;
    uint64_t magnitude = ((uint64_t)field << e->man_bits) + kept;
    const uint64_t odd = (kept ^ ((kept ^ magnitude) & e->parity_of_code)) & 1;
    magnitude += dti_lane_up64(round, cut, odd, negative, random);
    magnitude -= scale & (magnitude != 0);

    uint64_t code = dti_lane_sign64(e, magnitude, minus, scale);
    const uint64_t beyond = dti_lane_pick64(e->overflow, minus);
    code = magnitude > e->max_magnitude ? beyond : code;
    code = field > top_field ? beyond : code; /* the field may not fit in 64 bits */
    return a == 0 ? e->zero[0] : code;
}

#endif
