/* SPDX-License-Identifier: MIT
 *
 * The contents of arrays for measurements. Random data is made with integer arithmetic and
 * dti_encode(), so a seed gives the same codes everywhere. Operands of all dtypes are made from
 * the same fp32 numbers; the total error is relative to those. */
#include "bench/measure/operands.h"

#include <math.h>
#include <string.h>

#include "bench/measure/bench_table.h"
#include "bench/measure/splitmix.h"
#include "core/block/quant.h"
#include "core/code/scalar.h"
#include "core/dtype/storage.h"
#include "kernels/fp64.h"
#include "kernels/fused.h"

static const struct dti_layout packed = {.packing = DTI_PACKING_LOW};

/* Random data. */

struct source {
    const struct dti_format *src;
    enum dti_bench_data data;
    int64_t scale; /* numbers are scaled by 2^scale */
    uint64_t random;
};

static uint64_t encode(const struct source *source, bool negative, uint64_t significand,
                       int64_t exponent)
{
    static const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN,
                                             .overflow = DTI_OVERFLOW_SATURATE};
    const bool can_be_negative = dti_format_is_signed(source->src);
    struct dti_value value;
    struct dti_outcome outcome;
    dti_value_set(&value, negative && can_be_negative, significand, exponent + source->scale);
    dti_encode(source->src, &value, &policy, 0, &outcome);
    return outcome.code;
}

static uint64_t any_code(struct source *source)
{
    const uint64_t code = dti_splitmix(&source->random) & dti_low_bits(source->src->width);
    return source->src->kind == DTI_KIND_BOOL ? code & 1 : code;
}

/* The sum of twelve uniforms in [0, 1) has variance 1; its mean of 6 is subtracted. */
static uint64_t normal(struct source *source)
{
    int64_t sum = -6 * (INT64_C(1) << 32);
    for (int i = 0; i < 6; i++) {
        const uint64_t two = dti_splitmix(&source->random);
        sum += (int64_t)(two >> 32) + (int64_t)(two & UINT32_MAX);
    }
    return encode(source, sum < 0, (uint64_t)(sum < 0 ? -sum : sum), -32);
}

static uint64_t uniform(struct source *source)
{
    if (dti_format_is_integer(source->src))
        return any_code(source);
    return encode(source, false, UINT64_C(1) << 63 | dti_splitmix(&source->random) >> 1, -63);
}

static uint64_t subnormal(struct source *source)
{
    const uint64_t bits = dti_splitmix(&source->random);
    return encode(source, (bits & 1) != 0, bits >> 1, -63);
}

static uint64_t nan_or_infinity(struct source *source)
{
    const uint64_t bits = dti_splitmix(&source->random);
    uint64_t code;
    if ((bits & 1) != 0 && dti_code_inf(source->src, (bits & 2) != 0, &code))
        return code;
    return dti_code_nan(source->src, &code) ? code : normal(source);
}

static uint64_t next_code(struct source *source)
{
    switch (source->data) {
    case DTI_BENCH_NORMAL:
        return normal(source);
    case DTI_BENCH_UNIFORM:
        return uniform(source);
    case DTI_BENCH_BITS:
        return any_code(source);
    case DTI_BENCH_SUBNORMAL:
        return subnormal(source);
    case DTI_BENCH_NAN1:
        return dti_splitmix(&source->random) % 100 == 0 ? nan_or_infinity(source) : normal(source);
    }
    return 0;
}

/* A quarter of the range of an integer dtype, as a power of two: 2^5 for int8. */
static int64_t quarter(const struct dti_format *format)
{
    const int64_t bits = format->width - (dti_format_is_signed(format) ? 1 : 0);
    return bits > 2 ? bits - 2 : 0;
}

static int64_t normal_scale(const struct dti_format *src, const struct dti_format *dst)
{
    int64_t scale = 0;
    if (dti_format_is_integer(src))
        scale = quarter(src);
    if (dti_format_is_integer(dst) && (!dti_format_is_integer(src) || quarter(dst) < scale))
        scale = quarter(dst);
    return scale;
}

