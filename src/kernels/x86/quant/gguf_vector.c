/* SPDX-License-Identifier: MIT
 *
 * GGUF block decoders: how the codes of each type become the bytes of a register. */
#include "kernels/x86/quant/gguf_vector.h"
#include "kernels/gguf/gguf_kernels.h"
#include "kernels/x86/quant/gguf_vector_grid.h"

#ifdef __AVX2__
static const signed char signed_numbers[16] = {-8, -7, -6, -5, -4, -3, -2, -1,
                                               0,  1,  2,  3,  4,  5,  6,  7};
static const signed char nonlinear_numbers[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};
static const signed char twice_e2m1_numbers[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                   0, -1, -2, -3, -4, -6, -8, -12};

CODES(q1_0)
{
    to.by->scale[0] = gguf_half(p);
    GGUF_PARTS
    for (unsigned k = 0; k < 4; k++) {
        const __m256i minus = bytes_of_bits(~gguf_u32(p + 2 + 4 * (size_t)k));
        put(to, k, _mm256_or_si256(minus, bytes_of(1)));
    }
}

CODES(q2_0)
{
    to.by->scale[0] = gguf_half(p);
    GGUF_PARTS
    for (unsigned k = 0; k < 2; k++)
        put(to, k, _mm256_sub_epi8(four_digits(load64(p + 2 + 8 * (size_t)k)), bytes_of(1)));
}

CODES(q4_0)
{
    to.by->scale[0] = gguf_half(p);
    put_chosen(to, 0, signed_numbers, nibbles(p + 2));
}

DTI_INLINE void put_halves(struct gguf_to to, const unsigned char *p)
{
    const __m128 both = _mm_cvtph_ps(load32(p));
    to.by->scale[0] = _mm_cvtss_f32(both);
    to.by->minimum[0] = -_mm_cvtss_f32(_mm_movehdup_ps(both));
}

CODES(q4_1)
{
    put_halves(to, p);
    put_chosen(to, 0, same_numbers, nibbles(p + 4));
}

CODES(q5_0)
{
    to.by->scale[0] = gguf_half(p);
    const __m256i less = _mm256_andnot_si256(bytes_of_bits(gguf_u32(p + 2)), bytes_of(16));
    put(to, 0, _mm256_sub_epi8(nibbles(p + 6), less));
}

CODES(q5_1)
{
    put_halves(to, p);
    const __m256i high = _mm256_and_si256(bytes_of_bits(gguf_u32(p + 4)), bytes_of(16));
    put(to, 0, _mm256_or_si256(nibbles(p + 8), high));
}

CODES(q8_0)
{
    to.by->scale[0] = gguf_half(p);
    put(to, 0, load256(p + 2));
}

CODES(q8_1)
{
    to.by->scale[0] = gguf_half(p);
    put(to, 0, load256(p + 4));
}

CODES(q8_k)
{
    to.by->scale[0] = gguf_f32(gguf_u32(p));
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++)
        put(to, k, load256(p + 4 + 32 * (size_t)k));
}

CODES(q2_k)
{
    const __m128i bytes = load128(p), low = _mm_set1_epi8(15);
    put_scales(to.by->scale, _mm_and_si128(bytes, low), gguf_half(p + 80));
    put_scales(to.by->minimum, _mm_and_si128(_mm_srli_epi16(bytes, 4), low), gguf_half(p + 82));
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const int at = (int)(k % 4 * 2);
        put_chosen(to, k, same_numbers,
                   bits_of(load256(p + 16 + (size_t)k / 4 * 32), 3 << at, -at));
    }
}

CODES(q3_k)
{
    const __m256i high = load256(p);
    const __m128i low_scales = load64(p + 96);
    const __m128i fours = _mm_unpacklo_epi64(low_scales, _mm_srli_epi16(low_scales, 4));
    const __m128i twos =
        _mm_srlv_epi32(_mm_set1_epi32((int)gguf_u32(p + 104)), _mm_setr_epi32(0, 2, 4, 6));
    const __m128i scales = _mm_or_si128(_mm_and_si128(fours, _mm_set1_epi8(15)),
                                        _mm_slli_epi16(_mm_and_si128(twos, _mm_set1_epi8(3)), 4));
    put_scales(to.by->scale, _mm_sub_epi8(scales, _mm_set1_epi8(32)), gguf_half(p + 108));
    GGUF_PARTS
    for (int k = 0; k < 8; k++) {
        const int at = k % 4 * 2;
        const __m256i low = bits_of(load256(p + 32 + (size_t)k / 4 * 32), 3 << at, -at);
        const __m256i code = _mm256_or_si256(low, bits_of(high, 1 << k, 2 - k));
        put(to, (unsigned)k, _mm256_sub_epi8(code, bytes_of(4)));
    }
}

