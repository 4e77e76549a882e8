/* SPDX-License-Identifier: MIT
 *
 * Portable loss of any elements, for all levels: in blocks of one element per lane, most of
 * whose loops compilers vectorize, and in groups of blocks. The vector code of a level may
 * leave groups with special cases to it. */
#ifndef KERNELS_SCAN_LOSS_GROUP_H
#define KERNELS_SCAN_LOSS_GROUP_H

#include <math.h>

#include "kernels/fused.h"
#include "kernels/lanes.h"
#include "kernels/scan/loss_single.h"
#include "kernels/scan/loss_tile.h"

struct dti_loss_block {
    double x[DTI_LOSS_LANES], y[DTI_LOSS_LANES], error[DTI_LOSS_LANES];
};

/* The smallest magnitude from which a source may overflow, whatever its sign. */
static inline double dti_loss_limit(const struct dti_loss_rule *rule)
{
    return rule->overflow_from[0] < rule->overflow_from[1] ? rule->overflow_from[0]
                                                           : rule->overflow_from[1];
}

/* Whether any element may have overflowed or is not finite. */
static inline bool dti_loss_has_specials(const struct dti_loss_block *b, double limit)
{
    unsigned special = 0;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        special |= (unsigned)!(fabs(b->x[i]) < limit) | (unsigned)!(fabs(b->y[i]) <= DBL_MAX);
    return special != 0;
}

/* Counts an element that overflowed or is not finite; false if it has no error. */
static inline bool dti_loss_count_special(const struct dti_loss_rule *rule, double x, double y,
                                          uint64_t index, struct dti_loss *loss)
{
    const unsigned negative = signbit(x) != 0;
    const struct dti_loss_masks masks = {
        .nan_x = (unsigned)(isnan(x) != 0),
        .inf_x = (unsigned)(isinf(x) != 0),
        .below_x = x < 0,
        .nan_y = (unsigned)(isnan(y) != 0),
        .inf_y = (unsigned)(isinf(y) != 0),
        .beyond = fabs(x) >= rule->overflow_sure[negative] ||
                  (fabs(x) >= rule->overflow_from[negative] && isfinite(x) &&
                   dti_loss_overflows(rule, x, index)),
        .equal_infinite = isinf(x) && x <= y && x >= y,
    };
    return (dti_loss_count_specials(rule, &masks, index, loss) & 1) == 0;
}

/* The largest of a block's numbers, none of which is negative. */
static inline double dti_loss_largest(const double number[DTI_LOSS_LANES])
{
    int64_t largest = 0;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        largest = dti_lane_max64(largest, (int64_t)dti_fp64_bits(number[i]));
    return dti_fp64_from_bits((uint64_t)largest);
}

/* Updates the largest errors. e > m |x| in real numbers implies e >= RN(m |x|), so the
 * multiplication misses no ratio above the largest so far. Without branches: in the first blocks of
 * an array both maxima rise again and again. */
static inline void dti_loss_look_for_peaks(const struct dti_loss_block *b, uint64_t index,
                                           struct dti_loss_peak *peak, struct dti_loss *loss)
{
    double error[DTI_LOSS_LANES], source[DTI_LOSS_LANES];
    const double most = loss->max_relative, largest = dti_loss_largest(b->error);
    unsigned above = 0;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
        const double size = fabs(b->x[i]);
        const bool counts = (b->error[i] > 0) & (size > 0) & (b->error[i] >= most * size);
        above |= counts ? 1U : 0U;
        error[i] = counts ? b->error[i] : 0;
        source[i] = counts ? size : 1;
    }
    if (largest > peak->largest) {
        unsigned first = 0;
        while (b->error[first] < largest)
            first++;
        dti_loss_peak_rise(peak, largest, index + first);
    }
    if (!above)
        return;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        error[i] = dti_fp64_divide(error[i], source[i]);
    const double ratio = dti_loss_largest(error);
    loss->max_relative = ratio > most ? ratio : most;
}

