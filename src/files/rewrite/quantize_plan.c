/* SPDX-License-Identifier: MIT
 *
 * The plans of quantized tensors, one for all that are alike. There may be many tensors and shapes,
 * so requirements are first deduplicated against the most recent ones, then sorted. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"

/* Finds an equivalent tensor size (outer, length, inner): only products matter. */
static void find_sizes(const struct dti_rewrite *rewrite, size_t at,
                       struct dti_quant_request *request)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const unsigned axis = rewrite->tensors[at].axis;
    const bool whole = dti_quant_is_flat(rewrite->tensors[at].way->by->row) ||
                       (!request->scheme.block && request->scheme.per == DTI_PER_TENSOR);
    request->outer = request->inner = 1;
    request->length = whole ? source->elements : source->shape[axis];
    for (unsigned i = 0; i < source->rank && !whole; i++) {
        if (i < axis)
            request->outer *= source->shape[i]; /* their product is the number of elements, or 0 */
        else if (i > axis)
            request->inner *= source->shape[i];
    }
    if (source->elements == 0 && !whole) /* the other products may be anything */
        request->outer = request->inner = 0;
}

static enum dti_block_order order_of(const struct dti_quant_stored *stored)
{
    switch (stored->row->packing) {
    case DTI_QUANT_PLAIN:
        return DTI_BLOCK_BYTES;
    case DTI_QUANT_BITS:
        return stored->high ? DTI_BLOCK_HIGH : DTI_BLOCK_LOW;
    case DTI_QUANT_WORDS:
        break;
    }
    uint64_t last = stored->rank > 0 ? stored->shape[stored->rank - 1] : 1;
    if (stored->pad && stored->per == DTI_PER_GROUP && stored->axis + 1 == stored->rank &&
        last % stored->group != 0)
        last += stored->group - last % stored->group; /* no overflow: the parts were created */
    return last % (32 / dti_quant_row_bits(stored->row)) == 0 ? DTI_BLOCK_LOW : DTI_BLOCK_BYTES;
}

/* A tensor, and what its plan depends on; then the plan. */
struct need {
    const struct dti_tensor *source;
    const struct dti_quantize_form *by;
    uint64_t outer, length, inner;
    size_t at;
    const struct dti_quant_plan *plan;
};

static struct dti_quant_request request_of(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    struct dti_quant_stored stored;
    dti_rewrite_stored(rewrite, at, &stored);
    struct dti_quant_request request = {
        .scheme = rewrite->tensors[at].way->by->recipe->scheme,
        .number = *source->format,
        .layout = source->layout,
        .order = order_of(&stored),
        .pad = stored.pad,
    };
    if (stored.rotation > 0) { /* numbers arrive rotated */
        request.number = *dti_format_get(DTI_FP32);
        request.layout = (struct dti_layout){.swapped = false};
    }
    find_sizes(rewrite, at, &request);
    return request;
}

static int compare_plans(const struct need *a, const struct need *b)
{
    const int names = strcmp(a->source->format->name, b->source->format->name);
    return a->by != b->by           ? (a->by < b->by ? -1 : 1)
           : names != 0             ? names
           : a->outer != b->outer   ? (a->outer < b->outer ? -1 : 1)
           : a->length != b->length ? (a->length < b->length ? -1 : 1)
           : a->inner != b->inner   ? (a->inner < b->inner ? -1 : 1)
                                    : a->source->layout.swapped - b->source->layout.swapped;
}

static int compare_needs(const void *a, const void *b)
{
    const struct need *const one = *(const struct need *const *)a;
    const struct need *const other = *(const struct need *const *)b;
    const int plans = compare_plans(one, other);
    return plans != 0 ? plans : one->at < other->at ? -1 : one->at > other->at;
}

/* Makes a plan. It shares *like if that is for the same numbers and codes; otherwise the new plan
 * becomes *like. */
static enum dti_status make_plan(const struct dti_rewrite *rewrite,
                                 const struct dti_quant_request *request,
                                 const struct dti_quant_plan **like, struct dti_quant_plan **ret,
                                 struct dti_error *reterr)
{
    const struct dti_quant_request *const other = *like ? dti_quant_plan_request(*like) : NULL;
    if (other && strcmp(other->number.name, request->number.name) == 0 &&
        other->layout.swapped == request->layout.swapped &&
        other->layout.packing == request->layout.packing)
        return dti_quant_plan_new_like(ret, request, *like, reterr);
    const enum dti_status status = dti_quant_plan_new(ret, request, rewrite->request.level, reterr);
    if (status == DTI_OK)
        *like = *ret;
    return status;
}

/* The requirements of the tensors: nearby tensors with the same dtype, shape and axis share one;
 * duplicates are possible. */
struct needs {
    size_t count;
    struct need *list;   /* in tensor order */
    struct need **order; /* sorted, so equal plans are adjacent */
    size_t *of;          /* the entry of each changed tensor */
};

