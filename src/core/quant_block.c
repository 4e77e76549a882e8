/* SPDX-License-Identifier: MIT
 *
 * Blocks: what all families have in common, and the way back. */
#include "dtinfo/quant.h"

#include <assert.h>

#include "core/quant_parts.h"

uint32_t dti_block_zero(const struct dti_block_format *format)
{
    return format->id == DTI_BLOCK_NF4 ? 7 : format->family == DTI_BLOCKS_Q4 ? 8 : 0;
}

void dti_block_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *ret)
{
    const enum dti_block_family family = recipe->format->family;
    assert(n >= 1 && n <= recipe->format->length);
    ret->amax = dti_fp32_amax(x, n);
    ret->clipped = 0;
    ret->clipped_at = 0;
    ret->special = dti_fp32_is_nan(ret->amax);
    if (ret->special) {
        uint64_t nan = 0;
        (void)dti_code_nan(dti_format_get(recipe->format->scale), &nan);
        ret->scale = (uint32_t)nan;
        for (size_t i = 0; i < n; i++)
            ret->code[i] = dti_block_zero(recipe->format);
        return;
    }
    switch (family) {
    case DTI_BLOCKS_MX:
        dti_mx_quantize(recipe, x, n, ret);
        break;
    case DTI_BLOCKS_NV:
        dti_nv_quantize(recipe, x, n, ret);
        break;
    case DTI_BLOCKS_NF:
        dti_nf_quantize(recipe, x, n, ret);
        break;
    case DTI_BLOCKS_Q8:
        dti_q8_quantize(x, n, ret);
        break;
    case DTI_BLOCKS_Q4:
        dti_q4_quantize(x, n, ret);
        break;
    }
}

void dti_block_scale_value(const struct dti_block_recipe *recipe, uint32_t scale,
                           struct dti_value *ret)
{
    dti_decode(dti_format_get(recipe->format->scale), scale, ret);
}

void dti_block_element_value(const struct dti_block_recipe *recipe, uint32_t code,
                             struct dti_value *ret)
{
    const struct dti_block_format *const format = recipe->format;
    switch (format->family) {
    case DTI_BLOCKS_NF:
        dti_fp32_value(dti_block_table(format)[code & 15], ret);
        return;
    case DTI_BLOCKS_Q4:
        dti_integer_value((int64_t)(code & 15) - 8, ret);
        return;
    case DTI_BLOCKS_MX:
    case DTI_BLOCKS_NV:
    case DTI_BLOCKS_Q8:
        break;
    }
    dti_decode(dti_format_get(format->code), code, ret);
    if (format->family == DTI_BLOCKS_MX && format->code == DTI_INT8)
        ret->exponent -= ret->class == DTI_CLASS_FINITE ? 6 : 0;
}

uint32_t dti_block_dequantize(const struct dti_block_recipe *recipe, uint32_t scale, uint32_t code)
{
    struct dti_value factor, element, product;
    dti_block_scale_value(recipe, scale, &factor);
    if (recipe->format->family == DTI_BLOCKS_NV) {
        const uint32_t scale32 = dti_fp32_round(&factor); /* fp8 is within fp32 */
        dti_fp32_value(dti_nv_product(recipe, scale32), &factor);
    }
    dti_block_element_value(recipe, code, &element);
    (void)dti_value_multiply(&product, &element, &factor);
    return dti_fp32_round(&product);
}
