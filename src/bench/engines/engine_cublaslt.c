/* SPDX-License-Identifier: MIT
 *
 * cuBLASLt, called through our own prototypes. It is column-major: its A is our B and its B is
 * our A, because a column-major product equals the row-major product of the transposed matrices
 * in reverse order. */
#include "bench/engines/engine_cublaslt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engines/cublaslt_types.h"
#include "util/run/allocate.h"
#include "util/run/library.h"

struct functions {
#define CUBLASLT(name, result, parameters) result(*name) parameters;
    CUBLASLT_FUNCTIONS
#undef CUBLASLT
};

struct dti_cublaslt {
    struct dti_library *library;
    struct functions functions;
    void *handle;
    char title[24];
};

static const struct dti_cublaslt_row rows[] = {
    {DTI_FP64, CUDA_R_64F, CUDA_R_64F, COMPUTE_64F, CUDA_R_64F, false, 0, false, "fp64"},
    {DTI_FP32, CUDA_R_32F, CUDA_R_32F, COMPUTE_32F, CUDA_R_32F, false, 0, false, "fp32"},
    {DTI_TF32, CUDA_R_32F, CUDA_R_32F, COMPUTE_32F_FAST_TF32, CUDA_R_32F, false, 0, false,
     "tf32 products, fp32 sums"},
    {DTI_BF16, CUDA_R_16BF, CUDA_R_32F, COMPUTE_32F, CUDA_R_32F, false, 0, false, "fp32 sums"},
    {DTI_FP16, CUDA_R_16F, CUDA_R_32F, COMPUTE_32F, CUDA_R_32F, false, 0, false, "fp32 sums"},
    {DTI_INT8, CUDA_R_8I, CUDA_R_32I, COMPUTE_32I, CUDA_R_32I, true, 0, false,
     "int32; B by columns"},
    {DTI_FP8_E4M3FN, CUDA_R_8F_E4M3, CUDA_R_32F, COMPUTE_32F, CUDA_R_32F, true, 89, true,
     "fp32 sums as tensor cores keep them; B by columns"},
};

const struct dti_cublaslt_row *dti_cublaslt_row(enum dti_dtype dtype)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].dtype == dtype)
            return &rows[i];
    }
    return NULL;
}

static enum dti_status find_functions(struct dti_cublaslt *cublaslt, struct dti_error *reterr)
{
    static const struct dti_library_function names[] = {
#define CUBLASLT(name, result, parameters) {#name, offsetof(struct functions, name), true},
        CUBLASLT_FUNCTIONS
#undef CUBLASLT
    };
    const char *const missing = dti_library_find(
        cublaslt->library, names, sizeof names / sizeof *names, &cublaslt->functions);
    return missing ? dti_fail(reterr, DTI_UNAVAILABLE, "%s: has no %s",
                              dti_library_name(cublaslt->library), missing)
                   : DTI_OK;
}

enum dti_status dti_cublaslt_open(struct dti_cublaslt **ret, struct dti_error *reterr)
{
    static const char *const libraries[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                            "libcublasLt.so.11", NULL};
    struct dti_cublaslt *const cublaslt = dti_calloc(1, sizeof *cublaslt);
    if (!cublaslt)
        return dti_no_memory(reterr);
    enum dti_status status = dti_library_open(&cublaslt->library, libraries, NULL, reterr);
    if (status == DTI_OK)
        status = find_functions(cublaslt, reterr);
    if (status == DTI_OK) {
        const cublas_status code = cublaslt->functions.cublasLtCreate(&cublaslt->handle);
        if (code != CUBLAS_OK)
            status = dti_fail(reterr, DTI_UNAVAILABLE, "%s: cublasLtCreate() returned %d",
                              dti_library_name(cublaslt->library), code);
    }
    if (status != DTI_OK) {
        dti_cublaslt_close(cublaslt);
        return status;
    }
    /* 10000 x major + 100 x minor + patch; versions 11.0 to 11.x used 1000 x major */
    const unsigned long version = (unsigned long)cublaslt->functions.cublasLtGetVersion();
    const unsigned long major = version >= 100000 ? version / 10000 : version / 1000;
    const unsigned long rest = version >= 100000 ? version % 10000 : version % 1000;
    (void)snprintf(cublaslt->title, sizeof cublaslt->title, "cublaslt %lu.%lu.%lu", major % 1000,
                   rest / 100, rest % 100);
    *ret = cublaslt;
    return DTI_OK;
}

