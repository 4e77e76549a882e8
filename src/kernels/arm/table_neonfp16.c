/* SPDX-License-Identifier: MIT
 *
 * int8 and uint8 -> fp16 by FEAT_FP16: SCVTF of 16-bit integers, exact for these. Other tables that
 * end in fp16 are looked up. */
#include "kernels/arm/neon.h"
#include "kernels/cast/table_integers.h"
#include "kernels/kernels.h"

DTI_INLINE void int8_to_fp16(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const int8x16_t code = vreinterpretq_s8_u8(vld1q_u8(src));
    const float16x8_t low = vcvtq_f16_s16(vmovl_s8(vget_low_s8(code)));
    (void)constants;
    neon_store16(dst, vreinterpretq_u16_f16(low));
    neon_store16(dst + 16, vreinterpretq_u16_f16(vcvtq_f16_s16(vmovl_high_s8(code))));
}

DTI_INLINE void uint8_to_fp16(const void *constants, unsigned char *dst, const unsigned char *src)
{
    const uint8x16_t code = vld1q_u8(src);
    const float16x8_t low = vcvtq_f16_u16(vmovl_u8(vget_low_u8(code)));
    (void)constants;
    neon_store16(dst, vreinterpretq_u16_f16(low));
    neon_store16(dst + 16, vreinterpretq_u16_f16(vcvtq_f16_u16(vmovl_high_u8(code))));
}

void dti_table_neonfp16(const struct dti_kernel_args *args, void *restrict dst,
                        const void *restrict src, size_t n)
{
    if (dti_table_floats_of(args->table) != DTI_TABLE_FP16)
        dti_table_neon(args, dst, src, n);
    else if (args->table->src.format.kind == DTI_KIND_INT)
        neon_run(int8_to_fp16, NULL, dst, src, n, 1, 2);
    else
        neon_run(uint8_to_fp16, NULL, dst, src, n, 1, 2);
}
