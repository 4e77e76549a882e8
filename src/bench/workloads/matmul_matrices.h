/* SPDX-License-Identifier: MIT
 *
 * Matrices to multiply, and error bounds for their product. */
#ifndef BENCH_WORKLOADS_MATMUL_MATRICES_H
#define BENCH_WORKLOADS_MATMUL_MATRICES_H

#include "bench/workloads/quantizing.h"

/* Offsets of the matrices in their memory; B comes first. */
struct dti_matrices {
    enum dti_dtype dtype, result; /* of A and B; of C */
    uint64_t m, n, k;
    size_t element, result_element; /* bytes */
    uint64_t a_bytes, b_bytes, c_bytes;
    uint64_t a_at, c_at, bytes; /* offsets; of all three */
    float scales[2];            /* of A and B if they are quantized, else 1 */
    double lost;                /* error that underflow may add; 0 for random numbers */
};
/* Fails with DTI_UNAVAILABLE if they exceed the address space. */
enum dti_status dti_matrices_init(struct dti_matrices *ret, enum dti_dtype dtype, uint64_t m,
                                  uint64_t n, uint64_t k, struct dti_error *reterr);
/* Fills A and B with approximately normal fp32 numbers, the same for every dtype: rounded to it,
 * or quantized with one scale per matrix, which it sets. Fails with DTI_NO_MEMORY. */
enum dti_status dti_matrices_fill(struct dti_matrices *matrices, unsigned char *memory,
                                  uint64_t seed, struct dti_error *reterr);

/* Loads the matrices of a request: its operands, or random ones. */
enum dti_status dti_matrices_load(struct dti_matrices *matrices, unsigned char *memory,
                                  const struct dti_bench_request *request,
                                  struct dti_error *reterr);

/* Matrix rows are slices of a pool of numbers, each at a different offset. */
enum { DTI_MATRIX_POOL = 1 << 16 };
/* Fails with DTI_NO_MEMORY; the caller frees it. */
enum dti_status dti_matrix_pool_new(float **ret, uint64_t seed, struct dti_error *reterr);

/* The error of a product: that of the element with the largest error relative to the sum of the
 * magnitudes of its terms, among a few hundred random elements and the corners. */
struct dti_matmul_errors {
    double got, exact, error, relative;
    uint64_t row, column;
    bool wrong; /* exceeds the rounding error bound; int8: not exact */
};
/* on_device: matrix units may add less accurately than IEEE 754 requires. */
void dti_matrices_judge(struct dti_matmul_errors *ret, const struct dti_matrices *matrices,
                        const unsigned char *memory, bool on_device, uint64_t seed);

/* Some rows of the exact product of the fp32 numbers, in fp64; the reference for matrices made
 * from them. */
struct dti_matmul_truth {
    uint64_t m, n, k, rows;
    double *product; /* rows x n */
};
/* Fails with DTI_NO_MEMORY. */
enum dti_status dti_matmul_truth_new(struct dti_matmul_truth **ret, uint64_t m, uint64_t n,
                                     uint64_t k, uint64_t seed, struct dti_error *reterr);
/* The same for a request, whose operands may have any dtype. */
enum dti_status dti_matmul_truth_of(struct dti_matmul_truth **ret,
                                    const struct dti_bench_request *request,
                                    struct dti_error *reterr);
void dti_matmul_truth_free(struct dti_matmul_truth *truth); /* NULL is fine */
/* Sets the item's total error and scales; does nothing for fp64, because the reference is itself
 * rounded to fp64. */
void dti_matmul_truth_compare(const struct dti_matmul_truth *truth, struct dti_bench_item *item,
                              const struct dti_matrices *matrices, const unsigned char *memory);

/* Compares a product with the exact one and sets the item's figures; fails with `wrong` if it is
 * wrong. */
enum dti_status dti_matmul_judge(struct dti_bench_item *item, const struct dti_matrices *matrices,
                                 const unsigned char *memory, const struct dti_matmul_truth *truth,
                                 const struct dti_bench_request *request, enum dti_status wrong,
                                 struct dti_error *reterr);

#endif
