/* SPDX-License-Identifier: MIT
 *
 * A decoded number, and the only two conversions between numbers and codes: dti_decode() is exact,
 * dti_encode() is the only place in the program that rounds and overflows. Integer arithmetic
 * only. */
#ifndef DTINFO_VALUE_H
#define DTINFO_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "dtinfo/dtype.h"

enum dti_class { DTI_CLASS_ZERO, DTI_CLASS_FINITE, DTI_CLASS_INF, DTI_CLASS_NAN };

/* FINITE: (-1)^negative x 1.xxx x 2^exponent, where hi:lo is the 128-bit significand with its
 * leading one at bit 63 of hi. sticky: the true magnitude lies strictly between this significand
 * and the next one up, so the value is known well enough for one correct rounding to up to 126
 * bits. NAN: hi is the mantissa field, left-aligned (bit 63 is the quiet bit); lo, exponent, sticky
 * are 0. */
struct dti_value {
    enum dti_class class;
    bool negative;
    bool sticky;
    int32_t exponent;
    uint64_t hi, lo;
};

/* Magnitudes of at least 2^DTI_EXPONENT_LIMIT or below 2^-DTI_EXPONENT_LIMIT are clamped there with
 * sticky set when a value is made: no format reaches that far. */
enum { DTI_EXPONENT_LIMIT = 1 << 24 };

enum dti_round {
    DTI_ROUND_NEAREST_EVEN, /* IEEE 754-2019 4.3.1 roundTiesToEven */
    DTI_ROUND_NEAREST_AWAY, /* roundTiesToAway */
    DTI_ROUND_ZERO,         /* 4.3.2 roundTowardZero */
    DTI_ROUND_UP,           /* roundTowardPositive */
    DTI_ROUND_DOWN,         /* roundTowardNegative */
    DTI_ROUND_ODD,          /* inexact results take the neighbour with the odd significand */
    DTI_ROUND_STOCHASTIC,   /* see dti_random_bits() */
};

enum dti_overflow {
    DTI_OVERFLOW_NATIVE,          /* infinity, else NaN, else the largest finite; integers clamp */
    DTI_OVERFLOW_SATURATE,        /* clamp to the largest finite, infinities too */
    DTI_OVERFLOW_SATURATE_FINITE, /* clamp, but infinities stay native */
    DTI_OVERFLOW_WRAP,            /* integers keep their low bits; floats as native */
};

enum dti_nan {
    DTI_NAN_QUIET,     /* sign and top payload bits kept, quieted */
    DTI_NAN_CANONICAL, /* the format's positive NaN without payload */
};

struct dti_policy {
    enum dti_round round;
    enum dti_overflow overflow;
    enum dti_nan nan;
    uint64_t seed;   /* stochastic rounding only */
    uint32_t stream; /* other random bits for an element that is rounded repeatedly */
};

enum dti_flag {
    DTI_FLAG_INEXACT = 1,   /* the stored number differs from the given one */
    DTI_FLAG_OVERFLOW = 2,  /* beyond the largest finite when rounded, or infinity without a code */
    DTI_FLAG_UNDERFLOW = 4, /* inexact; stored: zero, a subnormal, e8m0's 2^-127 from below */
    DTI_FLAG_INVALID = 8,   /* NaN or infinity into an integer, NaN or a negative without a code */
    DTI_FLAG_SATURATED = 16, /* the stored number is the largest or lowest because of clamping */
    DTI_FLAG_NO_NAN = 32,    /* NaN into a format without NaN: the code is a placeholder */
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
