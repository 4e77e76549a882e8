/* SPDX-License-Identifier: MIT
 *
 * Portable dot products: as many parallel sums as fill the registers of most machines, so the
 * compiler can vectorize without reordering. */
#include "core/dtype/storage.h"
#include "kernels/fp64.h"
#include "kernels/fused.h"
#include "kernels/math/dot_kernels.h"

enum { SUMS_F32 = 32, SUMS_F64 = 16, BLOCK_I8 = 1 << 16 };

DTI_LANE float fp32_at(const unsigned char *from, size_t i)
{
    float number;
    memcpy(&number, from + 4 * i, sizeof number);
    return number;
}

DTI_LANE double fp64_at(const unsigned char *from, size_t i)
{
    double number;
    memcpy(&number, from + 8 * i, sizeof number);
    return number;
}

DTI_LANE float bf16_at(const unsigned char *from, size_t i)
{
    uint16_t code;
    float number;
    memcpy(&code, from + 2 * i, sizeof code);
    const uint32_t bits = (uint32_t)code << 16;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The fp16 bits are shifted into fp32's position; a factor of 2^112 corrects the exponent bias,
 * also for subnormals. Infinities and NaNs then have the exponent 16, which is replaced by the
 * highest. */
DTI_LANE float fp16_at(const unsigned char *from, size_t i)
{
    uint16_t code;
    float number;
    memcpy(&code, from + 2 * i, sizeof code);
    const uint32_t magnitude = (uint32_t)(code & 0x7fff) << 13, sign = (uint32_t)(code & 0x8000);
    memcpy(&number, &magnitude, sizeof number);
    number *= 0x1p112F;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits |= magnitude >= UINT32_C(0x7c00) << 13 ? UINT32_C(0x7f800000) : 0;
    bits |= sign << 16;
    memcpy(&number, &bits, sizeof number);
    return number;
}

typedef float fp32_of_fn(const unsigned char *from, size_t i);

DTI_LANE double dot_f32(const unsigned char *a, const unsigned char *b, size_t n, fp32_of_fn *at)
{
    float sum[SUMS_F32] = {0};
    size_t i = 0;
    for (; n - i >= SUMS_F32; i += SUMS_F32) {
        for (size_t j = 0; j < SUMS_F32; j++)
            sum[j] = dti_lane_fma_f32(at(a, i + j), at(b, i + j), sum[j]);
    }
    for (size_t j = 0; i + j < n; j++)
        sum[j] = dti_lane_fma_f32(at(a, i + j), at(b, i + j), sum[j]);
    return dti_dot_fold_f32(sum, SUMS_F32);
}

double dti_dot_fp32_scalar(const void *a, const void *b, size_t n)
{
    return dot_f32(a, b, n, fp32_at);
}

double dti_dot_fp16_scalar(const void *a, const void *b, size_t n)
{
    return dot_f32(a, b, n, fp16_at);
}

double dti_dot_bf16_scalar(const void *a, const void *b, size_t n)
{
    return dot_f32(a, b, n, bf16_at);
}

double dti_dot_fp64_scalar(const void *a, const void *b, size_t n)
{
    double sum[SUMS_F64] = {0};
    size_t i = 0;
    for (; n - i >= SUMS_F64; i += SUMS_F64) {
        for (size_t j = 0; j < SUMS_F64; j++)
            sum[j] = dti_lane_fma_f64(fp64_at(a, i + j), fp64_at(b, i + j), sum[j]);
    }
    for (size_t j = 0; i + j < n; j++)
        sum[j] = dti_lane_fma_f64(fp64_at(a, i + j), fp64_at(b, i + j), sum[j]);
    return dti_dot_fold_f64(sum, SUMS_F64);
}

/* Sums at most 2^16 products, which fit in 31 bits. */
DTI_LANE int32_t dot_block_i8(const unsigned char *a, const unsigned char *b, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (int8_t)a[i] * (int8_t)b[i];
    return sum;
}

static int64_t dot_i8(const unsigned char *a, const unsigned char *b, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i += BLOCK_I8)
        sum += dot_block_i8(a + i, b + i, n - i < BLOCK_I8 ? n - i : BLOCK_I8);
    return sum;
}

double dti_dot_int8_scalar(const void *a, const void *b, size_t n)
{
    return (double)dot_i8(a, b, n);
}

/* Products of fp32 and narrower are exact in fp64; for fp64 the rounding error of a product is
 * itself an fp64 number, unless it is too small. */
void dti_dot_exact(struct dti_exact_sum *sum, enum dti_dtype dtype, const void *a, const void *b,
                   size_t n)
{
    if (dtype == DTI_INT8) {
        dti_exact_sum_add(sum, (double)dot_i8(a, b, n));
        return;
    }
    fp32_of_fn *const at = dtype == DTI_FP16 ? fp16_at : dtype == DTI_BF16 ? bf16_at : fp32_at;
    for (size_t i = 0; i < n; i++) {
        if (dtype == DTI_FP64) {
            const double x = fp64_at(a, i), y = fp64_at(b, i), product = dti_fp64_multiply(x, y);
            dti_exact_sum_add(sum, product);
            if (isfinite(product))
                dti_exact_sum_add(sum, dti_fma(x, y, -product));
        } else {
            dti_exact_sum_add(sum, dti_fp64_multiply(at(a, i), at(b, i)));
        }
    }
}
