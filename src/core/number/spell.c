/* SPDX-License-Identifier: MIT
 *
 * Numbers to text: shortest decimals, hexfloats, codes, and a requested number of digits, or all
 * of them, rounded once to an integer of any length. This file defines which decimals read back
 * as a number; decimal_shortest.c finds the shortest. */
#include "core/number/spell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/number/bignum.h"
#include "core/number/decimal.h"
#include "core/number/number.h"
#include "core/number/number_terms.h"
#include "core/value.h"
#include "core/wide.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    REPR_SCIENTIFIC_FROM = 16, /* Python's repr: 1e+16 */
    FP64_PRECISION = 53,
    FP64_MAX_EXPONENT = 1023,
    FP64_STEP_EXPONENT = -1074, /* the spacing of subnormals is 2^this */
};

static size_t copy_text(char *buffer, const char *text)
{
    const size_t length = strlen(text);
    memcpy(buffer, text, length + 1);
    return length;
}

/* Writes "nan", "inf", "-inf" with a terminator; false for numbers. */
static bool spell_digitless(char *buffer, const struct dti_value *value, size_t *ret_length)
{
    switch (value->kind) {
    case DTI_CLASS_NAN:
        *ret_length = copy_text(buffer, "nan");
        return true;
    case DTI_CLASS_INF:
        *ret_length = copy_text(buffer, value->negative ? "-inf" : "inf");
        return true;
    case DTI_CLASS_ZERO:
    case DTI_CLASS_FINITE:
        break;
    }
    return false;
}

static size_t spell_zero(char *buffer, bool negative)
{
    return copy_text(buffer, negative ? "-0" : "0");
}

/* Whether a FINITE value is an integer below 2^64; returns it. */
static bool integer_magnitude(const struct dti_value *value, uint64_t *ret_integer)
{
    if (value->exponent < 0 || value->exponent > 63 || value->lo != 0 || value->sticky ||
        (value->hi & dti_low_bits(63 - (unsigned)value->exponent)) != 0)
        return false;
    *ret_integer = value->hi >> (63 - value->exponent);
    return true;
}

/* The exponent of fp64's last place in a FINITE value's binade. */
static int32_t fp64_step_exponent(const struct dti_value *value)
{
    const int32_t step = value->exponent - (FP64_PRECISION - 1);
    return step > FP64_STEP_EXPONENT ? step : FP64_STEP_EXPONENT;
}

static bool fits_fp64(const struct dti_value *value)
{
    const int32_t cut =
        fp64_step_exponent(value) - (value->exponent - 63); /* bits below fp64's last place */
    return value->exponent <= FP64_MAX_EXPONENT && cut <= 63 && value->lo == 0 && !value->sticky &&
           (value->hi & dti_low_bits((unsigned)cut)) == 0;
}

bool dti_value_fits_json(const struct dti_value *value)
{
    uint64_t integer;
    if (value->kind != DTI_CLASS_FINITE)
        return value->kind == DTI_CLASS_ZERO;
    return fits_fp64(value) || integer_magnitude(value, &integer);
}

static size_t spell_integer(char *buffer, bool negative, uint64_t magnitude)
{
    size_t length = 0;
    if (negative)
        buffer[length++] = '-';
    length += dti_digits_write(buffer + length, magnitude);
    buffer[length] = '\0';
    return length;
}

/* scientific_from 0 means the number of digits, as in %.Ng with N digits. */
static size_t spell_interval(char *buffer, const struct dti_value *value,
                             const struct dti_interval *interval, int32_t scientific_from)
{
    struct dti_decimal decimal;
    if (!dti_decimal_shortest(&decimal, interval))
        return dti_spell_hexfloat(buffer, value);
    if (scientific_from == 0)
        scientific_from = (int32_t)decimal.count;
    return dti_decimal_layout(buffer, value->negative, &decimal, scientific_from);
}

/* Fast path for an fp64 with a fraction whose expansion has at most 15 digits: no two decimals
 * of that length round to the same fp64, so the expansion is also the shortest text. The odd
 * part of the significand times a power of five has no trailing zero; 5^22 has 16 digits. */
