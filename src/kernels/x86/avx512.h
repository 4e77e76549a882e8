/* SPDX-License-Identifier: MIT
 *
 * Loads, stores and small steps shared by the AVX-512 kernels. Empty if the compiler has no
 * AVX-512 options. */
#ifndef KERNELS_X86_AVX512_H
#define KERNELS_X86_AVX512_H

#include "kernels/x86/blocks.h"

#ifdef __AVX512BW__
#include <immintrin.h>

DTI_INLINE __m512i load512(const unsigned char *src)
{
    return _mm512_loadu_si512((const void *)src);
}

DTI_INLINE __m512 load512_ps(const unsigned char *src)
{
    return _mm512_loadu_ps((const void *)src);
}

DTI_INLINE __m512d load512_pd(const unsigned char *src)
{
    return _mm512_loadu_pd((const void *)src);
}

DTI_INLINE __m256i load256(const unsigned char *src)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

DTI_INLINE __m128i load128(const unsigned char *src)
{
    return _mm_loadu_si128((const __m128i *)(const void *)src);
}

DTI_INLINE void store512(unsigned char *dst, __m512i value, bool stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)(void *)dst, value);
    else
        _mm512_storeu_si512((void *)dst, value);
}

DTI_INLINE __m512i join256(__m256i low, __m256i high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* vpackus and similar instructions work within 128-bit lanes, so the doublewords of four vectors
 * a b c d end up as a0 b0 c0 d0 a1 b1 c1 d1 ...; this puts them in order. */
DTI_INLINE __m512i order_packed(__m512i packed)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, packed);
}

#endif
#endif
