/* SPDX-License-Identifier: MIT
 *
 * The operands of a measurement: arrays side by side, in sets that follow each other. */
#include <string.h>

#include "bench/measure/frame.h"
#include "dtinfo/checked.h"

enum { PAGE = 4096, POISON = 0xA5 };

struct dti_bench_shape dti_bench_alike(size_t operands, uint64_t bytes, enum dti_bench_cache cache)
{
    struct dti_bench_shape shape = {.operands = operands, .cache = cache};
    for (size_t i = 0; i < operands; i++)
        shape.bytes[i] = bytes;
    return shape;
}

size_t dti_bench_sets(enum dti_bench_cache cache, uint64_t bytes)
{
    if (cache == DTI_BENCH_HOT)
        return 1;
    return (size_t)(2 * (uint64_t)dti_last_cache_bytes() / (bytes > 0 ? bytes : 1) + 1);
}

/* Everything but the memory itself. Where it is said what counts, whether there can be so much is
 * the caller's, and UINT64_MAX is too much to count. */
static enum dti_status lay_out(struct dti_bench_memory *ret, const struct dti_bench_shape *shape,
                               uint64_t *ret_size, struct dti_error *reterr)
{
    const uint64_t most = shape->counted > 0 ? UINT64_MAX : SIZE_MAX / 8;
    uint64_t set = 0, bytes = 0, sets, size = 0;
    bool fits = true;
    for (size_t i = 0; i < shape->operands && fits; i++) {
        uint64_t stride;
        ret->at[i] = (size_t)set;
        bytes += shape->bytes[i];
        fits = dti_add_u64(shape->bytes[i], PAGE - 1, &stride) &&
               dti_add_u64(set, stride / PAGE * PAGE, &set) && set <= most;
    }
    sets = dti_bench_sets(shape->cache, shape->counted > 0 ? shape->counted : set);
    fits = fits && dti_mul_u64(sets, set, &size) && (size <= SIZE_MAX / 2 || shape->counted > 0);
    if (!fits && shape->counted == 0)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes are more than there can be here",
                        (unsigned long long)shape->bytes[0]);
    ret->sets = (size_t)sets;
    ret->set_size = (size_t)set;
    ret->in_cache = (shape->counted > 0 ? shape->counted : bytes) <= dti_last_cache_bytes();
    *ret_size = fits ? size : UINT64_MAX;
    return DTI_OK;
}

enum dti_status dti_bench_memory_check(struct dti_bench_shape shape, struct dti_error *reterr)
{
    struct dti_bench_memory memory;
    uint64_t size;
    const enum dti_status status = lay_out(&memory, &shape, &size, reterr);
    return status == DTI_OK ? dti_arena_check(size, reterr) : status;
}

/* Each member touches what it will use, so that on machines with several memory nodes it lies near.
 */
struct memory_filling {
    const struct dti_bench_memory *memory;
    size_t operand, bytes, pool_bytes;
    const unsigned char *pool; /* NULL: rubbish */
};

static void fill_job(void *context, size_t member, size_t size)
{
    const struct memory_filling *const filling = context;
    const struct dti_share share = dti_share_of(filling->bytes, filling->pool_bytes, member, size);
    for (size_t set = 0; set < filling->memory->sets; set++) {
        unsigned char *const at = dti_bench_memory_at(filling->memory, set, filling->operand);
        if (filling->pool)
            dti_bench_repeat(at + share.first, share.count, filling->pool, filling->pool_bytes);
        else
            memset(at + share.first, POISON, share.count);
    }
}

void dti_bench_repeat(unsigned char *to, size_t bytes, const unsigned char *pool, size_t pool_bytes)
{
    for (size_t done = 0; done < bytes; done += pool_bytes)
        memcpy(to + done, pool, bytes - done < pool_bytes ? bytes - done : pool_bytes);
}

void dti_bench_memory_fill(const struct dti_bench_memory *memory, size_t operand, uint64_t bytes,
                           const void *pool, size_t pool_bytes, struct dti_team *team)
{
    struct memory_filling filling = {memory, operand, (size_t)bytes, pool_bytes, pool};
    dti_in_team(team, fill_job, &filling);
}

enum dti_status dti_bench_memory_new(struct dti_bench_memory *ret, struct dti_bench_shape shape,
                                     struct dti_team *team, struct dti_error *reterr)
{
    struct dti_bench_memory memory = {.sets = 0};
    uint64_t size;
    const uint64_t huge = dti_huge_page_bytes();
    enum dti_status status = lay_out(&memory, &shape, &size, reterr);
    if (status == DTI_OK)
        status = dti_arena_new(&memory.arena, size, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < shape.operands; i++) {
        const size_t end = i + 1 < shape.operands ? memory.at[i + 1] : memory.set_size;
        dti_bench_memory_fill(&memory, i, end - memory.at[i], NULL, PAGE, team);
    }
    const uint64_t huge_now = dti_huge_page_bytes();
    memory.huge_page_bytes = huge_now > huge ? huge_now - huge : 0;
    *ret = memory;
    return DTI_OK;
}

void dti_bench_memory_free(struct dti_bench_memory *memory)
{
    dti_arena_free(&memory->arena);
}

void dti_bench_memory_describe(const struct dti_bench_memory *memory, struct dti_bench_table *table)
{
    table->in_cache = memory->in_cache && (table->sets == 0 || table->in_cache);
    table->sets = memory->sets > table->sets ? memory->sets : table->sets;
    table->memory += memory->arena.size;
    table->huge_page_bytes += memory->huge_page_bytes;
}
