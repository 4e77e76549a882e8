/* SPDX-License-Identifier: MIT
 *
 * One tensor: the arguments of the functions with which torch rebuilds it, each checked. What
 * cannot be read is listed with the reason. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "containers/torch_parts.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"

/* A dtype by its name, "torch.float8_e4m3fn". Elements of less than a byte are only known in pairs.
 */
static bool set_dtype(struct dti_torch_making *making, uint32_t value)
{
    static const char module[] = "torch.";
    struct dti_tensor *const tensor = &making->found.tensor;
    const struct dti_pickle *const pickle = &making->reading->pickle;
    size_t length;
    if (dti_pickle_meaning(pickle, value) != DTI_GLOBAL_DTYPE)
        return dti_torch_refuse(making, " has a dtype that is none of torch");
    const char *const text = dti_pickle_text(pickle, value, &length);
    char quoted[DTI_QUOTE_SIZE];
    dti_quote(quoted, text, length);
    tensor->format = dti_pickle_dtype(text + sizeof module - 1, length - (sizeof module - 1));
    tensor->stored_as = dti_opening_text(making->reading->opening, quoted + 1, strlen(quoted) - 2);
    if (!tensor->stored_as)
        return false;
    making->item = 1;
    if (!tensor->format) {
        making->item = 0;
        dti_torch_cannot(making, "has a dtype that dtinfo does not know");
    } else if (tensor->format->kind == DTI_KIND_COMPLEX) {
        making->item = tensor->format->width / 8;
    } else if (!dti_format_packs(tensor->format)) {
        making->item = dti_format_container(tensor->format);
    } else if (tensor->format->id != DTI_FP4_E2M1) {
        dti_torch_cannot(making,
                         "has elements of less than a byte, whose order torch does not define");
    }
    return true;
}

static bool set_storage(struct dti_torch_making *making, uint32_t value,
                        struct dti_torch_storage *ret)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    if (!dti_torch_storage(&making->reading->pickle, value, ret))
        return dti_torch_refuse(making, " has a storage that is none of torch's");
    if (!ret->torch_name)
        return true;
    tensor->stored_as = ret->torch_name;
    tensor->format = ret->format;
    making->item = ret->item;
    return true;
}

/* Metadata are flags: what torch has still to do to the numbers. */
static bool is_lazy(const struct dti_pickle *pickle, uint32_t metadata)
{
    if (dti_pickle_type(pickle, metadata) != DTI_PICKLE_DICT)
        return false;
    struct dti_pickle_items items = dti_pickle_items(pickle, metadata);
    uint32_t item;
    bool lazy = false;
    while (dti_pickle_next(pickle, &items, &item))
        lazy |= dti_pickle_type(pickle, item) == DTI_PICKLE_TRUE;
    return lazy;
}

/* (storage, offset, shape, strides, ...), and where dtype and metadata are among them. */
static bool make_view(struct dti_torch_making *making, const uint32_t *items, size_t count,
                      size_t dtype, size_t metadata)
{
    struct dti_torch_reading *const reading = making->reading;
    const struct dti_pickle *const pickle = &reading->pickle;
    struct dti_torch_storage storage;
    uint64_t offset;
    unsigned rank;
    if (count < 4 || (dtype > 0 && count <= dtype))
        return dti_torch_refuse(making, " is made of too few parts");
    if (!set_storage(making, items[0], &storage) || (dtype > 0 && !set_dtype(making, items[dtype])))
        return false;
    if (!making->found.tensor.stored_as)
        return dti_torch_refuse(making, " has no dtype");
    if (!dti_pickle_size(pickle, items[1], &offset))
        return dti_torch_refuse(making, " has an offset that is no number from 0 on");
    if (!dti_torch_set_shape(making, items[2]) ||
        !dti_torch_read_sizes(making, items[3], making->strides, &rank))
        return false;
    if (rank != making->found.tensor.rank)
        return dti_torch_refuse(making, " has more strides than dimensions, or fewer");
    if (!making->found.tensor.format || making->found.tensor.refusal)
        dti_torch_cannot(making,
                         "is quantized by torch, with a scale and zero points in the pickle");
    if (count > metadata && is_lazy(pickle, items[metadata]))
        dti_torch_cannot(making,
                         "is stored before its conjugation or negation, which torch does when it "
                         "reads it");
    if (dtype > 0 && reading->big_endian)
        dti_torch_cannot(making,
                         "is in a big-endian file, which does not say how wide its elements are");
    if (making->item == 0)
        return true;
    return reading->locate(reading, making->subject, &storage) &&
           dti_torch_check_place(making, &storage, offset) && dti_torch_set_layout(making);
}

/* What has no data here: its shape is listed. */
static bool make_absent(struct dti_torch_making *making, const uint32_t *items, size_t count,
                        size_t shape, size_t dtype, const char *why)
{
    if (count <= shape || count <= dtype)
        return dti_torch_refuse(making, " is made of too few parts");
    if (dtype < shape && !set_dtype(making, items[dtype]))
        return false;
    if (!making->found.tensor.stored_as)
        making->found.tensor.stored_as = "torch.Tensor";
    making->found.tensor.refusal = NULL;
    dti_torch_cannot(making, why);
    return dti_torch_set_shape(making, items[shape]);
}

