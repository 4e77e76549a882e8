/* SPDX-License-Identifier: MIT
 *
 * bench cast: a cast at each requested level, compared with copies of the same number of bytes
 * and with kernels that move the same data without arithmetic. On a device: in device memory,
 * compared with copies within it, timed by the device; and from host memory to host memory,
 * compared with copies both ways, timed by the host. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/splitmix.h"
#include "bench/workloads/cast_parts.h"
#include "kernels/kernel.h"
#include "util/checked.h"
#include "util/run/allocate.h"

/* Copies share the operands of the casts: otherwise the last-level cache, which fills only after
 * several passes on some processors, would hold those of the copies, which are more. */
enum { SRC, DST, OPERANDS };
enum {
    POOL_ELEMENTS = 32 * DTI_TILE,
    ITEMS_MAX = 40,
    POISON = 0x5A,
    TILES_TRIED = 6,
};

/* A cast as a candidate; aligned so that equal candidates cost the same. */
struct cast_pass {
    _Alignas(64) const struct dti_plan *plan;
    struct casting *casting;
    enum dti_stores stores;
    bool loss;
};

struct casting {
    struct dti_frame frame;
    struct dti_plan *plans[DTI_BENCH_LEVELS_MAX];
    struct dti_cast_sizes sizes;
    struct dti_bench_memory memory;
    struct cast_pass passes[2 * DTI_BENCH_LEVELS_MAX];
    size_t cast_count;
};

static enum dti_status new_plan(struct dti_plan **ret, const struct dti_bench_cast *cast,
                                enum dti_level level, struct dti_error *reterr)
{
    const struct dti_request wanted = {
        .src = cast->src,
        .cast = {.dst = cast->dst, .policy = cast->policy, .round_given = true},
    };
    return dti_plan_new(ret, &wanted, level, reterr);
}

static enum dti_status find_sizes(struct dti_cast_sizes *ret,
                                  const struct dti_bench_request *request,
                                  const struct dti_plan *plan, struct dti_error *reterr)
{
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    const unsigned bits = dti_format_stored_bits(&request->cast->src, &layout);
    uint64_t src_bytes, dst_bytes;
    const uint64_t n = request->n / bits * 8 + request->n % bits * 8 / bits;
    if (n == 0)
        return dti_fail(reterr, DTI_USAGE, "%llu bytes hold no element of %s",
                        (unsigned long long)request->n, request->cast->src.name);
    if (!dti_plan_src_bytes(plan, n, &src_bytes) || !dti_plan_dst_bytes(plan, n, &dst_bytes) ||
        src_bytes > SIZE_MAX / 8 || dst_bytes > SIZE_MAX / 8)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes exceed the address space",
                        (unsigned long long)request->n);
    *ret = (struct dti_cast_sizes){(size_t)n, (size_t)src_bytes, (size_t)dst_bytes};
    return DTI_OK;
}

/* Bytes read and written in a pass. */
static uint64_t moved_bytes(const struct dti_cast_sizes *sizes)
{
    return (uint64_t)sizes->src_bytes + sizes->dst_bytes;
}

