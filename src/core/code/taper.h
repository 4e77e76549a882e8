/* SPDX-License-Identifier: MIT
 *
 * Formats whose precision depends on the exponent (tapers.def). A positive number's place is its
 * position in order of size, 1 for the smallest one; zero has place 0. Within a run of binades the
 * places are a linear function of exponent and mantissa, so rounding to a place is one cut, as for
 * any other float. */
#ifndef CORE_CODE_TAPER_H
#define CORE_CODE_TAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"

/* A run of binades with equal precision. */
struct dti_taper {
    int16_t first, last;           /* exponents */
    int8_t man_bits;               /* negative: only every 2^-man_bits-th binade has a number */
    bool down;                     /* codes go down with the exponent */
    uint16_t place;                /* of 2^first */
    uint16_t code;                 /* the lowest of the run, without a sign */
    uint8_t prefix_bits, exp_bits; /* of the fields after the sign; the rest is the mantissa */
};

/* The runs of a tapered format in order of exponents; there is at least one. */
const struct dti_taper *dti_taper_runs(const struct dti_format *format, size_t *ret_count);

/* The run of an exponent: the first or the last one if it is beyond them. */
const struct dti_taper *dti_taper_run(const struct dti_format *format, int64_t exponent);

/* The place of a magnitude code, infinity's included; 0 for zero and NaN. */
uint64_t dti_taper_place(const struct dti_format *format, uint64_t magnitude);

/* The inverse: the magnitude code at a place that dti_taper_place() can return. */
uint64_t dti_taper_code(const struct dti_format *format, uint64_t place);

/* The bits of the fields prefix, exponent and mantissa of any code. */
void dti_taper_fields(const struct dti_format *format, uint64_t code, unsigned ret_bits[3]);

/* The number at a place > 0: 1.mantissa x 2^exponent, with man_bits bits of mantissa. */
struct dti_taper_number {
    int32_t exponent;
    unsigned man_bits;
    uint64_t mantissa;
};
struct dti_taper_number dti_taper_number(const struct dti_format *format, uint64_t place);

/* A code without its sign, and the code of a magnitude with a sign: sign and magnitude, for posits
 * two's complement. Zero has no sign. */
uint64_t dti_taper_magnitude(const struct dti_format *format, uint64_t code);
uint64_t dti_taper_signed(const struct dti_format *format, bool negative, uint64_t magnitude);

#endif
