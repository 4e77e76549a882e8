/* SPDX-License-Identifier: MIT
 *
 * Which groups of fp32 numbers vector code sums fast: those without special cases. All others go
 * through the level's code for any numbers or, without it, loss_group.h. Each sort of group sets a
 * condition for all its elements:
 *
 *   plain   |e| < |x| / 2
 *   small   may be 0, or be stored as a subnormal or as zero; |e| <= |x|
 *   unit    of a cast that already has a ratio of 1: |e| <= |x|
 *   exact   is stored unchanged
 *
 * and x is below what overflows, and suitable for fp32 sums. y is 0 or within [x/2, 2x], so y -
 * x is exact in fp32 (Sterbenz), and no error or ratio exceeds a bar: the maxima so far, rounded
 * so that no larger one is missed.
 *
 * Ratios are compared without division, in two ways. If two fp32 numbers differ, |e| is at least
 * 2^-24 |x|, so nonzero ratios are at least 2^-24.
 *
 * error - ratio x size > 0, rounded once, if all sizes are at least 2^-60: the difference only
 * has bits down to 2^-131 and does not vanish.
 *
 * error x inverse - min(size, largest x inverse) > 0, for both maxima. The inverse is at least
 * (1 + 2^-23) / ratio, or twice 2^24 if that is less; a larger one lets more through. If a ratio
 * is larger, the difference exceeds 2^-23 size, and vanishes only if the size is subnormal; if
 * an error is larger, it is so by at least 2^-149, which the inverse increases. Ratios e / x and
 * e' / x' of 11-bit numbers up to 1/2 differ by at least 2^-22 of them, because e x' and e' x have
 * 22 bits: there an inverse of (1 - 2^-22.8) / ratio to (1 - 2^-27) / ratio leaves 2^-24 size.
 * Smaller sizes only occur in casts, and there either
 *   - the inverse is an integer, and the difference a multiple of 2^-149;
 *   - or the destination has steps of 2^-91 or more, so they become 0: the error is the size, and
 *     the difference at least 0.75 of that, because the inverse is at least 1.75;
 *   - or sources are not that small.
 * A float without normal numbers has fewer than 8 binades, which do not suit fp32 sums if its
 * steps are less than 2^-68.
 *
 * A lane's sum of squares shows whether its largest number suits fp32 sums: from 2^-116 on, one
 * of 8 is above 2^-60; below 2^120, all are below 2^60. */
#ifndef KERNELS_SCAN_LOSS_BARS_H
#define KERNELS_SCAN_LOSS_BARS_H

#include "kernels/scan/loss_group.h"

enum dti_loss_sort { DTI_LOSS_PLAIN, DTI_LOSS_SMALL, DTI_LOSS_UNIT, DTI_LOSS_EXACT };

struct dti_loss_bars {
    uint32_t limit; /* bits of magnitudes: sources from here on are special */
    uint32_t least; /* twice the smallest normal: from here on sources are stored as normals */
    uint32_t src_normal, subnormals;
    float largest, ratio, plain_ratio;
    float inverse, most;           /* 1 / ratio, and largest x inverse; see above */
    float units, inverse_least;    /* inverses are multiples of 1 / units, and at least
                                    * inverse_least */
    double for_largest, for_ratio; /* the maxima they were computed for */
    bool is_short; /* ratios of 11-bit sources are far apart: their bar is rounded up */
};

/* An fp64 magnitude as the bits of the smallest fp32 number not below it. */
static inline uint32_t dti_loss_bits_from(double magnitude)
{
    const float single = (float)magnitude;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits + (single < magnitude);
}

/* The largest fp32 number not above a magnitude. */
static inline float dti_loss_not_above(double magnitude)
{
    float single = (float)magnitude;
    if (single > magnitude) {
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        bits -= 1;
        memcpy(&single, &bits, sizeof single);
    }
    return single;
}

/* Sets the bars to the maxima so far. Equal ratios are frequent for numbers of few bits, and
 * would exceed a bar that was rounded down. */
