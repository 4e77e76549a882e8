/* SPDX-License-Identifier: MIT
 *
 * ggml's Q8_0 and Q4_0 blocks: integers under a scale in fp16. */
#include "core/quant_parts.h"

#define SCALE_127 UINT32_C(0x42fe0000)
#define MINUS_8   UINT32_C(0xc1000000)
#define ROUNDING  UINT32_C(0x41080000) /* 8.5 */

/* d as fp16, and whether it became infinite. */
static void store_scale(uint32_t d, size_t n, struct dti_quantized_block *block)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    dti_fp32_value(d, &value);
    dti_encode(dti_format_get(DTI_FP16), &value, &nearest, 0, &outcome);
    block->scale = (uint32_t)outcome.code;
    if (outcome.flags & DTI_FLAG_OVERFLOW) {
        block->clipped = (unsigned)n;
        block->clipped_at = dti_low_bits((unsigned)n);
    }
}

/* 1 / d, or 0 where there is none. */
static uint32_t inverse_of(uint32_t d)
{
    const uint32_t inverse = dti_fp32_divide(DTI_FP32_ONE, d);
    return dti_fp32_is_finite(inverse) ? inverse : 0;
}

void dti_q8_quantize(const uint32_t *x, size_t n, struct dti_quantized_block *block)
{
    const uint32_t d = dti_fp32_divide(block->amax, SCALE_127);
    const uint32_t inverse = inverse_of(d);
    for (size_t i = 0; i < n; i++) {
        struct dti_value product;
        dti_fp32_value(dti_fp32_multiply(x[i], inverse), &product);
        block->code[i] = (uint32_t)dti_value_integer(&product, DTI_ROUND_NEAREST_AWAY) & 0xff;
    }
    store_scale(d, n, block);
}

void dti_q4_quantize(const uint32_t *x, size_t n, struct dti_quantized_block *block)
{
    uint32_t most = 0;
    for (size_t i = n; block->amax != 0 && i-- > 0;)
        most = dti_fp32_magnitude(x[i]) == block->amax ? x[i] : most;
    const uint32_t d = dti_fp32_divide(most, MINUS_8);
    const uint32_t inverse = inverse_of(d);
    for (size_t i = 0; i < n; i++) {
        struct dti_value sum;
        dti_fp32_value(dti_fp32_add(dti_fp32_multiply(x[i], inverse), ROUNDING), &sum);
        const int32_t place = dti_value_integer(&sum, DTI_ROUND_ZERO);
        block->code[i] = place > 15 ? 15 : (uint32_t)place;
        block->clipped += place > 15;
        block->clipped_at |= (uint64_t)(place > 15) << i;
    }
    store_scale(d, n, block);
}
