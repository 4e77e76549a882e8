/* SPDX-License-Identifier: MIT
 *
 * Codes of 8 bits to numbers times a scale, for affine codes and for blocks. */
#ifndef KERNELS_ARM_BACK_NEON_H
#define KERNELS_ARM_BACK_NEON_H

#ifdef __ARM_NEON
#include <math.h>

#include "kernels/arm/neon.h"

enum neon_element { NEON_INTEGER, NEON_E4M3, NEON_E5M2 };

/* Stores eight integers as numbers times `by`. */
DTI_INLINE void neon_store_integers(unsigned char *x, int16x8_t words, float32x4_t by)
{
    const float32x4_t low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
    const float32x4_t high = vcvtq_f32_s32(vmovl_high_s16(words));
    neon_store_f32(x, vmulq_f32(low, by));
    neon_store_f32(x + NEON_BYTES, vmulq_f32(high, by));
}

/* The same for eight fp16 numbers. */
DTI_INLINE void neon_store_halves(unsigned char *x, uint16x8_t words, float32x4_t by)
{
    const float16x8_t halves = vreinterpretq_f16_u16(words);
    neon_store_f32(x, vmulq_f32(vcvt_f32_f16(vget_low_f16(halves)), by));
    neon_store_f32(x + NEON_BYTES, vmulq_f32(vcvt_high_f32_f16(halves), by));
}

/* An fp8_e5m2 is the upper half of an fp16; an fp8_e4m3fn whose magnitude is moved there is 2^-8
 * times as large, including subnormals, and the sign bit is on both sides of a zero. */
DTI_INLINE uint16x8_t neon_half_of(int16x8_t code, enum neon_element element)
{
    if (element == NEON_E5M2)
        return vreinterpretq_u16_s16(vshlq_n_s16(code, 8));
    return vbicq_u16(vreinterpretq_u16_s16(vshlq_n_s16(code, 7)), vdupq_n_u16(0x4000));
}

/* Stores 16 codes as numbers times a scale, which is 256 times as large for E4M3. */
DTI_INLINE void neon_store_bytes(unsigned char *x, uint8x16_t codes, float32x4_t by,
                                 enum neon_element element)
{
    const int8x16_t bytes = vreinterpretq_s8_u8(codes);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
    if (element == NEON_INTEGER) {
        neon_store_integers(x, low, by);
        neon_store_integers(x + 2 * NEON_BYTES, high, by);
    } else {
        neon_store_halves(x, neon_half_of(low, element), by);
        neon_store_halves(x + 2 * NEON_BYTES, neon_half_of(high, element), by);
    }
}

/* Whether one of 32 codes is a NaN. */
DTI_INLINE bool neon_has_nan(const unsigned char *codes, enum neon_element element)
{
    const uint8x16_t sign = vdupq_n_u8(0x80);
    const uint8x16_t a = vbicq_u8(vld1q_u8(codes), sign);
    const uint8x16_t b = vbicq_u8(vld1q_u8(codes + NEON_BYTES), sign);
    return element != NEON_INTEGER &&
           vmaxvq_u8(vmaxq_u8(a, b)) > (element == NEON_E4M3 ? 0x7e : 0x7c);
}

/* All NaNs become the same code. */
DTI_INLINE float32x4_t neon_plain_nan(float32x4_t y)
{
    return vbslq_f32(vceqq_f32(y, y), y, vreinterpretq_f32_u32(vdupq_n_u32(UINT32_C(0x7fc00000))));
}

/* The factor for neon_store_bytes(). Its block must go to portable code if this is not finite. */
DTI_INLINE float neon_factor(float scale, enum neon_element element)
{
    return element == NEON_E4M3 ? scale * 256 : scale;
}
#endif

#endif