/* Allocates random elements, to be repeated; NULL when out of memory. The caller frees it. */
static unsigned char *new_pool(const struct dti_bench_request *request, const struct dti_plan *plan,
                               size_t *ret_bytes)
{
    const struct dti_bench_cast *const cast = request->cast;
    uint64_t bytes = 0;
    (void)dti_plan_src_bytes(plan, POOL_ELEMENTS, &bytes);
    unsigned char *const pool = dti_calloc((size_t)bytes, 1);
    if (pool)
        dti_bench_data_fill(pool, POOL_ELEMENTS, &cast->src, &cast->dst, cast->data, request->seed);
    *ret_bytes = (size_t)bytes;
    return pool;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct dti_bench_shape shape_of(const struct dti_cast_sizes *sizes,
                                       enum dti_bench_cache cache)
{
    const uint64_t both = moved_bytes(sizes);
    /* a copy of that many bytes reads half and writes half */
    return (struct dti_bench_shape){.operands = OPERANDS,
                                    .bytes = {[SRC] = larger(sizes->src_bytes, both / 2 + 1),
                                              [DST] = larger(sizes->dst_bytes, both / 2 + 1) + 8},
                                    .counted = both,
                                    .cache = cache};
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    struct dti_plan *plan;
    struct dti_cast_sizes sizes;
    enum dti_status status = new_plan(&plan, request->cast, request->level, reterr);
    if (status != DTI_OK)
        return status;
    status = find_sizes(&sizes, request, plan, reterr);
    if (status == DTI_OK)
        status = dti_bench_memory_check(shape_of(&sizes, request->cache), reterr);
    dti_plan_free(plan);
    return status;
}

/* The size of the first n elements in bytes; n does not exceed the buffers. */
static size_t src_bytes(const struct dti_plan *plan, size_t n)
{
    uint64_t bytes = 0;
    (void)dti_plan_src_bytes(plan, n, &bytes);
    return (size_t)bytes;
}

static size_t dst_bytes(const struct dti_plan *plan, size_t n)
{
    uint64_t bytes = 0;
    (void)dti_plan_dst_bytes(plan, n, &bytes);
    return (size_t)bytes;
}

static void cast_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct cast_pass *const pass = context;
    struct casting *const casting = pass->casting;
    unsigned char *src = dti_bench_memory_at(&casting->memory, set, SRC);
    unsigned char *dst = dti_bench_memory_at(&casting->memory, set, DST);
    struct dti_share share = {.first = 0, .count = casting->sizes.elements};
    if (size > 1) {
        share = dti_share_of(share.count, DTI_TILE, member, size);
        if (share.count == 0)
            return;
        src += src_bytes(pass->plan, share.first);
        dst += dst_bytes(pass->plan, share.first);
    }
    struct dti_loss loss;
    if (pass->loss)
        dti_loss_init(&loss);
    if (dti_plan_run(pass->plan, dst, src, share.count, share.first, pass->stores,
                     pass->loss ? &loss : NULL, NULL) != DTI_OK)
        atomic_store(&casting->frame.failed, true);
}

/* Whether a level uses kernels that no earlier level uses; equal ones are measured once. A level
 * given twice is compared with itself. */
static bool is_new(const struct casting *casting, size_t level, bool loss)
{
    const enum dti_level *const levels = casting->frame.request->cast->levels;
    for (size_t i = 0; i < level; i++) {
        if (levels[i] != levels[level] &&
            dti_plan_same(casting->plans[i], casting->plans[level], loss))
            return false;
    }
    return true;
}

static void add_cast(struct casting *casting, size_t level, bool loss)
{
    char text[DTI_PLAN_TEXT_SIZE];
    const struct dti_plan *const plan = casting->plans[level];
    const bool stream = dti_stores_stream(DTI_STORES_AUTO, moved_bytes(&casting->sizes));
    if (!is_new(casting, level, loss))
        return;
    struct cast_pass *const pass = &casting->passes[casting->cast_count];
    *pass = (struct cast_pass){.plan = plan,
                               .casting = casting,
                               .stores = stream ? DTI_STORES_STREAMED : DTI_STORES_CACHED,
                               .loss = loss};
    struct dti_bench_item *const item = dti_frame_add(
        &casting->frame, &(struct dti_bench_entry){.role = "cast",
                                                   .kernel = dti_plan_describe(plan, text),
                                                   .bytes_read = casting->sizes.src_bytes,
                                                   .bytes_written = casting->sizes.dst_bytes,
                                                   .run = cast_pass,
                                                   .context = pass,
                                                   .sets = casting->memory.sets});
    if (!item)
        return;
    item->level = dti_plan_level(plan, loss);
    item->loss = loss;
    item->stream = stream;
    casting->cast_count++;
}

