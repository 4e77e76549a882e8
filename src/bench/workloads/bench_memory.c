/* SPDX-License-Identifier: MIT
 *
 * The operands of a measurement: arrays side by side, in sets that follow each other. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/cast_buffers.h"
#include "dtinfo/bench_table.h"
#include "dtinfo/checked.h"

enum { PAGE = 4096, POISON = 0xA5 };

struct dti_bench_memory {
    struct dti_arena arena;
    size_t operands, sets;
    uint64_t bytes;           /* of an operand */
    size_t stride;            /* from one to the next */
    uint64_t huge_page_bytes; /* of the arena */
};

/* Everything but the memory itself. */
static enum dti_status lay_out(struct dti_bench_memory *ret, size_t operands, uint64_t bytes,
                               enum dti_bench_cache cache, uint64_t *ret_size,
                               struct dti_error *reterr)
{
    uint64_t stride, both, size;
    if (!dti_add_u64(bytes, PAGE - 1, &stride) ||
        !dti_mul_u64(stride / PAGE * PAGE, operands, &both) || both > SIZE_MAX / 8)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes are more than there can be here",
                        (unsigned long long)bytes);
    uint64_t sets = 1;
    if (cache == DTI_BENCH_COLD)
        sets = 2 * (uint64_t)dti_last_cache_bytes() / (both > 0 ? both : 1) + 1;
    if (!dti_mul_u64(sets, both, &size) || size > SIZE_MAX / 2)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu bytes are more than there can be here",
                        (unsigned long long)bytes);
    *ret = (struct dti_bench_memory){.operands = operands,
                                     .sets = (size_t)sets,
                                     .bytes = bytes,
                                     .stride = (size_t)(stride / PAGE * PAGE)};
    *ret_size = size;
    return DTI_OK;
}

enum dti_status dti_bench_memory_check(size_t operands, uint64_t bytes, enum dti_bench_cache cache,
                                       struct dti_error *reterr)
{
    struct dti_bench_memory memory;
    uint64_t size;
    const enum dti_status status = lay_out(&memory, operands, bytes, cache, &size, reterr);
    return status == DTI_OK ? dti_arena_check(size, reterr) : status;
}

/* Each member touches what it will use, so that on machines with several memory nodes it lies near.
 */
static void touch_job(void *context, size_t member, size_t size)
{
    const struct dti_bench_memory *const memory = context;
    for (size_t set = 0; set < memory->sets; set++) {
        for (size_t operand = 0; operand < memory->operands; operand++) {
            const struct dti_share share = dti_share_of(memory->stride, PAGE, member, size);
            memset((unsigned char *)dti_bench_memory_at(memory, set, operand) + share.first, POISON,
                   share.count);
        }
    }
}

enum dti_status dti_bench_memory_new(struct dti_bench_memory **ret, size_t operands, uint64_t bytes,
                                     enum dti_bench_cache cache, struct dti_team *team,
                                     struct dti_error *reterr)
{
    struct dti_bench_memory *const memory = malloc(sizeof *memory);
    if (!memory)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    uint64_t size;
    const uint64_t huge = dti_huge_page_bytes();
    enum dti_status status = lay_out(memory, operands, bytes, cache, &size, reterr);
    if (status == DTI_OK)
        status = dti_arena_new(&memory->arena, size, reterr);
    if (status != DTI_OK) {
        free(memory);
        return status;
    }
    dti_in_team(team, touch_job, memory);
    const uint64_t huge_now = dti_huge_page_bytes();
    memory->huge_page_bytes = huge_now > huge ? huge_now - huge : 0;
    *ret = memory;
    return DTI_OK;
}

void dti_bench_memory_free(struct dti_bench_memory *memory)
{
    if (!memory)
        return;
    dti_arena_free(&memory->arena);
    free(memory);
}

size_t dti_bench_memory_sets(const struct dti_bench_memory *memory)
{
    return memory->sets;
}

void *dti_bench_memory_at(const struct dti_bench_memory *memory, size_t set, size_t operand)
{
    return memory->arena.data + (set * memory->operands + operand) * memory->stride;
}

void dti_bench_memory_describe(const struct dti_bench_memory *memory, struct dti_bench_table *table)
{
    table->sets = memory->sets;
    table->memory = memory->arena.size;
    table->huge_page_bytes = memory->huge_page_bytes;
    table->in_cache = memory->operands * memory->bytes <= dti_last_cache_bytes();
}

void dti_bench_part(uint64_t n, uint64_t grain, size_t member, size_t size, size_t *ret_first,
                    size_t *ret_count)
{
    const struct dti_share share = dti_share_of((size_t)n, (size_t)grain, member, size);
    *ret_first = share.first;
    *ret_count = share.count;
}
