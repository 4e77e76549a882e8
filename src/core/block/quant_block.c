/* SPDX-License-Identifier: MIT
 *
 * Quantizes and dequantizes blocks of elements that share a scale. Families: MX (a power-of-two
 * scale; OCP Microscaling Formats 1.0, 6.3), NVFP4 (an fp8 scale per block, an fp32 scale per
 * tensor), NF4 and bitsandbytes' FP4 (entries of a table between -1 and 1, times the block's
 * largest magnitude), ggml's Q8_0 and Q4_0 (integers with an fp16 scale). */
#include <assert.h>

#include "core/block/quant.h"
#include "core/block/quant_parts.h"

/* Elements of mxint8 are integers in units of 2^-6. */
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

/* The exponent of a number rounded to that many bits after the leading one, halves up. */
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
    if (value.kind == DTI_CLASS_ZERO)
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
    case DTI_MX_RFLOOR:
        exponent = value.exponent - largest.exponent - (value.hi < largest.hi);
        break;
    }
    return exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
}

/* One function per family. Requires block->amax (finite), block->special, and block->clipped 0. */
static void mx_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
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
        value.exponent -= value.kind == DTI_CLASS_FINITE ? shift : 0;
        block->code[i] = dti_quant_encode(element, &value, &beyond);
        block->clipped += beyond;
        block->clipped_at |= (uint64_t)beyond << i;
    }
}

#define SCALE_127 UINT32_C(0x42fe0000)
#define MINUS_8   UINT32_C(0xc1000000)
#define ROUNDING  UINT32_C(0x41080000) /* 8.5 */

/* Stores d as fp16 and counts clipping if it overflows. */
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

/* 1 / d, or 0 if it overflows or d is 0. */
static uint32_t inverse_of(uint32_t d)
{
    const uint32_t inverse = dti_fp32_divide(DTI_FP32_ONE, d);
    return dti_fp32_is_finite(inverse) ? inverse : 0;
}

static void q8_quantize(const uint32_t *x, size_t n, struct dti_quantized_block *block)
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

static void q4_quantize(const uint32_t *x, size_t n, struct dti_quantized_block *block)
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

#define SIX          UINT32_C(0x40c00000)
#define ONE_AND_HALF UINT32_C(0x3fc00000)

/* The fp32 product of a block's scale and its tensor's. */
static uint32_t nv_product(const struct dti_block_recipe *recipe, uint32_t scale)
{
    return recipe->tensor_divisor ? dti_fp32_divide(scale, recipe->tensor_divisor)
                                  : dti_fp32_multiply(scale, recipe->tensor_scale);
}

uint32_t dti_nv_tensor_scale(enum dti_nv_scale rule, uint32_t amax)
{
    struct dti_value value, most, quotient;
    if (!dti_fp32_is_finite(amax))
        return DTI_FP32_ONE;
    dti_fp32_value(dti_fp32_magnitude(amax), &value);
    dti_integer_value(rule == DTI_NV_FOUR_SIX ? 256 * 6 : 448 * 6, &most);
    (void)dti_value_divide(&quotient, &value, &most);
    const uint32_t scale = dti_fp32_round(&quotient);
    return scale == 0 ? DTI_FP32_ONE : scale;
}

static uint32_t block_scale(const struct dti_block_recipe *recipe, bool four, uint32_t amax)
{
    struct dti_value value, tensor, most, quotient;
    bool beyond;
    dti_fp32_value(recipe->tensor_scale, &tensor);
    if (recipe->division == DTI_DIVIDE_EXACT) {
        dti_fp32_value(amax, &value);
        dti_integer_value(four ? 4 : 6, &most);
        (void)dti_value_multiply(&most, &most, &tensor);
        (void)dti_value_divide(&quotient, &value, &most);
    } else {
        const uint32_t sixth = dti_fp32_divide(dti_fp32_divide(amax, SIX), recipe->tensor_scale);
        dti_fp32_value(four ? dti_fp32_multiply(sixth, ONE_AND_HALF) : sixth, &quotient);
    }
    return dti_quant_encode(dti_format_get(DTI_FP8_E4M3FN), &quotient, &beyond);
}

