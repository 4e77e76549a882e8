/* SPDX-License-Identifier: MIT
 *
 * Codes of 4 bits, packed or one per byte, with Advanced SIMD. A unit of the loop is a packed byte.
 */
#include "kernels/arm/neon.h"
#include "kernels/kernels.h"

DTI_INLINE void unpack_step(unsigned char *dst, const unsigned char *src, bool high_first)
{
    const uint8x16_t bytes = vld1q_u8(src);
    const uint8x16_t low = vandq_u8(bytes, vdupq_n_u8(15)), high = vshrq_n_u8(bytes, 4);
    const uint8x16x2_t codes = {{high_first ? high : low, high_first ? low : high}};
    vst1q_u8(dst, vzip1q_u8(codes.val[0], codes.val[1]));
    vst1q_u8(dst + NEON_BYTES, vzip2q_u8(codes.val[0], codes.val[1]));
}

/* SLI inserts one code above the lower bits of the other. */
DTI_INLINE void pack_step(unsigned char *dst, const unsigned char *src, bool high_first)
{
    const uint8x16_t a = vld1q_u8(src), b = vld1q_u8(src + NEON_BYTES);
    const uint8x16_t even = vuzp1q_u8(a, b), odd = vuzp2q_u8(a, b);
    vst1q_u8(dst, high_first ? vsliq_n_u8(odd, even, 4) : vsliq_n_u8(even, odd, 4));
}

#define STEP(name, work, high_first)                                                          \
    DTI_INLINE void name(const void *constants, unsigned char *dst, const unsigned char *src) \
    {                                                                                         \
        (void)constants;                                                                      \
        work(dst, src, high_first);                                                           \
    }
STEP(unpack_low, unpack_step, false)
STEP(unpack_high, unpack_step, true)
STEP(pack_low, pack_step, false)
STEP(pack_high, pack_step, true)

void dti_unpack4_neon(const struct dti_kernel_args *args, void *restrict dst,
                      const void *restrict src, size_t n)
{
    if (args->high_first)
        neon_run(unpack_high, NULL, dst, src, n / 2, 1, 2);
    else
        neon_run(unpack_low, NULL, dst, src, n / 2, 1, 2);
    if (n % 2 == 1)
        dti_unpack_scalar(args, (unsigned char *)dst + n - 1, (const unsigned char *)src + n / 2,
                          1);
}

void dti_pack4_neon(const struct dti_kernel_args *args, void *restrict dst,
                    const void *restrict src, size_t n)
{
    if (args->high_first)
        neon_run(pack_high, NULL, dst, src, n / 2, 2, 1);
    else
        neon_run(pack_low, NULL, dst, src, n / 2, 2, 1);
    if (n % 2 == 1)
        dti_pack_scalar(args, (unsigned char *)dst + n / 2, (const unsigned char *)src + n - 1, 1);
}
