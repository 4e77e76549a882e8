/* SPDX-License-Identifier: MIT
 *
 * Portable comparison of a tile, in blocks of one pair per lane, whose loops compilers
 * vectorize. A NaN or an infinity in a tile shows in its sums; such a tile is processed again
 * pair by pair. */
#ifndef KERNELS_SCAN_COMPARISON_LANES_H
#define KERNELS_SCAN_COMPARISON_LANES_H

#include <float.h>

#include "kernels/lanes_piece.h"
#include "kernels/scan/comparison_tile.h"

enum { LANES = DTI_TILE_LANES };

/* Accumulators for a tile. ulp: the largest distance, in fractions of a step. */
struct comparison_sums {
    double largest[LANES], absolute[LANES], squared[LANES], aa[LANES], bb[LANES], ab[LANES];
    uint64_t differing[LANES], exceeding[LANES];
    uint64_t ulp[LANES];
    uint32_t ulp32[LANES];
};

/* Parameters for a tile. */
struct comparison_view {
    double atol, rtol, ratio; /* ratio: the largest ratio so far */
    uint32_t base32;
    uint64_t base64;
};

/* Adds pairs. Returns whether one may have a larger ratio: e > m |b| in real numbers implies e
 * >= RN(m |b|). */
DTI_LANE uint64_t add_numbers(struct comparison_sums *s, const struct comparison_view *look,
                              const double a[LANES], const double b[LANES],
                              const double error[LANES], unsigned n)
{
    uint64_t above = 0;
    for (unsigned i = 0; i < n; i++) {
        const double size = fabs(b[i]);
        const double bar = dti_fp64_add(look->atol, dti_fp64_multiply(look->rtol, size));
        s->largest[i] = error[i] > s->largest[i] ? error[i] : s->largest[i];
        s->differing[i] += (uint64_t)(error[i] > 0);
        s->exceeding[i] += (uint64_t)(error[i] > bar);
        above |= (uint64_t)(error[i] >= dti_fp64_multiply(look->ratio, size)) &
                 (uint64_t)(error[i] > 0) & (uint64_t)(size > 0);
    }
    for (unsigned i = 0; i < n; i++) {
        s->absolute[i] = dti_fp64_add(s->absolute[i], error[i]);
        s->squared[i] = dti_fp64_add(s->squared[i], dti_fp64_multiply(error[i], error[i]));
    }
    for (unsigned i = 0; i < n; i++) {
        s->aa[i] = dti_fp64_add(s->aa[i], dti_fp64_multiply(a[i], a[i]));
        s->bb[i] = dti_fp64_add(s->bb[i], dti_fp64_multiply(b[i], b[i]));
        s->ab[i] = dti_fp64_add(s->ab[i], dti_fp64_multiply(a[i], b[i]));
    }
    return above;
}

/* The position of a number on the number line; see comparison_tile.h. */
DTI_LANE int32_t place32(float number, uint32_t base)
{
    const float size = fabsf(number);
    float least;
    uint32_t bits, evenly;
    memcpy(&least, &base, sizeof least);
    const float sum = size + least;
    memcpy(&bits, &size, sizeof bits);
    memcpy(&evenly, &sum, sizeof evenly);
    bits = size < least ? evenly - base : bits - base + (UINT32_C(1) << 23);
    return number < 0 ? -(int32_t)bits : (int32_t)bits;
}

DTI_LANE int64_t place64(double number, uint64_t base)
{
    const double size = fabs(number), least = dti_fp64_from_bits(base);
    const uint64_t evenly = dti_fp64_bits(dti_fp64_add(size, least)) - base;
    const uint64_t bits = size < least ? evenly : dti_fp64_bits(size) - base + (UINT64_C(1) << 52);
    return number < 0 ? -(int64_t)bits : (int64_t)bits;
}

DTI_LANE void see_ulp32(struct comparison_sums *s, const float a[LANES], const float b[LANES],
                        uint32_t base, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const int32_t x = place32(a[i], base), y = place32(b[i], base);
        const uint32_t apart = x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x;
        s->ulp32[i] = apart > s->ulp32[i] ? apart : s->ulp32[i];
    }
}

