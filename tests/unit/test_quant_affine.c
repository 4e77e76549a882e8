/* SPDX-License-Identifier: MIT
 *
 * Affine quantization compared with published results: torch, ONNX, worked examples. */
#include "core/block/quant.h"
#include "quant_numbers.h"
#include "unit.h"

static struct dti_affine_recipe recipe_of(enum dti_dtype code, enum dti_quant_symmetry symmetry)
{
    struct dti_affine_recipe recipe;
    memset(&recipe, 0, sizeof recipe);
    CHECK(dti_affine_recipe_init(&recipe, dti_format_get(code), symmetry));
    return recipe;
}

static int32_t code_of(const struct dti_affine *affine, uint32_t scale, int32_t zero_point,
                       uint32_t x)
{
    const struct dti_affine_scale s = {scale, zero_point};
    struct dti_quantized_number quantized;
    dti_affine_quantize(affine, &s, x, &quantized);
    if (affine->code.kind == DTI_KIND_INT && quantized.code >> (affine->code.width - 1) != 0)
        return (int32_t)quantized.code - ((int32_t)1 << affine->code.width);
    return (int32_t)quantized.code;
}

static struct dti_affine_scale choose(const struct dti_affine_recipe *recipe, float min, float max)
{
    struct dti_affine_scale scale;
    dti_affine_choose(recipe, fp32_code(min), fp32_code(max), &scale);
    return scale;
}

static void a_quotient_near_a_midpoint_depends_on_the_division(void)
{
    struct dti_affine affine = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE).affine;
    const uint32_t x = fp32_code(-12.149999618530273f), scale = fp32_code(0.1f);
    CHECK_I64(code_of(&affine, scale, 0, x), -121);
    affine.division = DTI_DIVIDE_RECIPROCAL;
    CHECK_I64(code_of(&affine, scale, 0, x), -122);
    affine.division = DTI_DIVIDE_EXACT;
    CHECK_I64(code_of(&affine, scale, 0, x), -121);
}

static void halves_go_to_even_before_the_zero_point_is_added(void)
{
    const struct dti_affine affine = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE).affine;
    const uint32_t one = fp32_code(1.0f);
    CHECK_I64(code_of(&affine, one, 0, fp32_code(0.5f)), 0);
    CHECK_I64(code_of(&affine, one, 0, fp32_code(1.5f)), 2);
    CHECK_I64(code_of(&affine, one, 0, fp32_code(-2.5f)), -2);
    CHECK_I64(code_of(&affine, one, 1, fp32_code(0.5f)), 1);
    CHECK_I64(code_of(&affine, one, 1, fp32_code(1.5f)), 3);
    CHECK_I64(code_of(&affine, one, 3, fp32_code(-0.0f)), 3);
}

