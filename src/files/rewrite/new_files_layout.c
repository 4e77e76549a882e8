/* SPDX-License-Identifier: MIT
 *
 * The new files: their names, what precedes the data, and where each tensor goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/new_files.h"
#include "dtinfo/utf8.h"

static bool can_hold(bool texts, const struct dti_metadata *entry)
{
    return texts && entry->kind == DTI_METADATA_STRING &&
           dti_utf8_valid(entry->key, entry->key_length) &&
           dti_utf8_valid(entry->value, entry->value_length);
}

enum dti_status dti_new_files_metadata(const struct dti_new_files *files, size_t more,
                                       dti_warn_fn *warn, void *warn_context,
                                       struct dti_metadata **ret, size_t *ret_count,
                                       struct dti_error *reterr)
{
    const struct dti_container *const container = files->container;
    struct dti_metadata *const kept =
        calloc(container->metadata_count + more + 1, sizeof *container->metadata);
    const bool texts = dti_holds_texts(files->kind);
    /* that a file of one tensor has none is known to everybody */
    const bool tells = dti_container_has(files->kind, DTI_TRAIT_SEVERAL) &&
                       !dti_container_has(files->kind, DTI_TRAIT_REMADE);
    size_t count = 0;
    if (!kept)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->metadata_count; i++) {
        if (can_hold(texts, &container->metadata[i]))
            kept[count++] = container->metadata[i];
    }
    if (tells && count < container->metadata_count && warn) {
        char text[128];
        (void)snprintf(text, sizeof text, "%zu of %zu metadata entries are left out: %s",
                       container->metadata_count - count, container->metadata_count,
                       texts ? "safetensors files hold only UTF-8 strings"
                             : "npz files hold no metadata");
        const struct dti_note note = {.code = "metadata_left_out", .text = text};
        warn(warn_context, &note);
    }
    *ret = kept;
    *ret_count = count;
    return DTI_OK;
}

const char *dti_new_files_shard(const struct dti_new_files *files, unsigned file,
                                char buffer[DTI_SHARD_NAME])
{
    const struct dti_container *const container = files->container;
    if (dti_container_becomes(container->kind, false) == container->kind)
        return dti_path_base(container->files[file].path);
    (void)snprintf(buffer, DTI_SHARD_NAME, "model-%05u-of-%05zu.safetensors", file + 1,
                   container->file_count);
    return buffer;
}

/* A new entry of the list, which takes over the path. */
static enum dti_status add_path(struct dti_new_files *files, char *path, struct dti_new_file **ret,
                                struct dti_error *reterr)
{
    struct dti_new_file *const more =
        path ? realloc(files->list, (files->count + 1) * sizeof *files->list) : NULL;
    if (!more) {
        free(path);
        return dti_no_memory(reterr);
    }
    files->list = more;
    *ret = &more[files->count++];
    **ret = (struct dti_new_file){.path = path};
    dti_new_head_init(&(*ret)->head);
    return DTI_OK;
}

/* The path of `name` in the output's folder, or just the output's when that is NULL. NULL without
 * memory. */
static char *path_of(const struct dti_new_files *files, const char *name)
{
    const char *const folder = files->path;
    const size_t length = strlen(folder), size = length + (name ? strlen(name) : 0) + 2;
    const bool slash = name && length > 0 && folder[length - 1] != '/';
    char *const path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name ? name : "");
    return path;
}

char *dti_path_beside(const char *path, enum dti_container_kind kind, const char *suffix,
                      bool *ret_named)
{
    const char *const extension = dti_container_extension(kind);
    const size_t length = strlen(path), end = strlen(extension);
    const bool named = length > end && strcmp(path + length - end, extension) == 0;
    const size_t size = length + strlen(suffix) + 1;
    char *const beside = malloc(size);
    if (beside)
        (void)snprintf(beside, size, "%.*s%s%s", (int)(named ? length - end : length), path, suffix,
                       named ? extension : "");
    if (ret_named)
        *ret_named = named;
    return beside;
}

static enum dti_status count_bytes(struct dti_new_files *files, uint64_t bytes,
                                   struct dti_error *reterr)
{
    if (dti_add_u64(files->bytes, bytes, &files->bytes))
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "the output would have more than 2^64 bytes");
}

static enum dti_status lay_out(struct dti_new_files *files, char *path,
                               struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_error *reterr)
{
    struct dti_new_file *file;
    char label[DTI_QUOTE_SIZE];
    struct dti_error why;
    enum dti_status status = add_path(files, path, &file, reterr);
    if (status != DTI_OK)
        return status;
    file->head.from = files->model;
    file->head.encodes = files->encodes;
    file->head.part = files->part;
    status = dti_container_layout(files->kind, tensors, count, metadata, metadata_count,
                                  &file->head, &file->size, &why);
    if (status == DTI_OK && file->head.text.failed)
        return dti_no_memory(reterr);
    if (status == DTI_OK)
        return count_bytes(files, file->size, reterr);
    if (files->path[0] == '\0') /* a dry run without a name for the output */
        return dti_fail(reterr, status, "the output cannot be written: %s", why.text);
    dti_quote(label, file->path, strlen(file->path));
    return dti_fail(reterr, status, "%s: %s", label, why.text);
}

enum dti_status dti_new_files_add(struct dti_new_files *files, const char *name,
                                  struct dti_new_tensor *tensors, size_t count,
                                  const struct dti_metadata *metadata, size_t metadata_count,
                                  struct dti_error *reterr)
{
    return lay_out(files, path_of(files, name), tensors, count, metadata, metadata_count, reterr);
}