static inline void dti_loss_bars_set(struct dti_loss_bars *bars, const struct dti_loss_peak *peak,
                                     double ratio)
{
    enum { INVERSE_MAX = 1 << 25 }; /* lets every error through */
    const uint32_t up = dti_loss_bits_from(ratio);
    const bool is_short = bars->is_short && ratio <= 0.5; /* else the error may have more bits */
    bars->for_largest = peak->largest;
    bars->for_ratio = ratio;
    bars->ratio = dti_loss_not_above(ratio < 1 ? ratio : 1);
    if (is_short)
        memcpy(&bars->ratio, &up, sizeof up);
    bars->plain_ratio = bars->ratio < 0.499F ? bars->ratio : 0.499F;
    bars->largest = dti_loss_not_above(peak->largest);
    if (ratio * INVERSE_MAX < 1)
        bars->inverse = INVERSE_MAX;
    else if (is_short)
        bars->inverse = dti_loss_not_above((1 - 0x1p-26) / ratio);
    else
        bars->inverse = ceilf((float)((1 + 0x1p-22) / ratio) * bars->units) / bars->units;
    if (bars->inverse < bars->inverse_least)
        bars->inverse = bars->inverse_least;
    bars->most = dti_loss_not_above((double)bars->largest * bars->inverse);
}

/* cast: for a cast rather than two arrays, where the bar keeps |e| below |x| / 2. */
static inline struct dti_loss_bars dti_loss_bars_init(const struct dti_loss_rule *rule, bool cast)
{
    const struct dti_format *const src = &rule->src, *const dst = &rule->dst;
    const uint32_t src_normal = dti_loss_bits_from(rule->src_smallest_normal);
    const uint32_t dst_normal = dti_loss_bits_from(rule->dst_smallest_normal);
    const uint32_t limit = dti_loss_bits_from(dti_loss_limit(rule));
    const uint32_t least = dti_loss_bits_from(2 * rule->dst_smallest_normal);
    struct dti_loss_bars bars = {
        .limit = limit < DTI_LOSS_SINGLE_TO ? limit : DTI_LOSS_SINGLE_TO,
        .least = least > DTI_LOSS_SINGLE_FROM ? least : DTI_LOSS_SINGLE_FROM,
        .src_normal = src_normal ? src_normal : 1,
        .subnormals = dst_normal ? dst_normal - 1 : 0,
        .units = cast && rule->dst_smallest_normal > 0 && rule->dst_smallest_normal < 0x1p-80
                     ? 1
                     : 0x1p20F,
        .for_largest = NAN, /* not set yet */
        .inverse_least = cast ? 1.75F : 2.005F,
        .is_short = (dti_format_is_float(src) ? src->man_bits <= 10 : src->width <= 11) &&
                    (dti_format_is_float(dst) ? dst->man_bits <= 10 : dst->width <= 11),
    };
    if (bars.least > bars.limit)
        bars.least = bars.limit;
    return bars;
}

/* Whether a normal number that is stored unchanged stays normal. */
static inline bool dti_loss_keeps_normal(const struct dti_loss_rule *rule)
{
    return rule->src_smallest_normal >= rule->dst_smallest_normal;
}

/* The counters of vector code. */
struct dti_loss_counts {
    uint64_t compared, inexact, to_zero, to_subnormal;
};

static inline void dti_loss_add_counts(struct dti_loss *loss, const struct dti_loss_counts *counts)
{
    loss->compared += counts->compared;
    loss->inexact += counts->inexact;
    loss->to_zero += counts->to_zero;
    loss->to_subnormal += counts->to_subnormal;
}

struct dti_loss_work;
/* Adds n numbers of any kind from `at` on, whole groups; dti_loss_suits_any() is true. */
typedef void dti_loss_any_fn(struct dti_loss_work *work, const float *x, const float *y, size_t at,
                             size_t n);
dti_loss_any_fn dti_loss_any_avx2, dti_loss_any_avx512, dti_loss_any_neon;

