/* SPDX-License-Identifier: MIT
 *
 * What the kernels with Advanced SIMD share: loads and stores as bytes, for any alignment, the loop
 * over an array with its remainder, and packing. */
#ifndef KERNELS_ARM_NEON_H
#define KERNELS_ARM_NEON_H

#ifdef __ARM_NEON
#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/lanes.h"

enum { NEON_STEP = 16, NEON_BYTES = 16 }; /* elements of a step; bytes of a register */

DTI_INLINE uint32x4_t neon_load32(const unsigned char *src)
{
    return vreinterpretq_u32_u8(vld1q_u8(src));
}

DTI_INLINE float32x4_t neon_load_f32(const unsigned char *src)
{
    return vreinterpretq_f32_u8(vld1q_u8(src));
}

DTI_INLINE float64x2_t neon_load_f64(const unsigned char *src)
{
    return vreinterpretq_f64_u8(vld1q_u8(src));
}

DTI_INLINE void neon_store16(unsigned char *dst, uint16x8_t v)
{
    vst1q_u8(dst, vreinterpretq_u8_u16(v));
}

DTI_INLINE void neon_store32(unsigned char *dst, uint32x4_t v)
{
    vst1q_u8(dst, vreinterpretq_u8_u32(v));
}

DTI_INLINE void neon_store_f32(unsigned char *dst, float32x4_t v)
{
    vst1q_u8(dst, vreinterpretq_u8_f32(v));
}

DTI_INLINE void neon_store_f64(unsigned char *dst, float64x2_t v)
{
    vst1q_u8(dst, vreinterpretq_u8_f64(v));
}

/* The upper and the lower halves of the lanes of two vectors, in order. */
DTI_INLINE uint16x8_t neon_upper16(uint32x4_t a, uint32x4_t b)
{
    return vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
}

DTI_INLINE uint16x8_t neon_lower16(uint32x4_t a, uint32x4_t b)
{
    return vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
}

DTI_INLINE uint8x16_t neon_upper8(uint16x8_t a, uint16x8_t b)
{
    return vuzp2q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

DTI_INLINE uint8x16_t neon_lower8(uint16x8_t a, uint16x8_t b)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

/* The lowest byte of each lane of four vectors. */
DTI_INLINE uint8x16_t neon_lowest8(const uint32x4_t v[4])
{
    return neon_lower8(neon_lower16(v[0], v[1]), neon_lower16(v[2], v[3]));
}

/* All ones for numbers and infinities. */
DTI_INLINE uint16x8_t neon_numbers16(float32x4_t a, float32x4_t b)
{
    return neon_lower16(vceqq_f32(a, a), vceqq_f32(b, b));
}

/* Converts NEON_STEP elements. */
typedef void neon_step_fn(const void *constants, unsigned char *dst, const unsigned char *src);

/* Elements of src_bytes become elements of dst_bytes. All but the array are constants after
 * inlining. The remainder goes through buffers of one step. */
DTI_INLINE void neon_run(neon_step_fn *step, const void *constants, unsigned char *dst,
                         const unsigned char *src, size_t n, size_t src_bytes, size_t dst_bytes)
{
    for (; n >= NEON_STEP; n -= NEON_STEP) {
        step(constants, dst, src);
        src += NEON_STEP * src_bytes;
        dst += NEON_STEP * dst_bytes;
    }
    if (n > 0) {
        unsigned char from[NEON_STEP * 8] = {0}, to[NEON_STEP * 8];
        memcpy(from, src, n * src_bytes);
        step(constants, to, from);
        memcpy(dst, to, n * dst_bytes);
    }
}
#endif

#endif
