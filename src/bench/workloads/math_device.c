/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) and dot products on a CUDA device, by its own clock. Its limits are copies within its
 * memory, and a kernel that only adds up what it reads. */
#include "bench/workloads/cast_buffers.h"
#include "bench/workloads/math_device_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"

enum { OPERANDS = DTI_MATH_OPERANDS, CHUNK = DTI_MATH_CHUNK };
#define THREADS_EACH          2048 /* of a multiprocessor, at the same time */
#define PROCESSORS_IF_UNKNOWN 64

/* Everything about a dtype's operands but the memory; its size. */
static enum dti_status lay_out(struct dti_math_device_data *data,
                               const struct dti_bench_request *request, enum dti_dtype dtype,
                               uint64_t *ret_size, struct dti_error *reterr)
{
    *data =
        (struct dti_math_device_data){.dtype = dtype, .width = dti_format_get(dtype)->width / 8};
    if (!dti_mul_u64(request->n, data->width, &data->bytes) ||
        !dti_device_lay_out(request, data->bytes, &data->stride, &data->sets))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu elements are more than there can be here",
                        (unsigned long long)request->n);
    *ret_size = data->sets * OPERANDS * data->stride;
    return DTI_OK;
}

/* Integers have no kernel there. */
static bool has_kernel(enum dti_dtype dtype)
{
    return dti_format_is_float(dti_format_get(dtype));
}

enum dti_status dti_math_device_check(const struct dti_bench_request *request,
                                      struct dti_error *reterr)
{
    uint64_t all = 0, size;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++) {
        struct dti_math_device_data data;
        if (!has_kernel(request->dtypes[i]))
            continue;
        status = lay_out(&data, request, request->dtypes[i], &size, reterr);
        if (status == DTI_OK && !dti_add_u64(all, size, &all))
            all = UINT64_MAX;
    }
    return status == DTI_OK ? dti_device_has_memory(request->gpu, all, reterr) : status;
}

static enum dti_status fill(struct dti_math_device_data *data, dti_math_pool_fn *make_pool,
                            struct dti_error *reterr)
{
    struct dti_math_device *const device = data->device;
    const size_t pool_bytes = DTI_MATH_POOL * data->width;
    unsigned char *const pool = malloc(pool_bytes), *const array = malloc((size_t)data->bytes + 1);
    enum dti_status status = DTI_OK;
    if (!pool || !array) {
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    } else {
        make_pool(pool, data->dtype, dti_math_pool_used(device->request), device->request->seed);
        dti_bench_repeat(array, (size_t)data->bytes, pool, pool_bytes);
    }
    for (size_t i = 0; i < data->sets * OPERANDS && status == DTI_OK; i++)
        status = dti_gpu_upload(device->clock.stream,
                                dti_math_operand_at(data, i / OPERANDS, i % OPERANDS), array,
                                (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->clock.stream, reterr);
    free(pool);
    free(array);
    return status;
}

static enum dti_status open_data(struct dti_math_device *device, enum dti_dtype dtype,
                                 dti_math_pool_fn *make_pool, struct dti_error *reterr)
{
    struct dti_math_device_data *const data = &device->data[device->data_count++];
    const struct dti_gpu_facts *const facts = dti_gpu_facts(device->request->gpu);
    const uint64_t processors =
        facts->multiprocessors == DTI_UNKNOWN ? PROCESSORS_IF_UNKNOWN : facts->multiprocessors;
    uint64_t size;
    enum dti_status status = lay_out(data, device->request, dtype, &size, reterr);
    if (status != DTI_OK)
        return status;
    data->device = device;
    const uint64_t chunks = (data->bytes + CHUNK - 1) / CHUNK;
    const uint64_t threads = processors * THREADS_EACH;
    data->parts = (uint32_t)(chunks < threads ? chunks : threads);
    status = dti_gpu_alloc(device->request->gpu, size, &data->memory, reterr);
    if (status == DTI_OK && dti_math_is_dot(device))
        status =
            dti_gpu_alloc(device->request->gpu, (uint64_t)data->parts * 8, &data->sums, reterr);
    return status == DTI_OK ? fill(data, make_pool, reterr) : status;
}

static enum dti_status launch(const struct dti_math_device_data *data, enum dti_gpu_kernel kernel,
                              size_t set, size_t operand, struct dti_error *reterr)
{
    const struct dti_math_device *const device = data->device;
    struct dti_gpu_math_args args;
    memset(&args, 0, sizeof args);
    args.a = dti_math_operand_at(data, set, operand);
    args.b = dti_math_operand_at(data, set, 1);
    args.dst = kernel == DTI_GPU_EXPSIN ? args.b : data->sums;
    args.n = device->request->n;
    args.dtype = (uint32_t)data->dtype;
    args.parts = data->parts;
    const uint64_t items =
        kernel == DTI_GPU_EXPSIN ? (data->bytes + CHUNK - 1) / CHUNK : data->parts;
    return dti_gpu_launch(device->clock.stream, kernel, &args, sizeof args, items, reterr);
}

enum dti_status dti_math_kernel_pass(void *data, size_t set, struct dti_error *reterr)
{
    const struct dti_math_device_data *const of = data;
    return launch(of, of->device->kernel, set, 0, reterr);
}

static enum dti_status copy_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_math_device_data *const data = context;
    return dti_gpu_copy(data->device->clock.stream, dti_math_operand_at(data, set, 1),
                        dti_math_operand_at(data, set, 0), (size_t)data->bytes, reterr);
}

