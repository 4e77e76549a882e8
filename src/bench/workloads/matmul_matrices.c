/* SPDX-License-Identifier: MIT
 *
 * Matrices to multiply, random or given by the user, cast once to the measured dtype; their
 * exact product, and the product of the numbers they were made from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/splitmix.h"
#include "bench/workloads/matmul_matrices.h"
#include "kernels/exact_sum.h"
#include "kernels/fused.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    PAGE = 4096,
    JUDGED = 256,           /* elements checked per product, plus its corners, */
    JUDGED_TERMS = 1 << 22, /* within this limit on the number of terms */
};

static bool matrix_bytes(uint64_t rows, uint64_t columns, size_t element, uint64_t *ret)
{
    uint64_t count;
    return dti_mul_u64(rows, columns, &count) && dti_mul_u64(count, element, ret) &&
           *ret <= SIZE_MAX / 8;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

enum dti_status dti_matrices_init(struct dti_matrices *ret, enum dti_dtype dtype, uint64_t m,
                                  uint64_t n, uint64_t k, struct dti_error *reterr)
{
    struct dti_matrices matrices = {.dtype = dtype, .m = m, .n = n, .k = k, .scales = {1, 1}};
    matrices.result = dtype == DTI_FP64 ? DTI_FP64 : dtype == DTI_INT8 ? DTI_INT32 : DTI_FP32;
    matrices.element = dti_format_container(dti_format_get(dtype));
    matrices.result_element = dti_format_container(dti_format_get(matrices.result));
    if (!matrix_bytes(m, k, matrices.element, &matrices.a_bytes) ||
        !matrix_bytes(k, n, matrices.element, &matrices.b_bytes) ||
        !matrix_bytes(m, n, matrices.result_element, &matrices.c_bytes))
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "matrices of %llux%llu and %llux%llu exceed the address space",
                        (unsigned long long)m, (unsigned long long)k, (unsigned long long)k,
                        (unsigned long long)n);
    matrices.a_at = round_up(matrices.b_bytes);
    matrices.c_at = matrices.a_at + round_up(matrices.a_bytes);
    matrices.bytes = matrices.c_at + round_up(matrices.c_bytes);
    *ret = matrices;
    return DTI_OK;
}

enum dti_status dti_matrix_pool_new(float **ret, uint64_t seed, struct dti_error *reterr)
{
    const struct dti_format *const format = dti_format_get(DTI_FP32);
    float *const pool = dti_calloc(DTI_MATRIX_POOL, sizeof *pool);
    if (!pool)
        return dti_no_memory(reterr);
    dti_bench_data_fill(pool, DTI_MATRIX_POOL, format, format, DTI_BENCH_NORMAL, seed);
    *ret = pool;
    return DTI_OK;
}

/* Writes a row of n elements from a pool; *random is the seed before the first row of B. The
 * rows of B come before those of A. */
static void put_row(void *row, uint64_t n, const void *pool, size_t element, uint64_t *random)
{
    size_t from = (size_t)(dti_splitmix(random) % DTI_MATRIX_POOL);
    for (uint64_t done = 0; done < n;) {
        const uint64_t left = n - done;
        const size_t count = left < DTI_MATRIX_POOL - from ? (size_t)left : DTI_MATRIX_POOL - from;
        memcpy((unsigned char *)row + done * element, (const unsigned char *)pool + from * element,
               count * element);
        done += count;
        from = 0;
    }
}

/* The largest magnitude in a matrix whose row offsets come from `random`. */
static float amax_of(uint64_t rows, uint64_t n, const float *pool, uint64_t random)
{
    float amax = 0;
    for (uint64_t row = 0; row < rows; row++) {
        const size_t from = (size_t)(dti_splitmix(&random) % DTI_MATRIX_POOL);
        for (uint64_t i = 0; i < n && i < DTI_MATRIX_POOL; i++) {
            const float number = fabsf(pool[(from + i) % DTI_MATRIX_POOL]);
            amax = number > amax ? number : amax;
        }
    }
    return amax;
}

/* Fills a matrix with encoded numbers from the pool. */
static enum dti_status fill_matrix(const struct dti_matrices *matrices, unsigned char *matrix,
                                   uint64_t rows, uint64_t n, const float *pool, float *ret_scale,
                                   uint64_t *random, struct dti_error *reterr)
{
    const size_t element = matrices->element;
    unsigned char *const codes = dti_calloc(DTI_MATRIX_POOL, element);
    if (!codes)
        return dti_no_memory(reterr);
    if (dti_operands_are_scaled(matrices->dtype))
        *ret_scale = dti_operand_scale(matrices->dtype, amax_of(rows, n, pool, *random));
    dti_operand_codes(codes, matrices->dtype, *ret_scale, pool, DTI_MATRIX_POOL);
    for (uint64_t row = 0; row < rows; row++)
        put_row(matrix + row * n * element, n, codes, element, random);
    dti_free(codes);
    return DTI_OK;
}