enum { SHORT_PLACES = 21 };
static bool set_short(struct dti_decimal *ret, const struct dti_value *value)
{
    const unsigned zeros = dti_trailing_zeros(value->hi);
    const int32_t places = 63 - (int32_t)zeros - value->exponent;
    uint64_t digits;
    if (places <= 0 || places > SHORT_PLACES ||
        !dti_mul_u64(value->hi >> zeros, dti_pow5_small[places], &digits) ||
        digits >= UINT64_C(1000000000000000))
        return false;
    ret->count = (unsigned)dti_digits_write(ret->digit, digits);
    ret->exponent = (int32_t)ret->count - 1 - places;
    return true;
}

size_t dti_spell_text(char buffer[DTI_TEXT_SIZE], const struct dti_value *value)
{
    size_t length;
    uint64_t integer;
    if (value->kind > DTI_CLASS_FINITE && spell_digitless(buffer, value, &length))
        return length;
    if (value->kind == DTI_CLASS_ZERO)
        return spell_zero(buffer, value->negative);

    const bool fits = fits_fp64(value);
    if ((!fits || value->exponent < FP64_PRECISION) && integer_magnitude(value, &integer))
        return spell_integer(buffer, value->negative, integer);

    struct dti_decimal decimal;
    if (fits && set_short(&decimal, value))
        return dti_decimal_layout(buffer, value->negative, &decimal, REPR_SCIENTIFIC_FROM);
    const bool power_of_two = value->hi == UINT64_C(1) << 63;
    struct dti_interval interval = {
        .significand = value->hi, .exponent = value->exponent - 63, .quarter_below = power_of_two};
    if (fits) {
        interval.exponent = fp64_step_exponent(value);
        interval.significand >>= 63 - (value->exponent - interval.exponent);
        interval.quarter_below = power_of_two && interval.exponent > FP64_STEP_EXPONENT;
    }
    interval.includes_lower = interval.includes_upper = interval.significand % 2 == 0;
    return spell_interval(buffer, value, &interval, REPR_SCIENTIFIC_FROM);
}

/* Rounds a value that is certainly a normal fp64 to the nearest one, without computing its code. */
static bool round_normal(struct dti_value *ret, const struct dti_value *value)
{
    const unsigned drop = 64 - FP64_PRECISION;
    if (value->kind != DTI_CLASS_FINITE || value->exponent >= FP64_MAX_EXPONENT ||
        value->exponent <= -FP64_MAX_EXPONENT)
        return false;
    const uint64_t half = UINT64_C(1) << (drop - 1), rest = value->hi & (2 * half - 1);
    const bool more = value->lo != 0 || value->sticky, odd = (value->hi & 2 * half) != 0;
    const bool away = rest > half || (rest == half && (more || odd));
    const uint64_t kept = (value->hi >> drop) + away;
    dti_value_set(ret, value->negative, kept, value->exponent - (FP64_PRECISION - 1));
    return true;
}

size_t dti_spell_rounded(char buffer[DTI_TEXT_SIZE], const struct dti_value *value)
{
    static const struct dti_policy nearest_even = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_format *const fp64 = dti_format_get(DTI_FP64);
    struct dti_outcome outcome;
    struct dti_value rounded;
    if (round_normal(&rounded, value))
        return dti_spell_text(buffer, &rounded);
    dti_encode(fp64, value, &nearest_even, 0, &outcome);
    dti_decode(fp64, outcome.code, &rounded);
    return dti_spell_text(buffer, &rounded);
}

/* The numbers that nearest-even rounds to this one; at the midpoint the even significand wins.
 * Without mantissa bits none is even, and formats differ in which one wins. It does not matter
 * then: if 3/4 or 3/2 of a power of two is a decimal of one digit (3 or 6), so is the power
 * itself. */
