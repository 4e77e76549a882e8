/* SPDX-License-Identifier: MIT
 *
 * Sums of a group in fp32, as defined in loss.c: single operations that round once on every
 * machine, and the test for numbers that are suitable. */
#ifndef KERNELS_SCAN_LOSS_SINGLE_H
#define KERNELS_SCAN_LOSS_SINGLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/fp64.h"
#include "kernels/scan/loss_tile.h"

/* Elements per group, and groups per tile. */
enum { DTI_LOSS_GROUP = 128, DTI_LOSS_GROUPS = DTI_TILE / DTI_LOSS_GROUP };

/* The fp32 sums of a tile's whole groups, consecutive, one per lane; 0 where a lane was summed
 * in fp64. */
struct dti_loss_groups {
    _Alignas(64) float absolute[DTI_LOSS_GROUPS * DTI_LOSS_LANES];
    float squared[DTI_LOSS_GROUPS * DTI_LOSS_LANES];
    float source_squared[DTI_LOSS_GROUPS * DTI_LOSS_LANES];
};

/* Bits of the magnitudes whose squares are summed in fp32: from the first up to, not including,
 * the second. */
enum { DTI_LOSS_SINGLE_FROM = (127 - 60) << 23, DTI_LOSS_SINGLE_TO = (127 + 60) << 23 };

/* Whether a lane with this largest magnitude is suitable; 0 is. */
static inline bool dti_loss_suits_single(float largest)
{
    return !(largest > 0) || (largest >= 0x1p-60F && largest < 0x1p60F);
}

/* Wider registers make no difference: with 53 bits or more, double rounding is innocuous
 * (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30(3), 1995). */
static inline float dti_fp32_add(float a, float b)
{
    return (float)(a + b);
}

/* fma(number, number, sum) in fp32, sum >= 0. The square is exact in fp64; the fp64 sum is
 * rounded to odd, then once to fp32. */
static inline float dti_fp32_add_square(float sum, float number)
{
#if defined FP_FAST_FMAF || FLT_EVAL_METHOD != 0
    return fmaf(number, number, sum);
#else
    const double square = (double)number * number, wide = sum;
    const double total = square + wide, part = total - square;
    const double lost = (square - (total - part)) + (wide - part);
    uint64_t bits = dti_fp64_bits(total);
    const uint64_t is_even = ~bits & 1;
    bits -= lost < 0 ? is_even : 0;
    bits += lost > 0 ? is_even : 0;
    return (float)dti_fp64_from_bits(bits);
#endif
}

/* The sum of a lane over 2, 4, 8 groups, in the order of the fixed tree; `sum` is that of the
 * first one. */
static inline float dti_loss_fold_two(const float *sum)
{
    return dti_fp32_add(sum[0], sum[DTI_LOSS_LANES]);
}

static inline float dti_loss_fold_four(const float *sum)
{
    return dti_fp32_add(dti_loss_fold_two(sum), dti_loss_fold_two(sum + 2 * DTI_LOSS_LANES));
}

static inline float dti_loss_fold_eight(const float *sum)
{
    return dti_fp32_add(dti_loss_fold_four(sum), dti_loss_fold_four(sum + 4 * DTI_LOSS_LANES));
}

/* The same where some of a tile's groups do not exist: adding their sums of 0 would change
 * nothing. The result is where the first group was. */
static inline void dti_loss_fold_some(float *sum, size_t count)
{
    for (size_t step = 1; step < count; step *= 2) {
        for (size_t at = 0; at + step < count; at += 2 * step) {
            float *const to = sum + at * DTI_LOSS_LANES, *const from = to + step * DTI_LOSS_LANES;
            for (size_t i = 0; i < DTI_LOSS_LANES; i++)
                to[i] = dti_fp32_add(to[i], from[i]);
        }
    }
}

/* Adds the first `count` groups in the order of the fixed tree, and adds the result to the
 * lanes. */
static inline void dti_loss_fold(float sum[DTI_LOSS_GROUPS * DTI_LOSS_LANES], size_t count,
                                 double lanes[DTI_LOSS_LANES])
{
    float total[DTI_LOSS_LANES];
    if (count == DTI_LOSS_GROUPS) {
        for (size_t i = 0; i < DTI_LOSS_LANES; i++)
            total[i] = dti_fp32_add(dti_loss_fold_eight(sum + i),
                                    dti_loss_fold_eight(sum + 8 * DTI_LOSS_LANES + i));
    } else {
        dti_loss_fold_some(sum, count);
        for (size_t i = 0; i < DTI_LOSS_LANES; i++)
            total[i] = sum[i];
    }
    for (size_t i = 0; i < DTI_LOSS_LANES; i++)
        lanes[i] = dti_fp64_add(lanes[i], total[i]);
}

static inline void dti_loss_fold_groups(struct dti_loss_groups *groups, size_t count,
                                        struct dti_loss_lanes *lanes)
{
    if (count == 0)
        return;
    dti_loss_fold(groups->absolute, count, lanes->absolute);
    dti_loss_fold(groups->squared, count, lanes->squared);
    dti_loss_fold(groups->source_squared, count, lanes->source_squared);
}

#endif
