/* SPDX-License-Identifier: MIT
 *
 * One tensor: validates the arguments of the functions with which torch rebuilds it. A tensor that
 * cannot be read is listed with the reason. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "containers/npy/npy.h"
#include "containers/torch/torch_parts.h"
#include "util/checked.h"
#include "util/text/ascii.h"

/* The storages that a pickle refers to: class, key and size, and the view of one that old files may
 * use. */

static const struct {
    const char *class, *torch_name;
    enum dti_dtype dtype;
    unsigned item;
} storages[] = {
#define STORAGE(class_name, id, name, bytes) \
    {.class = class_name, .torch_name = "torch." name, .dtype = DTI_##id, .item = bytes},
#include "containers/pickle/torch_storages.def"
#undef STORAGE
};
enum { STORAGES = sizeof storages / sizeof *storages };

/* The row of a class, given with its module. */
static size_t storage_row(const struct dti_pickle *pickle, uint32_t class)
{
    size_t length, row = 0;
    const char *const text = dti_pickle_text(pickle, class, &length);
    const char *const name = strrchr(text, '.') + 1;
    while (row < STORAGES && strcmp(name, storages[row].class) != 0)
        row++;
    return row;
}

/* A view of a storage, as in torch 0.x: (key, offset, elements). */
static bool read_view(const struct dti_pickle *pickle, uint32_t value,
                      struct dti_torch_storage *storage)
{
    const uint32_t *items;
    size_t count;
    uint64_t at, size;
    storage->view_at = 0;
    storage->view_bytes = storage->bytes;
    if (dti_pickle_type(pickle, value) == DTI_PICKLE_NONE)
        return true;
    if (!dti_pickle_tuple(pickle, value, &items, &count) || count != 3 ||
        !dti_pickle_size(pickle, items[1], &at) || !dti_pickle_size(pickle, items[2], &size) ||
        !dti_mul_u64(at, storage->item, &at) || !dti_mul_u64(size, storage->item, &size) ||
        at > storage->bytes || size > storage->bytes - at)
        return false;
    storage->view_at = at;
    storage->view_bytes = size;
    return true;
}

bool dti_torch_storage(const struct dti_pickle *pickle, uint32_t value,
                       struct dti_torch_storage *ret)
{
    struct dti_torch_storage storage = {.item = 1, .offset = UINT64_MAX};
    const uint32_t *items;
    size_t count, length;
    uint64_t elements;
    if (dti_pickle_type(pickle, value) != DTI_PICKLE_PERSISTENT ||
        !dti_pickle_tuple(pickle, dti_pickle_arguments(pickle, value), &items, &count) ||
        (count != 5 && count != 6) || dti_pickle_type(pickle, items[0]) != DTI_PICKLE_TEXT ||
        dti_pickle_type(pickle, items[2]) != DTI_PICKLE_TEXT)
        return false;
    const char *const kind = dti_pickle_text(pickle, items[0], &length);
    const enum dti_pickle_meaning class = dti_pickle_meaning(pickle, items[1]);
    if (!dti_text_is(kind, length, "storage") ||
        (class != DTI_GLOBAL_STORAGE && class != DTI_GLOBAL_UNTYPED))
        return false;
    if (class == DTI_GLOBAL_STORAGE) {
        const size_t row = storage_row(pickle, items[1]);
        storage.item = storages[row].item;
        storage.torch_name = storages[row].torch_name;
        if (storages[row].dtype != DTI_NONE)
            storage.format = dti_format_get(storages[row].dtype);
    }
    storage.key = dti_pickle_text(pickle, items[2], &storage.key_length);
    if (storage.key_length > DTI_TORCH_KEY_MAX || memchr(storage.key, '\0', storage.key_length) ||
        !dti_pickle_size(pickle, items[4], &elements) ||
        !dti_mul_u64(elements, storage.item, &storage.bytes) ||
        !read_view(pickle, count > 5 ? items[5] : DTI_PICKLE_NONE, &storage))
        return false;
    *ret = storage;
    return true;
}

/* A tensor under construction, and where its elements are. */
struct torch_making {
    struct dti_torch_reading *reading;
    struct dti_subject subject;
    struct dti_torch_found found;
    uint64_t strides[DTI_TORCH_RANK_MAX];
    uint64_t item; /* bytes of an element; 0: not known */
    bool big_endian;
};

static bool refuse(const struct torch_making *making, const char *text)
{
    return dti_opening_refuse_of(making->reading->opening, making->subject, "%s", text);
}

/* Marks a tensor as listed but not readable. Its strides, at least, are not applied. */
static void cannot(struct torch_making *making, const char *why)
{
    making->found.tensor.format = NULL;
    making->found.tensor.beyond_bytes = true;
    if (!dti_tensor_refusal(&making->found.tensor))
        making->found.tensor.own.refusal = why;
}

/* Reads non-negative numbers of a tuple into ret, which has room for DTI_TORCH_RANK_MAX. */
static bool read_sizes(const struct torch_making *making, uint32_t value, uint64_t *ret,
                       unsigned *ret_count)
{
    const struct dti_pickle *const pickle = &making->reading->pickle;
    const uint32_t *items;
    size_t count;
    if (!dti_pickle_tuple(pickle, value, &items, &count))
        return refuse(making, " has a shape or strides that are no tuple");
    if (count > DTI_TORCH_RANK_MAX)
        return refuse(making, " has more than 64 dimensions");
    for (size_t i = 0; i < count; i++) {
        if (!dti_pickle_size(pickle, items[i], &ret[i]))
            return refuse(making, " has a shape or strides that are no numbers from 0 on");
    }
    *ret_count = (unsigned)count;
    return true;
}

/* Sets the shape and the number of elements from a tuple. */
static bool set_shape(struct torch_making *making, uint32_t value)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    uint64_t shape[DTI_TORCH_RANK_MAX];
    bool empty = false;
    if (!read_sizes(making, value, shape, &tensor->rank))
        return false;
    tensor->elements = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        empty |= shape[i] == 0;
    for (unsigned i = 0; i < tensor->rank && !empty; i++) {
        if (!dti_mul_u64(tensor->elements, shape[i], &tensor->elements))
            return refuse(making, " has too many elements");
    }
    if (empty)
        tensor->elements = 0;
    tensor->shape = dti_opening_copy(making->reading->opening, shape, tensor->rank, sizeof *shape);
    return tensor->shape != NULL;
}

