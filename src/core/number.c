/* SPDX-License-Identifier: MIT
 *
 * The exact value of a struct dti_number: its expansion to the last digit and its integer part. */
#include "dtinfo/number.h"

#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/number_terms.h"
#include "core/wide.h"

/* Quotients of longer terms are not searched for common factors: that takes quadratic time. */
enum { REDUCIBLE_DIGITS = 20000 };

void dti_number_free(struct dti_number *number)
{
    struct dti_term *const terms[2] = {&number->num, &number->den};
    for (size_t i = 0; i < 2; i++) {
        if (terms[i]->digits != terms[i]->own)
            free(terms[i]->digits);
        terms[i]->digits = terms[i]->own;
        terms[i]->count = 0;
    }
}

/* Divides by `factor` as often as leaves no remainder, and returns how often that is. */
static int64_t take_out(struct dti_big *b, uint64_t factor)
{
    struct dti_big quotient;
    int64_t times = 0;
    dti_big_init(&quotient);
    for (dti_big_copy(&quotient, b); dti_big_div_small(&quotient, factor) == 0 && b->count > 0;
         times++)
        dti_big_copy(b, &quotient);
    dti_big_free(&quotient);
    return times;
}

static size_t trailing_zero_bits(const struct dti_big *b) /* b != 0 */
{
    size_t zeros = 0;
    while (b->limb[zeros] == 0)
        zeros++;
    return zeros * 64 + dti_trailing_zeros(b->limb[zeros]);
}

bool dti_fraction_reduce(struct dti_fraction *fraction)
{
    struct dti_big *const den = &fraction->den;
    struct dti_big quotient, remainder;
    if (fraction->num.failed || den->failed)
        return false;
    if (den->count == 1 && den->limb[0] == 1)
        return true;
    const size_t twos = trailing_zero_bits(den);
    (void)dti_big_shift_right(den, twos);
    fraction->two -= (int64_t)twos;
    fraction->five -= take_out(den, dti_pow5_small[DTI_POW5_SMALL_MAX]) * DTI_POW5_SMALL_MAX;
    fraction->five -= take_out(den, 5);
    if (den->count == 1 && den->limb[0] == 1)
        return true;

    dti_big_init(&quotient);
    dti_big_init(&remainder);
    dti_big_divide(&quotient, &remainder, &fraction->num, den);
    const bool finite =
        !den->failed && !quotient.failed && !remainder.failed && remainder.count == 0;
    if (finite) {
        dti_big_move(&fraction->num, &quotient);
        dti_big_set(den, 1);
    } else if (quotient.failed || remainder.failed) {
        dti_big_fail(&fraction->num);
    }
    dti_big_free(&quotient);
    dti_big_free(&remainder);
    return finite;
}

bool dti_number_is_reducible(const struct dti_number *number)
{
    return !number->quotient ||
           (number->num.count <= REDUCIBLE_DIGITS && number->den.count <= REDUCIBLE_DIGITS);
}

bool dti_append_decimal(struct dti_buffer *buffer, bool negative, const char *digits, size_t count,
                        int64_t exponent)
{
    if (exponent > DTI_EXACT_MAX || exponent < -DTI_EXACT_MAX || count > DTI_EXACT_MAX)
        return false;
    const int64_t whole = (int64_t)count + exponent; /* digits before the point */
    const size_t zeros = (size_t)(exponent > 0 ? exponent : whole < 0 ? -whole : 0);
    const size_t point = exponent >= 0 ? 0 : whole > 0 ? 1 : 2;
    if (negative + point + zeros + count > DTI_EXACT_MAX)
        return false;
    if (!dti_buffer_reserve(buffer, negative + point + zeros + count))
        return false;
    char *end = buffer->data + buffer->length;
    *end = '-';
    end += negative;
    if (exponent >= 0) {
        end = dti_digits_put(end, digits, count);
        end = dti_digits_put_zeros(end, zeros);
    } else if (whole > 0) {
        end = dti_digits_put(end, digits, (size_t)whole);
        *end++ = '.';
        end = dti_digits_put(end, digits + whole, count - (size_t)whole);
    } else {
        end = dti_digits_put_zeros(dti_digits_put(end, "0.", 2), zeros);
        end = dti_digits_put(end, digits, count);
    }
    *end = '\0';
    buffer->length = (size_t)(end - buffer->data);
    return true;
}

