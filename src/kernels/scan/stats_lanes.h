/* SPDX-License-Identifier: MIT
 *
 * Portable statistics of a tile of floats, in blocks of one element per lane, whose loops
 * compilers vectorize. A NaN or an infinity in a tile shows in its sums; such a tile is
 * processed again element by element. */
#ifndef KERNELS_SCAN_STATS_LANES_H
#define KERNELS_SCAN_STATS_LANES_H

#include <float.h>

#include "kernels/lanes_piece.h"
#include "kernels/scan/stats_tile.h"

enum { LANES = DTI_TILE_LANES };

/* Floats, as fp64. Counts have 64 bits like the numbers, so all vectors have one width. */
struct floats {
    double min[LANES], max[LANES], sum[LANES], squared[LANES];
    uint64_t zeros[LANES], small[LANES], negative[LANES]; /* small: zero or subnormal */
};

DTI_LANE void load_floats(double x[LANES], const unsigned char *from, size_t n, bool single)
{
    if (single) {
        float narrow[LANES] = {0};
        memcpy(narrow, from, n * sizeof narrow[0]);
        for (unsigned i = 0; i < LANES; i++)
            x[i] = (double)narrow[i];
    } else {
        memcpy(x, from, n * sizeof x[0]);
    }
}

DTI_LANE void add_floats(struct floats *t, const double x[LANES], double shift, double least,
                         unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        t->min[i] = x[i] < t->min[i] ? x[i] : t->min[i];
        t->max[i] = x[i] > t->max[i] ? x[i] : t->max[i];
    }
    for (unsigned i = 0; i < n; i++) {
        t->zeros[i] += (uint64_t)(fabs(x[i]) <= 0);
        t->small[i] += (uint64_t)(fabs(x[i]) < least);
        t->negative[i] += (uint64_t)(x[i] < 0);
    }
    for (unsigned i = 0; i < n; i++) {
        const double d = dti_fp64_add(x[i], -shift);
        t->sum[i] = dti_fp64_add(t->sum[i], d);
        t->squared[i] = dti_fp64_add(t->squared[i], dti_fp64_multiply(d, d));
    }
}

static inline uint64_t total(const uint64_t count[LANES])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LANES; i++)
        sum += count[i];
    return sum;
}

DTI_LANE uint64_t code_of(double x, bool single)
{
    const float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return single ? bits : dti_fp64_bits(x);
}

DTI_LANE void add_float_tile(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                             uint64_t index, bool single, struct dti_stats *stats)
{
    const size_t size = single ? sizeof(float) : sizeof(double);
    const unsigned char *const from = numbers;
    const double shift = rule->shift;
    /* smaller numbers are not normal; integers have no subnormals, but zeros */
    const double least = rule->smallest_normal > 0 ? rule->smallest_normal : DBL_MIN;
    struct floats t = {.sum = {0}};
    double x[LANES];
    for (unsigned i = 0; i < LANES; i++) {
        t.min[i] = INFINITY;
        t.max[i] = -INFINITY;
    }
    size_t at = 0;
    for (; n - at >= LANES; at += LANES) {
        load_floats(x, from + at * size, LANES, single);
        add_floats(&t, x, shift, least, LANES);
    }
    if (at < n) {
        load_floats(x, from + at * size, n - at, single);
        add_floats(&t, x, shift, least, (unsigned)(n - at));
    }
    struct dti_stats_tile tile = {
        .finite = n,
        .zeros = total(t.zeros),
        .negative = total(t.negative),
        .sum = dti_tile_sum(t.sum),
        .squared = dti_tile_sum(t.squared),
    };
    double lowest = INFINITY, highest = -INFINITY;
    for (unsigned i = 0; i < LANES; i++) {
        lowest = t.min[i] < lowest ? t.min[i] : lowest;
        highest = t.max[i] > highest ? t.max[i] : highest;
    }
    if (!(fabs(tile.sum) <= DBL_MAX)) {
        dti_stats_add_each(rule, numbers, n, index, stats);
        return;
    }
    tile.subnormals = total(t.small) - tile.zeros;
    tile.min = code_of(lowest, single);
    tile.max = code_of(highest, single);
    stats->elements += n;
    if (n > 0)
        dti_stats_add_tile(stats, &tile, numbers, n, index);
}

#endif
