/* SPDX-License-Identifier: MIT
 *
 * cuBLASLt, NVIDIA's library of matrix products, if installed. Calls run in the caller's thread,
 * where the device's context must be current (dti_gpu_enter()). */
#ifndef BENCH_ENGINES_ENGINE_CUBLASLT_H
#define BENCH_ENGINES_ENGINE_CUBLASLT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "devices/gpu/gpu.h"
#include "util/error.h"

struct dti_cublaslt;

/* Fails with DTI_UNAVAILABLE: "libcublasLt.so.13: not found". */
enum dti_status dti_cublaslt_open(struct dti_cublaslt **ret, struct dti_error *reterr);
void dti_cublaslt_close(struct dti_cublaslt *cublaslt);              /* NULL is fine */
const char *dti_cublaslt_title(const struct dti_cublaslt *cublaslt); /* "cublaslt 13.1.0" */

/* The method for products of a dtype: FP64, FP32, TF32 (in place of fp32), BF16, FP16, INT8 or
 * FP8_E4M3FN; NULL for others. */
struct dti_cublaslt_row {
    enum dti_dtype dtype;
    int type, result, compute, scale; /* enum values of the library */
    bool by_columns; /* B must be column-major: tensor cores accept 8-bit operands only this way */
    unsigned least_capability; /* minimum compute capability, times ten: 89 */
    bool scales;               /* A and B are each multiplied by an fp32 scale in device memory */
    const char *arithmetic;    /* "fp32 sums" */
};
const struct dti_cublaslt_row *dti_cublaslt_row(enum dti_dtype dtype);

/* Plans C = A B for row-major matrices with the algorithm that the library prefers. scales: 0 if
 * the dtype needs none. Fails with DTI_UNAVAILABLE if there is no algorithm. */
struct dti_cublaslt_plan;
enum dti_status dti_cublaslt_plan_new(struct dti_cublaslt_plan **ret, struct dti_cublaslt *cublaslt,
                                      enum dti_dtype dtype, uint64_t m, uint64_t n, uint64_t k,
                                      dti_gpu_address scales, uint64_t workspace_bytes,
                                      struct dti_error *reterr);
void dti_cublaslt_plan_free(struct dti_cublaslt_plan *plan);               /* NULL is fine */
const char *dti_cublaslt_plan_words(const struct dti_cublaslt_plan *plan); /* "algorithm 66" */
/* Queues one product. Fails with DTI_DEVICE_FAILED. */
enum dti_status dti_cublaslt_run(const struct dti_cublaslt_plan *plan, dti_gpu_address c,
                                 dti_gpu_address a, dti_gpu_address b, dti_gpu_address workspace,
                                 struct dti_gpu_stream *stream, struct dti_error *reterr);

#endif