enum dti_status dti_matrices_fill(struct dti_matrices *matrices, unsigned char *memory,
                                  uint64_t seed, struct dti_error *reterr)
{
    uint64_t random = seed;
    float *pool;
    enum dti_status status = dti_matrix_pool_new(&pool, seed, reterr);
    if (status != DTI_OK)
        return status;
    status = fill_matrix(matrices, memory, matrices->k, matrices->n, pool, &matrices->scales[1],
                         &random, reterr);
    if (status == DTI_OK)
        status = fill_matrix(matrices, memory + matrices->a_at, matrices->m, matrices->k, pool,
                             &matrices->scales[0], &random, reterr);
    dti_free(pool);
    return status;
}

/* An exact element, and the sum of the magnitudes of its terms. A product of doubles is split
 * into two doubles; products of narrower dtypes are exact. */
static double exact_element(const struct dti_matrices *matrices, const unsigned char *memory,
                            uint64_t row, uint64_t column, double *ret_magnitudes)
{
    const unsigned char *a = memory + matrices->a_at + row * matrices->k * matrices->element;
    const unsigned char *b = memory + column * matrices->element;
    struct dti_exact_sum sum;
    double magnitudes = 0;
    dti_exact_sum_init(&sum);
    for (uint64_t i = 0; i < matrices->k; i++) {
        const double x = dti_operand_number(matrices->dtype, a, 0),
                     y = dti_operand_number(matrices->dtype, b, 0);
        const double product = x * y;
        dti_exact_sum_add(&sum, product);
        if (matrices->dtype == DTI_FP64)
            dti_exact_sum_add(&sum, dti_fma(x, y, -product));
        magnitudes += fabs(product);
        a += matrices->element;
        b += matrices->n * matrices->element;
    }
    *ret_magnitudes = magnitudes;
    return dti_exact_sum_value(&sum);
}

/* The rounding error bound, relative to the sum of magnitudes: each term is rounded once in its
 * product and at most once for each addition, in any order (Higham, Accuracy and Stability of
 * Numerical Algorithms, 3.1), with room for second-order terms. */
static double allowed(const struct dti_matrices *matrices, bool on_device)
{
    if (matrices->dtype == DTI_INT8)
        return 0;
    if (matrices->dtype == DTI_FP8_E4M3FN) /* 14-bit sums, over 32 terms at a time */
        return ((double)matrices->k / 32 + 4) * 0x1p-13;
    const double unit = matrices->result == DTI_FP64 ? 0x1p-53 : 0x1p-24;
    const double allowed = ((double)matrices->k + 16) * unit * 1.01;
    /* tensor cores truncate below the last place of the largest of a few terms */
    return on_device && matrices->result != DTI_FP64 ? 4 * allowed : allowed;
}

/* int8: a whole number, wrapped modulo 2^32. */
static double wrapped(double exact)
{
    const uint32_t low = (uint32_t)(int64_t)exact;
    return low < UINT32_C(1) << 31 ? (double)low : (double)low - 0x1p32;
}

static void judge_element(struct dti_matmul_errors *ret, const struct dti_matrices *matrices,
                          const unsigned char *memory, bool on_device, uint64_t row,
                          uint64_t column)
{
    double magnitudes;
    double exact = exact_element(matrices, memory, row, column, &magnitudes);
    if (matrices->dtype == DTI_INT8) { /* scales are applied later */
        exact = wrapped(exact);
    } else {
        exact *= (double)matrices->scales[0] * (double)matrices->scales[1];
        magnitudes *= (double)matrices->scales[0] * (double)matrices->scales[1];
    }
    const double got =
        dti_operand_number(matrices->result, memory + matrices->c_at, row * matrices->n + column);
    const double error = fabs(got - exact), relative = magnitudes > 0 ? error / magnitudes : error;
    const double bound = allowed(matrices, on_device) * magnitudes + matrices->lost;
    const bool wrong =
        !(relative <= allowed(matrices, on_device) || error <= bound); /* also true for a NaN */
    if (ret->wrong || (!wrong && relative < ret->relative))
        return;
    *ret = (struct dti_matmul_errors){.got = got,
                                      .exact = exact,
                                      .error = error,
                                      .relative = relative,
                                      .row = row,
                                      .column = column,
                                      .wrong = wrong};
}

