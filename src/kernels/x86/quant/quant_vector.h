/* SPDX-License-Identifier: MIT
 *
 * The building blocks of the quantization kernels of both levels: vector.h with fp32 numbers and
 * masks. Quotients and products are single IEEE 754 operations, as quant.h requires. */
#ifndef KERNELS_X86_QUANT_QUANT_VECTOR_H
#define KERNELS_X86_QUANT_QUANT_VECTOR_H

#include "kernels/quant/quant_kernels.h"
#include "kernels/x86/blocks.h"
#include "kernels/x86/vector.h"

#ifdef __AVX512BW__
enum { LANES = 16 };
typedef __m512 floats;
typedef uint64_t byte_mask; /* one bit per byte of a vector */

DTI_INLINE floats as_floats(vector bits)
{
    return _mm512_castsi512_ps(bits);
}

DTI_INLINE vector as_bits(floats x)
{
    return _mm512_castps_si512(x);
}

/* A mask of the bytes that differ, for 8-bit codes. */
DTI_INLINE byte_mask bytes_that_differ(vector a, vector b)
{
    return _mm512_cmpneq_epi8_mask(a, b);
}

DTI_INLINE unsigned words_that_differ(vector a, vector b)
{
    return _mm512_cmpneq_epi16_mask(a, b);
}

enum { WORD_MASK_BITS = 1 }; /* bits per word */

/* A mask of the unsigned words above a limit, with as many bits. */
DTI_INLINE unsigned words_above(vector words, vector limit)
{
    return _mm512_cmpgt_epu16_mask(words, limit);
}

/* One bit per doubleword that differs. */
DTI_INLINE unsigned numbers_that_differ(vector a, vector b)
{
    return _mm512_cmpneq_epi32_mask(a, b);
}

/* Whether all magnitudes are below `limit`; false for NaNs. */
DTI_INLINE bool all_below(floats x, float limit)
{
    return _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(limit), _CMP_LT_OQ) == 0xffff;
}

DTI_INLINE unsigned where_unordered(floats a, floats b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
}

/* Whether a quotient is halfway between two integers. */
DTI_INLINE bool any_ties(floats q)
{
    const floats half = _mm512_set1_ps(0.5f);
    const floats rest = _mm512_reduce_ps(q, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return _mm512_cmp_ps_mask(_mm512_abs_ps(rest), half, _CMP_EQ_OQ) != 0;
}

/* a in lanes where b is not zero, else 0. */
DTI_INLINE vector where_not_zero(vector a, vector b)
{
    return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(b, b), a);
}

DTI_INLINE vector either(vector a, vector b, vector c) /* a & b | c */
{
    return _mm512_ternarylogic_epi32(a, b, c, 0xea);
}

DTI_INLINE vector bytes_to_numbers(const unsigned char *src) /* one per lane, zero-extended */
{
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)src));
}

DTI_INLINE vector words_to_numbers(const unsigned char *src)
{
    return _mm512_cvtepu16_epi32(load256(src));
}

/* Stores the low bytes of 16 doublewords, which are below 256. */
DTI_INLINE void store_bytes(unsigned char *dst, vector numbers)
{
    _mm_storeu_si128((void *)dst, _mm512_cvtepi32_epi8(numbers));
}

/* Converts to fp16, to nearest even. */
DTI_INLINE void store_halves(unsigned char *dst, floats x)
{
    const __m256i halves = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256((void *)dst, halves);
}

/* Puts the words of two vectors in order after vpackus, which works within 128-bit lanes. */
DTI_INLINE vector order_words(vector packed)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
}

/* Stores the low bytes of words below 256: half a vector. */
DTI_INLINE void store256(unsigned char *dst, __m256i value, bool stream)
{
    if (stream)
        _mm256_stream_si256((void *)dst, value);
    else
        _mm256_storeu_si256((void *)dst, value);
}

DTI_INLINE void store_words_as_bytes(unsigned char *dst, vector words, bool stream)
{
    store256(dst, _mm512_cvtepi16_epi8(words), stream);
}

#elif defined __AVX2__
enum { LANES = 8 };
typedef __m256 floats;
typedef uint32_t byte_mask;

DTI_INLINE floats as_floats(vector bits)
{
    return _mm256_castsi256_ps(bits);
}

DTI_INLINE vector as_bits(floats x)
{
    return _mm256_castps_si256(x);
}

DTI_INLINE byte_mask bytes_that_differ(vector a, vector b)
{
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
}