/* The state of a tile: two arrays of fp32 numbers, or a cast. */
struct dti_loss_work {
    const struct dti_loss_rule *rule;
    struct dti_loss *loss;
    const float *x, *y;
    size_t n;
    uint64_t index;
    struct dti_loss_bars bars;
    struct dti_loss_counts counts;
    struct dti_loss_groups groups;
    struct dti_loss_lanes lanes;
    struct dti_loss_peak peak;
    dti_loss_any_fn *any; /* of the level, or NULL */
    bool is_risen;        /* for it: a maximum may rise */
    /* For it: following tiles that need all their sums, and how many the next time. */
    unsigned exact_tiles, exact_streak;
    /* Following tiles that are likely odd as a whole, and how many the next time. */
    unsigned odd_tiles, odd_streak;

    const struct dti_loss_cast *cast; /* NULL: arrays */
    const unsigned char *source;
    unsigned char *codes;
    bool exact, stream;
    bool is_small; /* groups of other sorts are not possible */
    const void *constants;
};

/* Adds groups of one sort from `at` on, and returns the index of the first group that is not;
 * that one has also been cast. */
typedef size_t dti_loss_groups_fn(struct dti_loss_work *work, size_t at);

/* Whether an overflow may be decided by an element's index, as in stochastic rounding. */
static inline bool dti_loss_draws(const struct dti_loss_rule *rule)
{
    return rule->overflow_from[0] < rule->overflow_sure[0] ||
           rule->overflow_from[1] < rule->overflow_sure[1];
}

/* Whether the code of the level can count n numbers: nothing is decided by an index, and there is
 * no element without a code. */
static inline bool dti_loss_suits_any(const struct dti_loss_rule *rule, const float *x,
                                      const float *y, size_t n)
{
    bool special = false;
    if (dti_loss_draws(rule))
        return false;
    if (rule->nan_has_no_code || rule->negative_has_no_code)
        for (size_t i = 0; i < n; i++)
            special |= (isnan(x[i]) != 0) | (isnan(y[i]) != 0);
    return !special;
}

/* Adds n elements of any kind from `at` on: whole groups, or the last one of an array. */
static DTI_NOINLINE void dti_loss_add_odd(struct dti_loss_work *w, size_t at, size_t n)
{
    const struct dti_loss_cast *const cast = w->cast;
    const float *x = cast ? (const float *)(const void *)w->source + at : w->x + at;
    const float *y = cast ? NULL : w->y + at;
    float number[DTI_TILE];
    if (cast) {
        unsigned char *const codes = w->codes + at * cast->code_bytes;
        struct dti_kernel_args args = *cast->args;
        args.stream = NULL;
        if (w->exact) {
            cast->kernel->run(&args, number, w->source + at * cast->source_bytes, n);
            memcpy(codes, number, n * sizeof *number);
            x = number;
        } else {
            cast->kernel->run(&args, codes, x, n);
            cast->back->run(cast->back_args, number, codes, n);
        }
        y = number;
    }
    size_t done = 0;
    if (w->any && dti_loss_suits_any(w->rule, x, y, n)) {
        done = n - n % DTI_LOSS_GROUP;
        w->any(w, x, y, at, done);
    }
    for (size_t part; done < n; done += part) {
        part = n - done < DTI_LOSS_GROUP ? n - done : DTI_LOSS_GROUP;
        dti_loss_add_group(w->rule, false, x + done, y + done, part, w->index + at + done,
                           (at + done) / DTI_LOSS_GROUP, w->loss, &w->groups, &w->lanes, &w->peak);
    }
    dti_loss_bars_set(&w->bars, &w->peak, w->loss->max_relative);
}

/* Uses vector stores: compilers would emit the string instruction, which has a slow start. */
static inline void dti_loss_clear(struct dti_loss_lanes *lanes)
{
    double nothing = 0;
    __asm__("" : "+x"(nothing));
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
        lanes->absolute[i] = nothing;
        lanes->squared[i] = nothing;
        lanes->source_squared[i] = nothing;
    }
}

/* The sort to try first. */
static inline enum dti_loss_sort dti_loss_first(const struct dti_loss_work *w,
                                                dti_loss_groups_fn *const add[])
{
    return w->exact                                           ? DTI_LOSS_EXACT
           : w->is_small                                      ? DTI_LOSS_SMALL
           : add[DTI_LOSS_UNIT] && w->loss->max_relative >= 1 ? DTI_LOSS_UNIT
                                                              : DTI_LOSS_PLAIN;
}

