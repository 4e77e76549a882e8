/* SPDX-License-Identifier: MIT
 *
 * Matrix products with Advanced SIMD: fp64 and fp32 by fused multiply-adds. */
#include <arm_neon.h>

#include "kernels/math/matmul_pack.h"

/* Loads as bytes, for any alignment. */
static inline float32x4_t load_4(const unsigned char *p)
{
    return vreinterpretq_f32_u8(vld1q_u8(p));
}

static inline float64x2_t load_8(const unsigned char *p)
{
    return vreinterpretq_f64_u8(vld1q_u8(p));
}

#define NAME              f32_neon
#define HEIGHT            12
#define VECTOR            float32x4_t
#define ELEMENT           4
#define PACK_A            matmul_pack_rows_4
#define LOAD(p)           load_4(p)
#define STORE(p, v)       vst1q_u8(p, vreinterpretq_u8_f32(v))
#define ADD(v, w)         vaddq_f32(v, w)
#define BROADCAST(p)      vdupq_n_f32(matmul_float_at(p))
#define MULTIPLY(c, a, b) vfmaq_f32(c, a, b)
#define FIRST(v)          (double)vgetq_lane_f32(v, 0)
#include "kernels/math/matmul_rows.h"

#define NAME              f64_neon
#define HEIGHT            12
#define VECTOR            float64x2_t
#define ELEMENT           8
#define PACK_A            matmul_pack_rows_8
#define LOAD(p)           load_8(p)
#define STORE(p, v)       vst1q_u8(p, vreinterpretq_u8_f64(v))
#define ADD(v, w)         vaddq_f64(v, w)
#define BROADCAST(p)      vdupq_n_f64(matmul_double_at(p))
#define MULTIPLY(c, a, b) vfmaq_f64(c, a, b)
#define FIRST(v)          vgetq_lane_f64(v, 0)
#include "kernels/math/matmul_rows.h"
