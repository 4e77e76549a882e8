/* SPDX-License-Identifier: MIT
 *
 * Cuts the tensors of an output into shards: see rewrite_shards.h. */
#include "files/rewrite/rewrite_shards.h"

#include <stdio.h>

#include "containers/safetensors/safetensors.h"
#include "util/checked.h"

enum {
    ENTRY_LEAST = 48, /* bytes of an entry of the header, without its name and shape */
    ENTRY = 96,       /* of nearly all */
    DIMENSION = 12,
    HEADER = DTI_SAFETENSORS_HEADER_MAX / 10 * 9 /* the rest is for metadata and longer entries */
};

/* Bytes of the data, as far as known; tensors that are too large are refused later. */
static uint64_t data_of(const struct dti_new_tensor *tensor)
{
    uint64_t elements = 1, bytes = 0;
    bool fits = true;
    for (unsigned i = 0; i < tensor->rank; i++)
        fits = fits && dti_mul_u64(elements, tensor->shape[i], &elements);
    return fits && dti_format_bytes(tensor->format, &tensor->layout, elements, &bytes) ? bytes
                                                                                       : UINT64_MAX;
}

/* The tensors from `first` on that are parts of one. */
static size_t end_of_whole(const struct dti_shard_cut *cut, size_t first, uint64_t *ret_data,
                           uint64_t *ret_header)
{
    const size_t whole = cut->tensors[first].source / DTI_PART_COUNT;
    size_t at = first;
    *ret_data = *ret_header = 0;
    for (; at < cut->count && cut->tensors[at].source / DTI_PART_COUNT == whole; at++) {
        const struct dti_new_tensor *const tensor = &cut->tensors[at];
        *ret_header += tensor->name_length + ENTRY + (uint64_t)tensor->rank * DIMENSION;
        if (!dti_add_u64(*ret_data, data_of(tensor), ret_data))
            *ret_data = UINT64_MAX;
    }
    return at;
}

size_t dti_shard_end(struct dti_shard_cut *cut, size_t first)
{
    uint64_t bytes = 0, header = 0;
    size_t at = first;
    while (at < cut->count) {
        uint64_t data, own, all;
        const size_t next = end_of_whole(cut, at, &data, &own);
        const bool fits = dti_add_u64(bytes, data, &all) && dti_add_u64(all, own, &all) &&
                          all <= cut->most && header + own <= HEADER;
        if (!fits && at > first)
            return at;
        if (!fits)
            cut->large++;
        bytes = fits ? all : cut->most;
        header += own;
        at = next;
    }
    return at;
}

size_t dti_shard_count(struct dti_shard_cut cut)
{
    size_t count = 0;
    for (size_t at = 0; at < cut.count; count++)
        at = dti_shard_end(&cut, at);
    return count;
}

const char *dti_shard_name(size_t number, size_t count, char buffer[DTI_SHARD_NAME])
{
    (void)snprintf(buffer, DTI_SHARD_NAME, "model-%05zu-of-%05zu.safetensors", number, count);
    return buffer;
}

enum dti_status dti_rewrite_check_headers(const struct dti_rewrite *rewrite,
                                          struct dti_error *reterr)
{
    const bool sharded = dti_is_sharded(rewrite->request.kind);
    const bool quantizes = rewrite->request.recipe == DTI_RECIPE_QUANTIZE;
    uint64_t least = 0;
    size_t tensors = 0;
    unsigned file = 0;
    if (!dti_holds_texts(rewrite->request.kind) || (sharded && rewrite->request.most_bytes > 0))
        return DTI_OK;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const source = dti_rewrite_source(rewrite, i);
        /* codes and scales, at least */
        const size_t parts = quantizes && rewrite->tensors[i].fate == DTI_FATE_CHANGED ? 2 : 1;
        if (sharded && source->file != file) {
            file = source->file;
            least = tensors = 0;
        }
        least += parts * (source->name_length + ENTRY_LEAST);
        tensors += parts;
        if (least > DTI_SAFETENSORS_HEADER_MAX)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "a header for more than %zu tensors would be longer than the %d bytes "
                            "that safetensors allows; write a folder with a maximum shard size",
                            tensors, (int)DTI_SAFETENSORS_HEADER_MAX);
    }
    return DTI_OK;
}
