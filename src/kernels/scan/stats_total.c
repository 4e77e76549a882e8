/* SPDX-License-Identifier: MIT
 *
 * Statistics outside the kernels: the thresholds of a histogram's ranges, determined with
 * dti_encode() by bisection over all fp64 magnitudes; initializing, merging, and derived
 * figures. */
#include <math.h>
#include <string.h>

#include "kernels/fp64.h"
#include "kernels/fused.h"
#include "kernels/kernel.h"
#include "kernels/scan/stats.h"
#include "kernels/scan/stats_tile.h"
#include "util/run/once.h"

const enum dti_dtype dti_stats_ranges[DTI_STATS_RANGES] = {DTI_FP16, DTI_BF16, DTI_FP8_E4M3FN,
                                                           DTI_FP8_E5M2};

static bool is_wide(const struct dti_format *format, enum dti_kind kind)
{
    return !dti_format_fits_hub64(format) && format->kind == kind;
}

/* The hub for a dtype that is not complex. */
static enum dti_stats_hub hub_of(const struct dti_format *format)
{
    if (is_wide(format, DTI_KIND_INT))
        return DTI_STATS_I64;
    if (is_wide(format, DTI_KIND_UINT))
        return DTI_STATS_U64;
    return dti_format_fits_hub32(format) ? DTI_STATS_HUB32 : DTI_STATS_HUB64;
}

const struct dti_format *dti_stats_hub_format(enum dti_stats_hub hub)
{
    static const enum dti_dtype formats[] = {
        [DTI_STATS_HUB32] = DTI_FP32,
        [DTI_STATS_HUB64] = DTI_FP64,
        [DTI_STATS_I64] = DTI_INT64,
        [DTI_STATS_U64] = DTI_UINT64,
    };
    return dti_format_get(formats[hub]);
}

/* What a magnitude becomes in a float format. */
enum fate { TO_ZERO, TO_SUBNORMAL, TO_NORMAL, TO_OVERFLOW };

static enum fate fate_of(const struct dti_format *format, uint64_t magnitude)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    dti_fp64_to_value(dti_fp64_from_bits(magnitude), &value);
    dti_encode(format, &value, &nearest, 0, &outcome);
    if (outcome.flags & DTI_FLAG_OVERFLOW)
        return TO_OVERFLOW;
    switch (dti_code_class(format, outcome.code)) {
    case DTI_NUMBER_ZERO:
        return TO_ZERO;
    case DTI_NUMBER_SUBNORMAL:
        return TO_SUBNORMAL;
    case DTI_NUMBER_NORMAL:
    case DTI_NUMBER_INF:
    case DTI_NUMBER_NAN:
        break;
    }
    return TO_NORMAL;
}

/* The smallest magnitude, as bits, whose result is `fate` or a later one; infinity if there is
 * none. */
static uint64_t least_with(const struct dti_format *format, enum fate fate)
{
    uint64_t below = 0, from = UINT64_C(0x7ff) << 52;
    while (from - below > 1) {
        const uint64_t middle = below + (from - below) / 2;
        if (fate_of(format, middle) >= fate)
            from = middle;
        else
            below = middle;
    }
    return from;
}

void dti_stats_rule_init_plain(struct dti_stats_rule *ret, const struct dti_format *format,
                               double shift)
{
    *ret = (struct dti_stats_rule){
        .format = *format,
        .hub = hub_of(format),
        .smallest_normal = dti_fp64_smallest_normal(format),
        .shift = shift,
    };
}

/* The same for all tensors, and they take long: 0.1 ms. */
static struct dti_once made;
static struct {
    double overflow_from, subnormal_below, zero_to;
} thresholds[DTI_STATS_RANGES];

static void make_thresholds(void)
{
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        const struct dti_format *const range = dti_format_get(dti_stats_ranges[i]);
        thresholds[i].overflow_from = dti_fp64_from_bits(least_with(range, TO_OVERFLOW));
        thresholds[i].subnormal_below = dti_fp64_from_bits(least_with(range, TO_NORMAL));
        thresholds[i].zero_to = dti_fp64_from_bits(least_with(range, TO_SUBNORMAL) - 1);
    }
}

void dti_stats_rule_init(struct dti_stats_rule *ret, const struct dti_format *format, double shift)
{
    dti_stats_rule_init_plain(ret, format, shift);
    if (dti_once_begin(&made)) {
        make_thresholds();
        dti_once_end(&made, true);
    }
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        ret->overflow_from[i] = thresholds[i].overflow_from;
        ret->subnormal_below[i] = thresholds[i].subnormal_below;
        ret->zero_to[i] = thresholds[i].zero_to;
    }
}

