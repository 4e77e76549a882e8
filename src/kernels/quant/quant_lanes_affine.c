/* SPDX-License-Identifier: MIT
 *
 * Portable affine quantization of fp32 arrays, and dequantization, for all codes. Compiled once
 * per level. */
#include "kernels/kernels.h"
#include "kernels/quant/quant_lanes.h"

/* Integers of at most 16 bits are far below this: a quotient of this size is out of their range
 * with any zero point. */
static const float far_away = 0x1p18F;

/* The scales of a piece: one per element, or one for all. */
struct scales {
    float scale[DTI_PIECE], inverse[DTI_PIECE];
    int32_t zero_point[DTI_PIECE];
};

static void take_scales(const struct dti_affine_args *args, size_t at, size_t n, struct scales *ret)
{
    memcpy(ret->scale, args->scales + at, n * sizeof(float));
    memcpy(ret->inverse, args->inverses + at, n * sizeof(float));
    if (args->zero_points) {
        memcpy(ret->zero_point, args->zero_points + at, n * sizeof(int32_t));
        return;
    }
    for (size_t i = 0; i < n; i++)
        ret->zero_point[i] = args->zero_point;
}

/* q = x / s, with the requested kind of division. */
DTI_LANE void divide(const struct dti_affine_args *args, const struct scales *own, const float *x,
                     float *restrict q, size_t n, bool columns)
{
    const float scale = args->scale, inverse = args->inverse;
    switch (args->affine->division) {
    case DTI_DIVIDE_TRUE:
        for (size_t i = 0; i < n; i++)
            q[i] = x[i] / (columns ? own->scale[i] : scale);
        break;
    case DTI_DIVIDE_RECIPROCAL:
        for (size_t i = 0; i < n; i++)
            q[i] = x[i] * (columns ? own->inverse[i] : inverse);
        break;
    case DTI_DIVIDE_EXACT:
        for (size_t i = 0; i < n; i++)
            q[i] = dti_lane_quotient_odd(x[i], (double)(columns ? own->scale[i] : scale));
        break;
    }
}

DTI_LANE uint32_t count_specials(const float *x, size_t n)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += dti_lane_magnitude_f32(x[i]) >= DTI_LANE_INF;
    return count;
}

/* Converts quotients to integers: rounded, offset by the zero point and clamped. NaN becomes the
 * zero point, or code 0. Returns the number of finite numbers that were clamped. */
DTI_LANE uint32_t round_clamped(const struct dti_affine *affine, int32_t zero,
                                const struct scales *own, const float *x, const float *q,
                                uint32_t *restrict codes, size_t n, bool columns)
{
    const int32_t low = affine->low, high = affine->high;
    const uint32_t mask = (uint32_t)dti_low_bits(affine->code.width);
    const bool channel = affine->specials == DTI_QUANT_AS_TORCH_CHANNEL;
    uint32_t clipped = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t z = columns ? own->zero_point[i] : zero;
        const uint32_t finite = dti_lane_magnitude_f32(x[i]) < DTI_LANE_INF;
        const uint32_t nan = dti_lane_magnitude_f32(q[i]) > DTI_LANE_INF;
        float near = nan ? 0 : q[i];
        near = near < -far_away ? -far_away : near;
        near = near > far_away ? far_away : near;
        const int32_t sum = dti_lane_nearest(near) + z;
        int32_t code = sum < low ? low : sum;
        code = code > high ? high : code;
        clipped += finite & (uint32_t)(code != sum);
        code = nan ? (channel ? 0 : z) : code;
        codes[i] = (uint32_t)code & mask;
    }
    return clipped;
}

/* The same as torch.quantize_per_tensor: the quotient becomes an int32, or 2^31 - 128 if it is
 * NaN or too large, and the sum wraps. */
DTI_LANE uint32_t round_wrapped(const struct dti_affine *affine, int32_t zero,
                                const struct scales *own, const float *x, const float *q,
                                uint32_t *restrict codes, size_t n, bool columns)
{
    const float most = 0x1.fffffep30F, least = -0x1p31F;
    const int32_t low = affine->low, high = affine->high;
    const uint32_t mask = (uint32_t)dti_low_bits(affine->code.width);
    uint32_t clipped = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t z = columns ? own->zero_point[i] : zero;
        const uint32_t counts = (uint32_t)(dti_lane_magnitude_f32(x[i]) < DTI_LANE_INF) &
                                (uint32_t)(dti_lane_magnitude_f32(q[i]) <= DTI_LANE_INF);
        float near = q[i] < most ? q[i] : most;
        near = near > least ? near : least;
        const int32_t whole = (int32_t)near; /* truncated */
        const float rest = near - (float)whole;
        const float size = rest < 0 ? -rest : rest;
        const bool up = size > 0.5F || (size >= 0.5F && (whole & 1) != 0);
        const uint32_t away = near < 0 ? UINT32_MAX : 1;
        const uint32_t rounded = (uint32_t)whole + (up ? away : 0);
        const int32_t sum = (int32_t)(rounded + (uint32_t)z);
        const int64_t exact = (int64_t)(int32_t)rounded + z;
        int32_t code = sum < low ? low : sum;
        code = code > high ? high : code;
        clipped += counts & (uint32_t)(code != exact);
        codes[i] = (uint32_t)code & mask;
    }
    return clipped;
}

