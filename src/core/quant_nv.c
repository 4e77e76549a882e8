/* SPDX-License-Identifier: MIT
 *
 * NVFP4 blocks: a scale in fp8 for the block, one in fp32 for the tensor. */
#include "core/quant_parts.h"

#define SIX          UINT32_C(0x40c00000)
#define ONE_AND_HALF UINT32_C(0x3fc00000)

uint32_t dti_nv_tensor_scale(enum dti_nv_scale rule, uint32_t amax)
{
    struct dti_value value, most, quotient;
    if (!dti_fp32_is_finite(amax))
        return DTI_FP32_ONE;
    dti_fp32_value(dti_fp32_magnitude(amax), &value);
    dti_integer_value((rule == DTI_NV_SIX ? 448 : 256) * 6, &most);
    (void)dti_value_divide(&quotient, &value, &most);
    const uint32_t scale = dti_fp32_round(&quotient);
    return scale == 0 ? DTI_FP32_ONE : scale;
}

static uint32_t block_scale(const struct dti_block_recipe *recipe, bool four, uint32_t amax)
{
    struct dti_value value, tensor, most, quotient;
    bool beyond;
    dti_fp32_value(recipe->tensor_scale, &tensor);
    if (recipe->division == DTI_DIVIDE_EXACT) {
        dti_fp32_value(amax, &value);
        dti_integer_value(four ? 4 : 6, &most);
        (void)dti_value_multiply(&most, &most, &tensor);
        (void)dti_value_divide(&quotient, &value, &most);
    } else {
        const uint32_t sixth = dti_fp32_divide(dti_fp32_divide(amax, SIX), recipe->tensor_scale);
        dti_fp32_value(four ? dti_fp32_multiply(sixth, ONE_AND_HALF) : sixth, &quotient);
    }
    return dti_quant_encode(dti_format_get(DTI_FP8_E4M3FN), &quotient, &beyond);
}

/* four: the largest magnitude becomes 4, else 6. */
static void quantize(const struct dti_block_recipe *recipe, bool four, const uint32_t *x, size_t n,
                     struct dti_quantized_block *block)
{
    struct dti_value scale, divisor;
    block->scale = block_scale(recipe, four, block->amax);
    dti_decode(dti_format_get(DTI_FP8_E4M3FN), block->scale, &scale);
    const uint32_t scale32 = dti_fp32_round(&scale);
    const uint32_t product = dti_nv_product(recipe, scale32);
    const bool none = dti_fp32_is_zero(product); /* where the block's scale is 0, too */
    dti_fp32_value(product, &divisor);

    enum dti_quant_division division = recipe->division;
    uint32_t inverse = 0;
    if (division == DTI_DIVIDE_RECIPROCAL && !none) {
        inverse = dti_fp32_divide(dti_fp32_divide(DTI_FP32_ONE, recipe->tensor_scale), scale32);
        if (!dti_fp32_is_finite(inverse))
            division = DTI_DIVIDE_TRUE;
    }
    for (size_t i = 0; i < n; i++) {
        struct dti_value quotient;
        bool beyond;
        block->code[i] = 0;
        if (none)
            continue;
        if (division == DTI_DIVIDE_EXACT) {
            dti_fp32_value(x[i], &quotient);
            (void)dti_value_divide(&quotient, &quotient, &divisor);
        } else {
            dti_fp32_value(division == DTI_DIVIDE_TRUE ? dti_fp32_divide(x[i], product)
                                                       : dti_fp32_multiply(x[i], inverse),
                           &quotient);
        }
        block->code[i] = dti_quant_encode(dti_format_get(recipe->format->code), &quotient, &beyond);
        block->clipped += beyond;
        block->clipped_at |= (uint64_t)beyond << i;
    }
}

/* The sum of squares, in fp64 and in order. */
static void find_error(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                       const struct dti_quantized_block *block, struct dti_value *ret)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    dti_value_set(ret, false, 0, 0);
    for (size_t i = 0; i < n; i++) {
        const uint32_t back = dti_block_dequantize(recipe, block->scale, block->code[i]);
        struct dti_value error;
        struct dti_outcome sum;
        dti_fp32_value(dti_fp32_add(back, x[i] ^ DTI_FP32_SIGN), &error);
        (void)dti_value_multiply(&error, &error, &error);
        (void)dti_value_add(&error, &error, ret, DTI_ROUND_NEAREST_EVEN);
        dti_encode(dti_format_get(DTI_FP64), &error, &nearest, 0, &sum);
        dti_decode(dti_format_get(DTI_FP64), sum.code, ret);
    }
}

void dti_nv_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                     struct dti_quantized_block *block)
{
    struct dti_quantized_block four = *block;
    struct dti_value error, error_of_four;
    quantize(recipe, false, x, n, block);
    if (recipe->nv == DTI_NV_SIX)
        return;
    quantize(recipe, true, x, n, &four);
    find_error(recipe, x, n, block, &error);
    find_error(recipe, x, n, &four, &error_of_four);
    /* neither is a number where the scales in fp32 are infinite */
    const bool numbers = error.class != DTI_CLASS_NAN && error_of_four.class != DTI_CLASS_NAN;
    if (numbers && dti_value_compare(&error_of_four, &error) < 0)
        *block = four;
}
