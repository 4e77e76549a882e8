/* SPDX-License-Identifier: MIT
 *
 * GGUF types whose codes are grid points: their digits are spread over the bytes of a register. */
#ifndef KERNELS_X86_QUANT_GGUF_VECTOR_GRID_H
#define KERNELS_X86_QUANT_GGUF_VECTOR_GRID_H

#include "kernels/x86/quant/gguf_vector.h"

#ifdef __AVX2__
/* Values by digit: for IQ2; for IQ3_XXS and IQ3_S; for IQ1, plus or minus one eighth. */
static const signed char iq2_numbers[16] = {8, 25, 43};
static const signed char iq3_xxs_numbers[16] = {4, 12, 20, 28, 36, 44, 52, 62};
static const signed char iq3_s_numbers[16] = {1, 3, 5, 7, 9, 11, 13, 15};
static const signed char iq1_numbers[2][16] = {{-7, 1, 9}, {-9, -1, 7}};

/* Four base-4 digits of each of 8 bytes. */
DTI_INLINE __m256i four_digits(__m128i bytes)
{
    const __m256i all = _mm256_cvtepu8_epi32(bytes);
    const __m256i two = _mm256_and_si256(_mm256_or_si256(all, _mm256_slli_epi32(all, 12)),
                                         _mm256_set1_epi32(0x000f000f));
    return _mm256_and_si256(_mm256_or_si256(two, _mm256_slli_epi32(two, 6)), bytes_of(3));
}

/* Four base-8 digits of each of 8 words. */
DTI_INLINE __m256i four_digits_of_words(__m128i words)
{
    const __m256i all = _mm256_cvtepu16_epi32(words);
    const __m256i two = _mm256_and_si256(_mm256_or_si256(all, _mm256_slli_epi32(all, 10)),
                                         _mm256_set1_epi32(0x003f003f));
    return _mm256_and_si256(_mm256_or_si256(two, _mm256_slli_epi32(two, 5)), bytes_of(7));
}

/* The digits of four points of 8 elements. */
DTI_INLINE __m256i digits8(const uint16_t *grid, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    __m128i points = _mm_cvtsi32_si128(grid[a]);
    points = _mm_insert_epi16(points, grid[b], 1);
    points = _mm_insert_epi16(points, grid[c], 2);
    return four_digits(_mm_insert_epi16(points, grid[d], 3));
}

/* The digits of eight points of 4 elements, from index bytes and a ninth bit for each. */
DTI_INLINE __m256i digits4(const uint16_t *grid, const unsigned char *p, uint32_t high)
{
    __m128i low = _mm_cvtsi32_si128(grid[p[0] | (high << 8 & 256)]);
    low = _mm_insert_epi16(low, grid[p[1] | (high << 7 & 256)], 1);
    low = _mm_insert_epi16(low, grid[p[2] | (high << 6 & 256)], 2);
    low = _mm_insert_epi16(low, grid[p[3] | (high << 5 & 256)], 3);
    __m128i top = _mm_cvtsi32_si128(grid[p[4] | (high << 4 & 256)]);
    top = _mm_insert_epi16(top, grid[p[5] | (high << 3 & 256)], 1);
    top = _mm_insert_epi16(top, grid[p[6] | (high << 2 & 256)], 2);
    top = _mm_insert_epi16(top, grid[p[7] | (high << 1 & 256)], 3);
    return four_digits_of_words(_mm_unpacklo_epi64(low, top));
}

/* even_signs() for each byte. */
DTI_INLINE uint32_t four_even_signs(uint32_t sevens)
{
    uint32_t parity = sevens ^ sevens >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return sevens | (parity & 0x01010101) << 7;
}

/* The same for the low 28 bits. */
DTI_INLINE uint32_t signs_of_28(uint32_t word)
{
    return four_even_signs((word & 0x7f) | (word << 1 & 0x7f00) | (word << 2 & 0x7f0000) |
                           (word << 3 & 0x7f000000));
}

CODES(iq2_xxs)
{
    const float d = gguf_half(p);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const unsigned char *const at = p + 2 + 8 * (size_t)k;
        const uint32_t word = gguf_u32(at + 4);
        to.by->scale[k] = quarter_scale(d, word >> 28);
        const __m256i digits = digits8(dti_gguf_grid_iq2_xxs, at[0], at[1], at[2], at[3]);
        put(to, k, with_signs(choose(iq2_numbers, digits), signs_of_28(word)));
    }
}

