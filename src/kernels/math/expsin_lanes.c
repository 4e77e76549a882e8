/* SPDX-License-Identifier: MIT
 *
 * Portable exp(sin x) of arrays, vectorized by the compiler where possible. The results of a
 * piece go to a separate buffer first, because the output may be the input array. */
#include "kernels/lanes_piece.h"
#include "kernels/math/expsin_far.h"
#include "kernels/math/expsin_kernels.h"
#include "kernels/math/lanes_expsin.h"

/* Processes elements of `type`: near(x) for all, then far(x) where is_far(x) has bits set. */
#define EXPSIN_ARRAYS(name, type, far_type, near, is_far, far)     \
    void name(void *dst, const void *src, size_t n)                \
    {                                                              \
        const unsigned char *in = src;                             \
        unsigned char *out = dst;                                  \
        type x, result[DTI_PIECE];                                 \
        for (size_t at = 0, count; at < n; at += count) {          \
            count = n - at < DTI_PIECE ? n - at : DTI_PIECE;       \
            far_type some = 0;                                     \
            for (size_t i = 0; i < count; i++) {                   \
                memcpy(&x, in + sizeof x * (at + i), sizeof x);    \
                some |= is_far(x);                                 \
                result[i] = near(x);                               \
            }                                                      \
            for (size_t i = 0; some && i < count; i++) {           \
                memcpy(&x, in + sizeof x * (at + i), sizeof x);    \
                if (is_far(x))                                     \
                    result[i] = far(x);                            \
            }                                                      \
            memcpy(out + sizeof x * at, result, sizeof x * count); \
        }                                                          \
    }

DTI_LANE float number_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

DTI_LANE uint32_t is_far_f32(uint32_t bits)
{
    return ~dti_lane_expsin_mask_f32(bits);
}

static uint32_t far_f32(uint32_t bits)
{
    const float result = (float)dti_expsin_far(number_of(bits));
    memcpy(&bits, &result, sizeof bits);
    return bits;
}

DTI_LANE uint32_t is_far_f16(uint16_t code)
{
    (void)code; /* all numbers are near */
    return 0;
}

DTI_LANE uint32_t is_far_bf16(uint16_t code)
{
    return is_far_f32((uint32_t)code << 16);
}

static uint16_t far_bf16(uint16_t code)
{
    const float x = number_of((uint32_t)code << 16);
    return isfinite(x) ? dti_lane_round_bf16((float)dti_expsin_far(x)) : dti_lane_expsin_bf16(code);
}

DTI_LANE uint64_t is_far_f64(double x)
{
    return dti_lane_expsin_takes(x) ? 0 : 1;
}

EXPSIN_ARRAYS(dti_expsin_fp32_scalar, uint32_t, uint32_t, dti_lane_expsin_code_f32, is_far_f32,
              far_f32)
EXPSIN_ARRAYS(dti_expsin_fp16_scalar, uint16_t, uint32_t, dti_lane_expsin_f16, is_far_f16,
              dti_lane_expsin_f16)
EXPSIN_ARRAYS(dti_expsin_bf16_scalar, uint16_t, uint32_t, dti_lane_expsin_bf16, is_far_bf16,
              far_bf16)
EXPSIN_ARRAYS(dti_expsin_fp64_scalar, double, uint64_t, dti_lane_expsin_f64, is_far_f64,
              dti_expsin_far)
