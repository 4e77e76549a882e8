/* SPDX-License-Identifier: MIT
 *
 * Rounding fp64 to odd fp32, and the blocks of kernels that round the result to a narrower format
 * in one pass over the array. With AVX2 also fp64 -> fp32 in other modes than to nearest even. */
#ifndef KERNELS_X86_CAST_ODD_VECTOR_H
#define KERNELS_X86_CAST_ODD_VECTOR_H

#include "kernels/kernel.h"
#include "kernels/x86/vector.h"

#ifdef __AVX2__
enum { ODD_NUMBERS = 64 };
#endif

#ifdef __AVX512BW__
/* Rounds toward zero, then sets the last bit if something was lost. Infinities compare equal and
 * NaNs unordered, so they stay unchanged; the largest finite number is already odd. */
DTI_INLINE __m256i odd_fp32(const unsigned char *src)
{
    const __m512d x = load512_pd(src);
    const __m256 cut = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask8 lost = _mm512_cmp_pd_mask(_mm512_cvtps_pd(cut), x, _CMP_NEQ_OQ);
    const __m256i bits = _mm256_castps_si256(cut);
    return _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
}

DTI_INLINE vector odd_fp32_twice(const unsigned char *src)
{
    return join256(odd_fp32(src), odd_fp32(src + VECTOR));
}

/* Any numbers. */
DTI_INLINE void odd_exact(unsigned char between[4 * ODD_NUMBERS], const unsigned char *src)
{
    for (size_t i = 0; i < (size_t)4 * ODD_NUMBERS; i += VECTOR)
        store_vector(between + i, odd_fp32_twice(src + 2 * i), false);
}

/* Needs no fewer instructions here. */
DTI_INLINE bool odd_normal(unsigned char between[4 * ODD_NUMBERS], const unsigned char *src)
{
    odd_exact(between, src);
    return false;
}

#elif defined __AVX2__
/* What to add to the nearest fp32, in 64 bits: up, down: a mask of the numbers that need a step up
 * or down; toward zero, odd: a step in the magnitude. Codes of the same sign compare like their
 * magnitudes. NaNs take no step. */
DTI_INLINE __m256d fp32_step(__m256d x, __m128 nearest, enum dti_round round)
{
    const __m256d back = _mm256_cvtps_pd(nearest);
    if (round == DTI_ROUND_UP)
        return _mm256_cmp_pd(back, x, _CMP_LT_OQ);
    if (round == DTI_ROUND_DOWN)
        return _mm256_cmp_pd(back, x, _CMP_GT_OQ);
    const __m256i lost = _mm256_castpd_si256(_mm256_cmp_pd(back, x, _CMP_NEQ_OQ));
    __m256i step = _mm256_cmpgt_epi64(_mm256_castpd_si256(back), _mm256_castpd_si256(x));
    if (round == DTI_ROUND_ODD)
        step = _mm256_or_si256(step, _mm256_set1_epi64x(1));
    return _mm256_castsi256_pd(_mm256_and_si256(step, lost));
}

/* The step past the largest number leads to infinity or back, as it must. Rounded to odd: an even
 * neighbour is exact, or the odd one is on the other side of x. */
DTI_INLINE __m256i fp32_of(__m256d a, __m256d b, enum dti_round round)
{
    const __m128 low = _mm256_cvtpd_ps(a), high = _mm256_cvtpd_ps(b);
    const __m256i bits = join128(_mm_castps_si128(low), _mm_castps_si128(high));
    if (round == DTI_ROUND_NEAREST_EVEN)
        return bits;
    const __m256 steps = _mm256_shuffle_ps(_mm256_castpd_ps(fp32_step(a, low, round)),
                                           _mm256_castpd_ps(fp32_step(b, high, round)), 0x88);
    const __m256i step = _mm256_permute4x64_epi64(_mm256_castps_si256(steps), 0xd8);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i away =
        _mm256_or_si256(_mm256_srai_epi32(bits, 31), one); /* the sign as a number */
    if (round == DTI_ROUND_UP)
        return _mm256_add_epi32(bits, _mm256_and_si256(step, away));
    if (round == DTI_ROUND_DOWN)
        return _mm256_sub_epi32(bits, _mm256_and_si256(step, away));
    if (round == DTI_ROUND_ZERO)
        return _mm256_add_epi32(bits, step);
    const __m256i even = _mm256_cmpeq_epi32(_mm256_and_si256(bits, one), _mm256_setzero_si256());
    return _mm256_add_epi32(bits, _mm256_and_si256(step, even));
}

DTI_INLINE void odd_exact(unsigned char between[4 * ODD_NUMBERS], const unsigned char *src)
{
    for (size_t i = 0; i < (size_t)4 * ODD_NUMBERS; i += VECTOR)
        store256(between + i,
                 fp32_of(load256_pd(src + 2 * i), load256_pd(src + 2 * i + VECTOR), DTI_ROUND_ODD),
                 false);
}

/* Clears the 29 bits that fp32 lacks and sets the last one that it has if one of them was set. */
DTI_INLINE __m128i odd_half(const unsigned char *src)
{
    const __m256i x = load256(src), below = _mm256_set1_epi64x(0x1fffffff);
    const __m256i carry = _mm256_add_epi64(_mm256_and_si256(x, below), below);
    const __m256i odd = _mm256_andnot_si256(below, _mm256_or_si256(x, carry));
    return _mm_castps_si128(_mm256_cvtpd_ps(_mm256_castsi256_pd(odd)));
}

/* Fewer instructions. Of finite numbers from 2^128 on infinity remains, and below 2^-126 numbers
 * are rounded to nearest; returns whether any of those is not 0. */
DTI_INLINE bool odd_normal(unsigned char between[4 * ODD_NUMBERS], const unsigned char *src)
{
    const __m256i size = _mm256_set1_epi32(INT32_MAX), last = _mm256_set1_epi32(0x7ffffe);
    __m256i least = size; /* magnitudes less 1, so that 0 is the largest */
    for (size_t i = 0; i < (size_t)4 * ODD_NUMBERS; i += VECTOR) {
        const __m256i odd = join128(odd_half(src + 2 * i), odd_half(src + 2 * i + VECTOR));
        const __m256i rank = _mm256_sub_epi32(_mm256_and_si256(odd, size), _mm256_set1_epi32(1));
        least = _mm256_min_epu32(least, rank);
        store256(between + i, odd, false);
    }
    const __m256i tiny = _mm256_cmpeq_epi32(_mm256_min_epu32(least, last), least);
    return !_mm256_testz_si256(tiny, tiny);
}
#endif
#endif
