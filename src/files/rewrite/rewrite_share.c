/* SPDX-License-Identifier: MIT
 *
 * A run divided among machines: which of the new files are this run's, and with them which
 * tensors. */
#include <stdlib.h>

#include "dtinfo/part_records.h"
#include "files/rewrite/rewrite_parts.h"

struct sized_file {
    size_t at;
    uint64_t bytes;
};

/* The largest first; of one size in their order. */
static int compare(const void *a, const void *b)
{
    const struct sized_file *const one = a, *const other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->at < other->at ? -1 : 1;
}

/* Shards are dealt out, the largest first: to the parts 1 to N, then N to 1, and so on. */
static enum dti_status deal(const struct dti_rewrite *rewrite, size_t shards, bool *ret_own,
                            struct dti_error *reterr)
{
    const struct dti_run_part *const part = &rewrite->request.part;
    struct sized_file *const sorted = calloc(shards + 1, sizeof *sorted);
    if (!sorted)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < shards; i++)
        sorted[i] = (struct sized_file){i, rewrite->files.list[i].size};
    qsort(sorted, shards, sizeof *sorted, compare);
    for (size_t i = 0; i < shards; i++) {
        const uint64_t place = i % part->count;
        const bool back = i / part->count % 2 != 0;
        ret_own[sorted[i].at] = (back ? part->count - 1 - place : place) == part->index - 1;
    }
    free(sorted);
    return DTI_OK;
}

/* The tensors of these files come first; all keep the order that they have. */
static void sort_tensors(struct dti_rewrite *rewrite, const size_t *place,
                         struct dti_rewrite_tensor *old, size_t *ret_place)
{
    const size_t count = rewrite->tensor_count;
    size_t to = 0;
    for (size_t i = 0; i < count; i++)
        old[i] = rewrite->tensors[i];
    rewrite->changed_count = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < count; i++) {
            if ((place[old[i].part->file] < rewrite->files.count) != (turn == 0))
                continue;
            rewrite->changed_count += turn == 0 && old[i].fate == DTI_FATE_CHANGED;
            rewrite->tensors[to] = old[i];
            ret_place[i] = to++;
        }
        if (turn == 0)
            rewrite->tensor_count = to;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t parts = dti_parts_before(old[i].parts, DTI_PART_COUNT);
        for (size_t part = 0; part < parts; part++)
            old[i].part[part].file = place[old[i].part[part].file];
    }
    for (size_t i = 0; i < rewrite->quant_plan_count; i++)
        rewrite->quant_firsts[i] = ret_place[rewrite->quant_firsts[i]];
}

enum dti_status dti_rewrite_share(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    struct dti_new_files *const files = &rewrite->files;
    const struct dti_rewrite_request *const request = &rewrite->request;
    if (request->part.count == 0 && !request->finish)
        return DTI_OK;
    const size_t shards = files->count - files->companions - files->has_index;
    bool *const own = calloc(files->count + 1, sizeof *own);
    size_t *const place = calloc(files->count + 1, sizeof *place);
    size_t *const places = calloc(rewrite->tensor_count + 1, sizeof *places);
    struct dti_rewrite_tensor *const old = calloc(rewrite->tensor_count + 1, sizeof *old);
    enum dti_status status = own && place && places && old ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = shards; i < files->count && status == DTI_OK; i++)
        own[i] = request->finish;
    if (status == DTI_OK && request->part.count > 0)
        status = deal(rewrite, shards, own, reterr);
    if (status == DTI_OK)
        status = dti_new_files_share(files, own, place, reterr);
    if (status == DTI_OK)
        sort_tensors(rewrite, place, old, places);
    if (status == DTI_OK)
        status = dti_part_digests_of(rewrite->container, request->made_by ? request->made_by : "",
                                     &files->digests, reterr);
    free(own);
    free(place);
    free(places);
    free(old);
    return status;
}
