/* SPDX-License-Identifier: MIT
 *
 * Vectors of block formats: blocks of fp32 numbers, with the scale and codes that each rule makes.
 */
#include "answers/rewrite/quantized.h"

#include <assert.h>

#include "answers/vectors/vectors_lines.h"
#include "answers/vectors/vectors_points.h"
#include "core/block/quant_parts.h"

enum { LENGTH = DTI_BLOCK_LENGTH_MAX, EXPONENT_AT = 23, RANDOM_BLOCKS = 48 };

#define RULE(id, name, help) {(name), (id)},
struct vectors_rule {
    const char *name;
    int value;
};
static const struct vectors_rule mx_rules[] = {DTI_QUANT_MX_SCALES(RULE)};
static const struct vectors_rule nv_rules[] = {DTI_QUANT_NV_SCALES(RULE)};

/* fp32's code of 1.f x 2^exponent, with a sign: random bits and an exponent. */
static uint32_t number(uint64_t random, int exponent)
{
    const uint32_t fraction = (uint32_t)random & (uint32_t)dti_low_bits(EXPONENT_AT);
    const uint32_t sign = random >> 63 ? DTI_FP32_SIGN : 0;
    const int field = exponent + 127;
    return sign | (uint32_t)(field < 0 ? 0 : field > 254 ? 254 : field) << EXPONENT_AT | fraction;
}

static void put_codes(struct dti_vectors_out *out, enum dti_dtype dtype, const uint32_t *codes,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        dti_buffer_puts(&out->text, i > 0 ? " " : "\t");
        dti_vectors_code(out, dti_format_get(dtype), codes[i]);
    }
}

static void put_block(struct dti_vectors_out *out, const char *rule,
                      const struct dti_block_recipe *recipe, const uint32_t *x, size_t n)
{
    const struct dti_block_format *const block = recipe->format;
    struct dti_quantized_block result;
    uint32_t values[LENGTH];
    dti_block_quantize(recipe, x, n, &result);
    for (size_t i = 0; i < n; i++)
        values[i] = dti_block_dequantize(recipe, result.scale, result.code[i]);
    dti_buffer_puts(&out->text, rule);
    if (block->family == DTI_BLOCKS_NV)
        put_codes(out, DTI_FP32, &recipe->tensor_scale, 1);
    else
        dti_buffer_puts(&out->text, "\t-");
    put_codes(out, block->scale, &result.scale, 1);
    put_codes(out, block->code, result.code, n);
    put_codes(out, DTI_FP32, values, n);
    put_codes(out, DTI_FP32, x, n);
    dti_vectors_end_line(out);
}

/* A block by every rule; nvfp4 without a tensor scale and with its own. */
static void put_rules(struct dti_vectors_out *out, const uint32_t *x, size_t n)
{
    const struct dti_block_format *const block = out->what->block;
    struct dti_block_recipe recipe = {.format = block, .tensor_scale = DTI_FP32_ONE};
    if (block->family == DTI_BLOCKS_MX) {
        for (size_t i = 0; i < sizeof mx_rules / sizeof *mx_rules; i++) {
            recipe.mx = (enum dti_mx_scale)mx_rules[i].value;
            put_block(out, mx_rules[i].name, &recipe, x, n);
        }
    } else if (block->family == DTI_BLOCKS_NV) {
        for (size_t i = 0; i < sizeof nv_rules / sizeof *nv_rules; i++) {
            recipe.nv = (enum dti_nv_scale)nv_rules[i].value;
            recipe.tensor_scale = DTI_FP32_ONE;
            put_block(out, nv_rules[i].name, &recipe, x, n);
            recipe.tensor_scale = dti_nv_tensor_scale(recipe.nv, dti_fp32_amax(x, n));
            if (recipe.tensor_scale != DTI_FP32_ONE)
                put_block(out, nv_rules[i].name, &recipe, x, n);
        }
    } else {
        put_block(out, "default", &recipe, x, n);
    }
}