static void numbers_beyond_the_range_are_clipped_after_rounding(void)
{
    const struct dti_affine affine = recipe_of(DTI_UINT8, DTI_SYMMETRY_NONE).affine;
    const struct dti_affine_scale scale = {fp32_code(1.0f), 10};
    static const struct {
        float x;
        uint32_t code;
        bool clipped;
    } rows[] = {
        {245.0f, 255, false}, {245.5f, 255, true}, {245.25f, 255, false}, {-10.0f, 0, false},
        {-10.5f, 0, false},   {-10.75f, 0, true},  {3e38f, 255, true},    {-3e38f, 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_quantized_number quantized;
        dti_affine_quantize(&affine, &scale, fp32_code(rows[i].x), &quantized);
        CHECK_U64(quantized.code, rows[i].code);
        CHECK(quantized.clipped == rows[i].clipped);
        CHECK(!quantized.special);
    }
}

/* NaN, inf, -inf, 1e10, -1e10: torch 2.15 on x86 with AVX-512, scale 0.1. */
static void specials_are_stored_as_asked(void)
{
    static const struct {
        enum dti_dtype code;
        enum dti_quant_specials specials;
        int32_t zero_point, codes[5];
    } rows[] = {
        {DTI_INT8, DTI_QUANT_CLAMP, 3, {3, 127, -128, 127, -128}},
        {DTI_UINT8, DTI_QUANT_CLAMP, 128, {128, 255, 0, 255, 0}},
        {DTI_INT8, DTI_QUANT_AS_TORCH, 0, {127, 127, -128, 127, -128}},
        {DTI_INT8, DTI_QUANT_AS_TORCH, 127, {127, 127, -128, 127, -128}},
        {DTI_INT8, DTI_QUANT_AS_TORCH, -5, {127, 127, 127, 127, 127}},
        {DTI_UINT8, DTI_QUANT_AS_TORCH, 127, {255, 255, 0, 255, 0}},
        {DTI_UINT8, DTI_QUANT_AS_TORCH, 128, {0, 0, 0, 0, 0}},
        {DTI_INT8, DTI_QUANT_AS_TORCH_CHANNEL, 3, {0, 127, -128, 127, -128}},
        {DTI_UINT8, DTI_QUANT_AS_TORCH_CHANNEL, 128, {0, 255, 0, 255, 0}},
    };
    const uint32_t x[5] = {FP32_NAN, FP32_INF, FP32_INF | UINT32_C(0x80000000), fp32_code(1e10f),
                           fp32_code(-1e10f)};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_affine affine = recipe_of(rows[i].code, DTI_SYMMETRY_NONE).affine;
        affine.division = DTI_DIVIDE_RECIPROCAL;
        affine.specials = rows[i].specials;
        for (size_t k = 0; k < 5; k++) {
            const struct dti_affine_scale scale = {fp32_code(0.1f), rows[i].zero_point};
            struct dti_quantized_number quantized;
            CHECK_I64(code_of(&affine, scale.scale, scale.zero_point, x[k]), rows[i].codes[k]);
            dti_affine_quantize(&affine, &scale, x[k], &quantized);
            CHECK(quantized.special == (k < 3));
            CHECK(quantized.clipped == (k >= 3));
        }
    }
}

static void zero_survives_an_inverse_that_overflows(void)
{
    struct dti_affine affine = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE).affine;
    const struct dti_affine_scale scale = {1, 5}; /* 2^-149 */
    struct dti_quantized_number quantized;
    affine.division = DTI_DIVIDE_RECIPROCAL;
    dti_affine_quantize(&affine, &scale, 0, &quantized);
    CHECK_U64(quantized.code, 5);
    CHECK(!quantized.clipped);
    dti_affine_quantize(&affine, &scale, 1, &quantized);
    CHECK_U64(quantized.code, 127);
    CHECK(quantized.clipped);
    affine.division = DTI_DIVIDE_TRUE;
    dti_affine_quantize(&affine, &scale, 1, &quantized);
    CHECK_U64(quantized.code, 6);
}

/* torch.ao's MinMaxObserver on [-1, 3]: 0.0157 and 64; 0.0235 and 0 (128 for quint8). */
static void ranges_give_the_scales_of_the_observers(void)
{
    struct dti_affine_recipe recipe = recipe_of(DTI_UINT8, DTI_SYMMETRY_NONE);
    struct dti_affine_scale scale = choose(&recipe, -1.0f, 3.0f);
    CHECK_U64(scale.scale, fp32_code(4.0f / 255.0f));
    CHECK_I64(scale.zero_point, 64);
    recipe.zero = DTI_ZERO_TORCH;
    scale = choose(&recipe, -1.0f, 3.0f);
    CHECK_U64(scale.scale, fp32_code(4.0f / 255.0f));
    CHECK_I64(scale.zero_point, 64);

    recipe = recipe_of(DTI_INT8, DTI_SYMMETRY_HALF);
    scale = choose(&recipe, -1.0f, 3.0f);
    CHECK_U64(scale.scale, fp32_code(3.0f / 127.5f));
    CHECK_I64(scale.zero_point, 0);
    CHECK_I64(recipe.affine.low, -128);
    recipe = recipe_of(DTI_UINT8, DTI_SYMMETRY_HALF);
    scale = choose(&recipe, -1.0f, 3.0f);
    CHECK_U64(scale.scale, fp32_code(3.0f / 127.5f));
    CHECK_I64(scale.zero_point, 128);
    CHECK_I64(recipe.affine.low, 0);

    recipe = recipe_of(DTI_INT8, DTI_SYMMETRY_FULL);
    scale = choose(&recipe, -3.0f, 1.0f);
    CHECK_U64(scale.scale, fp32_code(3.0f / 127.0f));
    CHECK_I64(scale.zero_point, 0);
    CHECK_I64(recipe.affine.low, -127);
    CHECK_I64(recipe.affine.high, 127);
    recipe = recipe_of(DTI_UINT4, DTI_SYMMETRY_FULL);
    scale = choose(&recipe, -3.0f, 1.0f);
    CHECK_U64(scale.scale, fp32_code(3.0f / 7.0f));
    CHECK_I64(scale.zero_point, 8);
    CHECK_I64(recipe.affine.low, 1);
}

