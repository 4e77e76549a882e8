/* SPDX-License-Identifier: MIT
 *
 * Converts a finished TensorProto into a tensor of the container: type, size, and location of its
 * data. Tensors without numbers are listed but not read. */
#include <inttypes.h>
#include <stdio.h>

#include "containers/containers.h"
#include "containers/onnx/onnx.h"
#include "util/checked.h"

enum { TYPE_STRING = 8, UNKNOWN_SIZE = 48 };

/* Sets the number of elements, the product of the dimensions. */
static bool measure(struct dti_onnx_reading *reading, const struct dti_onnx_draft *draft,
                    struct dti_tensor *tensor, uint64_t start)
{
    uint64_t product = 1;
    bool empty = false, fits = true;
    for (unsigned i = 0; i < draft->rank; i++) {
        empty = empty || draft->shape[i] == 0;
        if (draft->shape[i] > 0)
            fits = fits && dti_mul_u64(product, draft->shape[i], &product) && product <= INT64_MAX;
    }
    if (!fits && !empty)
        return dti_onnx_refuse(reading, tensor, start,
                               ": its dimensions make 2^63 elements or more");
    tensor->rank = draft->rank;
    tensor->shape =
        dti_opening_copy(reading->opening, draft->shape, draft->rank, sizeof *draft->shape);
    tensor->elements = empty ? 0 : product;
    return tensor->shape != NULL;
}

/* Numbers in a typed field. */
static bool place_values(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                         const struct dti_onnx_type *type, struct dti_tensor *tensor,
                         struct dti_onnx_tensor *own)
{
    uint64_t needed, count, at;
    if (!dti_onnx_check_values(&reading->wire, type, frame->start, frame->end, &count, &at))
        return false;
    if (!dti_mul_u64(dti_divide_up(tensor->elements, type->elements), type->numbers, &needed) ||
        count != needed)
        return dti_onnx_refuse(reading, tensor, frame->start,
                               ": %" PRIu64 " elements of type %s need %" PRIu64
                               " bytes, but it has no raw data and %" PRIu64 " numbers",
                               tensor->elements, type->name, tensor->bytes, count);
    tensor->compressed = at == UINT64_MAX;
    tensor->offset = tensor->compressed ? frame->start : at;
    own->type = frame->number;
    return true;
}

static bool place_raw(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                      struct dti_tensor *tensor)
{
    const struct dti_onnx_text raw = reading->draft.raw;
    tensor->offset = raw.at;
    return raw.size == tensor->bytes ||
           dti_onnx_refuse(reading, tensor, frame->start,
                           ": %" PRIu64 " elements of type %s need %" PRIu64
                           " bytes, but its raw data have %" PRIu64,
                           tensor->elements, tensor->stored_as, tensor->bytes, raw.size);
}

static bool place(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                  const struct dti_onnx_type *type, struct dti_tensor *tensor,
                  struct dti_onnx_tensor *own)
{
    const bool fits =
        type->format->kind == DTI_KIND_COMPLEX
            ? dti_mul_u64(tensor->elements, type->format->width / 8, &tensor->bytes)
            : dti_format_bytes(type->format, &tensor->layout, tensor->elements, &tensor->bytes);
    if (!fits)
        return dti_onnx_refuse(reading, tensor, frame->start, ": its size does not fit in 64 bits");
    return reading->draft.external  ? dti_onnx_place_external(reading, frame, tensor, own)
           : reading->draft.has_raw ? place_raw(reading, frame, tensor)
                                    : place_values(reading, frame, type, tensor, own);
}

/* A type that holds no numbers, or an unknown type. */
static bool set_other(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                      struct dti_tensor *tensor, struct dti_onnx_tensor *own)
{
    struct dti_onnx_draft *const draft = &reading->draft;
    char text[UNKNOWN_SIZE];
    const int length = snprintf(text, sizeof text, "unknown type %" PRIu64, frame->number);
    tensor->bytes = draft->has_raw ? draft->raw.size : 0;
    tensor->offset = draft->has_raw ? draft->raw.at : frame->start;
    if (frame->number == TYPE_STRING) {
        tensor->stored_as = "STRING";
        tensor->own.refusal = "holds strings, not numbers";
        tensor->bytes = draft->string_bytes;
        draft->external = false;
    } else if (frame->number == 0) {
        tensor->stored_as = "UNDEFINED";
        tensor->own.refusal = "has no element type";
    } else {
        tensor->stored_as = dti_opening_text(reading->opening, text, (size_t)length);
        tensor->own.refusal = "has a type that ONNX does not define";
    }
    return tensor->stored_as &&
           (!draft->external || dti_onnx_place_external(reading, frame, tensor, own));
}

