/* SPDX-License-Identifier: MIT
 *
 * The distributions of data, made by integer arithmetic and dti_encode(): a seed gives the same
 * codes everywhere. */
#include "bench/measure/splitmix.h"
#include "dtinfo/bench_table.h"

struct source {
    const struct dti_format *src;
    enum dti_bench_data data;
    int64_t scale; /* numbers are multiplied by 2^this */
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
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    struct source source = {.src = src, .data = data, .random = seed};
    if (data == DTI_BENCH_NORMAL || data == DTI_BENCH_NAN1)
        source.scale = normal_scale(src, dst);
    else if (data == DTI_BENCH_SUBNORMAL)
        source.scale = subnormal_scale(src, dst);
    for (size_t i = 0; i < n; i++)
        dti_storage_put(src, &layout, array, i, next_code(&source));
}
