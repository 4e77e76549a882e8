/* SPDX-License-Identifier: MIT
 *
 * The storages that a pickle names: their class, key and size, the part of one that old files mean,
 * and where in it the elements of a tensor are. */
#include <string.h>

#include "containers/torch_parts.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"

static const struct {
    const char *class, *torch_name;
    enum dti_dtype dtype;
    unsigned item;
} storages[] = {
#define STORAGE(class_name, id, name, bytes) \
    {.class = class_name, .torch_name = "torch." name, .dtype = DTI_##id, .item = bytes},
#include "containers/torch_storages.def"
#undef STORAGE
};
enum { STORAGES = sizeof storages / sizeof *storages };

/* The row of a class with its module before it. */
static size_t storage_row(const struct dti_pickle *pickle, uint32_t class)
{
    size_t length, row = 0;
    const char *const text = dti_pickle_text(pickle, class, &length);
    const char *const name = strrchr(text, '.') + 1;
    while (row < STORAGES && strcmp(name, storages[row].class) != 0)
        row++;
    return row;
}

/* A part of a storage, as torch 0.x has it: (key, offset, elements). */
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

bool dti_torch_refuse(const struct dti_torch_making *making, const char *text)
{
    return dti_opening_refuse_of(making->reading->opening, making->subject, "%s", text);
}

/* Listed, but without numbers. */
void dti_torch_cannot(struct dti_torch_making *making, const char *why)
{
    making->found.tensor.format = NULL;
    if (!making->found.tensor.refusal)
        making->found.tensor.refusal = why;
}

bool dti_torch_read_sizes(const struct dti_torch_making *making, uint32_t value, uint64_t *ret,
                          unsigned *ret_count)
{
    const struct dti_pickle *const pickle = &making->reading->pickle;
    const uint32_t *items;
    size_t count;
    if (!dti_pickle_tuple(pickle, value, &items, &count))
        return dti_torch_refuse(making, " has a shape or strides that are no tuple");
    if (count > DTI_TORCH_RANK_MAX)
        return dti_torch_refuse(making, " has more than 64 dimensions");
    for (size_t i = 0; i < count; i++) {
        if (!dti_pickle_size(pickle, items[i], &ret[i]))
            return dti_torch_refuse(making,
                                    " has a shape or strides that are no numbers from 0 on");
    }
    *ret_count = (unsigned)count;
    return true;
}

bool dti_torch_set_shape(struct dti_torch_making *making, uint32_t value)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    uint64_t shape[DTI_TORCH_RANK_MAX];
    bool empty = false;
    if (!dti_torch_read_sizes(making, value, shape, &tensor->rank))
        return false;
    tensor->elements = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        empty |= shape[i] == 0;
    for (unsigned i = 0; i < tensor->rank && !empty; i++) {
        if (!dti_mul_u64(tensor->elements, shape[i], &tensor->elements))
            return dti_torch_refuse(making, " has too many elements");
    }
    if (empty)
        tensor->elements = 0;
    tensor->shape = dti_opening_copy(making->reading->opening, shape, tensor->rank, sizeof *shape);
    return tensor->shape != NULL;
}

/* Whether elements follow each other in the order of the shape, or, backwards, in the opposite
 * order. Dimensions of one element do not matter. */
static bool is_plain(const struct dti_torch_making *making, bool backwards)
{
    const struct dti_tensor *const tensor = &making->found.tensor;
    uint64_t expected = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        const unsigned at = backwards ? i : tensor->rank - 1 - i;
        if (tensor->shape[at] != 1 && making->strides[at] != expected)
            return false;
        expected *= tensor->shape[at]; /* fits, as all elements do */
    }
    return true;
}

/* Two codes in each of torch's elements: the last dimension has twice as many. */
static bool double_last(struct dti_torch_making *making)
{
    struct dti_tensor *const tensor = &making->found.tensor;
    if (tensor->rank == 0 || !is_plain(making, false)) {
        dti_torch_cannot(making, "has pairs of elements that do not follow each other");
        return true;
    }
    uint64_t *const shape =
        dti_opening_copy(making->reading->opening, tensor->shape, tensor->rank, sizeof *shape);
    if (!shape)
        return false;
    shape[tensor->rank - 1] *= 2; /* fits: bytes were counted in bits */
    tensor->shape = shape;
    tensor->elements *= 2;
    return true;
}

/* The last element must be in the storage. All of a file's tensors together may repeat what it
 * stores, but not without bound. */
bool dti_torch_check_place(struct dti_torch_making *making, const struct dti_torch_storage *storage,
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
            return dti_torch_refuse(making, " has strides that are too large");
    }
    if (tensor->elements > 0 && last >= storage->view_bytes / making->item)
        return dti_torch_refuse(making, " has elements beyond the end of its storage");
    tensor->offset = storage->offset + storage->view_at;
    if (tensor->elements > 0) {
        tensor->offset += offset * making->item;
        making->found.span = (last - offset + 1) * making->item;
    }
    if (!dti_mul_u64(tensor->elements, making->item, &bytes) || !dti_mul_u64(bytes, 8, &bits) ||
        !dti_add_u64(reading->repeated, bytes, &reading->repeated) ||
        reading->repeated / REPEATED > file + allowed / REPEATED) {
        dti_torch_cannot(making, "repeats stored elements, too often to be read");
        reading->repeated = UINT64_MAX / 2;
        return true;
    }
    tensor->bytes = bytes;
    return true;
}

/* How the elements are in the file, of what can be read. */
bool dti_torch_set_layout(struct dti_torch_making *making)
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