static struct dti_interval rounding_interval(const struct dti_format *format,
                                             const struct dti_value *value)
{
    struct dti_interval interval;
    interval.exponent = dti_format_step_exponent(format, value);
    interval.significand = value->hi >> (63 - (value->exponent - interval.exponent));
    interval.quarter_below =
        value->hi == UINT64_C(1) << 63 && value->exponent > dti_format_min_exponent(format);
    interval.includes_lower = interval.includes_upper = interval.significand % 2 == 0;
    return interval;
}

size_t dti_spell_regular(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                         const struct dti_value *value)
{
    size_t length;
    uint64_t integer;
    if (spell_digitless(buffer, value, &length))
        return length;
    if (value->kind == DTI_CLASS_ZERO)
        return spell_zero(buffer, value->negative);
    if (!dti_format_is_float(format) && integer_magnitude(value, &integer))
        return spell_integer(buffer, value->negative, integer);
    const struct dti_interval interval = rounding_interval(format, value);
    return spell_interval(buffer, value, &interval, 0);
}

bool dti_spell_fp64_texts(char text[DTI_TEXT_SIZE], char shortest[DTI_TEXT_SIZE],
                          const struct dti_value *value)
{
    struct dti_decimal decimal;
    uint64_t integer;
    if (value->kind != DTI_CLASS_FINITE || !fits_fp64(value))
        return false;
    if (value->exponent < FP64_PRECISION && integer_magnitude(value, &integer)) {
        decimal.count = (unsigned)dti_digits_write(decimal.digit, integer);
        decimal.exponent = (int32_t)decimal.count - 1;
        dti_decimal_strip(&decimal);
    } else if (!set_short(&decimal, value)) {
        const struct dti_interval interval = rounding_interval(dti_format_get(DTI_FP64), value);
        if (!dti_decimal_shortest(&decimal, &interval))
            return false;
    }
    (void)dti_decimal_layout(text, value->negative, &decimal, REPR_SCIENTIFIC_FROM);
    (void)dti_decimal_layout(shortest, value->negative, &decimal, (int32_t)decimal.count);
    return true;
}

static const char hex_digits[] = "0123456789abcdef";

size_t dti_spell_hexfloat(char buffer[DTI_TEXT_SIZE], const struct dti_value *value)
{
    size_t length;
    if (spell_digitless(buffer, value, &length))
        return length;
    char *end = buffer;
    *end = '-';
    end += value->negative;
    if (value->kind == DTI_CLASS_ZERO)
        return (size_t)(end - buffer) + copy_text(end, "0x0p+0");

    uint64_t high = value->hi << 1 | value->lo >> 63,
             low = value->lo << 1; /* bits after the leading one */
    memcpy(end, "0x1", 3);
    end += 3;
    if ((high | low) != 0)
        *end++ = '.';
    while ((high | low) != 0) {
        *end++ = hex_digits[high >> 60];
        high = high << 4 | low >> 60;
        low <<= 4;
    }
    *end++ = 'p';
    *end++ = value->exponent < 0 ? '-' : '+';
    end +=
        dti_digits_write(end, (uint64_t)(value->exponent < 0 ? -value->exponent : value->exponent));
    *end = '\0';
    return (size_t)(end - buffer);
}

size_t dti_spell_code(char buffer[DTI_TEXT_SIZE], uint64_t code, unsigned width)
{
    const unsigned count = (width + 3) / 4;
    code &= dti_low_bits(width);
    buffer[0] = '0';
    buffer[1] = 'x';
    for (unsigned i = 0; i < count; i++)
        buffer[2 + i] = hex_digits[code >> (4 * (count - 1 - i)) & 15];
    buffer[2 + count] = '\0';
    return 2 + count;
}

size_t dti_spell_binary(char buffer[DTI_BINARY_SIZE], uint64_t code, unsigned width)
{
    static const char nibbles[] =
        "0000000100100011010001010110011110001001101010111100110111101111";
    unsigned i = width;
    buffer[width] = '\0';
    for (; i >= 4; code >>= 4)
        memcpy(buffer + (i -= 4), nibbles + 4 * (code & 15), 4);
    for (; i > 0; code >>= 1)
        buffer[--i] = (char)('0' + (code & 1));
    return width;
}

