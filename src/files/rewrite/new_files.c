/* SPDX-License-Identifier: MIT
 *
 * The new files: their names, what precedes the data, and where each tensor goes. On disk they are
 * opened under temporary names and renamed at the end. */
#include "files/rewrite/new_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/safetensors/safetensors.h"
#include "files/rewrite/part_records.h"
#include "io/descriptor.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

enum { FEW_FILES = 16, SOME_OTHERS = 64, COPIED = 64 << 10 };

void dti_new_files_init(struct dti_new_files *ret, const struct dti_container *container,
                        enum dti_container_kind kind, const char *path)
{
    memset(ret, 0, sizeof *ret);
    ret->container = ret->model = container;
    ret->kind = kind;
    ret->path = path;
}

static bool is_folder(const struct dti_new_files *files)
{
    return dti_container_has(files->kind, DTI_TRAIT_FOLDER);
}

static enum dti_status fail_stream(const struct dti_new_files *files, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_OUTPUT_FILE,
                           "%s is not a regular file, and %s files are not written in sequence",
                           dti_quote(label, files->path, strlen(files->path)),
                           dti_container_name(files->kind));
}

/* Removes files without a final name. */
static void close_all(struct dti_new_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (!files->group)
            dti_output_discard(files->list[i].output);
        files->list[i].output = NULL;
    }
    dti_output_group_discard(files->group);
    files->group = NULL;
    if (files->made)
        dti_output_folder_unmake(files->path);
    files->made = false;
}

void dti_new_files_free(struct dti_new_files *files)
{
    close_all(files);
    for (size_t i = 0; i < files->count + files->others; i++) {
        dti_new_head_free(&files->list[i].head);
        dti_free(files->list[i].from);
        dti_free(files->list[i].path);
    }
    dti_free(files->list);
    dti_part_sums_free(files);
    dti_pool_free(&files->old.pool);
    files->list = NULL;
    files->count = files->others = 0;
}

/* Refuses standard output that is one of the input files. */
static enum dti_status check_not_input(const struct dti_new_files *files,
                                       const struct dti_output_file *output,
                                       struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < files->container->file_count; i++) {
        const struct dti_input *const input = &files->container->files[i].input;
        if (dti_output_is_file(output, input->device, input->inode))
            return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_OTHER_OUTPUT,
                                   "%s is also the output, and would change while being read",
                                   dti_input_label(input, label));
    }
    return DTI_OK;
}

/* Whether the existing file, if any, is what this run would write: another run may be making the
 * same. */
static enum dti_status look(const struct dti_new_file *file, bool *ret, struct dti_error *reterr)
{
    enum dti_new_file_state state;
    uint64_t bytes;
    const enum dti_status status = dti_new_file_look(file, &state, &bytes, reterr);
    if (status == DTI_OK)
        *ret = state == DTI_NEW_FILE_THERE || state == DTI_NEW_FILE_MISSING;
    return status;
}

enum dti_status dti_new_files_check(struct dti_new_files *files, bool force,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (is_folder(files)) {
        bool there = false;
        status = dti_output_folder_check(files->path, &there, reterr);
        if (status != DTI_OK || !there)
            return status;
    }
    for (size_t i = 0; i < files->count && status == DTI_OK; i++) {
        bool replaced = force;
        if (files->shared && !force)
            status = look(&files->list[i], &replaced, reterr);
        if (status == DTI_OK)
            status = dti_output_check(files->list[i].path, replaced, reterr);
    }
    return status == DTI_OK ? dti_new_files_find_old(files, force, reterr) : status;
}

/* The file that leads the group: for shards the last one, their index; else the first, from whose
 * name all others are derived. */
static size_t lead_of(const struct dti_new_files *files)
{
    return is_folder(files) ? files->count - 1 : 0;
}

