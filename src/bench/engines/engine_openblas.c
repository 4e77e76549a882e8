/* SPDX-License-Identifier: MIT
 *
 * OpenBLAS: fp32 and fp64, and bf16 if it was built with it. Prototypes follow its cblas.h, with
 * int for blasint (libraries with 64-bit integers use other symbol names). */
#include <stdio.h>
#include <string.h>

#include "bench/engines/engine.h"

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

typedef void gemm_f32(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int a_stride, const float *b, int b_stride, float beta,
                      float *c, int c_stride);
typedef void gemm_f64(int order, int transpose_a, int transpose_b, int m, int n, int k,
                      double alpha, const double *a, int a_stride, const double *b, int b_stride,
                      double beta, double *c, int c_stride);
typedef void gemm_bf16(int order, int transpose_a, int transpose_b, int m, int n, int k,
                       float alpha, const uint16_t *a, int a_stride, const uint16_t *b,
                       int b_stride, float beta, float *c, int c_stride);
typedef char *tell(void);
typedef void set_threads(int threads);

enum openblas_symbol { SGEMM, DGEMM, SET_THREADS, CONFIG, CORE_NAME, SBGEMM, SYMBOLS };
static const struct dti_library_function symbols[SYMBOLS] = {
    DTI_ENGINE_SYMBOL(SGEMM, "cblas_sgemm", true),
    DTI_ENGINE_SYMBOL(DGEMM, "cblas_dgemm", true),
    DTI_ENGINE_SYMBOL(SET_THREADS, "openblas_set_num_threads", true),
    DTI_ENGINE_SYMBOL(CONFIG, "openblas_get_config", true),
    DTI_ENGINE_SYMBOL(CORE_NAME, "openblas_get_corename", true),
    DTI_ENGINE_SYMBOL(SBGEMM, "cblas_sbgemm", false),
};

static bool multiply(const struct dti_engine *engine, enum dti_dtype dtype,
                     const struct dti_engine_product *p)
{
    switch (dtype) {
    case DTI_FP64:
        ((gemm_f64 *)engine->symbols[DGEMM])(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, p->m, p->n,
                                             p->k, 1, p->a, p->a_stride, p->b, p->b_stride, 0, p->c,
                                             p->c_stride);
        return true;
    case DTI_FP32:
        ((gemm_f32 *)engine->symbols[SGEMM])(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, p->m, p->n,
                                             p->k, 1, p->a, p->a_stride, p->b, p->b_stride, 0, p->c,
                                             p->c_stride);
        return true;
    case DTI_BF16:
        ((gemm_bf16 *)engine->symbols[SBGEMM])(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, p->m,
                                               p->n, p->k, 1, p->a, p->a_stride, p->b, p->b_stride,
                                               0, p->c, p->c_stride);
        return true;
    default:
        return false;
    }
}

/* "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Zen MAX_THREADS=64" */
static void describe(struct dti_engine *engine)
{
    const char *const config = ((tell *)engine->symbols[CONFIG])();
    char version[16] = "";
    if (config && strncmp(config, "OpenBLAS ", 9) == 0) {
        dti_engine_words(version, sizeof version, config + 9);
        version[strcspn(version, " ")] = '\0';
    }
    (void)snprintf(engine->title, sizeof engine->title, "openblas%s%.14s",
                   version[0] != '\0' ? " " : "", version);
    dti_engine_words(engine->processor, sizeof engine->processor,
                     ((tell *)engine->symbols[CORE_NAME])());
}

enum dti_status dti_engine_openblas(struct dti_engine *ret, struct dti_error *reterr)
{
    static const char *const libraries[] = {"libopenblas.so.0", NULL};
    struct dti_engine engine = {.name = "openblas",
                                .functions = symbols,
                                .rows = {{DTI_FP64, DGEMM}, {DTI_FP32, SGEMM}, {DTI_BF16, SBGEMM}},
                                .multiply = multiply};
    const enum dti_status status = dti_engine_open(&engine, libraries, SYMBOLS, reterr);
    if (status != DTI_OK)
        return status;
    ((set_threads *)engine.symbols[SET_THREADS])(1);
    describe(&engine);
    *ret = engine;
    return DTI_OK;
}
