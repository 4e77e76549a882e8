/* SPDX-License-Identifier: MIT
 *
 * Shared by all lane functions. A lane function processes one element without branches, in
 * integers of one width, so a loop over it can be vectorized and a GPU thread can run it. The
 * rounding mode is a constant after inlining: there is one loop per mode.
 *
 *   magnitude   1xxxxxxxxxxxxxxxxxxxxxxx      kept: what remains after the shift
 *               |--- kept ---|-- cut --|      cut: the bits shifted out, as a fraction of 2^32 or
 * 2^64
 *
 * The bits of `cut` below the lowest possible one are free; rounding to nearest even puts the
 * parity of `kept` there, so (cut | odd) > half is the whole decision. */
#ifndef KERNELS_LANES_H
#define KERNELS_LANES_H

#include <stdint.h>

#include "kernels/kernel.h"

#define DTI_LANE     static inline __attribute__((always_inline))
#define DTI_INLINE   DTI_LANE
#define DTI_NOINLINE __attribute__((noinline)) /* takes no registers from the loops */

DTI_LANE uint32_t dti_lane_min32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

DTI_LANE uint32_t dti_lane_max32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* For exponents and shift counts. Signed, because 64-bit vectors have no unsigned comparison
 * below AVX-512. */
DTI_LANE int64_t dti_lane_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

DTI_LANE int64_t dti_lane_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The bits shifted out when a significand of at most 24 (53) bits is shifted right by `shift`.
 * near: shift limited to 31 (63); beyond that the kept part is 0 and the cut is below half but
 * not 0 in any case. Stochastic rounding needs its true size. */
DTI_LANE uint32_t dti_lane_cut32(enum dti_round round, uint32_t significand, uint32_t shift,
                                 uint32_t near)
{
    const uint32_t cut = significand << 1 << (31 - near);
    const uint32_t far = significand >> (dti_lane_min32(dti_lane_max32(shift, 32), 63) - 32);
    return round == DTI_ROUND_STOCHASTIC && shift > 31 ? far : cut;
}

DTI_LANE uint64_t dti_lane_cut64(enum dti_round round, uint64_t significand, int64_t shift,
                                 int64_t near)
{
    const uint64_t cut = significand << 1 << (63 - near);
    const uint64_t far = significand >> dti_lane_min64(dti_lane_max64(shift - 32, 0), 63) << 32;
    return round == DTI_ROUND_STOCHASTIC && shift > 63 ? far : cut;
}

/* Whether rounding increments the magnitude: 0 or 1. odd and negative are 0 or 1. */
DTI_LANE uint32_t dti_lane_up32(enum dti_round round, uint32_t cut, uint32_t odd, uint32_t negative,
                                uint32_t random)
{
    const uint32_t inexact = cut != 0;
    switch (round) {
    case DTI_ROUND_NEAREST_EVEN:
        return (cut | odd) > UINT32_C(0x80000000);
    case DTI_ROUND_NEAREST_AWAY:
        return cut >> 31;
    case DTI_ROUND_UP:
        return inexact & (negative ^ 1);
    case DTI_ROUND_DOWN:
        return inexact & negative;
    case DTI_ROUND_ODD:
        return inexact & (odd ^ 1);
    case DTI_ROUND_STOCHASTIC:
        return cut + random < cut;
    case DTI_ROUND_ZERO:
        break;
    }
    return 0;
}

DTI_LANE uint64_t dti_lane_up64(enum dti_round round, uint64_t cut, uint64_t odd, uint64_t negative,
                                uint64_t random)
{
    const uint64_t inexact = cut != 0;
    switch (round) {
    case DTI_ROUND_NEAREST_EVEN:
        return (cut | odd) > UINT64_C(1) << 63;
    case DTI_ROUND_NEAREST_AWAY:
        return cut >> 63;
    case DTI_ROUND_UP:
        return inexact & (negative ^ 1);
    case DTI_ROUND_DOWN:
        return inexact & negative;
    case DTI_ROUND_ODD:
        return inexact & (odd ^ 1);
    case DTI_ROUND_STOCHASTIC:
        return ((cut >> 32) + random) >> 32;
    case DTI_ROUND_ZERO:
        break;
    }
    return 0;
}

#endif