static inline double number_at(enum dti_stats_hub hub, const unsigned char *numbers, size_t i)
{
    float single;
    double number;
    int64_t with_sign;
    uint64_t word;
    switch (hub) {
    case DTI_STATS_HUB32:
        memcpy(&single, numbers + i * sizeof single, sizeof single);
        return single;
    case DTI_STATS_HUB64:
        memcpy(&number, numbers + i * sizeof number, sizeof number);
        return number;
    case DTI_STATS_I64:
        memcpy(&with_sign, numbers + i * sizeof with_sign, sizeof with_sign);
        return (double)with_sign;
    case DTI_STATS_U64:
        memcpy(&word, numbers + i * sizeof word, sizeof word);
        return (double)word;
    }
    return 0;
}

/* Without a shift the squares are at most about 32 N / 2048 times the variance of the N
 * elements, which includes the variance within these 2048; with their mean as shift, at most N /
 * 2048 times. */
/* Inlined for each hub as a constant. */
static inline double choose_shift(enum dti_stats_hub hub, const void *numbers, size_t n)
{
    double sum = 0, scatter = 0;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(hub, numbers, i);
        if (!isfinite(x))
            continue;
        finite++;
        sum = dti_fp64_add(sum, x);
    }
    double mean = finite > 0 ? dti_fp64_divide(fabs(sum), (double)finite) : 0;
    if (!isfinite(mean))
        return 0;
    if (hub == DTI_STATS_HUB32)
        mean = (double)(float)mean;
    const double shift = sum < 0 ? -mean : mean;
    const double most = dti_fp64_multiply(dti_fp64_multiply(mean, mean), (double)finite);
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(hub, numbers, i);
        if (!isfinite(x))
            continue;
        const double d = dti_fp64_add(x, -shift);
        scatter = dti_fp64_add(scatter, dti_fp64_multiply(d, d));
        if (16 * scatter >= most) /* it only grows: mostly known after a few numbers */
            return 0;
    }
    return most > 16 * scatter ? shift : 0;
}

double dti_stats_choose_shift(const struct dti_stats_rule *rule, const void *numbers, size_t n)
{
    return rule->hub == DTI_STATS_HUB32 ? choose_shift(DTI_STATS_HUB32, numbers, n)
                                        : choose_shift(rule->hub, numbers, n);
}

void dti_stats_init(struct dti_stats *ret, const struct dti_stats_rule *rule)
{
    memset(ret, 0, sizeof *ret);
    ret->hub = rule->hub;
    ret->first_nan = ret->first_inf = UINT64_MAX;
    ret->shift = rule->shift;
    dti_exact_sum_init(&ret->sum);
    dti_exact_sum_init(&ret->sum_squared);
}

static void merge_extreme(const struct dti_stats *part, bool smaller, struct dti_stats *stats)
{
    uint64_t *const have = smaller ? &stats->min : &stats->max;
    uint64_t *const have_index = smaller ? &stats->min_index : &stats->max_index;
    const uint64_t code = smaller ? part->min : part->max;
    const uint64_t index = smaller ? part->min_index : part->max_index;
    const uint64_t key = dti_stats_key(stats->hub, code), bar = dti_stats_key(stats->hub, *have);
    if (stats->finite > 0 && (smaller ? key > bar : key < bar))
        return;
    if (stats->finite > 0 && key == bar && index > *have_index)
        return;
    *have = code;
    *have_index = index;
}

void dti_stats_merge(struct dti_stats *stats, const struct dti_stats *part)
{
    if (part->finite > 0) {
        merge_extreme(part, true, stats);
        merge_extreme(part, false, stats);
        dti_stats_see_absmax(stats);
    }
    stats->elements += part->elements;
    stats->nan += part->nan;
    stats->inf += part->inf;
    stats->negative_inf += part->negative_inf;
    stats->zeros += part->zeros;
    stats->negative += part->negative;
    stats->subnormals += part->subnormals;
    stats->finite += part->finite;
    if (part->first_nan < stats->first_nan)
        stats->first_nan = part->first_nan;
    if (part->first_inf < stats->first_inf)
        stats->first_inf = part->first_inf;
    dti_exact_sum_merge(&stats->sum, &part->sum);
    dti_exact_sum_merge(&stats->sum_squared, &part->sum_squared);
}

void dti_histogram_init(struct dti_histogram *ret)
{
    memset(ret, 0, sizeof *ret);
}

