/* SPDX-License-Identifier: MIT
 *
 * What is known of a true value: how narrow its interval is, its first 128 bits, and how far off
 * another number is. An interval that holds a number of 128 bits can never tell whether the truth
 * is that number: exp(log(2)). Where it is narrower than DTI_DECIDED_BITS, it is taken to be. */
#include <limits.h>

#include "calc/truth_parts.h"

bool dti_truth_is_rational(const struct dti_calc_truth_list *list, size_t i)
{
    return list->elements[i].class <= DTI_TRUTH_RATIONAL;
}

/* The precision that low..high stands for. */
static unsigned interval_bits(mpfr_srcptr low, mpfr_srcptr high)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t width;
    const int sign_low = dti_multi.mpfr_sgn(low), sign_high = dti_multi.mpfr_sgn(high);
    if (dti_multi.mpfr_cmp3(low, high, 1) == 0)
        return UINT_MAX;
    if (sign_low * sign_high <= 0)
        return 0;
    mpfr_srcptr const near = sign_high > 0 ? low : high, far = sign_high > 0 ? high : low;
    if (dti_multi.mpfr_inf_p(far))
        return 0;
    dti_mpfr_room(width, limbs);
    (void)dti_multi.mpfr_sub(width, high, low, MPFR_RNDU);
    const long long bits =
        (long long)dti_multi.mpfr_get_exp(near) - 1 - (long long)dti_multi.mpfr_get_exp(width);
    return bits < 0 ? 0 : (unsigned)bits;
}

unsigned dti_truth_bits(const struct dti_calc_truth_list *list, size_t i)
{
    const struct dti_truth_element *const element = &list->elements[i];
    if (element->class == DTI_TRUTH_INTERVAL)
        return interval_bits(&element->as.interval->low, &element->as.interval->high);
    return element->class == DTI_TRUTH_UNDECIDED ? 0 : UINT_MAX;
}

static void number_to_value(struct dti_value *ret, mpfr_srcptr x)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t first;
    dti_mpfr_room(first, limbs);
    const bool inexact = dti_multi.mpfr_set(first, x, MPFR_RNDZ) != 0;
    dti_mpfr_to_value(ret, first, inexact);
}

static void rational_to_value(struct dti_value *ret, mpq_srcptr q)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t first;
    dti_mpfr_room(first, limbs);
    const bool inexact = dti_multi.mpfr_set_q(first, q, MPFR_RNDZ) != 0;
    dti_mpfr_to_value(ret, first, inexact);
}

/* decided: so narrow that it may stand for a number of 128 bits within. */
static bool interval_to_value(struct dti_value *ret, mpfr_srcptr low, mpfr_srcptr high,
                              bool decided)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t middle;
    const bool positive = dti_multi.mpfr_sgn(low) >= 0;
    if (dti_multi.mpfr_cmp3(low, high, 1) == 0) {
        number_to_value(ret, low);
        return true;
    }
    if (dti_multi.mpfr_sgn(low) * dti_multi.mpfr_sgn(high) >= 0 &&
        dti_between_to_value(ret, positive ? low : high, positive ? high : low))
        return true;
    if (!decided)
        return false;
    dti_mpfr_room(middle, limbs);
    (void)dti_multi.mpfr_add(middle, low, high, MPFR_RNDN);
    (void)dti_multi.mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    dti_mpfr_to_value(ret, middle, false);
    return true;
}

bool dti_truth_value(const struct dti_calc_truth_list *list, size_t i, struct dti_value *ret)
{
    const struct dti_truth_element *const element = &list->elements[i];
    const struct dti_truth_interval *const interval = element->as.interval;
    switch ((enum dti_truth_class)element->class) {
    case DTI_TRUTH_DYADIC:
        dti_value_set(ret, element->negative, element->as.significand, element->exponent);
        return true;
    case DTI_TRUTH_RATIONAL:
        rational_to_value(ret, &element->as.rational->q);
        return true;
    case DTI_TRUTH_INTERVAL:
        return interval_to_value(ret, &interval->low, &interval->high,
                                 interval_bits(&interval->low, &interval->high) >=
                                     DTI_DECIDED_BITS);
    case DTI_TRUTH_INFINITE:
        *ret = (struct dti_value){.class = DTI_CLASS_INF, .negative = element->negative};
        return true;
    case DTI_TRUTH_UNDEFINED:
    case DTI_TRUTH_UNDECIDED:
        break;
    }
    return false;
}

