/* SPDX-License-Identifier: MIT
 *
 * The limits of a format, derived from its row through the landmarks of codes.c. Where ties
 * matter, dti_encode() itself computes the limits, so that they agree with the casts. */
#include "core/dtype/limits.h"

#include <stdio.h>
#include <string.h>

static const struct dti_policy nearest_even = {
    .round = DTI_ROUND_NEAREST_EVEN, .overflow = DTI_OVERFLOW_NATIVE, .nan = DTI_NAN_QUIET};

static void set_code(struct dti_limit *limit, const struct dti_format *format, bool present,
                     uint64_t code)
{
    memset(limit, 0, sizeof *limit);
    if (!present)
        return;
    limit->present = true;
    limit->has_code = true;
    limit->code = code;
    dti_decode(format, code, &limit->value);
}

/* significand x 2^exponent, which need not be a number of the format. */
static void set_value(struct dti_limit *limit, const struct dti_format *format,
                      uint64_t significand, int32_t exponent)
{
    struct dti_outcome outcome;
    memset(limit, 0, sizeof *limit);
    limit->present = true;
    dti_value_set(&limit->value, false, significand, exponent);
    dti_encode(format, &limit->value, &nearest_even, 0, &outcome);
    limit->has_code = outcome.flags == 0;
    limit->code = limit->has_code ? outcome.code : 0;
}

static bool next_is_finite(const struct dti_format *format, uint64_t code, bool up)
{
    struct dti_value value;
    uint64_t next = 0;
    if (!dti_code_next(format, code, up, &next))
        return false;
    dti_decode(format, next, &value);
    return value.kind == DTI_CLASS_FINITE || value.kind == DTI_CLASS_ZERO;
}

/* The spacing above and below 1. Below 1 it is half of that above, unless 1 is the smallest
 * normal or subnormal. */
static void set_epsilons(struct dti_limits *limits, const struct dti_format *format)
{
    struct dti_limit one;
    set_value(&one, format, 1, 0);
    if (!one.has_code)
        return;
    int32_t step = dti_format_step_exponent(format, &one.value);
    if (next_is_finite(format, one.code, true)) {
        set_value(&limits->eps, format, 1, step);
        limits->machep = step;
    }
    if (next_is_finite(format, one.code, false)) {
        const struct dti_value half = {
            .kind = DTI_CLASS_FINITE, .exponent = -1, .hi = UINT64_C(1) << 63};
        limits->negep = dti_format_step_exponent(format, &half);
        set_value(&limits->epsneg, format, 1, limits->negep);
    }
}

static void set_borders(struct dti_limits *limits, const struct dti_format *format)
{
    struct dti_outcome outcome;
    struct dti_value stored;
    const struct dti_value *max = &limits->max.value;
    int32_t step = dti_format_step_exponent(format, max);
    set_value(&limits->step_at_max, format, 1, step);
    if (format->specials == DTI_SPECIALS_POSIT) /* nothing overflows, nothing becomes zero */
        return;

    /* The midpoint of max and the number that would come after it. */
    uint64_t steps = max->hi >> (63 - (max->exponent - step));
    set_value(&limits->overflow_from, format, 2 * steps + 1, step - 1);
    dti_encode(format, &limits->overflow_from.value, &nearest_even, 0, &outcome);
    limits->overflow_inclusive = (outcome.flags & DTI_FLAG_OVERFLOW) != 0;

    dti_decode(format, 0, &stored);
    if (stored.kind != DTI_CLASS_ZERO)
        return;
    const struct dti_limit *smallest =
        limits->smallest_subnormal.present ? &limits->smallest_subnormal : &limits->smallest_normal;
    set_value(&limits->to_zero_up_to, format, 1, smallest->value.exponent - 1);
    dti_encode(format, &limits->to_zero_up_to.value, &nearest_even, 0, &outcome);
    dti_decode(format, outcome.code, &stored);
    limits->to_zero_inclusive = stored.kind == DTI_CLASS_ZERO;
}

