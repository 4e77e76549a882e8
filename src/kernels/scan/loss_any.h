/* SPDX-License-Identifier: MIT
 *
 * The loss of whole groups of any fp32 numbers: with NaNs, infinities, overflows, subnormals, and
 * numbers that do not suit fp32 sums. Masks take the place of branches. A first pass over a vector
 * of lanes counts, and keeps what has an error; lanes that do not suit fp32 are then summed in
 * fp64, the others in fp32.
 *
 * Rounding is monotonic, so a sum of lower bounds that is also the sum of upper bounds is the sum
 * of the numbers. For most of a tile bounds suffice: lanes of tiny numbers next to normal ones, and
 * normal ones next to huge ones, are not summed; and no result is subnormal, for which some
 * processors take a hundred cycles. A tile whose final sums differ is summed completely.
 *
 * The same for all levels: a file that includes this defines before
 *
 *   WIDTH, WIDE                       elements of a vector in fp32, in fp64
 *   vector_ps, vector_pd, flags       vectors, and conditions, one per element in fp32
 *   all, load_ps, store_ps, size_of   and the same with _pd; size_of(x): |x|
 *   max_ps, larger_size               of numbers, of their magnitudes
 *   add_square_ps                     add_square_ps(sum, x): sum + x x, rounded once
 *   less_product_pd(a, b, c)          a - b c, rounded once
 *   widen(from)                       loads WIDE elements in fp64
 *   are_below, are_above, are_from    a < b, a > b, a >= b: false for NaN
 *   differ, are_special               differ: also where one is NaN; special: NaN or infinity
 *   BOTH, EITHER, BUT_NOT, any        of conditions
 *   keep_where, drop_where, choose, any_above
 *   subtract_where(f, a, b)           a - b, or 0
 *   add_where(f, a, b)                a + b, or a
 *   counter                           counts conditions by row: reset(), count(), counted(), and
 *                                     rows_with(), where more rows may be set
 *
 * and defines its dti_loss_any_fn by loss_any(). */
#ifndef KERNELS_SCAN_LOSS_ANY_H
#define KERNELS_SCAN_LOSS_ANY_H

#include "core/wide.h"
#include "kernels/scan/loss_bars.h"

#ifdef BOTH
/* Thresholds in fp32: each is the smallest number not below that of the rule. limit: sources below
 * it do not overflow, whatever their sign. */
struct any_bars {
    vector_ps from, from_below, limit, src_normal, dst_normal;
    vector_ps single, single_ratio; /* the largest fp32 numbers not above `largest`, the ratio */
    vector_pd ratio;
    double largest;
    bool is_near;   /* a cast to nearest or toward zero: no error exceeds its source */
    bool is_one;    /* the largest ratio is at least 1 */
    bool is_coarse; /* a cast that stores only 0 or numbers far above the smallest ones of fp32 */
};

/* Conditions of a call's elements; without: no error; from, below: overflowed, if there is an
 * error. */
struct any_counts {
    counter special_x, without, inexact, to_zero, to_subnormal, from, below;
    bool is_clamped; /* else from and below count nothing */
};

/* The elements of a vector of lanes, with 0 for those that have no error. */
enum { ANY_ROWS = DTI_LOSS_GROUP / DTI_LOSS_LANES, ANY_COUNT = ANY_ROWS * WIDTH };
enum { ANY_STEP = DTI_LOSS_LANES / WIDTH }; /* from a row of lanes to the next one */
struct any_lanes {
    _Alignas(64) float x[ANY_COUNT];
    float y[ANY_COUNT];
    float error[ANY_COUNT]; /* |y - x| in fp32, or up to 2^-98 instead of less */
};

/* The largest numbers of lanes. */
struct any_largest {
    vector_ps source, error;
};