static void add_copies(struct casting *casting)
{
    struct dti_frame *const frame = &casting->frame;
    const struct dti_cast_sizes *const sizes = &casting->sizes;
    for (size_t i = 0; i < dti_copy_count; i++) {
        const struct dti_copy *const copy = &dti_copies[i];
        const bool shape = (uint64_t)copy->in * sizes->elements == sizes->src_bytes &&
                           (uint64_t)copy->out * sizes->elements == sizes->dst_bytes;
        const size_t n = copy->exact
                             ? (sizes->src_bytes + sizes->dst_bytes) / (copy->in + copy->out)
                         : shape ? sizes->elements
                                 : 0;
        if (n > 0 && frame->table->count < ITEMS_MAX &&
            dti_copy_competes(copy, frame->request->level))
            (void)dti_frame_add_moving(frame, copy, copy->exact ? "copy" : "shape", true,
                                       &casting->memory, SRC, 1, n);
    }
}

static enum dti_status make_plans(struct casting *casting, struct dti_error *reterr)
{
    const struct dti_bench_cast *const cast = casting->frame.request->cast;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < cast->level_count && status == DTI_OK; i++) {
        if (i > 0 && cast->levels[i] == cast->levels[i - 1])
            casting->plans[i] = casting->plans[i - 1];
        else
            status = new_plan(&casting->plans[i], cast, cast->levels[i], reterr);
    }
    return status;
}

static enum dti_status take_memory(struct casting *casting, struct dti_error *reterr)
{
    const struct dti_frame *const frame = &casting->frame;
    const struct dti_bench_request *const request = frame->request;
    size_t pool_bytes;
    enum dti_status status = find_sizes(&casting->sizes, request, casting->plans[0], reterr);
    if (status == DTI_OK)
        status = dti_bench_memory_new(&casting->memory, shape_of(&casting->sizes, request->cache),
                                      frame->team, reterr);
    if (status != DTI_OK)
        return status;
    unsigned char *const pool = new_pool(request, casting->plans[0], &pool_bytes);
    if (!pool)
        return dti_no_memory(reterr);
    dti_bench_memory_fill(&casting->memory, SRC, casting->sizes.src_bytes, pool, pool_bytes,
                          frame->team);
    dti_free(pool);
    dti_bench_memory_describe(&casting->memory, frame->table);
    frame->table->elements = casting->sizes.elements;
    return DTI_OK;
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct casting *const casting = (struct casting *)frame;
    const struct dti_bench_cast *const cast = frame->request->cast;
    enum dti_status status = make_plans(casting, reterr);
    if (status == DTI_OK)
        status = take_memory(casting, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < cast->level_count; i++)
        add_cast(casting, i, false);
    for (size_t i = 0; cast->loss && i < cast->level_count; i++)
        add_cast(casting, i, true);
    add_copies(casting);
    return DTI_OK;
}

/* Compares the tile that starts at an element with the reference. */
static enum dti_status verify_tile(const struct cast_pass *pass, size_t first,
                                   struct dti_error *reterr)
{
    unsigned char want[DTI_TILE * 8];
    const struct casting *const casting = pass->casting;
    const size_t left = casting->sizes.elements - first;
    const size_t n = left < DTI_TILE ? left : DTI_TILE;
    const unsigned char *const src = dti_bench_memory_at(&casting->memory, 0, SRC);
    const unsigned char *const got = dti_bench_memory_at(&casting->memory, 0, DST);
    const enum dti_status status =
        dti_reference_run(dti_plan_request(pass->plan), want, src + src_bytes(pass->plan, first), n,
                          first, NULL, reterr);
    if (status != DTI_OK)
        return status;
    if (memcmp(want, got + dst_bytes(pass->plan, first), dst_bytes(pass->plan, n)) == 0)
        return DTI_OK;
    char text[DTI_PLAN_TEXT_SIZE];
    return dti_fail(reterr, DTI_BUG, "%s is wrong within elements %llu to %llu; please report it",
                    dti_plan_describe(pass->plan, text), (unsigned long long)first,
                    (unsigned long long)(first + n - 1));
}

