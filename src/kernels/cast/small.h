/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of at most 8 bits, to nearest even: the constants that kernels of all
 * levels prepare. Rounding is a single addition, for numbers of every size:
 *
 *   E   exponent of |x|, or of the smallest normal if that is larger
 *   M = 2^(E + 23 - man_bits), whose last bit has the weight of the result's last bit
 *   |x| + M rounds |x| to that bit, to nearest even; the significand is in the sum's low bits:
 *
 *   upper half of bits(|x| + M)   0eeeeeeee0000000      e: exponent of M
 *   lower half                    00000000kkkkkkkk      k: significand in units of the last bit
 *   upper + lower x 2^(7 - man_bits), minus its value for the smallest normal's e and k = 0, has
 *   the code above 7 - man_bits zeros: the exponent field is above the mantissa
 *
 * Neither operand nor sum can give a subnormal result, so subnormals cost no time. Magnitudes
 * are first clamped to `top`, a number, so that overflows, infinities and NaNs get the code
 * `top_code`; where that is not the final result, marks replace the codes, and bytes are
 * replaced afterwards. */
#ifndef KERNELS_CAST_SMALL_H
#define KERNELS_CAST_SMALL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/kernel.h"

/* Marks, higher than any code. NaN: the upper payload is in the bits below. */
enum { DTI_SMALL_INF = 0xa0, DTI_SMALL_NAN = 0xc0 };

struct dti_small {
    uint32_t top;                /* bits of the fp32 number that magnitudes are clamped to */
    uint32_t least;              /* bits of the smallest normal */
    uint32_t magic;              /* (23 - man_bits) << 23 */
    uint32_t join;               /* factors for both halves of a sum */
    unsigned zeros;              /* 7 - man_bits */
    uint32_t offset;             /* to be subtracted before the zeros are removed */
    uint32_t inf_mark, nan_mark; /* their form before that */
    unsigned sign_shift;         /* shift from the top of a byte to the sign bit */
    uint8_t top_code;
    bool top_is_overflow; /* finite overflow is top_code with the sign */
    bool top_is_inf, top_is_nan;
    /* IEEE NaNs are the codes above infinity, and result from rounding the numbers that would be
     * there: (bits & nan_payload) | nan_value. */
    uint32_t nan_value, nan_payload;
};

/* The fp32 bits of an unsigned code; codes beyond the largest continue as if they were numbers. */
static inline uint32_t dti_small_value(const struct dti_encoder *e, uint32_t code)
{
    const uint32_t field = code >> e->man_bits, mask = (UINT32_C(1) << e->man_bits) - 1;
    const uint32_t kept = field == 0 ? code : (code & mask) | (mask + 1);
    const int32_t step =
        e->min_exponent - (int32_t)e->man_bits + (field == 0 ? 0 : (int32_t)field - 1);
    const float significand = (float)kept;
    uint32_t bits;
    memcpy(&bits, &significand, sizeof bits);
    return bits + ((uint32_t)step << 23);
}

static inline bool dti_small_is(const uint64_t code[2], uint32_t magnitude, uint64_t sign_bit)
{
    return code[0] == magnitude && code[1] == (magnitude | sign_bit);
}

static inline struct dti_small dti_small_init(const struct dti_encoder *e)
{
    struct dti_small s;
    uint32_t top = (uint32_t)e->max_magnitude + 1;
    if (dti_small_is(e->overflow, top - 1, e->sign_bit))
        top -= 1;
    s.top_code = (uint8_t)top;
    s.top_is_overflow = dti_small_is(e->overflow, top, e->sign_bit);
    s.top_is_inf = dti_small_is(e->inf, top, e->sign_bit);
    s.top_is_nan = dti_small_is(e->nan, top, e->sign_bit) && e->nan_payload == 0;
    s.top = dti_small_value(e, top);
    s.least = (uint32_t)(e->min_exponent + 127) << 23;
    s.magic = (23 - e->man_bits) << 23;
    s.zeros = 7 - e->man_bits;
    s.join = UINT32_C(1) << 16 | UINT32_C(1) << s.zeros;
    s.offset = (s.least + s.magic) >> 16;
    s.inf_mark = s.offset + ((uint32_t)DTI_SMALL_INF << s.zeros);
    s.nan_mark = s.offset + ((uint32_t)DTI_SMALL_NAN << s.zeros);
    s.nan_value = dti_small_value(e, (uint32_t)e->nan[0]);
    s.nan_payload = (uint32_t)e->nan_payload << (23 - e->man_bits);
    s.sign_shift = 8u - e->format.width;
    return s;
}

#endif