static enum dti_status open_group(struct dti_new_files *files, bool force, struct dti_error *reterr)
{
    const size_t records = dti_part_record_count(files);
    struct dti_output_member *const members = dti_calloc(files->count + records, sizeof *members);
    if (!members)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < files->count; i++)
        members[i] = (struct dti_output_member){files->list[i].path, files->list[i].size};
    enum dti_status status = dti_part_sums_begin(files, reterr);
    for (size_t i = 0; i < records && status == DTI_OK; i++)
        members[files->count + i].path = dti_part_record_path(files, i);
    if (status == DTI_OK)
        status = dti_output_group_open(
            &files->group, is_folder(files) && !files->shared ? files->path : NULL, members,
            files->count + records, lead_of(files), force, reterr);
    dti_free(members);
    for (size_t i = 0; i < files->count && status == DTI_OK; i++)
        files->list[i].output = dti_output_group_file(files->group, i);
    if (status == DTI_OK)
        dti_part_sums_watch(files);
    return status;
}

/* Each run writes inside the folder, which the first one creates: no run has to wait for another or
 * know its leftovers. */
static enum dti_status open_share(struct dti_new_files *files, bool force, struct dti_error *reterr)
{
    if (files->count == 0)
        return DTI_OK;
    enum dti_status status = dti_new_files_check(files, force, reterr);
    if (status == DTI_OK)
        status = dti_output_folder_make(files->path, &files->made, reterr);
    return status == DTI_OK ? open_group(files, true, reterr) : status;
}

enum dti_status dti_new_files_open(struct dti_new_files *files, bool force,
                                   struct dti_error *reterr)
{
    if (files->count > FEW_FILES) /* a new file and its folder, in addition to those already open */
        dti_descriptor_allow(files->container->file_count + 2 * files->count + SOME_OTHERS);
    if (files->shared)
        return open_share(files, force, reterr);
    const enum dti_status found = dti_new_files_find_old(files, force, reterr);
    if (found != DTI_OK)
        return found;
    if (is_folder(files) || files->count > 1)
        return open_group(files, force, reterr);
    struct dti_new_file *const file = &files->list[0];
    const bool placed = dti_container_has(files->kind, DTI_TRAIT_PLACED);
    const enum dti_status status =
        dti_output_open(&file->output, file->path, force, file->size, reterr);
    if (status != DTI_OK)
        return status;
    return placed && !dti_output_seekable(file->output)
               ? fail_stream(files, reterr)
               : check_not_input(files, file->output, reterr);
}

/* Finds leftovers. A part removes its own, which are useless to others; the final run, which has no
 * shards of its own, also looks for those of all others. */
static enum dti_status share_leftovers(const struct dti_new_files *files, bool remove,
                                       struct dti_output_leftovers *ret, struct dti_error *reterr)
{
    const bool last = files->count == files->companions + files->has_index;
    enum dti_status status = DTI_OK;
    if (files->count > 0)
        status =
            dti_output_leftovers_find(ret, files->list[lead_of(files)].path, false, true, reterr);
    for (size_t i = 0; i < files->others && last && status == DTI_OK; i++)
        status = dti_output_leftovers_find(ret, files->list[files->count + i].path, false, remove,
                                           reterr);
    return status;
}

enum dti_status dti_new_files_leftovers(const struct dti_new_files *files, bool remove,
                                        struct dti_output_leftovers *ret, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (files->shared)
        return share_leftovers(files, remove, ret, reterr);
    if (is_folder(files))
        status = dti_output_leftovers_find(ret, files->path, true, remove, reterr);
    if (status == DTI_OK)
        status =
            dti_output_leftovers_find(ret, files->list[lead_of(files)].path, false, remove, reterr);
    return status;
}

static enum dti_status copy(const struct dti_new_file *file, struct dti_error *reterr)
{
    struct dti_input input;
    unsigned char bytes[COPIED];
    enum dti_status status = dti_input_open_file(&input, file->from, reterr);
    if (status != DTI_OK)
        return status;
    for (uint64_t done = 0; done < file->size && status == DTI_OK;) {
        const size_t size = file->size - done < COPIED ? (size_t)(file->size - done) : COPIED;
        status = dti_input_read_at(&input, bytes, size, done, reterr);
        if (status == DTI_OK)
            status = dti_output_write_at(file->output, bytes, size, done, reterr);
        done += size;
    }
    dti_input_close(&input);
    return status;
}

