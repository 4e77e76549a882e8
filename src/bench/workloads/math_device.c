/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) and dot products on a CUDA device, timed by its own clock and verified on the host.
 * The limits are copies within its memory, and a kernel that only sums what it reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/math.h"
#include "kernels/fp64.h"
#include "kernels/kernel.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum { OPERANDS = 2, CHUNK = 16 }; /* device code works on chunks of 16 bytes */
#define THREADS_EACH          2048 /* threads resident on a multiprocessor */
#define PROCESSORS_IF_UNKNOWN 64

struct math_device;

/* The operands of a dtype and the work on them. */
struct math_device_data {
    struct math_device *device;
    struct dti_math_data of;
    struct dti_device_pairs pairs;
    dti_gpu_address sums;
    uint32_t parts;
    size_t item;
};

struct math_device {
    struct dti_frame frame;
    const struct dti_math_work *work;
    struct math_device_data data[DTI_MATH_DTYPES_MAX];
    size_t data_count;
};

/* Lays out a dtype's operands without allocating; returns the size. */
static enum dti_status lay_out(struct math_device_data *data,
                               const struct dti_bench_request *request, enum dti_dtype dtype,
                               uint64_t *ret_size, struct dti_error *reterr)
{
    *data = (struct math_device_data){
        .of = {.dtype = dtype, .width = dti_format_get(dtype)->width / 8}};
    if (!dti_mul_u64(request->n, data->of.width, &data->of.bytes) ||
        !dti_device_pairs_lay_out(&data->pairs, request, data->of.bytes, ret_size))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu elements exceed the address space",
                        (unsigned long long)request->n);
    return DTI_OK;
}

/* Integers have no kernel. */
static bool has_kernel(enum dti_dtype dtype)
{
    return dti_format_is_float(dti_format_get(dtype));
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    uint64_t all = 0, size;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++) {
        struct math_device_data data;
        if (!has_kernel(request->dtypes[i]))
            continue;
        status = lay_out(&data, request, request->dtypes[i], &size, reterr);
        if (status == DTI_OK && !dti_add_u64(all, size, &all))
            all = UINT64_MAX;
    }
    return status == DTI_OK ? dti_device_has_memory(request->gpu, all, reterr) : status;
}

/* Fills one operand in all sets. */
static enum dti_status fill_operand(struct math_device_data *data, size_t operand,
                                    unsigned char *array, struct dti_error *reterr)
{
    const struct math_device *const device = data->device;
    struct dti_gpu_stream *const stream = device->frame.streams[0];
    const size_t bytes = (size_t)data->of.bytes;
    unsigned char *pool;
    size_t pool_bytes;
    enum dti_status status = dti_math_operand(
        &pool, &pool_bytes, device->work, device->frame.request, data->of.dtype, operand, reterr);
    if (status != DTI_OK)
        return status;
    dti_bench_repeat(array, bytes, pool, pool_bytes);
    dti_free(pool);
    for (size_t set = 0; set < data->pairs.sets && status == DTI_OK; set++)
        status = dti_gpu_upload(stream, dti_device_pairs_at(&data->pairs, set, operand), array,
                                bytes, reterr);
    return status == DTI_OK ? dti_gpu_finish(stream, reterr) : status;
}

static enum dti_status fill(struct math_device_data *data, struct dti_error *reterr)
{
    unsigned char *const array = dti_malloc((size_t)data->of.bytes + 1);
    enum dti_status status = array ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < OPERANDS && status == DTI_OK; i++)
        status = fill_operand(data, i, array, reterr);
    dti_free(array);
    return status;
}

static enum dti_status open_data(struct math_device *device, enum dti_dtype dtype,
                                 struct dti_error *reterr)
{
    struct dti_frame *const frame = &device->frame;
    struct math_device_data *const data = &device->data[device->data_count++];
    const struct dti_gpu_facts *const facts = dti_gpu_facts(frame->gpu);
    const uint64_t processors =
        facts->multiprocessors == DTI_UNKNOWN ? PROCESSORS_IF_UNKNOWN : facts->multiprocessors;
    uint64_t size;
    enum dti_status status = lay_out(data, frame->request, dtype, &size, reterr);
    if (status != DTI_OK)
        return status;
    data->device = device;
    const uint64_t chunks = (data->of.bytes + CHUNK - 1) / CHUNK;
    const uint64_t threads = processors * THREADS_EACH;
    data->parts = (uint32_t)(chunks < threads ? chunks : threads);
    frame->table->memory += size;
    frame->table->sets = device->data[0].pairs.sets;
    status = dti_gpu_alloc(frame->gpu, size, &data->pairs.memory, reterr);
    if (status == DTI_OK && device->work->dot)
        status = dti_gpu_alloc(frame->gpu, (uint64_t)data->parts * 8, &data->sums, reterr);
    return status == DTI_OK ? fill(data, reterr) : status;
}

