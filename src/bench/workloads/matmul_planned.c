/* SPDX-License-Identifier: MIT
 *
 * Matrices in the memory of a CUDA device, their products and whether those are right. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/matmul_device.h"

enum { SETS_MAX = 16, POISON = 0xA5 };

size_t dti_matmul_device_sets(const struct dti_bench_request *request,
                              const struct dti_matrices *matrices)
{
    const uint64_t l2 = dti_device_cache_bytes(request->gpu);
    const uint64_t sets = request->cache == DTI_BENCH_COLD ? 2 * (l2 / matrices->bytes) + 2 : 1;
    return sets < SETS_MAX ? (size_t)sets : SETS_MAX;
}

bool dti_matmul_is_large(const struct dti_bench_request *request)
{
    return request->m >= DTI_MATMUL_LARGE && request->n >= DTI_MATMUL_LARGE &&
           request->k >= DTI_MATMUL_LARGE;
}

/* B column by column, in place of B. */
static enum dti_status transpose(const struct dti_matrices *matrices, const unsigned char *memory,
                                 unsigned char **ret, struct dti_error *reterr)
{
    const size_t element = matrices->element;
    unsigned char *const transposed = malloc((size_t)matrices->b_bytes);
    if (!transposed)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (uint64_t row = 0; row < matrices->k; row++) {
        for (uint64_t column = 0; column < matrices->n; column++)
            memcpy(transposed + (column * matrices->k + row) * element,
                   memory + (row * matrices->n + column) * element, element);
    }
    *ret = transposed;
    return DTI_OK;
}

static enum dti_status upload(const struct dti_matmul_planned *product, const unsigned char *memory,
                              struct dti_error *reterr)
{
    struct dti_gpu_stream *const stream = product->device->clock.stream;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *transposed = NULL;
    enum dti_status status = DTI_OK;
    if (dti_cublaslt_wants_columns(matrices->dtype))
        status = transpose(matrices, memory, &transposed, reterr);
    for (size_t set = 0; set < product->sets && status == DTI_OK; set++) {
        const dti_gpu_address at = product->memory + set * matrices->bytes;
        status = dti_gpu_upload(stream, at, transposed ? transposed : memory,
                                (size_t)matrices->b_bytes, reterr);
        if (status == DTI_OK)
            status = dti_gpu_upload(stream, at + matrices->a_at, memory + matrices->a_at,
                                    (size_t)matrices->a_bytes, reterr);
    }
    if (status == DTI_OK && product->scales != 0)
        status = dti_gpu_upload(stream, product->scales, matrices->scales, sizeof matrices->scales,
                                reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, reterr);
    if (!dti_gpu_hangs()) /* a driver that hangs may still read */
        free(transposed);
    return status;
}

/* The matrices on the host, as they were made. */
static enum dti_status make(struct dti_matmul_planned *product, unsigned char **ret,
                            struct dti_error *reterr)
{
    unsigned char *const memory = malloc((size_t)product->matrices.bytes);
    if (!memory)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const enum dti_status status =
        dti_matrices_fill(&product->matrices, memory, product->device->request->seed, reterr);
    if (status != DTI_OK)
        free(memory);
    else
        *ret = memory;
    return status;
}

enum dti_status dti_matmul_planned_run(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_matmul_planned *const product = context;
    const struct dti_matrices *const matrices = &product->matrices;
    const dti_gpu_address at = product->memory + set * matrices->bytes;
    return dti_cublaslt_run(product->plan, at + matrices->c_at, at + matrices->a_at, at,
                            product->device->workspace, product->device->clock.stream, reterr);
}