static enum dti_status read_pass(void *context, size_t set, struct dti_error *reterr)
{
    const enum dti_status status = launch(context, DTI_GPU_SUM, set, 0, reterr);
    return status == DTI_OK ? launch(context, DTI_GPU_SUM, set, 1, reterr) : status;
}

static struct dti_bench_item *add(struct dti_math_device_data *data, const char *role,
                                  const char *kernel, dti_device_pass_fn *pass, bool subject)
{
    struct dti_math_device *const device = data->device;
    const struct dti_device_work work = {.pass = pass, .context = data, .sets = data->sets};
    struct dti_bench_item *const item =
        dti_device_add(&device->clock, device->table, role, device->request->gpu, &work, !subject);
    if (!item)
        return NULL;
    (void)snprintf(item->kernel, sizeof item->kernel, "%s", dti_kernel_title(kernel));
    item->bytes_read = data->bytes;
    return item;
}

static void add_data(struct dti_math_device *device, struct dti_math_device_data *data)
{
    const bool dot = dti_math_is_dot(device);
    const char *const name = dti_format_get(data->dtype)->name;
    data->item = device->table->count;
    struct dti_bench_item *item =
        add(data, dot ? "dot" : "expsin", dti_gpu_rows[device->kernel].name, dti_math_kernel_pass,
            true);
    if (!item)
        return;
    (void)snprintf(item->dtype, sizeof item->dtype, "%s", name);
    (void)snprintf(item->engine, sizeof item->engine, "dtinfo");
    if (dot) {
        item->bytes_read = OPERANDS * data->bytes;
        item->operations = 2 * (double)device->request->n;
        (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%lu %s sums, fused multiply-add",
                       (unsigned long)data->parts * (CHUNK / data->width),
                       data->dtype == DTI_FP64 ? "fp64" : "fp32");
        item = add(data, "read", dti_gpu_rows[DTI_GPU_SUM].name, read_pass, false);
        if (item)
            item->bytes_read = OPERANDS * data->bytes;
    } else {
        item->bytes_written = data->bytes;
        item->operations =
            dti_expsin_find(data->dtype, DTI_LEVEL_SCALAR)->operations * (double)device->request->n;
        (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%s, fused multiply-add",
                       data->dtype == DTI_FP64 ? "fp64" : "fp32");
        item = add(data, "copy", "device to device", copy_pass, false);
        if (item)
            item->bytes_written = data->bytes;
    }
    if (item) {
        (void)snprintf(item->engine, sizeof item->engine, dot ? "dtinfo" : "driver");
        (void)snprintf(item->dtype, sizeof item->dtype, "%s", name);
        device->table->items[data->item].beside = data->item + 1;
    }
}

static enum dti_status measure(struct dti_math_device *device, dti_math_pool_fn *make_pool,
                               struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->request;
    struct dti_gpu *const gpu = request->gpu;
    enum dti_status status = dti_gpu_load(gpu, &(double){0}, reterr);
    if (status == DTI_OK)
        status = dti_device_clock_open(&device->clock, gpu, NULL, reterr);
    for (size_t i = 0; i < request->dtype_count && i < DTI_MATH_DTYPES_MAX && status == DTI_OK;
         i++) {
        if (!has_kernel(request->dtypes[i])) {
            dti_bench_add_note(device->table, "%s: no kernel for this device",
                               dti_format_get(request->dtypes[i])->name);
            continue;
        }
        status = open_data(device, request->dtypes[i], make_pool, reterr);
        if (status == DTI_OK)
            add_data(device, &device->data[device->data_count - 1]);
    }
    if (status != DTI_OK || device->table->count == 0)
        return status;
    device->table->sets = device->data[0].sets;
    status = dti_device_bench_run(&device->clock, device->table, &request->options, reterr);
    for (size_t i = 0; i < device->data_count && status == DTI_OK; i++)
        status = dti_math_device_verify(&device->data[i], reterr);
    return status;
}

enum dti_status dti_math_device_run(struct dti_bench_table *ret,
                                    const struct dti_bench_request *request,
                                    enum dti_gpu_kernel kernel, dti_math_pool_fn *make_pool,
                                    struct dti_error *reterr)
{
    struct dti_math_device *const device = calloc(1, sizeof *device);
    if (!device)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    device->request = request;
    device->table = ret;
    device->kernel = kernel;
    const enum dti_status status = measure(device, make_pool, reterr);
    if (status == DTI_OK && request->with_alloc)
        dti_bench_add_note(ret, "memory of the device is taken before the clock starts");
    for (size_t i = 0; i < device->data_count; i++) {
        ret->memory += device->data[i].sets * OPERANDS * device->data[i].stride;
        dti_gpu_free(request->gpu, device->data[i].memory);
        dti_gpu_free(request->gpu, device->data[i].sums);
    }
    dti_device_clock_close(&device->clock);
    free(device);
    if (status != DTI_OK)
        dti_bench_table_free(ret);
    return status;
}