/* Repeats the casts and compares part of each result. */
static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    const struct casting *const casting = (const struct casting *)frame;
    const size_t elements = casting->sizes.elements;
    const size_t tiles = elements / DTI_TILE + (elements % DTI_TILE > 0);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < casting->cast_count && status == DTI_OK; i++) {
        const struct cast_pass *const pass = &casting->passes[i];
        uint64_t seed = frame->request->seed;
        memset(dti_bench_memory_at(&casting->memory, 0, DST), POISON, casting->sizes.dst_bytes);
        dti_frame_again(frame, i);
        if (atomic_load(&frame->failed))
            return dti_fail(reterr, DTI_BUG, "a cast failed during the measurement");
        status = verify_tile(pass, 0, reterr);
        if (status == DTI_OK)
            status = verify_tile(pass, (tiles - 1) * DTI_TILE, reterr);
        for (int j = 0; j < TILES_TRIED && status == DTI_OK; j++)
            status = verify_tile(pass, (size_t)(dti_splitmix(&seed) % tiles) * DTI_TILE, reterr);
    }
    return status;
}

static void end(struct dti_frame *frame)
{
    struct casting *const casting = (struct casting *)frame;
    dti_bench_memory_free(&casting->memory);
    for (size_t i = 0; i < DTI_BENCH_LEVELS_MAX; i++) {
        if (i == 0 || casting->plans[i] != casting->plans[i - 1])
            dti_plan_free(casting->plans[i]);
    }
}

static const struct dti_bench_workload on_cpu =
    DTI_WORKLOAD(NULL, struct casting, check, prepare, verify, end);

/* On a device. */

