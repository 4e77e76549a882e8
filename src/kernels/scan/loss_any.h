/* SPDX-License-Identifier: MIT
 *
 * The loss of whole groups of any fp32 numbers: with NaNs, infinities, overflows, subnormals, and
 * numbers that do not suit fp32 sums. Masks take the place of branches. A first pass over a vector
 * of lanes counts, and keeps what has an error; a second one sums in fp64 and sees maxima; lanes
 * that suit fp32 are then summed in fp32. Other lanes may have errors and squares that are
 * subnormal in fp32, for which some processors take a hundred cycles. The same for all levels: a
 * file that includes this defines before
 *
 *   WIDTH, WIDE                       elements of a vector in fp32, in fp64
 *   vector_ps, vector_pd, flags       vectors, and conditions, one per element in fp32
 *   counter                           counts conditions: count(), counted()
 *   all, load_ps, store_ps, size_of   and the same with _pd; size_of(x): |x|
 *   max_ps, add_square_ps             add_square_ps(sum, x): sum + x x, rounded once
 *   less_product_pd(a, b, c)          a - b c, rounded once
 *   widen(from), narrow(low, high)    loads WIDE elements in fp64; rounds two vectors to fp32
 *   are_below, are_above, are_from    a < b, a > b, a >= b: false for NaN
 *   differ, are_finite                differ: also where one is NaN
 *   BOTH, BUT_NOT, any                of conditions
 *   keep_where, choose, any_above
 *
 * and defines its dti_loss_any_fn by loss_any(). */
#ifndef KERNELS_SCAN_LOSS_ANY_H
#define KERNELS_SCAN_LOSS_ANY_H

#include "kernels/scan/loss_bars.h"

#ifdef BOTH
/* Thresholds in fp32: each is the smallest number not below that of the rule. limit: sources below
 * it do not overflow, whatever their sign. */
struct any_bars {
    vector_ps from, from_below, limit, src_normal, dst_normal;
    vector_pd ratio;
    double largest;
};

/* The elements of a vector of lanes, with 0 for those that have no error, and what the first pass
 * sees of them. */
enum { ANY_ROWS = DTI_LOSS_GROUP / DTI_LOSS_LANES, ANY_COUNT = ANY_ROWS * WIDTH };
struct any_lanes {
    _Alignas(64) float x[ANY_COUNT];
    _Alignas(64) float y[ANY_COUNT];
    vector_ps largest_source;
    counter finite_x, both, inexact, to_zero, to_subnormal;
};

DTI_INLINE void first_pass(struct any_lanes *s, const struct any_bars *bars, size_t at,
                           const float *source, const float *stored)
{
    const vector_ps given = load_ps(source), to = load_ps(stored), zero = all(0);
    const flags finite_x = are_finite(given), both = BOTH(finite_x, are_finite(to));
    const vector_ps x = keep_where(both, given), y = keep_where(both, to);
    const vector_ps size = size_of(x), y_size = size_of(y);
    const flags nonzero = are_above(y_size, zero);
    const flags lower = BOTH(are_from(size, bars->src_normal), are_below(y_size, bars->dst_normal));
    count(&s->finite_x, finite_x);
    count(&s->both, both);
    count(&s->inexact, differ(given, to));
    count(&s->to_zero, BUT_NOT(are_above(size, zero), nonzero));
    count(&s->to_subnormal, BOTH(lower, nonzero));
    s->largest_source = max_ps(s->largest_source, size);
    store_ps(s->x + at, x);
    store_ps(s->y + at, y);
}

/* The sums of half of the lanes in fp64, and their largest |e|, and |e| - ratio |x|. */
struct any_sums {
    vector_pd absolute, squared, source, largest, above;
};

DTI_INLINE struct any_sums sum_wide(const struct any_lanes *s, const struct any_bars *bars,
                                    unsigned half, const struct dti_loss_lanes *lanes, size_t lane)
{
    struct any_sums sums = {load_pd(lanes->absolute + lane), load_pd(lanes->squared + lane),
                            load_pd(lanes->source_squared + lane), all_pd(0), all_pd(0)};
    for (size_t i = (size_t)WIDE * half; i < ANY_COUNT; i += WIDTH) {
        const vector_pd x = widen(s->x + i), y = widen(s->y + i);
        const vector_pd e = size_of_pd(y - x), size = size_of_pd(x);
        sums.absolute += e;
        sums.squared = add_square_pd(sums.squared, e);
        sums.source = add_square_pd(sums.source, x);
        sums.largest = max_pd(sums.largest, e);
        sums.above = max_pd(sums.above, less_product_pd(e, bars->ratio, size));
    }
    return sums;
}

