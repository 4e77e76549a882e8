/* SPDX-License-Identifier: MIT
 *
 * Matrix products with special elements: infinities, subnormals. */
#include "matmul_product.h"

static void put_infinity(unsigned char *at, enum dti_dtype dtype)
{
    const uint64_t fp64 = UINT64_C(0x7ff0000000000000);
    const uint32_t fp32 = 0x7f800000;
    const uint16_t narrow = dtype == DTI_FP16 ? 0x7c00 : 0x7f80;
    const size_t size = bytes_of(dtype);
    memcpy(at, size == 8 ? (const void *)&fp64 : size == 4 ? (const void *)&fp32 : &narrow, size);
}

static double result_at(const struct product *p, size_t at)
{
    double number;
    float single;
    const size_t size = bytes_of(p->kernel->result);
    if (size == sizeof number) {
        memcpy(&number, p->c + at * size, sizeof number);
        return number;
    }
    memcpy(&single, p->c + at * size, sizeof single);
    return (double)single;
}

static bool is_infinite(double number, bool negative)
{
    return negative ? number < -1e300 : number > 1e300;
}

/* An infinity in the first column of B, in its last or second-last row. The zero padding of a step
 * must not be multiplied with it, nor hold stale data. */
static void an_infinity_of_b_stays_in_its_column(void)
{
    enum { N = 3 };
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        const size_t size = bytes_of(kernel->dtype);
        if (kernel->dtype == DTI_INT8 || !may_run(kernel))
            continue;
        for (size_t way = 0; way < 4 * 19; way++) {
            const size_t m = 1 + way % 2, k = 2 + way / 4, row = k - 1 - way / 2 % 2;
            struct product p;
            if (CHECK(product_new(&p, kernel, m, N, k, 1))) {
                put(p.a + row * size, kernel->dtype, 1);
                if (m > 1)
                    put(p.a + (k + row) * size, kernel->dtype, -1);
                put_infinity(p.b + row * N * size, kernel->dtype);
                dti_matmul_run(p.matmul, p.c, p.a, p.b, 0);
                for (size_t at = 0; at < m; at++) {
                    CHECK(is_infinite(result_at(&p, at * N), at > 0));
                    CHECK(result_at(&p, at * N + 1) < 1e6 && result_at(&p, at * N + 1) > -1e6);
                }
            }
            product_free(&p);
        }
    }
}

/* An infinity of A, at each position of a block of k that the next, shorter block does not fill. */
static void an_infinity_of_a_stays_in_its_row(void)
{
    enum { M = 3, N = 5, K = 2051 };
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        const size_t size = bytes_of(kernel->dtype);
        struct product p;
        if (kernel->dtype == DTI_INT8 || !may_run(kernel))
            continue;
        bool right = CHECK(product_new(&p, kernel, M, N, K, 1));
        for (size_t at = 0; at < K && right; at++) {
            unsigned char kept_a[8], kept_b[8];
            memcpy(kept_a, p.a + at * size, size);
            put_infinity(p.a + at * size, kernel->dtype);
            memcpy(kept_b, p.b + at * N * size, size);
            put(p.b + at * N * size, kernel->dtype, 1);
            dti_matmul_run(p.matmul, p.c, p.a, p.b, 0);
            right = CHECK(is_infinite(result_at(&p, 0), false)) &&
                    CHECK(result_at(&p, N) < 1e6 && result_at(&p, N) > -1e6);
            memcpy(p.a + at * size, kept_a, size);
            memcpy(p.b + at * N * size, kept_b, size);
        }
        product_free(&p);
    }
}

/* The instruction is specified to treat subnormal operands as zero, even if the product would be a
 * normal number. */
static void bf16_subnormals_are_zero(void)
{
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        const uint16_t a[2] = {0x0040, 0x0040}, b[2] = {0x7f00, 0x7f00}; /* 2^-127, 2^127 */
        float c[1] = {7};
        struct dti_matmul *matmul = NULL;
        if (kernel->dtype != DTI_BF16 || !may_run(kernel))
            continue;
        if (CHECK(dti_matmul_new(&matmul, kernel, 1, 1, 2, 1, NULL) == DTI_OK)) {
            dti_matmul_run(matmul, c, a, b, 0);
            CHECK(c[0] == 0);
        }
        dti_matmul_free(matmul);
    }
}

/* fp16: subnormals count, and sums may exceed its range. */
static void fp16_is_summed_in_fp32(void)
{
    for (size_t i = 0; i < dti_matmul_kernel_count; i++) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[i];
        /* 2^-24 and 65504, by 2^-24 and by 65504 */
        const uint16_t a[2][2] = {{0x0001, 0x0000}, {0x7bff, 0x7bff}};
        const uint16_t b[2][2] = {{0x0001, 0x7bff}, {0x8001, 0x7bff}};
        float c[4] = {7, 7, 7, 7};
        struct dti_matmul *matmul = NULL;
        if (kernel->dtype != DTI_FP16 || !may_run(kernel))
            continue;
        if (CHECK(dti_matmul_new(&matmul, kernel, 2, 2, 2, 1, NULL) == DTI_OK)) {
            dti_matmul_run(matmul, c, a, b, 0);
            CHECK(c[0] == 0x1p-48F && c[1] == 65504 * 0x1p-24F);
            CHECK(c[2] == 0 && c[3] == 2 * 65504.0F * 65504.0F);
        }
        dti_matmul_free(matmul);
    }
}

UNIT_MAIN(an_infinity_of_b_stays_in_its_column, an_infinity_of_a_stays_in_its_row,
          bf16_subnormals_are_zero, fp16_is_summed_in_fp32)
