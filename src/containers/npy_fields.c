/* SPDX-License-Identifier: MIT
 *
 * The fields of numpy's records as tensors: a field of an array is an array itself, whose elements
 * are apart by the size of a record. */
#include <stdlib.h>
#include <string.h>

#include "containers/npy.h"

void dti_npy_fields_init(struct dti_npy_fields *ret)
{
    *ret = (struct dti_npy_fields){.count = 0};
    dti_buffer_init(&ret->names);
}

void dti_npy_fields_free(struct dti_npy_fields *fields)
{
    dti_buffer_free(&fields->names);
    free(fields->list);
}

/* "whole.field" */
static bool set_name(const struct dti_npy_reading *reading, const struct dti_npy_field *field,
                     const struct dti_tensor *whole, struct dti_tensor *ret)
{
    const size_t length = whole->name_length + 1 + field->name_length;
    char *const name = dti_opening_array(reading->opening, length + 1, 1);
    if (!name)
        return false;
    memcpy(name, whole->name, whole->name_length);
    name[whole->name_length] = '.';
    memcpy(name + whole->name_length + 1, reading->fields.names.data + field->name_at,
           field->name_length);
    name[length] = '\0';
    ret->name = name;
    ret->name_length = length;
    return true;
}

/* The dimensions of the array and those of the field; the strides, in the same order. */
static bool set_shape(const struct dti_npy_reading *reading, const struct dti_npy_field *field,
                      struct dti_tensor *ret, uint64_t **ret_strides)
{
    const struct dti_npy_dictionary *const header = &reading->header;
    const unsigned outer = header->rank, rank = outer + field->rank;
    uint64_t *const shape = dti_opening_array(reading->opening, rank, sizeof *shape);
    uint64_t *const strides = dti_opening_array(reading->opening, rank, sizeof *strides);
    uint64_t step = header->item_bytes;
    if (!shape || !strides)
        return false;
    for (unsigned i = 0; i < outer; i++) {
        const unsigned at = header->fortran ? i : outer - 1 - i;
        shape[at] = header->shape[at];
        strides[at] = step;
        step *= shape[at]; /* fits, or there are no elements */
    }
    for (unsigned i = 0; i < field->rank; i++) {
        shape[rank - 1 - i] = field->shape[i];
        strides[rank - 1 - i] = field->strides[i];
    }
    ret->rank = rank;
    ret->shape = shape;
    *ret_strides = strides;
    return true;
}

/* Whether the elements follow each other, row by row. */
static bool is_plain(const struct dti_tensor *tensor, const uint64_t *strides, uint64_t step)
{
    for (unsigned i = tensor->rank; i-- > 0 && tensor->bytes > 0;) {
        if (tensor->shape[i] != 1 && strides[i] != step)
            return false;
        step *= tensor->shape[i];
    }
    return true;
}

static bool take_field(struct dti_npy_reading *reading, const struct dti_npy_field *field,
                       const struct dti_tensor *whole, struct dti_tensor *ret,
                       struct dti_gather_place *ret_place)
{
    struct dti_tensor tensor = {.compressed = whole->compressed};
    struct dti_npy_type type;
    uint64_t *strides;
    if (!dti_npy_type(field->descr, field->descr_length, &type) ||
        !set_name(reading, field, whole, &tensor) ||
        !set_shape(reading, field, &tensor, &strides) ||
        !dti_npy_settle(reading, field->descr, field->descr_length, &type, &tensor))
        return false;
    const struct dti_subject subject = {
        .what = "field", .name = tensor.name, .length = tensor.name_length};
    if (tensor.rank > DTI_NPY_RANK_MAX)
        return dti_opening_refuse_of(reading->opening, subject, " has more than 64 dimensions");
    if (!dti_npy_measure(tensor.shape, tensor.rank, type.item_bytes, &tensor))
        return dti_opening_refuse_of(reading->opening, subject, " is too large");
    const uint64_t inside = tensor.bytes > 0 ? field->offset : 0; /* there may be no record */
    tensor.offset = whole->offset + (whole->compressed ? 0 : inside);
    tensor.strided = !is_plain(&tensor, strides, type.item_bytes);
    *ret_place = (struct dti_gather_place){
        .strides = tensor.strided ? strides : NULL, .item = type.item_bytes, .inside = inside};
    *ret = tensor;
    return true;
}

bool dti_npy_tensors(struct dti_npy_reading *reading, const struct dti_tensor *whole,
                     struct dti_tensor *ret, struct dti_gather_place *ret_places)
{
    const struct dti_npy_fields *const fields = &reading->fields;
    const struct dti_gather_records all = {.count = whole->elements,
                                           .bytes = reading->header.item_bytes,
                                           .rank = whole->rank,
                                           .fields = fields->count};
    const struct dti_gather_records *records = NULL;
    *ret = *whole;
    *ret_places = (struct dti_gather_place){.inside = 0};
    if (fields->count > 1 && !whole->fortran &&
        !(records = dti_opening_copy(reading->opening, &all, 1, sizeof all)))
        return false;
    for (size_t i = 0; i < fields->count; i++) {
        if (!take_field(reading, &fields->list[i], whole, &ret[i], &ret_places[i]))
            return false;
        ret_places[i].records = records;
        ret_places[i].field = i;
    }
    return true;
}

bool dti_npy_check_names(struct dti_opening *opening)
{
    const struct dti_container *const container = opening->container;
    return dti_opening_check_names(opening, container->tensors, container->tensor_count,
                                   DTI_NAMED(struct dti_tensor, name),
                                   (struct dti_subject){.what = "field"}, " occurs twice");
}
