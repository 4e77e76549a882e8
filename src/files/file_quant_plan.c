/* SPDX-License-Identifier: MIT
 *
 * How each tensor becomes codes: the axis along which scales lie, and the plan, one for each dtype
 * and shape. And how tensors that are kept get into the new file: as they are, or in its byte
 * order. */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "files/file_quant_parts.h"

static enum dti_status find_axis(struct dti_file_quant *quant, size_t at, struct dti_error *reterr)
{
    const struct dti_file_quant_request *const request = &quant->request;
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    const bool channels = !request->scheme.block && request->scheme.per == DTI_PER_CHANNEL;
    const int64_t rank = source->rank;
    char place[DTI_TENSOR_PLACE];
    int64_t axis = channels ? 0 : rank - 1;
    if (request->has_axis)
        axis = request->axis < 0 ? request->axis + rank : request->axis;
    if (axis < 0 || axis >= rank)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_KEEP_INSTEAD,
                               "%s has %u dimensions and no axis %lld",
                               dti_tensor_place(quant->container, quant->tensors[at].source, place),
                               source->rank, (long long)request->axis);
    quant->tensors[at].axis = (unsigned)axis;
    return DTI_OK;
}

/* A tensor of two dimensions of that size: only products are looked at. */
static void find_sizes(const struct dti_file_quant *quant, size_t at,
                       struct dti_quant_request *request)
{
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    const unsigned axis = quant->tensors[at].axis;
    const bool whole = !request->scheme.block && request->scheme.per == DTI_PER_TENSOR;
    request->outer = request->inner = 1;
    request->length = whole ? source->elements : source->shape[axis];
    for (unsigned i = 0; i < source->rank && !whole; i++) {
        if (i < axis)
            request->outer *= source->shape[i]; /* their product is the number of elements, or 0 */
        else if (i > axis)
            request->inner *= source->shape[i];
    }
    if (source->elements == 0 && !whole) /* products beside a 0 may be anything */
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
        last += stored->group - last % stored->group; /* no overflow: the parts were made */
    return last % (32 / dti_quant_row_bits(stored->row)) == 0 ? DTI_BLOCK_LOW : DTI_BLOCK_BYTES;
}

/* What to do about a tensor whose shape does not fit. */
static enum dti_remedy remedy_of(const struct dti_file_quant *quant)
{
    const bool pads = dti_quant_suffix(quant->row, DTI_PART_SHAPE) != NULL;
    return pads && !quant->request.pad ? DTI_REMEDY_PAD_OR_KEEP : DTI_REMEDY_KEEP;
}

/* Checks a tensor that is to be quantized. */
static enum dti_status check_quantized(struct dti_file_quant *quant, size_t at,
                                       struct dti_error *reterr)
{
    struct dti_file_quant_tensor *const tensor = &quant->tensors[at];
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    struct dti_error why;
    char place[DTI_TENSOR_PLACE];
    enum dti_status status = find_axis(quant, at, reterr);
    if (status != DTI_OK)
        return status;
    dti_file_quant_stored(quant, at, &stored);
    status = dti_quant_parts(&stored, parts, &why);
    if (status != DTI_OK)
        return dti_fail_remedy(reterr, status, remedy_of(quant), "%s %s",
                               dti_tensor_place(quant->container, tensor->source, place), why.text);
    return DTI_OK;
}

/* A tensor, and what its plan depends on. */
struct need {
    const struct dti_tensor *source;
    uint64_t outer, length, inner;
    size_t at;
};

static struct dti_quant_request request_of(const struct dti_file_quant *quant, size_t at)
{
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    struct dti_quant_stored stored;
    dti_file_quant_stored(quant, at, &stored);
    struct dti_quant_request request = {
        .scheme = quant->request.scheme,
        .number = *source->format,
        .layout = source->layout,
        .order = order_of(&stored),
        .pad = stored.pad,
    };
    find_sizes(quant, at, &request);
    return request;
}

static int compare_plans(const struct need *a, const struct need *b)
{
    const int names = strcmp(a->source->format->name, b->source->format->name);
    return names != 0               ? names
           : a->outer != b->outer   ? (a->outer < b->outer ? -1 : 1)
           : a->length != b->length ? (a->length < b->length ? -1 : 1)
           : a->inner != b->inner   ? (a->inner < b->inner ? -1 : 1)
                                    : a->source->layout.swapped - b->source->layout.swapped;
}

static int compare_needs(const void *a, const void *b)
{
    const struct need *const one = a, *const other = b;
    const int plans = compare_plans(one, other);
    return plans != 0 ? plans : one->at < other->at ? -1 : one->at > other->at;
}

