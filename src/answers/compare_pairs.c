/* SPDX-License-Identifier: MIT
 *
 * Which tensors are held against each other: those of one name; and where each side has one tensor
 * alone, these two. */
#include <stdlib.h>
#include <string.h>

#include "answers/compare.h"
#include "answers/tensors.h"
#include "containers/name_order.h"

/* The tensors of a side that `only` leaves. */
struct side {
    const struct dti_container *container;
    size_t *tensors, count;
};

static const struct dti_tensor *tensor_of(const struct side *side, size_t at)
{
    return &side->container->tensors[side->tensors[at]];
}

static bool same_shape(const struct dti_tensor *a, const struct dti_tensor *b)
{
    return a->rank == b->rank && a->fortran == b->fortran &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

static enum dti_compare_way way_of(const struct dti_tensor *a, const struct dti_tensor *b)
{
    char why[DTI_SCAN_WHY_SIZE];
    enum dti_remedy remedy;
    if (dti_scan_comparable(a, b, why, &remedy))
        return DTI_COMPARE_NUMBERS;
    const bool unread = !a->format || a->refusal || !b->format || b->refusal;
    const bool same =
        strcmp(a->stored_as, b->stored_as) == 0 && a->bytes == b->bytes && same_shape(a, b);
    return unread && same ? DTI_COMPARE_BYTES : DTI_COMPARE_NEVER;
}

/* taken[i]: b's i-th tensor has a partner. */
static void fill(struct dti_compare *compare, const struct side *a, const struct side *b,
                 const struct dti_name_order *names, bool *taken)
{
    const bool alone = a->count == 1 && b->count == 1;
    struct dti_compare_result *result = compare->results;
    for (size_t i = 0; i < a->count; i++, result++) {
        const struct dti_tensor *const tensor = tensor_of(a, i);
        size_t at = 0;
        result->a = a->tensors[i];
        result->way = DTI_COMPARE_ONLY_A;
        if (!alone && !dti_name_order_find(names, tensor->name, tensor->name_length, &at))
            continue;
        taken[at] = true;
        result->b = b->tensors[at];
        result->way = way_of(tensor, tensor_of(b, at));
    }
    for (size_t i = 0; i < b->count; i++) {
        if (taken[i])
            continue;
        result->b = b->tensors[i];
        result++->way = DTI_COMPARE_ONLY_B;
    }
    compare->result_count = (size_t)(result - compare->results);
}

enum dti_status dti_compare_pair(struct dti_compare *compare, struct dti_error *reterr)
{
    struct dti_name_order names = {0};
    struct side a = {.container = compare->a}, b = {.container = compare->b};
    bool *taken = NULL;
    enum dti_status status = DTI_OK;
    a.tensors = dti_tensors_named(compare->a, compare->only, &a.count);
    b.tensors = dti_tensors_named(compare->b, compare->only, &b.count);
    if (!a.tensors || !b.tensors || !dti_name_order_init(&names, b.count))
        goto no_memory;
    for (size_t i = 0; i < b.count; i++)
        dti_name_order_add(&names, tensor_of(&b, i)->name, tensor_of(&b, i)->name_length);
    dti_name_order_sort(&names);
    taken = calloc(b.count + 1, sizeof *taken);
    compare->results = calloc(a.count + b.count + 1, sizeof *compare->results);
    if (!taken || !compare->results)
        goto no_memory;
    fill(compare, &a, &b, &names, taken);
    goto out;
no_memory:
    status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
out:
    dti_name_order_free(&names);
    free(a.tensors);
    free(b.tensors);
    free(taken);
    return status;
}

void dti_compare_free(struct dti_compare *compare)
{
    free(compare->results);
    dti_container_free(compare->a);
    dti_container_free(compare->b);
}
