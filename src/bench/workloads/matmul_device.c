/* SPDX-License-Identifier: MIT
 *
 * Matrix products on a CUDA device, by the device's clock. There are no kernels of our own: without
 * cuBLASLt nothing is measured. The limit of arithmetic is what the same library reaches with
 * matrices that are large enough; that of memory is a copy of B within the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/matmul_device.h"
#include "dtinfo/checked.h"

enum { MEMORY_BOUND = 64 }; /* operations on a byte, below which memory may be the limit */

enum dti_status dti_matmuls_check_device(const struct dti_bench_request *request,
                                         struct dti_error *reterr)
{
    uint64_t all = DTI_MATMUL_WORKSPACE_BYTES;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < 2 * request->dtype_count && status == DTI_OK; i++) {
        const enum dti_dtype dtype = request->dtypes[i / 2];
        const bool large = i % 2 == 1;
        struct dti_matrices matrices;
        uint64_t bytes;
        if (!dti_cublaslt_has(dtype) || (large && dti_matmul_is_large(request)))
            continue;
        status = dti_matrices_init(&matrices, dtype, large ? DTI_MATMUL_LARGE : request->m,
                                   large ? DTI_MATMUL_LARGE : request->n,
                                   large ? DTI_MATMUL_LARGE : request->k, reterr);
        if (status == DTI_OK &&
            (!dti_mul_u64(matrices.bytes, large ? 1 : dti_matmul_device_sets(request, &matrices),
                          &bytes) ||
             !dti_add_u64(all, bytes, &all) || !dti_add_u64(all, matrices.b_bytes, &all)))
            all = UINT64_MAX;
    }
    return status == DTI_OK ? dti_device_has_memory(request->gpu, all, reterr) : status;
}

static enum dti_status copy(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_matmul_planned *const product = context;
    return dti_gpu_copy(product->device->clock.stream, product->copied,
                        product->memory + set * product->matrices.bytes,
                        (size_t)product->matrices.b_bytes, reterr);
}

static struct dti_bench_item *add(struct dti_matmul_planned *product, const char *role,
                                  dti_device_pass_fn *pass)
{
    struct dti_matmul_device *const device = product->device;
    const struct dti_matrices *const matrices = &product->matrices;
    const struct dti_device_work work = {.pass = pass, .context = product, .sets = product->sets};
    struct dti_bench_item *const item =
        dti_device_add(&device->clock, device->table, role, device->request->gpu, &work,
                       strcmp(role, "matmul") != 0);
    if (!item)
        return NULL;
    (void)snprintf(item->dtype, sizeof item->dtype, "%s", dti_format_get(matrices->dtype)->name);
    device->of_item[device->table->count - 1] = product;
    if (pass == copy) {
        (void)snprintf(item->engine, sizeof item->engine, "driver");
        (void)snprintf(item->kernel, sizeof item->kernel, "device to device");
        item->bytes_read = item->bytes_written = matrices->b_bytes;
        return item;
    }
    (void)snprintf(item->engine, sizeof item->engine, "%s", dti_cublaslt_title(device->cublaslt));
    (void)snprintf(item->kernel, sizeof item->kernel, "%s%s",
                   dti_cublaslt_plan_words(product->plan), item->limit ? ", 4096x4096x4096" : "");
    (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%s",
                   dti_cublaslt_arithmetic(matrices->dtype));
    item->bytes_read = matrices->a_bytes + matrices->b_bytes;
    item->bytes_written = matrices->c_bytes;
    item->operations = 2 * (double)matrices->m * (double)matrices->n * (double)matrices->k;
    return item;
}

static enum dti_status add_limits(struct dti_matmul_planned *product, struct dti_error *reterr)
{
    struct dti_matmul_device *const device = product->device;
    const struct dti_matrices *const matrices = &product->matrices;
    struct dti_error error = {.text = ""};
    struct dti_matmul_planned *large;
    enum dti_status status = DTI_OK;
    if (!dti_matmul_is_large(device->request)) {
        status = dti_matmul_planned_new(&large, device, matrices->dtype, true, &error);
        if (status == DTI_OK && add(large, "peak", dti_matmul_planned_run))
            product->peak = device->table->count - 1;
        else if (status == DTI_UNAVAILABLE)
            status = DTI_OK; /* this size, but not that one: no limit */
        else if (status != DTI_OK && reterr)
            *reterr = error;
    }
    const double bytes = (double)matrices->a_bytes + (double)matrices->b_bytes;
    const double operations = 2 * (double)matrices->m * (double)matrices->n * (double)matrices->k;
    if (status == DTI_OK && operations <= MEMORY_BOUND * bytes) {
        status = dti_gpu_alloc(device->request->gpu, matrices->b_bytes, &product->copied, reterr);
        if (status == DTI_OK && add(product, "copy", copy))
            product->copy = device->table->count - 1;
    }
    return status;
}

