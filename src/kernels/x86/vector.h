/* SPDX-License-Identifier: MIT
 *
 * The widest registers of the level that a file is compiled for, under a common name, for
 * kernels that are the same for 32 and 64 bytes; meson.build lists those files for both levels. */
#ifndef KERNELS_X86_VECTOR_H
#define KERNELS_X86_VECTOR_H

#ifdef __AVX512BW__
#include "kernels/x86/avx512.h"

#define VECTOR_NAME(stem)       stem##_avx512
#define VECTOR_BITS(name)       _mm512_##name
#define VECTOR_WHOLE(operation) _mm512_##operation##_si512
enum { VECTOR = 64 };
typedef __m512i vector;
typedef __m512 vector_ps;
typedef __m512d vector_pd;
typedef __m256i half_vector;
typedef __m256 half_vector_ps;
#define load_half   load256
#define join_halves join256
#define with_low    _mm512_castsi256_si512 /* the upper half is undefined */
#define low_half_of _mm512_castsi512_si256

#define load_vector  load512
#define store_vector store512

/* The bytes of half a vector, each widened to 16 bits. */
DTI_INLINE vector widen_bytes(const unsigned char *src)
{
    return _mm512_cvtepu8_epi16(load256(src));
}

/* Narrows the 16-bit words of a, which are below 256, then those of b, to bytes. */
DTI_INLINE vector narrow_words(vector a, vector b)
{
    return join256(_mm512_cvtepi16_epi8(a), _mm512_cvtepi16_epi8(b));
}
#elif defined __AVX2__
#include "kernels/x86/avx2.h"

#define VECTOR_NAME(stem)       stem##_avx2
#define VECTOR_BITS(name)       _mm256_##name
#define VECTOR_WHOLE(operation) _mm256_##operation##_si256
enum { VECTOR = 32 };
typedef __m256i vector;
typedef __m256 vector_ps;
typedef __m256d vector_pd;
typedef __m128i half_vector;
typedef __m128 half_vector_ps;
#define load_half               load128
#define join_halves             join128
#define with_low                _mm256_castsi128_si256
#define low_half_of             _mm256_castsi256_si128

#define load_vector  load256
#define store_vector store256

DTI_INLINE vector widen_bytes(const unsigned char *src)
{
    return _mm256_cvtepu8_epi16(load128(src));
}

DTI_INLINE vector narrow_words(vector a, vector b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
}
#endif

/* Defines the block of a kernel that needs no constants and makes vectors by vector_of(src). */
#define VECTOR_BLOCK(name, units, src_unit, dst_unit, vector_of)                              \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src, \
                         bool stream)                                                         \
    {                                                                                         \
        (void)constants;                                                                      \
        for (size_t i = 0; i < (units) * (dst_unit); i += VECTOR)                             \
            store_vector(dst + i, vector_of(src + i / (dst_unit) * (src_unit)), stream);      \
    }
/* Also defines the kernel. */
#define VECTOR_KERNEL(name, units, src_unit, dst_unit, vector_of)                          \
    VECTOR_BLOCK(name##_block, units, src_unit, dst_unit, vector_of)                       \
    void VECTOR_NAME(name)(const struct dti_kernel_args *args, void *restrict dst,         \
                           const void *restrict src, size_t n)                             \
    {                                                                                      \
        const struct dti_blocks blocks = {name##_block, units, src_unit, dst_unit, false}; \
        dti_blocks_run(blocks, NULL, dst, src, n, args->stream);                           \
    }

#endif
