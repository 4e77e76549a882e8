/* SPDX-License-Identifier: MIT
 *
 * Computes stored - number exactly. Texts of ordinary length use integers over a common
 * denominator; if 128 bits suffice, both are integers over a power of ten. Long decimals are
 * subtracted digit by digit, in linear time, which integers would exceed.
 */
#include <stdlib.h>
#include <string.h>

#include "core/number/decimal.h"
#include "core/number/number_terms.h"
#include "core/wide.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    PLACES_MAX = 38,   /* 10^38 < 2^128 */
    TEN_MAX = 19,      /* the largest power of ten in 64 bits */
    EXPONENT_MAX = 63, /* for numbers whose integer part has at most 64 bits */
};

struct wide {
    uint64_t high, low;
};

/* x *= 10^ten 5^five. Returns false if that exceeds 128 bits. */
static bool scale(struct wide *x, unsigned ten, unsigned five)
{
    for (unsigned step; ten > 0; ten -= step) {
        step = ten < TEN_MAX ? ten : TEN_MAX;
        if (!dti_wide_scale(&x->high, &x->low, dti_pow5_small[step] << step))
            return false;
    }
    for (unsigned step; five > 0; five -= step) {
        step = five < DTI_POW5_SMALL_MAX ? five : DTI_POW5_SMALL_MAX;
        if (!dti_wide_scale(&x->high, &x->low, dti_pow5_small[step]))
            return false;
    }
    return true;
}

/* Converts both numbers to integers over 10^*ret_places. Returns false if they exceed 128 bits. */
static bool set_integers(const struct dti_term *term, const struct dti_value *stored,
                         struct wide *ret_number, struct wide *ret_stored, unsigned *ret_places)
{
    const unsigned zeros = dti_trailing_zeros(stored->hi);
    const int64_t power = (int64_t)stored->exponent - 63 + (int64_t)zeros; /* of the odd part */
    if (term->count > DTI_SHORT_DECIMAL || term->exponent < -PLACES_MAX ||
        term->exponent > PLACES_MAX || power < -PLACES_MAX || stored->exponent > EXPONENT_MAX)
        return false;
    *ret_number = *ret_stored = (struct wide){0, 0};
    for (size_t i = 0; i < term->count; i++)
        ret_number->low = ret_number->low * 10 + (uint64_t)(term->digits[i] - '0');
    ret_stored->low = stored->hi >> zeros << (power > 0 ? power : 0);
    const unsigned places = term->exponent < 0 ? (unsigned)-term->exponent : 0;
    const unsigned binary = power < 0 ? (unsigned)-power : 0;
    const unsigned common = places > binary ? places : binary;
    *ret_places = common;
    return scale(ret_number, common - places + (term->exponent > 0 ? (unsigned)term->exponent : 0),
                 0) &&
           scale(ret_stored, common - binary, binary);
}

/* rest:next / divisor for rest < divisor, whose top bit is set; updates rest. The leading words
 * give a quotient that is too large by at most two (Knuth, 4.3.1). */
static uint64_t divide(struct wide *rest, uint64_t next, const struct wide *divisor)
{
    uint64_t quotient = UINT64_MAX, ignored, product[3];
    if (rest->high < divisor->high)
        quotient = dti_wide_div(rest->high, rest->low, divisor->high, &ignored);
    product[0] = dti_wide_mul_add(quotient, divisor->low, 0, 0, &product[1]);
    product[1] = dti_wide_mul_add(quotient, divisor->high, product[1], 0, &product[2]);
    uint64_t top = rest->high, middle = rest->low;
    unsigned below = dti_wide_sub(&next, product[0], 0);
    below = dti_wide_sub(&middle, product[1], below);
    below = dti_wide_sub(&top, product[2], below);
    while (below) {
        quotient--;
        unsigned carry = dti_wide_add(&next, divisor->low, 0);
        carry = dti_wide_add(&middle, divisor->high, carry);
        below -= dti_wide_add(&top, 0, carry);
    }
    *rest = (struct wide){middle, next};
    return quotient;
}

/* num / den, both nonzero. */
static void set_ratio(struct dti_value *ret, bool negative, struct wide num, struct wide den)
{
    const int64_t num_zeros = dti_wide_normalise(&num.high, &num.low);
    const int64_t den_zeros = dti_wide_normalise(&den.high, &den.low);
    uint64_t next = 0;
    const bool half = num.high > den.high || (num.high == den.high && num.low >= den.low);
    if (half) { /* ensures a quotient of 128 bits */
        next = num.low << 63;
        num.low = num.low >> 1 | num.high << 63;
        num.high >>= 1;
    }
    const uint64_t high = divide(&num, next, &den);
    const uint64_t low = divide(&num, 0, &den);
    dti_value_set_wide(ret, negative, high, low, (num.high | num.low) != 0,
                       (int64_t)half - 128 + den_zeros - num_zeros);
}

