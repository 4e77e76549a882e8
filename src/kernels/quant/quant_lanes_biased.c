/* SPDX-License-Identifier: MIT
 *
 * Portable dequantization of codes with scales and biases. Compiled once per level. fp16 and
 * bf16 are computed in fp32: products of 8-bit and 11-bit significands are exact there, and 24
 * bits are enough for double rounding of a sum of two 11-bit numbers to be harmless. */
#include "kernels/kernels.h"
#include "kernels/quant/quant_lanes.h"

/* Rounds to 8 significant bits, to nearest. */
DTI_LANE float to_bf16(float x)
{
    const uint32_t bits = dti_lane_bits_f32(x);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & UINT32_C(0xffff0000);
    return dti_lane_f32(dti_lane_magnitude_f32(x) > DTI_LANE_INF ? DTI_LANE_NAN : rounded);
}

/* Rounds to 11 significant bits and multiples of 2^-24, to nearest; infinity from 65520 on. */
DTI_LANE float to_fp16(float x)
{
    const uint32_t magnitude = dti_lane_magnitude_f32(x);
    const uint32_t sign = dti_lane_bits_f32(x) ^ magnitude;
    /* below 2^-14: the last place of 1/2 + x is 2^-24 */
    const float small = (dti_lane_f32(magnitude) + 0.5F) - 0.5F;
    uint32_t rounded = (magnitude + 0xfff + (magnitude >> 13 & 1)) & UINT32_C(0xffffe000);
    rounded = rounded >= UINT32_C(0x47800000) ? DTI_LANE_INF : rounded;
    rounded = magnitude < UINT32_C(0x38800000) ? dti_lane_bits_f32(small) : rounded;
    return dti_lane_f32((magnitude > DTI_LANE_INF ? DTI_LANE_NAN : rounded) | sign);
}

DTI_LANE float round_to(enum dti_dtype number, float x)
{
    return number == DTI_BF16 ? to_bf16(x) : number == DTI_FP16 ? to_fp16(x) : x;
}

DTI_LANE void dequantize(const struct dti_biased_args *args, enum dti_dtype number,
                         unsigned char *restrict to, const unsigned char *restrict codes, size_t n)
{
    for (size_t at = 0; at < n;) {
        const size_t group = at / args->group, left = args->group - at % args->group;
        const float scale = args->scales[group], bias = args->biases[group];
        const size_t end = left < n - at ? at + left : n;
        for (; at < end; at++) {
            const float product = round_to(number, (float)codes[at] * scale);
            const float y = dti_lane_plain_nan(round_to(number, product + bias));
            memcpy(to + 4 * at, &y, sizeof y);
        }
    }
}

void DTI_LANES_NAME(dti_dequantize_biased)(const struct dti_biased_args *args, float *x,
                                           const unsigned char *codes, size_t n)
{
    unsigned char *const to = (unsigned char *)x;
    if (args->number == DTI_BF16)
        dequantize(args, DTI_BF16, to, codes, n);
    else if (args->number == DTI_FP16)
        dequantize(args, DTI_FP16, to, codes, n);
    else
        dequantize(args, DTI_FP32, to, codes, n);
}