static void no_number(struct dti_value *ret)
{
    *ret = (struct dti_value){.class = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
}

/* Both are rational. */
static void rational_error(const struct dti_real *difference, mpq_srcptr truth, mpq_ptr scratch,
                           struct dti_value *ret_absolute, struct dti_value *ret_relative)
{
    rational_to_value(ret_absolute, difference->q);
    if (mpq_sgn(truth) == 0) {
        no_number(ret_relative);
        return;
    }
    dti_multi.mpq_abs(scratch, truth);
    dti_multi.mpq_div(scratch, difference->q, scratch);
    rational_to_value(ret_relative, scratch);
}

/* An error whose sign is not known is none when the truth is known that well. */
static bool interval_error(struct dti_truth_room *room, const struct dti_real *difference,
                           struct dti_real *truth, struct dti_value *ret_absolute,
                           struct dti_value *ret_relative)
{
    struct dti_real *const quotient = &room->product, *const size = &room->total;
    const unsigned bits = interval_bits(truth->low, truth->high);
    const int sign_low = dti_multi.mpfr_sgn(difference->low);
    const int sign_high = dti_multi.mpfr_sgn(difference->high);
    if (bits < DTI_DECIDED_BITS)
        return false;
    if (sign_low <= 0 && sign_high >= 0) {
        dti_value_set(ret_absolute, false, 0, 0);
        dti_value_set(ret_relative, false, 0, 0);
        return true;
    }
    struct dti_real *const absolute_of[] = {truth, truth};
    dti_interval_apply(room, size, DTI_CALC_ABS, 0, absolute_of);
    if (!dti_interval_divide(room, quotient->own_low, quotient->own_high, difference->low,
                             difference->high, size->low, size->high))
        return false;
    return interval_to_value(ret_absolute, difference->low, difference->high, true) &&
           interval_to_value(ret_relative, quotient->own_low, quotient->own_high, true);
}

bool dti_truth_error(const struct dti_calc_truth_list *list, size_t i,
                     const struct dti_value *stored, struct dti_value *ret_absolute,
                     struct dti_value *ret_relative)
{
    struct dti_calc_truth_list *const own = dti_truth_scratch(list->precision);
    bool done = false;
    if (list->elements[i].class > DTI_TRUTH_INTERVAL ||
        (stored->class != DTI_CLASS_ZERO && stored->class != DTI_CLASS_FINITE)) {
        dti_truth_free(own);
        return false;
    }
    struct dti_truth_room *const room = &own->room;
    struct dti_real *const operands[] = {&room->operand[0], &room->operand[1]};
    dti_truth_set_value(own, 0, stored);
    if (dti_truth_failed(own))
        dti_multi_out_of_memory();
    dti_real_load(operands[0], own, 0);
    dti_real_load(operands[1], list, i);
    dti_real_apply(room, &room->result, DTI_CALC_SUBTRACT, 0, operands);
    if (room->result.class == DTI_TRUTH_RATIONAL) {
        rational_error(&room->result, operands[1]->q, room->total.own_q, ret_absolute,
                       ret_relative);
        done = true;
    } else if (room->result.class == DTI_TRUTH_INTERVAL) {
        dti_real_enclose(operands[1]);
        done = interval_error(room, &room->result, operands[1], ret_absolute, ret_relative);
    }
    dti_truth_free(own);
    return done;
}

void dti_calc_true_get(const struct dti_calc_result *result, size_t element,
                       struct dti_calc_true *ret)
{
    struct dti_value stored;
    *ret = (struct dti_calc_true){.known = false};
    if (!result->truth)
        return;
    dti_decode(&result->value.format, dti_calc_code(&result->value, element), &stored);
    ret->known = dti_truth_value(result->truth, element, &ret->value);
    ret->undefined = !ret->known && dti_truth_bits(result->truth, element) == UINT_MAX;
    ret->known |= ret->undefined;
    ret->exact = dti_truth_text_is_exact(result->truth, element);
    ret->has_error =
        dti_truth_error(result->truth, element, &stored, &ret->absolute, &ret->relative);
}

bool dti_calc_true_text(const struct dti_calc_result *result, size_t element,
                        struct dti_buffer *ret)
{
    return result->truth && dti_truth_text(result->truth, element, ret);
}