DTI_INLINE void first_pass(struct any_lanes *s, struct any_largest *largest,
                           struct any_counts *counts, size_t row, const struct any_bars *bars,
                           bool is_coarse, size_t at, const float *source, const float *stored)
{
    const vector_ps given = load_ps(source), to = load_ps(stored), zero = all(0);
    const flags special_x = are_special(given), without = EITHER(special_x, are_special(to));
    const vector_ps x = drop_where(without, given), y = drop_where(without, to);
    const vector_ps size = size_of(x), y_size = size_of(y), difference = y - x;
    const flags nonzero = differ(y, zero), inexact = differ(given, to);
    const flags lower = BOTH(nonzero, are_below(y_size, bars->dst_normal));
    const flags normal = are_from(size, bars->src_normal);
    const flags apart = are_from(max_ps(size, y_size), all(0x1p-100F));
    const vector_ps error = size_of(is_coarse ? difference : subtract_where(apart, y, x));
    const vector_ps more = add_where(BUT_NOT(inexact, apart), error, size + y_size);
    const vector_ps at_least = is_coarse ? error : more;
    count(&counts->special_x, row, special_x);
    count(&counts->without, row, without);
    count(&counts->inexact, row, inexact);
    count(&counts->to_zero, row, BUT_NOT(differ(x, zero), nonzero));
    count(&counts->to_subnormal, row, is_coarse ? lower : BOTH(lower, normal));
    largest->source = larger_size(x, largest->source);
    largest->error = max_ps(largest->error, at_least);
    store_ps(s->x + at, x);
    store_ps(s->y + at, y);
    store_ps(s->error + at, at_least);
}

/* How fp64 sums see errors: as in fp32, where that is exact; as differences of the numbers; or
 * these, looking for maxima. */
enum any_view { ANY_EXACT, ANY_NUMBERS, ANY_MAXIMA };

/* The sums of half of the lanes in fp64, and their largest |e|, and |e| - ratio |x|. */
struct any_sums {
    vector_pd absolute, squared, source, largest, above;
};

