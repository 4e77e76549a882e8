/* SPDX-License-Identifier: MIT
 *
 * Quantizes one block with the core, for the tests of block formats. */
#ifndef DTINFO_TESTS_QUANT_BLOCK_H
#define DTINFO_TESTS_QUANT_BLOCK_H

#include "core/block/quant.h"
#include "quant_numbers.h"
#include "unit.h"

static inline struct dti_block_recipe recipe_of(enum dti_block block)
{
    const struct dti_block_recipe recipe = {.format = &dti_block_formats[block],
                                            .tensor_scale = fp32_code(1.0f)};
    return recipe;
}

static inline struct dti_quantized_block quantize(const struct dti_block_recipe *recipe,
                                                  const float *x, size_t n)
{
    struct dti_quantized_block block;
    uint32_t codes[DTI_BLOCK_LENGTH_MAX];
    memset(&block, 0, sizeof block);
    for (size_t i = 0; i < n; i++)
        codes[i] = fp32_code(x[i]);
    dti_block_quantize(recipe, codes, n, &block);
    return block;
}

#endif
