/* SPDX-License-Identifier: MIT
 *
 * A fake cuBLASLt for tests. It multiplies on the host and accesses device memory through the fake
 * CUDA driver, as the real library uses the real driver. It supports only documented cases: int8
 * with A transposed and B not, sizes in multiples of 4; fp8 in the same form, sizes in multiples of
 * 16, scaled by factors in device memory; column-major matrices.
 *
 * FAKE_CUBLASLT: "absent" (initialization fails), "nothing" (no algorithm is ever found), "fail=N"
 * (the N-th product returns 13), "wrong" (one wrong element in each product), "large" (products of
 * more than 2^24 multiplications are accepted but not computed). */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/engines/cublaslt_types.h"
#include "devices/gpu/cuda_types.h"

#define CUBLASLT(name, result, parameters) result name parameters;
CUBLASLT_FUNCTIONS
#undef CUBLASLT

enum { HANDLE = 0x4c54, ALLOC_FAILED = 3, EXECUTION_FAILED = 13, NOT_READY = 600 };
#define MOST      (UINT64_C(1) << 24)
#define ALGORITHM UINT64_C(0x616c676f)

struct desc {
    int compute, scale;
    int32_t transpose_a, transpose_b;
    CUdeviceptr scale_a, scale_b; /* 0: no scale */
};
struct layout {
    int type;
    uint64_t rows, columns;
    int64_t stride;
};
struct preference {
    uint64_t workspace_bytes;
};

static bool script_is(const char *word)
{
    const char *const script = getenv("FAKE_CUBLASLT");
    return script && strcmp(script, word) == 0;
}

size_t cublasLtGetVersion(void)
{
    return 130102;
}

static long calls; /* cublasLtMatmul() calls since a handle was created */

cublas_status cublasLtCreate(void **handle)
{
    if (script_is("absent"))
        return 1; /* not initialized */
    int *const made = malloc(sizeof *made);
    if (!made)
        return ALLOC_FAILED;
    *made = HANDLE;
    calls = 0;
    *handle = made;
    return CUBLAS_OK;
}

cublas_status cublasLtDestroy(void *handle)
{
    free(handle);
    return CUBLAS_OK;
}

cublas_status cublasLtMatmulDescCreate(void **desc, int compute, int scale)
{
    struct desc *const made = calloc(1, sizeof *made);
    if (!made)
        return ALLOC_FAILED;
    made->compute = compute;
    made->scale = scale;
    *desc = made;
    return CUBLAS_OK;
}

cublas_status cublasLtMatmulDescDestroy(void *desc)
{
    free(desc);
    return CUBLAS_OK;
}

cublas_status cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value,
                                             size_t size)
{
    struct desc *const d = desc;
    const bool scale = attribute == DESC_SCALE_A || attribute == DESC_SCALE_B;
    if (size != (scale ? sizeof(void *) : sizeof(int32_t)))
        return CUBLAS_INVALID_VALUE;
    if (scale) {
        void *const *const address = value;
        *(attribute == DESC_SCALE_A ? &d->scale_a : &d->scale_b) = (CUdeviceptr)(uintptr_t)*address;
        return CUBLAS_OK;
    }
    if (attribute == DESC_TRANSPOSE_A)
        memcpy(&d->transpose_a, value, size);
    else if (attribute == DESC_TRANSPOSE_B)
        memcpy(&d->transpose_b, value, size);
    else
        return CUBLAS_INVALID_VALUE;
    return CUBLAS_OK;
}

cublas_status cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
                                         int64_t stride)
{
    if (stride < 0 || (uint64_t)stride < rows || rows == 0 || columns == 0)
        return CUBLAS_INVALID_VALUE;
    struct layout *const made = calloc(1, sizeof *made);
    if (!made)
        return ALLOC_FAILED;
    *made = (struct layout){.type = type, .rows = rows, .columns = columns, .stride = stride};
    *layout = made;
    return CUBLAS_OK;
}

cublas_status cublasLtMatrixLayoutDestroy(void *layout)
{
    free(layout);
    return CUBLAS_OK;
}

cublas_status cublasLtMatmulPreferenceCreate(void **preference)
{
    *preference = calloc(1, sizeof(struct preference));
    return *preference ? CUBLAS_OK : ALLOC_FAILED;
}

cublas_status cublasLtMatmulPreferenceDestroy(void *preference)
{
    free(preference);
    return CUBLAS_OK;
}

cublas_status cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute,
                                                   const void *value, size_t size)
{
    struct preference *const p = preference;
    if (attribute != PREFERENCE_WORKSPACE_BYTES || size != sizeof p->workspace_bytes)
        return CUBLAS_INVALID_VALUE;
    memcpy(&p->workspace_bytes, value, size);
    return CUBLAS_OK;
}