size_t dti_spell_u64(char buffer[DTI_TEXT_SIZE], uint64_t value)
{
    return spell_integer(buffer, false, value);
}

/* floor(n x log10(2)), or off by one near an integer. */
static int32_t log10_of_power(int32_t n)
{
    const int64_t product = n * INT64_C(323228496); /* log10(2) x 2^30 */
    return (int32_t)(product >= 0 ? product >> 30 : ~(~product >> 30));
}

static bool is_odd(const struct dti_big *b)
{
    return b->count > 0 && b->limb[0] % 2 != 0;
}

/* b / 2^bits to nearest, ties to even; beyond: the true number is slightly larger. */
static void round_shift(struct dti_big *b, size_t bits, bool beyond)
{
    if (bits == 0)
        return;
    const bool rest = dti_big_shift_right(b, bits - 1) || beyond;
    const bool half = is_odd(b);
    (void)dti_big_shift_right(b, 1);
    if (half && (rest || is_odd(b)))
        dti_big_mul_add(b, 1, 1);
}

static void round_quotient(struct dti_big *b, const struct dti_big *divisor, bool beyond)
{
    struct dti_big rest, up;
    dti_big_init(&rest);
    dti_big_init(&up);
    dti_big_divide(b, &rest, b, divisor);
    dti_big_sub(&up, divisor, &rest);
    const int against_middle = dti_big_compare(&rest, &up);
    if (against_middle > 0 || (against_middle == 0 && (beyond || is_odd(b))))
        dti_big_mul_add(b, 1, 1);
    if (rest.failed || up.failed)
        dti_big_fail(b);
    dti_big_free(&rest);
    dti_big_free(&up);
}

/* Large powers of ten are bracketed by two short numbers; they are computed in full only if that
 * is inconclusive. */
enum power_side { POWER_EXACT, POWER_BELOW, POWER_ABOVE };

enum {
    BRACKET_FROM = 2000, /* exponents of ten */
    BRACKET_BITS = 512,  /* each squaring doubles the relative error: 25 of them leave 480 bits */
};

/* 5^power = ret x 2^(return value). */
static int64_t set_power_of_five(struct dti_big *ret, uint32_t power, enum power_side kind)
{
    int64_t exponent = 0;
    dti_big_set(ret, 1);
    if (kind == POWER_EXACT) {
        dti_big_mul_pow5(ret, power);
        return 0;
    }
    for (unsigned bit = 32; bit-- > 0;) {
        dti_big_mul(ret, ret, ret);
        exponent *= 2;
        if (power >> bit & 1)
            dti_big_mul_add(ret, 5, 0);
        const size_t bits = dti_big_bits(ret);
        if (bits > BRACKET_BITS) {
            const bool lost = dti_big_shift_right(ret, bits - BRACKET_BITS);
            exponent += (int64_t)(bits - BRACKET_BITS);
            if (lost && kind == POWER_ABOVE)
                dti_big_mul_add(ret, 1, 1);
        }
    }
    return exponent;
}

/* |value| x 10^power, rounded to an integer. */
static void set_scaled(struct dti_big *ret, const struct dti_value *value, int64_t power,
                       enum power_side kind)
{
    const bool divides = power < 0;
    struct dti_big fives;
    dti_big_init(&fives);
    int64_t exponent = dti_big_from_value(ret, value) + power;
    const int64_t twos = set_power_of_five(&fives, (uint32_t)(divides ? -power : power), kind);
    if (divides) {
        exponent -= twos;
        if (exponent >= 0)
            dti_big_shift_left(ret, (size_t)exponent);
        else
            dti_big_shift_left(&fives, (size_t)-exponent);
        round_quotient(ret, &fives, value->sticky);
    } else {
        exponent += twos;
        dti_big_mul(ret, ret, &fives);
        if (exponent >= 0)
            dti_big_shift_left(ret, (size_t)exponent);
        else
            round_shift(ret, (size_t)-exponent, value->sticky);
    }
    dti_big_free(&fives);
}