void dti_histogram_merge(struct dti_histogram *histogram, const struct dti_histogram *part)
{
    for (unsigned i = 0; i < DTI_BINADES; i++)
        histogram->binade[i] += part->binade[i];
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        histogram->overflow[i] += part->overflow[i];
        histogram->to_zero[i] += part->to_zero[i];
        histogram->to_subnormal[i] += part->to_subnormal[i];
    }
}

/* Adds shift x finite as two exact doubles for each half of the count. */
static void add_multiple(struct dti_exact_sum *sum, double number, uint64_t count)
{
    const double halves[2] = {(double)(count >> 32) * 0x1p32, (double)(count & UINT32_MAX)};
    for (unsigned i = 0; i < 2; i++) {
        const double product = dti_fp64_multiply(number, halves[i]);
        dti_exact_sum_add(sum, product);
        dti_exact_sum_add(sum, dti_fma(number, halves[i], -product));
    }
}

/* The quotient of a sum of either sign and a count. */
static double mean_of(double sum, uint64_t count)
{
    const double size = dti_fp64_divide(fabs(sum), (double)count);
    return sum < 0 ? -size : size;
}

double dti_stats_mean(const struct dti_stats *stats)
{
    if (stats->finite == 0)
        return NAN;
    struct dti_exact_sum sum = stats->sum;
    add_multiple(&sum, stats->shift, stats->finite);
    const double value = dti_exact_sum_value(&sum);
    return isfinite(value) ? mean_of(value, stats->finite) : NAN;
}

double dti_stats_deviation(const struct dti_stats *stats)
{
    if (stats->finite == 0)
        return NAN;
    if (dti_stats_key(stats->hub, stats->min) == dti_stats_key(stats->hub, stats->max))
        return 0;
    const double sum = dti_exact_sum_value(&stats->sum);
    const double squared = dti_exact_sum_value(&stats->sum_squared);
    /* below 2^-960 some squares may have lost bits or vanished */
    if (!isfinite(sum) || !isfinite(squared) || squared < 0x1p-960)
        return NAN;
    const double mean = mean_of(sum, stats->finite);
    const double mean_square = mean_of(squared, stats->finite);
    const double variance = dti_fma(-mean, mean, mean_square);
    return variance > 0 ? sqrt(variance) : 0;
}

bool dti_stats_extremes(const struct dti_stats *stats, const struct dti_stats_rule *rule,
                        struct dti_value *ret_min, struct dti_value *ret_max,
                        struct dti_value *ret_absmax)
{
    const struct dti_format *const format = dti_stats_hub_format(rule->hub);
    if (stats->finite == 0)
        return false;
    dti_decode(format, stats->min, ret_min);
    dti_decode(format, stats->max, ret_max);
    dti_decode(rule->hub == DTI_STATS_I64 ? dti_format_get(DTI_UINT64) : format, stats->absmax,
               ret_absmax);
    return true;
}

/* Whether a number is in a binade below the last but one of a signed float: most numbers are,
 * and no rounding takes them to the end of its range. */
static bool is_far_below(const struct dti_value *value, const struct dti_format *dst)
{
    return dti_format_is_float(dst) && dti_format_is_signed(dst) && dst->exp_bits >= 2 &&
           !dti_format_is_tapered(dst) &&
           (value->kind == DTI_CLASS_ZERO ||
            value->exponent < (INT32_C(1) << dst->exp_bits) - 3 - dst->bias);
}

bool dti_stats_fit_between(const struct dti_stats *stats, const struct dti_value *min,
                           const struct dti_value *max, const struct dti_format *dst)
{
    const bool to_float = dti_format_is_float(dst);
    const struct dti_policy policy = {.round = to_float ? DTI_ROUND_NEAREST_EVEN : DTI_ROUND_ZERO};
    const struct dti_value *const extremes[] = {min, max};
    if ((stats->nan > 0 && !dti_format_has_nan(dst)) ||
        (stats->inf > 0 && !dti_format_has_inf(dst)) ||
        (stats->negative_inf > 0 && !dti_format_is_signed(dst)))
        return false;
    for (unsigned i = 0; i < 2 && stats->finite > 0; i++) {
        struct dti_outcome outcome;
        if (is_far_below(extremes[i], dst))
            continue;
        dti_encode(dst, extremes[i], &policy, 0, &outcome);
        if (outcome.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID))
            return false;
    }
    return true;
}

bool dti_stats_fit(const struct dti_stats *stats, const struct dti_stats_rule *rule,
                   const struct dti_format *dst)
{
    struct dti_value min, max, absmax;
    (void)dti_stats_extremes(stats, rule, &min, &max, &absmax);
    return dti_stats_fit_between(stats, &min, &max, dst);
}