/* The exponent of the smallest requested normal. */
static int64_t subnormal_scale(const struct dti_format *src, const struct dti_format *dst)
{
    if (!dti_format_is_float(src))
        return normal_scale(src, dst);
    const int32_t own = dti_format_min_exponent(src);
    if (!dti_format_is_float(dst) || dti_format_min_exponent(dst) < own)
        return own;
    return dti_format_min_exponent(dst);
}

void dti_bench_data_fill(void *array, size_t n, const struct dti_format *src,
                         const struct dti_format *dst, enum dti_bench_data data, uint64_t seed)
{
    struct source source = {.src = src, .data = data, .random = seed};
    if (data == DTI_BENCH_NORMAL || data == DTI_BENCH_NAN1)
        source.scale = normal_scale(src, dst);
    else if (data == DTI_BENCH_SUBNORMAL)
        source.scale = subnormal_scale(src, dst);
    for (size_t i = 0; i < n; i++)
        dti_storage_put(src, &packed, array, i, next_code(&source));
}

/* Operands. */

bool dti_operands_are_scaled(enum dti_dtype dtype)
{
    const struct dti_format *const format = dti_format_get(dtype);
    return dti_format_is_integer(format) || format->width <= 8;
}

static bool recipe_of(struct dti_affine_recipe *ret, enum dti_dtype dtype)
{
    return dti_operands_are_scaled(dtype) &&
           dti_affine_recipe_init(ret, dti_format_get(dtype), DTI_SYMMETRY_FULL);
}

float dti_operand_scale(enum dti_dtype dtype, float amax)
{
    struct dti_affine_recipe recipe;
    struct dti_affine_scale scale;
    float number;
    if (!recipe_of(&recipe, dtype))
        return 1;
    dti_affine_choose(&recipe, dti_operand_bits(-amax), dti_operand_bits(amax), &scale);
    memcpy(&number, &scale.scale, sizeof number);
    return number;
}

static uint64_t rounded(const struct dti_format *format, const struct dti_value *value)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    dti_encode(format, value, &nearest, 0, &outcome);
    return outcome.code;
}

void dti_operand_codes(void *codes, enum dti_dtype dtype, float scale, const float *numbers,
                       size_t n)
{
    const struct dti_format *const format = dti_format_get(dtype);
    const struct dti_affine_scale affine_scale = {.scale = dti_operand_bits(scale)};
    struct dti_affine_recipe recipe;
    const bool scaled = recipe_of(&recipe, dtype);
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = dti_operand_bits(numbers[i]);
        struct dti_quantized_number quantized;
        struct dti_value value;
        if (scaled)
            dti_affine_quantize(&recipe.affine, &affine_scale, bits, &quantized);
        else
            dti_decode(dti_format_get(DTI_FP32), bits, &value);
        dti_storage_put(format, &packed, codes, i,
                        scaled ? quantized.code : rounded(format, &value));
    }
}

static void value_at(const struct dti_bench_operand *from, uint64_t i, struct dti_value *ret)
{
    const unsigned width = from->format.width;
    const uint64_t code = width <= 8    ? ((const uint8_t *)from->codes)[i]
                          : width <= 16 ? ((const uint16_t *)from->codes)[i]
                          : width <= 32 ? ((const uint32_t *)from->codes)[i]
                                        : ((const uint64_t *)from->codes)[i];
    dti_decode(&from->format, code, ret);
}

static float single_at(const struct dti_bench_operand *from, uint64_t i)
{
    struct dti_value value;
    float number;
    value_at(from, i, &value);
    const uint32_t code = (uint32_t)rounded(dti_format_get(DTI_FP32), &value);
    memcpy(&number, &code, sizeof number);
    return number;
}

double dti_operand_at(const struct dti_bench_operand *from, uint64_t i)
{
    struct dti_value value;
    value_at(from, i, &value);
    return dti_fp64_from_value(&value);
}