/* Processes the whole tile; `add` is indexed by sort. Leaves counts in `w`. */
static inline void dti_loss_work_through(struct dti_loss_work *w, dti_loss_groups_fn *const add[])
{
    enum { ODD_TILES = 3, ODD_MAX = 31 };
    struct dti_loss *const loss = w->loss;
    size_t odd = 0, odd_end = 0; /* elements of odd groups, and where the last one ended */
    w->peak = dti_loss_peak_start(loss, w->index);
    dti_loss_clear(&w->lanes);
    if (!(w->bars.for_largest <= w->peak.largest && w->bars.for_largest >= w->peak.largest &&
          w->bars.for_ratio >= loss->max_relative))
        dti_loss_bars_set(&w->bars, &w->peak, loss->max_relative);
    if (w->odd_tiles > 0) {
        dti_loss_add_odd(w, 0, w->n);
        odd = odd_end = w->n;
    }
    for (size_t at = odd_end, part; at < w->n; at += part) {
        const enum dti_loss_sort sort = dti_loss_first(w, add);
        at = add[sort](w, at);
        part = 0;
        if (dti_loss_first(w, add) != sort)
            continue;
        if (sort == DTI_LOSS_PLAIN || sort == DTI_LOSS_UNIT) {
            const size_t from = at;
            at = add[DTI_LOSS_SMALL](w, at);
            w->is_small = at > from; /* likely also true for the next groups */
        }
        part = w->n - at;
        if (part > DTI_LOSS_GROUP && (at == 0 || at > odd_end)) /* else likely all the rest is */
            part = DTI_LOSS_GROUP;
        if (part > 0) /* otherwise this is the end */
            dti_loss_add_odd(w, at, part);
        odd += part;
        odd_end = at + part;
    }
    if (w->odd_tiles > 0) {
        w->odd_tiles--;
    } else if (odd < w->n) {
        w->odd_streak = 0;
    } else {
        w->odd_tiles = w->odd_streak > 0 ? w->odd_streak : ODD_TILES;
        w->odd_streak = w->odd_tiles < ODD_MAX ? 2 * w->odd_tiles + 1 : ODD_MAX;
    }
    w->counts.compared += w->n - odd;
    dti_loss_peak_end(&w->peak, loss);
    dti_loss_fold_groups(&w->groups, w->n / DTI_LOSS_GROUP, &w->lanes);
    dti_loss_add_lanes(loss, &w->lanes);
}

/* The magnitudes of a group's errors and their ratios to the sources, as fp32. Magnitudes are
 * compared as bits, whose maxima compilers vectorize. */
struct dti_loss_ratios {
    float size[DTI_LOSS_GROUP], error[DTI_LOSS_GROUP], ratio[DTI_LOSS_GROUP];
    uint32_t largest, most; /* of errors, of ratios */
};

static inline uint32_t dti_loss_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* False if an error exceeds that share of its source. */
static inline bool dti_loss_find_ratios(struct dti_loss_ratios *r, const void *x, const float *y,
                                        float share)
{
    uint32_t largest = 0, most = 0, beyond = 0;
    for (unsigned i = 0; i < DTI_LOSS_GROUP; i++) {
        float source, ratio;
        memcpy(&source, (const unsigned char *)x + i * sizeof source, sizeof source);
        const float size = fabsf(source), error = fabsf(y[i] - source);
        const uint32_t divisor = dti_lane_max32(dti_loss_bits(size), 1); /* 0 has no error */
        memcpy(&ratio, &divisor, sizeof ratio);
        ratio = error / ratio;
        beyond |= error <= share * size ? 0U : 1U; /* also 1 for NaN */
        largest = dti_lane_max32(largest, dti_loss_bits(error));
        most = dti_lane_max32(most, dti_loss_bits(ratio));
        r->size[i] = size;
        r->error[i] = error;
        r->ratio[i] = ratio;
    }
    r->largest = largest;
    r->most = most;
    return !beyond;
}