static void ranges_are_widened_to_zero(void)
{
    const struct dti_affine_recipe recipe = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE);
    struct dti_affine_scale scale = choose(&recipe, 1.0f, 2.55f);
    CHECK_U64(scale.scale, fp32_code(2.55f / 255.0f));
    CHECK_I64(scale.zero_point, -128);
    scale = choose(&recipe, -2.55f, -1.0f);
    CHECK_U64(scale.scale, fp32_code(2.55f / 255.0f));
    CHECK_I64(scale.zero_point, 127);
}

/* low - min / s is rounded to fp32, here to -64.5, before it is rounded to an integer. */
static void zero_points_of_onnx_are_rounded_twice(void)
{
    struct dti_affine_recipe recipe = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE);
    const float min = -63.49999618530273f;
    CHECK_U64(choose(&recipe, min, 191.5f).scale, fp32_code(1.0f));
    CHECK_I64(choose(&recipe, min, 191.5f).zero_point, -64);
    recipe.zero = DTI_ZERO_TORCH;
    CHECK_I64(choose(&recipe, min, 191.5f).zero_point, -65);
}

static void scales_stay_normal_and_finite(void)
{
    struct dti_affine_recipe recipe = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE);
    CHECK_U64(choose(&recipe, 0.0f, 0.0f).scale, fp32_code(1.0f));
    CHECK_I64(choose(&recipe, 0.0f, -0.0f).zero_point, -128);
    CHECK_U64(choose(&recipe, 0.0f, 1e-40f).scale, 0x00800000);
    CHECK_U64(choose(&recipe, -3e38f, 3e38f).scale, fp32_code((float)(2 * (double)3e38f / 255)));
    CHECK_I64(choose(&recipe, -3e38f, 3e38f).zero_point, 0); /* -0.5 to even */
    recipe.zero = DTI_ZERO_TORCH;
    CHECK_U64(choose(&recipe, 0.0f, 0.0f).scale, fp32_code(1.1920928955078125e-07f));
    CHECK_U64(choose(&recipe, 0.0f, 1e-20f).scale, fp32_code(1.1920928955078125e-07f));
    recipe = recipe_of(DTI_FP8_E4M3FN, DTI_SYMMETRY_NONE);
    CHECK_U64(choose(&recipe, -448.0f, 1.0f).scale, fp32_code(1.0f));
    CHECK_U64(choose(&recipe, 0.0f, 1e-40f).scale, 0x00800000);
    CHECK_I64(choose(&recipe, 1.0f, 2.0f).zero_point, 0);
}

static void scales_are_at_least_what_is_asked(void)
{
    struct dti_affine_recipe recipe = recipe_of(DTI_INT8, DTI_SYMMETRY_FULL);
    struct dti_affine_scale scale;
    recipe.least = fp32_code(1e-30f);
    dti_affine_choose(&recipe, 0, fp32_code(1e-29f), &scale); /* 1e-29 / 127 */
    CHECK_U64(scale.scale, fp32_code(1e-30f));
    dti_affine_choose(&recipe, 0, fp32_code(127.0f), &scale);
    CHECK_U64(scale.scale, fp32_code(1.0f));
    dti_affine_choose(&recipe, 0, 0, &scale);
    CHECK_U64(scale.scale, fp32_code(1e-30f));
}

