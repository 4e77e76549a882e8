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

/* The place of each number: how many limits it exceeds, or by `how`, a comparison of the
 * instruction set, exceeds or equals. AVX2: negated. */
DTI_INLINE vector places_of(const struct place_limits *t, floats q, int how)
{
#ifdef __AVX512BW__
    const __mmask16 half = _mm512_cmp_ps_mask(q, t->first, how);
    const floats second = _mm512_mask_blend_ps(half, t->second_low, t->second_high);
    const __mmask16 quarter = _mm512_cmp_ps_mask(q, second, how);
    vector place = _mm512_maskz_mov_epi32(half, lanes_of(8));
    place = _mm512_mask_or_epi32(place, quarter, place, lanes_of(4));
    const floats third = _mm512_permutexvar_ps(place, t->third);
    place = _mm512_mask_or_epi32(place, _mm512_cmp_ps_mask(q, third, how), place, lanes_of(2));
    const floats fourth = _mm512_permutexvar_ps(place, t->fourth);
    return _mm512_mask_or_epi32(place, _mm512_cmp_ps_mask(q, fourth, how), place, lanes_of(1));
#else
    /* a comparison that holds is -1 */
    const floats half = _mm256_cmp_ps(q, t->first, how);
    const floats second = _mm256_blendv_ps(t->second_low, t->second_high, half);
    vector place = as_bits(half);
    place =
        _mm256_add_epi32(_mm256_add_epi32(place, place), as_bits(_mm256_cmp_ps(q, second, how)));
    const floats third = _mm256_permutevar8x32_ps(t->third, place);
    place = _mm256_add_epi32(_mm256_add_epi32(place, place), as_bits(_mm256_cmp_ps(q, third, how)));
    const floats fourth = _mm256_permutevar8x32_ps(t->fourth, place);
    return _mm256_add_epi32(_mm256_add_epi32(place, place), as_bits(_mm256_cmp_ps(q, fourth, how)));
#endif
}
#endif

#endif