/* If the smallest spacing is at most 1, all integers are exact up to 2^precision or up to max. */
static uint64_t integers_up_to(const struct dti_limits *limits, const struct dti_format *format)
{
    const struct dti_value *max = &limits->max.value;
    if (dti_format_min_exponent(format) - format->man_bits > 0 || max->exponent < 0)
        return 0;
    if (dti_format_is_tapered(format)) { /* to the end of the last binade with steps of at most 1 */
        struct dti_value power;
        int32_t exponent = 0;
        do
            dti_value_set(&power, false, 1, exponent++);
        while (dti_format_step_exponent(format, &power) <= 0);
        return UINT64_C(1) << (exponent - 1);
    }
    if (max->exponent >= (int32_t)limits->precision)
        return UINT64_C(1) << limits->precision;
    return max->hi >> (63 - max->exponent);
}

static void count_codes(struct dti_limits *limits, const struct dti_format *format)
{
    uint64_t signs = dti_format_is_signed(format) ? 2 : 1;
    limits->inf_codes = limits->has_inf ? signs : 0;
    switch (format->specials) {
    case DTI_SPECIALS_IEEE:
        limits->nan_codes = signs * dti_low_bits(format->man_bits);
        break;
    case DTI_SPECIALS_FN:
        limits->nan_codes = signs;
        break;
    case DTI_SPECIALS_FNUZ:
    case DTI_SPECIALS_SCALE:
    case DTI_SPECIALS_P3109E:
    case DTI_SPECIALS_P3109F:
    case DTI_SPECIALS_TAPER:
    case DTI_SPECIALS_POSIT:
        limits->nan_codes = 1;
        break;
    case DTI_SPECIALS_NONE:
    case DTI_SPECIALS_FINITE:
        break;
    }
    /* All codes except NaN and infinities; 64-bit formats have NaNs, so the count fits although
     * 2^64 does not. */
    limits->finite_codes = dti_low_bits(format->width) - limits->nan_codes - limits->inf_codes + 1;
}

void dti_limits_compute(struct dti_limits *ret_limits, const struct dti_format *format)
{
    struct dti_limits limits;
    uint64_t code = 0;
    memset(&limits, 0, sizeof limits);

    bool present = dti_code_max(format, &code);
    set_code(&limits.max, format, present, code);
    present = dti_code_lowest(format, &code);
    set_code(&limits.lowest, format, present, code);
    present = dti_code_smallest_normal(format, &code);
    set_code(&limits.smallest_normal, format, present, code);
    present = dti_code_smallest_subnormal(format, &code);
    set_code(&limits.smallest_subnormal, format, present, code);

    limits.minexp = dti_format_min_exponent(format);
    limits.maxexp = limits.max.value.exponent + 1;
    limits.precision = format->man_bits + 1U;
    limits.digits10 = (limits.precision - 1) * 30103 / 100000; /* log10(2) = 0.30103 */
    if (dti_format_is_tapered(format)) /* of which one bit remains at the ends of the range */
        limits.digits10 = 0;
    limits.max_digits10 = 1 + (limits.precision * 30103 + 99999) / 100000;

    limits.has_nan = dti_format_has_nan(format);
    limits.has_inf = dti_format_has_inf(format);
    limits.has_minus_zero = dti_format_has_minus_zero(format);
    limits.has_subnormals = limits.smallest_subnormal.present;
    limits.has_nan_code = dti_code_nan(format, &limits.nan_code);
    count_codes(&limits, format);

    set_epsilons(&limits, format);
    set_borders(&limits, format);
    limits.integers_up_to = integers_up_to(&limits, format);
    *ret_limits = limits;
}

void dti_integer_limits(const struct dti_format *format, struct dti_limit *ret_min,
                        struct dti_limit *ret_max)
{
    uint64_t code = 0;
    bool present = dti_code_lowest(format, &code);
    set_code(ret_min, format, present, code);
    present = dti_code_max(format, &code);
    set_code(ret_max, format, present, code);
}

void dti_resolution_exact(char buffer[DTI_RESOLUTION_SIZE], unsigned digits10)
{
    if (digits10 == 0)
        (void)snprintf(buffer, DTI_RESOLUTION_SIZE, "1");
    else
        (void)snprintf(buffer, DTI_RESOLUTION_SIZE, "0.%0*d", (int)digits10, 1);
}

void dti_resolution_text(char buffer[DTI_RESOLUTION_SIZE], unsigned digits10)
{
    if (digits10 < 5)
        dti_resolution_exact(buffer, digits10);
    else
        (void)snprintf(buffer, DTI_RESOLUTION_SIZE, "1e-%02u", digits10);
}
