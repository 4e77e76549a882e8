/* SPDX-License-Identifier: MIT
 *
 * Defines the difference of two arrays; all kernels give the same result, bit for bit.
 *
 *   e   RN(|a - b|) in fp64, for pairs of finite numbers
 *
 * Sums within a tile, over those pairs, in the lanes of tile_sum.h, all in fp64:
 *
 *   absolute[lane] = RN(absolute[lane] + e)
 *   squared[lane]  = RN(squared[lane] + RN(e e))
 *   aa[lane]       = RN(aa[lane] + RN(RN(a) RN(a)))      likewise bb, ab
 *
 * The sums of tiles are added without rounding. */
#include "kernels/scan/comparison_tile.h"

#include <math.h>

#include "kernels/scan/loss_tile.h"

/* The result for one pair. */
struct compared_pair {
    bool finite, unmatched, differs;
    double a, b, error;   /* only for finite pairs */
    double relative, ulp; /* 0 if undefined */
};

static double ulp32(const struct dti_format *ulp, float a, float b)
{
    const float number[2] = {a, b};
    const uint32_t base = dti_comparison_base32(ulp);
    int64_t place[2];
    float least;
    memcpy(&least, &base, sizeof least);
    for (unsigned i = 0; i < 2; i++) {
        const float size = fabsf(number[i]), sum = size + least;
        uint32_t bits;
        memcpy(&bits, size < least ? &sum : &size, sizeof bits);
        place[i] = (int64_t)bits - base + (size < least ? 0 : 1 << 23);
        if (number[i] < 0)
            place[i] = -place[i];
    }
    const int64_t apart = place[0] - place[1];
    return dti_comparison_steps(ulp, (uint64_t)(apart < 0 ? -apart : apart), 23);
}

static double ulp64(const struct dti_format *ulp, double a, double b)
{
    const double number[2] = {a, b};
    const uint64_t base = dti_comparison_base64(ulp);
    const double least = dti_fp64_from_bits(base);
    uint64_t place[2];
    for (unsigned i = 0; i < 2; i++) {
        const double size = fabs(number[i]);
        place[i] = size < least ? dti_fp64_bits(dti_fp64_add(size, least)) - base
                                : dti_fp64_bits(size) - base + (UINT64_C(1) << 52);
    }
    const uint64_t high = place[0] > place[1] ? place[0] : place[1];
    const uint64_t low = place[0] > place[1] ? place[1] : place[0];
    return dti_comparison_steps(ulp, (a < 0) == (b < 0) ? high - low : high + low, 52);
}

static void look_at_floats(const struct dti_comparison_rule *rule, double a, double b,
                           struct compared_pair *ret)
{
    const bool single = rule->hub == DTI_COMPARISON_HUB32;
    ret->finite = isfinite(a) && isfinite(b);
    if (!ret->finite) {
        ret->differs = ret->unmatched = !(isnan(a) && isnan(b)) && !(a <= b && a >= b);
        return;
    }
    ret->a = a;
    ret->b = b;
    ret->error = fabs(dti_fp64_add(a, -b));
    ret->differs = a < b || a > b;
    if (fabs(b) > 0)
        ret->relative = dti_fp64_divide(ret->error, fabs(b));
    if (rule->ulp.width > 0)
        ret->ulp = single ? ulp32(&rule->ulp, (float)a, (float)b) : ulp64(&rule->ulp, a, b);
}

static void look_at_integers(uint64_t a, uint64_t b, bool with_sign, struct compared_pair *ret)
{
    const bool less = with_sign ? (int64_t)a < (int64_t)b : a < b;
    ret->finite = true;
    ret->a = with_sign ? (double)(int64_t)a : (double)a;
    ret->b = with_sign ? (double)(int64_t)b : (double)b;
    ret->error = (double)(less ? b - a : a - b);
    ret->differs = a != b;
    if (b != 0)
        ret->relative = dti_fp64_divide(ret->error, fabs(ret->b));
}

/* A position on the number line as an integer part and 2^-64ths, truncated; limited to 2^63. */
static void place_of(const struct dti_format *ulp, const struct dti_value *value,
                     uint64_t ret_place[2])
{
    ret_place[0] = ret_place[1] = 0;
    if (value->kind == DTI_CLASS_ZERO)
        return;
    const int64_t above = (int64_t)value->exponent - dti_format_min_exponent(ulp);
    const unsigned man_bits = ulp->man_bits; /* 1.f x 2^man_bits in 128 bits, with the point in
                                              * the middle */
    uint64_t whole = value->hi >> (63 - man_bits);
    uint64_t rest = value->hi << man_bits << 1 | value->lo >> (63 - man_bits);
    if (above >= 0) {
        const uint64_t most = UINT64_C(1) << 63;
        const bool beyond = (uint64_t)above >= most >> man_bits;
        whole = beyond ? most : ((uint64_t)above << man_bits) + whole;
        ret_place[0] = whole < most ? whole : most;
        ret_place[1] = whole < most ? rest : 0;
        return;
    }
    for (int64_t shift = -above; shift > 0 && (whole | rest) != 0; shift--) {
        rest = rest >> 1 | whole << 63;
        whole >>= 1;
    }
    ret_place[0] = whole;
    ret_place[1] = rest;
}