enum dti_status dti_new_files_write_heads(struct dti_new_files *files, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < files->count && status == DTI_OK; i++) {
        struct dti_new_file *const file = &files->list[i];
        status =
            file->from ? copy(file, reterr) : dti_new_head_write(&file->head, file->output, reterr);
        if (!file->head.sums)
            dti_new_head_free(&file->head); /* it may be large */
    }
    return status;
}

enum dti_status dti_new_files_commit(struct dti_new_files *files, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < files->count && status == DTI_OK; i++)
        status = dti_new_head_finish(&files->list[i].head, files->list[i].output, reterr);
    if (status == DTI_OK)
        status = dti_part_records_write(files, reterr);
    if (status == DTI_OK)
        status = dti_part_records_remove(files, false, reterr);
    if (status != DTI_OK) {
        close_all(files);
        return status;
    }
    status = files->group ? dti_output_group_commit(files->group, reterr)
                          : dti_output_commit(files->list[0].output, reterr);
    files->group = NULL;
    for (size_t i = 0; i < files->count; i++)
        files->list[i].output = NULL;
    files->made = files->made && status != DTI_OK;
    if (status == DTI_OK)
        status = dti_new_files_remove_old(files, reterr);
    const bool finishes = files->count == files->companions + files->has_index;
    return status == DTI_OK && files->shared && finishes
               ? dti_part_records_remove(files, true, reterr)
               : status;
}

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
        dti_calloc(container->metadata_count + more + 1, sizeof *container->metadata);
    const bool texts = dti_holds_texts(files->kind);
    /* a file of one tensor is known to have no metadata */
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

/* Adds an entry to the list, which takes ownership of the path. */
static enum dti_status add_path(struct dti_new_files *files, char *path, struct dti_new_file **ret,
                                struct dti_error *reterr)
{
    struct dti_new_file *const more =
        path ? dti_realloc(files->list, (files->count + 1) * sizeof *files->list) : NULL;
    if (!more) {
        dti_free(path);
        return dti_no_memory(reterr);
    }
    files->list = more;
    *ret = &more[files->count++];
    **ret = (struct dti_new_file){.path = path};
    dti_new_head_init(&(*ret)->head);
    return DTI_OK;
}

/* The path of `name` in the output's folder, or of the output itself if name is NULL. NULL: out of
 * memory. */
static char *path_of(const struct dti_new_files *files, const char *name)
{
    const char *const folder = files->path;
    const size_t length = strlen(folder), size = length + (name ? strlen(name) : 0) + 2;
    const bool slash = name && length > 0 && folder[length - 1] != '/';
    char *const path = dti_malloc(size);
    if (path)
        (void)snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name ? name : "");
    return path;
}

static enum dti_status count_bytes(struct dti_new_files *files, uint64_t bytes,
                                   struct dti_error *reterr)
{
    if (dti_add_u64(files->bytes, bytes, &files->bytes))
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "the output would have more than 2^64 bytes");
}

static enum dti_status add_file(struct dti_new_files *files, char *path, struct dti_new_file **ret,
                                struct dti_error *reterr)
{
    struct dti_new_file *file;
    const enum dti_status status = add_path(files, path, &file, reterr);
    if (status != DTI_OK)
        return status;
    file->head.from = files->model;
    file->head.encodes = files->encodes;
    file->head.part = files->part;
    file->head.waits = files->waits;
    *ret = file;
    return DTI_OK;
}

/* Takes the last file away. */
static void drop_file(struct dti_new_files *files)
{
    struct dti_new_file *const file = &files->list[--files->count];
    dti_new_head_free(&file->head);
    dti_free(file->path);
}

/* After a file has been laid out, or could not be. */
static enum dti_status laid_out(struct dti_new_files *files, const struct dti_new_file *file,
                                enum dti_status status, const struct dti_error *why,
                                struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    if (status == DTI_OK && file->head.text.failed)
        return dti_no_memory(reterr);
    if (status == DTI_OK)
        return count_bytes(files, file->size, reterr);
    if (files->path[0] == '\0') /* a dry run without a name for the output */
        return dti_fail(reterr, status, "the output cannot be written: %s", why->text);
    dti_quote(label, file->path, strlen(file->path));
    return dti_fail(reterr, status, "%s: %s", label, why->text);
}