static bool make_sparse(struct dti_torch_making *making, const uint32_t *items, size_t count)
{
    const struct dti_pickle *const pickle = &making->reading->pickle;
    const uint32_t *parts;
    size_t part_count, last;
    if (count != 2 || !dti_pickle_tuple(pickle, items[1], &parts, &part_count) || part_count < 3)
        return dti_torch_refuse(making, " is made of too few parts");
    last = dti_pickle_type(pickle, parts[2]) == DTI_PICKLE_TUPLE ? 2 : 3;
    return make_absent(making, parts, part_count, last, last, "is a sparse tensor");
}

/* Parameters and tensors of other classes have the tensor among their arguments. */
static bool make(struct dti_torch_making *making, uint32_t call)
{
    const struct dti_pickle *const pickle = &making->reading->pickle;
    uint32_t callee = dti_pickle_callee(pickle, call),
             arguments = dti_pickle_arguments(pickle, call);
    for (unsigned depth = 0; depth < DTI_PICKLE_DEPTH_MAX; depth++) {
        const uint32_t *items;
        size_t count;
        if (!dti_pickle_tuple(pickle, arguments, &items, &count))
            break;
        switch (dti_pickle_meaning(pickle, callee)) {
        case DTI_GLOBAL_SAME:
            if (count == 0 || dti_pickle_type(pickle, items[0]) != DTI_PICKLE_CALL)
                return dti_torch_refuse(making, " is made of something that is no tensor");
            call = items[0];
            callee = dti_pickle_callee(pickle, call);
            arguments = dti_pickle_arguments(pickle, call);
            continue;
        case DTI_GLOBAL_ARRAY:
        case DTI_GLOBAL_BUFFER:
            return dti_torch_make_array(making, call);
        case DTI_GLOBAL_FROM_TYPE:
            if (count < 3)
                return dti_torch_refuse(making, " is made of too few parts");
            callee = items[0];
            arguments = items[2];
            continue;
        case DTI_GLOBAL_TENSOR_V1:
            return make_view(making, items, count, 0, SIZE_MAX);
        case DTI_GLOBAL_TENSOR_V2:
            return make_view(making, items, count, 0, 6);
        case DTI_GLOBAL_TENSOR_V3:
            return make_view(making, items, count, 6, 7);
        case DTI_GLOBAL_QUANTIZED:
            dti_torch_cannot(making,
                             "is quantized by torch, with a scale and zero points in the pickle");
            return make_view(making, items, count, 0, SIZE_MAX);
        case DTI_GLOBAL_SPARSE:
            return make_sparse(making, items, count);
        case DTI_GLOBAL_META:
            return make_absent(making, items, count, 1, 0,
                               "has no data: it was on torch's meta device");
        case DTI_GLOBAL_WRAPPER:
            return make_absent(making, items, count, 2, 1,
                               "is of a class of its own, which only Python could rebuild");
        default:
            return dti_torch_refuse(making, " is made by a function that makes no tensors");
        }
    }
    return dti_torch_refuse(making, " is made of too many functions");
}

/* The list is gone with the pickle. */
static bool add(struct dti_torch_reading *reading, const struct dti_torch_found *found)
{
    struct dti_opening *const opening = reading->opening;
    struct dti_pool *const pool = opening->pool;
    opening->pool = &reading->pickle.pool;
    const bool good = dti_opening_grow(opening, &reading->found, reading->found_count, 1,
                                       &reading->found_capacity, sizeof *found);
    opening->pool = pool;
    if (good)
        reading->found[reading->found_count++] = *found;
    return good;
}

bool dti_torch_tensor(struct dti_torch_reading *reading, uint32_t call, const char *name,
                      size_t name_length)
{
    enum { CLAIMED_PER_BYTE = 32, CLAIMED_MORE = 1 << 16, CLAIMED_PER_TENSOR = 64 };
    struct dti_opening *const opening = reading->opening;
    struct dti_torch_making making = {
        .reading = reading,
        .subject = {.what = "tensor", .name = name, .length = name_length},
        .found = {.order = reading->found_count},
        .big_endian = reading->big_endian,
    };
    if (!make(&making, call))
        return false;
    reading->claimed +=
        name_length + 2 * sizeof(uint64_t) * making.found.tensor.rank + CLAIMED_PER_TENSOR;
    if (reading->claimed / CLAIMED_PER_BYTE >
        reading->pickle.end - reading->pickle.start + CLAIMED_MORE)
        return dti_opening_refuse(opening, " repeats its tensors too often");
    making.found.tensor.name = dti_opening_text(opening, name, name_length);
    making.found.tensor.name_length = name_length;
    return making.found.tensor.name && add(reading, &making.found);
}