static double ulp_wide(const struct dti_format *ulp, const struct dti_value *a,
                       const struct dti_value *b)
{
    uint64_t x[2], y[2];
    place_of(ulp, a, x);
    place_of(ulp, b, y);
    const bool apart = a->negative != b->negative;
    const bool less = x[0] < y[0] || (x[0] == y[0] && x[1] < y[1]);
    const uint64_t *const high = less ? y : x, *const low = less ? x : y;
    uint64_t sum[2] = {high[0], high[1]};
    if (apart) {
        const unsigned carry = dti_wide_add(&sum[1], low[1], 0);
        (void)dti_wide_add(&sum[0], low[0], carry);
    } else {
        const unsigned borrow = dti_wide_sub(&sum[1], low[1], 0);
        (void)dti_wide_sub(&sum[0], low[0], borrow);
    }
    struct dti_value steps;
    if ((sum[0] | sum[1]) == 0)
        return 0;
    dti_value_set_wide(&steps, false, sum[0], sum[1], false, -64);
    return dti_fp64_from_value(&steps);
}

static double number_of(const struct dti_value *value)
{
    return value->kind == DTI_CLASS_ZERO ? 0 : dti_fp64_from_value(value);
}

static void look_at_values(const struct dti_comparison_rule *rule, const struct dti_value *a,
                           const struct dti_value *b, struct compared_pair *ret)
{
    const bool special_a = a->kind == DTI_CLASS_NAN || a->kind == DTI_CLASS_INF;
    const bool special_b = b->kind == DTI_CLASS_NAN || b->kind == DTI_CLASS_INF;
    ret->finite = !special_a && !special_b;
    if (!ret->finite) {
        const bool both_nan = a->kind == DTI_CLASS_NAN && b->kind == DTI_CLASS_NAN;
        const bool same_inf =
            a->kind == DTI_CLASS_INF && b->kind == DTI_CLASS_INF && a->negative == b->negative;
        ret->differs = ret->unmatched = !both_nan && !same_inf;
        return;
    }
    ret->a = number_of(a);
    ret->b = number_of(b);
    ret->error = dti_loss_distance(a, b);
    ret->differs = dti_value_compare(a, b) != 0;
    if (b->kind != DTI_CLASS_ZERO)
        ret->relative = fabs(ret->b) > 0 && isfinite(ret->b)
                            ? dti_fp64_divide(ret->error, fabs(ret->b))
                            : dti_loss_relative_beyond(b, a);
    if (rule->ulp.width > 0)
        ret->ulp = ulp_wide(&rule->ulp, a, b);
}

static uint64_t code_at(const unsigned char *numbers, size_t i)
{
    uint64_t code;
    memcpy(&code, numbers + i * sizeof code, sizeof code);
    return code;
}

static double number_at(bool single, const unsigned char *numbers, size_t i)
{
    float narrow;
    if (!single)
        return dti_fp64_from_bits(code_at(numbers, i));
    memcpy(&narrow, numbers + i * sizeof narrow, sizeof narrow);
    return (double)narrow;
}

static void look(const struct dti_comparison_rule *rule, const unsigned char *a,
                 const unsigned char *b, size_t i, struct compared_pair *ret)
{
    struct dti_value value[2];
    *ret = (struct compared_pair){.finite = false};
    switch (rule->hub) {
    case DTI_COMPARISON_HUB32:
        look_at_floats(rule, number_at(true, a, i), number_at(true, b, i), ret);
        break;
    case DTI_COMPARISON_HUB64:
        look_at_floats(rule, number_at(false, a, i), number_at(false, b, i), ret);
        break;
    case DTI_COMPARISON_I64:
    case DTI_COMPARISON_U64:
        look_at_integers(code_at(a, i), code_at(b, i), rule->hub == DTI_COMPARISON_I64, ret);
        break;
    case DTI_COMPARISON_WIDE:
        dti_decode(&rule->a, code_at(a, i), &value[0]);
        dti_decode(&rule->b, code_at(b, i), &value[1]);
        look_at_values(rule, &value[0], &value[1], ret);
        break;
    }
}

