/* SPDX-License-Identifier: MIT
 *
 * int8 and uint8 -> fp32, fp16 and bf16, exactly, in place of a table. */
#include "kernels/arm/table_integers_neon.h"
#include "kernels/arm/neon.h"

/* Sixteen integers as fp32. */
DTI_INLINE void numbers_of(float32x4_t number[4], const unsigned char *src, bool is_signed)
{
    const uint8x16_t code = vld1q_u8(src);
    const int8x16_t whole = vreinterpretq_s8_u8(code);
    const int16x8_t half[2] = {is_signed ? vmovl_s8(vget_low_s8(whole))
                                         : vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(code))),
                               is_signed ? vmovl_high_s8(whole)
                                         : vreinterpretq_s16_u16(vmovl_high_u8(code))};
    for (unsigned i = 0; i < 2; i++) {
        number[2 * i] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(half[i])));
        number[2 * i + 1] = vcvtq_f32_s32(vmovl_high_s16(half[i]));
    }
}

DTI_INLINE void store_fp32(unsigned char *dst, const float32x4_t number[4])
{
    for (unsigned i = 0; i < 4; i++)
        neon_store_f32(dst + 16 * i, number[i]);
}

DTI_INLINE void store_fp16(unsigned char *dst, const float32x4_t number[4])
{
    for (unsigned i = 0; i < 2; i++) {
        const float16x4_t low = vcvt_f16_f32(number[2 * i]);
        const float16x8_t code = vcvt_high_f16_f32(low, number[2 * i + 1]);
        neon_store16(dst + 16 * i, vreinterpretq_u16_f16(code));
    }
}

DTI_INLINE void store_bf16(unsigned char *dst, const float32x4_t number[4])
{
    for (unsigned i = 0; i < 2; i++)
        neon_store16(dst + 16 * i, neon_upper16(vreinterpretq_u32_f32(number[2 * i]),
                                                vreinterpretq_u32_f32(number[2 * i + 1])));
}

#define STEP(name, store, is_signed)                                                          \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src) \
    {                                                                                         \
        float32x4_t number[4];                                                                \
        (void)constants;                                                                      \
        numbers_of(number, src, is_signed);                                                   \
        store(dst, number);                                                                   \
    }
STEP(int8_to_fp32, store_fp32, true)
STEP(int8_to_fp16, store_fp16, true)
STEP(int8_to_bf16, store_bf16, true)
STEP(uint8_to_fp32, store_fp32, false)
STEP(uint8_to_fp16, store_fp16, false)
STEP(uint8_to_bf16, store_bf16, false)

bool dti_table_integers_neon(const struct dti_code_table *table, void *dst, const void *src,
                             size_t n)
{
    const bool is_signed = table->src.format.kind == DTI_KIND_INT;
    const enum dti_table_floats to = dti_table_floats_of(table);
    if (to == DTI_TABLE_FP32 && is_signed)
        neon_run(int8_to_fp32, NULL, dst, src, n, 1, 4);
    else if (to == DTI_TABLE_FP32)
        neon_run(uint8_to_fp32, NULL, dst, src, n, 1, 4);
    else if (to == DTI_TABLE_FP16 && is_signed)
        neon_run(int8_to_fp16, NULL, dst, src, n, 1, 2);
    else if (to == DTI_TABLE_FP16)
        neon_run(uint8_to_fp16, NULL, dst, src, n, 1, 2);
    else if (to == DTI_TABLE_BF16 && is_signed)
        neon_run(int8_to_bf16, NULL, dst, src, n, 1, 2);
    else if (to == DTI_TABLE_BF16)
        neon_run(uint8_to_bf16, NULL, dst, src, n, 1, 2);
    return to != DTI_TABLE_OTHER;
}
