/* SPDX-License-Identifier: MIT
 *
 * Blocks: what all families have in common. */
#include "dtinfo/quant.h"

#include <assert.h>

#include "core/quant_parts.h"

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
