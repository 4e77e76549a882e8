/* SPDX-License-Identifier: MIT
 *
 * The shortest text of a power of two in a tapered format. Steps below and above it may have any
 * ratio, and near the ends of the range of a posit the next numbers are further off than the number
 * itself, so the interval that decimal_shortest.c works with does not describe what rounds to it.
 * Each length is tried: the nearest decimal, and the one on the other side. */
#include <stdlib.h>
#include <string.h>

#include "core/number/decimal.h"
#include "core/number/number.h"
#include "core/number/spell.h"

enum { DIGITS_MOST = 17 };

/* Whether the decimal rounds to the value, and is not beyond the largest number. */
static bool reads_back(const struct dti_format *format, const struct dti_value *value,
                       const struct dti_decimal *decimal)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    char text[DTI_TEXT_SIZE];
    struct dti_number number;
    struct dti_value read, stored;
    struct dti_outcome outcome;
    const size_t length = dti_decimal_layout(text, value->negative, decimal, 0);
    if (dti_number_parse_value(&number, &read, text, length, NULL) != DTI_OK)
        return false;
    dti_number_free(&number);
    dti_encode(format, &read, &nearest, 0, &outcome);
    dti_decode(format, outcome.code, &stored);
    return (outcome.flags & DTI_FLAG_OVERFLOW) == 0 && dti_value_compare(&stored, value) == 0;
}

/* The value to so many digits. */
static void nearest_decimal(struct dti_decimal *ret, const struct dti_value *value, unsigned digits)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value magnitude = *value;
    magnitude.negative = false;
    (void)dti_spell_scientific(text, &magnitude, digits - 1);
    const char *at = text;
    ret->count = 0;
    for (; *at != 'e'; at++) {
        if (*at != '.')
            ret->digit[ret->count++] = *at;
    }
    ret->exponent = (int32_t)strtol(at + 1, NULL, 10);
}

/* Adds or subtracts one in the last digit, of which the first stays the first. */
static void move(struct dti_decimal *decimal, bool up)
{
    const char last = up ? '9' : '0';
    unsigned at = decimal->count;
    while (at > 0 && decimal->digit[at - 1] == last)
        decimal->digit[--at] = up ? '0' : '9';
    if (at > 0) {
        decimal->digit[at - 1] = (char)(decimal->digit[at - 1] + (up ? 1 : -1));
    } else { /* 99 + 1 */
        decimal->digit[0] = '1';
        decimal->exponent++;
    }
    if (decimal->digit[0] == '0') { /* 10 - 1 */
        memset(decimal->digit, '9', decimal->count);
        decimal->exponent--;
    }
}

static size_t spell_power(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                          const struct dti_value *value)
{
    for (unsigned digits = 1; digits <= DIGITS_MOST; digits++) {
        struct dti_decimal tried[3];
        for (size_t i = 0; i < 3; i++) {
            nearest_decimal(&tried[i], value, digits);
            if (i > 0)
                move(&tried[i], i == 1);
            if (reads_back(format, value, &tried[i]))
                return dti_decimal_layout(buffer, value->negative, &tried[i], (int32_t)digits);
        }
    }
    return dti_spell_text(buffer, value);
}

size_t dti_spell_shortest_value(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                                const struct dti_value *value)
{
    const bool power = value->kind == DTI_CLASS_FINITE && value->hi == UINT64_C(1) << 63;
    return power && dti_format_is_tapered(format) ? spell_power(buffer, format, value)
                                                  : dti_spell_regular(buffer, format, value);
}

size_t dti_spell_shortest(char buffer[DTI_TEXT_SIZE], const struct dti_format *format,
                          uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    return dti_spell_shortest_value(buffer, format, &value);
}