/* Whether a number of a block is this one. */
static inline bool dti_loss_has(const float number[DTI_LOSS_LANES], uint32_t bits)
{
    uint32_t apart = UINT32_MAX;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        apart = dti_lane_min32(apart, dti_loss_bits(number[i]) ^ bits);
    return apart == 0;
}

/* Raises the maxima for a group that exceeds a bar but is otherwise of this sort; false if some
 * error is too large for the sort. The largest of the true ratios is among those that are largest
 * when rounded to fp32: only these are divided again. */
static inline bool dti_loss_raise(struct dti_loss_work *w, enum dti_loss_sort sort, const void *x,
                                  const float *y, size_t at)
{
    struct dti_loss_ratios r;
    if (!dti_loss_find_ratios(&r, x, y, sort == DTI_LOSS_PLAIN && !w->cast ? 0.499F : 1))
        return false;
    const bool higher = r.most > 0 && r.most >= dti_loss_bits((float)w->loss->max_relative);
    float largest;
    memcpy(&largest, &r.largest, sizeof largest);
    bool risen = (double)largest > w->peak.largest;
    for (size_t i = 0; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES) {
        for (size_t j = i; risen && dti_loss_has(r.error + i, r.largest); j++) {
            if (dti_loss_bits(r.error[j]) != r.largest)
                continue;
            dti_loss_peak_rise(&w->peak, (double)largest, w->index + at + j);
            risen = false;
        }
        if (!higher || !dti_loss_has(r.ratio + i, r.most))
            continue;
        for (size_t j = i; j < i + DTI_LOSS_LANES; j++) {
            if (dti_loss_bits(r.ratio[j]) != r.most)
                continue;
            const double ratio = dti_fp64_divide((double)r.error[j], (double)r.size[j]);
            if (ratio > w->loss->max_relative)
                w->loss->max_relative = ratio;
        }
    }
    dti_loss_bars_set(&w->bars, &w->peak, w->loss->max_relative);
    return true;
}

/* Defines the kernel of a level from its add_groups(work, sort, at), which is a
 * dti_loss_groups_fn with the sort as an additional constant argument, and its add_exact(). work:
 * dti_loss_work_through(), or a function that calls it. */
#define DTI_LOSS_GROUPS(name, sort)                                        \
    static DTI_NOINLINE size_t name(struct dti_loss_work *work, size_t at) \
    {                                                                      \
        return add_groups(work, sort, at);                                 \
    }
/* unit, any_group: the functions for groups of that sort, or NULL. */
#define DTI_LOSS_QUICK_KERNEL(kernel, work_through, unit, any_group)                             \
    DTI_LOSS_GROUPS(add_plain, DTI_LOSS_PLAIN)                                                   \
    DTI_LOSS_GROUPS(add_small, DTI_LOSS_SMALL)                                                   \
    void kernel(const struct dti_loss_rule *rule, const void *source, const void *stored,        \
                size_t n, uint64_t index, struct dti_loss *loss)                                 \
    {                                                                                            \
        static dti_loss_groups_fn *const add[] = {[DTI_LOSS_PLAIN] = add_plain,                  \
                                                  [DTI_LOSS_SMALL] = add_small,                  \
                                                  [DTI_LOSS_UNIT] = (unit),                      \
                                                  [DTI_LOSS_EXACT] = add_exact};                 \
        struct dti_loss_work work; /* not initialized here: its larger members are set when work \
                                    * begins */                                                  \
        work.rule = rule;                                                                        \
        work.loss = loss;                                                                        \
        work.x = source;                                                                         \
        work.y = stored;                                                                         \
        work.n = n;                                                                              \
        work.index = index;                                                                      \
        work.cast = NULL;                                                                        \
        work.exact = source == stored && dti_loss_keeps_normal(rule);                            \
        work.is_small = false;                                                                   \
        work.odd_tiles = work.odd_streak = work.exact_tiles = work.exact_streak = 0;             \
        work.any = (any_group);                                                                  \
        work.bars = dti_loss_bars_init(rule, false);                                             \
        work.counts = (struct dti_loss_counts){0, 0, 0, 0};                                      \
        work_through(&work, add);                                                                \
        loss->elements += n;                                                                     \
        dti_loss_add_counts(loss, &work.counts);                                                 \
    }

#endif