/* |value| x 10^power rounded to an integer, saturated at 64 bits. False if memory ran out. */
static bool scaled_integer(const struct dti_value *value, int64_t power, enum power_side kind,
                           uint64_t *ret)
{
    struct dti_big scaled;
    dti_big_init(&scaled);
    set_scaled(&scaled, value, power, kind);
    const bool failed = scaled.failed;
    if (!failed && scaled.count <= 1)
        *ret = scaled.count == 1 ? scaled.limb[0] : 0;
    else
        *ret = UINT64_MAX;
    dti_big_free(&scaled);
    return !failed;
}

/* Fast path: uses the upper 64 bits of the value and a short power; false if they are
 * inconclusive. */
static bool scaled_word(const struct dti_value *value, int64_t power, uint64_t *ret)
{
    const int64_t shift = 63 - (int64_t)value->exponent;
    if (power < 0 || power > 19 || shift < 65 || shift > 126)
        return false;
    /* high:low / 2^shift; the rest of the value adds less than `ten` to low */
    const uint64_t ten = dti_pow5_small[power] << power;
    const uint64_t half = UINT64_C(1) << (shift - 65); /* of high */
    uint64_t high;
    const uint64_t low = dti_wide_mul_add(value->hi, ten, 0, 0, &high);
    const uint64_t whole = high >> (shift - 64), rest = high & (2 * half - 1);
    const bool more = value->lo != 0 || value->sticky;
    if (more && rest + 1 == half && low + ten < ten)
        return false; /* the rest may cross the midpoint */
    const bool odd = whole % 2 != 0, tie = rest == half && low == 0 && !more;
    *ret = whole + (rest >= half && (!tie || odd));
    return true;
}

/* The same, by the fast path if it is conclusive. */
static bool scaled_digits(const struct dti_value *value, int64_t power, uint64_t *ret)
{
    uint64_t one, other;
    if (scaled_word(value, power, ret))
        return true;
    if ((power > BRACKET_FROM || power < -BRACKET_FROM) &&
        scaled_integer(value, power, POWER_BELOW, &one) &&
        scaled_integer(value, power, POWER_ABOVE, &other) && one == other) {
        *ret = one;
        return true;
    }
    return scaled_integer(value, power, POWER_EXACT, ret);
}

/* Rounds a FINITE value to `count` significant digits, 1 to 18. False if memory ran out. */
static bool round_digits(struct dti_decimal *ret, const struct dti_value *value, unsigned count)
{
    uint64_t low = 1, digits;
    for (unsigned i = 1; i < count; i++)
        low *= 10;
    ret->exponent = log10_of_power(value->exponent);
    /* The estimate may be off by one or two, and rounding up to a power of ten adds a digit. */
    for (;;) {
        if (!scaled_digits(value, (int64_t)count - 1 - ret->exponent, &digits))
            return false;
        if (digits >= low * 10)
            ret->exponent++;
        else if (digits < low)
            ret->exponent--;
        else
            break;
    }
    ret->count = (unsigned)dti_digits_write(ret->digit, digits);
    return true;
}

/* For a zero or FINITE value. False if memory ran out. */
static bool set_digits(struct dti_decimal *ret, const struct dti_value *value, unsigned count)
{
    if (value->kind == DTI_CLASS_FINITE)
        return round_digits(ret, value, count);
    memset(ret->digit, '0', count);
    ret->count = count;
    ret->exponent = 0;
    return true;
}

size_t dti_spell_digits(char buffer[DTI_TEXT_SIZE], const struct dti_value *value, unsigned digits)
{
    struct dti_decimal decimal;
    size_t length;
    if (spell_digitless(buffer, value, &length))
        return length;
    if (!set_digits(&decimal, value, digits))
        return dti_spell_hexfloat(buffer, value);
    dti_decimal_strip(&decimal);
    return dti_decimal_layout(buffer, value->negative, &decimal, (int32_t)digits);
}

