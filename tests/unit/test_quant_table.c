/* SPDX-License-Identifier: MIT
 *
 * Block formats whose codes are table indices, nf4 and bnb_fp4: their tables and the boundaries
 * between codes. */
#include <math.h>

#include "quant_block.h"

static void nf4_takes_the_nearest_entry(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_NF4);
    /* The midpoint of codes 7 and 8 is an fp32 number; it rounds to the lower code. */
    const float x[] = {1.0f, -1.0f, 0.0f, 0.039790149778127670f, 0.03979015350341797f, -0.0f};
    struct dti_quantized_block made = quantize(&recipe, x, 6);
    CHECK_U64(made.scale, fp32_code(1.0f));
    CHECK_U64(made.code[0], 15);
    CHECK_U64(made.code[1], 0);
    CHECK_U64(made.code[2], 7);
    CHECK_U64(made.code[3], 7);
    CHECK_U64(made.code[4], 8);
    CHECK_U64(made.code[5], 7);
    const float zeros[] = {-0.0f, 0.0f};
    made = quantize(&recipe, zeros, 2);
    CHECK_U64(made.scale, 0);
    CHECK_U64(made.code[0], 7);
    CHECK_U64(dti_block_dequantize(&recipe, fp32_code(2.0f), 14),
              fp32_code(2 * 0.7229568362236023f));
}

static void nf4_has_the_published_table(void)
{
    static const float table[16] = {
        -1.0f,
        -0.6961928009986877f,
        -0.5250730514526367f,
        -0.39491748809814453f,
        -0.28444138169288635f,
        -0.18477343022823334f,
        -0.09105003625154495f,
        0.0f,
        0.07958029955625534f,
        0.16093020141124725f,
        0.24611230194568634f,
        0.33791524171829224f,
        0.44070982933044434f,
        0.5626170039176941f,
        0.7229568362236023f,
        1.0f,
    };
    for (size_t i = 0; i < 16; i++)
        CHECK_U64(dti_nf4_table[i], fp32_code(table[i]));
}

/* Every code, with a number inside its interval, and both sides of the limits in bitsandbytes'
 * kernel, one of which (0.583333) is not the midpoint. */
static void bnb_fp4_has_the_published_table_and_limits(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_BNB_FP4);
    static const float table[8] = {
        0, 0.0052083334885537624f, 2.0f / 3, 1, 1.0f / 3, 0.5f, 1.0f / 6, 0.25f};
    static const float limits[7] = {0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f,
                                    0.4166667f,  0.583333f,  0.8333333f};
    static const unsigned below[7] = {0, 1, 6, 7, 4, 5, 2}, above[7] = {1, 6, 7, 4, 5, 2, 3};
    for (size_t i = 0; i < 8; i++) {
        const float x[] = {1.0f, table[i], -table[i]};
        const struct dti_quantized_block made = quantize(&recipe, x, 3);
        CHECK_U64(dti_bnb_fp4_table[i], fp32_code(table[i]));
        CHECK_U64(dti_bnb_fp4_table[8 + i], i == 0 ? 0 : fp32_code(-table[i]));
        CHECK_U64(made.code[0], 3);
        CHECK_U64(made.code[1], i);
        CHECK_U64(made.code[2], i == 0 ? 0 : 8 + i);
    }
    for (size_t i = 0; i < 7; i++) {
        const float x[] = {-1.0f, limits[i], nextafterf(limits[i], 1), -limits[i],
                           -nextafterf(limits[i], 1)};
        const struct dti_quantized_block made = quantize(&recipe, x, 5);
        CHECK_U64(made.scale, fp32_code(1.0f));
        CHECK_U64(made.code[0], 11);
        CHECK_U64(made.code[1], below[i]);
        CHECK_U64(made.code[2], above[i]);
        CHECK_U64(made.code[3], 8 + below[i]);
        CHECK_U64(made.code[4], 8 + above[i]);
    }
    const float zeros[] = {-0.0f, 0.0f};
    CHECK_U64(quantize(&recipe, zeros, 2).code[0], 0);
    CHECK_U64(dti_block_dequantize(&recipe, fp32_code(2.0f), 10), fp32_code(-4.0f / 3));
}

UNIT_MAIN(nf4_takes_the_nearest_entry, nf4_has_the_published_table,
          bnb_fp4_has_the_published_table_and_limits)
