/* SPDX-License-Identifier: MIT
 *
 * bench cast on a device: in device memory compared with copies within it, timed by the device; and
 * from host memory to host memory compared with copies both ways, timed by the host. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/cast_parts.h"
#include "dtinfo/checked.h"

enum { POISON = 0x5A };

/* Both plans; fails with the device's reason if it has none. */
static enum dti_status make_plans(struct dti_bench_cast_device *device, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->frame.request;
    const char *why = NULL;
    enum dti_status status =
        dti_cast_plan_new(&device->judge, request->cast, request->level, reterr);
    if (status == DTI_OK)
        status = dti_cast_plan_new(&device->plan, request->cast, request->level, reterr);
    if (status == DTI_OK)
        status = dti_plan_set_runner(device->plan, request->runner, &why, reterr);
    if (status == DTI_OK && why)
        status = dti_fail(reterr, DTI_UNAVAILABLE, "%s", why);
    return status;
}

static enum dti_status check_memory(const struct dti_bench_cast_device *device,
                                    struct dti_error *reterr)
{
    struct dti_gpu *const gpu = device->frame.gpu;
    const struct dti_cast_sizes *const sizes = &device->sizes;
    const uint64_t both = (uint64_t)sizes->src_bytes + sizes->dst_bytes;
    uint64_t bytes = dti_resident_bytes(device->plan, sizes->elements, device->sets,
                                        device->frame.request->cast->loss),
             there;
    if (!dti_add_u64(bytes, both, &bytes))
        bytes = UINT64_MAX;
    enum dti_status status = dti_gpu_free_bytes(gpu, &there, reterr);
    if (status != DTI_OK)
        return status;
    if (bytes > there)
        return dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_CAST_LESS,
                               "%s has %llu bytes of memory left, and %llu are needed",
                               dti_gpu_facts(gpu)->id, (unsigned long long)there,
                               (unsigned long long)bytes);
    return dti_host_has_memory(both, reterr);
}

