/* SPDX-License-Identifier: MIT
 *
 * Affine quantization: a number to its code under a scale and a zero point, and back. */
#include "dtinfo/quant.h"

#include "core/quant_parts.h"

/* The largest fp32 below 2^31: where torch (fbgemm) cuts quotients. */
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

/* The sum with the zero point, before it is clamped. */
static int64_t place_of(const struct dti_affine *affine, const struct dti_value *quotient,
                        int32_t zero_point)
{
    const bool nan = quotient->class == DTI_CLASS_NAN;
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
                         uint32_t x, struct dti_quantized *ret)
{
    const bool finite = dti_fp32_is_finite(x);
    struct dti_value quotient;
    bool beyond;
    quotient_of(affine->division, x, scale->scale, &quotient);
    if (dti_format_is_float(&affine->code)) {
        ret->code = dti_quant_encode(&affine->code, &quotient, &beyond);
    } else {
        /* Whether a number is clipped does not depend on what becomes of it: a NaN is no number,
         * and 0 / s stays 0 when 1 / s is infinite. */
        const int64_t true_place =
            dti_value_integer(&quotient, DTI_ROUND_NEAREST_EVEN) + (int64_t)scale->zero_point;
        int64_t place = place_of(affine, &quotient, scale->zero_point);
        beyond = true_place < affine->low || true_place > affine->high;
        if (quotient.class != DTI_CLASS_NAN || affine->specials != DTI_QUANT_AS_TORCH_CHANNEL)
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