/* The subset used here of the type table in the documentation of cublasLtMatmul(). */
static bool goes_together(const struct desc *desc, const struct layout *a, const struct layout *b,
                          const struct layout *c)
{
    static const struct {
        int compute, scale, type, result;
    } rows[] = {{COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F},
                {COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
                {COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F},
                {COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F},
                {COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F},
                {COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_32F},
                {COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].compute == desc->compute && rows[i].scale == desc->scale &&
            rows[i].type == a->type && rows[i].type == b->type && rows[i].result == c->type)
            return true;
    }
    return false;
}

static cublas_status judge(const struct desc *desc, const struct layout *a, const struct layout *b,
                           const struct layout *c)
{
    const uint64_t m = desc->transpose_a ? a->columns : a->rows;
    const uint64_t k = desc->transpose_a ? a->rows : a->columns;
    const uint64_t other_k = desc->transpose_b ? b->columns : b->rows;
    const uint64_t n = desc->transpose_b ? b->rows : b->columns;
    if (m != c->rows || n != c->columns || k != other_k)
        return CUBLAS_INVALID_VALUE;
    if (!goes_together(desc, a, b, c) || script_is("nothing"))
        return CUBLAS_NOT_SUPPORTED;
    const int by = a->type == CUDA_R_8I ? 4 : a->type == CUDA_R_8F_E4M3 ? 16 : 1;
    if (by > 1 && (!desc->transpose_a || desc->transpose_b || m % (uint64_t)by != 0 ||
                   k % (uint64_t)by != 0 || a->stride % by != 0 || b->stride % by != 0))
        return CUBLAS_NOT_SUPPORTED;
    return m * n * k > MOST && !script_is("large") ? CUBLAS_NOT_SUPPORTED : CUBLAS_OK;
}

cublas_status cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c,
                                             void *d, void *preference, int wanted,
                                             struct cublaslt_choice *choices, int *ret_count)
{
    const struct preference *const p = preference;
    if (*(int *)handle != HANDLE || wanted < 1 || c != d)
        return CUBLAS_INVALID_VALUE;
    const cublas_status status = judge(desc, a, b, c);
    *ret_count = 0;
    if (status != CUBLAS_OK)
        return status;
    memset(choices, 0, sizeof *choices);
    choices->algorithm.data[0] = ALGORITHM;
    choices->workspace_bytes = p->workspace_bytes < 4096 ? 0 : 4096;
    *ret_count = 1;
    return CUBLAS_OK;
}

cublas_status cublasLtMatmulAlgoConfigGetAttribute(const struct cublaslt_algorithm *algorithm,
                                                   int attribute, void *value, size_t size,
                                                   size_t *ret_size)
{
    const uint32_t told = attribute == ALGORITHM_ID ? 66 : 20;
    if (algorithm->data[0] != ALGORITHM || size != sizeof told)
        return CUBLAS_INVALID_VALUE;
    memcpy(value, &told, sizeof told);
    *ret_size = sizeof told;
    return CUBLAS_OK;
}

/* The driver functions of the program under test. */
static struct {
    CUresult (*from_device)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*query)(CUstream);
} driver;

static bool find_driver(void)
{
    const char *const path = getenv("DTINFO_LIBCUDA");
    void *const library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!library)
        return false;
    void *found[3] = {dlsym(library, "cuMemcpyDtoHAsync_v2"),
                      dlsym(library, "cuMemcpyHtoDAsync_v2"), dlsym(library, "cuStreamQuery")};
    memcpy(&driver.from_device, &found[0], sizeof found[0]);
    memcpy(&driver.to_device, &found[1], sizeof found[1]);
    memcpy(&driver.query, &found[2], sizeof found[2]);
    return found[0] && found[1] && found[2];
}

static bool wait_for(CUstream stream)
{
    CUresult code;
    while ((code = driver.query(stream)) == NOT_READY)
        continue;
    return code == 0;
}

static size_t size_of(int type)
{
    return type == CUDA_R_64F                            ? 8
           : type == CUDA_R_8I || type == CUDA_R_8F_E4M3 ? 1
           : type == CUDA_R_32F || type == CUDA_R_32I    ? 4
                                                         : 2;
}

