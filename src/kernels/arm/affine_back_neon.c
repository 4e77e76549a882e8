/* SPDX-License-Identifier: MIT
 *
 * Affine codes of 8 bits -> fp32 with Advanced SIMD: integers, (code - zero point) x scale, and fp8
 * x scale. */
#include <float.h>

#include "kernels/arm/back_neon.h"
#include "kernels/quant/quant_kernels.h"

struct affine_back {
    uint8x16_t mask, sign;
    int32x4_t zero;
    float32x4_t scale;
};

DTI_INLINE struct affine_back affine_init(const struct dti_affine_args *args)
{
    const struct dti_format *const format = &args->affine->code;
    const uint32_t sign = (uint32_t)dti_format_sign_bit(format);
    return (struct affine_back){
        vdupq_n_u8((uint8_t)dti_low_bits(format->width)), vdupq_n_u8((uint8_t)sign),
        vdupq_n_s32(args->zero_point + (int32_t)sign), vdupq_n_f32(args->scale)};
}

/* Flipping the sign bit of a code adds half its range, which the zero point compensates. */
DTI_INLINE void widen(const struct affine_back *c, const unsigned char *src, int32x4_t ret[4])
{
    const uint8x16_t code = veorq_u8(vandq_u8(vld1q_u8(src), c->mask), c->sign);
    const uint16x8_t low = vmovl_u8(vget_low_u8(code)), high = vmovl_high_u8(code);
    ret[0] = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(low)));
    ret[1] = vreinterpretq_s32_u32(vmovl_high_u16(low));
    ret[2] = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(high)));
    ret[3] = vreinterpretq_s32_u32(vmovl_high_u16(high));
}

DTI_INLINE void integers(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const struct affine_back *const c = constants;
    int32x4_t code[4];
    widen(c, src, code);
    for (unsigned i = 0; i < 4; i++) {
        const float32x4_t number = vcvtq_f32_s32(vsubq_s32(code[i], c->zero));
        neon_store_f32(dst + NEON_BYTES * i, vmulq_f32(number, c->scale));
    }
}

void dti_dequantize_int8_neon(const struct dti_affine_args *args, float *x, const void *codes,
                              size_t n)
{
    const struct affine_back c = affine_init(args);
    if (fabsf(args->scale) <= FLT_MAX)
        neon_run(integers, &c, (unsigned char *)x, codes, n, 1, 4);
    else
        dti_dequantize_affine_scalar(args, x, codes, n);
}

/* The arguments for what follows the first elements. */
static struct dti_affine_args args_from(struct dti_affine_args args, size_t at)
{
    args.scales += at;
    args.inverses = args.inverses ? args.inverses + at : NULL;
    args.zero_points = args.zero_points ? args.zero_points + at : NULL;
    return args;
}

void dti_dequantize_int8_columns_neon(const struct dti_affine_args *args, float *x,
                                      const void *codes, size_t n)
{
    const struct affine_back c = affine_init(args);
    const int32x4_t sign = vdupq_n_s32((int32_t)dti_format_sign_bit(&args->affine->code));
    const unsigned char *const from = codes, *const scales = (const unsigned char *)args->scales;
    const unsigned char *const zeros = (const unsigned char *)args->zero_points;
    unsigned char *const to = (unsigned char *)x;
    size_t at = 0;
    for (; n - at >= NEON_STEP; at += NEON_STEP) {
        int32x4_t code[4];
        widen(&c, from + at, code);
        for (unsigned i = 0; i < 4; i++) {
            const size_t byte = 4 * at + NEON_BYTES * i;
            const int32x4_t zero =
                zeros ? vaddq_s32(vreinterpretq_s32_u32(neon_load32(zeros + byte)), sign) : c.zero;
            const float32x4_t number = vcvtq_f32_s32(vsubq_s32(code[i], zero));
            const float32x4_t y = vmulq_f32(number, neon_load_f32(scales + byte));
            neon_store_f32(to + byte, neon_plain_nan(y));
        }
    }
    const struct dti_affine_args rest = args_from(*args, at);
    if (at < n)
        dti_dequantize_columns_scalar(&rest, (float *)(void *)(to + 4 * at), from + at, n - at);
}

DTI_INLINE void decode(const struct dti_affine_args *args, unsigned char *x,
                       const unsigned char *codes, size_t n, enum neon_element element)
{
    enum { BLOCK = 2 * NEON_STEP };
    const float32x4_t by = vdupq_n_f32(neon_factor(args->scale, element));
    for (; n > 0; n -= n < BLOCK ? n : BLOCK) {
        if (n < BLOCK || neon_has_nan(codes, element)) {
            dti_dequantize_affine_scalar(args, (float *)(void *)x, codes, n < BLOCK ? n : BLOCK);
        } else {
            neon_store_bytes(x, vld1q_u8(codes), by, element);
            neon_store_bytes(x + 4 * NEON_STEP, vld1q_u8(codes + NEON_STEP), by, element);
        }
        x += 4 * BLOCK;
        codes += BLOCK;
    }
}

void dti_dequantize_small_neon(const struct dti_affine_args *args, float *x, const void *codes,
                               size_t n)
{
    const enum dti_dtype id = args->affine->code.id;
    const bool is_e4m3 = id == DTI_FP8_E4M3FN;
    const float factor = neon_factor(args->scale, is_e4m3 ? NEON_E4M3 : NEON_E5M2);
    if (is_e4m3 && fabsf(factor) <= FLT_MAX)
        decode(args, (unsigned char *)x, codes, n, NEON_E4M3);
    else if (id == DTI_FP8_E5M2 && fabsf(factor) <= FLT_MAX && fabsf(factor) > 0)
        decode(args, (unsigned char *)x, codes, n, NEON_E5M2);
    else
        dti_dequantize_affine_scalar(args, x, codes, n);
}