void dti_matrices_judge(struct dti_matmul_errors *ret, const struct dti_matrices *matrices,
                        const unsigned char *memory, bool on_device, uint64_t seed)
{
    const uint64_t m = matrices->m, n = matrices->n;
    uint64_t random = seed;
    *ret = (struct dti_matmul_errors){.relative = 0};
    judge_element(ret, matrices, memory, on_device, 0, 0);
    if (m == 1 && n == 1)
        return;
    judge_element(ret, matrices, memory, on_device, m - 1, n - 1);
    judge_element(ret, matrices, memory, on_device, 0, n - 1);
    judge_element(ret, matrices, memory, on_device, m - 1, 0);
    for (uint64_t i = 0; i < JUDGED && i < JUDGED_TERMS / matrices->k; i++) {
        const uint64_t row = dti_splitmix(&random) % m;
        judge_element(ret, matrices, memory, on_device, row, dti_splitmix(&random) % n);
    }
}

/* The total error: relative to the product of the original fp32 numbers, some rows of which are
 * computed in fp64. Products of fp32 numbers are exact in fp64, and the errors of their sums are
 * far below fp32 precision. */

/* The number of rows to check, within the limits on multiplications and memory. */
#define TERMS_MOST    (UINT64_C(1) << 27)
#define ELEMENTS_MOST (UINT64_C(1) << 22)

/* The matrix row that checked row i stands for. */
static uint64_t truth_row(const struct dti_matmul_truth *truth, uint64_t i)
{
    return truth->rows < truth->m ? i * (truth->m / truth->rows) : i;
}

/* Copies the checked rows of A, one after the other. */
static void make_rows(const struct dti_matmul_truth *truth, float *a, float *skipped,
                      const float *pool, uint64_t random)
{
    for (uint64_t i = 0; i < truth->k; i++)
        (void)dti_splitmix(&random);
    for (uint64_t row = 0, i = 0; row < truth->m && i < truth->rows; row++) {
        const bool wanted = row == truth_row(truth, i);
        put_row(wanted ? a + i * truth->k : skipped, truth->k, pool, sizeof *a, &random);
        i += wanted;
    }
}

