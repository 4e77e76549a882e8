/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) and dot products on a CUDA device, by its own clock. Its limits are copies within its
 * memory, and a kernel that only adds up what it reads. */
#include "bench/measure/device_clock.h"
#include "bench/workloads/math_device_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"

enum { OPERANDS = DTI_MATH_OPERANDS, CHUNK = DTI_MATH_CHUNK, ALIGNMENT = 256, SETS_MAX = 64 };
#define L2_BYTES_IF_UNKNOWN   (UINT64_C(64) << 20)
#define THREADS_EACH          2048 /* of a multiprocessor, at the same time */
#define PROCESSORS_IF_UNKNOWN 64

/* Everything about a dtype's operands but the memory; its size. */
static enum dti_status lay_out(struct dti_math_device_data *data,
                               const struct dti_bench_request *request, enum dti_dtype dtype,
                               uint64_t *ret_size, struct dti_error *reterr)
{
    const struct dti_gpu_facts *const facts = dti_gpu_facts(request->gpu);
    const uint64_t l2 = facts->l2_bytes == DTI_UNKNOWN ? L2_BYTES_IF_UNKNOWN : facts->l2_bytes;
    *data =
        (struct dti_math_device_data){.dtype = dtype, .width = dti_format_get(dtype)->width / 8};
    uint64_t padded, both;
    if (!dti_mul_u64(request->n, data->width, &data->bytes) ||
        !dti_add_u64(data->bytes, ALIGNMENT - 1, &padded) ||
        !dti_mul_u64(padded / ALIGNMENT * ALIGNMENT, OPERANDS, &both) ||
        both > SIZE_MAX / 2 / SETS_MAX)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu elements are more than there can be here",
                        (unsigned long long)request->n);
    data->stride = both / OPERANDS;
    data->sets = 1;
    if (request->cache == DTI_BENCH_COLD) {
        const uint64_t sets = 2 * (l2 / (both > 0 ? both : 1)) + 2;
        data->sets = sets < SETS_MAX ? (size_t)sets : SETS_MAX;
    }
    *ret_size = data->sets * both;
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
    uint64_t all = 0, size, there;
    enum dti_status status = dti_gpu_free_bytes(request->gpu, &there, reterr);
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++) {
        struct dti_math_device_data data;
        if (!has_kernel(request->dtypes[i]))
            continue;
        status = lay_out(&data, request, request->dtypes[i], &size, reterr);
        if (status == DTI_OK && !dti_add_u64(all, size, &all))
            all = UINT64_MAX;
    }
    if (status == DTI_OK && all > there - there / 16)
        return dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_MEASURE_LESS,
                               "%s has %llu MiB free and %llu MiB are needed",
                               dti_gpu_facts(request->gpu)->id, (unsigned long long)(there >> 20),
                               (unsigned long long)(all >> 20));
    return status;
}

/* n elements of the pool again and again. */
static void repeat(unsigned char *array, size_t bytes, const unsigned char *pool, size_t pool_bytes)
{
    for (size_t done = 0; done < bytes; done += pool_bytes)
        memcpy(array + done, pool, bytes - done < pool_bytes ? bytes - done : pool_bytes);
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
        repeat(array, (size_t)data->bytes, pool, pool_bytes);
    }
    for (size_t i = 0; i < data->sets * OPERANDS && status == DTI_OK; i++)
        status =
            dti_gpu_upload(device->stream, dti_math_operand_at(data, i / OPERANDS, i % OPERANDS),
                           array, (size_t)data->bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(device->stream, reterr);
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
    return dti_gpu_launch(device->stream, kernel, &args, sizeof args, items, reterr);
}

typedef enum dti_status pass_fn(const struct dti_math_device_data *data, size_t set,
                                struct dti_error *reterr);

enum dti_status dti_math_kernel_pass(const struct dti_math_device_data *data, size_t set,
                                     struct dti_error *reterr)
{
    return launch(data, data->device->kernel, set, 0, reterr);
}