/* The first of n pairs that has the largest error, or the last pair. */
static size_t first_largest(const struct dti_comparison_rule *rule, const void *a, const void *b,
                            size_t n, double largest)
{
    const bool single = rule->hub == DTI_COMPARISON_HUB32;
    struct compared_pair pair;
    size_t i = 0;
    if (single || rule->hub == DTI_COMPARISON_HUB64) {
        for (; i + 1 < n; i++) {
            const double x = number_at(single, a, i), y = number_at(single, b, i);
            if (fabs(dti_fp64_add(x, -y)) >= largest && isfinite(x) && isfinite(y))
                break;
        }
        return i;
    }
    for (look(rule, a, b, i, &pair); !(pair.error >= largest) && i + 1 < n;
         look(rule, a, b, i, &pair))
        i++;
    return i;
}

void dti_comparison_add_tile(const struct dti_comparison_rule *rule,
                             const struct dti_comparison_tile *tile, const void *a, const void *b,
                             size_t n, uint64_t index, struct dti_comparison *comparison)
{
    struct dti_comparison *const c = comparison;
    struct compared_pair pair;
    size_t i = 0;
    if (tile->differing > 0 && index < c->first_differing) {
        for (look(rule, a, b, i, &pair); !pair.differs && i + 1 < n; look(rule, a, b, i, &pair))
            i++;
        if (index + i < c->first_differing)
            c->first_differing = index + i;
    }
    const double largest = tile->max_absolute;
    if (largest > c->max_absolute ||
        (largest > 0 && largest >= c->max_absolute && index < c->max_index)) {
        i = first_largest(rule, a, b, n, largest);
        if (largest > c->max_absolute || index + i < c->max_index)
            c->max_index = index + i;
        c->max_absolute = largest;
    }
    if (tile->max_relative > c->max_relative)
        c->max_relative = tile->max_relative;
    if (tile->max_ulp > c->max_ulp)
        c->max_ulp = tile->max_ulp;
    c->elements += n;
    c->compared += tile->compared;
    c->differing += tile->differing;
    c->unmatched += tile->unmatched;
    c->exceeding += tile->exceeding;
    dti_exact_sum_add(&c->sum_absolute, tile->absolute);
    dti_exact_sum_add(&c->sum_squared, tile->squared);
    dti_exact_sum_add(&c->sum_aa, tile->aa);
    dti_exact_sum_add(&c->sum_bb, tile->bb);
    dti_exact_sum_add(&c->sum_ab, tile->ab);
}

double dti_comparison_largest_ratio(const struct dti_comparison_rule *rule, const void *a,
                                    const void *b, size_t n, double most)
{
    const bool single = rule->hub == DTI_COMPARISON_HUB32;
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(single, a, i), y = number_at(single, b, i), size = fabs(y);
        const double error = fabs(dti_fp64_add(x, -y));
        if (!(error > 0) || !(size > 0) || error < dti_fp64_multiply(most, size))
            continue;
        const double ratio = dti_fp64_divide(error, size);
        most = ratio > most ? ratio : most;
    }
    return most;
}

static void add_product(double *sum, double x, double y)
{
    *sum = dti_fp64_add(*sum, dti_fp64_multiply(x, y));
}

void dti_comparison_add_each(const struct dti_comparison_rule *rule, const void *a, const void *b,
                             size_t n, uint64_t index, struct dti_comparison *comparison)
{
    struct dti_comparison_tile tile = {0};
    double absolute[DTI_TILE_LANES] = {0}, squared[DTI_TILE_LANES] = {0};
    double aa[DTI_TILE_LANES] = {0}, bb[DTI_TILE_LANES] = {0}, ab[DTI_TILE_LANES] = {0};
    for (size_t i = 0; i < n; i++) {
        const unsigned lane = i % DTI_TILE_LANES;
        struct compared_pair p;
        look(rule, a, b, i, &p);
        tile.differing += p.differs;
        tile.unmatched += p.unmatched;
        tile.exceeding += p.unmatched;
        if (p.unmatched && index + i < comparison->first_unmatched)
            comparison->first_unmatched = index + i;
        if (!p.finite)
            continue;
        tile.compared++;
        tile.exceeding +=
            p.error > dti_fp64_add(rule->atol, dti_fp64_multiply(rule->rtol, fabs(p.b)));
        absolute[lane] = dti_fp64_add(absolute[lane], p.error);
        add_product(&squared[lane], p.error, p.error);
        add_product(&aa[lane], p.a, p.a);
        add_product(&bb[lane], p.b, p.b);
        add_product(&ab[lane], p.a, p.b);
        tile.max_absolute = p.error > tile.max_absolute ? p.error : tile.max_absolute;
        tile.max_relative = p.relative > tile.max_relative ? p.relative : tile.max_relative;
        tile.max_ulp = p.ulp > tile.max_ulp ? p.ulp : tile.max_ulp;
    }
    tile.absolute = dti_tile_sum(absolute);
    tile.squared = dti_tile_sum(squared);
    tile.aa = dti_tile_sum(aa);
    tile.bb = dti_tile_sum(bb);
    tile.ab = dti_tile_sum(ab);
    dti_comparison_add_tile(rule, &tile, a, b, n, index, comparison);
}
