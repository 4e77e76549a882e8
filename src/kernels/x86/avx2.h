/* SPDX-License-Identifier: MIT
 *
 * Loads, stores and small steps shared by the AVX2 kernels. Empty if the compiler has no AVX2
 * options. */
#ifndef KERNELS_X86_AVX2_H
#define KERNELS_X86_AVX2_H

#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

DTI_INLINE __m256i load256(const unsigned char *src)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

DTI_INLINE __m256 load256_ps(const unsigned char *src)
{
    return _mm256_loadu_ps((const void *)src);
}

DTI_INLINE __m256d load256_pd(const unsigned char *src)
{
    return _mm256_loadu_pd((const void *)src);
}

DTI_INLINE __m128i load128(const unsigned char *src)
{
    return _mm_loadu_si128((const __m128i *)(const void *)src);
}

DTI_INLINE void store256(unsigned char *dst, __m256i value, bool stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)dst, value);
    else
        _mm256_storeu_si256((__m256i *)(void *)dst, value);
}

DTI_INLINE __m256i join128(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* vpackus and similar instructions work within 128-bit lanes, so the doublewords of four vectors
 * a b c d end up as a0 b0 c0 d0 a1 b1 c1 d1; this puts them in order. */
DTI_INLINE __m256i order_packed(__m256i packed)
{
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

#endif
#endif
