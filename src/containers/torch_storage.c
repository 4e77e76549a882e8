/* SPDX-License-Identifier: MIT
 *
 * The storages that a pickle names: their class, key and size, and the part of one that old files
 * mean. */
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
