/* SPDX-License-Identifier: MIT
 *
 * Matrix products on a CUDA device, by the device's clock. There are no own kernels: without
 * cuBLASLt nothing is measured. The limit of arithmetic is the rate of the same library with large
 * matrices; that of memory is a copy of B within the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engines/engine_cublaslt.h"
#include "bench/workloads/matmul_parts.h"
#include "dtinfo/checked.h"

enum { LARGE = 4096, SETS_MAX = 16, POISON = 0xA5 };
#define WORKSPACE_BYTES (UINT64_C(32) << 20)

struct matmul_device;

/* A product of a dtype and of a size, with its matrices in the device's memory. */
struct planned {
    struct matmul_device *device;
    struct dti_matrices matrices;
    struct dti_cublaslt_plan *plan;
    dti_gpu_address memory, copied; /* sets of matrices; what B is copied to, or 0 */
    dti_gpu_address scales;         /* of A and of B, or 0 */
    size_t sets;
    size_t item;       /* SIZE_MAX: of a limit */
    size_t peak, copy; /* items; SIZE_MAX */
};

struct matmul_device {
    struct dti_frame frame;
    struct dti_cublaslt *cublaslt;
    dti_gpu_address workspace;
    struct planned products[2 * DTI_MATMUL_DTYPES]; /* and those of the limits */
    size_t count;
    struct dti_matmul_truth *truth;
};

/* Whether the product is as large as those used as limits. */
static bool is_large(const struct dti_bench_request *request)
{
    return request->m >= LARGE && request->n >= LARGE && request->k >= LARGE;
}