/* Tensors that are alike share a plan: they are sorted, as there may be many of either. */
static enum dti_status make_plans(struct dti_file_quant *quant, struct dti_error *reterr)
{
    struct need *const needs = calloc(quant->quantized_count + 1, sizeof *needs);
    enum dti_status status = DTI_OK;
    size_t count = 0, different = 0;
    if (!needs)
        return dti_file_quant_no_memory(reterr);
    for (size_t i = 0; i < quant->tensor_count; i++) {
        if (quant->tensors[i].fate != DTI_QUANT_FATE_QUANTIZED)
            continue;
        const struct dti_quant_request request = request_of(quant, i);
        needs[count++] = (struct need){.source = dti_file_quant_source(quant, i),
                                       .outer = request.outer,
                                       .length = request.length,
                                       .inner = request.inner,
                                       .at = i};
    }
    qsort(needs, count, sizeof *needs, compare_needs);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || compare_plans(&needs[i - 1], &needs[i]) != 0;
    quant->plans = calloc(different + 1, sizeof(struct dti_quant_plan *));
    if (!quant->plans)
        status = dti_file_quant_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (i == 0 || compare_plans(&needs[i - 1], &needs[i]) != 0) {
            const struct dti_quant_request request = request_of(quant, needs[i].at);
            status = dti_quant_plan_new(&quant->plans[quant->plan_count], &request,
                                        quant->request.level, reterr);
            quant->plan_count += status == DTI_OK;
        }
        if (status == DTI_OK)
            quant->tensors[needs[i].at].plan = quant->plans[quant->plan_count - 1];
    }
    free(needs);
    return status;
}

static bool is_safetensors(enum dti_container_kind kind)
{
    return kind == DTI_CONTAINER_SAFETENSORS || kind == DTI_CONTAINER_SHARDED;
}

/* The elements of a tensor's array: the parts of complex numbers. */
static const struct dti_format *real_format(const struct dti_format *format)
{
    return format->kind == DTI_KIND_COMPLEX ? dti_format_get(format->component) : format;
}

static enum dti_status find_copy(struct dti_file_quant *quant, const struct dti_request *request,
                                 const struct dti_plan **ret, struct dti_error *reterr)
{
    for (size_t i = 0; i < quant->copy_count; i++) {
        const struct dti_request *const other = dti_plan_request(quant->copies[i]);
        if (strcmp(other->src.name, request->src.name) == 0 &&
            memcmp(&other->src_layout, &request->src_layout, sizeof other->src_layout) == 0) {
            *ret = quant->copies[i];
            return DTI_OK;
        }
    }
    struct dti_plan **const more =
        realloc(quant->copies, (quant->copy_count + 1) * sizeof *quant->copies);
    if (!more)
        return dti_file_quant_no_memory(reterr);
    quant->copies = more;
    const enum dti_status status =
        dti_plan_new(&more[quant->copy_count], request, quant->request.level, reterr);
    if (status == DTI_OK)
        *ret = more[quant->copy_count++];
    return status;
}

static enum dti_status plan_kept(struct dti_file_quant *quant, size_t at, struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    const struct dti_format *const format = real_format(source->format);
    const enum dti_container_kind kind = quant->request.kind;
    struct dti_request request = {.src = *format, .src_layout = source->layout};
    char place[DTI_TENSOR_PLACE];
    if (!dti_container_stores(kind, source->format, &request.dst_layout))
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_LEAVE_OUT,
                               "%s is %s, for which %s files have no name",
                               dti_tensor_place(quant->container, quant->tensors[at].source, place),
                               source->format->name, dti_container_name(kind));
    const bool order = dti_format_container(format) == 1 ||
                       request.src_layout.swapped == request.dst_layout.swapped;
    const bool packing = format->width >= 8 ||
                         request.src_layout.packing == request.dst_layout.packing ||
                         (is_safetensors(kind) && is_safetensors(quant->container->kind));
    if (order && packing)
        return DTI_OK;
    request.cast.dst = *format; /* the same numbers in another order */
    return find_copy(quant, &request, &quant->tensors[at].copy, reterr);
}

enum dti_status dti_file_quant_plan(struct dti_file_quant *quant, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < quant->tensor_count && status == DTI_OK; i++)
        status = quant->tensors[i].fate == DTI_QUANT_FATE_QUANTIZED
                     ? check_quantized(quant, i, reterr)
                     : plan_kept(quant, i, reterr);
    return status == DTI_OK ? make_plans(quant, reterr) : status;
}