/* Sizes, and the number of sets used in turn for a cold device cache. */
static enum dti_status begin(struct dti_bench_cast_device *device, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->frame.request;
    struct dti_gpu *const gpu = dti_runner_gpu(request->runner);
    device->frame.gpu = gpu;
    if (!gpu)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s", dti_runner_reason(request->runner));
    enum dti_status status = make_plans(device, reterr);
    if (status == DTI_OK)
        status = dti_cast_sizes_find(&device->sizes, request, device->plan, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t known = dti_gpu_facts(gpu)->l2_bytes;
    const uint64_t l2 = known == DTI_UNKNOWN ? UINT64_C(128) << 20 : known;
    const uint64_t both = (uint64_t)device->sizes.src_bytes + device->sizes.dst_bytes;
    device->sets = request->cache == DTI_BENCH_COLD ? (size_t)(2 * l2 / both) + 1 : 1;
    return check_memory(device, reterr);
}

static void end(struct dti_frame *frame)
{
    struct dti_bench_cast_device *const device = (struct dti_bench_cast_device *)frame;
    struct dti_runner *const runner = frame->request->runner;
    dti_resident_free(device->resident);
    dti_gpu_free(frame->gpu, device->there);
    dti_gpu_free(frame->gpu, device->back);
    dti_runner_free(runner, device->src);
    dti_runner_free(runner, device->dst);
    dti_plan_free(device->plan);
    dti_plan_free(device->judge);
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    struct dti_bench_cast_device device = {.frame = {.request = request}};
    const enum dti_status status = begin(&device, reterr);
    end(&device.frame);
    return status;
}

static enum dti_status take_memory(struct dti_bench_cast_device *device, struct dti_error *reterr)
{
    struct dti_frame *const frame = &device->frame;
    const struct dti_bench_request *const request = frame->request;
    const struct dti_cast_sizes *const sizes = &device->sizes;
    size_t pool_bytes;
    device->src = dti_runner_alloc(request->runner, sizes->src_bytes);
    device->dst = dti_runner_alloc(request->runner, sizes->dst_bytes);
    unsigned char *const pool = dti_cast_pool_new(request, device->plan, &pool_bytes);
    if (device->src && device->dst && pool)
        dti_bench_repeat(device->src, sizes->src_bytes, pool, pool_bytes);
    free(pool);
    if (!device->src || !device->dst || !pool)
        return dti_no_memory(reterr);
    enum dti_status status = dti_resident_new(&device->resident, device->plan, sizes->elements,
                                              device->sets, request->cast->loss, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(frame->gpu, sizes->src_bytes, &device->there, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(frame->gpu, sizes->dst_bytes, &device->back, reterr);
    if (status != DTI_OK)
        return status;
    frame->streams[0] = dti_resident_stream(device->resident);
    status = dti_frame_open(frame, 2, reterr);
    if (status == DTI_OK)
        status = dti_gpu_fill(frame->streams[0], device->back, 0, sizes->dst_bytes, reterr);
    for (size_t set = 0; set < device->sets && status == DTI_OK; set++) {
        status = dti_resident_put(device->resident, set, device->src, reterr);
        for (int i = 0; i < 2 && status == DTI_OK; i++) /* all of the memory is written once */
            status = dti_resident_copy(device->resident, set, reterr);
    }
    return status == DTI_OK ? dti_gpu_finish(frame->streams[0], reterr) : status;
}

static enum dti_status cast_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_bench_cast_way *const way = context;
    return dti_resident_cast(way->device->resident, set, way->loss, reterr);
}

static enum dti_status copy_pass(void *context, size_t set, struct dti_error *reterr)
{
    return dti_resident_copy(((struct dti_bench_cast_way *)context)->device->resident, set, reterr);
}

static enum dti_status whole_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_bench_cast_way *const way = context;
    const struct dti_bench_cast_device *const device = way->device;
    struct dti_loss loss;
    (void)set;
    dti_loss_init(&loss);
    return dti_plan_run(device->plan, device->dst, device->src, device->sizes.elements, 0,
                        DTI_STORES_CACHED, way->loss ? &loss : NULL, reterr);
}

/* Both ways at the same time, if the device supports it. */
static enum dti_status link_pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_bench_cast_device *const device =
        ((struct dti_bench_cast_way *)context)->device;
    (void)set;
    const enum dti_status status = dti_gpu_upload(device->frame.streams[0], device->there,
                                                  device->src, device->sizes.src_bytes, reterr);
    return status == DTI_OK ? dti_gpu_download(device->frame.streams[1], device->dst, device->back,
                                               device->sizes.dst_bytes, reterr)
                            : status;
}

