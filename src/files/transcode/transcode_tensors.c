/* SPDX-License-Identifier: MIT
 *
 * The tensors of the view of a transcoded file. What those that are alike share is stored once, and
 * a tensor is made when it is asked for: a file may have millions. */
#include <string.h>

#include "files/transcode/transcode_view.h"
#include "util/run/allocate.h"

void dti_transcode_tensors_free(struct dti_transcode_tensors *tensors)
{
    dti_free(tensors->likes.items);
    dti_free(tensors->sources.items);
    dti_free(tensors->verdicts.items);
}

const uint64_t *dti_transcode_recent_shape(const struct dti_transcode_tensors *tensors,
                                           unsigned rank, const uint64_t *shape)
{
    const struct dti_shared_list *const list = &tensors->likes;
    const struct dti_transcode_like *const likes = list->items;
    for (size_t i = 0; i < DTI_SHARED_RECENT && i < list->count; i++) {
        const struct dti_tensor *const other = &likes[list->recent[i]].tensor;
        if (other->rank == rank && memcmp(other->shape, shape, rank * sizeof *shape) == 0)
            return other->shape;
    }
    return NULL;
}

const struct dti_tensor *dti_transcode_alike(const struct dti_container *view, size_t at)
{
    const struct dti_file_transcode *const transcode = view->own;
    const struct dti_transcode_like *const like = dti_transcode_like_of(transcode, at);
    return like ? &like->tensor : &transcode->dequant->view.tensors[transcode->entries[at].origin];
}

const struct dti_tensor *dti_transcode_make_tensor(const struct dti_container *view, size_t at)
{
    const struct dti_file_transcode *const transcode = view->own;
    const struct dti_transcode_entry *const entry = &transcode->entries[at];
    const struct dti_transcode_like *const like = dti_transcode_like_of(transcode, at);
    return like ? dti_tensor_made(&like->tensor, entry->name, entry->name_length)
                : &transcode->dequant->view.tensors[entry->origin];
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
