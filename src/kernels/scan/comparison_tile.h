/* SPDX-License-Identifier: MIT
 *
 * The results that kernels of all levels compute for a tile of pairs, and how they are added to
 * the comparison of the arrays. */
#ifndef KERNELS_SCAN_COMPARISON_TILE_H
#define KERNELS_SCAN_COMPARISON_TILE_H

#include <float.h>

#include "kernels/scan/comparison.h"
#include "kernels/scan/tile_sum.h"

/* For the pairs of finite numbers in a tile; `differing` and `exceeding` for all pairs. */
struct dti_comparison_tile {
    uint64_t compared, differing, unmatched, exceeding;
    double max_absolute, max_relative, max_ulp;
    double absolute, squared, aa, bb, ab;
};

/* Adds the results of a tile. a, b: the tile, to search for indices. */
void dti_comparison_add_tile(const struct dti_comparison_rule *rule,
                             const struct dti_comparison_tile *tile, const void *a, const void *b,
                             size_t n, uint64_t index, struct dti_comparison *comparison);

/* The definition, pair by pair, for every hub. Kernels fall back to it if not all numbers are
 * finite. */
dti_comparison_fn dti_comparison_add_each;

/* The largest ratio |a - b| / |b| in a tile of finite fp32 or fp64 numbers, by division; or
 * `most` if that is larger. */
double dti_comparison_largest_ratio(const struct dti_comparison_rule *rule, const void *a,
                                    const void *b, size_t n, double most);

/* Positions on the number line of rule->ulp are counted in fractions of a step, one for each
 * code of the hub's mantissa. Magnitudes from 2^least on use their bits; smaller ones, which are
 * evenly spaced, use the bits of their sum with 2^least. base: the bits of 2^least. */
static inline uint32_t dti_comparison_base32(const struct dti_format *ulp)
{
    return (uint32_t)(dti_format_min_exponent(ulp) + 127) << 23;
}

static inline uint64_t dti_comparison_base64(const struct dti_format *ulp)
{
    return (uint64_t)(dti_format_min_exponent(ulp) + 1023) << 52;
}

/* Converts a number of fractions to steps. bits: mantissa bits of the hub. */
static inline double dti_comparison_steps(const struct dti_format *ulp, uint64_t fractions,
                                          unsigned bits)
{
    const uint64_t scale = (uint64_t)(1023 + (int)ulp->man_bits - (int)bits) << 52;
    return dti_fp64_multiply((double)fractions, dti_fp64_from_bits(scale));
}

/* The end of an fp32 kernel. above: some ratio exceeds the largest so far; ulp: the largest
 * distance in fractions of steps. A tile whose sums are not finite goes to the definition. */
static inline void dti_comparison_end_f32(const struct dti_comparison_rule *rule,
                                          struct dti_comparison_tile *tile, const void *a,
                                          const void *b, size_t n, uint64_t index, bool above,
                                          uint32_t ulp, struct dti_comparison *comparison)
{
    if (!(tile->aa + tile->bb <= DBL_MAX)) {
        dti_comparison_add_each(rule, a, b, n, index, comparison);
        return;
    }
    tile->compared = n;
    tile->max_relative = comparison->max_relative;
    if (rule->ulp.width > 0)
        tile->max_ulp = dti_comparison_steps(&rule->ulp, ulp, 23);
    if (above)
        tile->max_relative = dti_comparison_largest_ratio(rule, a, b, n, tile->max_relative);
    dti_comparison_add_tile(rule, tile, a, b, n, index, comparison);
}

#endif
