/* SPDX-License-Identifier: MIT
 *
 * Block formats compared with worked examples: the scale rules of MX, NVFP4's two scales, ggml's
 * rounding. */
#include "quant_block.h"
#include "unit.h"

/* A block whose largest magnitude is amax: checks its scale code and the dequantized value. */
static void check_mx(enum dti_block block, float amax, enum dti_mx_scale rule, uint32_t scale,
                     float back, bool clipped)
{
    struct dti_block_recipe recipe = recipe_of(block);
    const float x[2] = {0.125f, -amax};
    recipe.mx = rule;
    const struct dti_quantized_block made = quantize(&recipe, x, 2);
    CHECK_U64(made.amax, fp32_code(amax));
    CHECK_U64(made.scale, scale);
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, made.code[1]), fp32_code(-back));
    CHECK_U64(made.clipped, clipped);
    CHECK(!made.special);
}

static void powers_of_two_follow_the_four_rules(void)
{
    check_mx(DTI_BLOCK_MXFP8_E4M3, 250, DTI_MX_FLOOR, 126, 224, true);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 250, DTI_MX_CEIL, 127, 256, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 250, DTI_MX_RCEIL, 127, 256, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 250, DTI_MX_EVEN, 127, 256, false);

    check_mx(DTI_BLOCK_MXFP8_E4M3, 449, DTI_MX_FLOOR, 127, 448, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 449, DTI_MX_EVEN, 127, 448, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 449, DTI_MX_CEIL, 128, 448, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 449, DTI_MX_RCEIL, 128, 448, false);

    check_mx(DTI_BLOCK_MXFP8_E4M3, 150, DTI_MX_FLOOR, 126, 144, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 150, DTI_MX_EVEN, 126, 144, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 150, DTI_MX_RCEIL, 126, 144, false);
    check_mx(DTI_BLOCK_MXFP8_E4M3, 150, DTI_MX_CEIL, 127, 144, false);

    check_mx(DTI_BLOCK_MXFP4, 7, DTI_MX_FLOOR, 127, 6, true);
    check_mx(DTI_BLOCK_MXFP4, 7, DTI_MX_CEIL, 128, 8, false);
    check_mx(DTI_BLOCK_MXFP4, 7, DTI_MX_RCEIL, 128, 8, false);
    check_mx(DTI_BLOCK_MXFP4, 7, DTI_MX_EVEN, 128, 8, false);

    check_mx(DTI_BLOCK_MXFP4, 150, DTI_MX_FLOOR, 132, 128, false);
    check_mx(DTI_BLOCK_MXFP4, 150, DTI_MX_EVEN, 132, 128, false);
    check_mx(DTI_BLOCK_MXFP4, 150, DTI_MX_RCEIL, 132, 128, false);
    check_mx(DTI_BLOCK_MXFP4, 150, DTI_MX_CEIL, 133, 128, false);
}

/* The scale of a block of one number. */
static uint32_t mx_scale(enum dti_block block, enum dti_mx_scale rule, uint32_t amax)
{
    struct dti_block_recipe recipe = recipe_of(block);
    struct dti_quantized_block made;
    recipe.mx = rule;
    dti_block_quantize(&recipe, &amax, 1, &made);
    return made.scale;
}

static void shared_exponents_are_clamped(void)
{
    const uint32_t most = UINT32_C(0x7f7fffff), least = 1;
    CHECK_U64(mx_scale(DTI_BLOCK_MXFP4, DTI_MX_FLOOR, most), 252);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_FLOOR, most), 254);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_CEIL, most), 254);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_RCEIL, most), 254);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_EVEN, most), 254);
    CHECK_U64(mx_scale(DTI_BLOCK_MXFP8_E5M2, DTI_MX_CEIL, least), 0);
    CHECK_U64(mx_scale(DTI_BLOCK_MXFP4, DTI_MX_FLOOR, 0), 0);
    /* mxint8 with subnormal numbers: 2^-127 and the next number, 127/64 of it and the next */
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_CEIL, 0x00400000), 0);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_CEIL, 0x00400001), 1);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_RCEIL, 0x007f0000), 0);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_RCEIL, 0x007f0001), 1);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_EVEN, 0x007f7fff), 0);
    CHECK_U64(mx_scale(DTI_BLOCK_MXINT8, DTI_MX_EVEN, 0x007f8000), 1);
}

