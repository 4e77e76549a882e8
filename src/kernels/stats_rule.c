/* SPDX-License-Identifier: MIT
 *
 * How an array is counted. dti_encode() gives the thresholds of a histogram's ranges, by bisection
 * over all magnitudes of fp64. */
#include "dtinfo/stats.h"

#include <math.h>

#include "dtinfo/kernel.h"
#include "kernels/fp64.h"

const enum dti_dtype dti_stats_ranges[DTI_STATS_RANGES] = {DTI_FP16, DTI_BF16, DTI_FP8_E4M3FN,
                                                           DTI_FP8_E5M2};

static bool is_wide(const struct dti_format *format, enum dti_kind kind)
{
    return !dti_format_fits_hub64(format) && format->kind == kind;
}

/* Which one a dtype (not complex) goes through. */
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

/* What becomes of a magnitude in a float format. */
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

/* The smallest magnitude, as bits, that fares as well as `fate` or better; infinity when none does.
 */
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

void dti_stats_rule_init(struct dti_stats_rule *ret, const struct dti_format *format, double shift)
{
    *ret = (struct dti_stats_rule){
        .format = *format,
        .hub = hub_of(format),
        .smallest_normal = dti_fp64_smallest_normal(format),
        .shift = shift,
    };
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        const struct dti_format *const range = dti_format_get(dti_stats_ranges[i]);
        ret->overflow_from[i] = dti_fp64_from_bits(least_with(range, TO_OVERFLOW));
        ret->subnormal_below[i] = dti_fp64_from_bits(least_with(range, TO_NORMAL));
        ret->zero_to[i] = dti_fp64_from_bits(least_with(range, TO_SUBNORMAL) - 1);
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

/* With 0 the squares are at most some 32 N / 2048 times the N elements' variance, as the variance
 * within these 2048 is part of it; with their mean at most N / 2048 times. */
/* For a hub that the compiler knows. */
static inline double choose_shift(enum dti_stats_hub hub, const void *numbers, size_t n)
{
    double sum = 0, scatter = 0;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(hub, numbers, i);
        finite += isfinite(x) != 0;
        sum = isfinite(x) ? dti_fp64_add(sum, x) : sum;
    }
    double mean = finite > 0 ? dti_fp64_divide(fabs(sum), (double)finite) : 0;
    if (!isfinite(mean))
        return 0;
    if (hub == DTI_STATS_HUB32)
        mean = (double)(float)mean;
    const double shift = sum < 0 ? -mean : mean;
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(hub, numbers, i);
        const double d = isfinite(x) ? dti_fp64_add(x, -shift) : 0;
        scatter = dti_fp64_add(scatter, dti_fp64_multiply(d, d));
    }
    const double square = dti_fp64_multiply(mean, mean);
    return dti_fp64_multiply(square, (double)finite) > 16 * scatter ? shift : 0;
}

double dti_stats_choose_shift(const struct dti_stats_rule *rule, const void *numbers, size_t n)
{
    return rule->hub == DTI_STATS_HUB32 ? choose_shift(DTI_STATS_HUB32, numbers, n)
                                        : choose_shift(rule->hub, numbers, n);
}
