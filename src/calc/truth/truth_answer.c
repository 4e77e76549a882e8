/* SPDX-License-Identifier: MIT
 *
 * Queries on a true value: the precision of its interval, its first 128 bits, the error of
 * another number, and its text. If an interval contains a 128-bit number, no precision can
 * decide whether the truth is that number, as for exp(log(2)). If the interval is narrower than
 * DTI_DECIDED_BITS, it is assumed to be. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "calc/truth/truth_parts.h"
#include "core/number/spell.h"

/* The text of a true value: exact if it is a short decimal or quotient, else 30 digits,
 * correctly rounded to nearest. */

enum {
    DECIMAL_DIGITS = 60,  /* digits of an exact decimal, */
    QUOTIENT_DIGITS = 40, /* of numerator and denominator together, */
    ROUNDED_DIGITS = 30,  /* of all other values */
    LOWEST_PLAIN = -4,    /* 0.0001 is plain, smaller numbers are 1e-05 */
    DIGITS_SIZE = 160,
};

/* 0.DIGITS x 10^point */
struct digits {
    char text[DIGITS_SIZE];
    size_t count;
    long long point;
    bool negative;
};

static void put_exponent(struct dti_buffer *ret, long long exponent)
{
    char text[DTI_TEXT_SIZE];
    const uint64_t size = (uint64_t)(exponent < 0 ? -exponent : exponent);
    const size_t length = dti_spell_u64(text, size);
    dti_buffer_puts(ret, exponent < 0 ? "e-" : "e+");
    if (length < 2)
        dti_buffer_puts(ret, "0");
    dti_buffer_append(ret, text, length);
}

/* Formats like C's %g, with an exponent if there are more than `most` digits before the point. */
static void put_digits(struct dti_buffer *ret, const struct digits *digits, long long most)
{
    const size_t count = digits->count;
    const long long point = digits->point;
    if (digits->negative)
        dti_buffer_puts(ret, "-");
    if (point > most || point <= LOWEST_PLAIN) {
        dti_buffer_append(ret, digits->text, 1);
        if (count > 1)
            dti_buffer_puts(ret, ".");
        dti_buffer_append(ret, digits->text + 1, count - 1);
        put_exponent(ret, point - 1);
    } else if (point <= 0) {
        dti_buffer_puts(ret, "0.");
        dti_buffer_fill(ret, '0', (size_t)-point);
        dti_buffer_append(ret, digits->text, count);
    } else if ((size_t)point >= count) {
        dti_buffer_append(ret, digits->text, count);
        dti_buffer_fill(ret, '0', (size_t)point - count);
    } else {
        dti_buffer_append(ret, digits->text, (size_t)point);
        dti_buffer_puts(ret, ".");
        dti_buffer_append(ret, digits->text + point, count - (size_t)point);
    }
}

/* Whether |z| has at most `digits` digits; the library's count may be one too high. */
static bool is_short(mpz_srcptr z, size_t digits)
{
    return dti_multi.mpz_sizeinbase(z, 10) <= digits + 1;
}

/* Whether q is a decimal of at most DECIMAL_DIGITS digits: |q| = m / 10^decimals. */
static bool exact_decimal(struct digits *ret, mpq_srcptr q)
{
    mpz_t rest, scale;
    bool done = false;
    dti_multi.mpz_init(rest);
    dti_multi.mpz_init(scale);
    dti_multi.mpz_set_ui(scale, 5);
    const size_t twos = dti_multi.mpz_scan1(mpq_denref(q), 0);
    dti_multi.mpz_fdiv_q_2exp(rest, mpq_denref(q), twos);
    const size_t fives = dti_multi.mpz_remove(rest, rest, scale);
    const size_t decimals = twos > fives ? twos : fives;
    if (dti_is_one(rest)) {
        /* multiply by the missing factors to get 2^a 5^b to 10^decimals */
        dti_multi.mpz_ui_pow_ui(scale, twos > fives ? 5 : 2,
                                twos > fives ? twos - fives : fives - twos);
        dti_multi.mpz_mul(rest, mpq_numref(q), scale);
        rest->_mp_size = abs(rest->_mp_size);
        dti_multi.mpz_set_ui(scale, 10);
        /* count the trailing zeros */
        const size_t all = rest->_mp_size == 0 ? 0 : dti_multi.mpz_remove(rest, rest, scale);
        if (is_short(rest, DECIMAL_DIGITS)) {
            dti_multi.mpz_get_str(ret->text, 10, rest);
            ret->count = strlen(ret->text);
            ret->point = (long long)(ret->count + all) - (long long)decimals;
            ret->negative = mpq_sgn(q) < 0;
            done = ret->count <= DECIMAL_DIGITS;
        }
    }
    dti_multi.mpz_clear(rest);
    dti_multi.mpz_clear(scale);
    return done;
}