static void mxint8_counts_in_steps_of_a_sixty_fourth(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_MXINT8);
    const float x[] = {1.0f, -1.9921875f, 1.9921875f, 1.9921f, 0.0078125f, 0.0234375f, -0.0f};
    const struct dti_quantized_block made = quantize(&recipe, x, 7);
    CHECK_U64(made.scale, 127);
    CHECK_U64(made.code[0], 64);
    CHECK_U64(made.code[1], 0x80); /* -127.5 to even */
    CHECK_U64(made.code[2], 127);
    CHECK_U64(made.code[3], 127);
    CHECK_U64(made.code[4], 0);
    CHECK_U64(made.code[5], 2);
    CHECK_U64(made.code[6], 0);
    CHECK_U64(made.clipped, 1);
    CHECK_U64(dti_block_dequantize(&recipe, 127, 0x80), fp32_code(-2.0f));
    CHECK_U64(dti_block_dequantize(&recipe, 0, 1), UINT32_C(1) << 16); /* 2^-133 */
}

static void signs_of_zeros_are_kept_by_floats(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_MXFP4);
    const float x[] = {-0.0f, 0.0f, -0.01f, 4.0f};
    const struct dti_quantized_block made = quantize(&recipe, x, 4);
    CHECK_U64(made.code[0], 8);
    CHECK_U64(made.code[1], 0);
    CHECK_U64(made.code[2], 8);
    CHECK_U64(made.code[3], 6);
}

static void nvfp4_has_two_scales(void)
{
    struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_NVFP4);
    const float x[] = {6.0f, -3.0f, 5.0f, 0.25f, -0.0f};
    struct dti_quantized_block made = quantize(&recipe, x, 5);
    CHECK_U64(made.scale, 0x38); /* 1 */
    CHECK_U64(made.code[0], 7);
    CHECK_U64(made.code[1], 13);
    CHECK_U64(made.code[2], 6); /* 5 to even: 4 */
    CHECK_U64(made.code[3], 0);
    CHECK_U64(made.code[4], 8);
    CHECK_U64(made.clipped, 0);

    CHECK_U64(dti_nv_tensor_scale(DTI_NV_SIX, fp32_code(2688.0f)), fp32_code(1.0f));
    CHECK_U64(dti_nv_tensor_scale(DTI_NV_FOUR_SIX, fp32_code(1536.0f)), fp32_code(1.0f));
    CHECK_U64(dti_nv_tensor_scale(DTI_NV_SIX, fp32_code(1.0f)), fp32_code(1.0f / 2688.0f));
    CHECK_U64(dti_nv_tensor_scale(DTI_NV_SIX, 0), fp32_code(1.0f));
    CHECK_U64(dti_nv_tensor_scale(DTI_NV_SIX, 1), fp32_code(1.0f)); /* 2^-149 / 2688 is 0 */
    recipe.tensor_scale = dti_nv_tensor_scale(DTI_NV_SIX, fp32_code(6.0f));
    made = quantize(&recipe, x, 5);
    CHECK_U64(made.scale, 0x7e); /* 448 */
    CHECK_U64(made.code[0], 7);
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, made.code[0]), fp32_code(6.0f));
}

