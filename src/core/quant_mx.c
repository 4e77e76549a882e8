/* SPDX-License-Identifier: MIT
 *
 * MX blocks: a power of two for all (OCP Microscaling Formats 1.0, 6.3). */
#include "core/quant_parts.h"

/* Elements of mxint8 are integers in steps of 2^-6. */
static bool is_integer(const struct dti_block_format *format)
{
    return format->code == DTI_INT8;
}

static void largest_element(const struct dti_block_format *format, struct dti_value *ret)
{
    uint64_t code = 0;
    (void)dti_code_max(dti_format_get(format->code), &code);
    dti_decode(dti_format_get(format->code), code, ret);
    if (is_integer(format))
        ret->exponent -= 6;
}

/* The exponent of a number rounded to so many bits after the leading one, halves up. */
static int32_t rounded_exponent(const struct dti_value *value, unsigned mantissa)
{
    const uint64_t half = UINT64_C(1) << (62 - mantissa);
    return value->exponent + (value->hi > UINT64_MAX - half);
}

static int32_t shared_exponent(const struct dti_block_recipe *recipe, uint32_t amax)
{
    const struct dti_block_format *const format = recipe->format;
    const unsigned mantissa = is_integer(format) ? 6 : dti_format_get(format->code)->man_bits;
    const uint64_t one = UINT64_C(1) << 63;
    struct dti_value value, largest;
    int32_t exponent = 0;
    dti_fp32_value(amax, &value);
    if (value.class == DTI_CLASS_ZERO)
        return -127;
    largest_element(format, &largest);
    switch (recipe->mx) {
    case DTI_MX_FLOOR:
        exponent = value.exponent - largest.exponent;
        break;
    case DTI_MX_CEIL:
        exponent = value.exponent + (value.hi != one) - largest.exponent;
        break;
    case DTI_MX_RCEIL: /* amax / max > 2^(difference of exponents) where its significand is larger
                        */
        exponent = value.exponent - largest.exponent + (value.hi > largest.hi);
        break;
    case DTI_MX_EVEN:
        exponent = rounded_exponent(&value, mantissa) - largest.exponent;
        break;
    }
    return exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
}

void dti_mx_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                     struct dti_quantized_block *block)
{
    const struct dti_format *const element = dti_format_get(recipe->format->code);
    const int32_t exponent = shared_exponent(recipe, block->amax);
    const int32_t shift = exponent - (is_integer(recipe->format) ? 6 : 0);
    block->scale = (uint32_t)(exponent + 127);
    for (size_t i = 0; i < n; i++) {
        struct dti_value value;
        bool beyond;
        dti_fp32_value(x[i], &value);
        value.exponent -= value.class == DTI_CLASS_FINITE ? shift : 0;
        block->code[i] = dti_quant_encode(element, &value, &beyond);
        block->clipped += beyond;
        block->clipped_at |= (uint64_t)beyond << i;
    }
}
