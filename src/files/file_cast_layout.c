/* SPDX-License-Identifier: MIT
 *
 * The new files: their names, what stands before the data, and where each tensor goes. */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "files/file_cast_parts.h"
#include "files/told_metadata.h"

/* One that takes exactly one tensor got several, or none. */
static enum dti_status check_count(const struct dti_file_cast *cast, struct dti_error *reterr)
{
    const enum dti_container_kind kind = cast->request.kind;
    char label[DTI_QUOTE_SIZE];
    if (cast->tensor_count == 1 || (kind != DTI_CONTAINER_NPY && kind != DTI_CONTAINER_RAW))
        return DTI_OK;
    const char *const path = cast->container->path;
    const bool several = cast->tensor_count > 0;
    return dti_fail_remedy(reterr, DTI_USAGE, several ? DTI_REMEDY_SELECT_ONE : DTI_REMEDY_NONE,
                           "%s has %zu tensors, and %s file holds one%s",
                           dti_quote(label, path, strlen(path)), cast->tensor_count,
                           kind == DTI_CONTAINER_NPY ? "an npy" : "a raw",
                           several ? "" : "; there is nothing to write");
}

/* metadata: taken, whatever comes of it. */
static enum dti_status lay_out_shards(struct dti_file_cast *cast, struct dti_new_tensor *tensors,
                                      struct dti_metadata *metadata, size_t metadata_count,
                                      struct dti_error *reterr)
{
    struct dti_told_metadata told;
    enum dti_status status = DTI_OK;
    if (!dti_told_metadata_init(&told, metadata, metadata_count))
        status = dti_file_cast_no_memory(reterr);
    for (size_t first = 0, next; first < cast->tensor_count && status == DTI_OK; first = next) {
        const unsigned shard = dti_file_cast_source(cast, first)->file;
        for (next = first; next < cast->tensor_count; next++) {
            if (dti_file_cast_source(cast, next)->file != shard)
                break;
            cast->tensors[next].file = cast->files.count;
        }
        size_t count;
        const struct dti_metadata *const own =
            dti_told_metadata_of(&told, tensors + first, next - first, &count);
        status = dti_new_files_add(&cast->files, dti_new_files_shard(&cast->files, shard),
                                   tensors + first, next - first, own, count, reterr);
    }
    dti_told_metadata_free(&told);
    return status;
}

static enum dti_status write_index(struct dti_file_cast *cast, const struct dti_new_tensor *tensors,
                                   struct dti_error *reterr)
{
    size_t *const file = calloc(cast->tensor_count + 1, sizeof *file);
    if (!file)
        return dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < cast->tensor_count; i++)
        file[i] = cast->tensors[tensors[i].source].file;
    const enum dti_status status = dti_new_files_add_index(
        &cast->files, cast->request.index, tensors, file, cast->tensor_count, reterr);
    free(file);
    return status;
}

/* The tensors in the order of the data, with what was found out about their places. */
static enum dti_status reorder(struct dti_file_cast *cast, const struct dti_new_tensor *tensors,
                               struct dti_error *reterr)
{
    struct dti_file_cast_tensor *const list = calloc(cast->tensor_count + 1, sizeof *list);
    if (!list)
        return dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < cast->tensor_count; i++) {
        list[i] = cast->tensors[tensors[i].source];
        list[i].bytes = tensors[i].bytes;
        list[i].offset = tensors[i].offset;
    }
    free(cast->tensors);
    cast->tensors = list;
    return DTI_OK;
}

static enum dti_status add_up(struct dti_file_cast *cast, struct dti_error *reterr)
{
    bool fits = true;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        fits = fits &&
               dti_add_u64(cast->input_bytes, dti_file_cast_source(cast, i)->bytes,
                           &cast->input_bytes) &&
               dti_add_u64(cast->output_bytes, cast->tensors[i].bytes, &cast->output_bytes);
    }
    if (fits)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "the output would have more than 2^64 bytes");
}

enum dti_status dti_file_cast_layout(struct dti_file_cast *cast, struct dti_new_tensor *tensors,
                                     struct dti_error *reterr)
{
    const bool sharded = cast->request.kind == DTI_CONTAINER_SHARDED;
    struct dti_metadata *metadata = NULL;
    size_t metadata_count = 0;
    enum dti_status status = check_count(cast, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_new_files_metadata(&cast->files, 0, cast->request.warn, cast->request.warn_context,
                                    &metadata, &metadata_count, reterr);
    if (status != DTI_OK)
        return status;
    if (sharded) {
        status = lay_out_shards(cast, tensors, metadata, metadata_count, reterr);
    } else {
        status = dti_new_files_add(&cast->files, NULL, tensors, cast->tensor_count, metadata,
                                   metadata_count, reterr);
        free(metadata);
    }
    if (status == DTI_OK && cast->request.index)
        status = write_index(cast, tensors, reterr);
    if (status == DTI_OK)
        status = reorder(cast, tensors, reterr);
    if (status == DTI_OK)
        status = add_up(cast, reterr);
    return status;
}
