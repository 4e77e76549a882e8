/* SPDX-License-Identifier: MIT
 *
 * Tensors of a container in less memory are what they were: names, places, and all that several
 * have in common, which they share. */
#include <stdio.h>
#include <string.h>

#include "containers/containers.h"
#include "tally.h"
#include "unit.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

enum { COUNT = 1000, SIZE = 32 };
static char names[COUNT][SIZE];
static const uint64_t shapes[3][2] = {{64, 64}, {64, 16}, {4, 64}};

/* Tensors of a model: three matrices a layer, each alike in all layers, and some in between that
 * differ in one member each. */
static struct dti_tensor tensor_of(size_t i)
{
    static const enum dti_dtype dtypes[] = {DTI_BF16, DTI_FP32};
    const size_t kind = i % 3;
    struct dti_tensor tensor;
    memset(&tensor, 0, sizeof tensor); /* with what lies between members */
    tensor.name = names[i];
    tensor.name_length = (uint32_t)snprintf(names[i], SIZE, "layers.%zu.%zu", i / 3, kind);
    tensor.format = dti_format_get(dtypes[i % 50 == 49]);
    tensor.rank = i % 70 == 69 ? 1 : 2;
    tensor.shape = shapes[kind];
    tensor.elements = shapes[kind][0] * (tensor.rank == 2 ? shapes[kind][1] : 1);
    tensor.bytes = tensor.elements * (i % 50 == 49 ? 4 : 2);
    tensor.offset = 100 + 8192 * (uint64_t)i;
    return tensor;
}

static bool fill(struct dti_container *container, struct dti_pool *pool)
{
    *container = (struct dti_container){.tensor_count = COUNT};
    container->tensors = dti_pool_array(pool, COUNT, sizeof *container->tensors);
    for (size_t i = 0; i < COUNT && container->tensors; i++) {
        const struct dti_tensor tensor = tensor_of(i);
        memcpy(&container->tensors[i], &tensor, sizeof tensor);
    }
    return container->tensors != NULL;
}

static void tensors_are_what_they_were(void)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container container;
    if (!CHECK(fill(&container, &pool)) || !CHECK(dti_container_compact(&container, &pool)))
        return;
    CHECK(!container.tensors && container.tensor_count == COUNT);
    size_t wrong = 0, shared = 0;
    for (size_t k = 0; k < COUNT; k++) {
        const size_t i = k * 389 % COUNT; /* in any order */
        const struct dti_tensor want = tensor_of(i);
        const struct dti_tensor *const is = dti_container_tensor(&container, i);
        const struct dti_tensor *const like = dti_container_alike(&container, i);
        wrong += is->name != want.name || is->name_length != want.name_length ||
                 is->offset != want.offset || is->format != want.format || is->rank != want.rank ||
                 is->shape != want.shape || is->elements != want.elements ||
                 is->bytes != want.bytes;
        wrong += like->format != want.format || like->rank != want.rank ||
                 like->shape != want.shape || like->bytes != want.bytes;
        shared += i >= 3 && like == dti_container_alike(&container, i - 3);
    }
    CHECK_U64(wrong, 0);
    CHECK(shared > COUNT * 9 / 10); /* all but those that differ, and their successors */
    const struct dti_tensor *const first = dti_container_tensor(&container, 0);
    const struct dti_tensor *const second = dti_container_tensor(&container, 1);
    CHECK(first != second && first->name == names[0]); /* several stay at once */
    dti_free(container.likes);
    dti_pool_free(&pool);
}

static void memory_may_run_out(void)
{
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
    struct dti_call call;
    dti_call_begin(&call, &caller);
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container container;
    if (CHECK(fill(&container, &pool))) {
        tally.fails_at = 1;
        CHECK(!dti_container_compact(&container, &pool));
        tally.fails_at = 0;
        dti_free(container.likes);
    }
    dti_pool_free(&pool);
    dti_call_end(&call);
    CHECK(tally.live == 0 && !tally.strange);
}

UNIT_MAIN(tensors_are_what_they_were, memory_may_run_out)
