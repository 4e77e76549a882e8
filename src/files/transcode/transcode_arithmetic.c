/* SPDX-License-Identifier: MIT
 *
 * Zero points and biases: a number is scale x (code - zero point), in fp32, or in MLX code x scale
 * + bias, where both operations round to the dtype of scales and biases. The two are equal if the
 * bias is exactly -scale x zero point and no product rounds. */
#include <math.h>
#include <stdlib.h>

#include "files/transcode/transcode_grouped.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

/* Rounds to nearest even; fp32 holds all numbers of fp16 and bf16. */
static float round_to(enum dti_dtype dtype, float number)
{
    uint32_t bits = dti_dequant_bits(number);
    const float magnitude = fabsf(number);
    if (dtype == DTI_FP32 || number - number != 0)
        return number;
    if (dtype == DTI_FP16 && magnitude < 0x1p-14f) { /* subnormal numbers: steps of 2^-24 */
        const float sum = magnitude + 0.5f;
        return copysignf(sum - 0.5f, number);
    }
    const unsigned drop = dtype == DTI_FP16 ? 13 : 16;
    bits += (1U << (drop - 1)) - 1 + (bits >> drop & 1);
    bits &= ~((1U << drop) - 1);
    memcpy(&number, &bits, sizeof number);
    return dtype == DTI_FP16 && fabsf(number) > 65504 ? copysignf(INFINITY, number) : number;
}

float dti_grouped_bias(const struct dti_grouped *grouped, float scale, unsigned zero)
{
    const float product = scale * (float)zero; /* exact, or rounded to fp32 */
    return round_to(grouped->scale, -product);
}

float dti_grouped_scale(const struct dti_grouped *grouped, float scale)
{
    const float product = scale * grouped->how->is->factor;
    return grouped->narrows ? round_to(grouped->scale, product) : product;
}

bool dti_grouped_zero(const struct dti_grouped *grouped, float scale, float bias, unsigned *ret)
{
    const double product = -(double)bias; /* of 24 and 8 bits: exact */
    if (scale == 0 || scale - scale != 0) {
        *ret = dti_grouped_middle(grouped);
        return scale == 0 && bias == 0;
    }
    const double ratio = product / (double)scale;
    if (!(ratio >= 0 && ratio < 1U << grouped->bits))
        return false;
    const unsigned zero = (unsigned)(ratio + 0.5); /* the nearest; of two, neither is it */
    *ret = zero;
    return zero < 1U << grouped->bits && zero * (double)scale == product;
}

void dti_grouped_put(enum dti_dtype dtype, unsigned char *to, float number)
{
    const uint32_t bits = dti_dequant_bits(number), sign = bits >> 16 & 0x8000;
    const uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    if (dtype == DTI_FP32) {
        dti_little_put(to, 4, bits);
    } else if (dtype == DTI_BF16) {
        dti_little_put(to, 2, bits >> 16);
    } else if (exponent == 0xff) {
        dti_little_put(to, 2, sign | 0x7c00 | (fraction ? 0x200 : 0));
    } else if (exponent < 127 - 14) {
        dti_little_put(to, 2, sign | (uint32_t)(fabsf(number) * 0x1p24f));
    } else {
        dti_little_put(to, 2, sign | (exponent - (127 - 15)) << 10 | fraction >> 13);
    }
}

/* The largest error of any code of a group, relative to the source's number; 0: none. */
static double error_of(const struct dti_grouped *grouped, float scale, unsigned zero, float bias)
{
    enum { MOST = 256 };
    const size_t count = (size_t)1 << grouped->bits;
    const struct dti_biased_args args = {
        .number = grouped->scale, .group = count, .scales = &scale, .biases = &bias};
    unsigned char codes[MOST];
    float by_bias[MOST];
    double worst = 0;
    for (size_t i = 0; i < count; i++)
        codes[i] = (unsigned char)i;
    dti_quant_find_biased(true, grouped->how->is->level)
        ->run.biased_back(&args, by_bias, codes, count);
    for (size_t i = 0; i < count; i++) {
        const float by_zero = scale * (float)((int)i - (int)zero);
        const float old = grouped->biased ? by_bias[i] : by_zero;
        const float new = grouped->biased ? by_zero : by_bias[i];
        if (old == new || (old != old && new != new))
            continue;
        const double error = fabs(((double)new - (double)old) / (double)old);
        if (error != error)
            return (double)INFINITY;
        worst = error > worst ? error : worst;
    }
    return worst;
}

/* Scales that differ by a power of two have the same errors, as long as no product or bias is
 * subnormal or too large. So the errors are cached per fraction and zero point. */
static double *remembered(const struct dti_grouped *grouped, struct dti_grouped_memory *memory,
                          float scale, unsigned zero)
{
    const bool half = grouped->scale == DTI_FP16;
    const unsigned digits = half ? 10 : 7;
    const int exponent = (int)(dti_dequant_bits(scale) >> 23 & 0xff) - 127;
    const uint32_t fraction = (dti_dequant_bits(scale) & 0x7fffff) >> (23 - digits);
    if (grouped->scale == DTI_FP32 || exponent < (half ? -14 : -126) ||
        exponent >= (half ? 15 : 127) - (int)grouped->bits)
        return NULL;
    if (!memory->errors)
        memory->errors = dti_calloc((size_t)1 << (digits + grouped->bits), sizeof *memory->errors);
    return memory->errors ? &memory->errors[(size_t)fraction << grouped->bits | zero] : NULL;
}

bool dti_grouped_same(const struct dti_grouped *grouped, struct dti_grouped_memory *memory,
                      float scale, unsigned zero, float bias, double *worst)
{
    static const double none = -1; /* no error; 0 means unknown */
    double *const known = remembered(grouped, memory, scale, zero);
    unsigned back = zero;
    double error = known ? *known : 0;
    if (error == 0) {
        error = error_of(grouped, scale, zero, bias);
        if (error == 0 && dti_grouped_zero(grouped, scale, bias, &back) && back == zero)
            error = none;
        if (known && error != 0)
            *known = error;
    }
    *worst = error > *worst ? error : *worst;
    return error == none;
}

bool dti_grouped_has_factor(const struct dti_grouped *grouped, float scale)
{
    const float factor = grouped->how->is->factor, product = scale * factor;
    const int low = grouped->how->is->affine.low, high = grouped->how->is->affine.high;
    bool same = true;
    for (int code = low; code <= high; code++) {
        const float once = (float)code * scale, twice = once * factor;
        const float other = (float)code * product;
        same = same && twice == other;
    }
    return same;
}
