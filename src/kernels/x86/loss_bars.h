/* SPDX-License-Identifier: MIT
 *
 * Which groups of fp32 numbers vector code adds up by itself: those in which nothing is remarkable
 * but the errors themselves. All others go through loss_group.h, which may raise a maximum. Every
 * element of such a group
 *
 *   plain   is stored as a normal number, |e| < |x| / 2
 *   small   may be 0 also, or be stored as a subnormal or as zero; |e| <= |x|
 *   nonzero the same, but for x, which is normal; codes tell what became small
 *   exact   is stored as it is
 *
 * and its x is below what overflows, and of a size that suits fp32 sums. y is 0 or lies within
 * [x/2, 2x], so that y - x is exact in fp32 (Sterbenz), and no error or ratio passes a bar: the
 * maxima so far, rounded so that no greater one passes either. */
#ifndef DTINFO_KERNELS_X86_LOSS_BARS_H
#define DTINFO_KERNELS_X86_LOSS_BARS_H

#include "kernels/loss_group.h"
#include "kernels/tile_sum.h"
#include "kernels/x86/blocks.h"

enum dti_loss_sort { DTI_LOSS_PLAIN, DTI_LOSS_SMALL, DTI_LOSS_EXACT, DTI_LOSS_NONZERO };

struct dti_loss_bars {
    uint32_t limit; /* bits of magnitudes: from here on a source is remarkable */
    uint32_t least; /* from here on, twice the smallest normal, it is stored as a normal */
    uint32_t src_normal, subnormals;
    float largest, ratio, plain_ratio;
    bool is_short; /* ratios of sources of 11 bits are far apart: their bar is rounded up */
};

/* A magnitude of fp64 as the bits of the smallest fp32 that is not below it. */
static inline uint32_t dti_loss_bits_from(double magnitude)
{
    const float single = (float)magnitude;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits + (single < magnitude);
}

/* The largest fp32 not above a magnitude. */
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

/* The maxima so far. Between two ratios of numbers of 11 bits is more than between two fp32. Equal
 * ratios would pass a bar that was rounded down. */
static inline void dti_loss_bars_set(struct dti_loss_bars *bars, const struct dti_loss_peak *peak,
                                     double ratio)
{
    const uint32_t up = dti_loss_bits_from(ratio);
    bars->ratio = dti_loss_not_above(ratio < 1 ? ratio : 1);
    if (bars->is_short && ratio < 1)
        memcpy(&bars->ratio, &up, sizeof up);
    bars->plain_ratio = bars->ratio < 0.499F ? bars->ratio : 0.499F;
    bars->largest = dti_loss_not_above(peak->largest);
}

static inline struct dti_loss_bars dti_loss_bars_init(const struct dti_loss_rule *rule)
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
        .is_short = (dti_format_is_float(src) ? src->man_bits <= 10 : src->width <= 11) &&
                    (dti_format_is_float(dst) ? dst->man_bits <= 10 : dst->width <= 11),
    };
    if (bars.least > bars.limit)
        bars.least = bars.limit;
    return bars;
}

/* Whether a normal number that is stored as it is stays one. */
static inline bool dti_loss_keeps_normal(const struct dti_loss_rule *rule)
{
    return rule->src_smallest_normal >= rule->dst_smallest_normal;
}

/* What vector code counts. */
struct dti_loss_counts {
    uint64_t inexact, to_zero, to_subnormal;
};

/* A tile at work: two arrays of fp32 numbers, or what is cast. */
struct dti_loss_work {
    const struct dti_loss_rule *rule;
    struct dti_loss *loss;
    const float *x, *y;
    size_t n;
    uint64_t index;
    struct dti_loss_bars bars;
    struct dti_loss_counts counts;
    struct dti_loss_lanes lanes;
    struct dti_loss_peak peak;

    const struct dti_loss_cast *cast; /* NULL: arrays */
    const unsigned char *source;
    unsigned char *codes;
    bool exact, stream;
    const void *constants;
};

/* Adds groups of a sort from `at` on, and returns where the first is that is not; that one, too,
 * has been cast. */
typedef size_t dti_loss_groups_fn(struct dti_loss_work *work, size_t at);

/* n elements from `at` on that are remarkable, or the last ones of an array. */
static DTI_NOINLINE void dti_loss_add_odd(struct dti_loss_work *w, size_t at, size_t n)
{
    const struct dti_loss_cast *const cast = w->cast;
    const float *x = cast ? (const float *)(const void *)w->source + at : w->x + at;
    const float *y = cast ? NULL : w->y + at;
    float number[DTI_LOSS_GROUP];
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
    dti_loss_add_group(w->rule, false, x, y, n, w->index + at, w->loss, &w->lanes, &w->peak);
    dti_loss_bars_set(&w->bars, &w->peak, w->loss->max_relative);
}

/* Vector stores: compilers would take the string instruction, which starts slowly. */
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

