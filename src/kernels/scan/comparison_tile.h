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

/* What an fp32 kernel finds in a tile: sums of lanes, and counts. */
struct dti_comparison_found {
    double absolute[DTI_TILE_LANES], squared[DTI_TILE_LANES];
    double aa[DTI_TILE_LANES], bb[DTI_TILE_LANES], ab[DTI_TILE_LANES];
    double largest;
    bool above;                    /* some ratio exceeds the largest so far */
    uint64_t differing, exceeding; /* exceeding: used if there is a tolerance */
    uint32_t ulp;                  /* the largest distance in fractions of steps */
};

/* Whether pairs within a tolerance do not exceed it. */
static inline bool dti_comparison_tolerates(const struct dti_comparison_rule *rule)
{
    return rule->atol > 0 || rule->rtol > 0;
}

/* The end of an fp32 kernel. A tile whose sums are not finite goes to the definition. */
static inline void dti_comparison_end_f32(const struct dti_comparison_rule *rule,
                                          const struct dti_comparison_found *found, const void *a,
                                          const void *b, size_t n, uint64_t index,
                                          struct dti_comparison *comparison)
{
    struct dti_comparison_tile tile = {
        .compared = n,
        .differing = found->differing,
        .exceeding = dti_comparison_tolerates(rule) ? found->exceeding : found->differing,
        .max_absolute = found->largest,
        .max_relative = comparison->max_relative,
        .absolute = dti_tile_sum(found->absolute),
        .squared = dti_tile_sum(found->squared),
        .aa = dti_tile_sum(found->aa),
        .bb = dti_tile_sum(found->bb),
        .ab = dti_tile_sum(found->ab),
    };
    if (!(tile.aa + tile.bb <= DBL_MAX)) {
        dti_comparison_add_each(rule, a, b, n, index, comparison);
        return;
    }
    if (rule->ulp.width > 0)
        tile.max_ulp = dti_comparison_steps(&rule->ulp, found->ulp, 23);
    if (found->above)
        tile.max_relative = dti_comparison_largest_ratio(rule, a, b, n, tile.max_relative);
    dti_comparison_add_tile(rule, &tile, a, b, n, index, comparison);
}

#endif