bool dti_append_product(struct dti_buffer *buffer, bool negative, const struct dti_big *integer,
                        int64_t two, int64_t five)
{
    char own[128];
    struct dti_big product;
    if (integer->failed) {
        buffer->failed = true;
        return false;
    }
    if (integer->count == 0) {
        dti_buffer_append(buffer, "0", 1);
        return true;
    }
    /* An odd number over a power of two has as many decimals as the power says. */
    if (two <= five && -(two + (int64_t)trailing_zero_bits(integer)) > DTI_EXACT_BINARY_MAX - 2)
        return false;
    /* 2^two 5^five = 2^(two - ten) 5^(five - ten) 10^ten, so that neither divides. */
    int64_t ten = two < five ? two : five;
    two -= ten;
    five -= ten;
    /* A digit is at most 3.33 bits, a factor of five more than 2. */
    const int64_t bits_max = INT64_C(10) * DTI_EXACT_BINARY_MAX / 3;
    if (two > bits_max || five > bits_max ||
        (int64_t)dti_big_bits(integer) + two + five * 2 > bits_max)
        return false;
    dti_big_init(&product);
    dti_big_copy(&product, integer);
    dti_big_mul_pow5(&product, (uint32_t)five);
    dti_big_shift_left(&product, (size_t)two);
    size_t count;
    char *const digits = dti_big_to_digits(&product, own, sizeof own, &count);
    dti_big_free(&product);
    if (!digits) {
        buffer->failed = true;
        return false;
    }
    for (; count > 1 && digits[count - 1] == '0'; count--)
        ten++;
    const bool done = dti_append_decimal(buffer, negative, digits, count, ten);
    if (digits != own)
        free(digits);
    return done;
}

bool dti_number_exact(const struct dti_number *number, struct dti_buffer *buffer)
{
    static const char *const words[] = {
        [DTI_CLASS_ZERO] = "-0", [DTI_CLASS_INF] = "-inf", [DTI_CLASS_NAN] = "-nan"};
    if (number->class != DTI_CLASS_FINITE) {
        const bool sign = number->negative && number->class != DTI_CLASS_NAN;
        dti_buffer_puts(buffer, words[number->class] + !sign);
        return true;
    }
    if (!number->quotient && !number->num.hexadecimal)
        return dti_append_decimal(buffer, number->negative, number->num.digits, number->num.count,
                                  number->num.exponent);
    if (!dti_number_is_reducible(number))
        return false;
    struct dti_fraction fraction;
    dti_fraction_init(&fraction, number);
    const bool done =
        dti_fraction_reduce(&fraction) &&
        dti_append_product(buffer, number->negative, &fraction.num, fraction.two, fraction.five);
    if (fraction.num.failed || fraction.den.failed)
        buffer->failed = true;
    dti_fraction_free(&fraction);
    return done;
}

/* Integers modulo 2^64, where 10^64 and 2^64 leave nothing. */
static uint64_t low_bits_of_decimal(const struct dti_term *term)
{
    uint64_t bits = 0;
    if (term->exponent >= 64)
        return 0;
    for (size_t i = 0; i < term->count; i++)
        bits = bits * 10 + dti_hex_digit(term->digits[i]);
    for (int64_t i = 0; i < term->exponent; i++)
        bits *= 10;
    return bits;
}

static uint64_t low_bits_of_hexadecimal(const struct dti_term *term)
{
    uint64_t bits = 0;
    if (term->exponent >= 64)
        return 0;
    for (size_t i = 0; i < term->count; i++)
        bits = bits << 4 | dti_hex_digit(term->digits[i]);
    return bits << term->exponent;
}

/* The integer part's low bits and the rest, by long division. */
static bool divide_out(const struct dti_number *number, uint64_t *ret_bits,
                       struct dti_value *ret_fraction)
{
    struct dti_fraction f;
    *ret_bits = 0;
    dti_value_set(ret_fraction, false, 0, 0);
    if (dti_number_magnitude(number) != DTI_MAGNITUDE_ORDINARY)
        return true;
    dti_fraction_init(&f, number);
    dti_big_mul_pow5(f.five > 0 ? &f.num : &f.den, (uint32_t)(f.five > 0 ? f.five : -f.five));
    dti_big_shift_left(f.two > 0 ? &f.num : &f.den, (size_t)(f.two > 0 ? f.two : -f.two));
    struct dti_big quotient, rest;
    dti_big_init(&quotient);
    dti_big_init(&rest);
    bool ok = !f.num.failed && !f.den.failed;
    if (ok)
        dti_big_divide(&quotient, &rest, &f.num, &f.den);
    ok = ok && !quotient.failed && !rest.failed &&
         dti_big_ratio(ret_fraction, false, &rest, &f.den, 0);
    if (ok && quotient.count > 0)
        *ret_bits = quotient.limb[0];
    dti_big_free(&quotient);
    dti_big_free(&rest);
    dti_fraction_free(&f);
    return ok;
}

bool dti_number_low_bits(const struct dti_number *number, uint64_t *ret_bits,
                         struct dti_value *ret_fraction)
{
    uint64_t bits = 0;
    struct dti_value fraction;
    dti_value_set(&fraction, false, 0, 0);
    if (number->class == DTI_CLASS_FINITE) {
        if (number->quotient || number->num.exponent < 0) {
            if (!divide_out(number, &bits, &fraction))
                return false;
        } else {
            bits = number->num.hexadecimal ? low_bits_of_hexadecimal(&number->num)
                                           : low_bits_of_decimal(&number->num);
        }
    }
    *ret_bits = bits;
    *ret_fraction = fraction;
    return true;
}