static bool is_like(const struct dti_rewrite *rewrite, const struct need *need, size_t at)
{
    const struct dti_tensor *const one = need->source, *const other =
                                                           dti_rewrite_source(rewrite, at);
    return need->by == rewrite->tensors[at].way->by && one->format == other->format &&
           one->layout.swapped == other->layout.swapped &&
           one->layout.packing == other->layout.packing && one->rank == other->rank &&
           rewrite->tensors[need->at].axis == rewrite->tensors[at].axis &&
           memcmp(one->shape, other->shape, one->rank * sizeof *one->shape) == 0;
}

/* The index of a matching requirement among the most recent ones, or needs->count. */
static size_t place_of(const struct dti_rewrite *rewrite, const struct needs *needs, size_t at)
{
    enum { LOOK_BACK = 16 };
    for (size_t i = needs->count; i > 0 && needs->count - i < LOOK_BACK; i--) {
        if (is_like(rewrite, &needs->list[i - 1], at))
            return i - 1;
    }
    return needs->count;
}

static bool add_need(const struct dti_rewrite *rewrite, struct needs *needs, size_t at)
{
    const size_t count = needs->count;
    if ((count & (count - 1)) == 0) { /* grow the capacity to the next power of two */
        const size_t room = count > 0 ? 2 * count : 1;
        struct need *const more = dti_realloc(needs->list, room * sizeof *more);
        if (!more)
            return false;
        needs->list = more;
    }
    const struct dti_quant_request request = request_of(rewrite, at);
    needs->list[needs->count++] = (struct need){.source = dti_rewrite_source(rewrite, at),
                                                .by = rewrite->tensors[at].way->by,
                                                .outer = request.outer,
                                                .length = request.length,
                                                .inner = request.inner,
                                                .at = at};
    return true;
}

static bool find_needs(const struct dti_rewrite *rewrite, struct needs *needs)
{
    size_t changed = 0;
    needs->of = dti_calloc(rewrite->changed_count + 1, sizeof *needs->of);
    if (!needs->of)
        return false;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        if (rewrite->tensors[i].fate != DTI_FATE_CHANGED)
            continue;
        const size_t place = place_of(rewrite, needs, i);
        if (place == needs->count && !add_need(rewrite, needs, i))
            return false;
        needs->of[changed++] = place;
    }
    needs->order = dti_malloc((needs->count + 1) * sizeof *needs->order);
    if (!needs->order)
        return false;
    for (size_t i = 0; i < needs->count; i++)
        needs->order[i] = &needs->list[i];
    qsort((void *)needs->order, needs->count, sizeof *needs->order, compare_needs);
    return true;
}

static bool starts_plan(const struct needs *needs, size_t at)
{
    return at == 0 || compare_plans(needs->order[at - 1], needs->order[at]) != 0;
}

static enum dti_status plan_needs(struct dti_rewrite *rewrite, const struct needs *needs,
                                  struct dti_error *reterr)
{
    const struct dti_quant_plan *likes[DTI_BLOCK_BYTES + 1] = {NULL};
    size_t plans = 0;
    for (size_t i = 0; i < needs->count; i++)
        plans += starts_plan(needs, i);
    rewrite->quant_plans = dti_calloc(plans + 1, sizeof(struct dti_quant_plan *));
    rewrite->quant_firsts = dti_calloc(plans + 1, sizeof *rewrite->quant_firsts);
    if (!rewrite->quant_plans || !rewrite->quant_firsts)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < needs->count; i++) {
        struct need *const need = needs->order[i];
        if (i > 0 && needs->order[i - 1]->by != need->by)
            memset((void *)likes, 0, sizeof likes); /* plans of another recipe */
        if (starts_plan(needs, i)) {
            rewrite->quant_firsts[rewrite->quant_plan_count] = need->at;
            const struct dti_quant_request request = request_of(rewrite, need->at);
            const enum dti_status status =
                make_plan(rewrite, &request, &likes[request.order],
                          &rewrite->quant_plans[rewrite->quant_plan_count], reterr);
            if (status != DTI_OK)
                return status;
            rewrite->quant_plan_count++;
        }
        need->plan = rewrite->quant_plans[rewrite->quant_plan_count - 1];
    }
    return DTI_OK;
}

enum dti_status dti_quantize_plan(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    struct needs needs = {.count = 0};
    enum dti_status status = DTI_NO_MEMORY;
    if (find_needs(rewrite, &needs))
        status = plan_needs(rewrite, &needs, reterr);
    else
        (void)dti_no_memory(reterr);
    for (size_t i = 0, changed = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        struct dti_rewrite_way way = *rewrite->tensors[i].way;
        if (rewrite->tensors[i].fate != DTI_FATE_CHANGED)
            continue;
        way.quant = needs.list[needs.of[changed++]].plan;
        status = dti_rewrite_go(rewrite, i, &way, reterr);
    }
    dti_free(needs.list);
    dti_free((void *)needs.order);
    dti_free(needs.of);
    return status;
}
