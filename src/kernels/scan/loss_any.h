/* SPDX-License-Identifier: MIT
 *
 * The loss of whole groups of any fp32 numbers: with NaNs, infinities, overflows, subnormals, and
 * numbers that do not suit fp32 sums. Masks take the place of branches; each lane is summed in
 * fp32 and in fp64, and then one of the two is kept. The same for all levels: a file that includes
 * this defines before
 *
 *   WIDTH, WIDE                       elements of a vector in fp32, in fp64
 *   vector_ps, vector_pd, flags       vectors, and conditions, one per element in fp32
 *   counter                           counts conditions: count(), counted()
 *   all, load_ps, store_ps, size_of   and the same with _pd; size_of(x): |x|
 *   max_ps, add_square_ps             add_square_ps(sum, x): sum + x x, rounded once
 *   less_product_pd(a, b, c)          a - b c, rounded once
 *   are_below, are_above, are_from    a < b, a > b, a >= b: false for NaN
 *   differ, are_finite                differ: also where one is NaN
 *   BOTH, EITHER, BUT_NOT, any        of conditions
 *   keep_where, choose, half_of, widen, any_above
 *
 * and defines its dti_loss_any_fn by loss_any(). */
#ifndef KERNELS_SCAN_LOSS_ANY_H
#define KERNELS_SCAN_LOSS_ANY_H

#include "kernels/scan/loss_bars.h"

#ifdef BOTH
/* Thresholds in fp32: each is the smallest number not below that of the rule. */
struct any_bars {
    vector_ps from, from_below, src_normal, dst_normal, largest;
    vector_pd ratio;
};

/* The sums of a vector's lanes, maxima, and counts. */
struct any_sums {
    vector_ps absolute, squared, source, largest, largest_source;
    vector_pd wide_absolute[2], wide_squared[2], wide_source[2];
    vector_pd most, above; /* the largest |e|, and |e| - ratio |x| */
    flags apart;           /* y - x may not be exact in fp32, or |e| exceeds |x| */
    counter nan_x, finite_x, within, both, inexact, to_zero, to_subnormal;
};

DTI_INLINE void add_half(struct any_sums *s, unsigned half, vector_pd x, vector_pd e)
{
    s->wide_absolute[half] += e;
    s->wide_squared[half] = add_square_pd(s->wide_squared[half], e);
    s->wide_source[half] = add_square_pd(s->wide_source[half], x);
}

/* The same, and sees maxima. */
DTI_INLINE void see_half(struct any_sums *s, const struct any_bars *bars, unsigned half,
                         vector_pd x, vector_pd y)
{
    const vector_pd size = size_of_pd(x), e = size_of_pd(y - x);
    add_half(s, half, x, e);
    s->most = max_pd(s->most, e);
    s->above = max_pd(s->above, less_product_pd(e, bars->ratio, size));
}

/* quick: takes errors from fp32, and sees whether it must not. */
DTI_INLINE void add_vector(struct any_sums *s, const struct any_bars *bars, const float *source,
                           const float *stored, bool quick)
{
    const vector_ps given = load_ps(source), to = load_ps(stored);
    const flags nan_x = differ(given, given), nan_y = differ(to, to);
    const flags finite_x = are_finite(given), both = BOTH(finite_x, are_finite(to));
    const flags within = BOTH(are_below(given, bars->from), are_above(given, bars->from_below));
    const flags inexact = BUT_NOT(differ(given, to), BOTH(nan_x, nan_y));
    const vector_ps x = keep_where(both, given), y = keep_where(both, to);
    const vector_ps size = size_of(x), y_size = size_of(y), zero = all(0);
    const vector_ps error = size_of(y - x);
    const flags nonzero = are_above(y_size, zero);
    const flags lower = BOTH(are_from(size, bars->src_normal), are_below(y_size, bars->dst_normal));
    count(&s->nan_x, nan_x);
    count(&s->finite_x, finite_x);
    count(&s->within, BOTH(both, within));
    count(&s->both, both);
    count(&s->inexact, inexact);
    count(&s->to_zero, BUT_NOT(are_above(size, zero), nonzero));
    count(&s->to_subnormal, BOTH(lower, nonzero));
    s->absolute += error;
    s->squared = add_square_ps(s->squared, error);
    s->source = add_square_ps(s->source, x);
    s->largest = max_ps(s->largest, error);
    s->largest_source = max_ps(s->largest_source, size);
    for (unsigned half = 0; half < 2; half++) {
        const vector_pd from = widen(source, both, x, half);
        if (quick)
            add_half(s, half, from, half_of(error, half));
        else
            see_half(s, bars, half, from, widen(stored, both, y, half));
    }
    if (quick)
        s->apart = EITHER(s->apart,
                          EITHER(are_above(error, size), BOTH(nonzero, are_above(error, y_size))));
}

/* Lanes whose largest number is 0, or suits fp32 sums. */
DTI_INLINE flags suit(vector_ps largest)
{
    const flags tiny = BOTH(are_above(largest, all(0)), are_below(largest, all(0x1p-60F)));
    return BUT_NOT(are_below(largest, all(0x1p60F)), tiny);
}