static double number_at(const unsigned char *at, int type)
{
    double wide;
    float single;
    uint32_t bits = 0;
    uint16_t half;
    int8_t byte;
    switch (type) {
    case CUDA_R_64F:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case CUDA_R_8I:
        memcpy(&byte, at, sizeof byte);
        return byte;
    case CUDA_R_8F_E4M3: /* times 2^120: the exponent bias is 7, that of fp32 is 127 */
        bits = (uint32_t)(*at & 0x80) << 24 | (uint32_t)(*at & 0x7f) << 20;
        memcpy(&single, &bits, sizeof single);
        return (double)single * 0x1p120;
    case CUDA_R_32F:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case CUDA_R_16BF:
        memcpy(&half, at, sizeof half);
        bits = (uint32_t)half << 16;
        break;
    default: /* fp16 */
        memcpy(&half, at, sizeof half);
        if ((half & 0x7c00) == 0)
            return (half >> 15 ? -0x1p-24 : 0x1p-24) * (half & 0x3ff);
        bits = (uint32_t)(half & 0x8000) << 16;
        bits |= ((uint32_t)(half & 0x7fff) << 13) + ((uint32_t)112 << 23);
    }
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

static void put(unsigned char *at, int type, double value)
{
    const float single = (float)value;
    if (type == CUDA_R_64F) {
        memcpy(at, &value, sizeof value);
    } else if (type == CUDA_R_32I) {
        const int32_t whole = (int32_t)value;
        memcpy(at, &whole, sizeof whole);
    } else {
        memcpy(at, &single, sizeof single);
    }
}

static size_t bytes_of(const struct layout *layout)
{
    return (size_t)layout->stride * (size_t)layout->columns * size_of(layout->type);
}

static void compute(const struct desc *desc, const struct layout *a, const unsigned char *a_at,
                    const struct layout *b, const unsigned char *b_at, const struct layout *c,
                    unsigned char *c_at, double scale)
{
    const size_t a_size = size_of(a->type), b_size = size_of(b->type), c_size = size_of(c->type);
    const uint64_t k = desc->transpose_a ? a->rows : a->columns;
    for (uint64_t column = 0; column < c->columns; column++) {
        for (uint64_t row = 0; row < c->rows; row++) {
            double sum = 0;
            for (uint64_t i = 0; i < k; i++) {
                const uint64_t in_a = desc->transpose_a ? row * (uint64_t)a->stride + i
                                                        : i * (uint64_t)a->stride + row;
                const uint64_t in_b = desc->transpose_b ? i * (uint64_t)b->stride + column
                                                        : column * (uint64_t)b->stride + i;
                sum += number_at(a_at + in_a * a_size, a->type) *
                       number_at(b_at + in_b * b_size, b->type);
            }
            put(c_at + (column * (uint64_t)c->stride + row) * c_size, c->type, sum * scale);
        }
    }
    if (script_is("wrong"))
        put(c_at, c->type, 1e6);
}

static bool is_number(const void *at, int type, double value)
{
    int32_t whole;
    memcpy(&whole, at, sizeof whole);
    return type == CUDA_R_32I ? whole == (int32_t)value : number_at(at, type) == value;
}

static bool read_scales(float scales[2], const struct desc *desc, CUstream stream)
{
    return desc->scale_a == 0 ||
           (driver.from_device(&scales[0], desc->scale_a, sizeof *scales, stream) == 0 &&
            driver.from_device(&scales[1], desc->scale_b, sizeof *scales, stream) == 0 &&
            wait_for(stream));
}

static cublas_status multiply(const struct desc *desc, const struct layout *a, CUdeviceptr a_from,
                              const struct layout *b, CUdeviceptr b_from, const struct layout *c,
                              CUdeviceptr c_to, CUstream stream)
{
    if (c->rows * c->columns * b->rows > MOST) { /* not computed, but takes time */
        if (!wait_for(stream))
            return EXECUTION_FAILED;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        return CUBLAS_OK;
    }
    unsigned char *const a_at = malloc(bytes_of(a)), *const b_at = malloc(bytes_of(b));
    unsigned char *const c_at = malloc(bytes_of(c));
    cublas_status status = EXECUTION_FAILED;
    float scales[2] = {1, 1};
    if (a_at && b_at && c_at && wait_for(stream) &&
        driver.from_device(a_at, a_from, bytes_of(a), stream) == 0 &&
        driver.from_device(b_at, b_from, bytes_of(b), stream) == 0 && wait_for(stream) &&
        read_scales(scales, desc, stream)) {
        compute(desc, a, a_at, b, b_at, c, c_at, (double)scales[0] * (double)scales[1]);
        if (driver.to_device(c_to, c_at, bytes_of(c), stream) == 0 && wait_for(stream))
            status = CUBLAS_OK;
    }
    free(a_at);
    free(b_at);
    free(c_at);
    return status;
}

cublas_status cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
                             void *a_layout, const void *b, void *b_layout, const void *beta,
                             const void *c, void *c_layout, void *d, void *d_layout,
                             const struct cublaslt_algorithm *algorithm, void *workspace,
                             size_t workspace_bytes, void *stream)
{
    const struct desc *const how = desc;
    const char *const script = getenv("FAKE_CUBLASLT");
    const cublas_status status = judge(desc, a_layout, b_layout, c_layout);
    calls++;
    if (script && strncmp(script, "fail=", 5) == 0 && calls == strtol(script + 5, NULL, 10))
        return EXECUTION_FAILED;
    if (*(int *)handle != HANDLE || algorithm->data[0] != ALGORITHM || c != d ||
        c_layout != d_layout || !is_number(alpha, how->scale, 1) ||
        !is_number(beta, how->scale, 0) || (workspace_bytes > 0 && !workspace) || !find_driver())
        return CUBLAS_INVALID_VALUE;
    if (status != CUBLAS_OK)
        return status;
    return multiply(desc, a_layout, (CUdeviceptr)(uintptr_t)a, b_layout, (CUdeviceptr)(uintptr_t)b,
                    c_layout, (CUdeviceptr)(uintptr_t)d, stream);
}