/* Makes both plans; fails with the device's reason if it cannot run the cast. */
static enum dti_status make_device_plans(struct dti_bench_cast_device *device,
                                         struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->frame.request;
    const char *why = NULL;
    enum dti_status status = new_plan(&device->judge, request->cast, request->level, reterr);
    if (status == DTI_OK)
        status = new_plan(&device->plan, request->cast, request->level, reterr);
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
    const uint64_t both = moved_bytes(sizes);
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

/* Sets the sizes, and the number of sets for a cold device cache. */
static enum dti_status begin_on_device(struct dti_bench_cast_device *device,
                                       struct dti_error *reterr)
{
    const struct dti_bench_request *const request = device->frame.request;
    struct dti_gpu *const gpu = dti_runner_gpu(request->runner);
    device->frame.gpu = gpu;
    if (!gpu)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s", dti_runner_reason(request->runner));
    enum dti_status status = make_device_plans(device, reterr);
    if (status == DTI_OK)
        status = find_sizes(&device->sizes, request, device->plan, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t known = dti_gpu_facts(gpu)->l2_bytes;
    const uint64_t l2 = known == DTI_UNKNOWN ? UINT64_C(128) << 20 : known;
    const uint64_t both = moved_bytes(&device->sizes);
    device->sets = request->cache == DTI_BENCH_COLD ? (size_t)(2 * l2 / both) + 1 : 1;
    return check_memory(device, reterr);
}

static void end_on_device(struct dti_frame *frame)
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

static enum dti_status check_on_device(const struct dti_bench_request *request,
                                       struct dti_error *reterr)
{
    struct dti_bench_cast_device device = {.frame = {.request = request}};
    const enum dti_status status = begin_on_device(&device, reterr);
    end_on_device(&device.frame);
    return status;
}

static enum dti_status take_device_memory(struct dti_bench_cast_device *device,
                                          struct dti_error *reterr)
{
    struct dti_frame *const frame = &device->frame;
    const struct dti_bench_request *const request = frame->request;
    const struct dti_cast_sizes *const sizes = &device->sizes;
    size_t pool_bytes;
    device->src = dti_runner_alloc(request->runner, sizes->src_bytes);
    device->dst = dti_runner_alloc(request->runner, sizes->dst_bytes);
    unsigned char *const pool = new_pool(request, device->plan, &pool_bytes);
    if (device->src && device->dst && pool)
        dti_bench_repeat(device->src, sizes->src_bytes, pool, pool_bytes);
    dti_free(pool);
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
        for (int i = 0; i < 2 && status == DTI_OK; i++) /* write all memory once */
            status = dti_resident_copy(device->resident, set, reterr);
    }
    return status == DTI_OK ? dti_gpu_finish(frame->streams[0], reterr) : status;
}

static enum dti_status resident_pass(void *context, size_t set, struct dti_error *reterr)
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

/* Transfers in both directions, at the same time if the device supports it. */
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

static void add_on_device(struct dti_bench_cast_device *device, dti_bench_pass_fn *pass, bool loss)
{
    char text[DTI_PLAN_TEXT_SIZE];
    const struct dti_cast_sizes *const sizes = &device->sizes;
    const uint64_t half = (moved_bytes(sizes)) / 2;
    const bool within = pass == copy_pass, copies = within || pass == link_pass;
    const bool resident = within || pass == resident_pass;
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

static enum dti_status prepare_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_bench_cast_device *const device = (struct dti_bench_cast_device *)frame;
    struct dti_bench_table *const table = frame->table;
    const bool loss = frame->request->cast->loss;
    enum dti_status status = begin_on_device(device, reterr);
    if (status == DTI_OK)
        status = take_device_memory(device, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < 2; i++)
        device->ways[i] = (struct dti_bench_cast_way){device, i == 1};
    add_on_device(device, resident_pass, false);
    add_on_device(device, whole_pass, false);
    if (loss && dti_resident_counts(device->plan))
        add_on_device(device, resident_pass, true);
    if (loss)
        add_on_device(device, whole_pass, true);
    add_on_device(device, copy_pass, false);
    add_on_device(device, link_pass, false);
    const uint64_t l2 = dti_gpu_facts(frame->gpu)->l2_bytes;
    const uint64_t both = moved_bytes(&device->sizes);
    table->elements = device->sizes.elements;
    table->sets = device->sets;
    table->memory =
        dti_resident_bytes(device->plan, device->sizes.elements, device->sets, loss) + 2 * both;
    table->in_cache = l2 != DTI_UNKNOWN && both <= l2;
    return DTI_OK;
}

/* Compares all of dst, in pieces. */
static enum dti_status compare(const struct dti_bench_cast_device *device, const char *how,
                               struct dti_error *reterr)
{
    enum { PIECE = 256 * DTI_TILE };
    const size_t elements = device->sizes.elements;
    unsigned char *const want = dti_malloc((size_t)PIECE * 8);
    enum dti_status status = DTI_OK;
    if (!want)
        return dti_no_memory(reterr);
    for (size_t at = 0; at < elements && status == DTI_OK; at += PIECE) {
        const size_t n = elements - at < PIECE ? elements - at : PIECE;
        status = dti_plan_run(device->judge, want, device->src + src_bytes(device->judge, at), n,
                              at, DTI_STORES_CACHED, NULL, reterr);
        if (status == DTI_OK && memcmp(want, device->dst + dst_bytes(device->judge, at),
                                       dst_bytes(device->judge, n)) != 0) {
            char text[DTI_PLAN_TEXT_SIZE];
            status = dti_fail(reterr, DTI_BUG,
                              "%s (%s) is wrong within elements %llu to %llu; please report it",
                              dti_plan_describe_device(device->plan, text), how,
                              (unsigned long long)at, (unsigned long long)(at + n - 1));
        }
    }
    dti_free(want);
    return status;
}

/* Verifies the last set, as the measurement left it, and the whole path from host to host. */
enum dti_status dti_bench_cast_device_verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_bench_cast_device *const device = (struct dti_bench_cast_device *)frame;
    const size_t set = device->sets - 1;
    memset(device->dst, POISON, device->sizes.dst_bytes);
    struct dti_bench_cast_way *const way = &device->ways[0];
    *way = (struct dti_bench_cast_way){device, false};
    enum dti_status status = dti_resident_poison(device->resident, set, POISON, reterr);
    if (status == DTI_OK)
        status = resident_pass(way, set, reterr);
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

static const struct dti_bench_workload on_device =
    DTI_WORKLOAD(NULL, struct dti_bench_cast_device, check_on_device, prepare_on_device,
                 dti_bench_cast_device_verify, end_on_device);

const struct dti_bench_kind dti_bench_kind_cast = {
    .name = "cast",
    .summary = "casts of arrays",
    .sizes = "4KiB,1MiB,64MiB",
    .dtypes = "",
    .size_is = DTI_BENCH_BYTES,
    .casts = true,
    .cpu = &on_cpu,
    .device = &on_device,
};
