/* SPDX-License-Identifier: MIT
 *
 * Quotients to codes of signed floats of at most 8 bits, to nearest even and saturating:
 * rounding by one addition, as explained in small.h, for four vectors at once. Magnitudes may be
 * clamped to the number that would follow the largest; its code shows what was clipped. Does not
 * handle NaNs. */
#ifndef KERNELS_X86_QUANT_QUANT_SMALL_H
#define KERNELS_X86_QUANT_QUANT_SMALL_H

#include "kernels/cast/small.h"
#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
struct rounding {
    vector top, least, join; /* as in struct dti_small */
    floats step;             /* 2^(23 - man_bits) */
    vector offset;           /* in words */
    vector max, sign;        /* in bytes */
    __m128i zeros, sign_shift;
};

static inline struct rounding rounding_init(const struct dti_encoder *e)
{
    const struct dti_small s = dti_small_init(e);
    struct rounding r;
    r.top = lanes_of(dti_small_value(e, (uint32_t)e->max_magnitude + 1));
    r.least = lanes_of(s.least);
    r.step = as_floats(lanes_of(s.magic + 0x3f800000));
    r.join = lanes_of(s.join);
    r.offset = VECTOR_BITS(set1_epi16)((short)s.offset);
    r.max = VECTOR_BITS(set1_epi8)((char)e->max_magnitude);
    r.sign = VECTOR_BITS(set1_epi8)((char)(unsigned char)e->sign_bit);
    r.zeros = _mm_cvtsi32_si128((int)s.zeros);
    r.sign_shift = _mm_cvtsi32_si128((int)s.sign_shift);
    return r;
}

/* The smaller of |x| and top. */
DTI_INLINE floats clamp_magnitude(floats x, vector top)
{
#ifdef __AVX512BW__
    return _mm512_range_ps(x, as_floats(top), 10);
#else
    return as_floats(
        VECTOR_BITS(min_epu32)(VECTOR_WHOLE(and)(as_bits(x), lanes_of(0x7fffffff)), top));
#endif
}

/* Adds the magic number, power x step, to a magnitude. */
DTI_INLINE floats add_magic(const struct rounding *r, floats a, floats *ret_power)
{
    *ret_power = as_floats(
        VECTOR_BITS(max_epu32)(VECTOR_WHOLE(and)(as_bits(a), lanes_of(0x7f800000)), r->least));
    return VECTOR_BITS(fmadd_ps)(*ret_power, r->step, a);
}

/* Codes with zeros below and the offset added. clamp: numbers may be so far beyond the one after
 * the largest that their codes would not fit in a byte. */
DTI_INLINE vector round_number(const struct rounding *r, floats x, bool clamp)
{
    const vector magnitude = lanes_of(0x7fffffff);
    const floats a =
        clamp ? clamp_magnitude(x, r->top) : as_floats(VECTOR_WHOLE(and)(as_bits(x), magnitude));
    floats power;
    return VECTOR_BITS(madd_epi16)(as_bits(add_magic(r, a, &power)), r->join);
}

/* Codes of four vectors of numbers, in order, with the signs of others; and a mask of those beyond
 * the largest, as for count_clipped(), unless ret_over is NULL: there are none. */
DTI_INLINE vector round_group(const struct rounding *r, const floats x[4],
                              const floats signed_by[4], bool clamp, byte_mask *ret_over)
{
    vector words[2], bits[4];
    for (unsigned i = 0; i < 4; i++)
        bits[i] = as_bits(signed_by[i]);
    for (unsigned i = 0; i < 2; i++) {
        const vector pair = VECTOR_BITS(packus_epi32)(round_number(r, x[2 * i], clamp),
                                                      round_number(r, x[2 * i + 1], clamp));
        words[i] = VECTOR_BITS(srl_epi16)(VECTOR_BITS(sub_epi16)(pair, r->offset), r->zeros);
    }
    const vector code = VECTOR_BITS(packus_epi16)(words[0], words[1]);
    const vector kept = ret_over ? VECTOR_BITS(min_epu8)(code, r->max) : code;
    const vector signs = VECTOR_BITS(packs_epi16)(VECTOR_BITS(packs_epi32)(bits[0], bits[1]),
                                                  VECTOR_BITS(packs_epi32)(bits[2], bits[3]));
    if (ret_over)
        *ret_over = bytes_that_differ(code, kept);
    return order_packed(either(VECTOR_BITS(srl_epi16)(signs, r->sign_shift), r->sign, kept));
}
#endif

#endif
