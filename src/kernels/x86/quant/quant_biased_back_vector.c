/* SPDX-License-Identifier: MIT
 *
 * Numbers with a bias, code x scale + bias, with each operation rounded to fp32, fp16 or bf16.
 * The rounded values are a number of that format times a code, or a sum of two such numbers; so
 * a NaN has none of the bits that rounding to bf16 drops. */
#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
DTI_INLINE floats round_to(enum dti_dtype number, floats x)
{
    if (number == DTI_FP16)
        return VECTOR_BITS(cvtph_ps)(
            VECTOR_BITS(cvtps_ph)(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    if (number != DTI_BF16)
        return x;
    const vector bits = as_bits(x), one = lanes_of(1);
    const vector odd = VECTOR_WHOLE(and)(VECTOR_BITS(srli_epi32)(bits, 16), one);
    const vector up = VECTOR_BITS(add_epi32)(VECTOR_BITS(add_epi32)(bits, lanes_of(0x7fff)), odd);
    return as_floats(VECTOR_WHOLE(and)(up, lanes_of(0xffff0000)));
}

DTI_INLINE void biased(const struct dti_biased_args *args, enum dti_dtype number, unsigned char *to,
                       const unsigned char *codes, size_t n)
{
    const size_t whole = args->group % LANES == 0 ? n - n % LANES : 0;
    struct dti_biased_args rest = *args;
    for (size_t at = 0; at < whole; rest.scales++, rest.biases++) {
        const size_t end = whole - at < args->group ? whole : at + args->group;
        const floats scale = floats_of(*rest.scales), bias = floats_of(*rest.biases);
        for (; at < end; at += LANES) {
            const floats code = VECTOR_BITS(cvtepi32_ps)(bytes_to_numbers(codes + at));
            const floats product = round_to(number, VECTOR_BITS(mul_ps)(code, scale));
            const floats y = round_to(number, VECTOR_BITS(add_ps)(product, bias));
            store_floats(to + 4 * at, plain_nans(y), false);
        }
    }
    if (whole == n)
        return;
    if (whole % args->group != 0)
        rest.scales--, rest.biases--; /* the remainder continues the last group */
    VECTOR_NAME(dti_dequantize_biased)
    (&rest, (float *)(void *)(to + 4 * whole), codes + whole, n - whole);
}

void VECTOR_NAME(dti_dequantize_biased_f16c)(const struct dti_biased_args *args, float *x,
                                             const unsigned char *codes, size_t n)
{
    unsigned char *const to = (unsigned char *)x;
    if (args->number == DTI_BF16)
        biased(args, DTI_BF16, to, codes, n);
    else if (args->number == DTI_FP16)
        biased(args, DTI_FP16, to, codes, n);
    else
        biased(args, DTI_FP32, to, codes, n);
}
#endif
