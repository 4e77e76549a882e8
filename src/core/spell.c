/* SPDX-License-Identifier: MIT
 *
 * Number to text where the text is short: shortest decimals, hexfloats, codes. Which numbers read
 * back as which is decided here; the digits are found in decimal_shortest.c. */
#include "dtinfo/spell.h"

#include <string.h>

#include "core/bignum.h"
#include "core/decimal.h"
#include "core/spell_parts.h"
#include "core/wide.h"
#include "dtinfo/checked.h"

enum {
    REPR_SCIENTIFIC_FROM = 16, /* Python's repr: 1e+16 */
    FP64_PRECISION = 53,
    FP64_MAX_EXPONENT = 1023,
    FP64_STEP_EXPONENT = -1074, /* of subnormals */
};

static size_t copy_text(char *buffer, const char *text)
{
    const size_t length = strlen(text);
    memcpy(buffer, text, length + 1);
    return length;
}

bool dti_spell_digitless(char *buffer, const struct dti_value *value, size_t *ret_length)
{
    switch (value->class) {
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

/* Whether a FINITE value is an integer below 2^64, and which. */
static bool integer_magnitude(const struct dti_value *value, uint64_t *ret_integer)
{
    if (value->exponent < 0 || value->exponent > 63 || value->lo != 0 || value->sticky ||
        (value->hi & dti_low_bits(63 - (unsigned)value->exponent)) != 0)
        return false;
    *ret_integer = value->hi >> (63 - value->exponent);
    return true;
}

/* The exponent of the last place of an fp64 in a FINITE value's binade. */
static int32_t fp64_step_exponent(const struct dti_value *value)
{
    const int32_t step = value->exponent - (FP64_PRECISION - 1);
    return step > FP64_STEP_EXPONENT ? step : FP64_STEP_EXPONENT;
}

static bool fits_fp64(const struct dti_value *value)
{
    const int32_t cut =
        fp64_step_exponent(value) - (value->exponent - 63); /* bits below fp64's last */
    return value->exponent <= FP64_MAX_EXPONENT && cut <= 63 && value->lo == 0 && !value->sticky &&
           (value->hi & dti_low_bits((unsigned)cut)) == 0;
}

bool dti_value_fits_json(const struct dti_value *value)
{
    uint64_t integer;
    if (value->class != DTI_CLASS_FINITE)
        return value->class == DTI_CLASS_ZERO;
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

/* scientific_from 0 stands for the number of digits, as in %.Ng with N digits. */
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

/* An fp64 with a fraction whose expansion has at most 15 digits: no two decimals of that length
 * round to the same fp64, so that it is also its shortest text. The odd part of the significand
 * times a power of five ends in no zero; 5^22 has 16 digits. */
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
    if (value->class > DTI_CLASS_FINITE && dti_spell_digitless(buffer, value, &length))
        return length;
    if (value->class == DTI_CLASS_ZERO)
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

/* What is a normal fp64 with certainty, rounded to the nearest one without its code. */
static bool round_normal(struct dti_value *ret, const struct dti_value *value)
{
    const unsigned drop = 64 - FP64_PRECISION;
    if (value->class != DTI_CLASS_FINITE || value->exponent >= FP64_MAX_EXPONENT ||
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

/* The numbers that nearest-even turns into this one; half way to a neighbour the even significand
 * wins. Without mantissa bits none is even and formats differ in who wins, but then it does not
 * matter: where 3/4 or 3/2 of a power of two is a decimal of one digit (3 or 6), so is the power
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

size_t dti_spell_shortest(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                          uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    return dti_spell_shortest_value(buffer, format, &value);
}

size_t dti_spell_shortest_value(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                                const struct dti_value *value)
{
    size_t length;
    uint64_t integer;
    if (dti_spell_digitless(buffer, value, &length))
        return length;
    if (value->class == DTI_CLASS_ZERO)
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
    if (value->class != DTI_CLASS_FINITE || !fits_fp64(value))
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
    if (dti_spell_digitless(buffer, value, &length))
        return length;
    char *end = buffer;
    *end = '-';
    end += value->negative;
    if (value->class == DTI_CLASS_ZERO)
        return (size_t)(end - buffer) + copy_text(end, "0x0p+0");

    uint64_t high = value->hi << 1 | value->lo >> 63,
             low = value->lo << 1; /* after the leading one */
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
