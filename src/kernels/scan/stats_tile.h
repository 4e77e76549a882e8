/* SPDX-License-Identifier: MIT
 *
 * The results that kernels of all levels compute for a tile, and how they are added to the
 * statistics of the array. */
#ifndef KERNELS_SCAN_STATS_TILE_H
#define KERNELS_SCAN_STATS_TILE_H

#include <float.h>
#include <math.h>

#include "kernels/scan/stats.h"
#include "kernels/scan/tile_sum.h"

/* For the finite elements of a tile. */
struct dti_stats_tile {
    uint64_t finite, zeros, negative, subnormals;
    uint64_t min, max; /* codes of the hub's format; either one of two equal zeros */
    double sum, squared;
};

/* Adds the results of a tile. numbers: the tile, which is searched for extremes that are new to
 * the array. Elements that are not finite are already counted. */
void dti_stats_add_tile(struct dti_stats *stats, const struct dti_stats_tile *tile,
                        const void *numbers, size_t n, uint64_t index);

/* The same for a tile that has no new extreme. */
void dti_stats_add_counts(struct dti_stats *stats, const struct dti_stats_tile *tile);

/* The definition, element by element: any tile of fp32 or fp64 numbers. Kernels fall back to it
 * if not all numbers are finite. */
void dti_stats_add_each(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                        uint64_t index, struct dti_stats *stats);

/* Sets the largest magnitude, which is that of an extreme; of two equal ones, that of the
 * earlier. */
void dti_stats_see_absmax(struct dti_stats *stats);

/* The results of a pass over fp32 numbers by a kernel with a double a lane. */
struct dti_stats_pass {
    double sum[DTI_TILE_LANES], squared[DTI_TILE_LANES];
    float min, max, least; /* least: smallest magnitude */
    uint64_t signs;
};

/* Adds the last elements, fewer than there are lanes. Not inlined: it would take registers from the
 * loop before it. */
static __attribute__((noinline, unused)) void dti_stats_pass_rest(struct dti_stats_pass *p,
                                                                  const float *from, size_t n,
                                                                  double shift)
{
    float x[DTI_TILE_LANES];
    memcpy(x, from, n * sizeof x[0]);
    for (size_t i = 0; i < n; i++) {
        const double d = (double)x[i] - shift;
        p->sum[i] += d;
        p->squared[i] += d * d;
        p->min = x[i] < p->min ? x[i] : p->min;
        p->max = x[i] > p->max ? x[i] : p->max;
        p->least = fabsf(x[i]) < p->least ? fabsf(x[i]) : p->least;
        p->signs += signbit(x[i]) != 0;
    }
}

/* The end of an fp32 kernel. tile: sums and signs; min, max, least: the extremes and the
 * smallest magnitude. count_small counts zeros, numbers below the smallest normal, and negative
 * numbers, if there are any. A tile whose sums are not finite goes to the definition. */
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

/* A sort key for a number of a hub: smaller numbers have smaller keys, and both zeros have the
 * same key. */
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
