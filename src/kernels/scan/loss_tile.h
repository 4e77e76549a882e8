/* SPDX-License-Identifier: MIT
 *
 * Shared by the loss kernels of all levels: the sums of a tile, its largest error, and counts of
 * special elements by bit masks. */
#ifndef KERNELS_SCAN_LOSS_TILE_H
#define KERNELS_SCAN_LOSS_TILE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/fp64.h"
#include "kernels/scan/loss.h"
#include "kernels/scan/tile_sum.h"

/* Element i of a tile is summed in lane i mod DTI_LOSS_LANES. */
enum { DTI_LOSS_LANES = 16 };

struct dti_loss_lanes {
    double absolute[DTI_LOSS_LANES], squared[DTI_LOSS_LANES], source_squared[DTI_LOSS_LANES];
};

_Static_assert((int)DTI_LOSS_LANES == (int)DTI_TILE_LANES, "one order of additions");

/* Adds the lanes in the order of the fixed tree, and adds the tile's sums to the loss. Here, so
 * that each level compiles it: it is a quarter of an exact cast's time. */
static inline void dti_loss_add_lanes(struct dti_loss *loss, const struct dti_loss_lanes *lanes)
{
    dti_exact_sum_add(&loss->sum_absolute, dti_tile_sum(lanes->absolute));
    dti_exact_sum_add(&loss->sum_squared, dti_tile_sum(lanes->squared));
    dti_exact_sum_add(&loss->sum_source_squared, dti_tile_sum(lanes->source_squared));
}

/* The largest error of a tile whose elements come in index order: whenever `largest` rises, the
 * index is recorded. */
struct dti_loss_peak {
    double largest;
    uint64_t index;
    bool risen;
};

/* An error counts if it exceeds the largest so far. If the tile precedes the element that has
 * it, an equal error counts too: the bar is then one step lower. */
static inline struct dti_loss_peak dti_loss_peak_start(const struct dti_loss *loss, uint64_t index)
{
    struct dti_loss_peak peak = {loss->max_absolute, 0, false};
    if (loss->max_absolute > 0 && loss->max_index >= index)
        peak.largest = dti_fp64_from_bits(dti_fp64_bits(peak.largest) - 1);
    return peak;
}

static inline void dti_loss_peak_rise(struct dti_loss_peak *peak, double error, uint64_t index)
{
    peak->largest = error;
    peak->index = index;
    peak->risen = true;
}

static inline void dti_loss_peak_end(const struct dti_loss_peak *peak, struct dti_loss *loss)
{
    if (!peak->risen)
        return;
    loss->max_absolute = peak->largest;
    loss->max_index = peak->index;
}

/* Masks for up to 16 elements; bit i is the element at index + i. */
struct dti_loss_masks {
    unsigned nan_x, inf_x;   /* the source is NaN, infinite */
    unsigned below_x;        /* the source is negative, including -infinity */
    unsigned nan_y, inf_y;   /* the stored number is NaN, infinite */
    unsigned beyond;         /* a finite source of this size overflows */
    unsigned equal_infinite; /* both are the same infinity */
};

static inline unsigned dti_loss_popcount(unsigned mask)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_popcount(mask);
#else
    unsigned count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
#endif
}

static inline unsigned dti_loss_lowest(unsigned mask) /* mask != 0 */
{
    return dti_loss_popcount((mask & (0U - mask)) - 1);
}

/* Counts infinities, NaNs, overflows and elements without a code; counts those without an error
 * that differ as inexact. Returns the mask of elements without an error, which do not count
 * otherwise. */
static inline unsigned dti_loss_count_specials(const struct dti_loss_rule *rule,
                                               const struct dti_loss_masks *m, uint64_t index,
                                               struct dti_loss *loss)
{
    const unsigned special_x = m->nan_x | m->inf_x, special_y = m->nan_y | m->inf_y;
    const unsigned no_code = (rule->nan_has_no_code ? m->nan_x : 0) |
                             (rule->negative_has_no_code ? m->below_x & m->nan_y : 0);
    const unsigned without = special_x | special_y;
    loss->nan_in += dti_loss_popcount(m->nan_x);
    loss->inf_in += dti_loss_popcount(m->inf_x);
    loss->overflowed += dti_loss_popcount(~special_x & (m->beyond | (special_y & ~no_code)));
    loss->inexact += dti_loss_popcount(without & ~(m->nan_x & m->nan_y) & ~m->equal_infinite);
    loss->no_code += dti_loss_popcount(no_code);
    if (no_code && index + dti_loss_lowest(no_code) < loss->first_no_code)
        loss->first_no_code = index + dti_loss_lowest(no_code);
    return without;
}

/* Whether a finite source between the two thresholds of stochastic rounding overflows, decided
 * by dti_encode() for its index. */
bool dti_loss_overflows(const struct dti_loss_rule *rule, double source, uint64_t index);

/* RN(|a - b|) for finite numbers or zeros. */
double dti_loss_distance(const struct dti_value *a, const struct dti_value *b);

/* RN(RN(|x - y|) / |x|) for nonzero x outside the range of fp64: both are scaled into it. */
double dti_loss_relative_beyond(const struct dti_value *x, const struct dti_value *y);

#endif