/* four: map the largest magnitude to 4, otherwise to 6. */
static void quantize(const struct dti_block_recipe *recipe, bool four, const uint32_t *x, size_t n,
                     struct dti_quantized_block *block)
{
    struct dti_value scale, divisor;
    block->scale = block_scale(recipe, four, block->amax);
    dti_decode(dti_format_get(DTI_FP8_E4M3FN), block->scale, &scale);
    const bool unrounded = recipe->nv == DTI_NV_UNROUNDED;
    const uint32_t sixth = dti_fp32_divide(block->amax, SIX);
    const uint32_t scale32 =
        unrounded ? dti_fp32_divide(sixth, recipe->tensor_scale) : dti_fp32_round(&scale);
    const uint32_t product =
        unrounded && recipe->division == DTI_DIVIDE_EXACT ? sixth : nv_product(recipe, scale32);
    const bool none = dti_fp32_is_zero(product); /* the block's scale is then 0, too */
    dti_fp32_value(product, &divisor);

    enum dti_quant_division division = recipe->division;
    uint32_t inverse = 0;
    if (division == DTI_DIVIDE_RECIPROCAL && !none) {
        inverse = dti_fp32_divide(dti_fp32_divide(DTI_FP32_ONE, recipe->tensor_scale), scale32);
        if (!dti_fp32_is_finite(inverse))
            division = DTI_DIVIDE_TRUE;
    }
    for (size_t i = 0; i < n; i++) {
        struct dti_value quotient;
        bool beyond;
        block->code[i] = 0;
        if (none)
            continue;
        if (division == DTI_DIVIDE_EXACT) {
            dti_fp32_value(x[i], &quotient);
            (void)dti_value_divide(&quotient, &quotient, &divisor);
        } else {
            dti_fp32_value(division == DTI_DIVIDE_TRUE ? dti_fp32_divide(x[i], product)
                                                       : dti_fp32_multiply(x[i], inverse),
                           &quotient);
        }
        block->code[i] = dti_quant_encode(dti_format_get(recipe->format->code), &quotient, &beyond);
        block->clipped += beyond;
        block->clipped_at |= (uint64_t)beyond << i;
    }
}

/* The sum of squared errors, accumulated in fp64, in order. */
static void find_error(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                       const struct dti_quantized_block *block, struct dti_value *ret)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    dti_value_set(ret, false, 0, 0);
    for (size_t i = 0; i < n; i++) {
        const uint32_t back = dti_block_dequantize(recipe, block->scale, block->code[i]);
        struct dti_value error;
        struct dti_outcome sum;
        dti_fp32_value(dti_fp32_add(back, x[i] ^ DTI_FP32_SIGN), &error);
        (void)dti_value_multiply(&error, &error, &error);
        (void)dti_value_add(&error, &error, ret, DTI_ROUND_NEAREST_EVEN);
        dti_encode(dti_format_get(DTI_FP64), &error, &nearest, 0, &sum);
        dti_decode(dti_format_get(DTI_FP64), sum.code, ret);
    }
}

static void nv_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *block)
{
    struct dti_quantized_block four = *block;
    struct dti_value error, error_of_four;
    quantize(recipe, false, x, n, block);
    if (recipe->nv != DTI_NV_FOUR_SIX)
        return;
    quantize(recipe, true, x, n, &four);
    find_error(recipe, x, n, block, &error);
    find_error(recipe, x, n, &four, &error_of_four);
    /* both are NaN if the fp32 scales are infinite */
    const bool numbers = error.kind != DTI_CLASS_NAN && error_of_four.kind != DTI_CLASS_NAN;
    if (numbers && dti_value_compare(&error_of_four, &error) < 0)
        *block = four;
}

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

/* bitsandbytes' FP4 (csrc/kernels.cu, dQuantizeFP4): sign and magnitude like fp4_e2m1, but with
 * different numbers in a different order. Code 8 is +0. */
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

/* bitsandbytes' thresholds: the last digits are from its source, not from the midpoints. */
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

/* Number of midpoints between neighbours that are below the quotient. */
static uint32_t nearest_place(const struct dti_value *quotient)
{
    uint32_t place = 0;
    for (; place < 15; place++) {
        struct dti_value low, high, sum;
        dti_fp32_value(dti_nf4_table[place], &low);
        dti_fp32_value(dti_nf4_table[place + 1], &high);
        (void)dti_value_add(&sum, &low, &high, DTI_ROUND_NEAREST_EVEN);
        sum.exponent--; /* no midpoint of neighbours is zero */
        if (dti_value_compare(quotient, &sum) <= 0)
            break;
    }
    return place;
}