/* Converts quotients to float codes; NaN becomes 0 in a format without NaN. */
static uint32_t encode(const struct dti_affine_args *args, const float *x, float *q,
                       unsigned char *codes, size_t n)
{
    const struct dti_kernel_args encode_args = {.encoder = args->encoder};
    const uint32_t beyond = dti_lane_beyond(args->encoder);
    const uint32_t keep = dti_format_has_nan(&args->affine->code) ? ~UINT32_C(0) : 0;
    uint32_t clipped = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t finite = dti_lane_magnitude_f32(x[i]) < DTI_LANE_INF;
        const uint32_t bits = dti_lane_bits_f32(q[i]), a = bits & UINT32_C(0x7fffffff);
        clipped += finite & (uint32_t)(a >= beyond) & (uint32_t)(a <= DTI_LANE_INF);
        q[i] = dti_lane_f32(a > DTI_LANE_INF ? bits & keep : bits);
    }
    DTI_LANES_NAME(dti_encode_f32)(&encode_args, codes, q, n);
    return clipped;
}

DTI_LANE void quantize(const struct dti_affine_args *args, unsigned char *codes,
                       const unsigned char *from, size_t n, struct dti_quant_count *count,
                       bool columns)
{
    const struct dti_affine *const affine = args->affine;
    const unsigned container = (unsigned)dti_format_container(&affine->code);
    float x[DTI_PIECE], q[DTI_PIECE];
    uint32_t wide[DTI_PIECE];
    struct scales own;
    for (size_t at = 0; at < n; at += DTI_PIECE) {
        const size_t part = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        memcpy(x, from + 4 * at, 4 * part);
        if (columns)
            take_scales(args, at, part, &own);
        divide(args, &own, x, q, part, columns);
        count->special += count_specials(x, part);
        if (args->encoder) {
            count->clipped += encode(args, x, q, codes + at, part);
            continue;
        }
        if (affine->specials == DTI_QUANT_AS_TORCH)
            count->clipped +=
                round_wrapped(affine, args->zero_point, &own, x, q, wide, part, columns);
        else
            count->clipped +=
                round_clamped(affine, args->zero_point, &own, x, q, wide, part, columns);
        dti_piece_narrow32(codes + container * at, wide, part, container, 0);
    }
}

void DTI_LANES_NAME(dti_quantize_affine)(const struct dti_affine_args *args, void *codes,
                                         const float *x, size_t n, struct dti_quant_count *count)
{
    quantize(args, codes, (const unsigned char *)x, n, count, false);
}

void DTI_LANES_NAME(dti_quantize_columns)(const struct dti_affine_args *args, void *codes,
                                          const float *x, size_t n, struct dti_quant_count *count)
{
    quantize(args, codes, (const unsigned char *)x, n, count, true);
}

/* Integer codes as fp32 numbers, minus the zero point. */
DTI_LANE void subtract(const struct dti_affine_args *args, const struct scales *own,
                       const unsigned char *codes, float *restrict y, size_t n, bool columns)
{
    const struct dti_format *const format = &args->affine->code;
    const uint32_t mask = (uint32_t)dti_low_bits(format->width);
    const uint32_t sign = (uint32_t)dti_format_sign_bit(format);
    const int32_t zero = args->zero_point;
    uint32_t wide[DTI_PIECE];
    dti_piece_widen32(wide, codes, n, (unsigned)dti_format_container(format));
    for (size_t i = 0; i < n; i++) {
        const int32_t code = (int32_t)(((wide[i] & mask) ^ sign) - sign);
        y[i] = (float)(code - (columns ? own->zero_point[i] : zero));
    }
}

DTI_LANE void dequantize(const struct dti_affine_args *args, unsigned char *to,
                         const unsigned char *codes, size_t n, bool columns)
{
    const unsigned container = (unsigned)dti_format_container(&args->affine->code);
    const struct dti_kernel_args decode_args = {.decoder = args->decoder};
    const float scale = args->scale;
    float y[DTI_PIECE];
    struct scales own;
    for (size_t at = 0; at < n; at += DTI_PIECE) {
        const size_t part = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        if (columns)
            take_scales(args, at, part, &own);
        if (args->decoder)
            DTI_LANES_NAME(dti_decode_f32)(&decode_args, y, codes + at, part);
        else
            subtract(args, &own, codes + container * at, y, part, columns);
        for (size_t i = 0; i < part; i++)
            y[i] = dti_lane_plain_nan(y[i] * (columns ? own.scale[i] : scale));
        memcpy(to + 4 * at, y, 4 * part);
    }
}

void DTI_LANES_NAME(dti_dequantize_affine)(const struct dti_affine_args *args, float *x,
                                           const void *codes, size_t n)
{
    dequantize(args, (unsigned char *)x, codes, n, false);
}

void DTI_LANES_NAME(dti_dequantize_columns)(const struct dti_affine_args *args, float *x,
                                            const void *codes, size_t n)
{
    dequantize(args, (unsigned char *)x, codes, n, true);
}