static bool short_quotient(struct dti_buffer *ret, mpq_srcptr q)
{
    char num[QUOTIENT_DIGITS + 4], den[QUOTIENT_DIGITS + 4];
    if (!is_short(mpq_numref(q), QUOTIENT_DIGITS) || !is_short(mpq_denref(q), QUOTIENT_DIGITS))
        return false;
    dti_multi.mpz_get_str(num, 10, mpq_numref(q));
    dti_multi.mpz_get_str(den, 10, mpq_denref(q));
    if (strlen(num) - (num[0] == '-') + strlen(den) > QUOTIENT_DIGITS)
        return false;
    if (ret) {
        dti_buffer_puts(ret, num);
        dti_buffer_puts(ret, "/");
        dti_buffer_puts(ret, den);
    }
    return true;
}

/* Rounds |q| x 10^shift to an integer of 30 digits, by exact division. */
static void round_rational(struct digits *ret, mpq_srcptr q)
{
    mpz_t num, den, power, quotient;
    long long shift = (long long)dti_multi.mpz_sizeinbase(mpq_denref(q), 10) -
                      (long long)dti_multi.mpz_sizeinbase(mpq_numref(q), 10) + ROUNDED_DIGITS;
    dti_multi.mpz_init(num);
    dti_multi.mpz_init(den);
    dti_multi.mpz_init(power);
    dti_multi.mpz_init(quotient);
    do {
        dti_multi.mpz_ui_pow_ui(power, 10, (unsigned long)(shift < 0 ? -shift : shift));
        dti_multi.mpz_set(num, mpq_numref(q));
        num->_mp_size = abs(num->_mp_size);
        dti_multi.mpz_set(den, mpq_denref(q));
        if (shift < 0)
            dti_multi.mpz_mul(den, den, power);
        else
            dti_multi.mpz_mul(num, num, power);
        dti_multi.mpz_fdiv_qr(quotient, num, num, den);
        dti_multi.mpz_mul_2exp(num, num, 1); /* compares twice the remainder */
        dti_multi.mpz_get_str(ret->text, 10, quotient);
        ret->count = strlen(ret->text);
        ret->point = (long long)ret->count - shift;
        shift += ROUNDED_DIGITS - (long long)ret->count;
    } while (ret->count != ROUNDED_DIGITS);
    /* never a tie: that would be a decimal of 31 digits, which is written exactly */
    if (dti_multi.mpz_cmp(num, den) > 0) {
        dti_multi.mpz_add_ui(quotient, quotient, 1);
        dti_multi.mpz_get_str(ret->text, 10, quotient);
        ret->point += strlen(ret->text) > ROUNDED_DIGITS; /* 99...9 was rounded up to 100...0 */
    }
    ret->negative = mpq_sgn(q) < 0;
    dti_multi.mpz_clear(num);
    dti_multi.mpz_clear(den);
    dti_multi.mpz_clear(power);
    dti_multi.mpz_clear(quotient);
}

static void round_number(struct digits *ret, mpfr_srcptr x, size_t count)
{
    char text[ROUNDED_DIGITS + 8]; /* sign, digits, NUL; MPFR requires at least 7 */
    mpfr_exp_t exponent;
    dti_multi.mpfr_get_str(text, &exponent, 10, count, x, MPFR_RNDN);
    ret->negative = text[0] == '-';
    ret->count = count;
    memcpy(ret->text, text + ret->negative, count + 1);
    ret->point = exponent;
}

/* The digits on which both ends agree, up to 30. */
static bool round_interval(struct digits *ret, mpfr_srcptr low, mpfr_srcptr high)
{
    struct digits other;
    if (dti_multi.mpfr_inf_p(low) || dti_multi.mpfr_inf_p(high) ||
        dti_multi.mpfr_sgn(low) * dti_multi.mpfr_sgn(high) <= 0)
        return false;
    for (size_t count = ROUNDED_DIGITS; count > 1; count--) {
        round_number(ret, low, count);
        round_number(&other, high, count);
        if (ret->point == other.point && strcmp(ret->text, other.text) == 0)
            return true;
    }
    return false;
}

static bool rational_is_exact(mpq_srcptr q)
{
    struct digits digits;
    return exact_decimal(&digits, q) || short_quotient(NULL, q);
}

static void rational_text(mpq_srcptr q, struct dti_buffer *ret)
{
    struct digits digits;
    if (exact_decimal(&digits, q)) {
        put_digits(ret, &digits, DECIMAL_DIGITS);
    } else if (!short_quotient(ret, q)) {
        round_rational(&digits, q);
        put_digits(ret, &digits, ROUNDED_DIGITS);
    }
}

/* A dyadic number needs its own storage as a fraction. */
static struct dti_calc_truth_list *alone(const struct dti_calc_truth_list *list, size_t i)
{
    struct dti_calc_truth_list *const own = dti_truth_scratch(list->precision);
    dti_real_load(&own->room.result, list, i);
    return own;
}

