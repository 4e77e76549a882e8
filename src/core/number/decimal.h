/* SPDX-License-Identifier: MIT
 *
 * Decimal digits, passed from the arithmetic that computes them to the text that shows them. */
#ifndef CORE_NUMBER_DECIMAL_H
#define CORE_NUMBER_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DTI_DECIMAL_DIGITS = 24 }; /* 64 bits have up to 20, the shortest form up to 21 */

/* d.ddd x 10^exponent, the first digit not '0'. */
struct dti_decimal {
    char digit[2 * DTI_DECIMAL_DIGITS]; /* twice: a constant number is copied from any position */
    unsigned count;
    int32_t exponent;
};

/* significand x 2^exponent, and the interval of decimals that read back as it: half a unit of
 * the significand upward, half or a quarter downward. significand != 0. */
struct dti_interval {
    uint64_t significand;
    int32_t exponent;
    bool quarter_below;
    bool includes_lower, includes_upper; /* whether the interval is closed at that end */
};

/* The fewest digits inside the interval; of those the nearest to the number, ties to the even
 * digit. False if memory ran out, which is possible only for exponents beyond about +-1000. */
bool dti_decimal_shortest(struct dti_decimal *ret_decimal, const struct dti_interval *interval);

/* Drops trailing zeros. */
static inline void dti_decimal_strip(struct dti_decimal *decimal)
{
    while (decimal->count > 1 && decimal->digit[decimal->count - 1] == '0')
        decimal->count--;
}

/* Writes decimal digits without a terminator; returns their number. Always writes at least eight
 * bytes. */
size_t dti_digits_write(char *text, uint64_t number);
/* The same for high:low, up to 39 digits. */
size_t dti_digits_write_wide(char *text, uint64_t high, uint64_t low);

/* Appends the given digits, or zeros; both return the new end. */
static inline char *dti_digits_put(char *end, const char *digits, size_t count)
{
    memcpy(end, digits, count);
    return end + count;
}

static inline char *dti_digits_put_zeros(char *end, size_t count)
{
    memset(end, '0', count);
    return end + count;
}

/* Lays out like %g: with an exponent if that is below -4 or at least `scientific_from`.
 * Terminated; returns the length. */
size_t dti_decimal_layout(char *text, bool negative, const struct dti_decimal *decimal,
                          int32_t scientific_from);

/* d.ddde+XX */
size_t dti_decimal_layout_scientific(char *text, bool negative, const struct dti_decimal *decimal);

#endif