static void float_codes_saturate(void)
{
    const struct dti_affine affine = recipe_of(DTI_FP8_E4M3FN, DTI_SYMMETRY_NONE).affine;
    const struct dti_affine_scale half = {fp32_code(0.5f), 0};
    const struct dti_affine fp4 = recipe_of(DTI_FP4_E2M1, DTI_SYMMETRY_NONE).affine;
    struct dti_quantized_number quantized;
    CHECK_I64(code_of(&affine, half.scale, 0, fp32_code(224.0f)), 0x7e);
    CHECK_I64(code_of(&affine, half.scale, 0, fp32_code(-0.0f)), 0x80);
    CHECK_I64(code_of(&affine, half.scale, 0, FP32_NAN | UINT32_C(0x80000000)), 0x7f);
    dti_affine_quantize(&affine, &half, fp32_code(232.0f), &quantized); /* 464 is a tie */
    CHECK_U64(quantized.code, 0x7e);
    CHECK(!quantized.clipped);
    dti_affine_quantize(&affine, &half, fp32_code(233.0f), &quantized);
    CHECK_U64(quantized.code, 0x7e);
    CHECK(quantized.clipped);
    dti_affine_quantize(&affine, &half, FP32_INF, &quantized);
    CHECK_U64(quantized.code, 0x7e);
    CHECK(!quantized.clipped && quantized.special);
    CHECK_I64(code_of(&fp4, half.scale, 0, FP32_NAN), 0);
    CHECK_U64(dti_affine_dequantize(&affine, &half, 0x7e), fp32_code(224.0f));
    CHECK_U64(dti_affine_dequantize(&affine, &half, 0xff), FP32_NAN);
    CHECK_U64(dti_affine_dequantize(&affine, &half, 0x80), fp32_code(-0.0f));
}

static void codes_come_back_as_rounded_products(void)
{
    const struct dti_affine affine = recipe_of(DTI_INT8, DTI_SYMMETRY_NONE).affine;
    const struct dti_affine_scale tenth = {fp32_code(0.1f), 7}, huge = {fp32_code(3e38f), 0};
    CHECK_U64(dti_affine_dequantize(&affine, &tenth, 7), 0);
    CHECK_U64(dti_affine_dequantize(&affine, &tenth, 10), fp32_code(3.0f * 0.1f));
    CHECK_U64(dti_affine_dequantize(&affine, &tenth, 0x80), fp32_code(-135.0f * 0.1f));
    CHECK_U64(dti_affine_dequantize(&affine, &huge, 0xfe), 0xff800000);
}

static void only_integers_and_small_floats_are_quantized_to(void)
{
    static const enum dti_dtype refused[] = {DTI_INT1, DTI_UINT32,   DTI_BOOL,
                                             DTI_FP16, DTI_FP8_E8M0, DTI_COMPLEX64};
    static const enum dti_dtype taken[] = {DTI_INT2,   DTI_UINT2,    DTI_INT4,    DTI_INT16,
                                           DTI_UINT16, DTI_FP8_E5M2, DTI_FP4_E2M1};
    struct dti_affine_recipe recipe;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK(!dti_affine_recipe_init(&recipe, dti_format_get(refused[i]), DTI_SYMMETRY_NONE));
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        CHECK(dti_affine_recipe_init(&recipe, dti_format_get(taken[i]), DTI_SYMMETRY_NONE));
    recipe = recipe_of(DTI_UINT16, DTI_SYMMETRY_NONE);
    CHECK_I64(recipe.affine.high, 65535);
    recipe = recipe_of(DTI_INT2, DTI_SYMMETRY_FULL);
    CHECK_I64(recipe.affine.low, -1);
    CHECK_I64(recipe.affine.high, 1);
}

UNIT_MAIN(a_quotient_near_a_midpoint_depends_on_the_division,
          halves_go_to_even_before_the_zero_point_is_added,
          numbers_beyond_the_range_are_clipped_after_rounding, specials_are_stored_as_asked,
          zero_survives_an_inverse_that_overflows, ranges_give_the_scales_of_the_observers,
          ranges_are_widened_to_zero, zero_points_of_onnx_are_rounded_twice,
          scales_stay_normal_and_finite, scales_are_at_least_what_is_asked, float_codes_saturate,
          codes_come_back_as_rounded_products, only_integers_and_small_floats_are_quantized_to)
