/* SPDX-License-Identifier: MIT
 *
 * What the CPU can do at all with the operands of a measurement: reading and copying them. */
#include <stdio.h>
#include <string.h>

#include "bench/workloads/copy_choice.h"
#include "dtinfo/bench_table.h"

enum { LINE = 64 };

static bool same_sort(const struct dti_copy *a, const struct dti_copy *b)
{
    return a->in == b->in && a->out == b->out && a->exact == b->exact && a->stream == b->stream;
}

bool dti_copy_competes(const struct dti_copy *copy, enum dti_level allowed, bool in_cache)
{
    if (!dti_level_includes(allowed, copy->level) || (copy->stream && in_cache))
        return false;
    for (size_t i = 0; i < dti_copy_count && copy->level != DTI_LEVEL_SCALAR; i++) {
        const struct dti_copy *const other = &dti_copies[i];
        if (same_sort(copy, other) && dti_level_includes(allowed, other->level) &&
            dti_level_includes(other->level, copy->level) && other->level != copy->level)
            return false;
    }
    return true;
}

const char *dti_copy_words(const struct dti_copy *copy)
{
    if (strstr(copy->name, "memcpy"))
        return "memcpy";
    if (strstr(copy->name, "memset"))
        return "memset";
    if (strstr(copy->name, "movsb"))
        return "string move";
    if (copy->level == DTI_LEVEL_SCALAR)
        return "portable loop";
    return copy->stream ? "streaming loop" : "vector loop";
}

/* A kernel that only reads leaves a word, which nobody needs. */
static void read_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_bench_limit *const limit = context;
    uint64_t word;
    size_t first, count;
    dti_bench_part(limit->bytes, LINE, member, size, &first, &count);
    for (size_t operand = 0; operand < limit->operands && count > 0; operand++) {
        const unsigned char *const src = dti_bench_memory_at(limit->memory, set, operand);
        limit->copy->run(&word, src + first, count);
    }
}

static void copy_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_bench_limit *const limit = context;
    size_t first, count;
    dti_bench_part(limit->bytes, LINE, member, size, &first, &count);
    if (count > 0)
        limit->copy->run((unsigned char *)dti_bench_memory_at(limit->memory, set, 1) + first,
                         (const unsigned char *)dti_bench_memory_at(limit->memory, set, 0) + first,
                         count);
}

void dti_bench_add_limits(struct dti_bench_table *table, struct dti_bench_candidate *candidates,
                          size_t *count, struct dti_bench_limit contexts[DTI_BENCH_LIMITS_MAX],
                          const struct dti_bench_memory *memory, size_t operands, uint64_t bytes,
                          bool copy, enum dti_level level)
{
    dti_bench_memory_describe(memory, table);
    /* sets that take turns are in no cache, however small each of them is */
    const bool in_cache = table->in_cache && table->sets == 1;
    size_t added = 0;
    for (size_t i = 0; i < dti_copy_count && added < DTI_BENCH_LIMITS_MAX; i++) {
        const struct dti_copy *const row = &dti_copies[i];
        const bool wanted = copy ? row->exact : row->in == 1 && row->out == 0;
        if (!wanted || !dti_copy_competes(row, level, in_cache))
            continue;
        struct dti_bench_item *const item =
            dti_bench_add_item(table, copy ? "copy" : "read", "cpu");
        if (!item)
            return;
        item->limit = true;
        item->bytes_read = copy ? bytes : operands * bytes;
        item->bytes_written = copy ? bytes : 0;
        (void)snprintf(item->engine, sizeof item->engine, "%s", dti_copy_words(row));
        (void)snprintf(item->kernel, sizeof item->kernel, "%s", dti_kernel_title(row->name));
        contexts[added] = (struct dti_bench_limit){
            .copy = row, .memory = memory, .operands = operands, .bytes = bytes};
        candidates[(*count)++] =
            (struct dti_bench_candidate){.run = copy ? copy_pass : read_pass,
                                         .context = &contexts[added],
                                         .sets = dti_bench_memory_sets(memory)};
        added++;
    }
}
