/* SPDX-License-Identifier: MIT
 *
 * Memory comes from the allocator that was brought, goes back to it, and is aligned as asked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"
#include "unit.h"
#include "util/buffer.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/memory_pool.h"
#include "util/run/pages.h"

static void all_memory_is_the_callers(void)
{
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
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

    tally.fails_at = 1;
    CHECK(!dti_malloc(1) && !dti_calloc(1, 1) && !dti_strdup("x") && !dti_malloc_aligned(64, 1));
    dti_call_end(&call);
    const size_t calls = tally.calls;
    void *const block = dti_malloc(0);
    CHECK(block && tally.calls == calls);
    dti_free(block);
}

UNIT_MAIN(all_memory_is_the_callers)