/* Everything except the sums for n elements. Elements without an error are set to 0, like those
 * after the n already are. */
static inline void dti_loss_count_block(const struct dti_loss_rule *rule, struct dti_loss_block *b,
                                        size_t n, uint64_t index, struct dti_loss *loss,
                                        struct dti_loss_peak *peak)
{
    const double src_normal = rule->src_smallest_normal, dst_normal = rule->dst_smallest_normal;
    const bool special = dti_loss_has_specials(b, dti_loss_limit(rule));
    loss->compared += n;
    for (unsigned i = 0; special && i < n; i++) {
        if (!dti_loss_count_special(rule, b->x[i], b->y[i], index + i, loss)) {
            b->x[i] = b->y[i] = 0;
            loss->compared--;
        }
    }
    unsigned inexact = 0, to_zero = 0, to_subnormal = 0;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
        const double x = b->x[i], y = b->y[i], size_x = fabs(x), size_y = fabs(y);
        b->error[i] = fabs(dti_fp64_add(y, -x));
        inexact += (unsigned)(y < x) | (unsigned)(y > x);
        to_zero += (unsigned)(size_x > 0) & (unsigned)!(size_y > 0);
        to_subnormal += (unsigned)(size_y > 0) & (unsigned)(size_y < dst_normal) &
                        (unsigned)(size_x > 0) & (unsigned)(size_x >= src_normal);
    }
    loss->inexact += inexact;
    loss->to_zero += to_zero;
    loss->to_subnormal += to_subnormal;
    dti_loss_look_for_peaks(b, index, peak, loss);
}

/* Whether numbers fit in fp32, so that their squares are exact and adding them rounds once, like
 * dti_fma(), which is a call where the compiler may not use the instruction. */
static inline bool dti_loss_are_short(const double number[DTI_LOSS_LANES])
{
    unsigned longer = 0;
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        longer |= (unsigned)((double)(float)number[i] < number[i]) |
                  (unsigned)((double)(float)number[i] > number[i]);
    return longer == 0;
}

static inline void dti_loss_add_squares(double sum[DTI_LOSS_LANES],
                                        const double number[DTI_LOSS_LANES])
{
#ifdef FP_FAST_FMA
    const bool once = false;
#else
    const bool once = dti_loss_are_short(number);
#endif
    for (unsigned i = 0; !once && i < DTI_LOSS_LANES; i++)
        sum[i] = dti_fma(number[i], number[i], sum[i]);
    for (unsigned i = 0; once && i < DTI_LOSS_LANES; i++)
        sum[i] = dti_fp64_add(sum[i], number[i] * number[i]);
}

static inline void dti_loss_add_block(const struct dti_loss_block *b, struct dti_loss_lanes *lanes)
{
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        lanes->absolute[i] = dti_fp64_add(lanes->absolute[i], b->error[i]);
    dti_loss_add_squares(lanes->squared, b->error);
    dti_loss_add_squares(lanes->source_squared, b->x);
}

/* The fp32 sums of each lane's elements of a group, and their largest magnitudes. */
struct dti_loss_singles {
    float absolute[DTI_LOSS_LANES], squared[DTI_LOSS_LANES], source_squared[DTI_LOSS_LANES];
    float largest[DTI_LOSS_LANES], largest_source[DTI_LOSS_LANES];
};

static inline void dti_loss_add_singles(const struct dti_loss_block *b, struct dti_loss_singles *s)
{
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
        const float x = (float)fabs(b->x[i]);
        const float error = fabsf(dti_fp32_add((float)b->y[i], -(float)b->x[i]));
        s->absolute[i] = dti_fp32_add(s->absolute[i], error);
        s->squared[i] = dti_fp32_add_square(s->squared[i], error);
        s->source_squared[i] = dti_fp32_add_square(s->source_squared[i], x);
        s->largest[i] = error > s->largest[i] ? error : s->largest[i];
        s->largest_source[i] = x > s->largest_source[i] ? x : s->largest_source[i];
    }
}