/* six_bits(), four at a time in a word. */
DTI_INLINE void put_six_bits(struct gguf_to to, const unsigned char *p)
{
    const uint32_t a = gguf_u32(p + 4), b = gguf_u32(p + 8), c = gguf_u32(p + 12);
    const uint32_t six = 0x3f3f3f3f, low = 0x0f0f0f0f, high = 0x30303030;
    const __m128i scales = _mm_setr_epi32((int)(a & six), (int)((c & low) | (a >> 2 & high)), 0, 0);
    const __m128i minima =
        _mm_setr_epi32((int)(b & six), (int)((c >> 4 & low) | (b >> 2 & high)), 0, 0);
    put_scales(to.by->scale, scales, gguf_half(p));
    put_scales(to.by->minimum, minima, gguf_half(p + 2));
}

CODES(q4_k)
{
    put_six_bits(to, p);
    GGUF_PARTS
    for (unsigned k = 0; k < 4; k++) {
        const __m256i bytes = load256(p + 16 + 32 * (size_t)k);
        put_chosen(to, 2 * k, same_numbers, low_halves(bytes));
        put_chosen(to, 2 * k + 1, same_numbers, high_halves(bytes));
    }
}

CODES(q5_k)
{
    const __m256i high = load256(p + 16);
    put_six_bits(to, p);
    GGUF_PARTS
    for (int k = 0; k < 8; k++) {
        const __m256i bytes = load256(p + 48 + (size_t)k / 2 * 32);
        const __m256i low = k % 2 == 0 ? low_halves(bytes) : high_halves(bytes);
        put(to, (unsigned)k, _mm256_or_si256(low, bits_of(high, 1 << k, 4 - k)));
    }
}

CODES(q6_k)
{
    put_scales(to.by->scale, load128(p + 192), gguf_half(p + 208));
    GGUF_PARTS
    for (int k = 0; k < 8; k++) {
        const int at = k % 4;
        const __m256i bytes = load256(p + ((size_t)k / 4 * 2 + (size_t)k % 2) * 32);
        const __m256i high = load256(p + 128 + (size_t)k / 4 * 32);
        const __m256i low = at < 2 ? low_halves(bytes) : high_halves(bytes);
        const __m256i code = _mm256_or_si256(low, bits_of(high, 3 << 2 * at, 4 - 2 * at));
        put(to, (unsigned)k, _mm256_sub_epi8(code, bytes_of(32)));
    }
}

CODES(tq2_0)
{
    to.by->scale[0] = gguf_half(p + 64);
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++) {
        const int at = (int)(k % 4 * 2);
        const __m256i code = bits_of(load256(p + (size_t)k / 4 * 32), 3 << at, -at);
        put(to, k, _mm256_sub_epi8(code, bytes_of(1)));
    }
}

/* The top base-3 digit of fractions in 256ths, minus 1. */
DTI_INLINE __m256i top_digits(__m256i fractions)
{
    const __m256i first = bytes_of(86), second = bytes_of(171);
    const __m256i minus_first = _mm256_cmpeq_epi8(_mm256_max_epu8(fractions, first), fractions);
    const __m256i minus_both = _mm256_add_epi8(
        minus_first, _mm256_cmpeq_epi8(_mm256_max_epu8(fractions, second), fractions));
    return _mm256_sub_epi8(bytes_of(-1), minus_both);
}

DTI_INLINE __m256i thrice(__m256i bytes)
{
    return _mm256_add_epi8(_mm256_add_epi8(bytes, bytes), bytes);
}

