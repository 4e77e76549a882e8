/* SPDX-License-Identifier: MIT
 *
 * The scale of a range: the same as dti_affine_choose(), in hardware fp32 where that gives the same
 * result. There may be one for every few elements. */
#include <float.h>
#include <math.h>

#include "convert/quant_plan_parts.h"

/* Whether expressions of fp32 are rounded to fp32. */
enum { PLAIN_FLOATS = FLT_EVAL_METHOD == 0 };

void dti_quant_choice_init(struct dti_quant_choice *ret, const struct dti_affine_recipe *recipe,
                           float largest)
{
    const struct dti_affine *const affine = &recipe->affine;
    const bool real = dti_format_is_float(&affine->code);
    const bool torch = recipe->zero == DTI_ZERO_TORCH && !real;
    struct dti_affine_scale nothing;
    dti_affine_choose(recipe, 0, 0, &nothing);
    ret->zero_point = nothing.zero_point;
    ret->nothing = dti_quant_float(nothing.scale);
    ret->least = torch ? FLT_EPSILON : FLT_MIN;
    ret->widens = !real && recipe->symmetry == DTI_SYMMETRY_NONE;
    ret->divisor = real          ? largest
                   : ret->widens ? (float)(affine->high - affine->low)
                   : recipe->symmetry == DTI_SYMMETRY_FULL
                       ? (float)(affine->high - nothing.zero_point)
                       : (float)(affine->high - affine->low) / 2;
}

/* The nearest integer to |number| < 2^22, ties to even. */
static int32_t nearest(float number)
{
    const float sum = number + 12582912.0F; /* 2^23 + 2^22: the integer is in the mantissa */
    return (int32_t)(dti_quant_bits(sum) - UINT32_C(0x4b400000));
}

static int32_t zero_point_of(const struct dti_affine_recipe *recipe, float min, float scale)
{
    const int32_t low = recipe->affine.low, high = recipe->affine.high;
    const float steps = min / scale; /* no more than there are codes, and a little */
    const int32_t zero =
        recipe->zero == DTI_ZERO_TORCH ? low - nearest(steps) : nearest((float)low - steps);
    return zero < low ? low : zero > high ? high : zero;
}

struct dti_affine_scale dti_quant_choose(const struct dti_quant_plan *plan,
                                         const struct dti_range *range)
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    const struct dti_quant_choice *const choice = &plan->choice;
    const bool none = !(range->min <= range->max); /* no finite number */
    const float min = !none && range->min < 0 ? range->min : 0;
    const float max = !none && range->max > 0 ? range->max : 0;
    const float low = none ? 0 : fabsf(range->min), high = none ? 0 : fabsf(range->max);
    const float size = choice->widens ? max - min : low > high ? low : high;
    struct dti_affine_scale scale = scheme->scale;
    if (scheme->fixed)
        return scale;
    if (!PLAIN_FLOATS || size > FLT_MAX) {
        dti_affine_choose(&scheme->affine, dti_quant_bits(none ? 0 : range->min),
                          dti_quant_bits(none ? 0 : range->max), &scale);
        return scale;
    }
    float quotient = size / choice->divisor;
    quotient = quotient > FLT_MAX ? FLT_MAX : quotient;
    quotient = quotient < choice->least ? choice->least : quotient;
    quotient = size > 0 ? quotient : choice->nothing;
    scale.scale = dti_quant_bits(quotient);
    scale.zero_point =
        choice->widens ? zero_point_of(&scheme->affine, min, quotient) : choice->zero_point;
    return scale;
}
