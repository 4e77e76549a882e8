/* SPDX-License-Identifier: MIT
 *
 * Exact conversion from text to numbers. A struct dti_number holds what the text states, without
 * rounding: a decimal, a hexfloat, a quotient of two of these, an infinity or a NaN. It can be
 * rounded once (by dti_number_value() and dti_encode()) and compared exactly with what was
 * stored. */
#ifndef CORE_NUMBER_NUMBER_H
#define CORE_NUMBER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/value.h"
#include "util/buffer.h"
#include "util/error.h"

/* A term is (-1)^negative x digits x base^exponent with base 10 (decimal) or 2 (hexfloat; digits
 * is then a hexadecimal integer). The digits are a private copy without '_', point and leading
 * or trailing zeros; count 0 is zero. Short ones are stored inside the struct. */
struct dti_term {
    bool hexadecimal;
    size_t count;
    int64_t exponent;
    char *digits; /* points to `own` or the heap */
    char own[40];
};

struct dti_number {
    enum dti_class kind;
    bool negative;
    bool quotient;            /* written "a/b" */
    bool signaling;           /* the text was snan */
    struct dti_term num, den; /* den is 1 unless quotient */
};

/* Grammar (no blanks anywhere, case-insensitive, one sign in front, '_' between two digits):
 *   decimal    digits[.digits][e[+-]digits], .digits, digits.
 *   hexfloat   0x hex[.hex][p[+-]digits]     ("0x4789" is the number 18313)
 *   binary     0b bits                        (an integer)
 *   special    inf, infinity, nan, snan
 *   quotient   a/b of two of the first three; b may carry a sign; b = 0 is an error
 * Fails with DTI_BAD_VALUE or DTI_NO_MEMORY; "7,5" gets a hint about the decimal point. Exponents
 * of any length are accepted and clamped to +-10^15. A quotient of a decimal and a hexfloat is
 * refused if it has an ordinary size only because exponents of millions cancel. */
enum dti_status dti_number_parse(struct dti_number *ret_number, const char *text, size_t length,
                                 struct dti_error *reterr);
/* Parses a number and its value. The only additional failure is running out of memory. */
enum dti_status dti_number_parse_value(struct dti_number *ret_number, struct dti_value *ret_value,
                                       const char *text, size_t length, struct dti_error *reterr);
void dti_number_free(struct dti_number *number); /* accepts a zeroed one that was never parsed */

/* The number as a value (class, sign, 128 bits, sticky). False if memory ran out. */
bool dti_number_value(const struct dti_number *number, struct dti_value *ret_value);

/* The magnitude's integer part modulo 2^64, and its fraction (128 bits and sticky); both 0 for
 * NaN and infinities. For DTI_OVERFLOW_WRAP with numbers longer than 128 bits. False if memory
 * ran out. */
bool dti_number_low_bits(const struct dti_number *number, uint64_t *ret_bits,
                         struct dti_value *ret_fraction);

/* Parses text directly to a value, without the exact form: the fast path for streams. Same
 * grammar and errors. */
enum dti_status dti_value_parse(struct dti_value *ret_value, const char *text, size_t length,
                                struct dti_error *reterr);

/* Maximum length of an exact expansion in characters; longer ones are reported as unknown. */
enum {
    DTI_EXACT_MAX = 2000000,
    DTI_EXACT_BINARY_MAX = 300000, /* the limit if powers of two must be expanded: the longest
                                    * number of any format has 262,189 */
};

/* Appends the full decimal expansion ("-0.1", "70000", "nan", "inf"). A quotient is expanded if
 * it is a finite decimal and its terms have at most 20000 digits. Returns false and appends
 * nothing if there is no expansion (1/3), it would be longer than DTI_EXACT_MAX, or memory ran
 * out (see buffer->failed). */
bool dti_number_exact(const struct dti_number *number, struct dti_buffer *buffer);

/* stored - number, exactly; both finite or zero. */
struct dti_difference {
    struct dti_value absolute; /* stored - number */
    struct dti_value relative; /* (stored - number) / |number|; class NAN when number is 0 */
};
/* stored is a decoded code (not sticky). Appends the decimal expansion of the difference to
 * *exact, if there is one, and sets *ret_has_exact (as in dti_number_exact()). False if memory
 * ran out. */
bool dti_number_difference(const struct dti_number *number, const struct dti_value *stored,
                           struct dti_difference *ret, struct dti_buffer *exact,
                           bool *ret_has_exact);

#endif