/* *x = |*x - y|; returns whether it was negative. */
static bool subtract(struct wide *x, const struct wide *y)
{
    struct wide less = *y;
    const bool negative = x->high < y->high || (x->high == y->high && x->low < y->low);
    if (negative) {
        less = *x;
        *x = *y;
    }
    const unsigned borrow = dti_wide_sub(&x->low, less.low, 0);
    (void)dti_wide_sub(&x->high, less.high, borrow);
    return negative;
}

/* dti_number_difference() in 128-bit integers, for decimals of up to 19 digits and ordinary
 * magnitudes, both nonzero; otherwise returns false without doing anything. */
static bool by_short_decimal(const struct dti_number *number, const struct dti_value *stored,
                             struct dti_difference *ret, struct dti_buffer *exact,
                             bool *ret_has_exact)
{
    char digits[2 * DTI_DECIMAL_DIGITS];
    struct wide ours, theirs;
    unsigned places;
    if (number->quotient || number->num.hexadecimal || stored->lo != 0 || stored->sticky ||
        !set_integers(&number->num, stored, &ours, &theirs, &places))
        return false;
    struct wide difference = theirs;
    bool negative = stored->negative;
    if (number->negative == stored->negative) {
        negative ^= subtract(&difference, &ours);
    } else {
        const unsigned carry = dti_wide_add(&difference.low, ours.low, 0);
        if (dti_wide_add(&difference.high, ours.high, carry))
            return false;
    }
    if ((difference.high | difference.low) == 0) {
        ret->absolute = ret->relative = (struct dti_value){.kind = DTI_CLASS_ZERO};
        dti_buffer_append(exact, "0", 1);
        *ret_has_exact = true;
        return true;
    }
    struct wide power = {0, 1};
    if (difference.high != 0 ||
        !dti_value_set_decimal(&ret->absolute, negative, difference.low, -(int64_t)places)) {
        (void)scale(&power, places, 0);
        set_ratio(&ret->absolute, negative, difference, power);
    }
    set_ratio(&ret->relative, negative, difference, ours);
    size_t count = dti_digits_write_wide(digits, difference.high, difference.low);
    int64_t exponent = -(int64_t)places;
    for (; digits[count - 1] == '0'; count--)
        exponent++;
    *ret_has_exact = dti_append_decimal(exact, negative, digits, count, exponent);
    return true;
}

enum {
    INTEGER_DIGITS = 300,   /* integers are used for decimals up to this length, */
    INTEGER_EXPONENT = 600, /* and with exponents of ten up to this */
    FAR_APART = 140, /* numbers with binary exponents this far apart share no significant bit */
};

enum nearness { NEAR_BELOW, NEAR_ABOVE };

/* A number slightly above or below value, in magnitude. */
static void set_near(struct dti_value *ret, const struct dti_value *value, enum nearness nearness)
{
    *ret = *value;
    if (nearness == NEAR_BELOW && !value->sticky) {
        ret->lo--;
        ret->hi -= value->lo == 0;
        if (ret->hi >> 63 == 0) {
            ret->hi = UINT64_MAX;
            ret->exponent--;
        }
    }
    ret->sticky = true;
}

static void set_power_of_two(struct dti_value *ret, bool negative, int64_t exponent)
{
    dti_value_set_wide(ret, negative, UINT64_C(1) << 63, 0, false, exponent - 127);
}

static bool append_value(struct dti_buffer *buffer, const struct dti_value *value)
{
    struct dti_big integer;
    int64_t exponent = 0;
    dti_big_init(&integer);
    if (value->kind == DTI_CLASS_FINITE)
        exponent = dti_big_from_value(&integer, value);
    const bool done = dti_append_product(buffer, value->negative, &integer, exponent, 0);
    dti_big_free(&integer);
    return done;
}