size_t dti_spell_scientific(char buffer[DTI_TEXT_SIZE], const struct dti_value *value,
                            unsigned decimals)
{
    struct dti_decimal decimal;
    size_t length;
    if (spell_digitless(buffer, value, &length))
        return length;
    if (!set_digits(&decimal, value, decimals + 1))
        return dti_spell_hexfloat(buffer, value);
    return dti_decimal_layout_scientific(buffer, value->negative, &decimal);
}

/* The number of digits after the point of a zero or FINITE value. */
static size_t count_decimals(const struct dti_value *value)
{
    if (value->kind == DTI_CLASS_ZERO)
        return 0;
    const uint64_t lowest = value->lo != 0 ? value->lo : value->hi;
    const unsigned zeros = dti_trailing_zeros(lowest);
    const int32_t exponent = value->exponent - (value->lo != 0 ? 127 : 63) + (int32_t)zeros;
    return exponent < 0 ? (size_t)-exponent : 0;
}

/* Appends the digits of an integer with the point `decimals` from the end and zeros after it. */
static bool append_digits(struct dti_buffer *buffer, bool negative, const char *digits,
                          size_t count, size_t decimals, size_t zeros)
{
    if (count > SIZE_MAX - decimals || count + decimals > SIZE_MAX - zeros - 4 ||
        !dti_buffer_reserve(buffer, count + decimals + zeros + 4)) {
        buffer->failed = true;
        return false;
    }
    const size_t whole = count > decimals ? count - decimals : 0;
    if (negative)
        dti_buffer_append(buffer, "-", 1);
    if (whole > 0)
        dti_buffer_append(buffer, digits, whole);
    else
        dti_buffer_append(buffer, "0", 1);
    if (decimals + zeros > 0) {
        dti_buffer_append(buffer, ".", 1);
        if (count < decimals)
            dti_buffer_fill(buffer, '0', decimals - count);
        dti_buffer_append(buffer, digits + whole, count - whole);
        dti_buffer_fill(buffer, '0', zeros);
    }
    return !buffer->failed;
}

/* Appends a zero or FINITE value rounded to `decimals` digits after the point, then `zeros`
 * more. */
static bool append_rounded(struct dti_buffer *buffer, const struct dti_value *value,
                           size_t decimals, size_t zeros)
{
    struct dti_big scaled;
    char own[128], *digits; /* enough for formats up to 32 bits, except their extremes */
    size_t count = 0;
    bool done = false;
    dti_big_init(&scaled);
    if (value->kind == DTI_CLASS_FINITE)
        set_scaled(&scaled, value, (int64_t)decimals, POWER_EXACT);
    digits = dti_big_to_digits(&scaled, own, sizeof own, &count);
    if (digits)
        done = append_digits(buffer, value->negative, digits, count, decimals, zeros);
    else
        buffer->failed = true;
    if (digits != own)
        dti_free(digits);
    dti_big_free(&scaled);
    return done;
}

/* An upper estimate of the number of digits before the point. */
static size_t count_whole(const struct dti_value *value)
{
    const bool large = value->kind == DTI_CLASS_FINITE && value->exponent > 0;
    return large ? (size_t)log10_of_power(value->exponent) + 2 : 1;
}

/* Fast path: the expansion of FINITE values whose digits, as an integer, fit in 128 bits;
 * otherwise returns false and appends nothing. */