void dti_cublaslt_close(struct dti_cublaslt *cublaslt)
{
    if (!cublaslt)
        return;
    if (cublaslt->handle)
        (void)cublaslt->functions.cublasLtDestroy(cublaslt->handle);
    dti_library_close(cublaslt->library);
    dti_free(cublaslt);
}

const char *dti_cublaslt_title(const struct dti_cublaslt *cublaslt)
{
    return cublaslt->title;
}

struct dti_cublaslt_plan {
    struct dti_cublaslt *cublaslt;
    const struct dti_cublaslt_row *row;
    void *desc, *a, *b, *c, *preference; /* handles of the library */
    struct cublaslt_choice choice;
    char words[64];
};

/* Device addresses are integers here and pointers in the library. */
static void *pointer(dti_gpu_address address)
{
    return (void *)(uintptr_t)address;
}

/* Reports the first failed call and skips the later ones. */
struct calls {
    cublas_status status;
    const char *name;
};
#define CALL(calls, functions, function, ...)                     \
    do {                                                          \
        if ((calls)->status == CUBLAS_OK) {                       \
            (calls)->status = (functions)->function(__VA_ARGS__); \
            (calls)->name = #function;                            \
        }                                                         \
    } while (0)

static void describe_operands(struct calls *calls, struct dti_cublaslt_plan *plan, uint64_t m,
                              uint64_t n, uint64_t k, dti_gpu_address scales)
{
    const struct functions *const f = &plan->cublaslt->functions;
    const struct dti_cublaslt_row *const row = plan->row;
    const int32_t transpose = row->by_columns ? OPERATION_TRANSPOSE : OPERATION_NONE;
    const int32_t none = OPERATION_NONE;
    CALL(calls, f, cublasLtMatmulDescCreate, &plan->desc, row->compute, row->scale);
    CALL(calls, f, cublasLtMatmulDescSetAttribute, plan->desc, DESC_TRANSPOSE_A, &transpose,
         sizeof transpose);
    CALL(calls, f, cublasLtMatmulDescSetAttribute, plan->desc, DESC_TRANSPOSE_B, &none,
         sizeof none);
    if (scales != 0) { /* ours are A, then B; the library's are swapped */
        const void *const of_a = pointer(scales), *const of_b = pointer(scales + sizeof(float));
        CALL(calls, f, cublasLtMatmulDescSetAttribute, plan->desc, DESC_SCALE_A, &of_b,
             sizeof of_b);
        CALL(calls, f, cublasLtMatmulDescSetAttribute, plan->desc, DESC_SCALE_B, &of_a,
             sizeof of_a);
    }
    if (row->by_columns)
        CALL(calls, f, cublasLtMatrixLayoutCreate, &plan->a, row->type, k, n, (int64_t)k);
    else
        CALL(calls, f, cublasLtMatrixLayoutCreate, &plan->a, row->type, n, k, (int64_t)n);
    CALL(calls, f, cublasLtMatrixLayoutCreate, &plan->b, row->type, k, m, (int64_t)k);
    CALL(calls, f, cublasLtMatrixLayoutCreate, &plan->c, row->result, n, m, (int64_t)n);
}