/* The number is zero: the stored number is the error. */
static void from_zero(const struct dti_value *stored, struct dti_difference *ret,
                      struct dti_buffer *exact, bool *ret_has_exact)
{
    ret->absolute = *stored;
    if (stored->kind == DTI_CLASS_ZERO)
        ret->absolute.negative = false;
    ret->relative = (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    *ret_has_exact = append_value(exact, stored);
}

/* Zero is stored: the whole number is the error. */
static bool to_zero(const struct dti_number *number, struct dti_difference *ret,
                    struct dti_buffer *exact, bool *ret_has_exact)
{
    struct dti_number lost = *number; /* borrows the digits */
    lost.negative = !number->negative;
    set_power_of_two(&ret->relative, lost.negative, 0);
    *ret_has_exact = dti_number_exact(&lost, exact);
    return dti_number_value(&lost, &ret->absolute);
}

/* Handles numbers so far out of range that anything stored is negligible, or so small that the
 * number is. */
static bool out_of_reach(const struct dti_number *number, const struct dti_value *stored,
                         struct dti_difference *ret)
{
    const enum nearness nearness = number->negative == stored->negative ? NEAR_BELOW : NEAR_ABOVE;
    struct dti_value one, value;
    if (!dti_number_value(number, &value))
        return false;
    if (value.exponent > 0) {
        value.negative = !number->negative;
        ret->absolute = value;
        set_power_of_two(&one, value.negative, 0);
        set_near(&ret->relative, &one, nearness);
    } else {
        set_near(&ret->absolute, stored, nearness);
        set_power_of_two(&ret->relative, stored->negative, INT64_C(2) * DTI_EXPONENT_LIMIT);
    }
    return true;
}

static bool by_integers(const struct dti_number *number, const struct dti_value *stored,
                        struct dti_difference *ret, struct dti_buffer *exact, bool *ret_has_exact)
{
    struct dti_fraction f;
    struct dti_big difference, subtrahend;
    dti_fraction_init(&f, number);
    dti_big_init(&difference);
    dti_big_init(&subtrahend);
    const bool decimal = dti_number_is_reducible(number) && dti_fraction_reduce(&f);
    dti_big_mul_pow5(f.five > 0 ? &f.num : &f.den, (uint32_t)(f.five > 0 ? f.five : -f.five));

