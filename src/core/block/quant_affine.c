/* SPDX-License-Identifier: MIT
 *
 * Affine quantization: scale and zero point from a range, quantization of a number, and
 * dequantization. */
#include "core/block/quant.h"
#include "core/block/quant_parts.h"

/* The largest fp32 below 2^31: torch (fbgemm) limits quotients to it. */
enum { TORCH_MOST = 2147483520 };

static void quotient_of(enum dti_quant_division division, uint32_t x, uint32_t scale,
                        struct dti_value *ret)
{
    struct dti_value number, divisor;
    switch (division) {
    case DTI_DIVIDE_TRUE:
        dti_fp32_value(dti_fp32_divide(x, scale), ret);
        break;
    case DTI_DIVIDE_RECIPROCAL:
        dti_fp32_value(dti_fp32_multiply(x, dti_fp32_divide(DTI_FP32_ONE, scale)), ret);
        break;
    case DTI_DIVIDE_EXACT:
        dti_fp32_value(x, &number);
        dti_fp32_value(scale, &divisor);
        (void)dti_value_divide(ret, &number, &divisor);
        break;
    }
}

/* The sum of the quotient and the zero point, before clamping. */
static int64_t place_of(const struct dti_affine *affine, const struct dti_value *quotient,
                        int32_t zero_point)
{
    const bool nan = quotient->kind == DTI_CLASS_NAN;
    int64_t rounded = dti_value_integer(quotient, DTI_ROUND_NEAREST_EVEN);
    switch (affine->specials) {
    case DTI_QUANT_CLAMP:
        break;
    case DTI_QUANT_AS_TORCH:
        rounded = nan || rounded > TORCH_MOST ? TORCH_MOST : rounded;
        rounded += zero_point;
        if (rounded > INT32_MAX)
            return rounded - (INT64_C(1) << 32);
        return rounded < INT32_MIN ? rounded + (INT64_C(1) << 32) : rounded;
    case DTI_QUANT_AS_TORCH_CHANNEL:
        if (nan)
            return 0;
        break;
    }
    return rounded + zero_point;
}

void dti_affine_quantize(const struct dti_affine *affine, const struct dti_affine_scale *scale,
                         uint32_t x, struct dti_quantized_number *ret)
{
    const bool finite = dti_fp32_is_finite(x);
    struct dti_value quotient;
    bool beyond;
    quotient_of(affine->division, x, scale->scale, &quotient);
    if (dti_format_is_float(&affine->code)) {
        ret->code = dti_quant_encode(&affine->code, &quotient, &beyond);
    } else {
        /* Clipping is judged independently of special cases: NaN is not a number, and 0 / s
         * stays 0 although 1 / s is infinite. */
        const int64_t true_place =
            dti_value_integer(&quotient, DTI_ROUND_NEAREST_EVEN) + (int64_t)scale->zero_point;
        int64_t place = place_of(affine, &quotient, scale->zero_point);
        beyond = true_place < affine->low || true_place > affine->high;
        if (quotient.kind != DTI_CLASS_NAN || affine->specials != DTI_QUANT_AS_TORCH_CHANNEL)
            place = place < affine->low ? affine->low : place > affine->high ? affine->high : place;
        ret->code = (uint32_t)((uint64_t)place & dti_low_bits(affine->code.width));
    }
    ret->clipped = finite && beyond;
    ret->special = !finite;
}

uint32_t dti_affine_dequantize(const struct dti_affine *affine,
                               const struct dti_affine_scale *scale, uint32_t code)
{
    struct dti_value number, factor, product;
    dti_decode(&affine->code, code, &number);
    if (!dti_format_is_float(&affine->code)) {
        const int64_t place = dti_value_integer(&number, DTI_ROUND_NEAREST_EVEN);
        dti_integer_value(place - scale->zero_point, &number);
    }
    dti_fp32_value(scale->scale, &factor);
    (void)dti_value_multiply(&product, &number, &factor);
    return dti_fp32_round(&product);
}

/* fp32 with a larger exponent range: it holds the difference of any two fp32 numbers. */
static const struct dti_format wide_fp32 = {.name = "e11m23",
                                            .id = DTI_NONE,
                                            .kind = DTI_KIND_FLOAT,
                                            .specials = DTI_SPECIALS_IEEE,
                                            .width = 35,
                                            .exp_bits = 11,
                                            .man_bits = 23,
                                            .bias = 1023,
                                            .component = DTI_NONE};

bool dti_affine_recipe_init(struct dti_affine_recipe *ret, const struct dti_format *code,
                            enum dti_quant_symmetry symmetry)
{
    struct dti_affine_recipe recipe = {.affine = {.code = *code}, .symmetry = symmetry};
    struct dti_value largest;
    uint64_t bits = 0;
    switch (code->kind) {
    case DTI_KIND_FLOAT:
        if (code->width > 8 || dti_format_is_tapered(code) || !dti_code_max(code, &bits))
            return false;
        dti_decode(code, bits, &largest);
        if (largest.kind != DTI_CLASS_FINITE)
            return false;
        break;
    case DTI_KIND_INT:
    case DTI_KIND_UINT:
        if (code->width < 2 || code->width > 16)
            return false;
        if (code->kind == DTI_KIND_INT) {
            recipe.affine.high = (int32_t)dti_low_bits(code->width - 1u);
            recipe.affine.low = -recipe.affine.high - (symmetry != DTI_SYMMETRY_FULL);
        } else {
            recipe.affine.high = (int32_t)dti_low_bits(code->width);
            recipe.affine.low = symmetry == DTI_SYMMETRY_FULL;
        }
        break;
    case DTI_KIND_UFLOAT:
    case DTI_KIND_BOOL:
    case DTI_KIND_COMPLEX:
        return false;
    }
    *ret = recipe;
    return true;
}