static enum dti_status lay_out(struct dti_new_files *files, char *path,
                               struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_error *reterr)
{
    struct dti_new_file *file;
    struct dti_error why;
    enum dti_status status = add_file(files, path, &file, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_container_layout(files->kind, tensors, count, metadata, metadata_count,
                                  &file->head, &file->size, &why);
    return laid_out(files, file, status, &why, reterr);
}

enum dti_status dti_new_files_add_each(struct dti_new_files *files,
                                       const struct dti_new_source *source,
                                       const struct dti_metadata *metadata, size_t metadata_count,
                                       bool *ret_added, struct dti_error *reterr)
{
    struct dti_new_file *file;
    struct dti_error why;
    enum dti_status status = add_file(files, path_of(files, NULL), &file, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_safetensors_layout_each(source, metadata, metadata_count, &file->head, &file->size,
                                         ret_added, &why);
    if (status != DTI_OK || *ret_added)
        return laid_out(files, file, status, &why, reterr);
    drop_file(files);
    return DTI_OK;
}

enum dti_status dti_new_files_add(struct dti_new_files *files, const char *name,
                                  struct dti_new_tensor *tensors, size_t count,
                                  const struct dti_metadata *metadata, size_t metadata_count,
                                  struct dti_error *reterr)
{
    return lay_out(files, path_of(files, name), tensors, count, metadata, metadata_count, reterr);
}

enum dti_status dti_new_files_add_sibling(struct dti_new_files *files, const char *suffix,
                                          struct dti_new_tensor *tensor, struct dti_error *reterr)
{
    return lay_out(files, dti_path_sibling(files->path, files->kind, suffix, NULL), tensor, 1, NULL,
                   0, reterr);
}

/* Replaces the single file by parts. */
static enum dti_status add_parts(struct dti_new_files *files, struct dti_new_tensor *tensors,
                                 const size_t *ends, size_t parts, struct dti_error *reterr)
{
    const size_t count = ends[parts - 1];
    enum dti_status status = DTI_OK;
    size_t first = 0;
    files->bytes -= files->list[files->count - 1].size;
    drop_file(files);
    for (size_t i = 0; i < parts && status == DTI_OK; i++) {
        char suffix[DTI_GGUF_PART_SUFFIX];
        dti_gguf_part_suffix(suffix, (uint32_t)i, (uint32_t)parts);
        files->part = (struct dti_head_part){(uint32_t)i, (uint32_t)parts, tensors, count};
        status = lay_out(files, dti_path_sibling(files->path, files->kind, suffix, NULL),
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
    const char **const shards = dti_calloc(count + 1, sizeof *shards);
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
    dti_free(shards);
    return status == DTI_OK ? count_bytes(files, index->size, reterr) : status;
}

enum dti_status dti_new_files_share(struct dti_new_files *files, const bool *own, size_t *ret_place,
                                    struct dti_error *reterr)
{
    const size_t count = files->count, with_tensors = count - files->companions - files->has_index;
    struct dti_new_file *const list = dti_calloc(count + 1, sizeof *list);
    size_t companions = 0, to = 0;
    if (!list)
        return dti_no_memory(reterr);
    files->bytes = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < count; i++) {
            if (own[i] != (turn == 0))
                continue;
            if (own[i]) {
                files->bytes += files->list[i].size; /* no overflow: the whole file fitted */
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
    dti_free(files->list);
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
    const uint64_t size = input.size;
    if (!input.seekable)
        status = dti_input_fail(&input, ESPIPE, reterr);
    dti_input_close(&input);
    if (status == DTI_OK)
        status = add_path(files, path_of(files, name), &file, reterr);
    if (status != DTI_OK)
        return status;
    file->from = dti_strdup(from);
    file->size = size;
    files->companions++;
    return file->from ? count_bytes(files, size, reterr) : dti_no_memory(reterr);
}
