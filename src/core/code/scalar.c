/* SPDX-License-Identifier: MIT
 *
 * Casts one number: the stages of a route, and the context of the result. */
#include "core/code/scalar.h"

#include <string.h>

bool dti_policy_exists(const struct dti_policy *policy)
{
    return (unsigned)policy->round <= DTI_ROUND_STOCHASTIC &&
           (unsigned)policy->overflow <= DTI_OVERFLOW_WRAP &&
           (unsigned)policy->nan <= DTI_NAN_CANONICAL;
}

enum dti_round dti_cast_round(const struct dti_cast *cast, const struct dti_format *dst)
{
    return dti_format_is_float(dst) || cast->round_given ? cast->policy.round : DTI_ROUND_ZERO;
}

/* If the 128 leading bits of a number do not reach the low 64 bits of its integer part and the 32
 * bits after the point that stochastic rounding needs, replaces the value by those bits and the
 * fraction: not normalised, but wrapping gives the same result. Returns false if that is not
 * needed. */
static bool wrap(const struct dti_number *number, struct dti_value *value)
{
    uint64_t bits;
    struct dti_value fraction;
    if (!number || value->kind != DTI_CLASS_FINITE || value->exponent < 96 ||
        !dti_number_low_bits(number, &bits, &fraction))
        return false;
    value->exponent = 63;
    value->hi = bits;
    value->lo = 0;
    value->sticky = fraction.kind == DTI_CLASS_FINITE;
    if (value->sticky && fraction.exponent > -65) {
        unsigned lead = (unsigned)(-1 - fraction.exponent);
        value->lo = fraction.hi >> lead;
        value->sticky = value->lo << lead != fraction.hi || fraction.lo != 0 || fraction.sticky;
    }
    return true;
}

const struct dti_format *dti_cast_stage(const struct dti_cast *cast, size_t stage)
{
    return stage < cast->via_count ? &cast->via[stage] : &cast->dst;
}

void dti_scalar_compare(struct dti_scalar *scalar)
{
    const struct dti_value *input = &scalar->input, *stored = &scalar->stored;
    bool nan = input->kind == DTI_CLASS_NAN || stored->kind == DTI_CLASS_NAN;
    bool same = nan ? input->kind == stored->kind : dti_value_compare(input, stored) == 0;
    scalar->flags &= ~(unsigned)DTI_FLAG_INEXACT;
    scalar->flags |= same ? 0 : DTI_FLAG_INEXACT;
}

void dti_scalar_store(const struct dti_cast *cast, const struct dti_value *input,
                      const struct dti_number *number, uint64_t index, struct dti_scalar *ret)
{
    struct dti_outcome outcome;
    ret->stage = ret->no_nan_stage = cast->via_count;
    if (cast->via_count == 0 &&
        dti_encode_ordinary(&cast->dst, input, &cast->policy, &outcome, &ret->stored)) {
        ret->input = *input;
        ret->code = outcome.code;
        ret->flags = outcome.flags;
        return;
    }
    struct dti_value value = *input;
    unsigned flags = 0;
    bool wraps = false;
    for (size_t stage = 0; stage <= cast->via_count; stage++) {
        const struct dti_format *to = dti_cast_stage(cast, stage);
        struct dti_policy policy = cast->policy;
        policy.round = dti_cast_round(cast, to);
        policy.stream += stage < cast->via_count ? 2 * ((uint32_t)stage + 1) : 0;
        if (policy.overflow == DTI_OVERFLOW_WRAP && stage == 0 && dti_format_is_integer(to) &&
            to->kind != DTI_KIND_BOOL)
            wraps = wrap(number, &value);
        dti_encode(to, &value, &policy, index, &outcome);
        if (wraps && stage == 0)
            outcome.flags |= DTI_FLAG_OVERFLOW;
        if ((outcome.flags & DTI_FLAGS_LOST) && !(flags & DTI_FLAGS_LOST))
            ret->stage = stage;
        if ((outcome.flags & DTI_FLAG_NO_NAN) && !(flags & DTI_FLAG_NO_NAN))
            ret->no_nan_stage = stage;
        flags |= outcome.flags;
        dti_decode(to, outcome.code, stage < cast->via_count ? &value : &ret->stored);
    }
    ret->input = *input;
    ret->code = outcome.code;
    ret->flags = flags;
    dti_scalar_compare(ret);
}

static bool neighbour(const struct dti_format *dst, const struct dti_value *input, bool up,
                      uint64_t *ret_code)
{
    const struct dti_policy policy = {.round = up ? DTI_ROUND_UP : DTI_ROUND_DOWN,
                                      .overflow = DTI_OVERFLOW_SATURATE};
    struct dti_outcome outcome;
    struct dti_value value;
    dti_encode(dst, input, &policy, 0, &outcome);
    dti_decode(dst, outcome.code, &value);
    int order = dti_value_compare(&value, input);
    if (up ? order >= 0 : order <= 0) {
        *ret_code = outcome.code;
        return true;
    }
    /* a posit rounds nothing to zero, which is still the neighbour of what is smaller than all */
    return dti_code_inf(dst, !up, ret_code) || dti_code_next(dst, outcome.code, up, ret_code);
}