static enum dti_status launch(const struct math_device_data *data, enum dti_gpu_kernel kernel,
                              size_t set, size_t operand, struct dti_error *reterr)
{
    const struct dti_frame *const frame = &data->device->frame;
    struct dti_gpu_math_args args;
    memset(&args, 0, sizeof args);
    args.a = dti_device_pairs_at(&data->pairs, set, operand);
    args.b = dti_device_pairs_at(&data->pairs, set, 1);
    args.dst = kernel == DTI_GPU_EXPSIN ? args.b : data->sums;
    args.n = frame->request->n;
    args.dtype = (uint32_t)data->of.dtype;
    args.parts = data->parts;
    const uint64_t items =
        kernel == DTI_GPU_EXPSIN ? (data->of.bytes + CHUNK - 1) / CHUNK : data->parts;
    return dti_gpu_launch(frame->streams[0], kernel, &args, sizeof args, items, reterr);
}

static enum dti_status kernel_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct math_device_data *const data = context;
    return launch(data, data->device->work->kernel, set, 0, reterr);
}

static enum dti_status copy_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct math_device_data *const data = context;
    return dti_gpu_copy(data->device->frame.streams[0], dti_device_pairs_at(&data->pairs, set, 1),
                        dti_device_pairs_at(&data->pairs, set, 0), (size_t)data->of.bytes, reterr);
}

static enum dti_status read_pass(void *context, size_t set, struct dti_error *reterr)
{
    const enum dti_status status = launch(context, DTI_GPU_SUM, set, 0, reterr);
    return status == DTI_OK ? launch(context, DTI_GPU_SUM, set, 1, reterr) : status;
}

/* Adds the kernel and its memory limit. */
static void add_data(struct math_device_data *data)
{
    const struct math_device *const device = data->device;
    struct dti_frame *const frame = &data->device->frame;
    const bool dot = device->work->dot;
    const enum dti_dtype dtype = data->of.dtype;
    const char *const number = dtype == DTI_FP64 ? "fp64" : "fp32";
    char arithmetic[DTI_BENCH_WORDS];
    if (dot)
        (void)snprintf(arithmetic, sizeof arithmetic, "%lu %s sums, fused multiply-add",
                       (unsigned long)data->parts * (CHUNK / data->of.width), number);
    else
        (void)snprintf(arithmetic, sizeof arithmetic, "%s, fused multiply-add", number);
    struct dti_bench_entry entry = {
        .role = device->work->role,
        .dtype = dti_format_get(dtype)->name,
        .engine = "dtinfo",
        .kernel = dti_kernel_title(dti_gpu_rows[device->work->kernel].name),
        .arithmetic = arithmetic,
        .bytes_read = dot ? OPERANDS * data->of.bytes : data->of.bytes,
        .bytes_written = dot ? 0 : data->of.bytes,
        .operations = (dot ? 2 : dti_expsin_find(dtype, DTI_LEVEL_SCALAR)->operations) *
                      (double)frame->request->n,
        .pass = kernel_pass,
        .by_events = true,
        .context = data,
        .sets = data->pairs.sets,
    };
    data->item = frame->table->count;
    struct dti_bench_item *const item = dti_frame_add(frame, &entry);
    entry.role = dot ? "read" : "copy";
    entry.engine = dot ? "dtinfo" : "driver";
    entry.kernel = dti_kernel_title(dot ? dti_gpu_rows[DTI_GPU_SUM].name : "device to device");
    entry.arithmetic = NULL;
    entry.operations = 0;
    entry.limit = true;
    entry.pass = dot ? read_pass : copy_pass;
    if (item && dti_frame_add(frame, &entry))
        item->limit_item = data->item + 1;
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct math_device *const device = (struct math_device *)frame;
    const struct dti_bench_request *const request = frame->request;
    device->work = frame->workload->own;
    enum dti_status status = dti_gpu_load(frame->gpu, &(double){0}, reterr);
    if (status == DTI_OK)
        status = dti_frame_open(frame, 1, reterr);
    for (size_t i = 0; i < request->dtype_count && i < DTI_MATH_DTYPES_MAX && status == DTI_OK;
         i++) {
        if (!has_kernel(request->dtypes[i])) {
            dti_bench_add_note(frame->table, "%s: no kernel for this device",
                               dti_format_get(request->dtypes[i])->name);
            continue;
        }
        status = open_data(device, request->dtypes[i], reterr);
        if (status == DTI_OK)
            add_data(&device->data[device->data_count - 1]);
    }
    if (request->with_alloc)
        dti_bench_add_note(frame->table, "memory of the device is taken before the clock starts");
    return status;
}