static enum dti_status copy_pass(const struct dti_math_device_data *data, size_t set,
                                 struct dti_error *reterr)
{
    return dti_gpu_copy(data->device->stream, dti_math_operand_at(data, set, 1),
                        dti_math_operand_at(data, set, 0), (size_t)data->bytes, reterr);
}

static enum dti_status read_pass(const struct dti_math_device_data *data, size_t set,
                                 struct dti_error *reterr)
{
    const enum dti_status status = launch(data, DTI_GPU_SUM, set, 0, reterr);
    return status == DTI_OK ? launch(data, DTI_GPU_SUM, set, 1, reterr) : status;
}

/* The seconds between two moments on the stream, with the passes between them. */
static double timed(struct dti_math_device_data *data, size_t set, uint64_t passes, pass_fn *pass)
{
    struct dti_math_device *const device = data->device;
    enum dti_status status = dti_gpu_record(device->stream, device->begin, &device->error);
    for (uint64_t i = 0; i < passes && status == DTI_OK; i++)
        status = pass(data, (size_t)((set + i) % data->sets), &device->error);
    return dti_device_seconds(device->stream, device->begin, device->end, status, &device->error);
}

static double time_kernel(void *context, size_t set, uint64_t passes)
{
    return timed(context, set, passes, dti_math_kernel_pass);
}

static double time_copy(void *context, size_t set, uint64_t passes)
{
    return timed(context, set, passes, copy_pass);
}

static double time_read(void *context, size_t set, uint64_t passes)
{
    return timed(context, set, passes, read_pass);
}

static struct dti_bench_item *add(struct dti_math_device_data *data, const char *role,
                                  const char *kernel, double (*time)(void *, size_t, uint64_t),
                                  bool subject)
{
    struct dti_math_device *const device = data->device;
    const size_t at = device->table->count;
    struct dti_bench_item *const item =
        dti_bench_add_item(device->table, role, dti_gpu_facts(device->request->gpu)->id);
    if (!item)
        return NULL;
    item->limit = !subject;
    item->from_events = true;
    (void)snprintf(item->kernel, sizeof item->kernel, "%s", dti_kernel_title(kernel));
    item->bytes_read = data->bytes;
    device->candidates[at] = (struct dti_bench_candidate){
        .timed = time, .context = data, .sets = data->sets, .subject = subject};
    return item;
}

static void add_data(struct dti_math_device *device, struct dti_math_device_data *data)
{
    const bool dot = dti_math_is_dot(device);
    const char *const name = dti_format_get(data->dtype)->name;
    data->item = device->table->count;
    struct dti_bench_item *item =
        add(data, dot ? "dot" : "expsin", dti_gpu_rows[device->kernel].name, time_kernel, true);
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
        item = add(data, "read", dti_gpu_rows[DTI_GPU_SUM].name, time_read, false);
        if (item)
            item->bytes_read = OPERANDS * data->bytes;
    } else {
        item->bytes_written = data->bytes;
        item->operations =
            dti_expsin_find(data->dtype, DTI_LEVEL_SCALAR)->operations * (double)device->request->n;
        (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%s, fused multiply-add",
                       data->dtype == DTI_FP64 ? "fp64" : "fp32");
        item = add(data, "copy", "device to device", time_copy, false);
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
        status = dti_gpu_stream_new(gpu, &device->stream, reterr);
    if (status == DTI_OK)
        status = dti_gpu_event_new(gpu, &device->begin, reterr);
    if (status == DTI_OK)
        status = dti_gpu_event_new(gpu, &device->end, reterr);
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
    status = dti_bench_run(&device->table->bench, device->candidates, device->table->count, NULL,
                           &request->options, reterr);
    if (status == DTI_DEVICE_FAILED) {
        if (reterr)
            *reterr = device->error;
        return device->error.status;
    }
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
        if (device->data[i].memory)
            dti_gpu_free(request->gpu, device->data[i].memory);
        if (device->data[i].sums)
            dti_gpu_free(request->gpu, device->data[i].sums);
    }
    dti_gpu_event_free(device->begin);
    dti_gpu_event_free(device->end);
    dti_gpu_stream_free(device->stream);
    free(device);
    if (status != DTI_OK)
        dti_bench_table_free(ret);
    return status;
}
