/* SPDX-License-Identifier: MIT
 *
 * A decoded number, and the only two conversions between numbers and codes: dti_decode() is exact,
 * dti_encode() is the only place in the program that rounds and overflows. Integer arithmetic
 * only. */
#ifndef CORE_VALUE_H
#define CORE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/dtype.h"

/* Magnitudes of at least 2^DTI_EXPONENT_LIMIT or below 2^-DTI_EXPONENT_LIMIT are clamped there with
 * sticky set when a value is made: no format reaches that far. */
enum { DTI_EXPONENT_LIMIT = 1 << 24 };

struct dti_policy {
    enum dti_round round;
    enum dti_overflow overflow;
    enum dti_nan nan;
    uint64_t seed;   /* stochastic rounding only */
    uint32_t stream; /* other random bits for an element that is rounded repeatedly */
};

struct dti_outcome {
    uint64_t code;
    unsigned flags; /* enum dti_flag */
};

/* The exact value of a code; bits above the width are ignored. Not for complex. */
void dti_decode(const struct dti_format *format, uint64_t code, struct dti_value *ret_value);

/* Rounds once and stores. index: the element's position in its array (stochastic rounding only).
 * For integers every rounding mode rounds to an integer; the caller selects toward-zero as their
 * default. Not for complex. */
void dti_encode(const struct dti_format *format, const struct dti_value *value,
                const struct dti_policy *policy, uint64_t index, struct dti_outcome *ret_outcome);

/* Fast path of dti_encode() for numbers that only need rounding to nearest even, as most do; also
 * returns the value that the code decodes to. The only possible flag is INEXACT. Returns false,
 * without effect, for all others. */
bool dti_encode_ordinary(const struct dti_format *format, const struct dti_value *value,
                         const struct dti_policy *policy, struct dti_outcome *ret_outcome,
                         struct dti_value *ret_stored);

/* -1, 0, 1 as a < b, a == b, a > b; zeros are equal; neither is NaN. Sticky counts. */
int dti_value_compare(const struct dti_value *a, const struct dti_value *b);

/* The next number up or down among a format's numbers (infinities count, NaN does not; one zero).
 * False when there is none. code must not be a NaN. */
bool dti_code_next(const struct dti_format *format, uint64_t code, bool up, uint64_t *ret_code);

/* The 32 random bits of element `index`: lane index % 4 of Philox4x32-10 (Salmon et al., SC11) with
 * counter (index / 4, stream) and key `seed`. Stochastic rounding is form A of P3109 (PTX .rs is
 * the same): with d the discarded fraction of an ulp, away from zero when floor(d 2^32) + R >=
 * 2^32. */
uint32_t dti_random_bits(uint64_t seed, uint32_t stream, uint64_t index);

/* Facts derived from a format's row: the largest finite, lowest finite, smallest positive normal
 * and smallest positive subnormal as codes; false if the format has no such number. */
bool dti_code_max(const struct dti_format *format, uint64_t *ret_code);
bool dti_code_lowest(const struct dti_format *format, uint64_t *ret_code);
bool dti_code_smallest_normal(const struct dti_format *format, uint64_t *ret_code);
bool dti_code_smallest_subnormal(const struct dti_format *format, uint64_t *ret_code);
bool dti_code_inf(const struct dti_format *format, bool negative, uint64_t *ret_code);
bool dti_code_nan(const struct dti_format *format, uint64_t *ret_code); /* the canonical one */

/* Exponent of the smallest normal: 1 - bias, or -bias for scales. Floats only. */
static inline int32_t dti_format_min_exponent(const struct dti_format *f)
{
    return f->specials == DTI_SPECIALS_SCALE ? -f->bias : 1 - f->bias;
}

/* The exponent of one ulp of a float in the binade of a finite value; at zero and for subnormals
 * that of the smallest subnormal. Integers: 0. */
int32_t dti_format_step_exponent(const struct dti_format *format, const struct dti_value *value);

/* (-1)^negative x significand x 2^exponent, exact; zero when significand is 0. */
void dti_value_set(struct dti_value *ret_value, bool negative, uint64_t significand,
                   int64_t exponent);

/* The same for (high:low, and a little more if sticky) x 2^exponent. high:low != 0; the leading one
 * must be in high when sticky. Both clamp at DTI_EXPONENT_LIMIT. */
void dti_value_set_wide(struct dti_value *ret_value, bool negative, uint64_t high, uint64_t low,
                        bool sticky, int64_t exponent);

#endif
