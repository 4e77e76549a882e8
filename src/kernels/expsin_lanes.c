/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of arrays by portable code, of which the compiler makes vectors where it can. Results
 * of a piece are made beside the array, which may be that of the arguments. */
#include "kernels/expsin_far.h"
#include "kernels/expsin_kernels.h"
#include "kernels/lanes_expsin.h"
#include "kernels/lanes_piece.h"

DTI_LANE uint32_t load_half(const unsigned char *at)
{
    uint16_t code;
    memcpy(&code, at, sizeof code);
    return code;
}

DTI_LANE float number_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Arguments beyond the limit, of which there are some. */
static void far_f32(uint32_t *result, const unsigned char *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = dti_lane_load32(src + 4 * i);
        if (dti_lane_expsin_mask_f32(bits))
            continue;
        const float far = (float)dti_expsin_far(number_of(bits));
        memcpy(&result[i], &far, sizeof far);
    }
}

void dti_expsin_fp32_scalar(void *dst, const void *src, size_t n)
{
    const unsigned char *in = src;
    unsigned char *out = dst;
    uint32_t result[DTI_PIECE];
    for (size_t at = 0, count; at < n; at += count) {
        count = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        uint32_t far = 0;
        for (size_t i = 0; i < count; i++) {
            const uint32_t bits = dti_lane_load32(in + 4 * (at + i));
            far |= ~dti_lane_expsin_mask_f32(bits);
            result[i] = dti_lane_expsin_code_f32(bits);
        }
        if (far)
            far_f32(result, in + 4 * at, count);
        memcpy(out + 4 * at, result, 4 * count);
    }
}

void dti_expsin_fp16_scalar(void *dst, const void *src, size_t n)
{
    const unsigned char *in = src;
    unsigned char *out = dst;
    uint16_t result[DTI_PIECE];
    for (size_t at = 0, count; at < n; at += count) {
        count = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        for (size_t i = 0; i < count; i++)
            result[i] = dti_lane_expsin_f16((uint16_t)load_half(in + 2 * (at + i)));
        memcpy(out + 2 * at, result, 2 * count);
    }
}

static void far_bf16(uint16_t *result, const unsigned char *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float x = number_of(load_half(src + 2 * i) << 16);
        if (!dti_lane_expsin_takes(x) && isfinite(x))
            result[i] = dti_lane_round_bf16((float)dti_expsin_far(x));
    }
}

void dti_expsin_bf16_scalar(void *dst, const void *src, size_t n)
{
    const unsigned char *in = src;
    unsigned char *out = dst;
    uint16_t result[DTI_PIECE];
    for (size_t at = 0, count; at < n; at += count) {
        count = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        uint32_t far = 0;
        for (size_t i = 0; i < count; i++) {
            const uint32_t code = load_half(in + 2 * (at + i));
            far |= ~dti_lane_expsin_mask_f32(code << 16);
            result[i] = dti_lane_expsin_bf16((uint16_t)code);
        }
        if (far)
            far_bf16(result, in + 2 * at, count);
        memcpy(out + 2 * at, result, 2 * count);
    }
}

DTI_LANE double load_f64(const unsigned char *at)
{
    double x;
    memcpy(&x, at, sizeof x);
    return x;
}

static void far_f64(double *result, const unsigned char *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double x = load_f64(src + 8 * i);
        if (!dti_lane_expsin_takes(x))
            result[i] = dti_expsin_far(x);
    }
}

void dti_expsin_fp64_scalar(void *dst, const void *src, size_t n)
{
    const unsigned char *in = src;
    unsigned char *out = dst;
    double result[DTI_PIECE];
    for (size_t at = 0, count; at < n; at += count) {
        count = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        uint64_t far = 0;
        for (size_t i = 0; i < count; i++) {
            const double x = load_f64(in + 8 * (at + i));
            far |= dti_lane_expsin_takes(x) ? 0 : 1;
            result[i] = dti_lane_expsin_f64(x);
        }
        if (far)
            far_f64(result, in + 8 * at, count);
        memcpy(out + 8 * at, result, 8 * count);
    }
}
