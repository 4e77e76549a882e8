/* SPDX-License-Identifier: MIT
 *
 * Casts between the IEEE floats and bf16. FCVT handles subnormals, keeps the sign and top payload
 * bits of a NaN and makes it quiet, as dti_encode() requires. It rounds according to FPCR: to
 * nearest even unless changed. bf16 uses integer arithmetic. */
#include "kernels/arm/neon.h"
#include "kernels/kernels.h"

/* The NaN that all NaNs become, or what they keep of themselves. */
struct nan16 {
    uint16x8_t keep, set;
};

DTI_INLINE bool is_canonical(const struct dti_kernel_args *args)
{
    return args->encoder->policy.nan == DTI_NAN_CANONICAL;
}

DTI_INLINE void fp16_to_fp32(const void *constants, unsigned char *dst, const unsigned char *src)
{
    (void)constants;
    for (unsigned i = 0; i < 2; i++) {
        const float16x8_t half = vreinterpretq_f16_u8(vld1q_u8(src + 16 * i));
        neon_store_f32(dst + 32 * i, vcvt_f32_f16(vget_low_f16(half)));
        neon_store_f32(dst + 32 * i + 16, vcvt_high_f32_f16(half));
    }
}

DTI_INLINE void bf16_to_fp32(const void *constants, unsigned char *dst, const unsigned char *src)
{
    (void)constants;
    for (unsigned i = 0; i < 2; i++) {
        const uint16x8_t code = vreinterpretq_u16_u8(vld1q_u8(src + 16 * i));
        const uint16x8_t magnitude = vbicq_u16(code, vdupq_n_u16(0x8000));
        const uint16x8_t is_nan = vcgtq_u16(magnitude, vdupq_n_u16(0x7f80));
        const uint16x8_t quiet = vorrq_u16(code, vandq_u16(is_nan, vdupq_n_u16(0x0040)));
        neon_store32(dst + 32 * i, vshll_n_u16(vget_low_u16(quiet), 16));
        neon_store32(dst + 32 * i + 16, vshll_high_n_u16(quiet, 16));
    }
}

DTI_INLINE void fp32_to_fp16(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const struct nan16 *const nan = constants;
    for (unsigned i = 0; i < 2; i++) {
        const float32x4_t low = neon_load_f32(src + 32 * i),
                          high = neon_load_f32(src + 32 * i + 16);
        uint16x8_t code = vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
        if (nan)
            code = vbslq_u16(neon_numbers16(low, high), code, nan->set);
        neon_store16(dst + 16 * i, code);
    }
}

/* Adding half a unit rounds ties up; those with an even last bit before that lose the one that they
 * got, and so do the others, whose last bit it has cleared already. NaNs are truncated instead. */
DTI_INLINE void fp32_to_bf16(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const struct nan16 nan = *(const struct nan16 *)constants;
    for (unsigned i = 0; i < 2; i++) {
        const uint32x4_t low = neon_load32(src + 32 * i), high = neon_load32(src + 32 * i + 16);
        const uint16x8_t near = vrshrn_high_n_u32(vrshrn_n_u32(low, 16), high, 16);
        const uint16x8_t tie = vceqq_u16(neon_lower16(low, high), vdupq_n_u16(0x8000));
        const uint16x8_t even = vbicq_u16(near, vshrq_n_u16(tie, 15));
        const uint16x8_t number =
            neon_numbers16(vreinterpretq_f32_u32(low), vreinterpretq_f32_u32(high));
        const uint16x8_t cut = vandq_u16(neon_upper16(low, high), nan.keep);
        neon_store16(dst + 16 * i, vbslq_u16(number, even, vorrq_u16(cut, nan.set)));
    }
}

#define DECODE(name, bytes, to_bytes)                                              \
    void dti_##name##_neon(const struct dti_kernel_args *args, void *restrict dst, \
                           const void *restrict src, size_t n)                     \
    {                                                                              \
        (void)args;                                                                \
        neon_run(name, NULL, dst, src, n, bytes, to_bytes);                        \
    }
DECODE(fp16_to_fp32, 2, 4)
DECODE(bf16_to_fp32, 2, 4)

void dti_fp32_to_fp16_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const struct nan16 nan = {.set = vdupq_n_u16((uint16_t)args->encoder->nan[0])};
    if (is_canonical(args))
        neon_run(fp32_to_fp16, &nan, dst, src, n, 4, 2);
    else
        neon_run(fp32_to_fp16, NULL, dst, src, n, 4, 2);
}

void dti_fp32_to_bf16_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const bool all = is_canonical(args);
    const struct nan16 nan = {vdupq_n_u16(all ? 0 : 0xffff),
                              vdupq_n_u16(all ? (uint16_t)args->encoder->nan[0] : 0x0040)};
    neon_run(fp32_to_bf16, &nan, dst, src, n, 4, 2);
}

/* fp64: the same instructions one size up, and rounding to odd, which Arm has for this alone. */
DTI_INLINE void fp32_to_fp64(const void *constants, unsigned char *dst, const unsigned char *src)
{
    (void)constants;
    for (unsigned i = 0; i < 4; i++) {
        const float32x4_t x = neon_load_f32(src + 16 * i);
        neon_store_f64(dst + 32 * i, vcvt_f64_f32(vget_low_f32(x)));
        neon_store_f64(dst + 32 * i + 16, vcvt_high_f64_f32(x));
    }
}

DTI_INLINE void fp64_to_fp32(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const uint32x4_t *const canonical = constants;
    for (unsigned i = 0; i < 4; i++) {
        const float64x2_t low = neon_load_f64(src + 32 * i),
                          high = neon_load_f64(src + 32 * i + 16);
        uint32x4_t code = vreinterpretq_u32_f32(vcvt_high_f32_f64(vcvt_f32_f64(low), high));
        if (canonical) {
            const uint32x4_t number = vuzp1q_u32(vreinterpretq_u32_u64(vceqq_f64(low, low)),
                                                 vreinterpretq_u32_u64(vceqq_f64(high, high)));
            code = vbslq_u32(number, code, *canonical);
        }
        neon_store32(dst + 16 * i, code);
    }
}

DTI_INLINE void fp64_to_fp32_odd(const void *constants, unsigned char *dst,
                                 const unsigned char *src)
{
    (void)constants;
    for (unsigned i = 0; i < 4; i++) {
        const float32x2_t low = vcvtx_f32_f64(neon_load_f64(src + 32 * i));
        neon_store_f32(dst + 16 * i, vcvtx_high_f32_f64(low, neon_load_f64(src + 32 * i + 16)));
    }
}
DECODE(fp32_to_fp64, 4, 8)
DECODE(fp64_to_fp32_odd, 8, 4)

void dti_fp64_to_fp32_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    const uint32x4_t canonical = vdupq_n_u32((uint32_t)args->encoder->nan[0]);
    if (is_canonical(args))
        neon_run(fp64_to_fp32, &canonical, dst, src, n, 8, 4);
    else
        neon_run(fp64_to_fp32, NULL, dst, src, n, 8, 4);
}