static void choose(struct calls *calls, struct dti_cublaslt_plan *plan, uint64_t workspace_bytes)
{
    const struct functions *const f = &plan->cublaslt->functions;
    int count = 0;
    CALL(calls, f, cublasLtMatmulPreferenceCreate, &plan->preference);
    CALL(calls, f, cublasLtMatmulPreferenceSetAttribute, plan->preference,
         PREFERENCE_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes);
    CALL(calls, f, cublasLtMatmulAlgoGetHeuristic, plan->cublaslt->handle, plan->desc, plan->a,
         plan->b, plan->c, plan->c, plan->preference, 1, &plan->choice, &count);
    if (calls->status == CUBLAS_OK && (count < 1 || plan->choice.state != CUBLAS_OK))
        calls->status = CUBLAS_NOT_SUPPORTED;
    int32_t id = 0;
    uint32_t tile = 0;
    size_t written;
    CALL(calls, f, cublasLtMatmulAlgoConfigGetAttribute, &plan->choice.algorithm, ALGORITHM_ID, &id,
         sizeof id, &written);
    CALL(calls, f, cublasLtMatmulAlgoConfigGetAttribute, &plan->choice.algorithm, ALGORITHM_TILE,
         &tile, sizeof tile, &written);
    (void)snprintf(plan->words, sizeof plan->words, "cublasLtMatmul, algorithm %ld, tile %lu",
                   (long)id, (unsigned long)tile);
}

enum dti_status dti_cublaslt_plan_new(struct dti_cublaslt_plan **ret, struct dti_cublaslt *cublaslt,
                                      enum dti_dtype dtype, uint64_t m, uint64_t n, uint64_t k,
                                      dti_gpu_address scales, uint64_t workspace_bytes,
                                      struct dti_error *reterr)
{
    struct calls calls = {.status = CUBLAS_OK};
    struct dti_cublaslt_plan *const plan = dti_calloc(1, sizeof *plan);
    if (!plan)
        return dti_no_memory(reterr);
    plan->cublaslt = cublaslt;
    plan->row = dti_cublaslt_row(dtype);
    assert(plan->row); /* the caller measures only dtypes with a row */
    describe_operands(&calls, plan, m, n, k, scales);
    choose(&calls, plan, workspace_bytes);
    if (calls.status != CUBLAS_OK) {
        dti_cublaslt_plan_free(plan);
        if (calls.status == CUBLAS_NOT_SUPPORTED)
            return dti_fail(reterr, DTI_UNAVAILABLE, "%s has no product of this size",
                            cublaslt->title);
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: %s() returned %d", cublaslt->title,
                        calls.name, calls.status);
    }
    *ret = plan;
    return DTI_OK;
}

void dti_cublaslt_plan_free(struct dti_cublaslt_plan *plan)
{
    if (!plan)
        return;
    const struct functions *const f = &plan->cublaslt->functions;
    if (plan->preference)
        (void)f->cublasLtMatmulPreferenceDestroy(plan->preference);
    void *const layouts[] = {plan->a, plan->b, plan->c};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i])
            (void)f->cublasLtMatrixLayoutDestroy(layouts[i]);
    }
    if (plan->desc)
        (void)f->cublasLtMatmulDescDestroy(plan->desc);
    dti_free(plan);
}

const char *dti_cublaslt_plan_words(const struct dti_cublaslt_plan *plan)
{
    return plan->words;
}

enum dti_status dti_cublaslt_run(const struct dti_cublaslt_plan *plan, dti_gpu_address c,
                                 dti_gpu_address a, dti_gpu_address b, dti_gpu_address workspace,
                                 struct dti_gpu_stream *stream, struct dti_error *reterr)
{
    static const double wide[2] = {0, 1};
    static const float single[2] = {0, 1};
    static const int32_t whole[2] = {0, 1};
    const int scale = plan->row->scale; /* the type of the scales */
    const bool is_wide = scale == CUDA_R_64F, is_whole = scale == CUDA_R_32I;
    const void *const zero = is_wide ? (const void *)wide : is_whole ? (const void *)whole : single;
    const void *const one = is_wide    ? (const void *)(wide + 1)
                            : is_whole ? (const void *)(whole + 1)
                                       : single + 1;
    const cublas_status code = plan->cublaslt->functions.cublasLtMatmul(
        plan->cublaslt->handle, plan->desc, one, pointer(b), plan->a, pointer(a), plan->b, zero,
        pointer(c), plan->c, pointer(c), plan->c, &plan->choice.algorithm, pointer(workspace),
        plan->choice.workspace_bytes, dti_gpu_stream_handle(stream));
    if (code != CUBLAS_OK)
        return dti_fail(reterr, DTI_DEVICE_FAILED, "%s: cublasLtMatmul() returned %d",
                        plan->cublaslt->title, code);
    return DTI_OK;
}