    /* Over den: stored is difference x 2^exponent, the number is subtrahend x 2^f.two. */
    int64_t exponent = dti_big_from_value(&difference, stored);
    dti_big_mul(&difference, &difference, &f.den);
    dti_big_copy(&subtrahend, &f.num);
    if (exponent > f.two) {
        dti_big_shift_left(&difference, (size_t)(exponent - f.two));
        exponent = f.two;
    } else {
        dti_big_shift_left(&subtrahend, (size_t)(f.two - exponent));
    }
    bool negative = stored->negative;
    if (number->negative != stored->negative) {
        dti_big_add(&difference, &difference, &subtrahend);
    } else if (dti_big_compare(&difference, &subtrahend) >= 0) {
        dti_big_sub(&difference, &difference, &subtrahend);
    } else {
        dti_big_sub(&difference, &subtrahend, &difference);
        negative = !negative;
    }
    negative = negative && difference.count > 0;
    const bool ok = dti_big_ratio(&ret->absolute, negative, &difference, &f.den, exponent) &&
                    dti_big_ratio(&ret->relative, negative, &difference, &f.num, exponent - f.two);
    *ret_has_exact =
        ok && decimal &&
        dti_append_product(exact, negative, &difference, exponent, f.five < 0 ? f.five : 0);
    dti_big_free(&subtrahend);
    dti_big_free(&difference);
    dti_fraction_free(&f);
    return ok;
}

/* digits x 10^exponent; top: all digits are worth less than 10^top. */
struct decimal {
    const char *digits;
    size_t count;
    int64_t exponent, top;
};

static int compare_decimals(const struct decimal *a, const struct decimal *b)
{
    const size_t common = a->count < b->count ? a->count : b->count;
    if (a->top != b->top)
        return a->top < b->top ? -1 : 1;
    const int order = memcmp(a->digits, b->digits, common);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

/* larger -+ smaller as `size` digits; the last one is worth 10^low. */
static void combine(char *digits, size_t size, int64_t low, const struct decimal *larger,
                    const struct decimal *smaller, bool subtract)
{
    memset(digits, '0', size);
    memcpy(digits + (size - (size_t)(larger->top - low)), larger->digits, larger->count);
    size_t at = size - (size_t)(smaller->exponent - low);
    int carry = 0;
    for (size_t i = smaller->count; i > 0 || carry;) {
        const int digit = i > 0 ? smaller->digits[--i] - '0' : 0;
        at--;
        const int sum = digits[at] - '0' + (subtract ? -digit - carry : digit + carry);
        carry = sum < 0 || sum > 9;
        digits[at] = (char)('0' + (sum < 0 ? sum + 10 : sum > 9 ? sum - 10 : sum));
    }
}

/* Computes a difference's values in decimal, and its text. Borrows number's digits. */
static bool finish_by_digits(const struct dti_number *number, const struct dti_value *stored,
                             bool negative, const struct decimal *difference, char *digits,
                             struct dti_difference *ret, struct dti_buffer *exact,
                             bool *ret_has_exact)
{
    struct dti_value value, one;
    struct dti_number quotient = *number;
    quotient.negative = negative;
    quotient.num.digits = digits;
    quotient.num.count = difference->count;
    quotient.num.exponent = difference->exponent;
    if (!dti_number_value(&quotient, &ret->absolute) || !dti_number_value(number, &value))
        return false;
    *ret_has_exact = dti_append_decimal(exact, negative, difference->digits, difference->count,
                                        difference->exponent);
    if (value.exponent - stored->exponent > FAR_APART) {
        set_power_of_two(&one, negative, 0);
        set_near(&ret->relative, &one,
                 number->negative == stored->negative ? NEAR_BELOW : NEAR_ABOVE);
        return true;
    }
    quotient.quotient = true;
    quotient.den = number->num;
    return dti_number_value(&quotient, &ret->relative);
}

static bool by_digits(const struct dti_number *number, const struct dti_value *stored,
                      struct dti_difference *ret, struct dti_buffer *exact, bool *ret_has_exact)
{
    struct decimal a = {0};
    struct dti_big integer;
    dti_big_init(&integer);
    const int64_t two = dti_big_from_value(&integer, stored);
    if (two >= 0)
        dti_big_shift_left(&integer, (size_t)two);
    else
        dti_big_mul_pow5(&integer, (uint32_t)-two);
    a.exponent = two < 0 ? two : 0;
    char *const stored_digits = dti_big_to_digits(&integer, NULL, 0, &a.count);
    dti_big_free(&integer);
    if (!stored_digits)
        return false;
    a.digits = stored_digits;
    a.top = a.exponent + (int64_t)a.count;
    const struct decimal b = {.digits = number->num.digits,
                              .count = number->num.count,
                              .exponent = number->num.exponent,
                              .top = number->num.exponent + (int64_t)number->num.count};

    const bool subtract = number->negative == stored->negative;
    const int order = compare_decimals(&a, &b);
    const struct decimal *const larger = order < 0 ? &b : &a, *const smaller = order < 0 ? &a : &b;
    const int64_t low = a.exponent < b.exponent ? a.exponent : b.exponent;
    const size_t size = (size_t)(larger->top - low) + 1;
    const bool negative = subtract && order < 0 ? !stored->negative : stored->negative;
    bool ok = false;
    char *const digits = dti_malloc(size);
    if (digits) {
        struct decimal difference = {.digits = digits, .count = size, .exponent = low};
        combine(digits, size, low, larger, smaller, subtract);
        for (; difference.count > 0 && *difference.digits == '0'; difference.count--)
            difference.digits++;
        for (; difference.count > 0 && difference.digits[difference.count - 1] == '0';
             difference.count--)
            difference.exponent++;
        if (difference.count == 0) {
            ret->absolute = ret->relative = (struct dti_value){.kind = DTI_CLASS_ZERO};
            dti_buffer_append(exact, "0", 1);
            *ret_has_exact = ok = true;
        } else {
            ok = finish_by_digits(number, stored, negative, &difference,
                                  digits + (difference.digits - digits), ret, exact, ret_has_exact);
        }
    }
    dti_free(digits);
    dti_free(stored_digits);
    return ok;
}

bool dti_number_difference(const struct dti_number *number, const struct dti_value *stored,
                           struct dti_difference *ret, struct dti_buffer *exact,
                           bool *ret_has_exact)
{
    const struct dti_term *const term = &number->num;
    bool ok = true;
    *ret_has_exact = false;
    if (number->kind > DTI_CLASS_FINITE || stored->kind > DTI_CLASS_FINITE)
        ret->absolute = ret->relative =
            (struct dti_value){.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    else if (number->kind == DTI_CLASS_ZERO)
        from_zero(stored, ret, exact, ret_has_exact);
    else if (stored->kind == DTI_CLASS_ZERO)
        ok = to_zero(number, ret, exact, ret_has_exact);
    else if (dti_number_magnitude(number) != DTI_MAGNITUDE_ORDINARY)
        ok = out_of_reach(number, stored, ret);
    else if (by_short_decimal(number, stored, ret, exact, ret_has_exact))
        ok = true;
    else if (number->quotient || term->hexadecimal ||
             (term->count <= INTEGER_DIGITS && term->exponent <= INTEGER_EXPONENT &&
              term->exponent >= -INTEGER_EXPONENT))
        ok = by_integers(number, stored, ret, exact, ret_has_exact);
    else
        ok = by_digits(number, stored, ret, exact, ret_has_exact);
    return ok && !exact->failed;
}