static bool append_short(struct dti_buffer *buffer, const struct dti_value *value)
{
    char digits[2 * DTI_DECIMAL_DIGITS];
    if (value->kind != DTI_CLASS_FINITE || value->lo != 0 || value->sticky)
        return false;
    const unsigned zeros = dti_trailing_zeros(value->hi);
    const int64_t power = (int64_t)value->exponent - 63 + (int64_t)zeros; /* of the odd part */
    uint64_t number = value->hi >> zeros, high = 0;
    if (power < INT64_C(-2) * DTI_POW5_SMALL_MAX || (power > 0 && value->exponent > 63))
        return false;
    if (power > 0)
        number <<= power;
    for (int64_t left = power < 0 ? -power : 0, step; left > 0; left -= step) {
        step = left < DTI_POW5_SMALL_MAX ? left : DTI_POW5_SMALL_MAX;
        if (!dti_wide_scale(&high, &number, dti_pow5_small[step]))
            return false;
    }
    const size_t count = dti_digits_write_wide(digits, high, number);
    return dti_append_decimal(buffer, value->negative, digits, count, power < 0 ? power : 0);
}

/* The expansion of FINITE values below 2^64 whose lowest bit is near the point; otherwise
 * returns false and appends nothing. Repeatedly multiplies the fraction by a power of ten; the
 * integer part of each product is the next digits. */
static bool append_near(struct dti_buffer *buffer, const struct dti_value *value)
{
    enum { LIMBS = 4, CHUNK = 18, WORD = 64 };
    const uint64_t ten = UINT64_C(1000000000000000000);
    const size_t decimals = count_decimals(value);
    if (value->kind != DTI_CLASS_FINITE || value->lo != 0 || value->sticky ||
        value->exponent > 62 || decimals == 0 || decimals > (size_t)LIMBS * WORD ||
        !dti_buffer_reserve(buffer, DTI_DECIMAL_DIGITS + decimals + CHUNK))
        return false;
    uint64_t limb[LIMBS + 1] = {0}; /* highest first */
    uint64_t whole = 0;
    if (value->exponent >= 0) {
        whole = value->hi >> (63 - value->exponent);
        limb[0] = value->hi << (value->exponent + 1);
    } else {
        const unsigned shift = (unsigned)(-value->exponent - 1), part = shift % WORD;
        limb[shift / WORD] = value->hi >> part;
        if (part > 0)
            limb[shift / WORD + 1] = value->hi << (WORD - part);
    }
    char *end = buffer->data + buffer->length;
    *end = '-';
    end += value->negative;
    end += dti_digits_write(end, whole);
    *end++ = '.';
    size_t limbs = (decimals + WORD - 1) / WORD;
    for (size_t left = decimals, some; left > 0; left -= some) {
        char digits[DTI_DECIMAL_DIGITS];
        uint64_t front = 0;
        for (size_t i = limbs; i-- > 0;)
            limb[i] = dti_wide_mul_add(limb[i], ten, front, 0, &front);
        while (limbs > 0 && limb[limbs - 1] == 0)
            limbs--;
        (void)dti_digits_write(digits, ten + front); /* a 1, followed by leading zeros */
        memcpy(end, digits + 1, CHUNK);
        some = left < CHUNK ? left : CHUNK;
        end += some;
    }
    *end = '\0';
    buffer->length = (size_t)(end - buffer->data);
    return true;
}

bool dti_spell_exact(struct dti_buffer *buffer, const struct dti_value *value)
{
    char text[DTI_TEXT_SIZE];
    size_t length;
    if (spell_digitless(text, value, &length)) {
        dti_buffer_append(buffer, text, length);
        return !buffer->failed;
    }
    if (append_short(buffer, value) || append_near(buffer, value))
        return true;
    const size_t decimals = count_decimals(value);
    if (value->sticky || count_whole(value) + decimals > DTI_EXACT_MAX)
        return false;
    return append_rounded(buffer, value, decimals, 0);
}

bool dti_spell_fixed(struct dti_buffer *buffer, const struct dti_value *value, size_t decimals)
{
    char text[DTI_TEXT_SIZE];
    size_t length;
    if (spell_digitless(text, value, &length)) {
        dti_buffer_append(buffer, text, length);
        return !buffer->failed;
    }
    const size_t all = count_decimals(value);
    const size_t rounded = decimals < all ? decimals : all;
    if (count_whole(value) + rounded > DTI_EXACT_MAX)
        return false;
    return append_rounded(buffer, value, rounded, decimals - rounded);
}
