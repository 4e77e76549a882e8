/* SPDX-License-Identifier: MIT
 *
 * The new files: their names, what stands before the data, and where each tensor goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "dtinfo/utf8.h"
#include "files/file_cast_parts.h"

/* The metadata that the new files can hold; to be freed. */
struct metadata {
    struct dti_metadata *entries;
    size_t count;
};

/* The other kinds hold one tensor and no metadata, as everybody knows. */
static bool holds_texts(enum dti_container_kind kind)
{
    return kind == DTI_CONTAINER_SAFETENSORS || kind == DTI_CONTAINER_SHARDED;
}

static bool can_hold(enum dti_container_kind kind, const struct dti_metadata *entry)
{
    return holds_texts(kind) && entry->kind == DTI_METADATA_STRING &&
           dti_utf8_valid(entry->key, entry->key_length) &&
           dti_utf8_valid(entry->value, entry->value_length);
}

static enum dti_status choose_metadata(const struct dti_file_cast *cast, struct metadata *ret,
                                       struct dti_error *reterr)
{
    const struct dti_container *const container = cast->container;
    const struct dti_file_cast_request *const request = &cast->request;
    const enum dti_container_kind kind = request->kind;
    struct metadata kept = {.entries = calloc(container->metadata_count + 1, sizeof *kept.entries)};
    if (!kept.entries)
        return dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < container->metadata_count; i++) {
        if (can_hold(kind, &container->metadata[i]))
            kept.entries[kept.count++] = container->metadata[i];
    }
    if (holds_texts(kind) && kept.count < container->metadata_count && request->warn) {
        char text[128];
        (void)snprintf(
            text, sizeof text,
            "%zu of %zu metadata entries are left out: safetensors files hold UTF-8 texts alone",
            container->metadata_count - kept.count, container->metadata_count);
        request->warn(request->warn_context, "metadata_left_out", text);
    }
    *ret = kept;
    return DTI_OK;
}

/* The last part of a path. */
static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A new entry in files, called `name` in the output's folder, or just as the output when that is
 * NULL. */
static enum dti_status add_file(struct dti_file_cast *cast, const char *name,
                                struct dti_file_cast_file **ret, struct dti_error *reterr)
{
    struct dti_file_cast_file *const file = &cast->files[cast->file_count];
    const char *const folder = cast->request.path;
    const size_t length = strlen(folder), size = length + (name ? strlen(name) : 0) + 2;
    const bool slash = name && length > 0 && folder[length - 1] != '/';
    file->path = malloc(size);
    if (!file->path)
        return dti_file_cast_no_memory(reterr);
    (void)snprintf(file->path, size, "%s%s%s", folder, slash ? "/" : "", name ? name : "");
    dti_buffer_init(&file->head);
    cast->file_count++;
    *ret = file;
    return DTI_OK;
}

/* Lays out the tensors first to first + count - 1 as one file. */
static enum dti_status lay_out(struct dti_file_cast *cast, struct dti_new_tensor *tensors,
                               size_t count, const struct metadata *metadata, const char *name,
                               struct dti_error *reterr)
{
    struct dti_file_cast_file *file;
    char label[DTI_QUOTE_SIZE];
    struct dti_error why;
    enum dti_status status = add_file(cast, name, &file, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_container_layout(cast->request.kind, tensors, count, metadata->entries,
                                  metadata->count, &file->head, &file->size, &why);
    if (status == DTI_OK && file->head.failed)
        return dti_file_cast_no_memory(reterr);
    if (status == DTI_OK)
        return DTI_OK;
    if (file->path[0] == '\0') /* a dry run without a name for the output */
        return dti_fail(reterr, status, "the output cannot be written: %s", why.text);
    dti_quote(label, file->path, strlen(file->path));
    return dti_fail(reterr, status, "%s: %s", label, why.text);
}

/* One that takes exactly one tensor got several, or none. */
static enum dti_status check_count(const struct dti_file_cast *cast, struct dti_error *reterr)
{
    const enum dti_container_kind kind = cast->request.kind;
    char label[DTI_QUOTE_SIZE];
    if (cast->tensor_count == 1 || (kind != DTI_CONTAINER_NPY && kind != DTI_CONTAINER_RAW))
        return DTI_OK;
    const char *const path = cast->container->path;
    return dti_fail(reterr, DTI_USAGE, "%s has %zu tensors, and %s file holds one; %s",
                    dti_quote(label, path, strlen(path)), cast->tensor_count,
                    kind == DTI_CONTAINER_NPY ? "an npy" : "a raw",
                    cast->tensor_count > 0 ? "pick it with --select NAME"
                                           : "there is nothing to write");
}

static enum dti_status lay_out_shards(struct dti_file_cast *cast, struct dti_new_tensor *tensors,
                                      const struct metadata *metadata, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t first = 0, next; first < cast->tensor_count && status == DTI_OK; first = next) {
        const unsigned shard = dti_file_cast_source(cast, first)->file;
        for (next = first; next < cast->tensor_count; next++) {
            if (dti_file_cast_source(cast, next)->file != shard)
                break;
            cast->tensors[next].file = cast->file_count;
        }
        status = lay_out(cast, tensors + first, next - first, metadata,
                         base_name(cast->container->files[shard].path), reterr);
    }
    return status;
}

static enum dti_status write_index(struct dti_file_cast *cast, const struct dti_new_tensor *tensors,
                                   struct dti_error *reterr)
{
    struct dti_file_cast_file *file;
    const char **const shards = calloc(cast->tensor_count + 1, sizeof *shards);
    if (!shards)
        return dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < cast->tensor_count; i++)
        shards[i] = base_name(cast->files[cast->tensors[tensors[i].source].file].path);
    enum dti_status status = add_file(cast, cast->request.index, &file, reterr);
    if (status == DTI_OK) {
        status = dti_sharded_index(tensors, shards, cast->tensor_count, &file->head, reterr);
        if (status == DTI_OK && file->head.failed)
            status = dti_file_cast_no_memory(reterr);
        file->size = file->head.length;
        cast->has_index = true;
    }
    free(shards);
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
    for (size_t i = 0; i < cast->file_count; i++)
        fits = fits && dti_add_u64(cast->file_bytes, cast->files[i].size, &cast->file_bytes);
    if (fits)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "the output would have more than 2^64 bytes");
}

enum dti_status dti_file_cast_layout(struct dti_file_cast *cast, struct dti_new_tensor *tensors,
                                     struct dti_error *reterr)
{
    const bool sharded = cast->request.kind == DTI_CONTAINER_SHARDED;
    struct metadata metadata = {.entries = NULL};
    enum dti_status status = check_count(cast, reterr);
    if (status != DTI_OK)
        return status;
    cast->files = calloc((sharded ? cast->container->file_count : 1) + 1, sizeof *cast->files);
    if (!cast->files)
        return dti_file_cast_no_memory(reterr);
    status = choose_metadata(cast, &metadata, reterr);
    if (status != DTI_OK)
        return status;
    if (sharded)
        status = lay_out_shards(cast, tensors, &metadata, reterr);
    else
        status = lay_out(cast, tensors, cast->tensor_count, &metadata, NULL, reterr);
    free(metadata.entries);
    if (status == DTI_OK && cast->request.index)
        status = write_index(cast, tensors, reterr);
    if (status == DTI_OK)
        status = reorder(cast, tensors, reterr);
    if (status == DTI_OK)
        status = add_up(cast, reterr);
    return status;
}
