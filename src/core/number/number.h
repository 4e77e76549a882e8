/* SPDX-License-Identifier: MIT
 *
 * Text to number, exactly. A struct dti_number is what the text says, not yet rounded to anything:
 * a decimal, a hexfloat, a quotient of two of these, an infinity or a NaN. It can be rounded once
 * (through dti_number_value and dti_encode) and compared exactly with what was stored. */
#ifndef CORE_NUMBER_NUMBER_H
#define CORE_NUMBER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"
#include "dtinfo/value.h"
#include "util/buffer.h"

/* A term is (-1)^negative x digits x base^exponent with base 10 (decimal) or 2 (hexfloat; digits is
 * then a hexadecimal integer). The digits are a private copy without '_', point and leading or
 * trailing zeros; count 0 is zero. Short ones live inside the struct. */
struct dti_term {
    bool hexadecimal;
    size_t count;
    int64_t exponent;
    char *digits; /* points at `own` or the heap */
    char own[40];
};

struct dti_number {
    enum dti_class class;
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
 * of any length are accepted; those beyond +-10^15 are clamped there. A quotient of a decimal and a
 * hexfloat that is of ordinary size only because exponents of millions cancel is refused. */
enum dti_status dti_number_parse(struct dti_number *ret_number, const char *text, size_t length,
                                 struct dti_error *reterr);
/* The same and its value, of which running out of memory is the only failure of its own. */
enum dti_status dti_number_parse_value(struct dti_number *ret_number, struct dti_value *ret_value,
                                       const char *text, size_t length, struct dti_error *reterr);
void dti_number_free(
    struct dti_number *number); /* accepts one that was never filled by parse if zeroed */

/* The number as a value (class, sign, 128 bits, sticky). False when memory ran out. */
bool dti_number_value(const struct dti_number *number, struct dti_value *ret_value);

/* The magnitude's integer part modulo 2^64, and what follows its point (128 bits and sticky); both
 * 0 for NaN and infinities. For dti_overflow WRAP with numbers of more than 128 bits. False when
 * memory ran out. */
bool dti_number_low_bits(const struct dti_number *number, uint64_t *ret_bits,
                         struct dti_value *ret_fraction);

/* text -> value at once, without the exact form: the fast path for streams. Same grammar and
 * errors. */
enum dti_status dti_value_parse(struct dti_value *ret_value, const char *text, size_t length,
                                struct dti_error *reterr);

/* How many characters an exact expansion may have before it is given up (it is then unknown). */
enum {
    DTI_EXACT_MAX = 2000000,
    DTI_EXACT_BINARY_MAX = 300000, /* where powers of two must be expanded: the longest number of
                                    * any format has 262,189 */
};

/* Appends the full decimal expansion ("-0.1", "70000", "nan", "inf"). A quotient is written so when
 * it is a finite decimal and its terms have at most 20000 digits. Returns false, appending nothing,
 * when there is none (1/3), it would be longer than DTI_EXACT_MAX, or memory ran out (see
 * buffer->failed). */
bool dti_number_exact(const struct dti_number *number, struct dti_buffer *buffer);

/* stored - number, exactly: both finite or zero. */
struct dti_difference {
    struct dti_value absolute; /* stored - number */
    struct dti_value relative; /* (stored - number) / |number|; class NAN when number is 0 */
};
/* stored is a decoded code (not sticky). Appends the decimal expansion of the difference to *exact
 * and sets *ret_has_exact when there is one (as dti_number_exact). False when memory ran out. */
bool dti_number_difference(const struct dti_number *number, const struct dti_value *stored,
                           struct dti_difference *ret, struct dti_buffer *exact,
                           bool *ret_has_exact);

#endif