DTI_INLINE struct any_sums sum_wide(const struct any_lanes *s, const struct any_bars *bars,
                                    enum any_view view, unsigned half,
                                    const struct dti_loss_lanes *lanes, size_t lane)
{
    struct any_sums sums = {load_pd(lanes->absolute + lane), load_pd(lanes->squared + lane),
                            load_pd(lanes->source_squared + lane), all_pd(0), all_pd(0)};
    for (size_t i = (size_t)WIDE * half; i < ANY_COUNT; i += WIDTH) {
        const vector_pd x = widen(s->x + i);
        const vector_pd e =
            view == ANY_EXACT ? widen(s->error + i) : size_of_pd(widen(s->y + i) - x);
        sums.absolute += e;
        sums.squared = add_square_pd(sums.squared, e);
        sums.source = add_square_pd(sums.source, x);
        if (view == ANY_MAXIMA) {
            sums.largest = max_pd(sums.largest, e);
            sums.above = max_pd(sums.above, less_product_pd(e, bars->ratio, size_of_pd(x)));
        }
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

/* Adds those of the lanes that do not suit fp32 in fp64. Returns whether a maximum may rise. */
DTI_INLINE bool add_wide(struct dti_loss_work *w, const struct any_lanes *s,
                         const struct any_bars *bars, enum any_view view, flags suits, size_t lane)
{
    const struct any_sums low = sum_wide(s, bars, view, 0, &w->lanes, lane);
    const struct any_sums high = sum_wide(s, bars, view, 1, &w->lanes, lane + WIDE);
    keep_wide(&low, suits, 0, &w->lanes, lane);
    keep_wide(&high, suits, 1, &w->lanes, lane + WIDE);
    return view == ANY_MAXIMA && (any_above(max_pd(low.largest, high.largest), bars->largest) ||
                                  any_above(max_pd(low.above, high.above), 0));
}

static DTI_NOINLINE void add_wide_errors(struct dti_loss_work *w, const struct any_lanes *s,
                                         const struct any_bars *bars, flags suits, size_t lane)
{
    (void)add_wide(w, s, bars, ANY_EXACT, suits, lane);
}

static DTI_NOINLINE void add_wide_numbers(struct dti_loss_work *w, const struct any_lanes *s,
                                          const struct any_bars *bars, flags suits, size_t lane)
{
    (void)add_wide(w, s, bars, ANY_NUMBERS, suits, lane);
}

static DTI_NOINLINE void add_wide_maxima(struct dti_loss_work *w, const struct any_lanes *s,
                                         const struct any_bars *bars, flags suits, size_t lane)
{
    w->is_risen |= add_wide(w, s, bars, ANY_MAXIMA, suits, lane);
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
static DTI_NOINLINE void sum_single(const struct any_lanes *s, flags suits, flags lossy, size_t at,
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
        const flags squares =
            EITHER(differ(low.squared, high.squared), differ(low.source, high.source));
        const flags open =
            BOTH(suits, EITHER(BOTH(lossy, differ(low.absolute, high.absolute)), squares));
        if (any(open)) {
            const struct any_singles exact = sum_exact(s, open);
            low.absolute = drop_where(open, low.absolute) + exact.absolute;
            low.squared = drop_where(open, low.squared) + exact.squared;
            low.source = drop_where(open, low.source) + exact.source;
        }
    }
    store_ps(groups->absolute + at, low.absolute);
    store_ps(groups->squared + at, low.squared);
    store_ps(groups->source_squared + at, low.source);
}

/* What a tile is if sums of which bounds suffice are left out: upper bounds of its fp32 sums, and
 * the sums of the largest numbers of lanes that were left out in fp64. */
struct any_rest {
    struct dti_loss_groups high;
    _Alignas(64) float tiny[DTI_LOSS_LANES], tiny_source[DTI_LOSS_LANES];
    bool is_partial; /* else only what is subnormal is left out */
};

/* Bounds of a sum. Where numbers count as somewhat more than they are, the lower one begins lower,
 * by at least what 8 numbers and the rounding of the sums can have too much until the true sum is
 * so large that neither changes it. */
struct any_range {
    vector_ps low, high;
};

/* Errors of less than 2^-98 may count as that. From 2^-73 on such a number does not change a sum,
 * and below, rounding two sums contributes at most 2^-95 each time. */
DTI_INLINE struct any_range errors_from(bool is_coarse)
{
    return (struct any_range){all(is_coarse ? 0 : -0x1p-90F), all(0)};
}

DTI_INLINE void add_error(struct any_range *sum, vector_ps error)
{
    sum->low += error;
    sum->high += error;
}

/* Squares: numbers below 2^-63 count as 2^-63, so that no result is subnormal. From 2^-101 on their
 * squares do not change a sum, and below, rounding two sums contributes at most 2^-124. */
DTI_INLINE struct any_range squares_from(void)
{
    return (struct any_range){all(-0x1p-118F), all(0)};
}

DTI_INLINE void add_square(struct any_range *sum, const float *number)
{
    const vector_ps size = larger_size(load_ps(number), all(0x1p-63F));
    sum->low = add_square_ps(sum->low, size);
    sum->high = add_square_ps(sum->high, size);
}

DTI_INLINE void keep_range(const struct any_range *sum, flags f, float *low, float *high)
{
    store_ps(low, keep_where(f, max_ps(sum->low, all(0))));
    store_ps(high, keep_where(f, sum->high));
}

/* Bounds of the sums of lanes that suit fp32; the others become 0. */
static DTI_NOINLINE void sum_between(const struct any_lanes *s, const struct any_largest *largest,
                                     flags suits, bool is_coarse, size_t at,
                                     struct dti_loss_groups *low, struct dti_loss_groups *high)
{
    struct any_range absolute = errors_from(is_coarse), squared = squares_from(), source = squared;
    const flags lossy = BOTH(suits, are_above(largest->error, all(0)));
    const flags nonzero = BOTH(suits, are_above(largest->source, all(0)));
    for (size_t i = 0; i < ANY_COUNT; i += WIDTH) {
        add_error(&absolute, load_ps(s->error + i));
        add_square(&squared, s->error + i);
        add_square(&source, s->x + i);
    }
    keep_range(&absolute, lossy, low->absolute + at, high->absolute + at);
    keep_range(&squared, lossy, low->squared + at, high->squared + at);
    keep_range(&source, nonzero, low->source_squared + at, high->source_squared + at);
}

/* The same with hardly any work for squares: next to those of other lanes they do not count. */
static DTI_NOINLINE void sum_small(const struct any_lanes *s, const struct any_largest *largest,
                                   flags suits, bool is_coarse, size_t at,
                                   struct dti_loss_groups *low, struct dti_loss_groups *high)
{
    struct any_range absolute = errors_from(is_coarse);
    const vector_ps nine = all(9), error = keep_where(suits, largest->error);
    const vector_ps source = keep_where(suits, largest->source);
    for (size_t i = 0; i < ANY_COUNT; i += WIDTH)
        add_error(&absolute, keep_where(suits, load_ps(s->error + i)));
    keep_range(&absolute, BOTH(suits, are_above(error, all(0))), low->absolute + at,
               high->absolute + at);
    store_ps(low->squared + at, all(0));
    store_ps(low->source_squared + at, all(0));
    store_ps(high->squared + at, nine * (error * error));
    store_ps(high->source_squared + at, nine * (source * source));
}

/* Sources that overflowed. */
static DTI_NOINLINE void count_clamped(struct any_counts *counts, size_t row,
                                       const struct any_lanes *s, const struct any_bars *bars)
{
    for (size_t i = 0; i < ANY_ROWS; i++) {
        const vector_ps x = load_ps(s->x + i * WIDTH);
        count(&counts->from, row + i * ANY_STEP, are_from(x, bars->from));
        count(&counts->below, row + i * ANY_STEP, are_from(bars->from_below, x));
    }
    counts->is_clamped = true;
}

/* How lanes are summed. */
struct any_sort {
    enum any_view view;
    flags suits, others; /* lanes that suit fp32, and those that do not */
    bool is_wide;        /* some of the others are not tiny */
};

/* Whether the sums of errors are so large that one of less than 2^-96 does not change them, nor its
 * square those of squares. */
DTI_INLINE bool are_large(const struct dti_loss_lanes *lanes, size_t lane)
{
    const vector_pd from = all_pd(0x1p-43);
    const vector_pd low = load_pd(lanes->absolute + lane);
    const vector_pd high = load_pd(lanes->absolute + lane + WIDE);
    return !any_above(max_pd(from - low, from - high), 0);
}

/* Whether an error may have a larger ratio; those of sources below 2^-101 may. */
static DTI_NOINLINE bool may_exceed_ratio(const struct any_lanes *s, vector_ps ratio)
{
    const vector_ps zero = all(0), least = all(0x1p-101F);
    flags above = are_above(zero, zero);
    for (size_t i = 0; i < ANY_COUNT; i += WIDTH) {
        const vector_ps error = load_ps(s->error + i), size = larger_size(load_ps(s->x + i), zero);
        const flags tiny = BOTH(are_above(error, zero), are_below(size, least));
        above = EITHER(above, EITHER(tiny, are_from(error, ratio * max_ps(size, least))));
    }
    return any(above);
}

DTI_INLINE struct any_sort sort_lanes(const struct any_lanes *s, const struct any_largest *largest,
                                      const struct any_bars *bars, bool is_clamped,
                                      const struct dti_loss_lanes *lanes, size_t lane)
{
    const vector_ps least = all(0x1p-60F);
    const flags everywhere = are_from(least, least);
    const flags suits = BOTH(suit(largest->error), suit(largest->source));
    const flags others = BUT_NOT(everywhere, suits);
    const flags tiny = BOTH(are_below(largest->error, least), are_below(largest->source, least));
    struct any_sort sort = {ANY_MAXIMA, suits, others, any(BUT_NOT(others, tiny))};
    if (!bars->is_near || (!bars->is_one && may_exceed_ratio(s, bars->single_ratio)))
        return sort;
    if (!is_clamped && (bars->is_coarse || !any(others) || are_large(lanes, lane)))
        sort.view = ANY_EXACT;
    else if (!any(are_from(largest->error, bars->single)))
        sort.view = ANY_NUMBERS;
    return sort;
}

/* Adds lanes in fp64, if necessary. */
DTI_INLINE void add_others(struct dti_loss_work *w, const struct any_lanes *s,
                           const struct any_bars *bars, const struct any_sort *sort, bool is_wide,
                           size_t lane)
{
    if (sort->view == ANY_MAXIMA)
        add_wide_maxima(w, s, bars, sort->suits, lane);
    else if (is_wide)
        (sort->view == ANY_EXACT ? add_wide_errors : add_wide_numbers)(w, s, bars, sort->suits,
                                                                       lane);
}

DTI_INLINE void first_passes(struct any_lanes *s, struct any_largest *largest,
                             struct any_counts *counts, size_t row, const struct any_bars *bars,
                             bool is_coarse, const float *x, const float *y)
{
#pragma GCC unroll 1 /* for the size of the program */
    for (size_t i = 0; i < ANY_ROWS; i++)
        first_pass(s, largest, counts, row + i * ANY_STEP, bars, is_coarse, i * WIDTH,
                   x + i * DTI_LOSS_LANES, y + i * DTI_LOSS_LANES);
}

/* Adds the lanes from `lane` on of a group; row: the group's first row among those of the call.
 * rest: NULL if everything has to be summed. */
DTI_INLINE void add_lanes(struct dti_loss_work *w, const struct any_bars *bars,
                          struct any_counts *counts, struct any_rest *rest, const float *x,
                          const float *y, size_t row, size_t group, size_t lane)
{
    const size_t at = group * DTI_LOSS_LANES + lane;
    struct any_lanes s; /* not initialized here: compilers would clear it as a whole */
    struct any_largest largest = {all(0), all(0)};
    x += lane;
    y += lane;
    if (bars->is_coarse)
        first_passes(&s, &largest, counts, row, bars, true, x, y);
    else
        first_passes(&s, &largest, counts, row, bars, false, x, y);
    const bool is_clamped = any(are_from(largest.source, bars->limit));
    const struct any_sort sort = sort_lanes(&s, &largest, bars, is_clamped, &w->lanes, lane);
    const bool is_wide = rest && rest->is_partial ? sort.is_wide : any(sort.others);
    if (is_clamped)
        count_clamped(counts, row, &s, bars);
    if (sort.view == ANY_EXACT)
        w->is_risen |= any(are_above(largest.error, bars->single));
    add_others(w, &s, bars, &sort, is_wide, lane);
    if (!rest) {
        sum_single(&s, sort.suits, are_above(largest.error, all(0)), at, &w->groups);
    } else if (is_wide && rest->is_partial) {
        sum_small(&s, &largest, sort.suits, bars->is_coarse, at, &w->groups, &rest->high);
    } else {
        sum_between(&s, &largest, sort.suits, bars->is_coarse, at, &w->groups, &rest->high);
        if (!is_wide && sort.view != ANY_MAXIMA) {
            float *const tiny = rest->tiny + lane, *const source = rest->tiny_source + lane;
            store_ps(tiny, load_ps(tiny) + keep_where(sort.others, largest.error));
            store_ps(source, load_ps(source) + keep_where(sort.others, largest.source));
        }
    }
}

/* Counts NaNs and infinities among the sources; a NaN that stays one is not inexact. */
static DTI_NOINLINE void count_specials(const float *x, const float *y, size_t rows,
                                        const counter *special_x, struct dti_loss *loss)
{
    enum { BITS = 64 };
    unsigned nan = 0, both = 0;
    for (size_t first = 0; first < rows; first += BITS) {
        uint64_t bits = rows_with(special_x, first);
        bits &= rows - first < BITS ? (UINT64_C(1) << (rows - first)) - 1 : UINT64_MAX;
        for (; bits; bits &= bits - 1) {
            const size_t at = (first + dti_trailing_zeros(bits)) * WIDTH;
            const vector_ps given = load_ps(x + at), to = load_ps(y + at);
            const flags is_nan = differ(given, given);
            nan += number_of(is_nan);
            both += number_of(BOTH(is_nan, differ(to, to)));
        }
    }
    loss->nan_in += nan;
    loss->inf_in -= nan;
    loss->inexact -= both;
}

static void add_counts(const struct any_counts *counts, const float *x, const float *y, size_t n,
                       struct dti_loss *loss)
{
    const size_t rows = n / WIDTH;
    const unsigned special_x = counted(&counts->special_x, rows);
    const unsigned without = counted(&counts->without, rows);
    loss->overflowed += without - special_x;
    if (counts->is_clamped)
        loss->overflowed += counted(&counts->from, rows) + counted(&counts->below, rows);
    loss->compared += n - without;
    loss->inexact += counted(&counts->inexact, rows);
    loss->to_zero += counted(&counts->to_zero, rows);
    loss->to_subnormal += counted(&counts->to_subnormal, rows);
    loss->inf_in += special_x;
    if (special_x)
        count_specials(x, y, rows, &counts->special_x, loss);
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
        .single = all(dti_loss_not_above(w->peak.largest)),
        .ratio = all_pd(w->loss->max_relative),
        .largest = w->peak.largest,
        .single_ratio = all(dti_loss_not_above(w->loss->max_relative)),
        .is_near =
            w->cast && rule->policy.overflow != DTI_OVERFLOW_WRAP && !rule->negative_has_no_code,
        .is_one = w->exact || w->loss->max_relative >= 1,
        .is_coarse = w->cast && rule->src_smallest_normal <= 0x1p-120 &&
                     (!(rule->dst_smallest_normal > 0) || (rule->dst_smallest_normal >= 0x1p-80 &&
                                                           rule->dst_smallest_normal <= FLT_MAX)),
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

/* An upper bound of an fp64 sum of up to 128 numbers, with those that were left out. */
DTI_INLINE double raised(double sum, double more)
{
    return more > 0 ? (sum + more) * (1 + 0x1p-44) : sum;
}

static DTI_NOINLINE void fold_all(struct dti_loss_groups *groups, struct dti_loss_lanes *lanes)
{
    dti_loss_fold_groups(groups, DTI_LOSS_GROUPS, lanes);
}

/* Whether the tile's sums are those of their upper bounds. Rounding is monotonic, so they are then
 * exact. */
static DTI_NOINLINE bool are_settled(struct dti_loss_work *w, struct any_rest *rest)
{
    struct dti_loss_lanes low = w->lanes, high = low;
    for (size_t i = 0; i < DTI_LOSS_LANES; i++) {
        const double error = 9 * (double)rest->tiny[i], source = 9 * (double)rest->tiny_source[i];
        high.absolute[i] = raised(high.absolute[i], error);
        high.squared[i] = raised(high.squared[i], error * error);
        high.source_squared[i] = raised(high.source_squared[i], source * source);
    }
    fold_all(&w->groups, &low);
    fold_all(&rest->high, &high);
    return memcmp(&low, &high, sizeof low) == 0;
}

/* Adds whole groups, and returns whether their sums are exact. */
static DTI_NOINLINE bool add_groups(struct dti_loss_work *w, struct any_rest *rest, const float *x,
                                    const float *y, size_t at, size_t n)
{
    struct any_bars bars = any_bars_of(w);
    struct any_counts counts;
    reset(&counts.special_x);
    reset(&counts.without);
    reset(&counts.inexact);
    reset(&counts.to_zero);
    reset(&counts.to_subnormal);
    reset(&counts.from);
    reset(&counts.below);
    counts.is_clamped = false;
    for (size_t i = 0; i < n; i += DTI_LOSS_GROUP) {
        w->is_risen = false;
        for (size_t lane = 0; lane < DTI_LOSS_LANES; lane += WIDTH)
            add_lanes(w, &bars, &counts, rest, x + i, y + i, i / WIDTH, (at + i) / DTI_LOSS_GROUP,
                      lane);
        if (w->is_risen) {
            raise_maxima(w, x + i, y + i, at + i);
            bars = any_bars_of(w);
        }
    }
    if (rest && !are_settled(w, rest))
        return false;
    add_counts(&counts, x, y, n, w->loss);
    return true;
}

/* The rest of a tile, where bounds suffice. */
static bool add_rest(struct dti_loss_work *w, bool is_partial, const float *x, const float *y,
                     size_t at)
{
    const struct dti_loss_lanes before = w->lanes;
    struct any_rest rest;
    if (at > 0)
        rest.high = w->groups;
    rest.is_partial = is_partial;
    for (size_t lane = 0; lane < DTI_LOSS_LANES; lane++)
        rest.tiny[lane] = rest.tiny_source[lane] = 0;
    if (add_groups(w, &rest, x, y, at, DTI_TILE - at))
        return true;
    w->lanes = before;
    return false;
}

DTI_INLINE void loss_any(struct dti_loss_work *w, const float *x, const float *y, size_t at,
                         size_t n)
{
    enum { EXACT_TILES = 15 };
    const bool is_rest = at + n == DTI_TILE && n > DTI_LOSS_GROUP;
    if (is_rest && w->exact_tiles == 0) {
        if (add_rest(w, true, x, y, at) || add_rest(w, false, x, y, at)) {
            w->exact_streak = 0;
            return;
        }
        w->exact_tiles = w->exact_streak;
        w->exact_streak = w->exact_streak < EXACT_TILES ? 2 * w->exact_streak + 1 : EXACT_TILES;
    } else if (is_rest) {
        w->exact_tiles--;
    }
    (void)add_groups(w, NULL, x, y, at, n);
}
#endif

#endif