static void nvfp4_takes_four_or_six(void)
{
    struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_NVFP4);
    const float better[] = {5.0f, -10.0f, 15.0f, 20.0f}, equal[] = {6.0f},
                worse[] = {6.0f, 3.0f, 1.0f};
    struct dti_quantized_block made = quantize(&recipe, better, 4);
    CHECK_U64(made.scale, 0x45); /* 20 / 6 to 3.25 */
    CHECK_U64(made.code[2], 6);  /* 15 becomes 13 */
    recipe.nv = DTI_NV_FOUR_SIX;
    made = quantize(&recipe, better, 4);
    CHECK_U64(made.scale, 0x4a); /* 5 */
    CHECK_U64(made.code[0], 2);
    CHECK_U64(made.code[1], 12);
    CHECK_U64(made.code[2], 5);
    CHECK_U64(made.code[3], 6);
    made = quantize(&recipe, worse, 3);
    CHECK_U64(made.scale, 0x38); /* 1 is exact for 1; 1.5 is not */
    CHECK_U64(made.code[0], 7);
    made = quantize(&recipe, equal, 1);
    CHECK_U64(made.scale, 0x38); /* 1.5 is equally good */
}

static void nvfp4_scales_saturate_and_vanish(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_NVFP4);
    const float large[] = {6000.0f, 2688.0f, -2689.0f}, small[] = {-0.005f, 0.0f};
    struct dti_quantized_block made = quantize(&recipe, large, 3);
    CHECK_U64(made.scale, 0x7e);
    CHECK_U64(made.code[0], 7);
    CHECK_U64(made.code[2], 15);
    CHECK_U64(made.clipped, 1);
    made = quantize(&recipe, small, 2); /* 0.005 / 6 is below half of 2^-9 */
    CHECK_U64(made.scale, 0);
    CHECK_U64(made.code[0], 0);
    CHECK_U64(made.clipped, 0);
}

static void q8_0_rounds_halves_away_from_zero(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_Q8_0);
    const float x[] = {127.0f, -63.5f, 0.5f, 1.5f, 0.49f, -0.0f};
    const struct dti_quantized_block made = quantize(&recipe, x, 6);
    CHECK_U64(made.scale, 0x3c00);
    CHECK_U64(made.code[0], 127);
    CHECK_U64(made.code[1], 0xc0);
    CHECK_U64(made.code[2], 1);
    CHECK_U64(made.code[3], 2);
    CHECK_U64(made.code[4], 0);
    CHECK_U64(made.code[5], 0);
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, made.code[1]), fp32_code(-64.0f));
}

static void q4_0_gives_the_extreme_code_0(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_Q4_0);
    const float x[] = {-8.0f, 8.0f, 7.0f, 0.5f, 0.25f, -7.5f};
    struct dti_quantized_block made = quantize(&recipe, x, 6);
    CHECK_U64(made.scale, 0x3c00);
    CHECK_U64(made.code[0], 0);
    CHECK_U64(made.code[1], 15); /* 16 */
    CHECK_U64(made.code[2], 15);
    CHECK_U64(made.code[3], 9);
    CHECK_U64(made.code[4], 8);
    CHECK_U64(made.code[5], 1);
    CHECK_U64(made.clipped, 1);
    made = quantize(&recipe, x + 1, 5); /* the first of the largest is positive: d = -1 */
    CHECK_U64(made.scale, 0xbc00);
    CHECK_U64(made.code[0], 0);
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, made.code[0]), fp32_code(8.0f));
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, 8), fp32_code(-0.0f));
    const float zeros[] = {-0.0f, 0.0f};
    made = quantize(&recipe, zeros, 2);
    CHECK_U64(made.scale, 0x8000);
    CHECK_U64(made.code[0], 8);
}

static void fp16_scales_overflow_and_vanish_while_codes_stay(void)
{
    const struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_Q8_0);
    const float large[] = {1e7f, 1.0f}, small[] = {1e-7f, -5e-8f}, tiny[] = {1e-38f, -1e-38f};
    struct dti_quantized_block made = quantize(&recipe, large, 2);
    CHECK_U64(made.scale, 0x7c00);
    CHECK_U64(made.code[0], 127);
    CHECK_U64(made.clipped, 2);
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, made.code[0]), FP32_INF);
    CHECK_U64(dti_block_dequantize(&recipe, made.scale, 0), FP32_NAN);
    made = quantize(&recipe, small, 2);
    CHECK_U64(made.scale, 0);
    CHECK_U64(made.code[0], 127);
    CHECK_U64(made.code[1], 0xc0);
    CHECK_U64(made.clipped, 0);
    made = quantize(&recipe, tiny, 2); /* 127 / 1e-38 is beyond fp32 */
    CHECK_U64(made.scale, 0);
    CHECK_U64(made.code[0], 0);
}