static void multiply(const struct dti_matmul_truth *truth, const float *a, float *b,
                     const float *pool, uint64_t random)
{
    for (uint64_t at = 0; at < truth->k; at++) {
        put_row(b, truth->n, pool, sizeof *b, &random);
        for (uint64_t i = 0; i < truth->rows; i++) {
            double *const restrict sums = truth->product + i * truth->n;
            const double factor = (double)a[i * truth->k + at];
            for (uint64_t j = 0; j < truth->n; j++)
                sums[j] += factor * (double)b[j];
        }
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Allocates a zeroed product. */
static enum dti_status truth_alloc(struct dti_matmul_truth **ret, uint64_t m, uint64_t n,
                                   uint64_t k, struct dti_error *reterr)
{
    struct dti_matmul_truth *const truth = dti_calloc(1, sizeof *truth);
    if (!truth)
        return dti_no_memory(reterr);
    *truth = (struct dti_matmul_truth){.m = m, .n = n, .k = k};
    truth->rows = least(m, least(TERMS_MOST / n / k, ELEMENTS_MOST / n));
    truth->rows = truth->rows > 0 ? truth->rows : 1;
    truth->product = dti_calloc((size_t)(truth->rows * n), sizeof *truth->product);
    if (!truth->product) {
        dti_free(truth);
        return dti_no_memory(reterr);
    }
    *ret = truth;
    return DTI_OK;
}

enum dti_status dti_matmul_truth_new(struct dti_matmul_truth **ret, uint64_t m, uint64_t n,
                                     uint64_t k, uint64_t seed, struct dti_error *reterr)
{
    float *pool = NULL, *a = NULL, *b = NULL;
    struct dti_matmul_truth *truth;
    enum dti_status status = truth_alloc(&truth, m, n, k, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_matrix_pool_new(&pool, seed, reterr);
    /* no overflow: n and k are sizes of existing matrices, and rows x n and rows x k do not
     * exceed those */
    a = dti_malloc((size_t)((truth->rows + 1) * k) * sizeof *a);
    b = dti_malloc((size_t)n * sizeof *b);
    if (status == DTI_OK && !(a && b))
        status = dti_no_memory(reterr);
    if (status == DTI_OK) {
        make_rows(truth, a, a + truth->rows * k, pool, seed);
        multiply(truth, a, b, pool, seed);
        *ret = truth;
    } else {
        dti_matmul_truth_free(truth);
    }
    dti_free(pool);
    dti_free(a);
    dti_free(b);
    return status;
}

void dti_matmul_truth_free(struct dti_matmul_truth *truth)
{
    if (!truth)
        return;
    dti_free(truth->product);
    dti_free(truth);
}

/* The value of an element of C; for integers multiplied by the scales, in fp32. */
static double result_at(const struct dti_matrices *matrices, const unsigned char *c, uint64_t i)
{
    const double number = dti_operand_number(matrices->result, c, i);
    return matrices->result == DTI_INT32
               ? (double)((float)number * (matrices->scales[0] * matrices->scales[1]))
               : number;
}

void dti_matmul_truth_compare(const struct dti_matmul_truth *truth, struct dti_bench_item *item,
                              const struct dti_matrices *matrices, const unsigned char *memory)
{
    struct dti_total_error error = {.squares = 0};
    if (matrices->result == DTI_FP64)
        return;
    for (uint64_t i = 0; i < truth->rows; i++) {
        const uint64_t row = truth_row(truth, i) * truth->n;
        for (uint64_t j = 0; j < truth->n; j++)
            dti_total_error_add(&error, result_at(matrices, memory + matrices->c_at, row + j),
                                truth->product[i * truth->n + j]);
    }
    dti_total_error_end(&error, &item->total);
    if (dti_operands_are_scaled(matrices->dtype))
        memcpy(item->scales, matrices->scales, sizeof item->scales);
}

enum dti_status dti_matmul_judge(struct dti_bench_item *item, const struct dti_matrices *matrices,
                                 const unsigned char *memory, const struct dti_matmul_truth *truth,
                                 const struct dti_bench_request *request, enum dti_status wrong,
                                 struct dti_error *reterr)
{
    struct dti_matmul_errors errors;
    dti_matrices_judge(&errors, matrices, memory, request->gpu, request->seed);
    if (errors.wrong)
        return dti_fail(reterr, wrong, "the product of %s matrices by %s is wrong at %llu,%llu",
                        item->dtype, item->engine, (unsigned long long)errors.row,
                        (unsigned long long)errors.column);
    item->has_sum = true;
    item->sum = errors.got;
    item->exact = errors.exact;
    item->error = errors.error;
    item->relative_error = errors.relative;
    dti_matmul_truth_compare(truth, item, matrices, memory);
    return DTI_OK;
}

/* The error from underflow: a product or sum below the normal numbers of the result loses up to
 * one smallest normal, and so does a factor where subnormals are flushed to zero. */
static double lost(const struct dti_matrices *matrices, const struct dti_bench_operand *operands)
{
    const double least = matrices->result == DTI_FP64 ? 0x1p-1022 : 0x1p-126;
    return matrices->result == DTI_INT32
               ? 0
               : (double)matrices->k * least * (1 + operands[0].amax + operands[1].amax);
}

enum dti_status dti_matrices_load(struct dti_matrices *matrices, unsigned char *memory,
                                  const struct dti_bench_request *request, struct dti_error *reterr)
{
    const struct dti_bench_operand *const operands = request->operands;
    const uint64_t at[] = {matrices->a_at, 0};
    if (!operands)
        return dti_matrices_fill(matrices, memory, request->seed, reterr);
    for (size_t i = 0; i < 2; i++) {
        if (dti_operands_are_scaled(matrices->dtype))
            matrices->scales[i] =
                dti_operand_scale(matrices->dtype, dti_operand_amax(&operands[i]));
        dti_operand_load(memory + at[i], matrices->dtype, matrices->scales[i], &operands[i]);
    }
    matrices->lost = lost(matrices, operands);
    return DTI_OK;
}

static void multiply_operands(const struct dti_matmul_truth *truth,
                              const struct dti_bench_operand *operands, double *b)
{
    for (uint64_t at = 0; at < truth->k; at++) {
        for (uint64_t j = 0; j < truth->n; j++)
            b[j] = dti_operand_at(&operands[1], at * truth->n + j);
        for (uint64_t i = 0; i < truth->rows; i++) {
            double *const restrict sums = truth->product + i * truth->n;
            const double factor = dti_operand_at(&operands[0], truth_row(truth, i) * truth->k + at);
            for (uint64_t j = 0; j < truth->n; j++)
                sums[j] += factor * b[j];
        }
    }
}

enum dti_status dti_matmul_truth_of(struct dti_matmul_truth **ret,
                                    const struct dti_bench_request *request,
                                    struct dti_error *reterr)
{
    if (!request->operands)
        return dti_matmul_truth_new(ret, request->m, request->n, request->k, request->seed, reterr);
    double *const b = dti_malloc((size_t)request->n * sizeof *b);
    struct dti_matmul_truth *truth;
    const enum dti_status status =
        b ? truth_alloc(&truth, request->m, request->n, request->k, reterr) : dti_no_memory(reterr);
    if (status == DTI_OK) {
        multiply_operands(truth, request->operands, b);
        *ret = truth;
    }
    dti_free(b);
    return status;
}
