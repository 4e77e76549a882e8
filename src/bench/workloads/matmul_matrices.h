/* SPDX-License-Identifier: MIT
 *
 * Matrices to multiply, and how far a product of theirs may be from the exact one. */
#ifndef BENCH_WORKLOADS_MATMUL_MATRICES_H
#define BENCH_WORKLOADS_MATMUL_MATRICES_H

#include "bench/workloads/quantizing.h"

/* Offsets of the matrices of a product in an operand, B first. */
struct dti_matrices {
    enum dti_dtype dtype, result; /* of A and B; of C */
    uint64_t m, n, k;
    size_t element, result_element; /* bytes */
    uint64_t a_bytes, b_bytes, c_bytes;
    uint64_t a_at, c_at, bytes; /* offsets; of all three */
    float scales[2];            /* of A and B if they are quantized; else 1 */
    double lost;                /* what underflow may add to an error; 0 for random numbers */
};
/* Fails with DTI_UNAVAILABLE if they exceed the address space. */
enum dti_status dti_matrices_init(struct dti_matrices *ret, enum dti_dtype dtype, uint64_t m,
                                  uint64_t n, uint64_t k, struct dti_error *reterr);
/* Fills A and B with fp32 numbers that are near to normal, the same for every dtype: rounded to it,
 * or quantized by one scale for each matrix, which it sets. Fails with DTI_NO_MEMORY. */
enum dti_status dti_matrices_fill(struct dti_matrices *matrices, unsigned char *memory,
                                  uint64_t seed, struct dti_error *reterr);

/* The matrices of a request: its operands, or random ones. */
enum dti_status dti_matrices_load(struct dti_matrices *matrices, unsigned char *memory,
                                  const struct dti_bench_request *request,
                                  struct dti_error *reterr);

/* Rows of matrices are pieces of a pool of numbers, each from a different offset. */
enum { DTI_MATRIX_POOL = 1 << 16 };
/* Fails with DTI_NO_MEMORY; free() it. */
enum dti_status dti_matrix_pool_new(float **ret, uint64_t seed, struct dti_error *reterr);

/* The error of a product: the element with the largest error relative to the sum of the magnitudes
 * of its terms, among a few hundred random elements and the corners. */
struct dti_matmul_errors {
    double got, exact, error, relative;
    uint64_t row, column;
    bool wrong; /* exceeds rounding errors; int8: not exact */
};
/* on_device: units that multiply matrices may add up with less care than IEEE 754 asks for. */
void dti_matrices_judge(struct dti_matmul_errors *ret, const struct dti_matrices *matrices,
                        const unsigned char *memory, bool on_device, uint64_t seed);

/* Some rows of the product of the fp32 numbers, in fp64, to compare products of matrices made from
 * them. */
struct dti_matmul_truth {
    uint64_t m, n, k, rows;
    double *product; /* rows x n */
};
/* Fails with DTI_NO_MEMORY. */
enum dti_status dti_matmul_truth_new(struct dti_matmul_truth **ret, uint64_t m, uint64_t n,
                                     uint64_t k, uint64_t seed, struct dti_error *reterr);
/* The same for the matrices of a request, which may have operands of any dtype. */
enum dti_status dti_matmul_truth_of(struct dti_matmul_truth **ret,
                                    const struct dti_bench_request *request,
                                    struct dti_error *reterr);
void dti_matmul_truth_free(struct dti_matmul_truth *truth); /* NULL is fine */
/* Sets the item's total error and scales; nothing for fp64, whose reference is rounded itself.
 */
void dti_matmul_truth_compare(const struct dti_matmul_truth *truth, struct dti_bench_item *item,
                              const struct dti_matrices *matrices, const unsigned char *memory);

/* Compares a product with the exact one: sets the item's figures; fails with `wrong` if it is
 * wrong.
 */
enum dti_status dti_matmul_judge(struct dti_bench_item *item, const struct dti_matrices *matrices,
                                 const unsigned char *memory, const struct dti_matmul_truth *truth,
                                 const struct dti_bench_request *request, enum dti_status wrong,
                                 struct dti_error *reterr);

#endif
