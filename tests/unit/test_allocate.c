/* SPDX-License-Identifier: MIT
 *
 * Memory comes from the allocator that was brought, goes back to it, and is aligned as asked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util/buffer.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/memory_pool.h"
#include "util/run/pages.h"

enum { MARK = 0x5afe, HEADER = 64 };

struct header {
    void *start; /* what malloc() returned */
    size_t size;
    unsigned mark;
};

struct tally {
    size_t live, calls;
    bool strange; /* a block that did not come from here */
    bool empty;   /* no memory is left */
};

static struct header *header_of(void *block)
{
    return (struct header *)(void *)((unsigned char *)block - HEADER);
}

static void *allocate(void *context, void *block, size_t size, size_t alignment)
{
    struct tally *const tally = context;
    const size_t unit = alignment > HEADER ? alignment : HEADER;
    tally->calls++;
    if (block && header_of(block)->mark != MARK) {
        tally->strange = true;
        return NULL;
    }
    if (size == 0) {
        tally->live--;
        header_of(block)->mark = 0;
        free(header_of(block)->start);
        return NULL;
    }
    unsigned char *const start = tally->empty ? NULL : malloc(size + unit + HEADER);
    if (!start)
        return NULL;
    unsigned char *const made = start + HEADER + unit - (uintptr_t)(start + HEADER) % unit;
    memset(made, 0xa5, size);
    *header_of(made) = (struct header){.start = start, .size = size, .mark = MARK};
    tally->live++;
    if (block) {
        const size_t old = header_of(block)->size;
        memcpy(made, block, old < size ? old : size);
        (void)allocate(context, block, 0, 0);
    }
    return made;
}

static void all_memory_is_the_callers(void)
{
    struct tally tally = {0};
    struct dti_caller caller = {.allocate = allocate, .allocate_context = &tally};
    struct dti_call call;
    dti_call_begin(&call, &caller);
    unsigned char *const zeros = dti_calloc(3, 5);
    char *const copy = dti_strndup("bfloat16", 4);
    struct dti_buffer buffer;
    struct dti_pool pool = {0};
    dti_buffer_init(&buffer);
    for (unsigned i = 0; i < 1000; i++)
        dti_buffer_print(&buffer, "%u ", i);
    const char *const pooled = dti_pool_text(&pool, "text", 4);
    void *const page = dti_pages_alloc(100, false);
    CHECK(zeros && zeros[0] == 0 && zeros[14] == 0);
    CHECK(copy && strcmp(copy, "bflo") == 0);
    CHECK(!buffer.failed && pooled && strcmp(pooled, "text") == 0);
    CHECK(page && (uintptr_t)page % DTI_PAGE == 0);
    CHECK(!dti_calloc(SIZE_MAX / 2 + 1, 2)); /* 0 modulo 2^64 */
    CHECK(tally.live >= 5);
    dti_free(zeros);
    dti_free(copy);
    dti_free(page);
    dti_free(NULL);
    dti_buffer_free(&buffer);
    dti_pool_free(&pool);
    CHECK(tally.live == 0 && !tally.strange);

    tally.empty = true;
    CHECK(!dti_malloc(1) && !dti_calloc(1, 1) && !dti_strdup("x") && !dti_malloc_aligned(64, 1));
    dti_call_end(&call);
    const size_t calls = tally.calls;
    void *const block = dti_malloc(0);
    CHECK(block && tally.calls == calls);
    dti_free(block);
}

UNIT_MAIN(all_memory_is_the_callers)
