/* SPDX-License-Identifier: MIT
 *
 * Sizes, memory and its first touch: each member touches what it will use, so that on machines with
 * several memory nodes it lies near. */
#include "bench/workloads/cast_buffers.h"

#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"

enum { POOL_ELEMENTS = 32 * DTI_TILE, PAGE = 4096, POISON = 0xA5 };

struct dti_share dti_share_of(size_t n, size_t grain, size_t member, size_t size)
{
    const size_t grains = n / grain + (n % grain > 0);
    const size_t each = grains / size, more = grains % size;
    const size_t first = (each * member + (member < more ? member : more)) * grain;
    const size_t count = (each + (member < more)) * grain;
    if (first >= n)
        return (struct dti_share){.first = n, .count = 0};
    return (struct dti_share){.first = first, .count = count < n - first ? count : n - first};
}

void dti_in_team(struct dti_team *team, void (*job)(void *, size_t, size_t), void *context)
{
    if (team)
        dti_team_run(team, job, context);
    else
        job(context, 0, 1);
}

static uint64_t round_up(uint64_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

enum dti_status dti_cast_buffers_sizes(struct dti_cast_buffers *buffers,
                                       const struct dti_bench_cast *request,
                                       const struct dti_plan *plan, struct dti_error *reterr)
{
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    const unsigned bits = dti_format_stored_bits(&request->src, &layout);
    uint64_t src_bytes, dst_bytes;
    const uint64_t n = request->bytes / bits * 8 + request->bytes % bits * 8 / bits;
    if (n == 0)
        return dti_fail(reterr, DTI_USAGE, "%llu bytes hold no element of %s",
                        (unsigned long long)request->bytes, request->src.name);
    if (!dti_plan_src_bytes(plan, n, &src_bytes) || !dti_plan_dst_bytes(plan, n, &dst_bytes) ||
        src_bytes > SIZE_MAX / 8 || dst_bytes > SIZE_MAX / 8)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes are more than there can be here",
                        (unsigned long long)request->bytes);
    buffers->elements = (size_t)n;
    buffers->src_bytes = (size_t)src_bytes;
    buffers->dst_bytes = (size_t)dst_bytes;
    return DTI_OK;
}

void dti_bench_repeat(unsigned char *to, size_t bytes, const unsigned char *pool, size_t pool_bytes)
{
    for (size_t done = 0; done < bytes; done += pool_bytes)
        memcpy(to + done, pool, bytes - done < pool_bytes ? bytes - done : pool_bytes);
}

struct buffer_filling {
    const struct dti_cast_buffers *buffers;
    const unsigned char *pool;
    size_t pool_bytes;
};

static void fill_job(void *context, size_t member, size_t size)
{
    const struct buffer_filling *const filling = context;
    const struct dti_cast_buffers *const buffers = filling->buffers;
    for (size_t set = 0; set < buffers->sets; set++) {
        unsigned char *const src = buffers->cast.data + set * buffers->cast.set_size;
        const struct dti_share share =
            dti_share_of(buffers->src_bytes, filling->pool_bytes, member, size);
        dti_bench_repeat(src + share.first, share.count, filling->pool, filling->pool_bytes);
        const struct dti_share result = dti_share_of(buffers->dst_bytes, PAGE, member, size);
        memset(src + buffers->cast.second + result.first, POISON, result.count);
        const struct dti_share other = dti_share_of(buffers->copy.set_size, PAGE, member, size);
        memset(buffers->copy.data + set * buffers->copy.set_size + other.first, POISON,
               other.count);
    }
}

static enum dti_status fill(const struct dti_cast_buffers *buffers,
                            const struct dti_bench_cast *request, const struct dti_plan *plan,
                            struct dti_team *team, struct dti_error *reterr)
{
    uint64_t pool_bytes = 0;
    (void)dti_plan_src_bytes(plan, POOL_ELEMENTS, &pool_bytes);
    unsigned char *const pool = calloc((size_t)pool_bytes, 1);
    if (!pool)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_bench_data_fill(pool, POOL_ELEMENTS, &request->src, &request->dst, request->data,
                        request->seed);
    struct buffer_filling filling = {
        .buffers = buffers, .pool = pool, .pool_bytes = (size_t)pool_bytes};
    dti_in_team(team, fill_job, &filling);
    free(pool);
    return DTI_OK;
}

/* Everything but memory: where the pairs lie, from the arena's start, and how large it is. */
static enum dti_status lay_out(struct dti_cast_buffers *buffers,
                               const struct dti_bench_cast *request, const struct dti_plan *plan,
                               uint64_t *ret_size, struct dti_error *reterr)
{
    const enum dti_status status = dti_cast_buffers_sizes(buffers, request, plan, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t both = (uint64_t)buffers->src_bytes + buffers->dst_bytes;
    buffers->sets = 1;
    if (request->cache == DTI_BENCH_COLD)
        buffers->sets = (size_t)(2 * (uint64_t)dti_last_cache_bytes() / both) + 1;
    /* a copy of as many bytes reads half of them and writes half of them */
    const uint64_t cast_first = round_up(buffers->src_bytes);
    const uint64_t copy_first = round_up(larger(buffers->src_bytes, both / 2 + 1));
    const uint64_t cast_set = cast_first + round_up(buffers->dst_bytes);
    const uint64_t copy_set = copy_first + round_up(larger(buffers->dst_bytes, both / 2 + 1) + 8);
    buffers->cast = (struct dti_pair){.set_size = (size_t)cast_set, .second = (size_t)cast_first};
    buffers->copy = (struct dti_pair){.set_size = (size_t)copy_set, .second = (size_t)copy_first};
    if (!dti_mul_u64(buffers->sets, cast_set + copy_set, ret_size))
        *ret_size = UINT64_MAX;
    return DTI_OK;
}

enum dti_status dti_cast_buffers_check(const struct dti_bench_cast *request,
                                       const struct dti_plan *plan, struct dti_error *reterr)
{
    struct dti_cast_buffers buffers = {0};
    uint64_t size;
    const enum dti_status status = lay_out(&buffers, request, plan, &size, reterr);
    return status == DTI_OK ? dti_arena_check(size, reterr) : status;
}

enum dti_status dti_cast_buffers_new(struct dti_cast_buffers *ret,
                                     const struct dti_bench_cast *request,
                                     const struct dti_plan *plan, struct dti_team *team,
                                     struct dti_error *reterr)
{
    struct dti_cast_buffers buffers = {0};
    uint64_t size;
    enum dti_status status = lay_out(&buffers, request, plan, &size, reterr);
    if (status == DTI_OK)
        status = dti_arena_new(&buffers.arena, size, reterr);
    if (status != DTI_OK)
        return status;
    buffers.cast.data = buffers.arena.data;
    buffers.copy.data = buffers.arena.data + buffers.sets * buffers.cast.set_size;
    status = fill(&buffers, request, plan, team, reterr);
    if (status != DTI_OK) {
        dti_arena_free(&buffers.arena);
        return status;
    }
    *ret = buffers;
    return DTI_OK;
}

void dti_cast_buffers_free(struct dti_cast_buffers *buffers)
{
    dti_arena_free(&buffers->arena);
}
