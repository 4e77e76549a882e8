/* SPDX-License-Identifier: MIT
 *
 * An allocator of a caller that counts: every block goes back to the one that made it, all of them
 * in the end, and the n-th allocation can fail. From any thread. */
#ifndef DTINFO_TESTS_TALLY_H
#define DTINFO_TESTS_TALLY_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util/error.h"
#include "util/run/caller.h"

enum { TALLY_HEADER = 64 };

struct tally {
    atomic_size_t live, calls;
    size_t fails_at;     /* the call that fails, and all after it; 0: none */
    bool once;           /* later ones do not fail */
    atomic_bool strange; /* a block that another one made */
};

struct tally_header {
    void *start; /* what malloc() returned */
    size_t size;
    struct tally *owner;
};

static inline struct tally_header *tally_header_of(void *block)
{
    return (struct tally_header *)(void *)((unsigned char *)block - TALLY_HEADER);
}

static inline void *tally_allocate(void *context, void *block, size_t size, size_t alignment)
{
    struct tally *const tally = context;
    const size_t unit = alignment > TALLY_HEADER ? alignment : TALLY_HEADER;
    if (block && tally_header_of(block)->owner != tally) {
        atomic_store(&tally->strange, true);
        return NULL;
    }
    if (size == 0) {
        atomic_fetch_sub(&tally->live, 1);
        tally_header_of(block)->owner = NULL;
        free(tally_header_of(block)->start);
        return NULL;
    }
    const size_t call = atomic_fetch_add(&tally->calls, 1) + 1;
    const bool fails =
        tally->fails_at > 0 && (tally->once ? call == tally->fails_at : call >= tally->fails_at);
    unsigned char *const start = fails ? NULL : malloc(size + unit + TALLY_HEADER);
    if (!start)
        return NULL;
    unsigned char *const made =
        start + TALLY_HEADER + unit - (uintptr_t)(start + TALLY_HEADER) % unit;
    const size_t old = block ? tally_header_of(block)->size : 0;
    memset(made, 0xa5, size < 4096 ? size : 4096);
    *tally_header_of(made) = (struct tally_header){.start = start, .size = size, .owner = tally};
    atomic_fetch_add(&tally->live, 1);
    if (block) {
        memcpy(made, block, old < size ? old : size);
        (void)tally_allocate(context, block, 0, 0);
    }
    return made;
}

static inline struct dti_caller tally_caller(struct tally *tally)
{
    return (struct dti_caller){.allocate = tally_allocate, .allocate_context = tally};
}

/* After all is freed. */
static inline bool tally_is_even(struct dti_caller *caller, const struct tally *tally)
{
    dti_caller_end(caller);
    return CHECK(!atomic_load(&tally->strange)) && CHECK_SIZE(atomic_load(&tally->live), 0);
}

/* Memory runs out at the n-th allocation, once and for good, for every n until a run needs fewer:
 * each run says so. */
static inline void tally_fail_each(enum dti_status (*run)(struct dti_error *reterr))
{
    bool failed = true;
    for (size_t i = 2; failed && i < 2000; i++) {
        const size_t at = i / 2;
        struct tally tally = {.fails_at = at, .once = i % 2 == 0};
        struct dti_caller caller = tally_caller(&tally);
        struct dti_error failure = {.status = DTI_OK};
        struct dti_call call;
        dti_call_begin(&call, &caller);
        const enum dti_status status = run(&failure);
        dti_call_end(&call);
        failed = atomic_load(&tally.calls) >= at;
        if (!CHECK_U64(status, failed ? DTI_NO_MEMORY : DTI_OK))
            printf("    allocation %zu: %s\n", at, failure.text);
        (void)tally_is_even(&caller, &tally);
    }
    CHECK(!failed);
}

#endif
