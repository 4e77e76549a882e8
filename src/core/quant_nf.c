/* SPDX-License-Identifier: MIT
 *
 * NF4 and bitsandbytes' FP4: places in a table between -1 and 1, times the largest magnitude of the
 * block. */
#include "core/quant_parts.h"

/* bitsandbytes' table, from "QLoRA: Efficient Finetuning of Quantized LLMs", appendix E. */
const uint32_t dti_nf4_table[16] = {
    0xbf800000, /* -1 */
    0xbf3239b1, /* -0.6961928009986877 */
    0xbf066b30, /* -0.5250730514526367 */
    0xbeca32a0, /* -0.39491748809814453 */
    0xbe91a24d, /* -0.28444138169288635 */
    0xbe3d353f, /* -0.18477343022823334 */
    0xbdba7871, /* -0.09105003625154495 */
    0x00000000, /* 0 */
    0x3da2faff, /* 0.07958029955625534 */
    0x3e24cae3, /* 0.16093020141124725 */
    0x3e7c04dd, /* 0.24611230194568634 */
    0x3ead033a, /* 0.33791524171829224 */
    0x3ee1a4b8, /* 0.44070982933044434 */
    0x3f1007ab, /* 0.5626170039176941 */
    0x3f3913b3, /* 0.7229568362236023 */
    0x3f800000, /* 1 */
};

/* bitsandbytes' FP4 (csrc/kernels.cu, dQuantizeFP4): sign and magnitude, but in another order than
 * fp4_e2m1, and with other numbers. Code 8 is +0. */
const uint32_t dti_bnb_fp4_table[16] = {
    0x00000000, /* 0 */
    0x3baaaaab, /* 1/192 */
    0x3f2aaaab, /* 2/3 */
    0x3f800000, /* 1 */
    0x3eaaaaab, /* 1/3 */
    0x3f000000, /* 1/2 */
    0x3e2aaaab, /* 1/6 */
    0x3e800000, /* 1/4 */
    0x00000000, /* 0 */
    0xbbaaaaab, /* -1/192 */
    0xbf2aaaab, /* -2/3 */
    0xbf800000, /* -1 */
    0xbeaaaaab, /* -1/3 */
    0xbf000000, /* -1/2 */
    0xbe2aaaab, /* -1/6 */
    0xbe800000, /* -1/4 */
};

/* Its own limits: the last digits are those of its source, not of the midpoints. */
const uint32_t dti_bnb_fp4_limits[DTI_BNB_FP4_LIMITS] = {
    0x3b2aaab9, /* 0.00260417 */
    0x3db00000, /* 0.0859375 */
    0x3e555555, /* 0.20833333 */
    0x3e955555, /* 0.29166667 */
    0x3ed55556, /* 0.4166667 */
    0x3f155550, /* 0.583333 */
    0x3f555555, /* 0.8333333 */
};
const uint8_t dti_bnb_fp4_order[DTI_BNB_FP4_LIMITS + 1] = {0, 1, 6, 7, 4, 5, 2, 3};

/* How many midpoints of neighbours lie below the quotient. */
static uint32_t nearest_place(const struct dti_value *quotient)
{
    uint32_t place = 0;
    for (; place < 15; place++) {
        struct dti_value low, high, sum;
        dti_fp32_value(dti_nf4_table[place], &low);
        dti_fp32_value(dti_nf4_table[place + 1], &high);
        (void)dti_value_add(&sum, &low, &high, DTI_ROUND_NEAREST_EVEN);
        sum.exponent--; /* no two neighbours have a midpoint of zero */
        if (dti_value_compare(quotient, &sum) <= 0)
            break;
    }
    return place;
}

/* By the magnitude, with the sign in bit 3; zeros have no sign. */
static uint32_t bnb_fp4_code(const struct dti_value *quotient)
{
    struct dti_value magnitude = *quotient, limit;
    size_t place = 0;
    if (quotient->class == DTI_CLASS_ZERO)
        return 0;
    magnitude.negative = false;
    for (; place < DTI_BNB_FP4_LIMITS; place++) {
        dti_fp32_value(dti_bnb_fp4_limits[place], &limit);
        if (dti_value_compare(&magnitude, &limit) <= 0)
            break;
    }
    return dti_bnb_fp4_order[place] | (quotient->negative ? 8U : 0U);
}

void dti_nf_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                     struct dti_quantized_block *block)
{
    enum dti_quant_division division = recipe->division;
    const uint32_t inverse = dti_fp32_divide(DTI_FP32_ONE, block->amax);
    struct dti_value divisor;
    dti_fp32_value(block->amax, &divisor);
    if (division == DTI_DIVIDE_RECIPROCAL && !dti_fp32_is_finite(inverse))
        division = DTI_DIVIDE_TRUE;
    block->scale = block->amax;
    for (size_t i = 0; i < n; i++) {
        struct dti_value quotient;
        block->code[i] = dti_block_zero(recipe->format);
        if (dti_fp32_is_zero(block->amax))
            continue;
        if (division == DTI_DIVIDE_EXACT) {
            dti_fp32_value(x[i], &quotient);
            (void)dti_value_divide(&quotient, &quotient, &divisor);
        } else {
            dti_fp32_value(division == DTI_DIVIDE_TRUE ? dti_fp32_divide(x[i], block->amax)
                                                       : dti_fp32_multiply(x[i], inverse),
                           &quotient);
        }
        block->code[i] = recipe->format->id == DTI_BLOCK_NF4 ? nearest_place(&quotient)
                                                             : bnb_fp4_code(&quotient);
    }
}
