/* SPDX-License-Identifier: MIT
 *
 * Digits to text: how 64-bit integers become digits, and where the point and the exponent go. Knows
 * nothing of binary numbers. */
#include "core/decimal.h"

#include <string.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

static void write_eight(char *text, uint32_t number)
{
    const uint32_t high = number / 10000, low = number % 10000;
    memcpy(text, pairs + 2 * (high / 100), 2);
    memcpy(text + 2, pairs + 2 * (high % 100), 2);
    memcpy(text + 4, pairs + 2 * (low / 100), 2);
    memcpy(text + 6, pairs + 2 * (low % 100), 2);
}

/* Up to eight digits, without leading zeros. */
static size_t write_head(char *text, uint32_t number)
{
    const unsigned upper = number >= 10000 ? 4 : 0; /* digits above the four that are counted */
    const uint32_t four = upper > 0 ? number / 10000 : number;
    const size_t count = upper + 1U + (four >= 10) + (four >= 100) + (four >= 1000);
    char *end = text + count;
    for (; number >= 10; number /= 100)
        memcpy(end -= 2, pairs + 2 * (number % 100), 2);
    if (end > text)
        *text = (char)('0' + number);
    return count;
}

size_t dti_digits_write(char *text, uint64_t number)
{
    const uint32_t group = 100000000;
    if (number < group)
        return write_head(text, (uint32_t)number);
    const uint64_t above = number / group;
    const size_t length =
        above < group ? write_head(text, (uint32_t)above) : dti_digits_write(text, above);
    write_eight(text + length, (uint32_t)(number % group));
    return length + 8;
}

void dti_decimal_strip(struct dti_decimal *decimal)
{
    while (decimal->count > 1 && decimal->digit[decimal->count - 1] == '0')
        decimal->count--;
}

void dti_decimal_set(struct dti_decimal *ret_decimal, uint64_t number, int32_t scale)
{
    ret_decimal->count = (unsigned)dti_digits_write(ret_decimal->digit, number);
    ret_decimal->exponent = scale + (int32_t)ret_decimal->count - 1;
    dti_decimal_strip(ret_decimal);
}

/* Digits with room for all of them behind `end`, also where there are fewer: a copy of constant
 * size is a few instructions. */
static char *put_all(char *end, const char *digits, size_t count)
{
    memcpy(end, digits, DTI_DECIMAL_DIGITS);
    return end + count;
}

size_t dti_decimal_layout_scientific(char *text, bool negative, const struct dti_decimal *decimal)
{
    const bool shrinks = decimal->exponent < 0;
    const uint32_t magnitude = (uint32_t)(shrinks ? -decimal->exponent : decimal->exponent);
    char *end = text;
    if (negative)
        *end++ = '-';
    *end++ = decimal->digit[0];
    if (decimal->count > 1) {
        *end++ = '.';
        end = put_all(end, decimal->digit + 1, decimal->count - 1);
    }
    *end++ = 'e';
    *end++ = shrinks ? '-' : '+';
    if (magnitude < 10)
        *end++ = '0';
    end += dti_digits_write(end, magnitude);
    *end = '\0';
    return (size_t)(end - text);
}

size_t dti_decimal_layout(char *text, bool negative, const struct dti_decimal *decimal,
                          int32_t scientific_from)
{
    const int32_t exponent = decimal->exponent;
    if (exponent < -4 || exponent >= scientific_from)
        return dti_decimal_layout_scientific(text, negative, decimal);

    char *end = text;
    if (negative)
        *end++ = '-';
    if (exponent < 0) {
        memcpy(end, "0.000", 5);
        end = put_all(end + 1 - exponent, decimal->digit, decimal->count);
    } else {
        const size_t whole = (size_t)exponent + 1, count = decimal->count;
        if (count <= whole) {
            end = dti_digits_put_zeros(put_all(end, decimal->digit, count), whole - count);
        } else {
            end = put_all(end, decimal->digit, whole);
            *end++ = '.';
            end = put_all(end, decimal->digit + whole, count - whole);
        }
    }
    *end = '\0';
    return (size_t)(end - text);
}