/* Keeps the sums of lanes that do not suit fp32. */
DTI_INLINE void keep_wide(const struct any_sums *sums, flags suits, unsigned half,
                          struct dti_loss_lanes *lanes, size_t lane)
{
    double *const absolute = lanes->absolute + lane, *const squared = lanes->squared + lane;
    double *const source = lanes->source_squared + lane;
    store_pd(absolute, choose(suits, half, sums->absolute, load_pd(absolute)));
    store_pd(squared, choose(suits, half, sums->squared, load_pd(squared)));
    store_pd(source, choose(suits, half, sums->source, load_pd(source)));
}

/* Lanes whose largest number is 0, or suits fp32 sums. */
DTI_INLINE flags suit(vector_ps largest)
{
    const flags tiny = BOTH(are_above(largest, all(0)), are_below(largest, all(0x1p-60F)));
    return BUT_NOT(are_below(largest, all(0x1p60F)), tiny);
}

/* The sums of lanes in fp32. */
struct any_singles {
    vector_ps absolute, squared, source;
};

DTI_INLINE void add_single(struct any_singles *s, vector_ps error, vector_ps error_part,
                           vector_ps x_part)
{
    s->absolute += error;
    s->squared = add_square_ps(s->squared, error_part);
    s->source = add_square_ps(s->source, x_part);
}

static DTI_NOINLINE struct any_singles sum_exact(const struct any_lanes *s, flags suits)
{
    struct any_singles sums = {all(0), all(0), all(0)};
    for (size_t i = 0; i < ANY_COUNT; i += WIDTH) {
        const vector_ps x = keep_where(suits, load_ps(s->x + i));
        const vector_ps error = size_of(keep_where(suits, load_ps(s->y + i)) - x);
        add_single(&sums, error, error, x);
    }
    return sums;
}

/* Sums the lanes that suit fp32; the others become 0. Without results that are subnormal: bounds
 * take the place of tiny numbers. Rounding is monotonic, so where the sums of lower bounds are
 * those of upper bounds, they are the sums of the numbers. An error between numbers of which one is
 * at least 2^-100 is 0 or normal, and so is the square of 2^-63. Squares of numbers below 2^-75 do
 * not count. lossy: lanes with an error. */
DTI_INLINE void sum_single(const struct any_lanes *s, flags suits, flags lossy, size_t at,
                           struct dti_loss_groups *groups)
{
    const vector_ps single = all(0x1p-63F), least = all(0x1p-75F);
    const vector_ps tiny = all(0x1p-100F), above_tiny = all(0x1p-99F);
    struct any_singles low = {all(0), all(0), all(0)}, high = low;
    if (any(suits)) {
        for (size_t i = 0; i < ANY_COUNT; i += WIDTH) {
            const vector_ps x = keep_where(suits, load_ps(s->x + i));
            const vector_ps y = keep_where(suits, load_ps(s->y + i));
            const vector_ps size = size_of(x);
            const flags apart = are_from(max_ps(size, size_of(y)), tiny);
            const vector_ps error = size_of(keep_where(apart, y) - keep_where(apart, x));
            add_single(&low, error, keep_where(are_from(error, single), error),
                       keep_where(are_from(size, single), size));
            add_single(&high, max_ps(error, above_tiny),
                       keep_where(are_from(error, least), max_ps(error, single)),
                       keep_where(are_from(size, least), max_ps(size, single)));
        }
        if (any(BOTH(BOTH(suits, lossy), differ(low.absolute, high.absolute))) ||
            any(differ(low.squared, high.squared)) || any(differ(low.source, high.source)))
            low = sum_exact(s, suits);
    }
    store_ps(groups->absolute + at, low.absolute);
    store_ps(groups->squared + at, low.squared);
    store_ps(groups->source_squared + at, low.source);
}

/* NaNs and infinities among the sources of lanes; a NaN that stays one is not inexact. */
static DTI_NOINLINE void count_specials(const float *x, const float *y, unsigned finite_x,
                                        struct dti_loss *loss)
{
    counter nan_x = {0}, nan_both = {0};
    for (size_t i = 0; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES) {
        const vector_ps given = load_ps(x + i), to = load_ps(y + i);
        const flags is_nan = differ(given, given);
        count(&nan_x, is_nan);
        count(&nan_both, BOTH(is_nan, differ(to, to)));
    }
    loss->nan_in += counted(nan_x);
    loss->inf_in += ANY_COUNT - finite_x - counted(nan_x);
    loss->inexact -= counted(nan_both);
}