static enum dti_status add_dtype(struct dti_matmul_device *device, enum dti_dtype dtype,
                                 struct dti_error *reterr)
{
    const char *const name = dti_format_get(dtype)->name;
    struct dti_error error = {.text = ""};
    struct dti_matmul_planned *product;
    if (!dti_cublaslt_has(dtype)) {
        dti_bench_add_note(device->table, "%s: no engine has such a product", name);
        return DTI_OK;
    }
    const enum dti_status status = dti_matmul_planned_new(&product, device, dtype, false, &error);
    if (status == DTI_UNAVAILABLE) {
        dti_bench_add_note(device->table, "%s: %s", name, error.text);
        return DTI_OK;
    }
    if (status != DTI_OK) {
        if (reterr)
            *reterr = error;
        return status;
    }
    if (!add(product, "matmul", dti_matmul_planned_run))
        return DTI_OK;
    return add_limits(product, reterr);
}

/* Seconds that an item takes at the rate of a limit; 0 when that is not known. */
static double least_seconds(const struct dti_bench_table *table, size_t at, size_t limit)
{
    struct dti_bench_figure time;
    if (limit == SIZE_MAX)
        return 0;
    const struct dti_bench_item *const own = &table->items[at], *other = &table->items[limit];
    dti_bench_time(&time, &table->bench, limit, dti_bench_main_place(&table->bench));
    if (time.samples == 0)
        return 0;
    return other->operations > 0 ? time.median * own->operations / other->operations
                                 : time.median * (double)(own->bytes_read + own->bytes_written) /
                                       (double)(other->bytes_read + other->bytes_written);
}

static enum dti_status measure(struct dti_matmul_device *device, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->request;
    struct dti_gpu *const gpu = request->gpu;
    struct dti_bench_table *const table = device->table;
    enum dti_status status =
        dti_gpu_alloc(gpu, DTI_MATMUL_WORKSPACE_BYTES, &device->workspace, reterr);
    if (status == DTI_OK)
        status = dti_device_clock_open(&device->clock, gpu, NULL, reterr);
    for (size_t i = 0; i < request->dtype_count && i < DTI_MATMUL_DTYPES && status == DTI_OK; i++)
        status = add_dtype(device, request->dtypes[i], reterr);
    if (status != DTI_OK || table->count == 0)
        return status;
    if (request->with_alloc)
        dti_bench_add_note(table, "memory is taken before the clock starts");
    for (size_t i = 0; i < device->count; i++) {
        table->memory += device->products[i].sets * device->products[i].matrices.bytes;
        if (device->products[i].sets > table->sets)
            table->sets = device->products[i].sets;
    }
    status = dti_device_bench_run(&device->clock, table, &request->options, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_matmul_truth_new(&device->truth, request->m, request->n, request->k, request->seed,
                                  reterr);
    for (size_t i = 0; i < table->count && status == DTI_OK; i++) {
        struct dti_matmul_planned *const product = device->of_item[i];
        if (table->items[i].limit)
            continue;
        status = dti_matmul_planned_verify(product, &table->items[i], reterr);
        const double peak = least_seconds(table, i, product->peak);
        const double copying = least_seconds(table, i, product->copy);
        table->items[i].beside = copying > peak ? product->copy : product->peak;
    }
    return status;
}

static void device_free(struct dti_matmul_device *device)
{
    struct dti_gpu *const gpu = device->request->gpu;
    for (size_t i = 0; i < device->count; i++)
        dti_matmul_planned_end(&device->products[i]);
    dti_gpu_free(gpu, device->workspace);
    dti_device_clock_close(&device->clock);
    dti_cublaslt_close(device->cublaslt);
    dti_matmul_truth_free(device->truth);
    free(device);
}

enum dti_status dti_matmuls_run_device(struct dti_bench_table *table,
                                       const struct dti_bench_request *request,
                                       struct dti_error *reterr)
{
    struct dti_error error = {.text = ""};
    memset(table, 0, sizeof *table);
    if (!dti_matmuls_want(request, "cublaslt")) {
        dti_bench_add_note(table, "%s: not for CUDA devices", request->engine);
        return DTI_OK;
    }
    struct dti_matmul_device *const device = calloc(1, sizeof *device);
    if (!device)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    device->request = request;
    device->table = table;
    enum dti_status status = dti_gpu_enter(request->gpu, reterr);
    if (status == DTI_OK) {
        status = dti_cublaslt_open(&device->cublaslt, &error);
        if (status == DTI_UNAVAILABLE) {
            dti_bench_add_note(table, "cublaslt: %s", error.text);
            status = DTI_OK;
        } else if (status != DTI_OK) {
            if (reterr)
                *reterr = error;
        } else {
            status = measure(device, reterr);
        }
    }
    device_free(device);
    if (status != DTI_OK)
        dti_bench_table_free(table);
    return status;
}