/* Fast path: takes the stored number as one neighbour if the input lies between it and its
 * adjacent code. Not for zeros, whose sign this function does not handle. */
static bool bracket_between_neighbours(const struct dti_format *dst, bool above,
                                       struct dti_scalar *ret)
{
    struct dti_value other;
    uint64_t code;
    if (ret->stored.kind != DTI_CLASS_FINITE || !dti_code_next(dst, ret->code, !above, &code))
        return false;
    dti_decode(dst, code, &other);
    const int order = dti_value_compare(&other, &ret->input);
    if (other.kind != DTI_CLASS_FINITE || (above ? order >= 0 : order <= 0))
        return false;
    ret->has_below = ret->has_above = true;
    ret->below = above ? code : ret->code;
    ret->above = above ? ret->code : code;
    return true;
}

void dti_scalar_bracket(const struct dti_format *dst, struct dti_scalar *ret)
{
    ret->has_below = ret->has_above = false;
    ret->has_step = ret->stored.kind == DTI_CLASS_ZERO || ret->stored.kind == DTI_CLASS_FINITE;
    ret->step_exponent = ret->has_step ? dti_format_step_exponent(dst, &ret->stored) : 0;
    if (ret->input.kind == DTI_CLASS_NAN || dst->kind == DTI_KIND_BOOL)
        return;
    const bool comparable = ret->stored.kind != DTI_CLASS_NAN;
    const int order = comparable ? dti_value_compare(&ret->stored, &ret->input) : 0;
    if (comparable && order == 0) {
        ret->has_below = dti_code_next(dst, ret->code, false, &ret->below);
        ret->has_above = dti_code_next(dst, ret->code, true, &ret->above);
    } else if (!comparable || !bracket_between_neighbours(dst, order > 0, ret)) {
        ret->has_below = neighbour(dst, &ret->input, false, &ret->below);
        ret->has_above = neighbour(dst, &ret->input, true, &ret->above);
    }
}

void dti_scalar_cast(const struct dti_cast *cast, const struct dti_value *input,
                     const struct dti_number *number, uint64_t index, struct dti_scalar *ret)
{
    dti_scalar_store(cast, input, number, index, ret);
    dti_scalar_bracket(&cast->dst, ret);
}

struct dti_value dti_scalar_ulps(const struct dti_scalar *scalar, const struct dti_value *error)
{
    struct dti_value ulps = *error;
    ulps.exponent -= error->kind == DTI_CLASS_FINITE ? scalar->step_exponent : 0;
    return ulps;
}

int dti_scalar_direction(const struct dti_scalar *scalar)
{
    if (scalar->input.kind == DTI_CLASS_NAN || scalar->stored.kind == DTI_CLASS_NAN)
        return 0;
    return dti_value_compare(&scalar->stored, &scalar->input);
}

size_t dti_spell_stored(char buffer[DTI_TEXT_SIZE], const struct dti_format *format, uint64_t code,
                        const struct dti_value *value)
{
    return dti_format_is_integer(format) ? dti_spell_shortest(buffer, format, code)
                                         : dti_spell_text(buffer, value);
}

enum dti_number_class dti_code_class(const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    uint64_t smallest = 0;
    dti_decode(format, code, &value);
    switch (value.kind) {
    case DTI_CLASS_ZERO:
        return DTI_NUMBER_ZERO;
    case DTI_CLASS_INF:
        return DTI_NUMBER_INF;
    case DTI_CLASS_NAN:
        return DTI_NUMBER_NAN;
    case DTI_CLASS_FINITE:
        break;
    }
    if (!dti_format_is_float(format))
        return DTI_NUMBER_NORMAL;
    if (dti_format_is_tapered(format))
        return value.exponent < dti_format_min_exponent(format) ? DTI_NUMBER_SUBNORMAL
                                                                : DTI_NUMBER_NORMAL;
    uint64_t magnitude = code & dti_low_bits(format->width) & ~dti_format_sign_bit(format);
    bool normal = dti_code_smallest_normal(format, &smallest) && magnitude >= smallest;
    return normal ? DTI_NUMBER_NORMAL : DTI_NUMBER_SUBNORMAL;
}

const char *dti_number_class_name(enum dti_number_class class)
{
    static const char *const names[] = {
        [DTI_NUMBER_ZERO] = "zero",     [DTI_NUMBER_SUBNORMAL] = "subnormal",
        [DTI_NUMBER_NORMAL] = "normal", [DTI_NUMBER_INF] = "inf",
        [DTI_NUMBER_NAN] = "nan",
    };
    return names[class];
}
