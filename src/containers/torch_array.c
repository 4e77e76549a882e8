/* SPDX-License-Identifier: MIT
 *
 * Arrays of numpy in the pickle itself: their dtype, shape, and where their bytes are. The state of
 * an array is (version, shape, dtype, fortran order, bytes), that of a dtype (version, byte order,
 * ...); protocol 5 has _frombuffer(bytes, dtype, shape, order). */
#include <string.h>

#include "containers/npy.h"
#include "containers/torch_parts.h"
#include "dtinfo/ascii.h"

/* A text of one character. */
static char letter(const struct dti_pickle *pickle, uint32_t value)
{
    size_t length;
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_TEXT)
        return '\0';
    const char *const text = dti_pickle_text(pickle, value, &length);
    return length == 1 ? *text : '\0';
}

/* numpy.dtype('f4', False, True) with the state (3, '<', ...); or (ml_dtypes.bfloat16, ...). */
static bool read_dtype(const struct dti_pickle *pickle, uint32_t value, struct dti_torch_array *ret)
{
    static const char module[] = "ml_dtypes.";
    const uint32_t *items, *state;
    size_t count, state_count, length;
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_CALL ||
        dti_pickle_meaning(pickle, dti_pickle_callee(pickle, value)) != DTI_GLOBAL_NUMPY_DTYPE ||
        !dti_pickle_tuple(pickle, dti_pickle_arguments(pickle, value), &items, &count) ||
        !dti_pickle_tuple(pickle, dti_pickle_state(pickle, value), &state, &state_count) ||
        count == 0 || state_count < 2)
        return false;
    const enum dti_pickle_type type = dti_pickle_type(pickle, items[0]);
    const char *text = dti_pickle_text(pickle, items[0], &length);
    const char order = letter(pickle, state[1]);
    const size_t skip = type == DTI_PICKLE_GLOBAL ? sizeof module - 1 : 0;
    if (!text || (type != DTI_PICKLE_TEXT && type != DTI_PICKLE_GLOBAL) || order == '\0' ||
        !strchr("<>=|", order) || length < skip || memcmp(text, module, skip) != 0 ||
        length - skip > sizeof ret->descr - 2)
        return false;
    ret->descr[0] = order;
    memcpy(ret->descr + 1, text + skip, length - skip);
    ret->descr[1 + length - skip] = '\0';
    const size_t mark = type == DTI_PICKLE_GLOBAL; /* names have no byte order in front */
    if (!dti_npy_type(ret->descr + mark, strlen(ret->descr + mark), &ret->type) ||
        ret->type.sort != DTI_NPY_DTYPE || ret->type.guessed ||
        (mark == 1 && ret->type.format->kind == DTI_KIND_COMPLEX))
        return false;
    ret->big_endian = order == '>';
    return true;
}

bool dti_torch_array(const struct dti_pickle *pickle, uint32_t call, struct dti_torch_array *ret)
{
    const enum dti_pickle_meaning meaning =
        dti_pickle_meaning(pickle, dti_pickle_callee(pickle, call));
    struct dti_torch_array array = {.descr = ""};
    const uint32_t *items;
    size_t count;
    uint32_t dtype, bytes;
    bool odd = false;
    if (meaning == DTI_GLOBAL_ARRAY) {
        if (!dti_pickle_tuple(pickle, dti_pickle_state(pickle, call), &items, &count) || count != 5)
            return false;
        const enum dti_pickle_type order = dti_pickle_type(pickle, items[3]);
        int64_t number = 0;
        array.shape = items[1];
        dtype = items[2];
        array.fortran =
            order == DTI_PICKLE_TRUE || (dti_pickle_int(pickle, items[3], &number) && number != 0);
        bytes = items[4];
    } else {
        if (meaning != DTI_GLOBAL_BUFFER ||
            !dti_pickle_tuple(pickle, dti_pickle_arguments(pickle, call), &items, &count) ||
            count < 4)
            return false;
        bytes = items[0];
        dtype = items[1];
        array.shape = items[2];
        const char order = letter(pickle, items[3]);
        array.fortran = order == 'F';
        array.axes = order == 'K' && count > 4 ? items[4] : DTI_PICKLE_NONE;
        odd = order != 'C' && order != 'F' && array.axes == DTI_PICKLE_NONE;
    }
    array.there = !odd && dti_pickle_bytes(pickle, bytes, &array.at, &array.size, &array.encoded) &&
                  !(array.encoded && array.axes != DTI_PICKLE_NONE);
    if (!read_dtype(pickle, dtype, &array))
        return false;
    *ret = array;
    return true;
}

/* Protocol 5 has what is contiguous in another order of the axes: (1, 0, 2). */
static bool permute(struct dti_torch_making *making, uint32_t value)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    const struct dti_pickle *const pickle = &making->reading->pickle;
    uint64_t shape[DTI_TORCH_RANK_MAX], strides[DTI_TORCH_RANK_MAX], seen = 0, axis;
    const uint32_t *axes;
    size_t count;
    if (!dti_pickle_tuple(pickle, value, &axes, &count) || count != tensor->rank)
        return dti_torch_refuse(making, " has axes that are not those of its shape");
    for (size_t i = 0; i < count; i++) {
        if (!dti_pickle_size(pickle, axes[i], &axis) || axis >= count || (seen >> axis & 1) != 0)
            return dti_torch_refuse(making, " has axes that are not those of its shape");
        seen |= UINT64_C(1) << axis;
        shape[i] = tensor->shape[axis];
        strides[i] = making->strides[axis];
    }
    memcpy(making->strides, strides, count * sizeof *strides);
    tensor->shape = dti_opening_copy(making->reading->opening, shape, count, sizeof *shape);
    return tensor->shape != NULL;
}

/* An array of numpy: its bytes are those of a storage of its own. */
bool dti_torch_make_array(struct dti_torch_making *making, uint32_t call)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    struct dti_torch_array array;
    if (!dti_torch_array(&making->reading->pickle, call, &array))
        return dti_torch_refuse(making, " is made of something that is no tensor");
    tensor->format = array.type.format;
    tensor->stored_as =
        dti_opening_text(making->reading->opening, array.descr, strlen(array.descr));
    making->item = array.type.item_bytes;
    if (!tensor->stored_as || !dti_torch_set_shape(making, array.shape))
        return false;
    uint64_t step = 1;
    for (unsigned i = 0; i < tensor->rank && tensor->elements > 0; i++) {
        const unsigned at = array.fortran ? i : tensor->rank - 1 - i;
        making->strides[at] = step;
        step *= tensor->shape[at]; /* fits, as all elements do */
    }
    if (array.axes != DTI_PICKLE_NONE && !permute(making, array.axes))
        return false;
    const struct dti_torch_storage storage = {
        .item = making->item, .bytes = array.size, .view_bytes = array.size, .offset = array.at};
    if (tensor->elements > 0 && !array.there)
        return dti_torch_refuse(making, " is an array whose bytes are not in the pickle");
    if (!dti_torch_check_place(making, &storage, 0))
        return false;
    if (!array.encoded && tensor->elements > 0 && tensor->bytes != array.size)
        return dti_torch_refuse(making, " is an array of more bytes than its shape has");
    if (dti_format_packs(dti_real_format(tensor->format)))
        dti_torch_cannot(making, "has elements of less than a byte, each in a byte of its own");
    making->big_endian = array.big_endian;
    if (array.encoded && tensor->elements > 0) {
        tensor->compressed = true;
        making->found.encoded = making->found.span = array.size;
    }
    return dti_torch_set_layout(making);
}
