/* SPDX-License-Identifier: MIT
 *
 * fp32 to and from the 16-bit floats. FCVT handles fp16 subnormals, keeps the sign and top
 * payload bits of a NaN and makes it quiet, as dti_encode() requires. It rounds according to
 * FPCR: to nearest even unless changed. bf16 uses integer arithmetic. */
#include <arm_neon.h>
#include <string.h>

#include "kernels/kernels.h"

enum { STEP = 8 }; /* elements */

static inline void decode_fp16(unsigned char *dst, const unsigned char *src)
{
    const float16x8_t half = vreinterpretq_f16_u8(vld1q_u8(src));
    vst1q_u8(dst, vreinterpretq_u8_f32(vcvt_f32_f16(vget_low_f16(half))));
    vst1q_u8(dst + 16, vreinterpretq_u8_f32(vcvt_high_f32_f16(half)));
}

static inline void decode_bf16(unsigned char *dst, const unsigned char *src)
{
    const uint16x8_t code = vreinterpretq_u16_u8(vld1q_u8(src));
    const uint16x8_t magnitude = vbicq_u16(code, vdupq_n_u16(0x8000));
    const uint16x8_t is_nan = vcgtq_u16(magnitude, vdupq_n_u16(0x7f80));
    const uint16x8_t quiet = vorrq_u16(code, vandq_u16(is_nan, vdupq_n_u16(0x0040)));
    vst1q_u8(dst, vreinterpretq_u8_u32(vshll_n_u16(vget_low_u16(quiet), 16)));
    vst1q_u8(dst + 16, vreinterpretq_u8_u32(vshll_high_n_u16(quiet, 16)));
}

/* All ones in lanes that are NaNs whose payload must be dropped. */
static inline uint16x8_t dropped_nan(uint8x16_t low, uint8x16_t high, uint16x8_t is_canonical)
{
    const float32x4_t a = vreinterpretq_f32_u8(low), b = vreinterpretq_f32_u8(high);
    const uint16x4_t number = vmovn_u32(vceqq_f32(a, a));
    return vbicq_u16(is_canonical, vmovn_high_u32(number, vceqq_f32(b, b)));
}

static inline void encode_fp16(unsigned char *dst, const unsigned char *src,
                               uint16x8_t is_canonical, uint16x8_t canonical)
{
    const uint8x16_t low = vld1q_u8(src), high = vld1q_u8(src + 16);
    const float16x4_t first = vcvt_f16_f32(vreinterpretq_f32_u8(low));
    const float16x8_t half = vcvt_high_f16_f32(first, vreinterpretq_f32_u8(high));
    const uint16x8_t code = vreinterpretq_u16_f16(half);
    const uint16x8_t kept = vbslq_u16(dropped_nan(low, high, is_canonical), canonical, code);
    vst1q_u8(dst, vreinterpretq_u8_u16(kept));
}

/* Adds just under half a unit, plus one if the last kept bit is odd. NaNs are truncated and made
 * quiet instead, because the addition could carry them into infinity or zero. */
static inline uint32x4_t round_bf16(uint8x16_t bytes)
{
    const uint32x4_t bits = vreinterpretq_u32_u8(bytes);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t sum = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    const uint32x4_t magnitude = vbicq_u32(bits, vdupq_n_u32(UINT32_C(0x80000000)));
    const uint32x4_t is_nan = vcgtq_u32(magnitude, vdupq_n_u32(UINT32_C(0x7f800000)));
    return vbslq_u32(is_nan, vorrq_u32(bits, vdupq_n_u32(UINT32_C(0x400000))), sum);
}

static inline void encode_bf16(unsigned char *dst, const unsigned char *src,
                               uint16x8_t is_canonical, uint16x8_t canonical)
{
    const uint8x16_t low = vld1q_u8(src), high = vld1q_u8(src + 16);
    const uint16x8_t code =
        vuzp2q_u16(vreinterpretq_u16_u32(round_bf16(low)), vreinterpretq_u16_u32(round_bf16(high)));
    const uint16x8_t kept = vbslq_u16(dropped_nan(low, high, is_canonical), canonical, code);
    vst1q_u8(dst, vreinterpretq_u8_u16(kept));
}

typedef void decode_fn(unsigned char *dst, const unsigned char *src);
typedef void encode_fn(unsigned char *dst, const unsigned char *src, uint16x8_t is_canonical,
                       uint16x8_t canonical);

/* The remainder goes through a buffer of one step. */
static inline __attribute__((always_inline)) void decode_all(unsigned char *dst,
                                                             const unsigned char *src, size_t n,
                                                             decode_fn *step)
{
    size_t i = 0;
    for (; i + STEP <= n; i += STEP)
        step(dst + 4 * i, src + 2 * i);
    if (i < n) {
        unsigned char from[2 * STEP] = {0}, to[4 * STEP];
        memcpy(from, src + 2 * i, 2 * (n - i));
        step(to, from);
        memcpy(dst + 4 * i, to, 4 * (n - i));
    }
}

static inline __attribute__((always_inline)) void encode_all(const struct dti_encoder *e,
                                                             unsigned char *dst,
                                                             const unsigned char *src, size_t n,
                                                             encode_fn *step)
{
    const uint16x8_t is_canonical = vdupq_n_u16(e->policy.nan == DTI_NAN_CANONICAL ? 0xffff : 0);
    const uint16x8_t canonical = vdupq_n_u16((uint16_t)e->nan[0]);
    size_t i = 0;
    for (; i + STEP <= n; i += STEP)
        step(dst + 2 * i, src + 4 * i, is_canonical, canonical);
    if (i < n) {
        unsigned char from[4 * STEP] = {0}, to[2 * STEP];
        memcpy(from, src + 4 * i, 4 * (n - i));
        step(to, from, is_canonical, canonical);
        memcpy(dst + 2 * i, to, 2 * (n - i));
    }
}

void dti_fp16_to_fp32_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    (void)args;
    decode_all(dst, src, n, decode_fp16);
}

void dti_bf16_to_fp32_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    (void)args;
    decode_all(dst, src, n, decode_bf16);
}

void dti_fp32_to_fp16_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    encode_all(args->encoder, dst, src, n, encode_fp16);
}

void dti_fp32_to_bf16_neon(const struct dti_kernel_args *args, void *restrict dst,
                           const void *restrict src, size_t n)
{
    encode_all(args->encoder, dst, src, n, encode_bf16);
}
