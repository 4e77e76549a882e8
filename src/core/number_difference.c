/* SPDX-License-Identifier: MIT
 *
 * stored - number, exactly. Integers over a common denominator do for texts of ordinary length, of
 * 128 bits where they suffice (number_difference_short.c); long decimals are subtracted digit by
 * digit, which takes linear time where integers would not. */
#include <stdlib.h>
#include <string.h>

#include "core/number_terms.h"

enum {
    INTEGER_DIGITS = 300,   /* decimals up to which integers are used, */
    INTEGER_EXPONENT = 600, /* with exponents of ten up to this */
    FAR_APART = 140,        /* binary exponents this far apart share no significant bit */
};

enum nearness { NEAR_BELOW, NEAR_ABOVE };

/* value and a little more, or a little less, in magnitude. */
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
    if (value->class == DTI_CLASS_FINITE)
        exponent = dti_big_from_value(&integer, value);
    const bool done = dti_append_product(buffer, value->negative, &integer, exponent, 0);
    dti_big_free(&integer);
    return done;
}

/* The number is zero: all of it is error. */
static void from_zero(const struct dti_value *stored, struct dti_difference *ret,
                      struct dti_buffer *exact, bool *ret_has_exact)
{
    ret->absolute = *stored;
    if (stored->class == DTI_CLASS_ZERO)
        ret->absolute.negative = false;
    ret->relative = (struct dti_value){.class = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    *ret_has_exact = append_value(exact, stored);
}

/* Zero is stored: all of the number is lost. */
static bool to_zero(const struct dti_number *number, struct dti_difference *ret,
                    struct dti_buffer *exact, bool *ret_has_exact)
{
    struct dti_number lost = *number; /* borrows the digits */
    lost.negative = !number->negative;
    set_power_of_two(&ret->relative, lost.negative, 0);
    *ret_has_exact = dti_number_exact(&lost, exact);
    return dti_number_value(&lost, &ret->absolute);
}

/* The number lies beyond all that can be stored, which vanishes next to it, or it vanishes itself.
 */
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

    /* Over den: stored is difference x 2^exponent, the number subtrahend x 2^f.two. */
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

/* digits x 10^exponent; top is where they begin: digits are worth less than 10^top. */
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

/* larger -+ smaller as `size` digits, of which the last is worth 10^low. */
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

/* The values of a difference in decimal, and its text. number's digits are borrowed. */
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
    char *const digits = malloc(size);
    if (digits) {
        struct decimal difference = {.digits = digits, .count = size, .exponent = low};
        combine(digits, size, low, larger, smaller, subtract);
        for (; difference.count > 0 && *difference.digits == '0'; difference.count--)
            difference.digits++;
        for (; difference.count > 0 && difference.digits[difference.count - 1] == '0';
             difference.count--)
            difference.exponent++;
        if (difference.count == 0) {
            ret->absolute = ret->relative = (struct dti_value){.class = DTI_CLASS_ZERO};
            dti_buffer_append(exact, "0", 1);
            *ret_has_exact = ok = true;
        } else {
            ok = finish_by_digits(number, stored, negative, &difference,
                                  digits + (difference.digits - digits), ret, exact, ret_has_exact);
        }
    }
    free(digits);
    free(stored_digits);
    return ok;
}

bool dti_number_difference(const struct dti_number *number, const struct dti_value *stored,
                           struct dti_difference *ret, struct dti_buffer *exact,
                           bool *ret_has_exact)
{
    const struct dti_term *const term = &number->num;
    bool ok = true;
    *ret_has_exact = false;
    if (number->class > DTI_CLASS_FINITE || stored->class > DTI_CLASS_FINITE)
        ret->absolute = ret->relative =
            (struct dti_value){.class = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    else if (number->class == DTI_CLASS_ZERO)
        from_zero(stored, ret, exact, ret_has_exact);
    else if (stored->class == DTI_CLASS_ZERO)
        ok = to_zero(number, ret, exact, ret_has_exact);
    else if (dti_number_magnitude(number) != DTI_MAGNITUDE_ORDINARY)
        ok = out_of_reach(number, stored, ret);
    else if (dti_difference_short(number, stored, ret, exact, ret_has_exact))
        ok = true;
    else if (number->quotient || term->hexadecimal ||
             (term->count <= INTEGER_DIGITS && term->exponent <= INTEGER_EXPONENT &&
              term->exponent >= -INTEGER_EXPONENT))
        ok = by_integers(number, stored, ret, exact, ret_has_exact);
    else
        ok = by_digits(number, stored, ret, exact, ret_has_exact);
    return ok && !exact->failed;
}
