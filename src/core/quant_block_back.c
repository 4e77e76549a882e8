/* SPDX-License-Identifier: MIT
 *
 * Blocks back to numbers: what codes and scales of each family stand for. */
#include "core/quant_parts.h"
#include "dtinfo/quant.h"

uint32_t dti_block_zero(const struct dti_block_format *format)
{
    return format->id == DTI_BLOCK_NF4 ? 7 : format->family == DTI_BLOCKS_Q4 ? 8 : 0;
}

const uint32_t *dti_block_table(const struct dti_block_format *format)
{
    return format->id == DTI_BLOCK_NF4 ? dti_nf4_table : dti_bnb_fp4_table;
}

uint32_t dti_nv_product(const struct dti_block_recipe *recipe, uint32_t scale)
{
    return recipe->tensor_divisor ? dti_fp32_divide(scale, recipe->tensor_divisor)
                                  : dti_fp32_multiply(scale, recipe->tensor_scale);
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