/* Whether elements are contiguous in row-major order or, if `backwards`, in column-major order.
 * Dimensions of size 1 are ignored. */
static bool is_plain(const struct torch_making *making, bool backwards)
{
    const struct dti_tensor *const tensor = &making->found.tensor;
    uint64_t expected = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        const unsigned at = backwards ? i : tensor->rank - 1 - i;
        if (tensor->shape[at] != 1 && making->strides[at] != expected)
            return false;
        expected *= tensor->shape[at]; /* no overflow: the element count fits */
    }
    return true;
}

/* Each torch element holds two codes: doubles the last dimension. */
static bool double_last(struct torch_making *making)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    if (tensor->rank == 0 || !is_plain(making, false)) {
        cannot(making, "has pairs of elements that do not follow each other");
        return true;
    }
    uint64_t *const shape =
        dti_opening_copy(making->reading->opening, tensor->shape, tensor->rank, sizeof *shape);
    if (!shape)
        return false;
    shape[tensor->rank - 1] *= 2; /* no overflow: bytes were counted in bits */
    tensor->shape = shape;
    tensor->elements *= 2;
    return true;
}

/* Checks that the last element is in the storage. Tensors may overlap, but their total size is
 * bounded relative to the file. */
static bool check_place(struct torch_making *making, const struct dti_torch_storage *storage,
                        uint64_t offset)
{
    enum { REPEATED = 4 };
    static const uint64_t allowed = UINT64_C(1) << 30;
    struct dti_torch_reading *const reading = making->reading;
    struct dti_tensor *const tensor = &making->found.tensor;
    const uint64_t file = reading->opening->file->input.size;
    uint64_t last = offset, bytes, bits;
    for (unsigned i = 0; i < tensor->rank && tensor->elements > 0; i++) {
        uint64_t step;
        if (!dti_mul_u64(tensor->shape[i] - 1, making->strides[i], &step) ||
            !dti_add_u64(last, step, &last))
            return refuse(making, " has strides that are too large");
    }
    if (tensor->elements > 0 && last >= storage->view_bytes / making->item)
        return refuse(making, " has elements beyond the end of its storage");
    tensor->offset = storage->offset + storage->view_at;
    if (tensor->elements > 0) {
        tensor->offset += offset * making->item;
        making->found.span = (last - offset + 1) * making->item;
    }
    if (!dti_mul_u64(tensor->elements, making->item, &bytes) || !dti_mul_u64(bytes, 8, &bits) ||
        !dti_add_u64(reading->repeated, bytes, &reading->repeated) ||
        reading->repeated / REPEATED > file + allowed / REPEATED) {
        cannot(making, "repeats stored elements, too often to be read");
        reading->repeated = UINT64_MAX / 2;
        return true;
    }
    tensor->bytes = bytes;
    return true;
}