static bool describe(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                     struct dti_tensor *tensor, struct dti_onnx_tensor *own)
{
    struct dti_onnx_type type;
    if (!measure(reading, &reading->draft, tensor, frame->start))
        return false;
    if (!dti_onnx_type(frame->number, &type) || reading->draft.segment) {
        if (!set_other(reading, frame, tensor, own))
            return false;
        if (reading->draft.segment)
            tensor->own.refusal = "is a segment of a tensor, which is not supported";
        return true;
    }
    tensor->stored_as = type.name;
    tensor->format = type.format;
    tensor->layout = dti_file_layout(type.format, DTI_PACKING_LOW, false);
    return place(reading, frame, &type, tensor, own);
}

static bool read_name(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                      struct dti_tensor *tensor)
{
    const struct dti_onnx_text name = frame->texts[0];
    if (name.size > DTI_ONNX_TEXT_MAX)
        return dti_opening_refuse(reading->opening,
                                  ": the name of the tensor at byte %" PRIu64 " has %" PRIu64
                                  " bytes, and the limit is %u",
                                  frame->start, name.size, (unsigned)DTI_ONNX_TEXT_MAX);
    size_t length;
    tensor->name = dti_onnx_text(reading, name, DTI_ONNX_TEXT_MAX, &length);
    tensor->name_length = (uint32_t)length;
    return tensor->name != NULL;
}

/* Adds a tensor and its private data. */
static bool add_tensor(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame,
                       struct dti_tensor **ret, struct dti_onnx_tensor **ret_own)
{
    struct dti_opening *const opening = reading->opening;
    const size_t at = opening->container->tensor_count;
    *ret = dti_opening_tensors(opening, 1);
    if (!*ret || !dti_opening_grow(opening, &reading->tensors, at, 1, &reading->tensor_capacity,
                                   sizeof *reading->tensors))
        return false;
    **ret = (struct dti_tensor){.name = ""};
    *ret_own = &reading->tensors[at];
    **ret_own = (struct dti_onnx_tensor){
        .place = frame->place,
        .graph = frame->graph,
        .initializer = reading->frames[reading->depth - 2].message == DTI_ONNX_GRAPH,
        .start = frame->start,
        .end = frame->end};
    return dti_onnx_scope(reading, reading->depth - 1, &(*ret_own)->scope);
}

/* The values tensor of a sparse tensor gives it its name and type. */
static bool note_values(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    struct dti_tensor values = {.name = ""};
    struct dti_onnx_type type;
    if (!read_name(reading, frame, &values))
        return false;
    reading->sparse_name = values.name;
    reading->sparse_name_length = values.name_length;
    reading->sparse_type = dti_onnx_type(frame->number, &type) ? type.name : NULL;
    return true;
}

bool dti_onnx_tensor(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    struct dti_tensor *tensor;
    struct dti_onnx_tensor *own;
    if (reading->frames[reading->depth - 2].message == DTI_ONNX_SPARSE)
        return note_values(reading, frame);
    if (!add_tensor(reading, frame, &tensor, &own) || !read_name(reading, frame, tensor))
        return false;
    if (tensor->name_length == 0 && !own->scope)
        return dti_opening_refuse(
            reading->opening, ": the initializer at byte %" PRIu64 " has no name", frame->start);
    own->name = tensor->name;
    own->name_length = tensor->name_length;
    return describe(reading, frame, tensor, own);
}

bool dti_onnx_sparse(struct dti_onnx_reading *reading, const struct dti_onnx_frame *frame)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_tensor *tensor;
    struct dti_onnx_tensor *own;
    char text[UNKNOWN_SIZE];
    if (!add_tensor(reading, frame, &tensor, &own))
        return false;
    const int length = snprintf(text, sizeof text, "sparse %s",
                                reading->sparse_type ? reading->sparse_type : "tensor");
    tensor->name = reading->sparse_name ? reading->sparse_name : "";
    tensor->name_length = (uint32_t)(reading->sparse_name ? reading->sparse_name_length : 0);
    own->name = tensor->name;
    own->name_length = tensor->name_length;
    reading->sparse_name = NULL;
    reading->sparse_type = NULL;
    if (tensor->name_length == 0 && !own->scope)
        return dti_opening_refuse(
            opening, ": the sparse initializer at byte %" PRIu64 " has no name", frame->start);
    tensor->stored_as = dti_opening_text(opening, text, (size_t)length);
    tensor->own.refusal = "is sparse, which is not supported";
    tensor->bytes = frame->end - frame->start;
    tensor->offset = frame->start;
    reading->sparse_count++;
    return tensor->stored_as && measure(reading, &reading->sparse, tensor, frame->start);
}
