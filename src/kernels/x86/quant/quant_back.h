/* SPDX-License-Identifier: MIT
 *
 * Shared by the kernels that dequantize blocks and fp8 codes. */
#ifndef KERNELS_X86_QUANT_QUANT_BACK_H
#define KERNELS_X86_QUANT_QUANT_BACK_H

#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
/* The factor given by a block's scale; tensor: that of NVFP4. */
DTI_INLINE float scale_of(const struct dti_block_args *args, struct dti_nv_tensor tensor,
                          const unsigned char *scale, enum dti_block_family family)
{
    uint16_t half;
    float number;
    switch (family) {
    case DTI_BLOCKS_MX:
        return args->parts->scales[*scale];
    case DTI_BLOCKS_NV:
        return args->parts->scales[*scale] * tensor.factor / tensor.divisor;
    case DTI_BLOCKS_NF:
        memcpy(&number, scale, sizeof number);
        return number;
    case DTI_BLOCKS_Q8:
    case DTI_BLOCKS_Q4:
        break;
    }
    memcpy(&half, scale, sizeof half);
    return _cvtsh_ss(half);
}

/* Neither NaN nor infinity. */
DTI_INLINE bool is_number(float scale)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return (bits & 0x7f800000) != 0x7f800000;
}

DTI_INLINE void blocks_portable(const struct dti_block_args *args, unsigned char *x,
                                const unsigned char *codes, const unsigned char *scale, size_t n)
{
    VECTOR_NAME(dti_dequantize_blocks)(args, (float *)(void *)x, codes, scale, n);
}

/* The values of codes: a table in one register, or in two halves. */
struct numbers16 {
    floats low, high;
};

/* Looks up codes in the low 4 bits of each lane; the upper bits are ignored. */
DTI_INLINE floats look_up(struct numbers16 table, vector code)
{
#ifdef __AVX512BW__
    return _mm512_permutexvar_ps(code, table.low);
#else
    const floats low = _mm256_permutevar8x32_ps(table.low, code);
    const floats high = _mm256_permutevar8x32_ps(table.high, code);
    return _mm256_blendv_ps(low, high, as_floats(_mm256_slli_epi32(code, 28)));
#endif
}

/* The kinds of 8-bit codes. */
enum { FLOAT_BLOCK = 32 };
enum element { E4M3, E5M2, INTEGER };

/* Stores words that are codes without sign, shifted to the exponent position of fp16. */
DTI_INLINE void store_halves_as_floats(unsigned char *x, vector words, floats by, bool stream)
{
#ifdef __AVX512BW__
    const floats low = _mm512_cvtph_ps(_mm512_castsi512_si256(words));
    const floats high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(words, 1));
#else
    const floats low = _mm256_cvtph_ps(_mm256_castsi256_si128(words));
    const floats high = _mm256_cvtph_ps(_mm256_extracti128_si256(words, 1));
#endif
    store_floats(x, VECTOR_BITS(mul_ps)(low, by), stream);
    store_floats(x + VECTOR, VECTOR_BITS(mul_ps)(high, by), stream);
}

/* Stores FLOAT_BLOCK codes times a scale that is finite (for E4M3 also when multiplied by 256).
 * False if a code is NaN. */
DTI_INLINE bool float_block(unsigned char *x, const unsigned char *codes, float scale,
                            enum element element, bool stream)
{
    const floats by = floats_of(element == E4M3 ? scale * 256 : scale);
    const vector magnitude = VECTOR_BITS(set1_epi16)(0x7f);
    const vector most = VECTOR_BITS(set1_epi16)(element == E4M3 ? 0x7e : 0x7c);
    const vector sign = VECTOR_BITS(set1_epi16)((short)0x8000);
    vector code[FLOAT_BLOCK / (2 * LANES)];
    unsigned nan = 0;
    for (unsigned i = 0; i < FLOAT_BLOCK / (2 * LANES); i++) {
        code[i] = widen_bytes(codes + (size_t)i * 2 * LANES);
        const vector kept = VECTOR_BITS(max_epi16)(VECTOR_WHOLE(and)(code[i], magnitude), most);
        nan |= words_that_differ(kept, most);
    }
    for (unsigned i = 0; i < FLOAT_BLOCK / (2 * LANES); i++) {
        const vector top = VECTOR_BITS(slli_epi16)(code[i], 8);
        const vector moved = VECTOR_BITS(slli_epi16)(VECTOR_WHOLE(and)(code[i], magnitude), 7);
        store_halves_as_floats(x + (size_t)i * 2 * VECTOR,
                               element == E4M3 ? either(top, sign, moved) : top, by, stream);
    }
    return nan == 0;
}
#endif

#endif
