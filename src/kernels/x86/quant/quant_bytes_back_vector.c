/* SPDX-License-Identifier: MIT
 *
 * Blocks of 8-bit codes -> fp32: MXFP8, MXINT8, Q8_0. An fp8_e5m2 is the upper half of an fp16.
 * An fp8_e4m3fn moved to that position is 2^-8 times as large, including subnormals; the scale
 * compensates. Blocks with a NaN go to the portable kernel. */
#include "kernels/x86/quant/quant_back.h"

#ifdef __AVX2__
enum { LENGTH = 32 };

DTI_INLINE void integer_block(unsigned char *x, const unsigned char *codes, float scale,
                              bool stream)
{
    const floats by = floats_of(scale);
    const vector sign = lanes_of(0x80);
    for (unsigned at = 0; at < LENGTH; at += LANES) {
        const vector code = VECTOR_WHOLE(xor)(bytes_to_numbers(codes + at), sign);
        const vector whole = VECTOR_BITS(sub_epi32)(code, sign);
        store_floats(x + (size_t)4 * at, VECTOR_BITS(mul_ps)(VECTOR_BITS(cvtepi32_ps)(whole), by),
                     stream);
    }
}

DTI_INLINE void bytes_back(const struct dti_block_args *args, unsigned char *x,
                           const unsigned char *codes, const unsigned char *scales, size_t n,
                           enum dti_block_family family, enum element element, bool stream)
{
    for (; n >= LENGTH; n -= LENGTH) {
        float scale = scale_of(args, (struct dti_nv_tensor){1, 1}, scales, family);
        if (family == DTI_BLOCKS_MX && element == INTEGER)
            scale /= 64;
        if (!is_number(element == E4M3 ? scale * 256 : scale))
            blocks_portable(args, x, codes, scales, LENGTH);
        else if (element == INTEGER)
            integer_block(x, codes, scale, stream);
        else if (!float_block(x, codes, scale, element, stream))
            blocks_portable(args, x, codes, scales, LENGTH);
        x += 4 * LENGTH;
        codes += args->code_stride;
        scales += args->scale_stride;
    }
    if (n > 0)
        blocks_portable(args, x, codes, scales, n);
}

#define KERNEL(name, family, element)                                                        \
    void VECTOR_NAME(dti_dequantize_##name)(const struct dti_block_args *args, float *x,     \
                                            const void *codes, const void *scales, size_t n) \
    {                                                                                        \
        if (args->stream && (uintptr_t)x % VECTOR == 0)                                      \
            bytes_back(args, (unsigned char *)x, codes, scales, n, family, element, true);   \
        else                                                                                 \
            bytes_back(args, (unsigned char *)x, codes, scales, n, family, element, false);  \
    }
KERNEL(mxfp8_e4m3, DTI_BLOCKS_MX, E4M3)
KERNEL(mxfp8_e5m2, DTI_BLOCKS_MX, E5M2)
KERNEL(mxint8, DTI_BLOCKS_MX, INTEGER)
KERNEL(q8_0, DTI_BLOCKS_Q8, INTEGER)
#endif