/* Sets the layout of elements in the file, for readable tensors. */
static bool set_layout(struct torch_making *making)
{
    struct dti_torch_reading *const reading = making->reading;
    struct dti_tensor *const tensor = &making->found.tensor;
    if (!tensor->format)
        return true;
    tensor->layout = dti_file_layout(tensor->format, DTI_PACKING_LOW, making->big_endian);
    if (dti_format_packs(dti_real_format(tensor->format)))
        return double_last(making);
    if (tensor->elements == 0 || is_plain(making, false))
        return true;
    tensor->fortran = is_plain(making, true);
    tensor->strided = !tensor->fortran;
    if (tensor->fortran)
        return true;
    uint64_t *const strides =
        dti_opening_copy(reading->opening, making->strides, tensor->rank, sizeof *strides);
    making->found.item = dti_format_item(tensor->format);
    for (unsigned i = 0; strides && i < tensor->rank; i++)
        strides[i] *= making->found.item;
    making->found.strides = strides;
    return strides != NULL;
}

/* numpy arrays inside the pickle: their dtype, shape, and the location of their bytes. The state of
 * an array is (version, shape, dtype, fortran order, bytes), that of a dtype (version, byte order,
 * ...); protocol 5 uses _frombuffer(bytes, dtype, shape, order). */

/* The character of a text of length 1, else NUL. */
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
    const size_t mark = type == DTI_PICKLE_GLOBAL; /* names have no byte-order mark */
    if (!dti_npy_type(ret->descr + mark, strlen(ret->descr + mark), &ret->type) ||
        ret->type.sort != DTI_NPY_DTYPE || ret->type.guessed)
        return false;
    assert(ret->type.format); /* this sort has one */
    if (mark == 1 && ret->type.format->kind == DTI_KIND_COMPLEX)
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

/* Protocol 5 stores arrays that are contiguous in another axis order as a permutation: (1, 0, 2).
 */