/* Encodes the magnitude, with the sign in bit 3; zeros have no sign. */
static uint32_t bnb_fp4_code(const struct dti_value *quotient)
{
    struct dti_value magnitude = *quotient, limit;
    size_t place = 0;
    if (quotient->kind == DTI_CLASS_ZERO)
        return 0;
    magnitude.negative = false;
    for (; place < DTI_BNB_FP4_LIMITS; place++) {
        dti_fp32_value(dti_bnb_fp4_limits[place], &limit);
        if (dti_value_compare(&magnitude, &limit) <= 0)
            break;
    }
    return dti_bnb_fp4_order[place] | (quotient->negative ? 8U : 0U);
}

static void nf_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
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

uint32_t dti_block_zero(const struct dti_block_format *format)
{
    return format->id == DTI_BLOCK_NF4 ? 7 : format->family == DTI_BLOCKS_Q4 ? 8 : 0;
}

const uint32_t *dti_block_table(const struct dti_block_format *format)
{
    return format->id == DTI_BLOCK_NF4 ? dti_nf4_table : dti_bnb_fp4_table;
}

void dti_block_quantize(const struct dti_block_recipe *recipe, const uint32_t *x, size_t n,
                        struct dti_quantized_block *ret)
{
    const enum dti_block_family family = recipe->format->family;
    assert(n >= 1 && n <= recipe->format->length);
    ret->amax = dti_fp32_amax(x, n);
    ret->clipped = 0;
    ret->clipped_at = 0;
    ret->special = dti_fp32_is_nan(ret->amax);
    if (ret->special) {
        uint64_t nan = 0;
        (void)dti_code_nan(dti_format_get(recipe->format->scale), &nan);
        ret->scale = (uint32_t)nan;
        for (size_t i = 0; i < n; i++)
            ret->code[i] = dti_block_zero(recipe->format);
        return;
    }
    switch (family) {
    case DTI_BLOCKS_MX:
        mx_quantize(recipe, x, n, ret);
        break;
    case DTI_BLOCKS_NV:
        nv_quantize(recipe, x, n, ret);
        break;
    case DTI_BLOCKS_NF:
        nf_quantize(recipe, x, n, ret);
        break;
    case DTI_BLOCKS_Q8:
        q8_quantize(x, n, ret);
        break;
    case DTI_BLOCKS_Q4:
        q4_quantize(x, n, ret);
        break;
    }
}

void dti_block_scale_value(const struct dti_block_recipe *recipe, uint32_t scale,
                           struct dti_value *ret)
{
    dti_decode(dti_format_get(recipe->format->scale), scale, ret);
}

void dti_block_element_value(const struct dti_block_recipe *recipe, uint32_t code,
                             struct dti_value *ret)
{
    const struct dti_block_format *const format = recipe->format;
    switch (format->family) {
    case DTI_BLOCKS_NF:
        dti_fp32_value(dti_block_table(format)[code & 15], ret);
        return;
    case DTI_BLOCKS_Q4:
        dti_integer_value((int64_t)(code & 15) - 8, ret);
        return;
    case DTI_BLOCKS_MX:
    case DTI_BLOCKS_NV:
    case DTI_BLOCKS_Q8:
        break;
    }
    dti_decode(dti_format_get(format->code), code, ret);
    if (format->family == DTI_BLOCKS_MX && format->code == DTI_INT8)
        ret->exponent -= ret->kind == DTI_CLASS_FINITE ? 6 : 0;
}

uint32_t dti_block_dequantize(const struct dti_block_recipe *recipe, uint32_t scale, uint32_t code)
{
    struct dti_value factor, element, product;
    dti_block_scale_value(recipe, scale, &factor);
    if (recipe->format->family == DTI_BLOCKS_NV) {
        const uint32_t scale32 = dti_fp32_round(&factor); /* fp32 holds every fp8 number */
        dti_fp32_value(nv_product(recipe, scale32), &factor);
    }
    dti_block_element_value(recipe, code, &element);
    (void)dti_value_multiply(&product, &element, &factor);
    return dti_fp32_round(&product);
}
