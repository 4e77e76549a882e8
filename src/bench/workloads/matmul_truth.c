/* SPDX-License-Identifier: MIT
 *
 * What is lost in all by a product of matrices in a dtype: beside the product of the fp32 numbers
 * that they were made of, of which some rows are computed in fp64. Products of fp32 numbers are
 * exact there, and what their sums lose is far below what fp32 can hold. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/splitmix.h"
#include "bench/workloads/matmul_parts.h"

/* As many rows as need no more multiplications and no more memory. */
#define TERMS_MOST    (UINT64_C(1) << 27)
#define ELEMENTS_MOST (UINT64_C(1) << 22)

struct dti_matmul_truth {
    uint64_t m, n, k, rows;
    double *product; /* rows x n */
};

static uint64_t row_at(const struct dti_matmul_truth *truth, uint64_t i)
{
    return truth->rows < truth->m ? i * (truth->m / truth->rows) : i;
}

/* The rows of A that are looked at, one after the other. */
static void make_rows(const struct dti_matmul_truth *truth, float *a, float *skipped,
                      const float *pool, uint64_t random)
{
    for (uint64_t i = 0; i < truth->k; i++)
        (void)dti_splitmix(&random);
    for (uint64_t row = 0, i = 0; row < truth->m && i < truth->rows; row++) {
        const bool wanted = row == row_at(truth, i);
        dti_matrix_row(wanted ? a + i * truth->k : skipped, truth->k, pool, sizeof *a, &random);
        i += wanted;
    }
}

static void multiply(const struct dti_matmul_truth *truth, const float *a, float *b,
                     const float *pool, uint64_t random)
{
    for (uint64_t at = 0; at < truth->k; at++) {
        dti_matrix_row(b, truth->n, pool, sizeof *b, &random);
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

enum dti_status dti_matmul_truth_new(struct dti_matmul_truth **ret, uint64_t m, uint64_t n,
                                     uint64_t k, uint64_t seed, struct dti_error *reterr)
{
    float *pool = NULL, *a = NULL, *b = NULL;
    struct dti_matmul_truth *const truth = calloc(1, sizeof *truth);
    if (!truth)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    *truth = (struct dti_matmul_truth){.m = m, .n = n, .k = k};
    truth->rows = least(m, least(TERMS_MOST / n / k, ELEMENTS_MOST / n));
    truth->rows = truth->rows > 0 ? truth->rows : 1;
    enum dti_status status = dti_matrix_pool_new(&pool, seed, reterr);
    /* n and k are sizes of matrices that there are; rows x n and rows x k not above these */
    a = malloc((size_t)((truth->rows + 1) * k) * sizeof *a);
    b = malloc((size_t)n * sizeof *b);
    truth->product = calloc((size_t)(truth->rows * n), sizeof *truth->product);
    if (status == DTI_OK && !(a && b && truth->product))
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK) {
        make_rows(truth, a, a + truth->rows * k, pool, seed);
        multiply(truth, a, b, pool, seed);
        *ret = truth;
    } else {
        dti_matmul_truth_free(truth);
    }
    free(pool);
    free(a);
    free(b);
    return status;
}

void dti_matmul_truth_free(struct dti_matmul_truth *truth)
{
    if (!truth)
        return;
    free(truth->product);
    free(truth);
}

/* An element as it is used: of integers times the scales, in fp32. */
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
        const uint64_t row = row_at(truth, i) * truth->n;
        for (uint64_t j = 0; j < truth->n; j++)
            dti_total_error_add(&error, result_at(matrices, memory + matrices->c_at, row + j),
                                truth->product[i * truth->n + j]);
    }
    dti_total_error_end(&error, &item->total);
    if (dti_operands_are_scaled(matrices->dtype))
        memcpy(item->scales, matrices->scales, sizeof item->scales);
}
