/* SPDX-License-Identifier: MIT
 *
 * The tensors of the view of a transcoded file. What those that are alike share is stored once, and
 * a tensor is made when it is asked for: a file may have millions. */
#include <string.h>

#include "files/transcode/transcode_view.h"
#include "util/run/allocate.h"

/* Room for one more at the end of a list; false: out of memory. */
static bool grow(void **list, size_t count, size_t *capacity, size_t size)
{
    const size_t more = count < 8 ? 8 : 2 * count;
    if (count < *capacity)
        return true;
    void *const grown = count <= SIZE_MAX / 2 / size ? dti_realloc(*list, more * size) : NULL;
    if (!grown)
        return false;
    *list = grown;
    *capacity = more;
    return true;
}

void dti_transcode_tensors_free(struct dti_transcode_tensors *tensors)
{
    dti_free(tensors->likes);
    dti_free(tensors->sources);
}

const uint64_t *dti_transcode_recent_shape(const struct dti_transcode_tensors *tensors,
                                           unsigned rank, const uint64_t *shape)
{
    for (size_t i = 0; i < DTI_TRANSCODE_RECENT && i < tensors->like_count; i++) {
        const struct dti_tensor *const other = &tensors->likes[tensors->recent[i]].tensor;
        if (other->rank == rank && memcmp(other->shape, shape, rank * sizeof *shape) == 0)
            return other->shape;
    }
    return NULL;
}

bool dti_transcode_add_like(struct dti_transcode_tensors *tensors,
                            const struct dti_transcode_like *like, uint32_t *ret)
{
    void *list = tensors->likes;
    for (size_t i = 0; i < DTI_TRANSCODE_RECENT && i < tensors->like_count; i++) {
        *ret = tensors->recent[i];
        if (memcmp(&tensors->likes[*ret], like, sizeof *like) == 0)
            return true;
    }
    if (!grow(&list, tensors->like_count, &tensors->like_room, sizeof *like))
        return false;
    tensors->likes = list;
    *ret = (uint32_t)tensors->like_count;
    memcpy(&tensors->likes[*ret], like, sizeof *like); /* with what lies between members */
    tensors->recent[tensors->like_count++ % DTI_TRANSCODE_RECENT] = *ret;
    return true;
}

bool dti_transcode_add_source(struct dti_transcode_tensors *tensors,
                              const struct dti_batch_source *source, uint32_t *ret)
{
    void *list = tensors->sources;
    if (!grow(&list, tensors->source_count, &tensors->source_room, sizeof *source))
        return false;
    tensors->sources = list;
    *ret = (uint32_t)tensors->source_count;
    tensors->sources[tensors->source_count++] = *source;
    return true;
}

const struct dti_tensor *dti_transcode_make_tensor(const struct dti_container *view, size_t at)
{
    static _Thread_local struct dti_tensor rooms[DTI_MADE_TENSORS];
    static _Thread_local unsigned used;
    const struct dti_file_transcode *const transcode = view->own;
    const struct dti_transcode_entry *const entry = &transcode->entries[at];
    const struct dti_transcode_like *const like = dti_transcode_like_of(transcode, at);
    if (!like)
        return &transcode->dequant->view.tensors[entry->origin];
    struct dti_tensor *const room = &rooms[used++ % DTI_MADE_TENSORS];
    *room = like->tensor;
    room->name = entry->name;
    room->name_length = entry->name_length;
    return room;
}

bool dti_transcode_make_tensors(struct dti_file_transcode *transcode)
{
    struct dti_container *const view = &transcode->view;
    struct dti_tensor *const tensors =
        dti_pool_array(&transcode->pool, view->tensor_count + 1, sizeof *tensors);
    if (!tensors)
        return false;
    for (size_t i = 0; i < view->tensor_count; i++)
        tensors[i] = *dti_transcode_make_tensor(view, i);
    view->tensors = tensors;
    return true;
}
