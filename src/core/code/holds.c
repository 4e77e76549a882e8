/* SPDX-License-Identifier: MIT
 *
 * Whether a format has all numbers of another one. Within a binade a format has multiples of one
 * power of two, up to the next binade or to its largest number. So it has all of another format's
 * numbers there if it has the first two, and the largest of all. */
#include "core/value.h"

static bool has_value(const struct dti_format *format, const struct dti_value *value)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    struct dti_value stored;
    dti_encode(format, value, &nearest, 0, &outcome);
    dti_decode(format, outcome.code, &stored);
    return outcome.flags == 0 && stored.kind == value->kind && stored.negative == value->negative &&
           stored.exponent == value->exponent && stored.hi == value->hi && stored.lo == value->lo;
}

static bool has_code(const struct dti_format *dst, const struct dti_format *src, uint64_t code)
{
    struct dti_value value;
    dti_decode(src, code, &value);
    return has_value(dst, &value);
}

/* The first number of src from 2^exponent on, and the next one, if they are in that binade. */
static bool has_binade(const struct dti_format *dst, const struct dti_format *src, int32_t exponent)
{
    const struct dti_policy up = {.round = DTI_ROUND_UP, .overflow = DTI_OVERFLOW_SATURATE};
    struct dti_outcome outcome;
    struct dti_value value;
    uint64_t code;
    dti_value_set(&value, false, 1, exponent);
    dti_encode(src, &value, &up, 0, &outcome);
    code = outcome.code;
    for (int i = 0; i < 2; i++) {
        dti_decode(src, code, &value);
        if (value.kind != DTI_CLASS_FINITE || value.exponent != exponent)
            return true;
        if (!has_value(dst, &value))
            return false;
        if (!dti_code_next(src, code, true, &code))
            return true;
    }
    return true;
}

/* The smallest positive number. */
static bool smallest(const struct dti_format *format, struct dti_value *ret)
{
    uint64_t code = 0;
    struct dti_value zero;
    dti_decode(format, 0, &zero);
    if (zero.kind == DTI_CLASS_ZERO && !dti_code_next(format, 0, true, &code))
        return false;
    dti_decode(format, code, ret);
    return ret->kind == DTI_CLASS_FINITE;
}

/* Whether the steps of a format grow by one binade with each binade from the smallest normal on,
 * so that a format that has the numbers of that binade has all that it reaches. */
static bool grows(const struct dti_format *format)
{
    return dti_format_is_float(format) && !dti_format_is_tapered(format);
}

static bool has_finite(const struct dti_format *dst, const struct dti_format *src)
{
    struct dti_value least, most;
    uint64_t max = 0, lowest = 0;
    if (!dti_code_max(src, &max) || !dti_code_lowest(src, &lowest) || !has_code(dst, src, lowest))
        return false;
    if (!smallest(src, &least)) /* 0 and -1 */
        return has_code(dst, src, 0);
    if (!has_code(dst, src, max) || !has_value(dst, &least))
        return false;
    dti_decode(src, 0, &most);
    if (most.kind == DTI_CLASS_ZERO && !has_value(dst, &most))
        return false;
    dti_decode(src, max, &most);
    int32_t last = most.exponent, normal = dti_format_min_exponent(src);
    if (normal < least.exponent)
        normal = least.exponent;
    if (grows(src) && !dti_format_is_tapered(dst) && last > normal)
        last = normal;
    for (int32_t exponent = least.exponent; exponent <= last; exponent++) {
        if (!has_binade(dst, src, exponent))
            return false;
    }
    return true;
}

bool dti_format_holds(const struct dti_format *dst, const struct dti_format *src)
{
    if (src->kind == DTI_KIND_COMPLEX && dst->kind != DTI_KIND_COMPLEX)
        return false;
    dst = dti_real_format(dst);
    src = dti_real_format(src);
    if ((dti_format_has_inf(src) && !dti_format_has_inf(dst)) ||
        (dti_format_has_nan(src) && !dti_format_has_nan(dst)) ||
        (dti_format_has_minus_zero(src) && !dti_format_has_minus_zero(dst)))
        return false;
    return has_finite(dst, src);
}
