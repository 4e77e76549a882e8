/* SPDX-License-Identifier: MIT
 *
 * Defines the statistics of an array; all kernels give the same result, bit for bit.
 *
 * Sums within a tile, over finite elements, in the lanes of tile_sum.h, all in fp64:
 *
 *   d             = RN(RN(x) - shift)        RN(x) = x except for 64-bit integers
 *   sum[lane]     = RN(sum[lane] + d)
 *   squared[lane] = RN(squared[lane] + RN(d d))
 *
 * The sums of tiles are added without rounding. */
#include "kernels/scan/stats_tile.h"

#include <math.h>

static uint64_t code_at(enum dti_stats_hub hub, const unsigned char *numbers, size_t i)
{
    if (hub == DTI_STATS_HUB32) {
        uint32_t bits;
        memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
        return bits;
    }
    uint64_t bits;
    memcpy(&bits, numbers + i * sizeof bits, sizeof bits);
    return bits;
}

/* The number of elements of an fp32 tile before the 16 that contain a number; zeros of both
 * signs are equal. */
static size_t skip_single(const unsigned char *numbers, size_t n, float number)
{
    size_t at = 0;
    for (; n - at >= DTI_TILE_LANES; at += DTI_TILE_LANES) {
        float x[DTI_TILE_LANES];
        unsigned found = 0;
        memcpy(x, numbers + at * sizeof x[0], sizeof x);
        for (unsigned i = 0; i < DTI_TILE_LANES; i++)
            found |= (unsigned)(x[i] >= number) & (unsigned)(x[i] <= number);
        if (found)
            break;
    }
    return at;
}

/* The first element of a tile that equals a code, which must be present. */
static size_t find(enum dti_stats_hub hub, const unsigned char *numbers, size_t n, uint64_t code)
{
    const uint64_t key = dti_stats_key(hub, code);
    const uint32_t narrow = (uint32_t)code;
    float single;
    memcpy(&single, &narrow, sizeof single);
    size_t i = hub == DTI_STATS_HUB32 ? skip_single(numbers, n, single) : 0;
    while (i + 1 < n && dti_stats_key(hub, code_at(hub, numbers, i)) != key)
        i++;
    return i;
}

/* Updates an extreme of the array with that of a tile, if it is beyond, or equal and earlier. */
static void see_extreme(struct dti_stats *stats, bool smaller, uint64_t code, const void *numbers,
                        size_t n, uint64_t index)
{
    const enum dti_stats_hub hub = stats->hub;
    uint64_t *const have = smaller ? &stats->min : &stats->max;
    uint64_t *const have_index = smaller ? &stats->min_index : &stats->max_index;
    const uint64_t key = dti_stats_key(hub, code), bar = dti_stats_key(hub, *have);
    const bool beyond = stats->finite == 0 || (smaller ? key < bar : key > bar);
    if (!beyond && (key != bar || *have_index <= index))
        return;
    const size_t at = find(hub, numbers, n, code);
    if (!beyond && *have_index < index + at)
        return;
    *have = code_at(hub, numbers, at);
    *have_index = index + at;
}

static uint64_t magnitude_of(enum dti_stats_hub hub, uint64_t code)
{
    if (hub == DTI_STATS_HUB32)
        return code & INT32_MAX;
    if (hub == DTI_STATS_HUB64)
        return code & INT64_MAX;
    return hub == DTI_STATS_I64 && code >> 63 ? 0 - code : code;
}

void dti_stats_see_absmax(struct dti_stats *stats)
{
    const uint64_t low = magnitude_of(stats->hub, stats->min);
    const uint64_t high = magnitude_of(stats->hub, stats->max);
    const bool is_max = high > low || (high == low && stats->max_index < stats->min_index);
    stats->absmax = is_max ? high : low;
    stats->absmax_index = is_max ? stats->max_index : stats->min_index;
}

void dti_stats_add_counts(struct dti_stats *stats, const struct dti_stats_tile *tile)
{
    stats->finite += tile->finite;
    stats->zeros += tile->zeros;
    stats->negative += tile->negative;
    stats->subnormals += tile->subnormals;
    dti_exact_sum_add(&stats->sum, tile->sum);
    dti_exact_sum_add(&stats->sum_squared, tile->squared);
}

void dti_stats_add_tile(struct dti_stats *stats, const struct dti_stats_tile *tile,
                        const void *numbers, size_t n, uint64_t index)
{
    if (tile->finite == 0)
        return;
    see_extreme(stats, true, tile->min, numbers, n, index);
    see_extreme(stats, false, tile->max, numbers, n, index);
    dti_stats_see_absmax(stats);
    dti_stats_add_counts(stats, tile);
}

static double number_at(enum dti_stats_hub hub, const unsigned char *numbers, size_t i)
{
    const uint64_t code = code_at(hub, numbers, i);
    if (hub != DTI_STATS_HUB32)
        return dti_fp64_from_bits(code);
    const uint32_t bits = (uint32_t)code;
    float single;
    memcpy(&single, &bits, sizeof single);
    return single;
}

static void count_special(struct dti_stats *stats, double x, uint64_t index)
{
    if (isnan(x)) {
        stats->nan++;
        if (index < stats->first_nan)
            stats->first_nan = index;
        return;
    }
    stats->inf++;
    stats->negative_inf += x < 0;
    stats->negative += x < 0;
    if (index < stats->first_inf)
        stats->first_inf = index;
}

void dti_stats_add_each(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                        uint64_t index, struct dti_stats *stats)
{
    const enum dti_stats_hub hub = rule->hub;
    struct dti_stats_tile tile = {0};
    double sum[DTI_TILE_LANES] = {0}, squared[DTI_TILE_LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(hub, numbers, i);
        const uint64_t code = code_at(hub, numbers, i), key = dti_stats_key(hub, code);
        if (!isfinite(x)) {
            count_special(stats, x, index + i);
            continue;
        }
        const double d = dti_fp64_add(x, -rule->shift);
        const unsigned lane = i % DTI_TILE_LANES;
        sum[lane] = dti_fp64_add(sum[lane], d);
        squared[lane] = dti_fp64_add(squared[lane], dti_fp64_multiply(d, d));
        tile.zeros += !(fabs(x) > 0);
        tile.negative += x < 0;
        tile.subnormals += fabs(x) > 0 && fabs(x) < rule->smallest_normal;
        if (tile.finite == 0 || key < dti_stats_key(hub, tile.min))
            tile.min = code;
        if (tile.finite == 0 || key > dti_stats_key(hub, tile.max))
            tile.max = code;
        tile.finite++;
    }
    tile.sum = dti_tile_sum(sum);
    tile.squared = dti_tile_sum(squared);
    stats->elements += n;
    dti_stats_add_tile(stats, &tile, numbers, n, index);
}