static void add(struct dti_bench_cast_device *device, dti_bench_pass_fn *pass, bool loss)
{
    char text[DTI_PLAN_TEXT_SIZE];
    const struct dti_cast_sizes *const sizes = &device->sizes;
    const uint64_t half = ((uint64_t)sizes->src_bytes + sizes->dst_bytes) / 2;
    const bool within = pass == copy_pass, copies = within || pass == link_pass;
    const bool resident = within || pass == cast_pass;
    struct dti_bench_item *const item = dti_frame_add(
        &device->frame,
        &(struct dti_bench_entry){.role = copies ? "copy" : "cast",
                                  .kernel = within   ? "within the device"
                                            : copies ? "there and back at once"
                                                     : dti_plan_describe_device(device->plan, text),
                                  .bytes_read = within ? half : sizes->src_bytes,
                                  .bytes_written = within ? half : sizes->dst_bytes,
                                  .limit = copies,
                                  .pass = pass,
                                  .by_events = resident,
                                  .context = &device->ways[loss],
                                  .sets = resident ? device->sets : 1});
    item->where = resident ? DTI_BENCH_RESIDENT : DTI_BENCH_WHOLE;
    item->loss = loss;
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_bench_cast_device *const device = (struct dti_bench_cast_device *)frame;
    struct dti_bench_table *const table = frame->table;
    const bool loss = frame->request->cast->loss;
    enum dti_status status = begin(device, reterr);
    if (status == DTI_OK)
        status = take_memory(device, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < 2; i++)
        device->ways[i] = (struct dti_bench_cast_way){device, i == 1};
    add(device, cast_pass, false);
    add(device, whole_pass, false);
    if (loss && dti_resident_counts(device->plan))
        add(device, cast_pass, true);
    if (loss)
        add(device, whole_pass, true);
    add(device, copy_pass, false);
    add(device, link_pass, false);
    const uint64_t l2 = dti_gpu_facts(frame->gpu)->l2_bytes;
    const uint64_t both = (uint64_t)device->sizes.src_bytes + device->sizes.dst_bytes;
    table->elements = device->sizes.elements;
    table->sets = device->sets;
    table->memory =
        dti_resident_bytes(device->plan, table->elements, device->sets, loss) + 2 * both;
    table->in_cache = l2 != DTI_UNKNOWN && both <= l2;
    return DTI_OK;
}

/* All of dst, a piece at a time. */
static enum dti_status compare(const struct dti_bench_cast_device *device, const char *how,
                               struct dti_error *reterr)
{
    enum { PIECE = 256 * DTI_TILE };
    const size_t elements = device->sizes.elements;
    unsigned char *const want = malloc((size_t)PIECE * 8);
    enum dti_status status = DTI_OK;
    if (!want)
        return dti_no_memory(reterr);
    for (size_t at = 0; at < elements && status == DTI_OK; at += PIECE) {
        const size_t n = elements - at < PIECE ? elements - at : PIECE;
        uint64_t from = 0, to = 0, bytes = 0;
        (void)(dti_plan_src_bytes(device->judge, at, &from) &&
               dti_plan_dst_bytes(device->judge, at, &to) &&
               dti_plan_dst_bytes(device->judge, n, &bytes));
        status = dti_plan_run(device->judge, want, device->src + from, n, at, DTI_STORES_CACHED,
                              NULL, reterr);
        if (status == DTI_OK && memcmp(want, device->dst + to, (size_t)bytes) != 0) {
            char text[DTI_PLAN_TEXT_SIZE];
            status = dti_fail(reterr, DTI_BUG,
                              "%s (%s) is wrong within elements %llu to %llu; please report it",
                              dti_plan_describe_device(device->plan, text), how,
                              (unsigned long long)at, (unsigned long long)(at + n - 1));
        }
    }
    free(want);
    return status;
}

/* The last set, as a measurement leaves it, and the whole way. */
enum dti_status dti_bench_cast_device_verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_bench_cast_device *const device = (struct dti_bench_cast_device *)frame;
    const size_t set = device->sets - 1;
    memset(device->dst, POISON, device->sizes.dst_bytes);
    struct dti_bench_cast_way *const way = &device->ways[0];
    *way = (struct dti_bench_cast_way){device, false};
    enum dti_status status = dti_resident_poison(device->resident, set, POISON, reterr);
    if (status == DTI_OK)
        status = cast_pass(way, set, reterr);
    if (status == DTI_OK)
        status = dti_resident_get(device->resident, set, device->dst, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(dti_resident_stream(device->resident), reterr);
    if (status == DTI_OK)
        status = compare(device, "in the device's memory", reterr);
    if (status != DTI_OK)
        return status;
    memset(device->dst, POISON, device->sizes.dst_bytes);
    status = whole_pass(way, 0, reterr);
    return status == DTI_OK ? compare(device, "there and back", reterr) : status;
}

const struct dti_bench_workload dti_cast_on_device = DTI_WORKLOAD(
    NULL, struct dti_bench_cast_device, check, prepare, dti_bench_cast_device_verify, end);