CODES(tq1_0)
{
    __m256i bytes = load256(p);
    to.by->scale[0] = gguf_half(p + 52);
    GGUF_PARTS
    for (unsigned k = 0; k < 5; k++, bytes = thrice(bytes))
        put(to, k, top_digits(bytes));
    /* 16 bytes and three times them; then 4 bytes times powers of 3 up to 27 */
    bytes = _mm256_broadcastsi128_si256(load128(p + 32));
    bytes = _mm256_blend_epi32(bytes, thrice(bytes), 0xf0);
    put(to, 5, top_digits(bytes));
    bytes = thrice(thrice(bytes));
    put(to, 6, top_digits(bytes));
    const __m256i one = _mm256_set1_epi32((int)gguf_u32(p + 48)), three = thrice(one);
    const __m256i two_powers = _mm256_blend_epi32(one, three, 0xa0);
    const __m256i powers = _mm256_blend_epi32(two_powers, thrice(thrice(two_powers)), 0xc0);
    put(to, 7, top_digits(_mm256_blend_epi32(thrice(thrice(bytes)), powers, 0xf0)));
}

CODES(iq4_nl)
{
    to.by->scale[0] = gguf_half(p);
    put_chosen(to, 0, nonlinear_numbers, nibbles(p + 2));
}

CODES(iq4_xs)
{
    const __m128i twos =
        _mm256_castsi256_si128(four_digits(_mm_cvtsi32_si128((int)gguf_u16(p + 2))));
    const __m128i scales = _mm_or_si128(nibbles_by_turns(load32(p + 4)), _mm_slli_epi16(twos, 4));
    put_scales(to.by->scale, _mm_sub_epi8(scales, _mm_set1_epi8(32)), gguf_half(p));
    GGUF_PARTS
    for (unsigned k = 0; k < 8; k++)
        put_chosen(to, k, nonlinear_numbers, nibbles(p + 8 + 16 * (size_t)k));
}

CODES(mxfp4)
{
    to.by->scale[0] = mxfp4_scale(p[0]);
    put_chosen(to, 0, twice_e2m1_numbers, nibbles(p + 1));
}

/* nvfp4_scale() for four scales. */
DTI_INLINE __m128 four_nvfp4_scales(const unsigned char *p)
{
    const __m128i bytes = _mm_cvtepu8_epi32(load32(p));
    const __m128i magnitude = _mm_and_si128(bytes, _mm_set1_epi32(0x7f));
    const __m128i normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 20), _mm_set1_epi32(120 << 23));
    const __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0.001953125F));
    const __m128i is_small = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(8));
    const __m128 finite =
        _mm_blendv_ps(_mm_castsi128_ps(normal), small, _mm_castsi128_ps(is_small));
    const __m128i is_nan = _mm_cmpeq_epi32(bytes, _mm_set1_epi32(0x7f));
    return _mm_andnot_ps(_mm_castsi128_ps(is_nan), finite);
}

CODES(nvfp4)
{
    _mm_storeu_ps(to.by->scale, _mm_mul_ps(four_nvfp4_scales(p), _mm_set1_ps(to.by->tensor_scale)));
    GGUF_PARTS
    for (unsigned k = 0; k < 2; k++) { /* two groups of 8 low nibbles and 8 high ones */
        const __m256i codes = _mm256_permute4x64_epi64(nibbles(p + 4 + 16 * (size_t)k), 0xd8);
        put_chosen(to, k, twice_e2m1_numbers, codes);
    }
}

#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(id, name, word, elements, bytes, group, others, unit, minima)             \
    static void decode_##word(float *x, const unsigned char *blocks, size_t count,            \
                              float tensor_scale)                                             \
    {                                                                                         \
        struct gguf_block block;                                                              \
        struct gguf_to to = {(unsigned char *)x, &block, group, unit, minima};                \
        block.tensor_scale = tensor_scale;                                                    \
        for (size_t i = 0; i < count; i++, to.x += (elements) * sizeof *x, blocks += (bytes)) \
            word##_codes(to, blocks);                                                         \
    }
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS

dti_gguf_decode_fn *const VECTOR_NAME(dti_gguf_decode)[DTI_GGUF_BLOCKS_COUNT] = {
#define GGUF_BLOCKS(id, name, word, ...) [DTI_GGUF_##name] = decode_##word,
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS
#undef GGUF_DTYPE
};
#endif
