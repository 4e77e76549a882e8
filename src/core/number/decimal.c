/* SPDX-License-Identifier: MIT
 *
 * Digits to text: converts 64-bit integers to digits, and places the point and the exponent.
 * Knows nothing of binary numbers. */
#include "core/number/decimal.h"

#include <string.h>

#include "core/wide.h"

/* The eight digits of a number below 10^8, the first in the lowest byte. SWAR: splits into
 * halves, quarters and digits in parallel lanes, dividing by multiplication with reciprocals
 * that are exact in this range. */
static inline uint64_t split_eight(uint32_t number)
{
    const uint64_t halves = number / 10000 | (uint64_t)(number % 10000) << 32;
    const uint64_t hundreds = (halves * 10486) >> 20 & UINT64_C(0x0000007F0000007F);
    const uint64_t quarters = hundreds | (halves - hundreds * 100) << 16;
    const uint64_t tens = (quarters * 103) >> 10 & UINT64_C(0x000F000F000F000F);
    return tens | (quarters - tens * 10) << 8;
}

static void put_eight(char *text, uint64_t digits)
{
    digits |= UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(text, &digits, sizeof digits);
#else
    for (unsigned i = 0; i < 8; i++)
        text[i] = (char)(digits >> 8 * i);
#endif
}

/* The same without leading zeros; returns the number of digits. */
static size_t put_head(char *text, uint32_t number)
{
    const uint64_t digits = split_eight(number);
    const unsigned zeros = dti_trailing_zeros(digits | UINT64_C(1) << 56) / 8;
    put_eight(text, digits >> 8 * zeros);
    return 8 - zeros;
}

size_t dti_digits_write(char *text, uint64_t number)
{
    const uint32_t group = 100000000;
    if (number < group)
        return put_head(text, (uint32_t)number);
    const uint64_t above = number / group;
    const size_t length =
        above < group ? put_head(text, (uint32_t)above) : dti_digits_write(text, above);
    put_eight(text + length, split_eight((uint32_t)(number % group)));
    return length + 8;
}

size_t dti_digits_write_wide(char *text, uint64_t high, uint64_t low)
{
    const uint64_t eight = 100000000, group = eight * eight;
    uint64_t rest;
    if (high == 0)
        return dti_digits_write(text, low);
    const uint64_t above = dti_wide_div(high % group, low, group, &rest);
    const size_t length = dti_digits_write_wide(text, high / group, above);
    put_eight(text + length, split_eight((uint32_t)(rest / eight)));
    put_eight(text + length + 8, split_eight((uint32_t)(rest % eight)));
    return length + 16;
}

/* Copies the maximum number of digits, even if there are fewer: a constant-size copy is a few
 * instructions. */
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
    *end = '-'; /* signs are unpredictable: avoid a branch */
    end += negative;
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
    *end = '-'; /* signs are unpredictable: avoid a branch */
    end += negative;
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