/* The middle code, which represents zero in a symmetric range. */
static int32_t middle_of(const struct dti_format *code)
{
    return code->kind == DTI_KIND_UINT ? (int32_t)1 << (code->width - 1) : 0;
}

/* The quotient, rounded and clamped between `least` and the largest finite number. */
static uint32_t scale_of(const struct dti_value *numerator, const struct dti_value *divisor,
                         uint32_t least)
{
    struct dti_value quotient;
    (void)dti_value_divide(&quotient, numerator, divisor);
    const uint32_t scale = dti_fp32_round(&quotient);
    if (scale > DTI_FP32_MAX)
        return DTI_FP32_MAX;
    return scale < least ? least : scale;
}

static int32_t zero_point_of(const struct dti_affine_recipe *recipe, uint32_t min, uint32_t scale)
{
    const int32_t low = recipe->affine.low, high = recipe->affine.high;
    const uint32_t steps = dti_fp32_divide(min, scale);
    struct dti_value value, start;
    int64_t zero;
    dti_fp32_value(steps, &value);
    if (recipe->zero == DTI_ZERO_TORCH) {
        zero = (int64_t)low - dti_value_integer(&value, DTI_ROUND_NEAREST_EVEN);
    } else {
        dti_integer_value(low, &start);
        value.negative = !value.negative;
        if (value.kind != DTI_CLASS_INF)
            (void)dti_value_add(&value, &start, &value, DTI_ROUND_NEAREST_EVEN);
        dti_fp32_value(dti_fp32_round(&value), &value);
        zero = dti_value_integer(&value, DTI_ROUND_NEAREST_EVEN);
    }
    return zero < low ? low : zero > high ? high : (int32_t)zero;
}

void dti_affine_choose(const struct dti_affine_recipe *recipe, uint32_t min, uint32_t max,
                       struct dti_affine_scale *ret)
{
    const struct dti_affine *const affine = &recipe->affine;
    const bool real = dti_format_is_float(&affine->code);
    const bool torch = recipe->zero == DTI_ZERO_TORCH && !real;
    const uint32_t least = torch ? DTI_FP32_EPS : DTI_FP32_LEAST_NORMAL;
    const uint32_t amax = dti_fp32_magnitude(min) > dti_fp32_magnitude(max)
                              ? dti_fp32_magnitude(min)
                              : dti_fp32_magnitude(max);
    const int32_t middle = middle_of(&affine->code);
    struct dti_value numerator, divisor;
    uint64_t code = 0;
    min = min & DTI_FP32_SIGN ? min : 0; /* extends the range to include zero */
    max = max & DTI_FP32_SIGN ? 0 : max;

    ret->zero_point = real ? 0 : middle;
    dti_fp32_value(amax, &numerator);
    if (real) {
        (void)dti_code_max(&affine->code, &code);
        dti_decode(&affine->code, code, &divisor);
    } else if (recipe->symmetry == DTI_SYMMETRY_FULL) {
        dti_integer_value((int64_t)affine->high - middle, &divisor);
    } else if (recipe->symmetry == DTI_SYMMETRY_HALF) {
        dti_value_set(&divisor, false, (uint64_t)((int64_t)affine->high - affine->low), -1);
    } else {
        static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
        struct dti_value top, bottom;
        struct dti_outcome outcome;
        dti_fp32_value(max, &top);
        dti_fp32_value(min ^ DTI_FP32_SIGN, &bottom);
        (void)dti_value_add(&numerator, &top, &bottom, DTI_ROUND_NEAREST_EVEN);
        dti_encode(&wide_fp32, &numerator, &nearest, 0, &outcome);
        dti_decode(&wide_fp32, outcome.code, &numerator);
        dti_integer_value((int64_t)affine->high - affine->low, &divisor);
    }
    if (numerator.kind == DTI_CLASS_ZERO)
        ret->scale = recipe->least > 0 ? recipe->least : torch ? DTI_FP32_EPS : DTI_FP32_ONE;
    else
        ret->scale = scale_of(&numerator, &divisor, recipe->least > 0 ? recipe->least : least);
    if (!real && recipe->symmetry == DTI_SYMMETRY_NONE)
        ret->zero_point = zero_point_of(recipe, min, ret->scale);
}

bool dti_quant_has_zero_points(const struct dti_quant_scheme *scheme)
{
    const enum dti_kind kind = scheme->affine.affine.code.kind;
    return !scheme->block && !scheme->biased &&
           (kind == DTI_KIND_UINT ||
            (kind == DTI_KIND_INT && scheme->affine.symmetry == DTI_SYMMETRY_NONE));
}