/* The whole tile; add by sort. */
static inline void dti_loss_work_through(struct dti_loss_work *w, dti_loss_groups_fn *const add[])
{
    struct dti_loss *const loss = w->loss;
    enum dti_loss_sort sort = w->exact ? DTI_LOSS_EXACT : DTI_LOSS_PLAIN;
    size_t odd = 0; /* elements that loss_group.h counts */
    w->bars = dti_loss_bars_init(w->rule);
    w->peak = dti_loss_peak_start(loss, w->index);
    w->counts = (struct dti_loss_counts){0, 0, 0};
    dti_loss_clear(&w->lanes);
    dti_loss_bars_set(&w->bars, &w->peak, loss->max_relative);
    for (size_t at = 0, part; at < w->n; at += part) {
        at = add[sort](w, at);
        if (sort == DTI_LOSS_PLAIN) {
            const size_t from = at;
            at = add[DTI_LOSS_SMALL](w, at);
            sort = at > from ? DTI_LOSS_SMALL : sort; /* likely that of the next groups, too */
        }
        part = w->n - at < DTI_LOSS_GROUP ? w->n - at : DTI_LOSS_GROUP;
        if (part > 0) /* else it is the end */
            dti_loss_add_odd(w, at, part);
        odd += part;
    }
    loss->elements += w->n;
    loss->compared += w->n - odd;
    loss->inexact += w->counts.inexact;
    loss->to_zero += w->counts.to_zero;
    loss->to_subnormal += w->counts.to_subnormal;
    dti_loss_peak_end(&w->peak, loss);
    dti_exact_sum_add(&loss->sum_absolute, dti_tile_sum(w->lanes.absolute));
    dti_exact_sum_add(&loss->sum_squared, dti_tile_sum(w->lanes.squared));
    dti_exact_sum_add(&loss->sum_source_squared, dti_tile_sum(w->lanes.source_squared));
}

/* Raises the maxima by a group that passes a bar, but is otherwise of the sort; false where some
 * error is too large for that. */
static inline bool dti_loss_raise(struct dti_loss_work *w, enum dti_loss_sort sort, const void *x,
                                  const float *y, size_t at)
{
    const float most = sort == DTI_LOSS_PLAIN ? 0.499F : 1, ratio = w->bars.ratio;
    const float largest = w->bars.largest;
    unsigned risen = 0, beyond = 0; /* bit i: in block i */
    for (unsigned j = 0; j < DTI_LOSS_GROUP / DTI_LOSS_LANES; j++) {
        unsigned rises = 0, exceeds = 0;
        float from[DTI_LOSS_LANES];
        memcpy(from, (const unsigned char *)x + j * sizeof from, sizeof from);
        for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
            const float size = fabsf(from[i]), error = fabsf(y[j * DTI_LOSS_LANES + i] - from[i]);
            rises |= (unsigned)(error > largest) | (unsigned)(fmaf(-ratio, size, error) > 0);
            exceeds |= (unsigned)!(error <= most * size); /* NaN, too */
        }
        risen |= rises << j;
        beyond |= exceeds;
    }
    for (; !beyond && risen; risen &= risen - 1) {
        const size_t first = dti_loss_lowest(risen) * DTI_LOSS_LANES;
        struct dti_loss_block b;
        dti_loss_load_f32(b.x, x, first, DTI_LOSS_LANES);
        dti_loss_load_f32(b.y, (const void *)y, first, DTI_LOSS_LANES);
        for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
            b.error[i] = fabs(dti_fp64_add(b.y[i], -b.x[i]));
        dti_loss_look_for_peaks(&b, w->index + at + first, &w->peak, w->loss);
    }
    dti_loss_bars_set(&w->bars, &w->peak, w->loss->max_relative);
    return !beyond;
}

/* The kernel of a level, from its add_groups(work, sort, at), of the type dti_loss_groups_fn but
 * for the sort, which is a constant. */
#define DTI_LOSS_GROUPS(name, sort)                                        \
    static DTI_NOINLINE size_t name(struct dti_loss_work *work, size_t at) \
    {                                                                      \
        return add_groups(work, sort, at);                                 \
    }
#define DTI_LOSS_QUICK_KERNEL(kernel)                                                     \
    DTI_LOSS_GROUPS(add_plain, DTI_LOSS_PLAIN)                                            \
    DTI_LOSS_GROUPS(add_small, DTI_LOSS_SMALL)                                            \
    DTI_LOSS_GROUPS(add_exact, DTI_LOSS_EXACT)                                            \
    void kernel(const struct dti_loss_rule *rule, const void *source, const void *stored, \
                size_t n, uint64_t index, struct dti_loss *loss)                          \
    {                                                                                     \
        static dti_loss_groups_fn *const add[] = {[DTI_LOSS_PLAIN] = add_plain,           \
                                                  [DTI_LOSS_SMALL] = add_small,           \
                                                  [DTI_LOSS_EXACT] = add_exact};          \
        struct dti_loss_work work; /* its larger members are set where the work begins */ \
        work.rule = rule;                                                                 \
        work.loss = loss;                                                                 \
        work.x = source;                                                                  \
        work.y = stored;                                                                  \
        work.n = n;                                                                       \
        work.index = index;                                                               \
        work.cast = NULL;                                                                 \
        work.exact = source == stored && dti_loss_keeps_normal(rule);                     \
        dti_loss_work_through(&work, add);                                                \
    }

#endif
