/* SPDX-License-Identifier: MIT
 *
 * What a new GGUF replaces besides the files of its names: the same model as one file, or as parts
 * of another count. Programs load whichever of them they are given. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/ascii.h"
#include "files/rewrite/old_form_search.h"

struct input_identity {
    uint64_t device, inode;
};

struct part_search {
    struct dti_old_search *search;
    const char *name; /* "STEM.gguf" */
    size_t stem;      /* bytes of it */
    struct input_identity *inputs;
    size_t input_count;
};

static int compare_identities(const void *a, const void *b)
{
    const struct input_identity *const one = a, *const other = b;
    if (one->device != other->device)
        return one->device < other->device ? -1 : 1;
    return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/* The files that are read: of the input and of a template. */
static bool list_inputs(struct part_search *parts)
{
    const struct dti_new_files *const files = parts->search->files;
    const struct dti_container *const read[] = {files->container, files->model};
    parts->inputs = calloc(read[0]->file_count + read[1]->file_count + 1, sizeof *parts->inputs);
    if (!parts->inputs)
        return false;
    for (size_t of = 0; of < 2; of++) {
        for (size_t i = 0; i < read[of]->file_count; i++) {
            const struct dti_input *const input = &read[of]->files[i].input;
            parts->inputs[parts->input_count++] =
                (struct input_identity){input->device, input->inode};
        }
    }
    qsort(parts->inputs, parts->input_count, sizeof *parts->inputs, compare_identities);
    return true;
}

/* Under any name: links lead to it. */
static bool is_input(const struct part_search *parts, const char *path)
{
    struct stat st = {0};
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    const struct input_identity is = {st.st_dev, st.st_ino};
    return bsearch(&is, parts->inputs, parts->input_count, sizeof is, compare_identities);
}

/* False: memory ran out. */
static bool consider(struct part_search *parts, const char *name)
{
    struct dti_old_form *const old = &parts->search->files->old;
    struct stat st;
    if (dti_old_is_own(parts->search, name))
        return true;
    const char *const path = dti_old_join(parts->search, name);
    if (!path || !dti_old_is_there(path, &st))
        return path != NULL;
    if (!is_input(parts, path))
        return dti_old_add(parts->search, path);
    if (old->kept++ == 0 || strcmp(path, old->kept_path) < 0)
        old->kept_path = path;
    return true;
}

static bool is_part(const struct part_search *parts, const char *name)
{
    struct dti_gguf_part_name named;
    return dti_gguf_part_named(name, &named) && named.prefix == parts->stem &&
           memcmp(name, parts->name, parts->stem) == 0;
}

/* A folder that is not there has none; opening the output says what else is wrong with it. */
static enum dti_status list_folder(struct part_search *parts, struct dti_error *reterr)
{
    const char *const path = parts->search->folder[0] != '\0' ? parts->search->folder : ".";
    char label[DTI_QUOTE_SIZE];
    const struct dirent *entry;
    bool fits = true;
    DIR *folder;
    do
        folder = opendir(path);
    while (!folder && errno == EINTR);
    if (!folder && (errno == ENOENT || errno == ENOTDIR))
        return DTI_OK;
    parts->search->files->old.unlisted = !folder && errno == EACCES;
    if (parts->search->files->old.unlisted)
        return DTI_OK;
    int error = folder ? 0 : errno;
    while (folder && fits && (errno = 0, entry = readdir(folder)) != NULL)
        fits = !is_part(parts, entry->d_name) || consider(parts, entry->d_name);
    if (folder && fits)
        error = errno;
    if (folder)
        (void)closedir(folder);
    if (!fits || error == ENOMEM)
        return dti_no_memory(reterr);
    return error == 0 ? DTI_OK
                      : dti_fail(reterr, DTI_WRITE_FAILED,
                                 "cannot look for old parts of the model in %s: %s",
                                 dti_quote(label, path, strlen(path)), strerror(error));
}

enum dti_status dti_old_parts(struct dti_old_search *search, const char *name,
                              struct dti_error *reterr)
{
    const char *const end = dti_container_extension(search->files->kind);
    struct dti_old_form *const old = &search->files->old;
    const size_t length = strlen(name);
    if (length <= strlen(end) || !dti_text_ends(name, length, end))
        return DTI_OK;
    struct part_search parts = {.search = search, .name = name, .stem = length - strlen(end)};
    const bool fits = list_inputs(&parts) && consider(&parts, name);
    const enum dti_status status = fits ? list_folder(&parts, reterr) : dti_no_memory(reterr);
    free(parts.inputs);
    if (status == DTI_OK && old->count > 0)
        qsort((void *)old->paths, old->count, sizeof *old->paths, dti_text_order);
    old->entries = old->count; /* without any one of its parts a model is none */
    return status;
}

void dti_new_files_warn_old(const struct dti_new_files *files, dti_warn_fn *warn, void *context)
{
    const struct dti_old_form *const old = &files->old;
    char label[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 192], more[64] = "";
    if (old->kept > 1)
        (void)snprintf(more, sizeof more, " and %zu more file%s", old->kept - 1,
                       old->kept == 2 ? "" : "s");
    if (old->kept > 0) {
        const struct dti_note note = {"input_kept", text, DTI_REMEDY_OTHER_OUTPUT};
        (void)snprintf(text, sizeof text,
                       "%s%s, which %s read, stay%s beside the new files of that name: programs "
                       "that are given %s load the old numbers",
                       dti_quote(label, old->kept_path, strlen(old->kept_path)), more,
                       old->kept == 1 ? "is" : "are", old->kept == 1 ? "s" : "",
                       old->kept == 1 ? "it" : "them");
        warn(context, &note);
    }
    if (old->unlisted) {
        const struct dti_note note = {"folder_unlisted", text, DTI_REMEDY_NONE};
        (void)snprintf(text, sizeof text,
                       "the folder of %s cannot be listed: old parts under that name would stay",
                       dti_quote(label, files->path, strlen(files->path)));
        warn(context, &note);
    }
}
