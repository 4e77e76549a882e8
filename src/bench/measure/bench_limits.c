/* SPDX-License-Identifier: MIT
 *
 * The limits of the CPU: moving the operands of a measurement through memory, and multiply-add
 * in registers. */
#include <stdio.h>
#include <string.h>

#include "bench/measure/frame.h"

enum { LINE = 64 };

static bool same_sort(const struct dti_copy *a, const struct dti_copy *b)
{
    return a->in == b->in && a->out == b->out && a->exact == b->exact && a->stream == b->stream;
}

bool dti_copy_competes(const struct dti_copy *copy, enum dti_level allowed)
{
    if (!dti_level_includes(allowed, copy->level))
        return false;
    for (size_t i = 0; i < dti_copy_count && copy->level != DTI_LEVEL_SCALAR; i++) {
        const struct dti_copy *const other = &dti_copies[i];
        if (same_sort(copy, other) && dti_level_includes(allowed, other->level) &&
            dti_level_includes(other->level, copy->level) && other->level != copy->level)
            return false;
    }
    return true;
}

/* "vector loop": the same method has a different kernel name at each CPU level. */
static const char *words_of(const struct dti_copy *copy)
{
    if (strstr(copy->name, "memcpy"))
        return "memcpy";
    if (strstr(copy->name, "memset"))
        return "memset";
    if (strstr(copy->name, "movsb"))
        return "string move";
    if (copy->level == DTI_LEVEL_SCALAR)
        return "portable loop";
    return dti_copy_stream(copy) ? dti_copy_stream(copy)->words : "vector loop";
}

/* A read-only kernel returns a word, which is unused. */
static void moving_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_bench_moving *const moving = context;
    const struct dti_copy *const copy = moving->copy;
    const struct dti_share share = dti_share_of(moving->n, LINE, member, size);
    uint64_t word;
    for (size_t i = 0; i < moving->reads && share.count > 0; i++) {
        const unsigned char *const src =
            dti_bench_memory_at(moving->memory, set, moving->operand + i);
        unsigned char *const dst =
            copy->out > 0 ? dti_bench_memory_at(moving->memory, set, moving->operand + 1) : NULL;
        dti_copy_run(copy)(dst ? (void *)(dst + share.first * copy->out) : (void *)&word,
                           src + share.first * copy->in, share.count, dti_copy_stream(copy));
    }
    if (dti_copy_stream(copy))
        dti_stores_order();
}

struct dti_bench_item *dti_frame_add_moving(struct dti_frame *frame, const struct dti_copy *copy,
                                            const char *role, bool limit,
                                            const struct dti_bench_memory *memory, size_t operand,
                                            size_t reads, size_t n)
{
    const size_t at = frame->table->count;
    struct dti_bench_item *const item =
        dti_frame_add(frame, &(struct dti_bench_entry){
                                 .role = role,
                                 .engine = words_of(copy),
                                 .kernel = dti_kernel_title(copy->name),
                                 .bytes_read = (uint64_t)reads * n * copy->in,
                                 .bytes_written = (uint64_t)n * copy->out,
                                 .limit = limit,
                                 .run = moving_pass,
                                 .context = &frame->contexts[at],
                                 .sets = memory->sets,
                             });
    if (!item)
        return NULL;
    item->level = copy->level;
    item->stream = dti_copy_stream(copy);
    frame->contexts[at].moving = (struct dti_bench_moving){copy, memory, operand, reads, n};
    return item;
}

void dti_frame_add_limits(struct dti_frame *frame, const struct dti_bench_memory *memory,
                          size_t operands, uint64_t bytes, bool copy, const char *dtype)
{
    size_t added = 0;
    for (size_t i = 0; i < dti_copy_count && added < DTI_BENCH_LIMITS_MAX; i++) {
        const struct dti_copy *const row = &dti_copies[i];
        const bool wanted = copy ? row->exact : row->in == 1 && row->out == 0;
        if (!wanted || !dti_copy_competes(row, frame->request->level))
            continue;
        struct dti_bench_item *const item =
            dti_frame_add_moving(frame, row, copy ? "copy" : "read", true, memory, 0,
                                 copy ? 1 : operands, (size_t)bytes);
        if (item && dtype)
            (void)snprintf(item->dtype, sizeof item->dtype, "%s", dtype);
        added++;
    }
}

static void peak_pass(void *context, size_t set, size_t member, size_t size)
{
    struct dti_bench_peak *const peak = context;
    (void)set, (void)member, (void)size;
    atomic_store_explicit(&peak->sink, peak->kernel->peak(peak->count), memory_order_relaxed);
}

struct dti_bench_item *dti_frame_add_peak(struct dti_frame *frame,
                                          const struct dti_matmul_kernel *kernel, const char *dtype,
                                          const char *words, uint64_t count)
{
    char title[DTI_BENCH_WORDS];
    const size_t at = frame->table->count;
    (void)snprintf(title, sizeof title, "%s%s", kernel->instruction, words);
    struct dti_bench_item *const item = dti_frame_add(
        frame, &(struct dti_bench_entry){
                   .role = "peak",
                   .dtype = dtype,
                   .engine = "dtinfo",
                   .kernel = title,
                   .operations = (double)count * kernel->per_instruction * (double)frame->threads,
                   .limit = true,
                   .run = peak_pass,
                   .context = &frame->contexts[at],
                   .sets = 1,
               });
    if (item) {
        frame->contexts[at].peak.kernel = kernel;
        frame->contexts[at].peak.count = count;
    }
    return item;
}
