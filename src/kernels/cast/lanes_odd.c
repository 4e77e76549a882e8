/* SPDX-License-Identifier: MIT
 *
 * Rounding to odd to a hub: a number that cannot be represented takes the neighbour with an odd
 * last bit, so that no later rounding to at least two bits less can mistake it for a tie or an
 * exact number. The largest finite number is odd. Compiled once per level. */
#include "kernels/cast/lanes_odd.h"
#include "kernels/cast/lanes_float.h"
#include "kernels/kernels.h"
#include "kernels/lanes_piece.h"

void DTI_LANES_NAME(dti_odd_f64_f32)(const struct dti_kernel_args *args, void *restrict dst,
                                     const void *restrict src, size_t n)
{
    static const struct dti_encoder e = DTI_LANES_ODD_FP32;
    (void)args;
    unsigned char *to = dst;
    const unsigned char *from = src;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = dti_lane_load64(from + 8 * i);
        const uint32_t code = (uint32_t)dti_lane_float_f64(&e, bits, DTI_ROUND_ODD, 0);
        memcpy(to + 4 * i, &code, sizeof code);
    }
}

DTI_LANE void odd_fp64(unsigned char *restrict dst, const unsigned char *restrict src, size_t n,
                       bool has_sign)
{
    static const struct dti_encoder e = DTI_LANES_ODD_FP64;
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = dti_lane_load64(src + 8 * i);
        const uint64_t code =
            dti_lane_float_u64(&e, dti_lane_magnitude(bits, has_sign),
                               dti_lane_negative(bits, has_sign), DTI_ROUND_ODD, 0);
        memcpy(dst + 8 * i, &code, sizeof code);
    }
}

void DTI_LANES_NAME(dti_odd_i64_f64)(const struct dti_kernel_args *args, void *restrict dst,
                                     const void *restrict src, size_t n)
{
    (void)args;
    odd_fp64(dst, src, n, true);
}

void DTI_LANES_NAME(dti_odd_u64_f64)(const struct dti_kernel_args *args, void *restrict dst,
                                     const void *restrict src, size_t n)
{
    (void)args;
    odd_fp64(dst, src, n, false);
}