/* Elements with an error that overflowed. */
static DTI_NOINLINE void count_clamped(const struct any_lanes *s, const struct any_bars *bars,
                                       struct dti_loss *loss)
{
    counter within = {0};
    for (size_t i = 0; i < ANY_COUNT; i += WIDTH) {
        const vector_ps x = load_ps(s->x + i);
        count(&within, BOTH(are_below(x, bars->from), are_above(x, bars->from_below)));
    }
    loss->overflowed += ANY_COUNT - counted(within);
}

/* Adds the lanes from `lane` on. */
DTI_INLINE void add_lanes(struct dti_loss_work *w, const struct any_bars *bars, const float *x,
                          const float *y, size_t group, size_t lane)
{
    struct dti_loss *const loss = w->loss;
    struct any_lanes s; /* not initialized here: compilers would clear it as a whole */
    s.largest_source = all(0);
    s.finite_x = s.both = s.inexact = s.to_zero = s.to_subnormal = (counter){0};
    for (size_t i = 0; i < ANY_ROWS; i++)
        first_pass(&s, bars, i * WIDTH, x + lane + i * DTI_LOSS_LANES,
                   y + lane + i * DTI_LOSS_LANES);
    const struct any_sums low = sum_wide(&s, bars, 0, &w->lanes, lane);
    const struct any_sums high = sum_wide(&s, bars, 1, &w->lanes, lane + WIDE);
    const vector_ps largest = narrow(low.largest, high.largest);
    const flags suits = BOTH(suit(largest), suit(s.largest_source));
    keep_wide(&low, suits, 0, &w->lanes, lane);
    keep_wide(&high, suits, 1, &w->lanes, lane + WIDE);
    sum_single(&s, suits, are_above(largest, all(0)), group * DTI_LOSS_LANES + lane, &w->groups);
    w->is_risen |= any_above(max_pd(low.largest, high.largest), bars->largest) ||
                   any_above(max_pd(low.above, high.above), 0);
    const unsigned finite_x = counted(s.finite_x), both = counted(s.both);
    loss->overflowed += finite_x - both;
    loss->compared += both;
    loss->inexact += counted(s.inexact);
    loss->to_zero += counted(s.to_zero);
    loss->to_subnormal += counted(s.to_subnormal);
    if (finite_x != ANY_COUNT)
        count_specials(x + lane, y + lane, finite_x, loss);
    if (any(are_from(s.largest_source, bars->limit)))
        count_clamped(&s, bars, loss);
}

DTI_INLINE float not_below(double magnitude)
{
    const uint32_t bits = dti_loss_bits_from(magnitude);
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

DTI_INLINE struct any_bars any_bars_of(const struct dti_loss_work *w)
{
    const struct dti_loss_rule *const rule = w->rule;
    return (struct any_bars){
        .limit = all(not_below(dti_loss_limit(rule))),
        .from = all(not_below(rule->overflow_from[0])),
        .from_below = all(-not_below(rule->overflow_from[1])),
        .src_normal =
            all(not_below(rule->src_smallest_normal > 0 ? rule->src_smallest_normal : 0x1p-149)),
        .dst_normal = all(not_below(rule->dst_smallest_normal)),
        .largest = w->peak.largest,
        .ratio = all_pd(w->loss->max_relative),
    };
}

/* Raises the maxima for a whole group from `at` on; elements without an error do not count. */
static DTI_NOINLINE void raise_maxima(struct dti_loss_work *w, const float *x, const float *y,
                                      size_t at)
{
    for (size_t first = 0; first < DTI_LOSS_GROUP; first += DTI_LOSS_LANES) {
        struct dti_loss_block b;
        dti_loss_load_f32(b.x, (const void *)x, first, DTI_LOSS_LANES);
        dti_loss_load_f32(b.y, (const void *)y, first, DTI_LOSS_LANES);
        for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
            const bool without = !(fabs(b.x[i]) <= FLT_MAX && fabs(b.y[i]) <= FLT_MAX);
            b.x[i] = without ? 0 : b.x[i];
            b.error[i] = without ? 0 : fabs(dti_fp64_add(b.y[i], -b.x[i]));
        }
        dti_loss_look_for_peaks(&b, w->index + at + first, &w->peak, w->loss);
    }
}

DTI_INLINE void loss_any(struct dti_loss_work *w, const float *x, const float *y, size_t at,
                         size_t n)
{
    struct any_bars bars = any_bars_of(w);
    for (size_t i = 0; i < n; i += DTI_LOSS_GROUP) {
        w->is_risen = false;
        for (size_t lane = 0; lane < DTI_LOSS_LANES; lane += WIDTH)
            add_lanes(w, &bars, x + i, y + i, (at + i) / DTI_LOSS_GROUP, lane);
        if (w->is_risen) {
            raise_maxima(w, x + i, y + i, at + i);
            bars = any_bars_of(w);
        }
    }
}
#endif

#endif