static bool permute(struct torch_making *making, uint32_t value)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    const struct dti_pickle *const pickle = &making->reading->pickle;
    uint64_t shape[DTI_TORCH_RANK_MAX], strides[DTI_TORCH_RANK_MAX], seen = 0, axis;
    const uint32_t *axes;
    size_t count;
    if (!dti_pickle_tuple(pickle, value, &axes, &count) || count != tensor->rank)
        return refuse(making, " has axes that are not those of its shape");
    for (size_t i = 0; i < count; i++) {
        if (!dti_pickle_size(pickle, axes[i], &axis) || axis >= count || (seen >> axis & 1) != 0)
            return refuse(making, " has axes that are not those of its shape");
        seen |= UINT64_C(1) << axis;
        shape[i] = tensor->shape[axis];
        strides[i] = making->strides[axis];
    }
    memcpy(making->strides, strides, count * sizeof *strides);
    tensor->shape = dti_opening_copy(making->reading->opening, shape, count, sizeof *shape);
    return tensor->shape != NULL;
}

/* A numpy array: its bytes act as a storage of its own. */
static bool make_array(struct torch_making *making, uint32_t call)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    struct dti_torch_array array;
    if (!dti_torch_array(&making->reading->pickle, call, &array))
        return refuse(making, " is made of something that is no tensor");
    tensor->format = array.type.format;
    tensor->stored_as =
        dti_opening_text(making->reading->opening, array.descr, strlen(array.descr));
    making->item = array.type.item_bytes;
    if (!tensor->stored_as || !set_shape(making, array.shape))
        return false;
    uint64_t step = 1;
    for (unsigned i = 0; i < tensor->rank && tensor->elements > 0; i++) {
        const unsigned at = array.fortran ? i : tensor->rank - 1 - i;
        making->strides[at] = step;
        step *= tensor->shape[at]; /* no overflow: the element count fits */
    }
    if (array.axes != DTI_PICKLE_NONE && !permute(making, array.axes))
        return false;
    const struct dti_torch_storage storage = {
        .item = making->item, .bytes = array.size, .view_bytes = array.size, .offset = array.at};
    if (tensor->elements > 0 && !array.there)
        return refuse(making, " is an array whose bytes are not in the pickle");
    if (!check_place(making, &storage, 0))
        return false;
    if (!array.encoded && tensor->elements > 0 && tensor->bytes != array.size)
        return refuse(making, " is an array of more bytes than its shape has");
    if (dti_format_packs(dti_real_format(tensor->format)))
        cannot(making, "has elements of less than a byte, each in a byte of its own");
    making->big_endian = array.big_endian;
    if (array.encoded && tensor->elements > 0) {
        tensor->compressed = true;
        making->found.encoded = making->found.span = array.size;
    }
    return set_layout(making);
}

/* Tensors of torch. */

/* Sets a dtype by name, "torch.float8_e4m3fn". Types below a byte are supported only in pairs. */
static bool set_dtype(struct torch_making *making, uint32_t value)
{
    static const char module[] = "torch.";
    struct dti_tensor *const tensor = &making->found.tensor;
    const struct dti_pickle *const pickle = &making->reading->pickle;
    size_t length;
    if (dti_pickle_meaning(pickle, value) != DTI_GLOBAL_DTYPE)
        return refuse(making, " has a dtype that is not one of torch's");
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
        cannot(making, "has a dtype that dtinfo does not know");
    } else if (tensor->format->kind == DTI_KIND_COMPLEX) {
        making->item = tensor->format->width / 8;
    } else if (!dti_format_packs(tensor->format)) {
        making->item = dti_format_container(tensor->format);
    } else if (tensor->format->id != DTI_FP4_E2M1) {
        cannot(making, "has elements of less than a byte, whose order torch does not define");
    }
    return true;
}

static bool set_storage(struct torch_making *making, uint32_t value, struct dti_torch_storage *ret)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    if (!dti_torch_storage(&making->reading->pickle, value, ret))
        return refuse(making, " has a storage that is not one of torch's");
    if (!ret->torch_name)
        return true;
    tensor->stored_as = ret->torch_name;
    tensor->format = ret->format;
    making->item = ret->item;
    return true;
}

/* Metadata are flags for operations that torch has yet to apply (conjugation, negation). */
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

