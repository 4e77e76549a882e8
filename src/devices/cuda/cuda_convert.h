/* SPDX-License-Identifier: MIT
 *
 * Conversions between hardware floats, bits to bits: with instructions on the device, with the
 * lane functions on the host. Infinities are preserved; a NaN gives some NaN. */
#ifndef DEVICES_CUDA_CUDA_CONVERT_H
#define DEVICES_CUDA_CUDA_CONVERT_H

#include "devices/cuda/cuda_language.h"

DTI_LANE float dti_lane_f32(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Always one rounding, even where lane functions may use two. */
DTI_LANE float dti_fma_f32(float a, float b, float c)
{
#if DTI_ON_DEVICE
    return __builtin_fmaf(a, b, c);
#else
    return fmaf(a, b, c);
#endif
}

DTI_LANE double dti_fma_f64(double a, double b, double c)
{
#if DTI_ON_DEVICE
    return __builtin_fma(a, b, c);
#else
    return fma(a, b, c);
#endif
}

#if DTI_ON_DEVICE
DTI_LANE uint32_t dti_near_fp16(uint32_t bits)
{
    uint32_t code;
    asm("{\n\t.reg .b16 h;\n\t.reg .f32 f;\n\tmov.b32 f, %1;\n\tcvt.rn.f16.f32 h, f;\n\t"
        "cvt.u32.u16 %0, h;\n\t}"
        : "=r"(code)
        : "r"(bits));
    return code;
}

DTI_LANE uint32_t dti_widen_fp16(uint32_t code)
{
    uint32_t bits;
    asm("{\n\t.reg .b16 h;\n\t.reg .f32 f;\n\tcvt.u16.u32 h, %1;\n\tcvt.f32.f16 f, h;\n\t"
        "mov.b32 %0, f;\n\t}"
        : "=r"(bits)
        : "r"(code));
    return bits;
}

/* Rounds toward zero; numbers out of range become the largest finite one. */
DTI_LANE uint32_t dti_cut_fp64(uint64_t bits)
{
    uint32_t cut;
    asm("{\n\t.reg .f64 d;\n\t.reg .f32 f;\n\tmov.b64 d, %1;\n\tcvt.rz.f32.f64 f, d;\n\t"
        "mov.b32 %0, f;\n\t}"
        : "=r"(cut)
        : "l"(bits));
    return cut;
}

DTI_LANE uint32_t dti_near_fp64(uint64_t bits)
{
    uint32_t near;
    asm("{\n\t.reg .f64 d;\n\t.reg .f32 f;\n\tmov.b64 d, %1;\n\tcvt.rn.f32.f64 f, d;\n\t"
        "mov.b32 %0, f;\n\t}"
        : "=r"(near)
        : "l"(bits));
    return near;
}

DTI_LANE uint64_t dti_widen_fp32(uint32_t bits)
{
    uint64_t wide;
    asm("{\n\t.reg .f64 d;\n\t.reg .f32 f;\n\tmov.b32 f, %1;\n\tcvt.f64.f32 d, f;\n\t"
        "mov.b64 %0, d;\n\t}"
        : "=l"(wide)
        : "r"(bits));
    return wide;
}
#else
DTI_LANE uint32_t dti_near_fp16(uint32_t bits)
{
    const struct dti_encoder e = {.man_bits = 10,
                                  .min_exponent = -14,
                                  .sign_bit = 0x8000,
                                  .max_magnitude = 0x7bff,
                                  .overflow = {0x7c00, 0xfc00},
                                  .inf = {0x7c00, 0xfc00},
                                  .nan = {0x7fff, 0x7fff},
                                  .zero = {0, 0x8000}};
    return dti_lane_float_f32(&e, bits, DTI_ROUND_NEAREST_EVEN, 0);
}

DTI_LANE uint32_t dti_widen_fp16(uint32_t code)
{
    const struct dti_decoder d = {.format = {.specials = DTI_SPECIALS_IEEE, .width = 16},
                                  .man_bits = 10,
                                  .bias = 15,
                                  .min_exponent = -14,
                                  .sign_bit = 0x8000,
                                  .max_magnitude = 0x7bff,
                                  .inf = 0x7c00};
    return dti_lane_decode_f32(&d, code);
}

DTI_LANE uint32_t dti_fp64_rounded(uint64_t bits, enum dti_round round)
{
    struct dti_encoder e = DTI_LANES_ODD_FP32;
    if (round == DTI_ROUND_NEAREST_EVEN) {
        e.overflow[0] = e.inf[0];
        e.overflow[1] = e.inf[1];
    }
    return (uint32_t)dti_lane_float_f64(&e, bits, round, 0);
}

DTI_LANE uint32_t dti_cut_fp64(uint64_t bits)
{
    return dti_fp64_rounded(bits, DTI_ROUND_ZERO);
}

DTI_LANE uint32_t dti_near_fp64(uint64_t bits)
{
    return dti_fp64_rounded(bits, DTI_ROUND_NEAREST_EVEN);
}

DTI_LANE uint64_t dti_widen_fp32(uint32_t bits)
{
    return dti_lane_bits_f64((double)dti_lane_f32(bits));
}
#endif

#endif