bool dti_truth_text(const struct dti_calc_truth_list *list, size_t i, struct dti_buffer *ret)
{
    struct dti_calc_truth_list *own;
    struct digits digits;
    const struct dti_truth_element *const element = &list->elements[i];
    switch ((enum dti_truth_class)element->kind) {
    case DTI_TRUTH_DYADIC:
    case DTI_TRUTH_RATIONAL:
        own = alone(list, i);
        rational_text(own->room.result.q, ret);
        dti_truth_free(own);
        break;
    case DTI_TRUTH_INTERVAL:
        if (!round_interval(&digits, &element->as.interval->low, &element->as.interval->high))
            return false;
        put_digits(ret, &digits, ROUNDED_DIGITS);
        break;
    case DTI_TRUTH_INFINITE:
        dti_buffer_puts(ret, element->negative ? "-inf" : "inf");
        break;
    case DTI_TRUTH_UNDEFINED:
        dti_buffer_puts(ret, "nan");
        break;
    case DTI_TRUTH_UNDECIDED:
        return false;
    }
    return !ret->failed;
}

bool dti_truth_text_is_exact(const struct dti_calc_truth_list *list, size_t i)
{
    if (list->elements[i].kind > DTI_TRUTH_RATIONAL)
        return list->elements[i].kind == DTI_TRUTH_INFINITE;
    struct dti_calc_truth_list *const own = alone(list, i);
    const bool exact = rational_is_exact(own->room.result.q);
    dti_truth_free(own);
    return exact;
}

/* Precision and errors. */

bool dti_truth_is_rational(const struct dti_calc_truth_list *list, size_t i)
{
    return list->elements[i].kind <= DTI_TRUTH_RATIONAL;
}

/* The precision of the interval low..high in bits. */
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
    dti_mpfr_arena(width, limbs);
    (void)dti_multi.mpfr_sub(width, high, low, MPFR_RNDU);
    const long long bits =
        (long long)dti_multi.mpfr_get_exp(near) - 1 - (long long)dti_multi.mpfr_get_exp(width);
    return bits < 0 ? 0 : (unsigned)bits;
}

unsigned dti_truth_bits(const struct dti_calc_truth_list *list, size_t i)
{
    const struct dti_truth_element *const element = &list->elements[i];
    if (element->kind == DTI_TRUTH_INTERVAL)
        return interval_bits(&element->as.interval->low, &element->as.interval->high);
    return element->kind == DTI_TRUTH_UNDECIDED ? 0 : UINT_MAX;
}

static void number_to_value(struct dti_value *ret, mpfr_srcptr x)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t first;
    dti_mpfr_arena(first, limbs);
    const bool inexact = dti_multi.mpfr_set(first, x, MPFR_RNDZ) != 0;
    dti_mpfr_to_value(ret, first, inexact);
}

static void rational_to_value(struct dti_value *ret, mpq_srcptr q)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t first;
    dti_mpfr_arena(first, limbs);
    const bool inexact = dti_multi.mpfr_set_q(first, q, MPFR_RNDZ) != 0;
    dti_mpfr_to_value(ret, first, inexact);
}

/* decided: so narrow that a 128-bit number inside counts as the truth. */
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
    dti_mpfr_arena(middle, limbs);
    (void)dti_multi.mpfr_add(middle, low, high, MPFR_RNDN);
    (void)dti_multi.mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    dti_mpfr_to_value(ret, middle, false);
    return true;
}

bool dti_truth_value(const struct dti_calc_truth_list *list, size_t i, struct dti_value *ret)
{
    const struct dti_truth_element *const element = &list->elements[i];
    const struct dti_truth_interval *const interval = element->as.interval;
    switch ((enum dti_truth_class)element->kind) {
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
        *ret = (struct dti_value){.kind = DTI_CLASS_INF, .negative = element->negative};
        return true;
    case DTI_TRUTH_UNDEFINED:
    case DTI_TRUTH_UNDECIDED:
        break;
    }
    return false;
}

static void no_number(struct dti_value *ret)
{
    *ret = (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
}

/* For two rationals. */
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

/* An error of unknown sign counts as zero if the truth is known precisely enough. */
static bool interval_error(struct dti_truth_arena *room, const struct dti_real *difference,
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
    if (list->elements[i].kind > DTI_TRUTH_INTERVAL ||
        (stored->kind != DTI_CLASS_ZERO && stored->kind != DTI_CLASS_FINITE)) {
        dti_truth_free(own);
        return false;
    }
    struct dti_truth_arena *const room = &own->room;
    struct dti_real *const operands[] = {&room->operand[0], &room->operand[1]};
    dti_truth_set_value(own, 0, stored);
    if (dti_truth_failed(own))
        dti_multi_out_of_memory();
    dti_real_load(operands[0], own, 0);
    dti_real_load(operands[1], list, i);
    dti_real_apply(room, &room->result, DTI_CALC_SUBTRACT, 0, operands);
    if (room->result.kind == DTI_TRUTH_RATIONAL) {
        rational_error(&room->result, operands[1]->q, room->total.own_q, ret_absolute,
                       ret_relative);
        done = true;
    } else if (room->result.kind == DTI_TRUTH_INTERVAL) {
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