/* A block whose largest magnitude is given: all smaller ones are random, some tiny, some zero. */
static void put_amax(struct dti_vectors_out *out, uint32_t amax, uint64_t index)
{
    const size_t n = out->what->block->length;
    const int exponent = (int)(dti_fp32_magnitude(amax) >> EXPONENT_AT) - 127;
    uint32_t x[LENGTH];
    assert(n > 0 && n <= LENGTH);
    for (size_t i = 0; i < n; i++) {
        const uint64_t random = dti_vectors_random(2, index * LENGTH + i);
        x[i] = number(random, exponent - 1 - (int)(random >> 40 & 7));
        if ((random >> 44 & 15) == 0)
            x[i] &= DTI_FP32_SIGN;
    }
    x[index % n] = amax;
    put_rules(out, x, n);
}

/* The same with elements half-way between two numbers of the element's format, times a power of
 * two: scaled by it they are ties. */
static void put_ties(struct dti_vectors_out *out, int exponent)
{
    const struct dti_block_format *const block = out->what->block;
    uint32_t x[LENGTH];
    for (size_t i = 0; i < block->length; i++) {
        struct dti_value value;
        dti_value_set(&value, i % 3 == 2, 2 * (uint64_t)i + 1, exponent - 3);
        x[i] = dti_fp32_round(&value);
        if (i % 4 == 3)
            x[i] ^= 1; /* next to a tie */
    }
    put_rules(out, x, block->length);
}

static void put_constant(struct dti_vectors_out *out, uint32_t all, uint32_t last, size_t n)
{
    uint32_t x[LENGTH];
    for (size_t i = 0; i < n; i++)
        x[i] = all;
    x[n - 1] = last;
    put_rules(out, x, n);
}

/* Largest magnitudes where a rule for the scale changes its mind: powers of two, what the largest
 * element is times a power of two, what the element's mantissa rounds up to one, and their
 * neighbours. */
static void put_thresholds(struct dti_vectors_out *out)
{
    static const uint32_t fractions[] = {0,        0x400000, 0x600000, 0x700000, 0x780000, 0x7c0000,
                                         0x7e0000, 0x200000, 0x2aaaab, 0x7fffff, 0x5fffff};
    static const int exponents[] = {-130, -120, -10, -1, 0, 1, 2, 6, 9, 100, 127};
    uint64_t index = 0;
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
            for (int offset = -1; offset <= 1; offset++) {
                const uint32_t amax = number(fractions[f], exponents[e]) + (uint32_t)offset;
                if (dti_fp32_is_finite(amax) && !dti_fp32_is_zero(amax))
                    put_amax(out, index % 2 ? amax | DTI_FP32_SIGN : amax, index);
                index++;
            }
        }
    }
}

bool dti_vectors_block(struct dti_vectors_out *out)
{
    static const uint32_t specials[] = {0,
                                        DTI_FP32_SIGN,
                                        1,
                                        DTI_FP32_SIGN | 1,
                                        DTI_FP32_LEAST_NORMAL - 1,
                                        DTI_FP32_LEAST_NORMAL,
                                        DTI_FP32_ONE,
                                        DTI_FP32_MAX,
                                        DTI_FP32_MAX | DTI_FP32_SIGN,
                                        DTI_FP32_INF,
                                        DTI_FP32_INF | DTI_FP32_SIGN,
                                        DTI_FP32_NAN};
    const size_t n = out->what->block->length;
    dti_buffer_puts(&out->text, "rule\ttensor_scale\tscale\tcodes\tvalues\tinputs");
    dti_vectors_end_line(out);
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        put_constant(out, specials[i], specials[i], n);
        put_constant(out, 0, specials[i], n);
        put_constant(out, DTI_FP32_ONE, specials[i], n - 3);
        put_constant(out, specials[i], specials[i], 1);
    }
    for (int exponent = -4; exponent <= 8; exponent++)
        put_ties(out, exponent);
    put_thresholds(out);
    for (unsigned i = 0; i < RANDOM_BLOCKS; i++)
        put_amax(out, number(dti_vectors_random(3, i), (int)(i * 5) - 125), 1000 + i);
    return true;
}
