/* SPDX-License-Identifier: MIT
 *
 * Portable quantization to codes with scales and biases, and back. Compiled once per level. On the
 * way back fp16 and bf16 are computed in fp32: products of 8-bit and 11-bit significands are exact
 * there, and 24 bits are enough for double rounding of a sum of two 11-bit numbers to be
 * harmless. */
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
    /* below 2^-14: the last place of 1/2 + x is 2^-24. Each operation on its own: some registers
     * are wider */
    const float sum = dti_lane_f32(magnitude) + 0.5F, small = sum - 0.5F;
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

/* The nearest integer, ties to even, as a float. From 2^23 on all numbers are integers. */
DTI_LANE float to_integer(float x)
{
    const uint32_t bits = dti_lane_bits_f32(x);
    const float big = dti_lane_f32(UINT32_C(0x4b000000) | (bits & UINT32_C(0x80000000)));
    const float sum = x + big, integer = sum - big;
    return dti_lane_magnitude_f32(x) < UINT32_C(0x4b000000) ? integer : x;
}

/* The least and the largest number, and how many are not finite. Comparisons ignore NaNs. */
DTI_LANE uint32_t range_of(const float *x, size_t n, float *ret_low, float *ret_high)
{
    float low[DTI_BIASED_LANES], high[DTI_BIASED_LANES];
    uint32_t specials[DTI_BIASED_LANES] = {0};
    for (size_t lane = 0; lane < DTI_BIASED_LANES; lane++) {
        low[lane] = dti_lane_f32(DTI_LANE_INF);
        high[lane] = -dti_lane_f32(DTI_LANE_INF);
    }
    for (size_t at = 0; at < n; at += DTI_BIASED_LANES) {
        for (size_t lane = 0; lane < DTI_BIASED_LANES; lane++) {
            const float number = x[at + lane];
            low[lane] = number < low[lane] ? number : low[lane];
            high[lane] = number > high[lane] ? number : high[lane];
            specials[lane] += dti_lane_magnitude_f32(number) >= DTI_LANE_INF;
        }
    }
    for (size_t lane = 1; lane < DTI_BIASED_LANES; lane++) {
        low[0] = low[lane] < low[0] ? low[lane] : low[0];
        high[0] = high[lane] > high[0] ? high[lane] : high[0];
        specials[0] += specials[lane];
    }
    *ret_low = low[0];
    *ret_high = high[0];
    return specials[0];
}

/* Scale and bias of a range: see dti_biased_quantize_fn. */
DTI_LANE void choose(float low, float high, float largest, float *ret_scale, float *ret_bias)
{
    const float least = 1e-7F;
    const bool is_low = dti_lane_magnitude_f32(low) > dti_lane_magnitude_f32(high);
    const float size = high - low; /* as above */
    float step = size / largest;
    step = step < least ? least : step;
    step = is_low ? step : -step;
    const float edge = is_low ? low : high;
    const float ratio = edge / step, turns = to_integer(ratio);
    *ret_scale = turns != 0 ? edge / turns : step;
    *ret_bias = turns != 0 ? edge : 0;
}

/* DTI_BIASED_LANES codes; adds to the number of clipped elements of each lane. */
DTI_LANE void codes_of(const float *x, float largest, float scale, float bias, unsigned char *codes,
                       uint32_t *clipped)
{
    const float magic = dti_lane_f32(DTI_LANE_MAGIC);
    for (size_t lane = 0; lane < DTI_BIASED_LANES; lane++) {
        const float distance = x[lane] - bias, quotient = distance / scale;
        float place = quotient > 0 ? quotient : 0; /* a NaN, too */
        place = place < largest ? place : largest;
        const float sum = place + magic;
        codes[lane] = (unsigned char)dti_lane_bits_f32(sum);
        /* `largest` is odd: half a step above it is rounded up */
        clipped[lane] += ((quotient >= largest + 0.5F) | (quotient < -0.5F)) &
                         (dti_lane_magnitude_f32(x[lane]) < DTI_LANE_INF);
    }
}

/* Returns the number of clipped elements. */
DTI_LANE uint32_t codes_of_group(const float *x, size_t n, float largest, float scale, float bias,
                                 unsigned char *codes)
{
    uint32_t clipped[DTI_BIASED_LANES] = {0};
    for (size_t at = 0; at < n; at += DTI_BIASED_LANES)
        codes_of(x + at, largest, scale, bias, codes + at, clipped);
    for (size_t lane = 1; lane < DTI_BIASED_LANES; lane++)
        clipped[0] += clipped[lane];
    return clipped[0];
}

void DTI_LANES_NAME(dti_quantize_biased)(const struct dti_biased_args *args, unsigned char *codes,
                                         float *scales, float *biases, const float *x, size_t n,
                                         struct dti_quant_count *count)
{
    const size_t group = args->group;
    const float largest = (float)((UINT32_C(1) << args->bits) - 1);
    float numbers[DTI_BIASED_MOST];
    unsigned char code[DTI_BIASED_MOST];
    for (size_t at = 0, place = 0; at < n; at += group, place++) {
        float low, high, scale, bias;
        memcpy(numbers, (const unsigned char *)x + 4 * at, group * sizeof *numbers);
        const uint32_t specials = range_of(numbers, group, &low, &high);
        choose(low, high, largest, &scale, &bias);
        const uint32_t clipped = codes_of_group(numbers, group, largest, scale, bias, code);
        memcpy(codes + at, code, group);
        scale = dti_lane_plain_nan(round_to(args->number, scale));
        bias = dti_lane_plain_nan(round_to(args->number, bias));
        memcpy((unsigned char *)scales + 4 * place, &scale, sizeof scale);
        memcpy((unsigned char *)biases + 4 * place, &bias, sizeof bias);
        const bool infinite = dti_lane_magnitude_f32(scale) >= DTI_LANE_INF ||
                              dti_lane_magnitude_f32(bias) >= DTI_LANE_INF;
        count->special += specials;
        /* the range, or the scale, is beyond the largest number: nothing can be read back */
        count->clipped += infinite ? group - specials : clipped;
    }
}
