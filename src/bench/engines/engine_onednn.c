/* SPDX-License-Identifier: MIT
 *
 * oneDNN: fp32 and int8 use functions that versions 2 and 3 have in common; bf16 uses one that
 * both export without documentation. Its results are verified like all others. */
#include <stdio.h>
#include <string.h>

#include "bench/engines/engine.h"

/* dnnl_dim_t is int64_t, dnnl_status_t an enum with 0 for success. */
typedef int gemm_f32(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                     float alpha, const float *a, int64_t a_stride, const float *b,
                     int64_t b_stride, float beta, float *c, int64_t c_stride);
typedef int gemm_i8(char transpose_a, char transpose_b, char offset, int64_t m, int64_t n,
                    int64_t k, float alpha, const int8_t *a, int64_t a_stride, int8_t a_offset,
                    const int8_t *b, int64_t b_stride, int8_t b_offset, float beta, int32_t *c,
                    int64_t c_stride, const int32_t *c_offset);
typedef int gemm_bf16(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                      float alpha, const uint16_t *a, int64_t a_stride, const uint16_t *b,
                      int64_t b_stride, float beta, float *c, int64_t c_stride);
/* The first members of dnnl_version_t. */
struct version {
    int major, minor, patch;
};
typedef const struct version *get_version(void);
typedef int get_isa(void);
typedef void set_threads(int threads);

enum onednn_symbol { SGEMM, I8, VERSION, BF16, ISA, OMP_THREADS, SYMBOLS };
static const struct dti_library_function symbols[SYMBOLS] = {
    DTI_ENGINE_SYMBOL(SGEMM, "dnnl_sgemm", true),
    DTI_ENGINE_SYMBOL(I8, "dnnl_gemm_s8s8s32", true),
    DTI_ENGINE_SYMBOL(VERSION, "dnnl_version", true),
    DTI_ENGINE_SYMBOL(BF16, "dnnl_gemm_bf16bf16f32", false),
    DTI_ENGINE_SYMBOL(ISA, "dnnl_get_effective_cpu_isa", false),
    DTI_ENGINE_SYMBOL(OMP_THREADS, "omp_set_num_threads", false),
};

static bool multiply(const struct dti_engine *engine, enum dti_dtype dtype,
                     const struct dti_engine_product *p)
{
    const int32_t no_offset = 0;
    if (engine->symbols[OMP_THREADS])
        ((set_threads *)engine->symbols[OMP_THREADS])(1); /* for calls from this thread */
    switch (dtype) {
    case DTI_FP32:
        return ((gemm_f32 *)engine->symbols[SGEMM])('N', 'N', p->m, p->n, p->k, 1, p->a,
                                                    p->a_stride, p->b, p->b_stride, 0, p->c,
                                                    p->c_stride) == 0;
    case DTI_BF16:
        return ((gemm_bf16 *)engine->symbols[BF16])('N', 'N', p->m, p->n, p->k, 1, p->a,
                                                    p->a_stride, p->b, p->b_stride, 0, p->c,
                                                    p->c_stride) == 0;
    case DTI_INT8:
        return ((gemm_i8 *)engine->symbols[I8])('N', 'N', 'F', p->m, p->n, p->k, 1, p->a,
                                                p->a_stride, 0, p->b, p->b_stride, 0, 0, p->c,
                                                p->c_stride, &no_offset) == 0;
    default:
        return false;
    }
}

static void describe(struct dti_engine *engine)
{
    /* dnnl_cpu_isa_t values that 2.x and 3.x share */
    static const struct {
        int isa;
        const char *name;
    } isas[] = {{0x1, "sse41"},
                {0x3, "avx"},
                {0x7, "avx2"},
                {0x27, "avx512_core"},
                {0x67, "avx512_core_vnni"},
                {0xe7, "avx512_core_bf16"}};
    const struct version *const version = ((get_version *)engine->symbols[VERSION])();
    (void)snprintf(engine->title, sizeof engine->title, "onednn %d.%d.%d", version->major,
                   version->minor, version->patch);
    if (!engine->symbols[ISA])
        return;
    const int isa = ((get_isa *)engine->symbols[ISA])();
    (void)snprintf(engine->processor, sizeof engine->processor, "isa 0x%x", (unsigned)isa);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (isas[i].isa == isa)
            (void)snprintf(engine->processor, sizeof engine->processor, "%s", isas[i].name);
    }
}

enum dti_status dti_engine_onednn(struct dti_engine *ret, struct dti_error *reterr)
{
    static const char *const libraries[] = {"libdnnl.so.3", "libdnnl.so.2", NULL};
    struct dti_engine engine = {.name = "onednn",
                                .functions = symbols,
                                .rows = {{DTI_FP32, SGEMM}, {DTI_BF16, BF16}, {DTI_INT8, I8}},
                                .multiply = multiply};
    const enum dti_status status = dti_engine_open(&engine, libraries, SYMBOLS, reterr);
    if (status != DTI_OK)
        return status;
    describe(&engine);
    *ret = engine;
    return DTI_OK;
}