/* What the product has of the device: scales, plan, memory, and what is in it. */
static enum dti_status prepare(struct dti_matmul_planned *product, struct dti_error *reterr)
{
    struct dti_matmul_device *const device = product->device;
    struct dti_gpu *const gpu = device->request->gpu;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *memory = NULL;
    enum dti_status status = DTI_OK;
    if (dti_cublaslt_wants_scales(matrices->dtype))
        status = dti_gpu_alloc(gpu, sizeof matrices->scales, &product->scales, reterr);
    if (status == DTI_OK)
        status = dti_cublaslt_plan_new(&product->plan, device->cublaslt, matrices->dtype,
                                       matrices->m, matrices->n, matrices->k, product->scales,
                                       DTI_MATMUL_WORKSPACE_BYTES, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(gpu, product->sets * matrices->bytes, &product->memory, reterr);
    if (status == DTI_OK)
        status = make(product, &memory, reterr);
    if (status == DTI_OK)
        status = upload(product, memory, reterr);
    if (!dti_gpu_hangs())
        free(memory);
    return status;
}

enum dti_status dti_matmul_planned_new(struct dti_matmul_planned **ret,
                                       struct dti_matmul_device *device, enum dti_dtype dtype,
                                       bool large, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->request;
    const struct dti_gpu_facts *const facts = dti_gpu_facts(request->gpu);
    const unsigned least = dti_cublaslt_least_capability(dtype);
    struct dti_matrices matrices;
    if (facts->major * 10 + facts->minor < least)
        return dti_fail(reterr, DTI_UNAVAILABLE, "needs compute capability %u.%u", least / 10,
                        least % 10);
    enum dti_status status = dti_matrices_init(
        &matrices, dtype, large ? DTI_MATMUL_LARGE : request->m,
        large ? DTI_MATMUL_LARGE : request->n, large ? DTI_MATMUL_LARGE : request->k, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_matmul_planned *const product = &device->products[device->count];
    *product =
        (struct dti_matmul_planned){.device = device,
                                    .matrices = matrices,
                                    .sets = large ? 1 : dti_matmul_device_sets(request, &matrices),
                                    .peak = SIZE_MAX,
                                    .copy = SIZE_MAX};
    status = prepare(product, reterr);
    if (status == DTI_UNAVAILABLE)
        dti_matmul_planned_end(product);
    else
        device->count++;
    *ret = product;
    return status;
}

void dti_matmul_planned_end(struct dti_matmul_planned *product)
{
    struct dti_gpu *const gpu = product->device->request->gpu;
    dti_gpu_free(gpu, product->memory);
    dti_gpu_free(gpu, product->copied);
    dti_gpu_free(gpu, product->scales);
    dti_cublaslt_plan_free(product->plan);
}

/* Multiplies once more and looks at what comes back. */
enum dti_status dti_matmul_planned_verify(struct dti_matmul_planned *product,
                                          struct dti_bench_item *item, struct dti_error *reterr)
{
    struct dti_matmul_device *const device = product->device;
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_matmul_errors errors = {.wrong = false};
    unsigned char *memory = NULL;
    enum dti_status status = make(product, &memory, reterr);
    if (status == DTI_OK)
        status = dti_gpu_fill(device->clock.stream, product->memory + matrices->c_at, POISON,
                              (size_t)matrices->c_bytes, reterr);
    if (status == DTI_OK)
        status = dti_matmul_planned_run(product, 0, reterr);
    if (status == DTI_OK)
        status =
            dti_gpu_download(device->clock.stream, memory + matrices->c_at,
                             product->memory + matrices->c_at, (size_t)matrices->c_bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->clock.stream, reterr);
    if (status == DTI_OK)
        dti_matrices_judge(&errors, matrices, memory, true, device->request->seed);
    if (errors.wrong)
        status = dti_fail(reterr, DTI_UNAVAILABLE,
                          "the product of %s matrices by %s is wrong at %llu,%llu", item->dtype,
                          item->engine, (unsigned long long)errors.row,
                          (unsigned long long)errors.column);
    item->has_sum = true;
    item->sum = errors.got;
    item->exact = errors.exact;
    item->error = errors.error;
    item->relative_error = errors.relative;
    if (status == DTI_OK)
        dti_matmul_truth_compare(device->truth, item, matrices, memory);
    if (!dti_gpu_hangs())
        free(memory);
    return status;
}
