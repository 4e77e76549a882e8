/* SPDX-License-Identifier: MIT
 *
 * Blocks of GGUF whose codes of 4 bits are places in a table: numbers are looked up in a register.
 */
#include "kernels/gguf_kernels.h"
#include "kernels/gguf_lanes_small.h"
#include "kernels/x86/quant_back.h"

#ifdef __AVX2__
static const float nonlinear_numbers[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};
static const float e2m1_numbers[16] = {0, 0.5F,  1,  1.5F,  2,  3,  4,  6,
                                       0, -0.5F, -1, -1.5F, -2, -3, -4, -6};

static struct numbers16 numbers_init(const float numbers[16], float factor)
{
    float each[16 + LANES] = {0}; /* wider vectors have both halves in one, and no second */
    for (unsigned i = 0; i < 16; i++)
        each[i] = numbers[i] * factor;
    return (struct numbers16){.low = load_floats((const unsigned char *)each),
                              .high = load_floats((const unsigned char *)(each + 8))};
}

/* 32 numbers: the low halves of 16 bytes, then the high ones. */
DTI_INLINE void thirty_two(float *x, const unsigned char *codes, struct numbers16 numbers,
                           float scale)
{
    const floats by = floats_of(scale);
    unsigned char *const to = (unsigned char *)x;
    for (size_t at = 0; at < 16; at += LANES) {
        const vector code = bytes_to_numbers(codes + at), high = VECTOR_BITS(srli_epi32)(code, 4);
        store_floats(to + 4 * at, VECTOR_BITS(mul_ps)(look_up(numbers, code), by), false);
        store_floats(to + 4 * (16 + at), VECTOR_BITS(mul_ps)(look_up(numbers, high), by), false);
    }
}

/* 16 numbers likewise, of 8 bytes. */
DTI_INLINE void sixteen(float *x, const unsigned char *codes, struct numbers16 numbers, float scale)
{
    const floats by = floats_of(scale);
    unsigned char *const to = (unsigned char *)x;
    const __m128i low = _mm_loadl_epi64((const void *)codes), high = _mm_srli_epi16(low, 4);
#ifdef __AVX512BW__
    const vector code = _mm512_cvtepu8_epi32(_mm_unpacklo_epi64(low, high));
    store_floats(to, _mm512_mul_ps(look_up(numbers, code), by), false);
#else
    const vector first = _mm256_cvtepu8_epi32(low), second = _mm256_cvtepu8_epi32(high);
    store_floats(to, _mm256_mul_ps(look_up(numbers, first), by), false);
    store_floats(to + VECTOR, _mm256_mul_ps(look_up(numbers, second), by), false);
#endif
}

void VECTOR_NAME(dti_gguf_iq4_nl)(float *x, const unsigned char *blocks, size_t count,
                                  float tensor_scale)
{
    const struct numbers16 numbers = numbers_init(nonlinear_numbers, 1);
    (void)tensor_scale;
    for (size_t i = 0; i < count; i++, blocks += 18)
        thirty_two(x + 32 * i, blocks + 2, numbers, gguf_half(blocks));
}

void VECTOR_NAME(dti_gguf_iq4_xs)(float *x, const unsigned char *blocks, size_t count,
                                  float tensor_scale)
{
    const struct numbers16 numbers = numbers_init(nonlinear_numbers, 1);
    struct gguf_block block;
    (void)tensor_scale;
    for (size_t i = 0; i < count; i++, blocks += 136) {
        iq4_xs_scales(&block, blocks);
        for (size_t g = 0; g < 8; g++)
            thirty_two(x + 256 * i + 32 * g, blocks + 8 + 16 * g, numbers, block.scale[g]);
    }
}

void VECTOR_NAME(dti_gguf_mxfp4)(float *x, const unsigned char *blocks, size_t count,
                                 float tensor_scale)
{
    const struct numbers16 numbers = numbers_init(e2m1_numbers, 2);
    (void)tensor_scale;
    for (size_t i = 0; i < count; i++, blocks += 17)
        thirty_two(x + 32 * i, blocks + 1, numbers, mxfp4_scale(blocks[0]));
}

void VECTOR_NAME(dti_gguf_nvfp4)(float *x, const unsigned char *blocks, size_t count,
                                 float tensor_scale)
{
    const struct numbers16 numbers = numbers_init(e2m1_numbers, 1);
    for (size_t i = 0; i < count; i++, blocks += 36)
        for (size_t g = 0; g < 4; g++)
            sixteen(x + 64 * i + 16 * g, blocks + 4 + 8 * g, numbers,
                    nvfp4_scale(blocks[g]) * tensor_scale);
}
#endif