/* (storage, offset, shape, strides, ...); dtype and metadata are the indices of these arguments. */
static bool make_view(struct torch_making *making, const uint32_t *items, size_t count,
                      size_t dtype, size_t metadata)
{
    struct dti_torch_reading *const reading = making->reading;
    const struct dti_pickle *const pickle = &reading->pickle;
    struct dti_torch_storage storage;
    uint64_t offset;
    unsigned rank;
    if (count < 4 || (dtype > 0 && count <= dtype))
        return refuse(making, " is made of too few parts");
    if (!set_storage(making, items[0], &storage) || (dtype > 0 && !set_dtype(making, items[dtype])))
        return false;
    if (!making->found.tensor.stored_as)
        return refuse(making, " has no dtype");
    if (!dti_pickle_size(pickle, items[1], &offset))
        return refuse(making, " has an offset that is no number from 0 on");
    if (!set_shape(making, items[2]) || !read_sizes(making, items[3], making->strides, &rank))
        return false;
    if (rank != making->found.tensor.rank)
        return refuse(making, " has more strides than dimensions, or fewer");
    if (!making->found.tensor.format || dti_tensor_refusal(&making->found.tensor))
        cannot(making, "is quantized by torch, with a scale and zero points in the pickle");
    if (count > metadata && is_lazy(pickle, items[metadata]))
        cannot(making, "is stored before its conjugation or negation, which torch does when it "
                       "reads it");
    if (dtype > 0 && reading->big_endian)
        cannot(making, "is in a big-endian file, which does not say how wide its elements are");
    if (making->item == 0)
        return true;
    return reading->locate(reading, making->subject, &storage) &&
           check_place(making, &storage, offset) && set_layout(making);
}

/* A tensor without data in the file: only its shape is listed. */
static bool make_absent(struct torch_making *making, const uint32_t *items, size_t count,
                        size_t shape, size_t dtype, const char *why)
{
    if (count <= shape || count <= dtype)
        return refuse(making, " is made of too few parts");
    if (dtype < shape && !set_dtype(making, items[dtype]))
        return false;
    if (!making->found.tensor.stored_as)
        making->found.tensor.stored_as = "torch.Tensor";
    making->found.tensor.own.refusal = NULL;
    cannot(making, why);
    return set_shape(making, items[shape]);
}

static bool make_sparse(struct torch_making *making, const uint32_t *items, size_t count)
{
    const struct dti_pickle *const pickle = &making->reading->pickle;
    const uint32_t *parts;
    size_t part_count, last;
    if (count != 2 || !dti_pickle_tuple(pickle, items[1], &parts, &part_count) || part_count < 3)
        return refuse(making, " is made of too few parts");
    last = dti_pickle_type(pickle, parts[2]) == DTI_PICKLE_TUPLE ? 2 : 3;
    return make_absent(making, parts, part_count, last, last, "is a sparse tensor");
}

/* Parameters and tensor subclasses contain the tensor among their arguments; unwraps them. */
static bool make(struct torch_making *making, uint32_t call)
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
                return refuse(making, " is made of something that is no tensor");
            call = items[0];
            callee = dti_pickle_callee(pickle, call);
            arguments = dti_pickle_arguments(pickle, call);
            continue;
        case DTI_GLOBAL_ARRAY:
        case DTI_GLOBAL_BUFFER:
            return make_array(making, call);
        case DTI_GLOBAL_FROM_TYPE:
            if (count < 3)
                return refuse(making, " is made of too few parts");
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
            cannot(making, "is quantized by torch, with a scale and zero points in the pickle");
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
            return refuse(making, " is made by a function that makes no tensors");
        }
    }
    return refuse(making, " is made of too many functions");
}

/* The list is freed with the pickle. */
static bool add_tensor(struct dti_torch_reading *reading, const struct dti_torch_found *found)
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
    struct torch_making making = {
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
    return making.found.tensor.name &&
           dti_opening_name_length(opening, name_length, &making.found.tensor) &&
           add_tensor(reading, &making.found);
}
