/* SPDX-License-Identifier: MIT
 *
 * fp32 -> bf16 by BFCVTN, which handles subnormals, keeps the sign and top payload bits of a NaN
 * and makes it quiet, as dti_encode() requires. It rounds according to FPCR: to nearest even unless
 * changed. */
#include "kernels/arm/neon.h"
#include "kernels/kernels.h"

/* constants: the code of all NaNs; NULL: they keep their payloads. */
DTI_INLINE void fp32_to_bf16(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const uint16x8_t *const canonical = constants;
    for (unsigned i = 0; i < 2; i++) {
        const float32x4_t low = neon_load_f32(src + 32 * i),
                          high = neon_load_f32(src + 32 * i + 16);
        const bfloat16x8_t half = vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(low), high);
        uint16x8_t code = vreinterpretq_u16_bf16(half);
        if (canonical)
            code = vbslq_u16(neon_numbers16(low, high), code, *canonical);
        neon_store16(dst + 16 * i, code);
    }
}

void dti_fp32_to_bf16_neonbf16(const struct dti_kernel_args *args, void *restrict dst,
                               const void *restrict src, size_t n)
{
    const uint16x8_t canonical = vdupq_n_u16((uint16_t)args->encoder->nan[0]);
    if (args->encoder->policy.nan == DTI_NAN_CANONICAL)
        neon_run(fp32_to_bf16, &canonical, dst, src, n, 4, 2);
    else
        neon_run(fp32_to_bf16, NULL, dst, src, n, 4, 2);
}
