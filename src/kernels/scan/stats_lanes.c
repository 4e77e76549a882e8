/* SPDX-License-Identifier: MIT
 *
 * Statistics of tiles of fp64 and of 64-bit integers, in blocks of one element per lane.
 * Compiled once per level. */
#include "kernels/scan/stats_lanes.h"
#include "kernels/scan/stats_kernels.h"

/* Integers, as sort keys of stats_tile.h. */
struct integers {
    uint64_t min[LANES], max[LANES], zeros[LANES], negative[LANES];
    double sum[LANES], squared[LANES];
};

DTI_LANE void add_integers(struct integers *t, const uint64_t x[LANES], double shift, unsigned n,
                           bool with_sign)
{
    const uint64_t middle = with_sign ? UINT64_C(1) << 63 : 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t key = x[i] ^ middle;
        t->min[i] = key < t->min[i] ? key : t->min[i];
        t->max[i] = key > t->max[i] ? key : t->max[i];
        t->zeros[i] += (uint64_t)(x[i] == 0);
        t->negative[i] += with_sign ? x[i] >> 63 : 0;
    }
    for (unsigned i = 0; i < n; i++) {
        const double number = with_sign ? (double)(int64_t)x[i] : (double)x[i];
        const double d = dti_fp64_add(number, -shift);
        t->sum[i] = dti_fp64_add(t->sum[i], d);
        t->squared[i] = dti_fp64_add(t->squared[i], dti_fp64_multiply(d, d));
    }
}

DTI_LANE void add_integer_tile(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                               uint64_t index, bool with_sign, struct dti_stats *stats)
{
    const unsigned char *const from = numbers;
    struct integers t = {.sum = {0}};
    uint64_t x[LANES] = {0};
    memset(t.min, 0xff, sizeof t.min);
    size_t at = 0;
    for (; n - at >= LANES; at += LANES) {
        memcpy(x, from + at * sizeof x[0], sizeof x);
        add_integers(&t, x, rule->shift, LANES, with_sign);
    }
    if (at < n) {
        memcpy(x, from + at * sizeof x[0], (n - at) * sizeof x[0]);
        add_integers(&t, x, rule->shift, (unsigned)(n - at), with_sign);
    }
    struct dti_stats_tile tile = {
        .finite = n,
        .zeros = total(t.zeros),
        .negative = total(t.negative),
        .min = UINT64_MAX,
        .sum = dti_tile_sum(t.sum),
        .squared = dti_tile_sum(t.squared),
    };
    for (unsigned i = 0; i < LANES; i++) {
        tile.min = t.min[i] < tile.min ? t.min[i] : tile.min;
        tile.max = t.max[i] > tile.max ? t.max[i] : tile.max;
    }
    tile.min ^= with_sign ? UINT64_C(1) << 63 : 0;
    tile.max ^= with_sign ? UINT64_C(1) << 63 : 0;
    stats->elements += n;
    if (n > 0)
        dti_stats_add_tile(stats, &tile, numbers, n, index);
}

void DTI_LANES_NAME(dti_stats_f64)(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                                   uint64_t index, struct dti_stats *stats)
{
    add_float_tile(rule, numbers, n, index, false, stats);
}

void DTI_LANES_NAME(dti_stats_i64)(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                                   uint64_t index, struct dti_stats *stats)
{
    add_integer_tile(rule, numbers, n, index, true, stats);
}

void DTI_LANES_NAME(dti_stats_u64)(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                                   uint64_t index, struct dti_stats *stats)
{
    add_integer_tile(rule, numbers, n, index, false, stats);
}
