/* SPDX-License-Identifier: MIT
 *
 * GGUF blocks in registers: 32 codes of any type become the bytes of one register, and from
 * there on all types are processed the same way. Registers of codes have 32 bytes at both
 * levels. */
#ifndef KERNELS_X86_QUANT_GGUF_VECTOR_H
#define KERNELS_X86_QUANT_GGUF_VECTOR_H

#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
#define GGUF_HALF_OF(bits) _cvtsh_ss((unsigned short)(bits))
#endif
#include "kernels/gguf/gguf_lanes_grid.h"
#include "kernels/gguf/gguf_lanes_k.h"

/* Placed before loops over the parts of a block, to make the loop counter a constant. */
#if defined(__clang__)
#define GGUF_PARTS _Pragma("clang loop unroll(full)")
#else
#define GGUF_PARTS _Pragma("GCC unroll 8")
#endif

#ifdef __AVX2__
/* The destination of a block's numbers, and how codes become numbers: a row of gguf_types.def.
 * Everything but the pointers is a constant after inlining. */
struct gguf_to {
    unsigned char *x;
    struct gguf_block *by; /* holds the scales; its codes are unused */
    unsigned group;
    float unit;
    bool minima;
};

/* Defines the function for the codes and scales of a type. */
#define CODES(word) DTI_INLINE void word##_codes(struct gguf_to to, const unsigned char *p)

DTI_INLINE floats numbers_of(vector codes, struct gguf_to to, unsigned g)
{
    floats y = VECTOR_BITS(cvtepi32_ps)(codes);
    if (to.unit != 1)
        y = VECTOR_BITS(mul_ps)(y, floats_of(to.unit));
    y = VECTOR_BITS(mul_ps)(y, floats_of(to.by->scale[g]));
    if (to.minima)
        y = VECTOR_BITS(sub_ps)(y, floats_of(to.by->minimum[g]));
    return y;
}

DTI_INLINE void put16(unsigned char *x, __m128i codes, struct gguf_to to, unsigned g)
{
#ifdef __AVX512BW__
    store_floats(x, numbers_of(_mm512_cvtepi8_epi32(codes), to, g), false);
#else
    const __m128i high = _mm_unpackhi_epi64(codes, codes);
    store_floats(x, numbers_of(_mm256_cvtepi8_epi32(codes), to, g), false);
    store_floats(x + VECTOR, numbers_of(_mm256_cvtepi8_epi32(high), to, g), false);
#endif
}

/* Outputs codes 32 k to 32 k + 31 of the block. */
DTI_INLINE void put(struct gguf_to to, unsigned k, __m256i codes)
{
    unsigned char *const x = to.x + (size_t)128 * k;
    put16(x, _mm256_castsi256_si128(codes), to, 32 * k / to.group);
    put16(x + 64, _mm256_extracti128_si256(codes, 1), to, (32 * k + 16) / to.group);
}

/* Outputs 16 scales or minima of 8 bits each. */
DTI_INLINE void put_scales(float scales[16], __m128i bytes, float by)
{
    struct gguf_block one = {.scale[0] = by};
    put16((unsigned char *)scales, bytes, (struct gguf_to){.by = &one, .unit = 1}, 0);
}

DTI_INLINE __m128i load32(const unsigned char *src)
{
    return _mm_cvtsi32_si128((int)gguf_u32(src));
}

DTI_INLINE __m128i load64(const unsigned char *src)
{
    return _mm_loadl_epi64((const void *)src);
}

DTI_INLINE __m256i bytes_of(int byte)
{
    return _mm256_set1_epi8((char)byte);
}

/* The bits in `mask` of each byte, shifted left by `up`, or right if it is negative. */
DTI_INLINE __m256i bits_of(__m256i bytes, int mask, int up)
{
    const __m256i moved = up > 0 ? _mm256_slli_epi16(bytes, up) : _mm256_srli_epi16(bytes, -up);
    return _mm256_and_si256(moved, bytes_of(up > 0 ? mask << up : mask >> -up));
}

DTI_INLINE __m256i low_halves(__m256i bytes)
{
    return bits_of(bytes, 0x0f, 0);
}

DTI_INLINE __m256i high_halves(__m256i bytes)
{
    return bits_of(bytes, 0xf0, -4);
}

/* 16 low nibbles, then the high ones. */
DTI_INLINE __m256i nibbles(const unsigned char *src)
{
    const __m128i bytes = load128(src);
    return low_halves(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes));
}

/* Expands bit i to byte i: 0 or -1. */
DTI_INLINE __m256i bytes_of_bits(uint32_t bits)
{
#ifdef __AVX512BW__
    return _mm256_movm_epi8(bits);
#else
    const __m256i each =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), each);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
#endif
}

DTI_INLINE __m256i with_signs(__m256i codes, uint32_t signs)
{
#ifdef __AVX512BW__
    return _mm256_mask_sub_epi8(codes, signs, _mm256_setzero_si256(), codes);
#else
    const __m256i minus = bytes_of_bits(signs);
    return _mm256_sub_epi8(_mm256_xor_si256(codes, minus), minus);
#endif
}

/* Low and high nibbles of 8 bytes, alternating. */
DTI_INLINE __m128i nibbles_by_turns(__m128i bytes)
{
    const __m128i all = _mm_unpacklo_epi8(bytes, _mm_srli_epi16(bytes, 4));
    return _mm_and_si128(all, _mm_set1_epi8(15));
}

/* Looks up bytes below 16 in a table. */
DTI_INLINE __m256i choose(const signed char numbers[16], __m256i codes)
{
    const __m128i table = load128((const unsigned char *)numbers);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), codes);
}

static const signed char same_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Outputs 4-bit codes 32 k to 32 k + 31, which are indices in a table. Wide registers use a
 * table of numbers instead. */
DTI_INLINE void put_chosen(struct gguf_to to, unsigned k, const signed char table[16],
                           __m256i codes)
{
#ifdef __AVX512BW__
    const vector all = _mm512_cvtepi8_epi32(load128((const void *)table));
    unsigned char *const x = to.x + (size_t)128 * k;
    const vector low = _mm512_cvtepu8_epi32(_mm256_castsi256_si128(codes));
    const vector high = _mm512_cvtepu8_epi32(_mm256_extracti128_si256(codes, 1));
    const floats first = numbers_of(all, to, 32 * k / to.group);
    const floats second = numbers_of(all, to, (32 * k + 16) / to.group);
    store_floats(x, _mm512_permutexvar_ps(low, first), false);
    store_floats(x + VECTOR, _mm512_permutexvar_ps(high, second), false);
#else
    put(to, k, table == same_numbers ? codes : choose(table, codes));
#endif
}
#endif

#endif
