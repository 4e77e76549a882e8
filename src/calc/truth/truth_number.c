/* SPDX-License-Identifier: MIT
 *
 * Converts a number as written to a true value: a rational if that is short, else an interval
 * around its leading digits and power of ten. */
#include <string.h>

#include "calc/truth/truth_parts.h"

enum {
    DIGITS_MAX = 16000,     /* at 4 bits or less per digit: within DTI_RATIONAL_BITS without the
                             * power */
    SHORT_EXPONENT = 16000, /* power of ten or two */
    LONGEST_EXPONENT = 400000000, /* 10^this exceeds MPFR's default range */
};

/* The digits as an integer; *ret_more: digits were cut off, which *ret_exponent accounts for. */
static void term_digits(mpz_ptr ret, const struct dti_term *term, int64_t *ret_exponent,
                        bool *ret_more)
{
    char digits[DIGITS_MAX + 1];
    const size_t count = term->count < DIGITS_MAX ? term->count : DIGITS_MAX;
    const size_t left_out = term->count - count;
    memcpy(digits, term->digits, count);
    digits[count] = '\0';
    if (count == 0)
        dti_multi.mpz_set_ui(ret, 0);
    else
        (void)dti_multi.mpz_set_str(ret, digits, term->hexadecimal ? 16 : 10);
    *ret_more = left_out > 0;
    *ret_exponent = term->exponent + (int64_t)left_out * (term->hexadecimal ? 4 : 1);
}

static bool short_rational(mpq_ptr ret, const struct dti_term *term)
{
    int64_t exponent;
    bool more;
    mpz_t power;
    term_digits(mpq_numref(ret), term, &exponent, &more);
    dti_multi.mpz_set_ui(mpq_denref(ret), 1);
    if (more || exponent > SHORT_EXPONENT || exponent < -SHORT_EXPONENT)
        return false;
    const unsigned long size = (unsigned long)(exponent < 0 ? -exponent : exponent);
    dti_multi.mpz_init(power);
    dti_multi.mpz_ui_pow_ui(power, term->hexadecimal ? 2 : 10, size);
    if (exponent < 0)
        dti_multi.mpz_set(mpq_denref(ret), power);
    else
        dti_multi.mpz_mul(mpq_numref(ret), mpq_numref(ret), power);
    dti_multi.mpz_clear(power);
    dti_multi.mpq_canonicalize(ret);
    return true;
}

static unsigned long clamp_exponent(int64_t exponent)
{
    const uint64_t size = exponent < 0 ? UINT64_C(0) - (uint64_t)exponent : (uint64_t)exponent;
    return (unsigned long)(size < LONGEST_EXPONENT ? size : LONGEST_EXPONENT);
}

/* Lower and upper bounds of the term. */
static void term_interval(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                          const struct dti_term *term)
{
    int64_t exponent;
    bool more;
    mpz_ptr const digits = room->z[0];
    mpfr_ptr const power_low = room->f[0], power_high = room->f[1];
    term_digits(digits, term, &exponent, &more);
    const unsigned long size = clamp_exponent(exponent);
    const bool clamped = size == LONGEST_EXPONENT;
    if (term->hexadecimal || clamped) { /* a clamped exponent exceeds MPFR's range */
        const mpfr_exp_t two = (mpfr_exp_t)size + (clamped ? (mpfr_exp_t)1 << 30 : 0);
        (void)dti_multi.mpfr_set_si_2exp(power_low, 1, two, MPFR_RNDD);
        (void)dti_multi.mpfr_set_si_2exp(power_high, 1, two, MPFR_RNDU);
    } else {
        (void)dti_multi.mpfr_ui_pow_ui(power_low, 10, size, MPFR_RNDD);
        (void)dti_multi.mpfr_ui_pow_ui(power_high, 10, size, MPFR_RNDU);
    }
    (void)dti_multi.mpfr_set_z(low, digits, MPFR_RNDD);
    if (more)
        dti_multi.mpz_add_ui(digits, digits, 1);
    (void)dti_multi.mpfr_set_z(high, digits, MPFR_RNDU);
    if (exponent < 0) {
        (void)dti_multi.mpfr_div(low, low, power_high, MPFR_RNDD);
        (void)dti_multi.mpfr_div(high, high, power_low, MPFR_RNDU);
    } else {
        (void)dti_multi.mpfr_mul(low, low, power_low, MPFR_RNDD);
        (void)dti_multi.mpfr_mul(high, high, power_high, MPFR_RNDU);
    }
}

static void set_term(struct dti_truth_arena *room, struct dti_real *ret,
                     const struct dti_term *term)
{
    if (short_rational(ret->own_q, term)) {
        dti_real_own_rational(ret);
        return;
    }
    term_interval(room, ret->own_low, ret->own_high, term);
    dti_real_own_interval(ret);
}

void dti_truth_set_number(struct dti_calc_truth_list *ret, size_t i, const struct dti_number *from)
{
    struct dti_truth_arena *const room = &ret->room;
    struct dti_real *const terms[] = {&room->operand[0], &room->operand[1]};
    struct dti_real *result = terms[0];
    if (from->kind != DTI_CLASS_FINITE) {
        const struct dti_value value = {.kind = from->kind, .negative = from->negative};
        dti_truth_set_value(ret, i, &value);
        return;
    }
    set_term(room, terms[0], &from->num);
    if (from->quotient) {
        set_term(room, terms[1], &from->den);
        dti_real_apply(room, &room->result, DTI_CALC_DIVIDE, 0, terms);
        result = &room->result;
    }
    if (from->negative) {
        struct dti_real *const whole[] = {result, result};
        dti_real_apply(room, &room->product, DTI_CALC_NEGATE, 0, whole);
        result = &room->product;
    }
    dti_real_store(ret, i, result);
}