static double sum_of_parts(const struct math_device_data *data, const unsigned char *parts)
{
    double sum = 0;
    for (size_t i = 0; i < data->parts; i++) {
        double wide;
        float single;
        if (data->of.dtype == DTI_FP64) {
            memcpy(&wide, parts + 8 * i, sizeof wide);
        } else {
            memcpy(&single, parts + 4 * i, sizeof single);
            wide = (double)single;
        }
        sum = dti_fp64_add(sum, wide);
    }
    return sum;
}

/* Verifies the kernel's results, given on the host: both operands and the partial sums. */
static enum dti_status judge(const struct math_device_data *data, const unsigned char *a,
                             const unsigned char *b, const unsigned char *sums,
                             struct dti_error *reterr)
{
    struct dti_frame *const frame = &data->device->frame;
    struct dti_bench_item *const item = &frame->table->items[data->item];
    char where[8 + DTI_DEVICE_ID_SIZE];
    struct dti_exact_sum exact;
    if (data->device->work->dot) {
        dti_exact_sum_init(&exact);
        dti_dot_exact(&exact, data->of.dtype, a, b, (size_t)frame->request->n);
        return dti_dot_judge(frame, data->item, data->of.dtype, sum_of_parts(data, sums),
                             dti_exact_sum_value(&exact), reterr);
    }
    (void)snprintf(where, sizeof where, " on %s", item->device);
    /* device code takes the same steps as the portable kernel */
    return dti_expsin_judge(item, &data->of, dti_expsin_find(data->of.dtype, DTI_LEVEL_SCALAR),
                            item->kernel, where, a, b, reterr);
}

/* Repeats the computation and verifies it. */
static enum dti_status verify_data(struct math_device_data *data, struct dti_error *reterr)
{
    struct dti_gpu_stream *const stream = data->device->frame.streams[0];
    const bool dot = data->device->work->dot;
    const size_t bytes = (size_t)data->of.bytes;
    const size_t sum_bytes = data->parts * (data->of.dtype == DTI_FP64 ? (size_t)8 : 4);
    unsigned char *const a = dti_malloc(bytes + 1), *const b = dti_malloc(bytes + 1),
                         *const sums = dti_malloc(sum_bytes + 1);
    enum dti_status status = DTI_OK;
    if (!a || !b || !sums)
        status = dti_no_memory(reterr);
    if (status == DTI_OK && !dot)
        status = dti_gpu_fill(stream, dti_device_pairs_at(&data->pairs, 0, 1), 0xff, bytes, reterr);
    if (status == DTI_OK)
        status = kernel_pass(data, 0, reterr);
    if (status == DTI_OK)
        status =
            dti_gpu_download(stream, a, dti_device_pairs_at(&data->pairs, 0, 0), bytes, reterr);
    if (status == DTI_OK)
        status =
            dti_gpu_download(stream, b, dti_device_pairs_at(&data->pairs, 0, 1), bytes, reterr);
    if (status == DTI_OK && dot)
        status = dti_gpu_download(stream, sums, data->sums, sum_bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(stream, reterr);
    if (status == DTI_OK)
        status = judge(data, a, b, sums, reterr);
    dti_free(a);
    dti_free(b);
    dti_free(sums);
    return status;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct math_device *const device = (struct math_device *)frame;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < device->data_count && status == DTI_OK; i++)
        status = verify_data(&device->data[i], reterr);
    return status;
}

static void end(struct dti_frame *frame)
{
    struct math_device *const device = (struct math_device *)frame;
    for (size_t i = 0; i < device->data_count; i++) {
        dti_gpu_free(frame->gpu, device->data[i].pairs.memory);
        dti_gpu_free(frame->gpu, device->data[i].sums);
    }
}

const struct dti_bench_workload dti_expsin_on_device =
                                    DTI_WORKLOAD(&dti_expsin_work, struct math_device, check,
                                                 prepare, verify, end),
                                dti_dot_on_device = DTI_WORKLOAD(&dti_dot_work, struct math_device,
                                                                 check, prepare, verify, end);
