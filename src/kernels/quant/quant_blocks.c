/* SPDX-License-Identifier: MIT
 *
 * Kernel parameters for block formats, computed by the scalar core; and ranges of whole arrays. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/quant/quant_kernels.h"

void dti_range_init(struct dti_range *ret)
{
    *ret = (struct dti_range){.min = INFINITY, .max = -INFINITY};
}

void dti_range_merge(struct dti_range *range, const struct dti_range *part)
{
    range->min = part->min < range->min ? part->min : range->min;
    range->max = part->max > range->max ? part->max : range->max;
    range->nan += part->nan;
    range->inf += part->inf;
}

/* A value as an fp32 number. */
static float number_of(const struct dti_value *value)
{
    const struct dti_policy nearest = {.nan = DTI_NAN_CANONICAL};
    struct dti_outcome outcome;
    dti_encode(dti_format_get(DTI_FP32), value, &nearest, 0, &outcome);
    const uint32_t bits = (uint32_t)outcome.code;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

void dti_block_parts_init(struct dti_block_parts *ret, const struct dti_block_recipe *recipe)
{
    const struct dti_block_format *const format = recipe->format;
    const struct dti_policy saturating = {.overflow = DTI_OVERFLOW_SATURATE,
                                          .nan = DTI_NAN_CANONICAL};
    const struct dti_policy native = {.nan = DTI_NAN_CANONICAL};
    const struct dti_format *const code = dti_format_get(format->code);
    const struct dti_format *const scale = dti_format_get(format->scale);
    memset(ret, 0, sizeof *ret);
    if (dti_format_is_float(code))
        dti_encoder_init(&ret->encoder, code, &saturating);
    if (scale->width <= 16 && scale->specials != DTI_SPECIALS_SCALE)
        dti_encoder_init(&ret->scale_encoder, scale, scale->width <= 8 ? &saturating : &native);
    dti_decoder_init(&ret->scale_decoder, scale);
    for (uint32_t i = 0; i < 256; i++) {
        struct dti_value value;
        dti_block_element_value(recipe, i & (uint32_t)dti_low_bits(code->width), &value);
        ret->numbers[i] = number_of(&value);
        if (scale->width != 8)
            continue;
        dti_block_scale_value(recipe, i, &value);
        ret->scales[i] = number_of(&value);
    }
}

/* Loads fp16 or fp32 numbers in little-endian order. */
static void load_floats(const struct dti_block_args *args, const unsigned char *at, size_t n,
                        bool halves, float *ret)
{
    const struct dti_kernel_args decode = {.decoder = &args->parts->scale_decoder};
    uint16_t half[64];
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < 64 ? n - done : 64;
        for (size_t i = 0; i < part; i++, at += args->scale_stride) {
            const uint32_t low = at[0] | (uint32_t)at[1] << 8;
            const uint32_t high = halves ? 0 : at[2] | (uint32_t)at[3] << 8;
            const uint32_t word = low | high << 16;
            half[i] = (uint16_t)low;
            if (!halves)
                memcpy(&ret[done + i], &word, sizeof word);
        }
        if (halves)
            dti_decode_f32_scalar(&decode, ret + done, half, part);
    }
}

void dti_block_scales_load(const struct dti_block_args *args, const void *scales, size_t n,
                           float *ret)
{
    const struct dti_block_format *const format = args->recipe->format;
    const float *const numbers = args->parts->scales;
    const size_t stride = args->scale_stride;
    const unsigned char *const at = scales;
    const unsigned width = dti_format_get(format->scale)->width;
    const struct dti_nv_tensor tensor = dti_nv_tensor(args->recipe);
    if (width > 8)
        load_floats(args, at, n, width == 16, ret);
    else if (format->family == DTI_BLOCKS_NV)
        for (size_t i = 0; i < n; i++)
            ret[i] = numbers[at[i * stride]] * tensor.factor / tensor.divisor;
    else
        for (size_t i = 0; i < n; i++)
            ret[i] = numbers[at[i * stride]];
}
