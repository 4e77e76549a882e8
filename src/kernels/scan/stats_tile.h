/* SPDX-License-Identifier: MIT
 *
 * What the kernels of all levels compute for a tile, and how that is added to the statistics of the
 * array. */
#ifndef KERNELS_SCAN_STATS_TILE_H
#define KERNELS_SCAN_STATS_TILE_H

#include <float.h>
#include <math.h>

#include "kernels/scan/stats.h"
#include "kernels/scan/tile_sum.h"

/* Of the finite elements of a tile. */
struct dti_stats_tile {
    uint64_t finite, zeros, negative, subnormals;
    uint64_t min, max; /* codes of the hub's format; any of equal zeros */
    double sum, squared;
};

/* Adds it. numbers: the tile, in which the extremes are looked for when they are those of the
 * array. What is not finite has been counted. */
void dti_stats_add_tile(struct dti_stats *stats, const struct dti_stats_tile *tile,
                        const void *numbers, size_t n, uint64_t index);

/* The definition, element by element: any tile of fp32 or fp64 numbers. Kernels turn to it when not
 * all is finite. */
void dti_stats_add_each(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                        uint64_t index, struct dti_stats *stats);

/* The largest magnitude is that of an extreme; of two equal ones that of the earlier. */
void dti_stats_see_absmax(struct dti_stats *stats);

/* The end of a kernel for fp32. tile: sums and signs; min, max, least: the extremes and the least
 * magnitude. count_small counts zeros, numbers below the smallest normal and those below zero,
 * where there are any. A tile whose sums are not finite goes to the definition. */
static inline void dti_stats_end_f32(const struct dti_stats_rule *rule, struct dti_stats_tile *tile,
                                     const float *numbers, size_t n, uint64_t index, float min,
                                     float max, float least,
                                     void (*count_small)(const float *x, size_t n,
                                                         float smallest_normal,
                                                         struct dti_stats_tile *tile),
                                     struct dti_stats *stats)
{
    uint32_t bits[2];
    if (!(fabs(tile->sum) <= DBL_MAX)) {
        dti_stats_add_each(rule, numbers, n, index, stats);
        return;
    }
    if (n == 0)
        return;
    memcpy(&bits[0], &min, sizeof min);
    memcpy(&bits[1], &max, sizeof max);
    tile->finite = n;
    tile->min = bits[0];
    tile->max = bits[1];
    if (!(least > 0) || (double)least < rule->smallest_normal)
        count_small(numbers, n, (float)rule->smallest_normal, tile);
    stats->elements += n;
    dti_stats_add_tile(stats, tile, numbers, n, index);
}

/* A number in the order of its hub: smaller ones have smaller keys, both zeros have one. */
static inline uint64_t dti_stats_key(enum dti_stats_hub hub, uint64_t code)
{
    const uint64_t middle = UINT64_C(1) << 63;
    const uint64_t magnitude = hub == DTI_STATS_HUB32 ? code & INT32_MAX : code & INT64_MAX;
    const uint64_t sign = hub == DTI_STATS_HUB32 ? code >> 31 : code >> 63;
    if (hub == DTI_STATS_U64)
        return code;
    if (hub == DTI_STATS_I64)
        return code ^ middle;
    return sign ? middle - magnitude : middle + magnitude;
}

#endif
