/* SPDX-License-Identifier: MIT
 *
 * bench cast: a cast at each requested level, compared with copies of the same number of bytes and
 * kernels of its shape without arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "bench/measure/splitmix.h"
#include "bench/workloads/cast_parts.h"
#include "dtinfo/kernel.h"

/* A copy of the same number of bytes has its own operands. */
enum { SRC, DST, COPY_SRC, COPY_DST, OPERANDS };
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

enum dti_status dti_cast_plan_new(struct dti_plan **ret, const struct dti_bench_cast *cast,
                                  enum dti_level level, struct dti_error *reterr)
{
    const struct dti_request wanted = {
        .src = cast->src,
        .cast = {.dst = cast->dst, .policy = cast->policy, .round_given = true},
    };
    return dti_plan_new(ret, &wanted, level, reterr);
}

enum dti_status dti_cast_sizes_find(struct dti_cast_sizes *ret,
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

unsigned char *dti_cast_pool_new(const struct dti_bench_request *request,
                                 const struct dti_plan *plan, size_t *ret_bytes)
{
    const struct dti_bench_cast *const cast = request->cast;
    uint64_t bytes = 0;
    (void)dti_plan_src_bytes(plan, POOL_ELEMENTS, &bytes);
    unsigned char *const pool = calloc((size_t)bytes, 1);
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
    const uint64_t both = (uint64_t)sizes->src_bytes + sizes->dst_bytes;
    /* a copy of that many bytes reads half of them and writes half of them */
    return (struct dti_bench_shape){
        .operands = OPERANDS,
        .bytes = {[SRC] = sizes->src_bytes,
                  [DST] = sizes->dst_bytes,
                  [COPY_SRC] = larger(sizes->src_bytes, both / 2 + 1),
                  [COPY_DST] = larger(sizes->dst_bytes, both / 2 + 1) + 8},
        .counted = both,
        .cache = cache};
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    struct dti_plan *plan;
    struct dti_cast_sizes sizes;
    enum dti_status status = dti_cast_plan_new(&plan, request->cast, request->level, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_sizes_find(&sizes, request, plan, reterr);
    if (status == DTI_OK)
        status = dti_bench_memory_check(shape_of(&sizes, request->cache), reterr);
    dti_plan_free(plan);
    return status;
}

/* Bytes of the first n elements; n does not exceed the buffers. */
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

/* Levels with different names may use the same kernels, which are measured once. A level given
 * twice is compared with itself. */
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
    const bool stream = dti_stores_stream(DTI_STORES_AUTO, (uint64_t)casting->sizes.src_bytes +
                                                               casting->sizes.dst_bytes);
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
                                       &casting->memory, COPY_SRC, 1, n);
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
            status = dti_cast_plan_new(&casting->plans[i], cast, cast->levels[i], reterr);
    }
    return status;
}

static enum dti_status take_memory(struct casting *casting, struct dti_error *reterr)
{
    const struct dti_frame *const frame = &casting->frame;
    const struct dti_bench_request *const request = frame->request;
    size_t pool_bytes;
    enum dti_status status =
        dti_cast_sizes_find(&casting->sizes, request, casting->plans[0], reterr);
    if (status == DTI_OK)
        status = dti_bench_memory_new(&casting->memory, shape_of(&casting->sizes, request->cache),
                                      frame->team, reterr);
    if (status != DTI_OK)
        return status;
    unsigned char *const pool = dti_cast_pool_new(request, casting->plans[0], &pool_bytes);
    if (!pool)
        return dti_no_memory(reterr);
    dti_bench_memory_fill(&casting->memory, SRC, casting->sizes.src_bytes, pool, pool_bytes,
                          frame->team);
    free(pool);
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

/* Compares the tile that begins at an element with the reference. */
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

/* Casts once more and compares a part of the result. */
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

const struct dti_bench_kind dti_bench_kind_cast = {
    .name = "cast",
    .summary = "casts of arrays",
    .sizes = "4KiB,1MiB,64MiB",
    .dtypes = "",
    .size_is = DTI_BENCH_BYTES,
    .casts = true,
    .cpu = &on_cpu,
    .device = &dti_cast_on_device,
};
