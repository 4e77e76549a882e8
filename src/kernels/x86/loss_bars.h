/* SPDX-License-Identifier: MIT
 *
 * Which groups of fp32 numbers vector code adds up by itself: those in which nothing is remarkable
 * but the errors themselves. All others go through loss_group.h, which may raise a maximum. Every
 * element of such a group
 *
 *   plain   is stored as a normal number, |e| < |x| / 2
 *   small   may be 0 also, or be stored as a subnormal or as zero; |e| <= |x|
 *   exact   is stored as it is
 *
 * and its x is below what overflows, and of a size that suits fp32 sums. y is 0 or lies within
 * [x/2, 2x], so that y - x is exact in fp32 (Sterbenz), and no error or ratio passes a bar: the
 * maxima so far, rounded so that no greater one passes either. */
#ifndef DTINFO_KERNELS_X86_LOSS_BARS_H
#define DTINFO_KERNELS_X86_LOSS_BARS_H

#include "kernels/loss_group.h"
#include "kernels/x86/blocks.h"

enum dti_loss_sort { DTI_LOSS_PLAIN, DTI_LOSS_SMALL, DTI_LOSS_EXACT };

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

/* What vector code counts. */
struct dti_loss_counts {
    uint64_t inexact, to_zero, to_subnormal;
};

/* A tile. add_plain(), add_small() and add_exact() each add groups of their sort from `at` on, and
 * return where the first is that is not. */
typedef size_t dti_loss_groups_fn(const struct dti_loss_bars *bars, const float *x, const float *y,
                                  size_t at, size_t n, struct dti_loss_counts *counts,
                                  struct dti_loss_lanes *lanes);

DTI_INLINE void dti_loss_quick(dti_loss_groups_fn *const add[3], const struct dti_loss_rule *rule,
                               const float *x, const float *y, size_t n, uint64_t index,
                               struct dti_loss *loss)
{
    struct dti_loss_bars bars = dti_loss_bars_init(rule);
    struct dti_loss_lanes lanes = {{0}, {0}, {0}};
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    struct dti_loss_counts counts = {0, 0, 0};
    const bool exact = x == y && bars.subnormals < bars.src_normal;
    enum dti_loss_sort sort = exact ? DTI_LOSS_EXACT : DTI_LOSS_PLAIN;
    size_t odd = 0; /* elements that loss_group.h counts */
    dti_loss_bars_set(&bars, &peak, loss->max_relative);
    for (size_t at = 0, part; at < n; at += part) {
        at = add[sort](&bars, x, y, at, n, &counts, &lanes);
        if (sort == DTI_LOSS_PLAIN) {
            const size_t from = at;
            at = add[DTI_LOSS_SMALL](&bars, x, y, at, n, &counts, &lanes);
            sort = at > from ? DTI_LOSS_SMALL : sort; /* likely that of the next groups, too */
        }
        part = n - at < DTI_LOSS_GROUP ? n - at : DTI_LOSS_GROUP;
        if (part > 0)
            dti_loss_add_group(rule, false, x + at, y + at, part, index + at, loss, &lanes, &peak);
        dti_loss_bars_set(&bars, &peak, loss->max_relative);
        odd += part;
    }
    loss->elements += n;
    loss->compared += n - odd;
    loss->inexact += counts.inexact;
    loss->to_zero += counts.to_zero;
    loss->to_subnormal += counts.to_subnormal;
    dti_loss_peak_end(&peak, loss);
    dti_loss_add_lanes(loss, &lanes);
}

/* The kernel of a level, from its add_quick(bars, sort, x, y, counts, lanes), which adds a group,
 * or, where that is not of the sort, changes nothing and returns false. */
#define DTI_LOSS_GROUPS(name, sort)                                                             \
    static DTI_NOINLINE size_t name(const struct dti_loss_bars *bars, const float *x,           \
                                    const float *y, size_t at, size_t n,                        \
                                    struct dti_loss_counts *counts,                             \
                                    struct dti_loss_lanes *lanes)                               \
    {                                                                                           \
        struct dti_loss_counts here = *counts;                                                  \
        while (n - at >= DTI_LOSS_GROUP && add_quick(bars, sort, x + at, y + at, &here, lanes)) \
            at += DTI_LOSS_GROUP;                                                               \
        *counts = here;                                                                         \
        return at;                                                                              \
    }
#define DTI_LOSS_QUICK_KERNEL(kernel)                                                          \
    DTI_LOSS_GROUPS(add_plain, DTI_LOSS_PLAIN)                                                 \
    DTI_LOSS_GROUPS(add_small, DTI_LOSS_SMALL)                                                 \
    DTI_LOSS_GROUPS(add_exact, DTI_LOSS_EXACT)                                                 \
    void kernel(const struct dti_loss_rule *rule, const void *source, const void *stored,      \
                size_t n, uint64_t index, struct dti_loss *loss)                               \
    {                                                                                          \
        static dti_loss_groups_fn *const add[] = {[DTI_LOSS_PLAIN] = add_plain,                \
                                                  [DTI_LOSS_SMALL] = add_small,                \
                                                  [DTI_LOSS_EXACT] = add_exact};               \
        dti_loss_quick(add, rule, source, stored, n, index, loss);                             \
    }

#endif
