/* SPDX-License-Identifier: MIT
 *
 * Encodes one number to an integer format or bool, as dti_encode() does: fixed point whose last
 * bit has weight 1. Magnitudes beyond 64 bits keep their low bits, which are zero. */
#ifndef KERNELS_CAST_LANES_INTEGER_H
#define KERNELS_CAST_LANES_INTEGER_H

#include "kernels/cast/lanes_float.h"
#include "kernels/lanes.h"

/* From fp32 bits, for formats of at most 32 bits. */
DTI_LANE uint32_t dti_lane_integer_f32(const struct dti_encoder *e, uint32_t bits,
                                       enum dti_round round, uint32_t random)
{
    const uint32_t inf = UINT32_C(0x7f800000), units = 127 + 23;
    const uint32_t a = bits & UINT32_C(0x7fffffff), negative = bits >> 31, minus = 0 - negative;
    const uint32_t mask = (uint32_t)dti_low_bits(e->format.width);
    const uint32_t wrap = e->policy.overflow == DTI_OVERFLOW_WRAP ? ~UINT32_C(0) : 0;
    const uint32_t limit = e->sign_bit != 0 ? (uint32_t)e->max_magnitude + negative
                                            : (uint32_t)e->max_magnitude & ~minus;

    const uint32_t own = dti_lane_max32(a >> 23, 1);
    const uint32_t significand = a - ((own - 1) << 23);
    const uint32_t down = own < units ? units - own : 0, up = own > units ? own - units : 0;
    const uint32_t near = dti_lane_min32(down, 31);
    const uint32_t in_reach = up > 31 ? 0 : ~UINT32_C(0);
    const uint32_t kept = significand >> near << dti_lane_min32(up, 31) & in_reach;
    const uint32_t cut = dti_lane_cut32(round, significand, down, near);

    const uint32_t magnitude = kept + dti_lane_up32(round, cut, kept & 1, negative, random);
    const uint32_t low = ((magnitude ^ minus) - minus) & mask;
    const uint32_t clamped = dti_lane_pick32(e->overflow, minus);
    uint32_t code = magnitude > limit ? (clamped & ~wrap) | (low & wrap) : low;
    code = own >= 127 + 32 ? (clamped & ~wrap) | (low & wrap) : code;
    code = a == inf ? dti_lane_pick32(e->inf, minus) : code;
    return a > inf ? dti_lane_pick32(e->nan, minus) : code;
}

/* From fp64 bits, for any integer format. */
DTI_LANE uint64_t dti_lane_integer_f64(const struct dti_encoder *e, uint64_t bits,
                                       enum dti_round round, uint64_t random)
{
    const uint64_t inf = UINT64_C(0x7ff) << 52;
    const int64_t units = 1023 + 52;
    const uint64_t a = bits & ~(UINT64_C(1) << 63), negative = bits >> 63, minus = 0 - negative;
    const uint64_t mask = dti_low_bits(e->format.width);
    const uint64_t wrap = e->policy.overflow == DTI_OVERFLOW_WRAP ? ~UINT64_C(0) : 0;
    const uint64_t limit =
        e->sign_bit != 0 ? e->max_magnitude + negative : e->max_magnitude & ~minus;

    const int64_t own = dti_lane_max64((int64_t)(a >> 52), 1);
    const uint64_t significand = a - ((uint64_t)(own - 1) << 52);
    const int64_t down = dti_lane_max64(units - own, 0), up = dti_lane_max64(own - units, 0);
    const int64_t near = dti_lane_min64(down, 63);
    const uint64_t in_reach = up > 63 ? 0 : ~UINT64_C(0);
    const uint64_t kept = significand >> near << dti_lane_min64(up, 63) & in_reach;
    const uint64_t cut = dti_lane_cut64(round, significand, down, near);

    const uint64_t magnitude = kept + dti_lane_up64(round, cut, kept & 1, negative, random);
    const uint64_t low = ((magnitude ^ minus) - minus) & mask;
    const uint64_t clamped = dti_lane_pick64(e->overflow, minus);
    uint64_t code = magnitude > limit ? (clamped & ~wrap) | (low & wrap) : low;
    code = own >= 1023 + 64 ? (clamped & ~wrap) | (low & wrap) : code;
    code = a == inf ? dti_lane_pick64(e->inf, minus) : code;
    return a > inf ? dti_lane_pick64(e->nan, minus) : code;
}

/* Widens fp32 bits to fp64 bits. Subnormals only become something nonzero far below 1, which is
 * enough for integers. */
DTI_LANE uint64_t dti_lane_widen_f32(uint32_t bits)
{
    const uint64_t a = bits & UINT32_C(0x7fffffff), sign = (uint64_t)(bits >> 31) << 63;
    const uint64_t rebias = a >= UINT32_C(0x7f800000) ? UINT64_C(2047 - 255) : UINT64_C(1023 - 127);
    return a == 0 ? sign : sign | ((a << 29) + (rebias << 52));
}

/* From a 64-bit magnitude, for any integer format. */
DTI_LANE uint64_t dti_lane_integer_u64(const struct dti_encoder *e, uint64_t a, uint64_t negative)
{
    const uint64_t minus = 0 - negative;
    const uint64_t mask = dti_low_bits(e->format.width);
    const uint64_t wrap = e->policy.overflow == DTI_OVERFLOW_WRAP ? ~UINT64_C(0) : 0;
    const uint64_t limit =
        e->sign_bit != 0 ? e->max_magnitude + negative : e->max_magnitude & ~minus;
    const uint64_t low = ((a ^ minus) - minus) & mask;
    const uint64_t clamped = dti_lane_pick64(e->overflow, minus);
    return a > limit ? (clamped & ~wrap) | (low & wrap) : low;
}

#endif