enum dti_status dti_new_files_add_beside(struct dti_new_files *files, const char *suffix,
                                         struct dti_new_tensor *tensor, struct dti_error *reterr)
{
    return lay_out(files, dti_path_beside(files->path, files->kind, suffix, NULL), tensor, 1, NULL,
                   0, reterr);
}

/* Once more, now in parts. */
static enum dti_status add_parts(struct dti_new_files *files, struct dti_new_tensor *tensors,
                                 const size_t *ends, size_t parts, struct dti_error *reterr)
{
    struct dti_new_file *const whole = &files->list[--files->count];
    const size_t count = ends[parts - 1];
    enum dti_status status = DTI_OK;
    size_t first = 0;
    files->bytes -= whole->size;
    dti_new_head_free(&whole->head);
    free(whole->path);
    for (size_t i = 0; i < parts && status == DTI_OK; i++) {
        char suffix[DTI_GGUF_PART_SUFFIX];
        dti_gguf_part_suffix(suffix, (uint32_t)i, (uint32_t)parts);
        files->part = (struct dti_head_part){(uint32_t)i, (uint32_t)parts, tensors, count};
        status = lay_out(files, dti_path_beside(files->path, files->kind, suffix, NULL),
                         tensors + first, ends[i] - first, NULL, 0, reterr);
        first = ends[i];
    }
    files->part = (struct dti_head_part){.count = 0};
    return status;
}

enum dti_status dti_new_files_add_parts(struct dti_new_files *files, uint64_t most,
                                        struct dti_new_tensor *tensors, size_t count, size_t *ends,
                                        size_t *ret_large, struct dti_error *reterr)
{
    size_t parts = 0;
    const enum dti_status status = dti_new_files_add(files, NULL, tensors, count, NULL, 0, reterr);
    *ret_large = 0;
    ends[0] = count;
    if (status != DTI_OK)
        return status;
    const struct dti_new_file *const whole = &files->list[files->count - 1];
    if (whole->size <= most)
        return DTI_OK;
    dti_gguf_divide(&whole->head, tensors, count, most, ends, &parts, ret_large);
    if (parts == 1)
        return DTI_OK;
    if (parts > DTI_GGUF_PARTS_MAX || count > INT32_MAX)
        return dti_fail(reterr, DTI_USAGE,
                        "the model would have %zu parts of %zu tensors, and a split gguf has at "
                        "most %d parts of %d; give a larger size",
                        parts, count, (int)DTI_GGUF_PARTS_MAX, (int)INT32_MAX);
    return add_parts(files, tensors, ends, parts, reterr);
}

enum dti_status dti_new_files_add_index(struct dti_new_files *files, const char *name,
                                        const struct dti_new_tensor *tensors, const size_t *file,
                                        size_t count, struct dti_error *reterr)
{
    struct dti_new_file *index;
    const char **const shards = calloc(count + 1, sizeof *shards);
    if (!shards)
        return dti_no_memory(reterr);
    enum dti_status status = add_path(files, path_of(files, name), &index, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        shards[i] = dti_path_base(files->list[file[i]].path);
    if (status == DTI_OK) {
        files->has_index = true;
        status = dti_sharded_index(tensors, shards, count, &index->head.text, reterr);
        if (status == DTI_OK && index->head.text.failed)
            status = dti_no_memory(reterr);
        index->size = index->head.text.length;
    }
    free(shards);
    return status == DTI_OK ? count_bytes(files, index->size, reterr) : status;
}

enum dti_status dti_new_files_share(struct dti_new_files *files, const bool *own, size_t *ret_place,
                                    struct dti_error *reterr)
{
    const size_t count = files->count, with_tensors = count - files->companions - files->has_index;
    struct dti_new_file *const list = calloc(count + 1, sizeof *list);
    size_t companions = 0, to = 0;
    if (!list)
        return dti_no_memory(reterr);
    files->bytes = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < count; i++) {
            if (own[i] != (turn == 0))
                continue;
            if (own[i]) {
                files->bytes += files->list[i].size; /* of all it was not too much */
                companions += i >= with_tensors && i < with_tensors + files->companions;
            }
            list[to] = files->list[i];
            ret_place[i] = to++;
        }
        if (turn == 0)
            files->count = to;
    }
    files->has_index = files->has_index && own[count - 1];
    files->companions = companions;
    files->others = count - files->count;
    files->shards = with_tensors;
    files->shared = true;
    free(files->list);
    files->list = list;
    return DTI_OK;
}

enum dti_status dti_new_files_add_text(struct dti_new_files *files, const char *name,
                                       struct dti_buffer *text, struct dti_error *reterr)
{
    struct dti_new_file *file;
    const enum dti_status status = add_path(files, path_of(files, name), &file, reterr);
    if (status != DTI_OK) {
        dti_buffer_free(text);
        return status;
    }
    file->head.text = *text;
    file->size = text->length;
    files->companions++;
    return count_bytes(files, file->size, reterr);
}

enum dti_status dti_new_files_add_copy(struct dti_new_files *files, const char *name,
                                       const char *from, struct dti_error *reterr)
{
    struct dti_new_file *file;
    struct dti_input input;
    enum dti_status status = dti_input_open_file(&input, from, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t size = input.seekable ? input.size : 0;
    dti_input_close(&input);
    status = add_path(files, path_of(files, name), &file, reterr);
    if (status != DTI_OK)
        return status;
    file->from = strdup(from);
    file->size = size;
    files->companions++;
    return file->from ? count_bytes(files, size, reterr) : dti_no_memory(reterr);
}
