/* SPDX-License-Identifier: MIT
 *
 * One exact arithmetic operation on numbers; dti_encode() then rounds the result once. Integer
 * arithmetic only. Operands are decoded codes: at most 64 significant bits (lo is 0), not
 * sticky. Results have 128 bits plus a sticky bit, enough for one correct rounding to every
 * format. IEEE 754-2019 sections 5.4.1, 6.1 to 6.3, 7.2 and 7.3. */
#ifndef CORE_CODE_ARITH_H
#define CORE_CODE_ARITH_H

#include "core/value.h"

/* Exceptions of the operation itself, before rounding. */
enum dti_arith_flag {
    DTI_ARITH_INVALID = 1,        /* NaN from operands that are not NaN: inf - inf, 0 * inf, 0 / 0,
                                   * inf / inf, sqrt(-1) */
    DTI_ARITH_DIVIDE_BY_ZERO = 2, /* an exact infinity from finite operands: 1 / 0 */
};

/* Each writes *ret, which may be an operand, and returns enum dti_arith_flag. A NaN operand
 * gives the first NaN, quieted, without a flag. A new NaN is positive and has no payload. An
 * exact zero sum of numbers of unlike signs is -0 in DTI_ROUND_DOWN, otherwise +0 (6.3). */
unsigned dti_value_add(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b,
                       enum dti_round round);
unsigned dti_value_subtract(struct dti_value *ret, const struct dti_value *a,
                            const struct dti_value *b, enum dti_round round);
unsigned dti_value_multiply(struct dti_value *ret, const struct dti_value *a,
                            const struct dti_value *b);
unsigned dti_value_divide(struct dti_value *ret, const struct dti_value *a,
                          const struct dti_value *b);
unsigned dti_value_sqrt(struct dti_value *ret, const struct dti_value *a);
/* a * b + c without intermediate rounding. 0 * inf is invalid even if c is a NaN. */
unsigned dti_value_fma(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b,
                       const struct dti_value *c, enum dti_round round);

/* minimum and maximum of IEEE 754-2019 9.6: a NaN wins, -0 < +0. */
void dti_value_minimum(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b);
void dti_value_maximum(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b);

/* roundToIntegral (5.9): toward zero, up, down, to nearest even or away. Keeps signs of zeros. */
void dti_value_round_integral(struct dti_value *ret, const struct dti_value *a,
                              enum dti_round round);

#endif