/* The matrices of a product, the requested or a large one, and the number of sets. */
static enum dti_status lay_out(const struct dti_bench_request *request, enum dti_dtype dtype,
                               bool large, struct dti_matrices *ret, size_t *ret_sets,
                               struct dti_error *reterr)
{
    const enum dti_status status =
        dti_matrices_init(ret, dtype, large ? LARGE : request->m, large ? LARGE : request->n,
                          large ? LARGE : request->k, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t l2 = dti_device_cache_bytes(request->gpu);
    const bool cold = request->cache == DTI_BENCH_COLD && !large;
    const uint64_t sets = cold ? 2 * (l2 / ret->bytes) + 2 : 1;
    *ret_sets = sets < SETS_MAX ? (size_t)sets : SETS_MAX;
    return DTI_OK;
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    uint64_t all = WORKSPACE_BYTES;
    enum dti_status status = dti_matmul_check_sizes(request, reterr);
    for (size_t i = 0; i < 2 * request->dtype_count && status == DTI_OK; i++) {
        const enum dti_dtype dtype = request->dtypes[i / 2];
        const bool large = i % 2 == 1;
        struct dti_matrices matrices;
        uint64_t bytes;
        size_t sets;
        if (!dti_cublaslt_row(dtype) || (large && is_large(request)))
            continue;
        status = lay_out(request, dtype, large, &matrices, &sets, reterr);
        if (status == DTI_OK &&
            (!dti_mul_u64(matrices.bytes, sets, &bytes) || !dti_add_u64(all, bytes, &all) ||
             !dti_add_u64(all, matrices.b_bytes, &all)))
            all = UINT64_MAX;
    }
    return status == DTI_OK ? dti_device_has_memory(request->gpu, all, reterr) : status;
}

/* B column by column, in place of B. */
static enum dti_status transpose(const struct dti_matrices *matrices, const unsigned char *memory,
                                 unsigned char **ret, struct dti_error *reterr)
{
    const size_t element = matrices->element;
    unsigned char *const transposed = malloc((size_t)matrices->b_bytes);
    if (!transposed)
        return dti_no_memory(reterr);
    for (uint64_t row = 0; row < matrices->k; row++) {
        for (uint64_t column = 0; column < matrices->n; column++)
            memcpy(transposed + (column * matrices->k + row) * element,
                   memory + (row * matrices->n + column) * element, element);
    }
    *ret = transposed;
    return DTI_OK;
}

static enum dti_status upload(const struct planned *product, const unsigned char *memory,
                              struct dti_error *reterr)
{
    struct dti_gpu_stream *const stream = product->device->frame.streams[0];
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *transposed = NULL;
    enum dti_status status = DTI_OK;
    if (dti_cublaslt_row(matrices->dtype)->by_columns)
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

/* The original matrices on the host. */
static enum dti_status make(struct planned *product, unsigned char **ret, struct dti_error *reterr)
{
    unsigned char *const memory = malloc((size_t)product->matrices.bytes);
    if (!memory)
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_matrices_load(&product->matrices, memory, product->device->frame.request, reterr);
    if (status != DTI_OK)
        free(memory);
    else
        *ret = memory;
    return status;
}

static enum dti_status multiply(void *context, size_t set, struct dti_error *reterr)
{
    const struct planned *const product = context;
    const struct dti_matrices *const matrices = &product->matrices;
    const dti_gpu_address at = product->memory + set * matrices->bytes;
    return dti_cublaslt_run(product->plan, at + matrices->c_at, at + matrices->a_at, at,
                            product->device->workspace, product->device->frame.streams[0], reterr);
}

/* The product's resources on the device: scales, plan, memory, and its content. */
static enum dti_status fill(struct planned *product, struct dti_error *reterr)
{
    struct matmul_device *const device = product->device;
    struct dti_gpu *const gpu = device->frame.gpu;
    const struct dti_matrices *const matrices = &product->matrices;
    unsigned char *memory = NULL;
    enum dti_status status = DTI_OK;
    if (dti_cublaslt_row(matrices->dtype)->scales)
        status = dti_gpu_alloc(gpu, sizeof matrices->scales, &product->scales, reterr);
    if (status == DTI_OK)
        status = dti_cublaslt_plan_new(&product->plan, device->cublaslt, matrices->dtype,
                                       matrices->m, matrices->n, matrices->k, product->scales,
                                       WORKSPACE_BYTES, reterr);
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

static void planned_end(struct planned *product)
{
    struct dti_gpu *const gpu = product->device->frame.gpu;
    dti_gpu_free(gpu, product->memory);
    dti_gpu_free(gpu, product->copied);
    dti_gpu_free(gpu, product->scales);
    dti_cublaslt_plan_free(product->plan);
}

/* Plans a product and adds it, large ones as the limit of arithmetic. Fails with DTI_UNAVAILABLE if
 * the engine does not support it; *ret is NULL if the table has no room. */
static enum dti_status add_product(struct planned **ret, struct matmul_device *device,
                                   enum dti_dtype dtype, bool large, struct dti_error *reterr)
{
    struct dti_frame *const frame = &device->frame;
    const struct dti_gpu_facts *const facts = dti_gpu_facts(frame->gpu);
    const unsigned least = dti_cublaslt_row(dtype)->least_capability;
    struct planned *const product = &device->products[device->count];
    char kernel[DTI_BENCH_WORDS];
    if (facts->major * 10 + facts->minor < least)
        return dti_fail(reterr, DTI_UNAVAILABLE, "needs compute capability %u.%u", least / 10,
                        least % 10);
    *product =
        (struct planned){.device = device, .item = SIZE_MAX, .peak = SIZE_MAX, .copy = SIZE_MAX};
    enum dti_status status =
        lay_out(frame->request, dtype, large, &product->matrices, &product->sets, reterr);
    if (status != DTI_OK)
        return status;
    status = fill(product, reterr);
    if (status == DTI_UNAVAILABLE)
        planned_end(product);
    else
        device->count++;
    if (status != DTI_OK)
        return status;
    frame->table->memory += product->sets * product->matrices.bytes;
    if (product->sets > frame->table->sets)
        frame->table->sets = product->sets;
    (void)snprintf(kernel, sizeof kernel, "%s%s", dti_cublaslt_plan_words(product->plan),
                   large ? ", 4096x4096x4096" : "");
    struct dti_bench_entry entry = dti_matmul_entry(&product->matrices);
    entry.role = large ? "peak" : "matmul";
    entry.limit = large;
    entry.engine = dti_cublaslt_title(device->cublaslt);
    entry.kernel = kernel;
    entry.arithmetic = dti_cublaslt_row(dtype)->arithmetic;
    entry.pass = multiply;
    entry.by_events = true;
    entry.context = product;
    entry.sets = product->sets;
    *ret = dti_frame_add(frame, &entry) ? product : NULL;
    return DTI_OK;
}

static enum dti_status copy(void *context, size_t set, struct dti_error *reterr)
{
    const struct planned *const product = context;
    return dti_gpu_copy(product->device->frame.streams[0], product->copied,
                        product->memory + set * product->matrices.bytes,
                        (size_t)product->matrices.b_bytes, reterr);
}

static enum dti_status add_limits(struct planned *product, struct dti_error *reterr)
{
    struct matmul_device *const device = product->device;
    struct dti_frame *const frame = &device->frame;
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_error error = {.text = ""};
    struct planned *large;
    enum dti_status status = DTI_OK;
    if (!is_large(frame->request)) {
        status = add_product(&large, device, matrices->dtype, true, &error);
        if (status == DTI_OK && large)
            product->peak = frame->table->count - 1;
        else if (status == DTI_UNAVAILABLE)
            status = DTI_OK; /* this size, but not that one: no limit */
        else if (status != DTI_OK && reterr)
            *reterr = error;
    }
    if (status != DTI_OK || !dti_matmul_is_memory_bound(matrices))
        return status;
    status = dti_gpu_alloc(frame->gpu, matrices->b_bytes, &product->copied, reterr);
    if (status == DTI_OK && dti_frame_add(frame, &(struct dti_bench_entry){
                                                     .role = "copy",
                                                     .dtype = dti_format_get(matrices->dtype)->name,
                                                     .engine = "driver",
                                                     .kernel = "device to device",
                                                     .bytes_read = matrices->b_bytes,
                                                     .bytes_written = matrices->b_bytes,
                                                     .limit = true,
                                                     .pass = copy,
                                                     .by_events = true,
                                                     .context = product,
                                                     .sets = product->sets}))
        product->copy = frame->table->count - 1;
    return status;
}

static enum dti_status add_dtype(struct matmul_device *device, enum dti_dtype dtype,
                                 struct dti_error *reterr)
{
    struct dti_bench_table *const table = device->frame.table;
    const char *const name = dti_format_get(dtype)->name;
    struct dti_error error = {.text = ""};
    struct planned *product;
    if (!dti_cublaslt_row(dtype)) {
        dti_bench_add_note(table, "%s: no engine has such a product", name);
        return DTI_OK;
    }
    const enum dti_status status = add_product(&product, device, dtype, false, &error);
    if (status == DTI_UNAVAILABLE) {
        dti_bench_add_note(table, "%s: %s", name, error.text);
        return DTI_OK;
    }
    if (status != DTI_OK && reterr)
        *reterr = error;
    if (status != DTI_OK || !product)
        return status;
    product->item = table->count - 1;
    return add_limits(product, reterr);
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct matmul_device *const device = (struct matmul_device *)frame;
    const struct dti_bench_request *const request = frame->request;
    struct dti_error error = {.text = ""};
    if (!dti_matmul_wants(request, "cublaslt")) {
        dti_bench_add_note(frame->table, "%s: not for CUDA devices", request->engine);
        return DTI_OK;
    }
    enum dti_status status = dti_gpu_enter(frame->gpu, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cublaslt_open(&device->cublaslt, &error);
    if (status == DTI_UNAVAILABLE) {
        dti_bench_add_note(frame->table, "cublaslt: %s", error.text);
        return DTI_OK;
    }
    if (status != DTI_OK && reterr)
        *reterr = error;
    if (status == DTI_OK)
        status = dti_gpu_alloc(frame->gpu, WORKSPACE_BYTES, &device->workspace, reterr);
    if (status == DTI_OK)
        status = dti_frame_open(frame, 1, reterr);
    for (size_t i = 0; i < request->dtype_count && i < DTI_MATMUL_DTYPES && status == DTI_OK; i++)
        status = add_dtype(device, request->dtypes[i], reterr);
    if (status == DTI_OK && frame->table->count > 0 && request->with_alloc)
        dti_bench_add_note(frame->table, "memory is taken before the clock starts");
    return status;
}

/* Multiplies once more and verifies the result. */
static enum dti_status verify_product(struct planned *product, struct dti_error *reterr)
{
    const struct matmul_device *const device = product->device;
    struct dti_gpu_stream *const stream = device->frame.streams[0];
    struct dti_bench_table *const table = device->frame.table;
    const struct dti_matrices *const matrices = &product->matrices;
    const size_t bytes = (size_t)matrices->c_bytes;
    unsigned char *memory = NULL;
    enum dti_status status = make(product, &memory, reterr);
    if (status == DTI_OK)
        status = dti_gpu_fill(stream, product->memory + matrices->c_at, POISON, bytes, reterr);
    if (status == DTI_OK)
        status = multiply(product, 0, reterr);
    if (status == DTI_OK)
        status = dti_gpu_download(stream, memory + matrices->c_at, product->memory + matrices->c_at,
                                  bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, reterr);
    if (status == DTI_OK)
        status = dti_matmul_judge(&table->items[product->item], matrices, memory, device->truth,
                                  device->frame.request, DTI_UNAVAILABLE, reterr);
    if (!dti_gpu_hangs())
        free(memory);
    dti_matmul_set_beside(table, product->item, product->copy, product->peak);
    return status;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct matmul_device *const device = (struct matmul_device *)frame;
    const struct dti_bench_request *const request = frame->request;
    enum dti_status status = dti_matmul_truth_of(&device->truth, request, reterr);
    for (size_t i = 0; i < device->count && status == DTI_OK; i++) {
        if (device->products[i].item != SIZE_MAX)
            status = verify_product(&device->products[i], reterr);
    }
    return status;
}

static void end(struct dti_frame *frame)
{
    struct matmul_device *const device = (struct matmul_device *)frame;
    for (size_t i = 0; i < device->count; i++)
        planned_end(&device->products[i]);
    dti_gpu_free(frame->gpu, device->workspace);
    dti_cublaslt_close(device->cublaslt);
    dti_matmul_truth_free(device->truth);
}

const struct dti_bench_workload dti_matmul_on_device =
    DTI_WORKLOAD(NULL, struct matmul_device, check, prepare, verify, end);
