/* SPDX-License-Identifier: MIT
 *
 * The new files on disk: opened under temporary names, renamed at the end. */
#include "dtinfo/new_files.h"

#include <stdlib.h>
#include <string.h>

#include "dtinfo/part_records.h"
#include "util/descriptor.h"

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

/* Removes what has no name yet. */
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
        free(files->list[i].from);
        free(files->list[i].path);
    }
    free(files->list);
    dti_part_sums_free(files);
    dti_pool_free(&files->old.pool);
    files->list = NULL;
    files->count = files->others = 0;
}

/* Standard output that is one of the files that are read. */
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

/* Whether there is nothing that this run would not make: another run may be making the same. */
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

/* The file that comes last of shards, their index; the first one of others, which all of their
 * names are made of. */
static size_t lead_of(const struct dti_new_files *files)
{
    return is_folder(files) ? files->count - 1 : 0;
}

static enum dti_status open_group(struct dti_new_files *files, bool force, struct dti_error *reterr)
{
    const size_t records = dti_part_record_count(files);
    struct dti_output_member *const members = calloc(files->count + records, sizeof *members);
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
    free(members);
    for (size_t i = 0; i < files->count && status == DTI_OK; i++)
        files->list[i].output = dti_output_group_file(files->group, i);
    if (status == DTI_OK)
        dti_part_sums_watch(files);
    return status;
}

/* What each run makes is inside the folder, which is there from the first of them on: none has to
 * wait for another, or knows what another has left. */
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
    if (files->count > FEW_FILES) /* a new file and its folder, besides what is already open */
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

/* A part's own, which are of no use to anybody; the run that comes last, with no shards of its own,
 * looks for what all have left. */
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
