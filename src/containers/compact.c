/* SPDX-License-Identifier: MIT
 *
 * The tensors of a container in a third of the memory: each has its name and place; what tensors
 * that are alike share is stored once. */
#include <string.h>

#include "containers/container.h"
#include "containers/containers.h"
#include "util/run/allocate.h"
#include "util/shared_list.h"

struct tensor_row {
    const char *name;
    uint64_t offset;
    uint32_t name_length;
    uint32_t like; /* an index in the container's likes */
};

static const struct tensor_row *row_of(const struct dti_container *container, size_t tensor)
{
    return &((const struct tensor_row *)container->names)[tensor];
}

static const struct dti_tensor *alike(const struct dti_container *container, size_t tensor)
{
    return &container->likes[row_of(container, tensor)->like];
}

struct dti_tensor *dti_tensor_made(const struct dti_tensor *like, const char *name,
                                   uint32_t name_length)
{
    static _Thread_local struct dti_tensor rooms[DTI_MADE_TENSORS];
    static _Thread_local unsigned used;
    struct dti_tensor *const room = &rooms[used++ % DTI_MADE_TENSORS];
    *room = *like;
    room->name = name;
    room->name_length = name_length;
    return room;
}

static const struct dti_tensor *make(const struct dti_container *container, size_t tensor)
{
    const struct tensor_row *const row = row_of(container, tensor);
    struct dti_tensor *const made =
        dti_tensor_made(&container->likes[row->like], row->name, row->name_length);
    made->offset = row->offset;
    return made;
}

/* Writes each row to where tensors were that have theirs; false: out of memory. */
static bool fill(const struct dti_container *container, struct dti_shared_list *likes)
{
    char *const rows = (char *)container->tensors;
    _Static_assert(sizeof(struct tensor_row) <= sizeof(struct dti_tensor), "none is in the way");
    for (size_t i = 0; i < container->tensor_count; i++) {
        struct dti_tensor tensor;
        memcpy(&tensor, &container->tensors[i], sizeof tensor);
        struct tensor_row row = {
            .name = tensor.name, .offset = tensor.offset, .name_length = tensor.name_length};
        tensor.name = NULL;
        tensor.name_length = 0;
        tensor.offset = 0;
        if (!dti_shared_list_share(likes, &tensor, sizeof tensor, &row.like))
            return false;
        memcpy(rows + i * sizeof row, &row, sizeof row);
    }
    return true;
}

bool dti_container_compact(struct dti_container *container, struct dti_pool *pool)
{
    const size_t size = container->tensor_count * sizeof(struct tensor_row);
    struct dti_shared_list likes = {.items = NULL};
    const bool filled = fill(container, &likes);
    void *const rows = container->tensors, *less = NULL;
    container->tensors = NULL;
    container->likes = likes.items;
    if (filled)
        less = dti_pool_grow(pool, rows, size, size);
    container->names = less ? less : rows;
    container->named = DTI_NAMED(struct tensor_row, name);
    container->make = make;
    container->alike = alike;
    return filled;
}
