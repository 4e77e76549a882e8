/* SPDX-License-Identifier: MIT
 *
 * The tensors of the view of a transcoded file. What those that are alike share is stored once, and
 * a tensor is made when it is asked for: a file may have millions. */
#include <string.h>

#include "files/transcode/transcode_view.h"
#include "util/run/allocate.h"

/* Adds an item to a list; NULL: out of memory. */
static void *add(void *items, struct dti_transcode_list *list, const void *item, size_t size,
                 uint32_t *ret)
{
    if (list->count == list->room) {
        const size_t more = list->count < 8 ? 8 : 2 * list->count;
        void *const grown = more <= SIZE_MAX / size ? dti_realloc(items, more * size) : NULL;
        if (!grown)
            return NULL;
        list->room = more;
        items = grown;
    }
    *ret = (uint32_t)list->count++;
    memcpy((char *)items + *ret * size, item, size); /* with what lies between members */
    return items;
}

/* The same, unless a recent one is equal. */
static void *share(void *items, struct dti_transcode_list *list, const void *item, size_t size,
                   uint32_t *ret)
{
    for (size_t i = 0; i < DTI_TRANSCODE_RECENT && i < list->count; i++) {
        *ret = list->recent[i];
        if (memcmp((const char *)items + *ret * size, item, size) == 0)
            return items;
    }
    void *const all = add(items, list, item, size, ret);
    if (all)
        list->recent[(list->count - 1) % DTI_TRANSCODE_RECENT] = *ret;
    return all;
}

void dti_transcode_tensors_free(struct dti_transcode_tensors *tensors)
{
    dti_free(tensors->likes);
    dti_free(tensors->sources);
    dti_free(tensors->verdicts);
}

const uint64_t *dti_transcode_recent_shape(const struct dti_transcode_tensors *tensors,
                                           unsigned rank, const uint64_t *shape)
{
    const struct dti_transcode_list *const list = &tensors->of_likes;
    for (size_t i = 0; i < DTI_TRANSCODE_RECENT && i < list->count; i++) {
        const struct dti_tensor *const other = &tensors->likes[list->recent[i]].tensor;
        if (other->rank == rank && memcmp(other->shape, shape, rank * sizeof *shape) == 0)
            return other->shape;
    }
    return NULL;
}

bool dti_transcode_add_like(struct dti_transcode_tensors *tensors,
                            const struct dti_transcode_like *like, uint32_t *ret)
{
    void *const all = share(tensors->likes, &tensors->of_likes, like, sizeof *like, ret);
    tensors->likes = all ? all : tensors->likes;
    return all != NULL;
}

bool dti_transcode_add_verdict(struct dti_transcode_tensors *tensors,
                               const struct dti_transcode_verdict *verdict, uint32_t *ret)
{
    void *const all =
        share(tensors->verdicts, &tensors->of_verdicts, verdict, sizeof *verdict, ret);
    tensors->verdicts = all ? all : tensors->verdicts;
    return all != NULL;
}

bool dti_transcode_add_source(struct dti_transcode_tensors *tensors,
                              const struct dti_batch_source *source, uint32_t *ret)
{
    void *const all = add(tensors->sources, &tensors->of_sources, source, sizeof *source, ret);
    tensors->sources = all ? all : tensors->sources;
    return all != NULL;
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