DTI_LANE void see_ulp64(struct comparison_sums *s, const double a[LANES], const double b[LANES],
                        uint64_t base, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const int64_t x = place64(a[i], base), y = place64(b[i], base);
        const uint64_t apart = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
        s->ulp[i] = apart > s->ulp[i] ? apart : s->ulp[i];
    }
}

static inline uint64_t total(const uint64_t count[LANES])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LANES; i++)
        sum += count[i];
    return sum;
}

static inline void end_sums(const struct comparison_sums *s, struct dti_comparison_tile *tile)
{
    tile->differing = total(s->differing);
    tile->exceeding = total(s->exceeding);
    tile->absolute = dti_tile_sum(s->absolute);
    tile->squared = dti_tile_sum(s->squared);
    tile->aa = dti_tile_sum(s->aa);
    tile->bb = dti_tile_sum(s->bb);
    tile->ab = dti_tile_sum(s->ab);
    for (unsigned i = 0; i < LANES; i++)
        if (s->largest[i] > tile->max_absolute)
            tile->max_absolute = s->largest[i];
}

static inline double steps_of(const struct dti_comparison_rule *rule,
                              const struct comparison_sums *s, bool single)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < LANES; i++) {
        const uint64_t apart = single ? s->ulp32[i] : s->ulp[i];
        most = apart > most ? apart : most;
    }
    return dti_comparison_steps(&rule->ulp, most, single ? 23 : 52);
}

DTI_LANE void add_float_tile(const struct dti_comparison_rule *rule, const void *a, const void *b,
                             size_t n, uint64_t index, bool single,
                             struct dti_comparison *comparison)
{
    const size_t size = single ? sizeof(float) : sizeof(double);
    const unsigned char *const from_a = a, *const from_b = b;
    const bool steps = rule->ulp.width > 0;
    const struct comparison_view look = {
        .atol = rule->atol,
        .rtol = rule->rtol,
        .ratio = comparison->max_relative,
        .base32 = steps && single ? dti_comparison_base32(&rule->ulp) : 0,
        .base64 = steps && !single ? dti_comparison_base64(&rule->ulp) : 0,
    };
    struct comparison_sums s;
    uint64_t above = 0;
    memset(&s, 0, sizeof s);
    for (size_t at = 0; at < n; at += LANES) {
        const unsigned count = n - at < LANES ? (unsigned)(n - at) : LANES;
        float a32[LANES] = {0}, b32[LANES] = {0};
        double x[LANES] = {0}, y[LANES] = {0}, error[LANES];
        if (single) {
            memcpy(a32, from_a + at * size, count * size);
            memcpy(b32, from_b + at * size, count * size);
            for (unsigned i = 0; i < LANES; i++) {
                x[i] = (double)a32[i];
                y[i] = (double)b32[i];
            }
        } else {
            memcpy(x, from_a + at * size, count * size);
            memcpy(y, from_b + at * size, count * size);
        }
        for (unsigned i = 0; i < LANES; i++)
            error[i] = fabs(dti_fp64_add(x[i], -y[i]));
        above |= add_numbers(&s, &look, x, y, error, LANES);
        if (steps && single)
            see_ulp32(&s, a32, b32, look.base32, LANES);
        else if (steps)
            see_ulp64(&s, x, y, look.base64, LANES);
    }
    struct dti_comparison_tile tile = {.compared = n, .max_relative = look.ratio};
    end_sums(&s, &tile);
    if (!(tile.aa + tile.bb <= DBL_MAX)) {
        dti_comparison_add_each(rule, a, b, n, index, comparison);
        return;
    }
    if (above)
        tile.max_relative = dti_comparison_largest_ratio(rule, a, b, n, look.ratio);
    tile.max_ulp = steps ? steps_of(rule, &s, single) : 0;
    dti_comparison_add_tile(rule, &tile, a, b, n, index, comparison);
}

#endif
