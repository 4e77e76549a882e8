/* SPDX-License-Identifier: MIT
 *
 * The parts of cublasLt.h, cublas_api.h and library_types.h that are used, as in versions 11 to
 * 13. */
#ifndef BENCH_ENGINES_CUBLASLT_TYPES_H
#define BENCH_ENGINES_CUBLASLT_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int cublas_status; /* 0: success */
enum { CUBLAS_OK = 0, CUBLAS_INVALID_VALUE = 7, CUBLAS_NOT_SUPPORTED = 15 };

/* cudaDataType */
enum {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_8I = 3,
    CUDA_R_32I = 10,
    CUDA_R_16BF = 14,
    CUDA_R_8F_E4M3 = 28
};
/* cublasComputeType_t */
enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32I = 72, COMPUTE_32F_FAST_TF32 = 77 };
/* cublasLtMatmulDescAttributes_t, with int32_t values; cublasOperation_t */
enum { DESC_TRANSPOSE_A = 3, DESC_TRANSPOSE_B = 4 };
/* the same, with the device address of a float that scales the operand */
enum { DESC_SCALE_A = 17, DESC_SCALE_B = 18 };
enum { OPERATION_NONE = 0, OPERATION_TRANSPOSE = 1 };
/* cublasLtMatmulPreferenceAttributes_t, with a uint64_t value */
enum { PREFERENCE_WORKSPACE_BYTES = 1 };
/* cublasLtMatmulAlgoConfigAttributes_t, int32_t and uint32_t */
enum { ALGORITHM_ID = 0, ALGORITHM_TILE = 1 };

struct cublaslt_algorithm {
    uint64_t data[8];
};
struct cublaslt_choice {
    struct cublaslt_algorithm algorithm;
    size_t workspace_bytes;
    cublas_status state;
    float waves;
    int reserved[4];
};

/* Handles are opaque pointers. Layouts are column-major by default. CUBLASLT(name, result,
 * parameters) */
#define CUBLASLT_FUNCTIONS                                                                         \
    CUBLASLT(cublasLtGetVersion, size_t, (void))                                                   \
    CUBLASLT(cublasLtCreate, cublas_status, (void **handle))                                       \
    CUBLASLT(cublasLtDestroy, cublas_status, (void *handle))                                       \
    CUBLASLT(cublasLtMatmulDescCreate, cublas_status, (void **desc, int compute, int scale))       \
    CUBLASLT(cublasLtMatmulDescDestroy, cublas_status, (void *desc))                               \
    CUBLASLT(cublasLtMatmulDescSetAttribute, cublas_status,                                        \
             (void *desc, int attribute, const void *value, size_t size))                          \
    CUBLASLT(cublasLtMatrixLayoutCreate, cublas_status,                                            \
             (void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride))           \
    CUBLASLT(cublasLtMatrixLayoutDestroy, cublas_status, (void *layout))                           \
    CUBLASLT(cublasLtMatmulPreferenceCreate, cublas_status, (void **preference))                   \
    CUBLASLT(cublasLtMatmulPreferenceDestroy, cublas_status, (void *preference))                   \
    CUBLASLT(cublasLtMatmulPreferenceSetAttribute, cublas_status,                                  \
             (void *preference, int attribute, const void *value, size_t size))                    \
    CUBLASLT(cublasLtMatmulAlgoGetHeuristic, cublas_status,                                        \
             (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,      \
              int wanted, struct cublaslt_choice *choices, int *ret_count))                        \
    CUBLASLT(cublasLtMatmulAlgoConfigGetAttribute, cublas_status,                                  \
             (const struct cublaslt_algorithm *algorithm, int attribute, void *value, size_t size, \
              size_t *ret_size))                                                                   \
    CUBLASLT(cublasLtMatmul, cublas_status,                                                        \
             (void *handle, void *desc, const void *alpha, const void *a, void *a_layout,          \
              const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,      \
              void *d, void *d_layout, const struct cublaslt_algorithm *algorithm,                 \
              void *workspace, size_t workspace_bytes, void *stream))

#endif