/* Loads elements from `at` on, out of `count`, padded with zeros. Any alignment. */
static inline void dti_loss_load_f32(double ret[DTI_LOSS_LANES], const unsigned char *from,
                                     size_t at, size_t count)
{
    float narrow[DTI_LOSS_LANES] = {0};
    memcpy(narrow, from + at * sizeof *narrow, count * sizeof *narrow);
    for (unsigned i = 0; i < DTI_LOSS_LANES; i++)
        ret[i] = narrow[i];
}

static inline void dti_loss_load_f64(double ret[DTI_LOSS_LANES], const unsigned char *from,
                                     size_t at, size_t count)
{
    memset(ret, 0, DTI_LOSS_LANES * sizeof *ret);
    memcpy(ret, from + at * sizeof *ret, count * sizeof *ret);
}

/* Adds n elements, fp32 or (wide) fp64, of group number `group` of a tile. The group is whole,
 * or the last one. */
static inline void dti_loss_add_group(const struct dti_loss_rule *rule, bool wide,
                                      const void *source, const void *stored, size_t n,
                                      uint64_t index, size_t group, struct dti_loss *loss,
                                      struct dti_loss_groups *groups, struct dti_loss_lanes *lanes,
                                      struct dti_loss_peak *peak)
{
    enum { BLOCKS = DTI_LOSS_GROUP / DTI_LOSS_LANES };
    const bool single = !wide && n == DTI_LOSS_GROUP;
    struct dti_loss_block block[BLOCKS];
    struct dti_loss_singles s;
    unsigned odd = 0;
    if (single)
        s = (struct dti_loss_singles){{0}, {0}, {0}, {0}, {0}};
    for (size_t i = 0; i * DTI_LOSS_LANES < n; i++) {
        const size_t at = i * DTI_LOSS_LANES;
        const size_t count = n - at < DTI_LOSS_LANES ? n - at : DTI_LOSS_LANES;
        struct dti_loss_block *const b = &block[i];
        if (wide) {
            dti_loss_load_f64(b->x, source, at, count);
            dti_loss_load_f64(b->y, stored, at, count);
        } else if (count == DTI_LOSS_LANES) { /* of a known size: without a call */
            dti_loss_load_f32(b->x, source, at, DTI_LOSS_LANES);
            dti_loss_load_f32(b->y, stored, at, DTI_LOSS_LANES);
        } else {
            dti_loss_load_f32(b->x, source, at, count);
            dti_loss_load_f32(b->y, stored, at, count);
        }
        dti_loss_count_block(rule, b, count, index + at, loss, peak);
        if (single)
            dti_loss_add_singles(b, &s);
        else
            dti_loss_add_block(b, lanes);
    }
    for (unsigned i = 0; single && i < DTI_LOSS_LANES; i++)
        odd |= (unsigned)!(dti_loss_suits_single(s.largest[i]) &&
                           dti_loss_suits_single(s.largest_source[i]))
               << i;
    for (unsigned i = 0; single && i < DTI_LOSS_LANES; i++) {
        const size_t at = group * DTI_LOSS_LANES + i;
        groups->absolute[at] = odd >> i & 1 ? 0 : s.absolute[i];
        groups->squared[at] = odd >> i & 1 ? 0 : s.squared[i];
        groups->source_squared[at] = odd >> i & 1 ? 0 : s.source_squared[i];
    }
    for (unsigned at = 0; odd && at < BLOCKS; at++) {
        for (unsigned i = 0; i < DTI_LOSS_LANES; i++) /* the other lanes were summed in fp32 */
            if (!(odd >> i & 1))
                block[at].x[i] = block[at].error[i] = 0;
        dti_loss_add_block(&block[at], lanes);
    }
}

#endif