/* Outputs 16 scales; `by` is half a step, and the smallest scale. The factors have so few bits
 * that products are exact in any order. */
DTI_INLINE void put_odd(struct gguf_to to, __m128i scales, float by)
{
    const __m128i odd = _mm_add_epi8(_mm_add_epi8(scales, scales), _mm_set1_epi8(1));
    put_scales(to.by->scale, odd, by);
}

CODES(iq2_xs)
{
    put_odd(to, nibbles_by_turns(load64(p + 66)), gguf_half(p) * 0.125F);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const unsigned char *const at = p + 2 + 8 * (size_t)k;
        const uint32_t a = gguf_u16(at), b = gguf_u16(at + 2);
        const uint32_t c = gguf_u16(at + 4), d = gguf_u16(at + 6);
        const __m256i digits = digits8(dti_gguf_grid_iq2_xs, a & 511, b & 511, c & 511, d & 511);
        const uint32_t sevens = a >> 9 | b >> 9 << 8 | c >> 9 << 16 | d >> 9 << 24;
        put(to, k, with_signs(choose(iq2_numbers, digits), four_even_signs(sevens)));
    }
}

CODES(iq2_s)
{
    put_odd(to, nibbles_by_turns(load64(p + 74)), gguf_half(p) * 0.125F);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const unsigned char *const at = p + 2 + 4 * (size_t)k;
        const uint32_t high = p[66 + k];
        const __m256i digits =
            digits8(dti_gguf_grid_iq2_s, at[0] | (high << 8 & 0x300), at[1] | (high << 6 & 0x300),
                    at[2] | (high << 4 & 0x300), at[3] | (high << 2 & 0x300));
        put(to, k, with_signs(choose(iq2_numbers, digits), gguf_u32(at + 32)));
    }
}

CODES(iq3_xxs)
{
    const float d = gguf_half(p);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const uint32_t word = gguf_u32(p + 66 + 4 * (size_t)k);
        to.by->scale[k] = d * (0.5F + (float)(word >> 28)) * 0.5F;
        const __m256i digits = digits4(dti_gguf_grid_iq3_xxs, p + 2 + 8 * (size_t)k, 0);
        put(to, k, with_signs(choose(iq3_xxs_numbers, digits), signs_of_28(word)));
    }
}

CODES(iq3_s)
{
    put_odd(to, nibbles_by_turns(load32(p + 106)), gguf_half(p));
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const __m256i digits = digits4(dti_gguf_grid_iq3_s, p + 2 + 8 * (size_t)k, p[66 + k]);
        put(to, k, with_signs(choose(iq3_s_numbers, digits), gguf_u32(p + 74 + 4 * (size_t)k)));
    }
}

CODES(iq1_s)
{
    const float d = gguf_half(p);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const unsigned char *const at = p + 2 + 4 * (size_t)k;
        const uint32_t word = gguf_u16(p + 34 + 2 * (size_t)k);
        to.by->scale[k] = d * (float)(2 * (word >> 12 & 7) + 1);
        const __m256i digits =
            digits8(dti_gguf_grid_iq1_s, at[0] | (word << 8 & 0x700), at[1] | (word << 5 & 0x700),
                    at[2] | (word << 2 & 0x700), at[3] | (word >> 1 & 0x700));
        put(to, k, choose(iq1_numbers[word >> 15], digits));
    }
}

CODES(iq1_m)
{
    const __m128i scales = _mm256_castsi256_si128(four_digits_of_words(load64(p + 48)));
    put_odd(to, scales, iq1_m_half(p));
    const __m256i eighth = _mm256_setr_epi64x(8, 0x80, 0x800, 0x8000);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const unsigned char *const at = p + 4 * (size_t)k;
        const uint32_t word = gguf_u16(p + 32 + 2 * (size_t)k);
        const __m256i digits =
            digits8(dti_gguf_grid_iq1_s, at[0] | (word << 8 & 0x700), at[1] | (word << 4 & 0x700),
                    at[2] | (word & 0x700), at[3] | (word >> 4 & 0x700));
        const __m256i bit = _mm256_and_si256(_mm256_set1_epi64x(word), eighth);
        const __m256i minus =
            _mm256_cmpeq_epi64(bit, eighth); /* -1 in bytes with minus one eighth */
        put(to, k, _mm256_add_epi8(choose(iq1_numbers[0], digits), _mm256_add_epi8(minus, minus)));
    }
}
#endif

#endif
