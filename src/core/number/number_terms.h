/* SPDX-License-Identifier: MIT
 *
 * Shared by parsing, rounding and the exact forms of a struct dti_number. */
#ifndef CORE_NUMBER_NUMBER_TERMS_H
#define CORE_NUMBER_NUMBER_TERMS_H

#include "core/number/bignum.h"
#include "core/number/number.h"

/* Whether a FINITE number is within about 2^+-DTI_EXPONENT_LIMIT. TANGLED: it is, but only
 * because a power of ten and a power of two cancel that are too long to write out. */
enum dti_magnitude {
    DTI_MAGNITUDE_ORDINARY,
    DTI_MAGNITUDE_HUGE,
    DTI_MAGNITUDE_TINY,
    DTI_MAGNITUDE_TANGLED
};
enum dti_magnitude dti_number_magnitude(const struct dti_number *number);

/* digits x 10^exponent as a value, digits != 0: multiplied or divided by a power of five below
 * 2^63, exact to 128 bits and sticky. False if that power is larger. */
enum { DTI_SHORT_DECIMAL = 19 }; /* digits that fit in 64 bits */
bool dti_value_set_decimal(struct dti_value *ret_value, bool negative, uint64_t digits,
                           int64_t exponent);

/* |number| = num / den x 2^two x 5^five exactly; FINITE only. If memory ran out, num or den has
 * failed. */
struct dti_fraction {
    struct dti_big num, den;
    int64_t two, five;
};
void dti_fraction_init(struct dti_fraction *fraction, const struct dti_number *number);
void dti_fraction_free(struct dti_fraction *fraction);

/* Reduces den to 1 if the number is a finite decimal; returns whether it is. Also false if
 * memory ran out, as num and den report. */
bool dti_fraction_reduce(struct dti_fraction *fraction);

/* False for quotients of terms too long for dti_fraction_reduce(), which takes quadratic time. */
bool dti_number_is_reducible(const struct dti_number *number);

/* Appends the full expansion of digits x 10^exponent (count > 0, no zeros at either end), as
 * described for dti_number_exact() in number.h. */
bool dti_append_decimal(struct dti_buffer *buffer, bool negative, const char *digits, size_t count,
                        int64_t exponent);

/* The same for integer x 2^two x 5^five; 0 gives "0" whatever its sign. An integer that has
 * failed counts as out of memory. */
bool dti_append_product(struct dti_buffer *buffer, bool negative, const struct dti_big *integer,
                        int64_t two, int64_t five);

static inline unsigned dti_hex_digit(char c) /* 0-9 a-f */
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

#endif