static void specials_take_the_whole_block(void)
{
    static const uint32_t scales[DTI_BLOCK_COUNT] = {
        [DTI_BLOCK_MXFP8_E4M3] = 0xff,    [DTI_BLOCK_MXFP8_E5M2] = 0xff,
        [DTI_BLOCK_MXFP6_E3M2] = 0xff,    [DTI_BLOCK_MXFP6_E2M3] = 0xff,
        [DTI_BLOCK_MXFP4] = 0xff,         [DTI_BLOCK_MXINT8] = 0xff,
        [DTI_BLOCK_NVFP4] = 0x7f,         [DTI_BLOCK_NF4] = 0x7fc00000,
        [DTI_BLOCK_BNB_FP4] = 0x7fc00000, [DTI_BLOCK_Q8_0] = 0x7e00,
        [DTI_BLOCK_Q4_0] = 0x7e00,
    };
    static const uint32_t specials[] = {FP32_NAN, FP32_INF, UINT32_C(0xff800000)};
    for (unsigned b = 0; b < DTI_BLOCK_COUNT; b++) {
        const struct dti_block_recipe recipe = recipe_of((enum dti_block)b);
        const uint32_t zero = b == DTI_BLOCK_NF4 ? 7 : b == DTI_BLOCK_Q4_0 ? 8 : 0;
        for (size_t i = 0; i < 3; i++) {
            const uint32_t x[3] = {fp32_code(1.0f), specials[i], fp32_code(3e38f)};
            struct dti_quantized_block made;
            dti_block_quantize(&recipe, x, 3, &made);
            CHECK(made.special);
            CHECK_U64(made.amax, FP32_NAN);
            CHECK_U64(made.scale, scales[b]);
            CHECK_U64(made.clipped, 0);
            CHECK_U64(made.code[0], zero);
            CHECK_U64(made.code[1], zero);
            CHECK_U64(dti_block_dequantize(&recipe, made.scale, made.code[2]), FP32_NAN);
        }
    }
}

static void products_round_once_and_overflow(void)
{
    struct dti_block_recipe recipe = recipe_of(DTI_BLOCK_MXFP8_E5M2);
    CHECK_U64(dti_block_dequantize(&recipe, 254, 0x7b), FP32_INF);
    CHECK_U64(dti_block_dequantize(&recipe, 0, 0x7c), FP32_INF);
    CHECK_U64(dti_block_dequantize(&recipe, 0, 0x01), 1u << 6); /* 2^-143 */
    CHECK_U64(dti_block_dequantize(&recipe, 0, 0x7d), FP32_NAN);
    CHECK_U64(dti_block_dequantize(&recipe, 255, 0), FP32_NAN);
    recipe = recipe_of(DTI_BLOCK_NVFP4);
    recipe.tensor_scale = 1; /* 2^-149: 2^-9 and 1/2 of it round to 0, 3/4 of it to itself */
    CHECK_U64(dti_block_dequantize(&recipe, 0x01, 7), 0);
    CHECK_U64(dti_block_dequantize(&recipe, 0x30, 7), 0);
    CHECK_U64(dti_block_dequantize(&recipe, 0x34, 7), 6);
}

UNIT_MAIN(powers_of_two_follow_the_four_rules, shared_exponents_are_clamped,
          mxint8_counts_in_steps_of_a_sixty_fourth, signs_of_zeros_are_kept_by_floats,
          nvfp4_has_two_scales, nvfp4_takes_four_or_six, nvfp4_scales_saturate_and_vanish,
          q8_0_rounds_halves_away_from_zero, q4_0_gives_the_extreme_code_0,
          fp16_scales_overflow_and_vanish_while_codes_stay, specials_take_the_whole_block,
          products_round_once_and_overflow)