DTI_INLINE unsigned words_that_differ(vector a, vector b) /* two bits per word */
{
    return ~(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi16(a, b));
}

enum { WORD_MASK_BITS = 2 };

DTI_INLINE unsigned words_above(vector words, vector limit)
{
    return words_that_differ(_mm256_min_epu16(words, limit), words);
}

DTI_INLINE unsigned numbers_that_differ(vector a, vector b)
{
    const int same = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
    return ~(unsigned)same & 0xff;
}

DTI_INLINE floats magnitude_of(floats x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

DTI_INLINE bool all_below(floats x, float limit)
{
    const floats below = _mm256_cmp_ps(magnitude_of(x), _mm256_set1_ps(limit), _CMP_LT_OQ);
    return _mm256_movemask_ps(below) == 0xff;
}

DTI_INLINE unsigned where_unordered(floats a, floats b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}

DTI_INLINE bool any_ties(floats q)
{
    const floats rest =
        _mm256_sub_ps(q, _mm256_round_ps(q, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
    const floats ties = _mm256_cmp_ps(magnitude_of(rest), _mm256_set1_ps(0.5f), _CMP_EQ_OQ);
    return _mm256_movemask_ps(ties) != 0;
}

DTI_INLINE vector where_not_zero(vector a, vector b)
{
    return _mm256_andnot_si256(_mm256_cmpeq_epi32(b, _mm256_setzero_si256()), a);
}

DTI_INLINE vector either(vector a, vector b, vector c)
{
    return _mm256_or_si256(_mm256_and_si256(a, b), c);
}

DTI_INLINE vector bytes_to_numbers(const unsigned char *src)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)src));
}

DTI_INLINE vector words_to_numbers(const unsigned char *src)
{
    return _mm256_cvtepu16_epi32(load128(src));
}

DTI_INLINE void store_bytes(unsigned char *dst, vector numbers)
{
    const vector words = _mm256_packus_epi32(numbers, numbers);
    const vector bytes = _mm256_packus_epi16(words, words);
    _mm_storel_epi64((void *)dst, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
                                      bytes, _mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0))));
}

DTI_INLINE void store_halves(unsigned char *dst, floats x)
{
    _mm_storeu_si128((void *)dst,
                     _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

DTI_INLINE vector order_words(vector packed)
{
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

DTI_INLINE void store_half(unsigned char *dst, vector a, bool stream)
{
    if (stream)
        _mm_stream_si128((void *)dst, _mm256_castsi256_si128(a));
    else
        _mm_storeu_si128((void *)dst, _mm256_castsi256_si128(a));
}

DTI_INLINE void store_words_as_bytes(unsigned char *dst, vector words, bool stream)
{
    store_half(dst, order_words(_mm256_packus_epi16(words, words)), stream);
}

#endif

#ifdef __AVX2__
DTI_INLINE floats load_floats(const unsigned char *src)
{
    return VECTOR_BITS(loadu_ps)((const void *)src);
}

DTI_INLINE void store_floats(unsigned char *dst, floats x, bool stream)
{
    store_vector(dst, as_bits(x), stream);
}

DTI_INLINE vector lanes_of(uint32_t bits)
{
    return VECTOR_BITS(set1_epi32)((int)bits);
}

DTI_INLINE floats floats_of(float x)
{
    return VECTOR_BITS(set1_ps)(x);
}

/* Whether all are zero or between least and most. */
DTI_INLINE bool all_ordinary(vector amax, uint32_t least, uint32_t most)
{
    const vector clamped =
        VECTOR_BITS(min_epu32)(VECTOR_BITS(max_epu32)(amax, lanes_of(least)), lanes_of(most));
    return numbers_that_differ(where_not_zero(clamped, amax), amax) == 0;
}

/* Replaces every NaN by the canonical one. */
DTI_INLINE floats plain_nans(floats x)
{
    const floats nan = as_floats(lanes_of(0x7fc00000));
#ifdef __AVX512BW__
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x, nan);
#else
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
#endif
}

DTI_INLINE void prefetch(const unsigned char *src, size_t bytes)
{
    prefetch_lines(src, DTI_PREFETCH_DISTANCE, bytes);
}

/* The number of units before the first one whose result is aligned to a vector; 0 if there is
 * none. */
DTI_INLINE size_t units_before_vector(const unsigned char *dst, size_t unit)
{
    const size_t rest = (uintptr_t)dst % VECTOR, bytes = rest == 0 ? 0 : VECTOR - rest;
    return bytes % unit == 0 ? bytes / unit : 0;
}
#endif

#endif
