/* SPDX-License-Identifier: MIT
 *
 * How far a short decimal is from a number of ordinary size, as nearly all are: both as integers of
 * 128 bits over a power of ten. */
#include "core/decimal.h"
#include "core/number_terms.h"
#include "core/wide.h"
#include "dtinfo/checked.h"

enum {
    PLACES_MAX = 38,   /* 10^38 < 2^128 */
    TEN_MAX = 19,      /* the largest power of ten in 64 bits */
    EXPONENT_MAX = 63, /* of numbers whose integer part has 64 bits at most */
};

struct wide {
    uint64_t high, low;
};

/* x *= 10^ten 5^five. False where 128 bits do not hold it. */
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

/* Both numbers as integers over a power of ten, which becomes *ret_places. False where 128 bits do
 * not hold them. */
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

/* Shifts the leading one up to the top; returns how far. */
static unsigned normalise(struct wide *x)
{
    const unsigned words = x->high == 0;
    if (words) {
        x->high = x->low;
        x->low = 0;
    }
    const unsigned shift = dti_leading_zeros(x->high);
    if (shift > 0) {
        x->high = x->high << shift | x->low >> (64 - shift);
        x->low <<= shift;
    }
    return 64 * words + shift;
}

/* rest:next / divisor for rest < divisor, whose top bit is set; leaves the new rest. The leading
 * words give a quotient that is at most two too large (Knuth, 4.3.1). */
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

/* num / den, neither of which is 0. */
static void set_ratio(struct dti_value *ret, bool negative, struct wide num, struct wide den)
{
    const int64_t num_zeros = normalise(&num), den_zeros = normalise(&den);
    uint64_t next = 0;
    const bool half = num.high > den.high || (num.high == den.high && num.low >= den.low);
    if (half) { /* so that the quotient has 128 bits */
        next = num.low << 63;
        num.low = num.low >> 1 | num.high << 63;
        num.high >>= 1;
    }
    const uint64_t high = divide(&num, next, &den);
    const uint64_t low = divide(&num, 0, &den);
    dti_value_set_wide(ret, negative, high, low, (num.high | num.low) != 0,
                       (int64_t)half - 128 + den_zeros - num_zeros);
}

/* *x = |*x - y|; whether it was negative. */
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

bool dti_difference_short(const struct dti_number *number, const struct dti_value *stored,
                          struct dti_difference *ret, struct dti_buffer *exact, bool *ret_has_exact)
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
        ret->absolute = ret->relative = (struct dti_value){.class = DTI_CLASS_ZERO};
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