bool dti_bench_operand_measure(struct dti_bench_operand *operand, uint64_t *ret_at)
{
    const uint64_t n = operand->rows * operand->columns;
    operand->amax = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double magnitude = fabs(dti_operand_at(operand, i));
        *ret_at = i;
        if (!isfinite(magnitude))
            return false;
        operand->amax = magnitude > operand->amax ? magnitude : operand->amax;
    }
    return true;
}

static double max_of(enum dti_dtype dtype)
{
    const struct dti_format *const format = dti_format_get(dtype);
    struct dti_value value;
    uint64_t code = 0;
    (void)dti_code_max(format, &code);
    dti_decode(format, code, &value);
    return dti_fp64_from_value(&value);
}

const char *dti_bench_operands_overflow(const struct dti_bench_operand operands[2],
                                        enum dti_dtype dtype)
{
    const double a = operands[0].amax, b = operands[1].amax;
    const enum dti_dtype sums = dtype == DTI_FP64 ? DTI_FP64 : DTI_FP32;
    if ((a > b ? a : b) > max_of(dti_operands_are_scaled(dtype) ? DTI_FP32 : dtype))
        return "an operand is beyond its range";
    return a * b * (double)operands[0].columns > max_of(sums) / 2 ? "sums of products may overflow"
                                                                  : NULL;
}

float dti_operand_amax(const struct dti_bench_operand *from)
{
    float amax = 0;
    for (uint64_t i = 0; i < from->rows * from->columns; i++) {
        const float magnitude = fabsf(single_at(from, i));
        amax = magnitude > amax ? magnitude : amax;
    }
    return amax;
}

void dti_operand_load(void *codes, enum dti_dtype dtype, float scale,
                      const struct dti_bench_operand *from)
{
    enum { AT_ONCE = 256 };
    const struct dti_format *const format = dti_format_get(dtype);
    const uint64_t n = from->rows * from->columns;
    for (uint64_t i = 0; i < n && !dti_operands_are_scaled(dtype); i++) {
        struct dti_value value;
        value_at(from, i, &value);
        dti_storage_put(format, &packed, codes, i, rounded(format, &value));
    }
    for (uint64_t i = 0; i < n && dti_operands_are_scaled(dtype); i += AT_ONCE) {
        float numbers[AT_ONCE];
        const size_t count = n - i < AT_ONCE ? (size_t)(n - i) : AT_ONCE;
        for (size_t j = 0; j < count; j++)
            numbers[j] = single_at(from, i + j);
        dti_operand_codes((unsigned char *)codes + i * dti_format_container(format), dtype, scale,
                          numbers, count);
    }
}

double dti_operand_number(enum dti_dtype dtype, const void *array, uint64_t i)
{
    const struct dti_format *const format = dti_format_get(dtype);
    struct dti_value value;
    float single;
    if (dtype == DTI_FP32 || dtype == DTI_TF32) { /* the most common dtypes */
        memcpy(&single, (const unsigned char *)array + i * sizeof single, sizeof single);
        return (double)single;
    }
    dti_decode(format, dti_storage_get(format, &packed, array, i), &value);
    return dti_fp64_from_value(&value);
}

void dti_total_error_add(struct dti_total_error *error, double got, double exact)
{
    struct dti_bench_total *const total = &error->total;
    const double off = fabs(got - exact);
    error->errors += off;
    error->squares += off * off;
    error->exact_squares += exact * exact;
    if (total->elements == 0 || off > total->largest) {
        total->largest = off;
        total->got = got;
        total->exact = exact;
    }
    total->elements++;
}

void dti_total_error_end(const struct dti_total_error *error, struct dti_bench_total *ret)
{
    *ret = error->total;
    ret->mean = ret->elements > 0 ? error->errors / (double)ret->elements : 0;
    ret->relative =
        error->exact_squares > 0 ? sqrt(error->squares / error->exact_squares) : (double)NAN;
    ret->sqnr = error->squares > 0 ? -20 * dti_log10(ret->relative) : (double)INFINITY;
    if (ret->elements < 2)
        ret->sqnr = (double)NAN;
}
