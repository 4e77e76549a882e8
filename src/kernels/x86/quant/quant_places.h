/* SPDX-License-Identifier: MIT
 *
 * The places of numbers among 15 ascending limits, in four steps, by halves, with the limits in
 * registers. */
#ifndef KERNELS_X86_QUANT_QUANT_PLACES_H
#define KERNELS_X86_QUANT_QUANT_PLACES_H

#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
enum { PLACE_LIMITS = 15 };

/* The limits by step: 7; 3 or 11; then tables for the 4 and 8 places that are left, indexed by
 * the steps before in binary (AVX2: negated, modulo 8). */
struct place_limits {
    floats first, second_low, second_high, third, fourth;
};

static inline struct place_limits limits_init(const float limit[PLACE_LIMITS])
{
    float third[LANES] = {0}, fourth[LANES] = {0};
    struct place_limits t;
    for (unsigned i = 0; i < 8; i++) {
        const unsigned at = LANES == 16 ? 2 * i : -i % 8, at_third = LANES == 16 ? 4 * i : at;
        fourth[at] = limit[2 * i];
        if (i < 4)
            third[at_third] = limit[4 * i + 1];
    }
    t.first = floats_of(limit[7]);
    t.second_low = floats_of(limit[3]);
    t.second_high = floats_of(limit[11]);
    t.third = load_floats((const unsigned char *)third);
    t.fourth = load_floats((const unsigned char *)fourth);
    return t;
}

#ifdef __AVX512BW__
/* Whether numbers exceed limits, or equal them where `equal`. The comparison is a constant. */
DTI_INLINE __mmask16 exceed(floats q, floats limit, bool equal)
{
    return equal ? _mm512_cmp_ps_mask(q, limit, _CMP_GE_OQ)
                 : _mm512_cmp_ps_mask(q, limit, _CMP_GT_OQ);
}

/* The place of each number: how many limits it exceeds, or equals where `equal`. AVX2: negated. */
DTI_INLINE vector places_of(const struct place_limits *t, floats q, bool equal)
{
    const __mmask16 half = exceed(q, t->first, equal);
    const floats second = _mm512_mask_blend_ps(half, t->second_low, t->second_high);
    vector place = _mm512_maskz_mov_epi32(half, lanes_of(8));
    place = _mm512_mask_or_epi32(place, exceed(q, second, equal), place, lanes_of(4));
    const floats third = _mm512_permutexvar_ps(place, t->third);
    place = _mm512_mask_or_epi32(place, exceed(q, third, equal), place, lanes_of(2));
    const floats fourth = _mm512_permutexvar_ps(place, t->fourth);
    return _mm512_mask_or_epi32(place, exceed(q, fourth, equal), place, lanes_of(1));
}
#else
/* -1 for each that holds */
DTI_INLINE floats exceed(floats q, floats limit, bool equal)
{
    return equal ? _mm256_cmp_ps(q, limit, _CMP_GE_OQ) : _mm256_cmp_ps(q, limit, _CMP_GT_OQ);
}

DTI_INLINE vector add_step(vector place, floats step)
{
    return _mm256_add_epi32(_mm256_add_epi32(place, place), as_bits(step));
}

DTI_INLINE vector places_of(const struct place_limits *t, floats q, bool equal)
{
    const floats half = exceed(q, t->first, equal);
    const floats second = _mm256_blendv_ps(t->second_low, t->second_high, half);
    vector place = add_step(as_bits(half), exceed(q, second, equal));
    const floats third = _mm256_permutevar8x32_ps(t->third, place);
    place = add_step(place, exceed(q, third, equal));
    const floats fourth = _mm256_permutevar8x32_ps(t->fourth, place);
    return add_step(place, exceed(q, fourth, equal));
}
#endif
#endif

#endif
