/* SPDX-License-Identifier: MIT
 *
 * The loss by portable code: fp32 and fp64 in blocks of one element a lane, most of whose loops
 * compilers vectorize; codes of any format by the definition. */
#include "kernels/lanes.h"
#include "kernels/loss_kernels.h"
#include "kernels/loss_tile.h"

#include <math.h>

enum { LANES = DTI_LOSS_LANES };

struct lane_numbers {
    double x[LANES], y[LANES], error[LANES];
};

/* From which magnitudes on a source may overflow, whatever its sign. */
static double overflow_limit(const struct dti_loss_rule *rule)
{
    return rule->overflow_from[0] < rule->overflow_from[1] ? rule->overflow_from[0]
                                                           : rule->overflow_from[1];
}

/* Counts an element that may be more than inexact; false when it has no error. */
static bool count_element(const struct dti_loss_rule *rule, double x, double y, uint64_t index,
                          struct dti_loss *loss)
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
    if (dti_loss_count_specials(rule, &masks, index, loss) & 1)
        return false;
    const double smallest_source = rule->src_smallest_normal;
    loss->to_zero += fabs(x) > 0 && !(fabs(y) > 0);
    loss->to_subnormal += fabs(y) > 0 && fabs(y) < rule->dst_smallest_normal && fabs(x) > 0 &&
                          fabs(x) >= smallest_source;
    return true;
}

/* Whether any element may be more than inexact. */
static bool is_odd(const struct lane_numbers *b, const struct dti_loss_rule *rule)
{
    const double limit = overflow_limit(rule);
    const double smallest = rule->dst_smallest_normal > 0 ? rule->dst_smallest_normal : DBL_MIN;
    unsigned odd = 0;
    for (unsigned i = 0; i < LANES; i++)
        odd |= (unsigned)!(fabs(b->x[i]) < limit) | (unsigned)!(fabs(b->y[i]) <= DBL_MAX) |
               (unsigned)!(fabs(b->y[i]) >= smallest);
    return odd != 0;
}

/* Squares of what fp32 holds are exact: adding them rounds once, as fma() does, which is a slow
 * call where the machine has no such instruction. */
#ifdef FP_FAST_FMA
enum { FAST_FMA = 1 };
#else
enum { FAST_FMA = 0 };
#endif

static bool are_short(const double number[LANES])
{
    unsigned longer = 0;
    for (unsigned i = 0; i < LANES; i++)
        longer |= (unsigned)((double)(float)number[i] < number[i]) |
                  (unsigned)((double)(float)number[i] > number[i]);
    return longer == 0;
}

static void add_squares(double sum[LANES], const double number[LANES])
{
    if (FAST_FMA || !are_short(number)) {
        for (unsigned i = 0; i < LANES; i++)
            sum[i] = fma(number[i], number[i], sum[i]);
    } else {
        for (unsigned i = 0; i < LANES; i++)
            sum[i] = dti_fp64_add(sum[i], number[i] * number[i]);
    }
}

/* The largest errors. e > m |x| in real numbers means e >= RN(m |x|), so that no ratio above the
 * largest so far escapes the multiplication. */
static void look_for_peaks(const struct lane_numbers *b, uint64_t index, struct dti_loss_peak *peak,
                           struct dti_loss *loss)
{
    unsigned above = 0;
    for (unsigned i = 0; i < LANES; i++)
        above |= (unsigned)(b->error[i] > peak->largest) |
                 ((unsigned)(b->error[i] >= loss->max_relative * fabs(b->x[i])) &
                  (unsigned)(b->error[i] > 0));
    for (unsigned i = 0; above && i < LANES; i++) {
        if (b->error[i] > peak->largest)
            dti_loss_peak_rise(peak, b->error[i], index + i);
        if (fabs(b->x[i]) > 0) {
            const double relative = dti_fp64_divide(b->error[i], fabs(b->x[i]));
            if (relative > loss->max_relative)
                loss->max_relative = relative;
        }
    }
}

static void add_block(const struct dti_loss_rule *rule, struct lane_numbers *b, size_t n,
                      uint64_t index, struct dti_loss *loss, struct dti_loss_lanes *lanes,
                      struct dti_loss_peak *peak)
{
    loss->compared += n;
    if (is_odd(b, rule)) {
        for (unsigned i = 0; i < n; i++)
            if (!count_element(rule, b->x[i], b->y[i], index + i, loss)) {
                b->x[i] = b->y[i] = 0;
                loss->compared--;
            }
    }
    unsigned inexact = 0;
    for (unsigned i = 0; i < LANES; i++) {
        b->error[i] = fabs(dti_fp64_add(b->y[i], -b->x[i]));
        inexact += (unsigned)(b->y[i] < b->x[i]) | (unsigned)(b->y[i] > b->x[i]);
    }
    loss->inexact += inexact;
    for (unsigned i = 0; i < LANES; i++)
        lanes->absolute[i] = dti_fp64_add(lanes->absolute[i], b->error[i]);
    add_squares(lanes->squared, b->error);
    add_squares(lanes->source_squared, b->x);
    look_for_peaks(b, index, peak, loss);
}

/* Elements from `at` on, of which there are `count`; zeros after them. */
DTI_LANE void load_lanes(double ret[LANES], const unsigned char *from, size_t at, size_t count,
                         bool single)
{
    float narrow[LANES] = {0};
    if (!single) {
        memcpy(ret, from + at * sizeof *ret, count * sizeof *ret);
        return;
    }
    memcpy(narrow, from + at * sizeof *narrow, count * sizeof *narrow);
    for (unsigned i = 0; i < LANES; i++)
        ret[i] = narrow[i];
}

DTI_LANE void add_arrays(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, bool single, struct dti_loss *loss)
{
    struct dti_loss_lanes lanes = {{0}, {0}, {0}};
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    loss->elements += n;
    for (size_t at = 0; at < n; at += LANES) {
        const size_t count = n - at < LANES ? n - at : LANES;
        struct lane_numbers block = {{0}, {0}, {0}};
        load_lanes(block.x, source, at, count, single);
        load_lanes(block.y, stored, at, count, single);
        add_block(rule, &block, count, index + at, loss, &lanes, &peak);
    }
    dti_loss_peak_end(&peak, loss);
    dti_loss_add_lanes(loss, &lanes);
}

void dti_loss_f32_scalar(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss)
{
    add_arrays(rule, source, stored, n, index, true, loss);
}

void dti_loss_f64_scalar(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss)
{
    add_arrays(rule, source, stored, n, index, false, loss);
}

void dti_loss_wide_scalar(const struct dti_loss_rule *rule, const void *source, const void *stored,
                          size_t n, uint64_t index, struct dti_loss *loss)
{
    struct dti_value value[DTI_TILE];
    uint64_t code[DTI_TILE];
    memcpy(code, source, n * sizeof code[0]);
    for (size_t i = 0; i < n; i++)
        dti_decode(&rule->src, code[i], &value[i]);
    memcpy(code, stored, n * sizeof code[0]);
    dti_loss_add_values(rule, value, code, n, index, loss);
}