DTI_INLINE void begin_wide(vector_pd sum[2], const double *lanes)
{
    sum[0] = load_pd(lanes);
    sum[1] = load_pd(lanes + WIDE);
}

/* Keeps the sums of lanes that suit fp32 in `group`, and the others in `lanes`. */
DTI_INLINE void keep(flags suits, vector_ps single, const vector_pd wide[2], float *group,
                     double *lanes)
{
    store_ps(group, keep_where(suits, single));
    for (unsigned half = 0; half < 2; half++) {
        double *const at = lanes + half * WIDE;
        store_pd(at, choose(suits, half, wide[half], load_pd(at)));
    }
}

/* Keeps the results of the lanes from `lane` on. */
DTI_INLINE void keep_lanes(struct dti_loss_work *w, const struct any_sums *s, size_t group,
                           size_t lane)
{
    struct dti_loss_lanes *const lanes = &w->lanes;
    struct dti_loss_groups *const groups = &w->groups;
    struct dti_loss *const loss = w->loss;
    const size_t at = group * DTI_LOSS_LANES + lane;
    const flags suits = BOTH(suit(s->largest), suit(s->largest_source));
    keep(suits, s->absolute, s->wide_absolute, groups->absolute + at, lanes->absolute + lane);
    keep(suits, s->squared, s->wide_squared, groups->squared + at, lanes->squared + lane);
    keep(suits, s->source, s->wide_source, groups->source_squared + at,
         lanes->source_squared + lane);
    const unsigned nan_x = counted(s->nan_x), finite_x = counted(s->finite_x);
    loss->nan_in += nan_x;
    loss->inf_in += DTI_LOSS_GROUP * WIDTH / DTI_LOSS_LANES - finite_x - nan_x;
    loss->overflowed += finite_x - counted(s->within);
    loss->compared += counted(s->both);
    loss->inexact += counted(s->inexact);
    loss->to_zero += counted(s->to_zero);
    loss->to_subnormal += counted(s->to_subnormal);
}

/* Adds the lanes from `lane` on. Does nothing if quick, but an error is not exact in fp32 or
 * exceeds |x|, which it tells by w->is_apart, or the largest error so far. */
DTI_INLINE bool add_lanes(struct dti_loss_work *w, const struct any_bars *bars, const float *x,
                          const float *y, size_t group, size_t lane, bool quick)
{
    struct any_sums s; /* not initialized here: compilers would clear it as a whole */
    s.absolute = s.squared = s.source = s.largest = s.largest_source = all(0);
    s.most = s.above = all_pd(0);
    s.apart = differ(all(0), all(0));
    s.nan_x = s.finite_x = s.within = s.both = (counter){0};
    s.inexact = s.to_zero = s.to_subnormal = (counter){0};
    begin_wide(s.wide_absolute, w->lanes.absolute + lane);
    begin_wide(s.wide_squared, w->lanes.squared + lane);
    begin_wide(s.wide_source, w->lanes.source_squared + lane);
    for (size_t i = lane; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES)
        add_vector(&s, bars, x + i, y + i, quick);
    if (quick) {
        w->is_apart = any(s.apart);
        if (w->is_apart || any(are_above(s.largest, bars->largest)))
            return false;
    }
    keep_lanes(w, &s, group, lane);
    w->is_risen |= any_above(s.most, w->peak.largest) || any_above(s.above, 0);
    return true;
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
        .from = all(not_below(rule->overflow_from[0])),
        .from_below = all(-not_below(rule->overflow_from[1])),
        .src_normal =
            all(not_below(rule->src_smallest_normal > 0 ? rule->src_smallest_normal : 0x1p-149)),
        .dst_normal = all(not_below(rule->dst_smallest_normal)),
        .largest = all(dti_loss_not_above(w->peak.largest)),
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

/* With a largest ratio of 1, errors that are exact in fp32 and at most |x| raise no ratio. Where
 * one is not, others of the tile likely are not either. */
DTI_INLINE void loss_any(struct dti_loss_work *w, const float *x, const float *y, size_t at,
                         size_t n)
{
    struct any_bars bars = any_bars_of(w);
    for (size_t i = 0; i < n; i += DTI_LOSS_GROUP) {
        const double ratio = w->loss->max_relative;
        const bool quick = ratio >= 1 && ratio <= 1;
        const size_t group = (at + i) / DTI_LOSS_GROUP;
        w->is_risen = false;
        for (size_t lane = 0; lane < DTI_LOSS_LANES; lane += WIDTH)
            if (!quick || w->is_apart || !add_lanes(w, &bars, x + i, y + i, group, lane, true))
                (void)add_lanes(w, &bars, x + i, y + i, group, lane, false);
        if (w->is_risen) {
            raise_maxima(w, x + i, y + i, at + i);
            bars = any_bars_of(w);
        }
    }
}
#endif

#endif
