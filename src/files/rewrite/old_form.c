/* SPDX-License-Identifier: MIT
 *
 * What new files replace in addition to files of the same names: the same model in the other form,
 * one file or an index with shards, which programs would load instead or as well; for a GGUF one
 * file, or parts of another count, of which programs load whichever they are given. */
#define _GNU_SOURCE /* S_ISVTX */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "containers/sharded/sharded_index.h"
#include "files/rewrite/new_files.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static const char usual[] = "model.safetensors", index_end[] = ".index.json",
                  tensors_end[] = ".safetensors";
enum { INDEX_END = sizeof index_end - 1, ENTRIES_MAX = 4 };

struct old_search {
    struct dti_new_files *files;
    const char *folder; /* "" or with a trailing slash */
    const char **own;   /* last path components of the new files, sorted */
    size_t own_count;
    size_t capacity; /* of files->old.paths */
    int error;       /* why a file could not be looked at: the first errno value, or 0 */
};

static bool is_own(const struct old_search *search, const char *name)
{
    return bsearch(&name, search->own, search->own_count, sizeof *search->own, dti_text_order);
}

/* folder/name, from the pool; NULL: out of memory. */
static char *join(const struct old_search *search, const char *name)
{
    const size_t size = strlen(search->folder) + strlen(name) + 1;
    char *const path = dti_pool_alloc(&search->files->old.pool, size);
    if (path)
        (void)snprintf(path, size, "%s%s", search->folder, name);
    return path;
}

/* Keeps the errno value of a file that was not looked at, unless there is none. */
static void note_error(struct old_search *search)
{
    const bool missing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    if (!missing && search->error == 0)
        search->error = errno;
}

/* A regular file, or a link. */
static bool is_there(struct old_search *search, const char *path, struct stat *ret)
{
    if (lstat(path, ret) == 0)
        return S_ISREG(ret->st_mode) || S_ISLNK(ret->st_mode);
    note_error(search);
    return false;
}

/* False: out of memory. */
static bool add_path(struct old_search *search, const char *path)
{
    struct dti_old_form *const old = &search->files->old;
    if (old->count == search->capacity) {
        const size_t capacity = 2 * search->capacity + 8;
        const char **const more =
            dti_pool_grow(&old->pool, (void *)old->paths, old->count * sizeof *old->paths,
                          capacity * sizeof *old->paths);
        if (!more)
            return false;
        old->paths = more;
        search->capacity = capacity;
    }
    old->paths[old->count++] = path;
    return true;
}

/* In a world-writable folder another user's index could name any of this user's files. */
static bool is_trusted(const struct old_search *search, const struct stat *index)
{
    const mode_t open_to_all = S_ISVTX | S_IWOTH;
    struct stat st = {0};
    return index->st_uid == geteuid() ||
           (stat(search->folder[0] != '\0' ? search->folder : ".", &st) == 0 &&
            (st.st_mode & open_to_all) != open_to_all);
}

/* Adds the shards of an old index that are not among the new files. */
static enum dti_status add_shards(struct old_search *search, const char *path,
                                  struct dti_error *reterr)
{
    const char **names;
    size_t count;
    struct stat st = {0};
    if (!is_there(search, path, &st) || !is_trusted(search, &st))
        return DTI_OK;
    const enum dti_status status =
        dti_index_shard_names(path, &search->files->old.pool, &names, &count, reterr);
    if (status != DTI_OK)
        return status == DTI_NO_MEMORY ? status : DTI_OK;
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '.' || !dti_text_ends(names[i], strlen(names[i]), tensors_end) ||
            is_own(search, names[i]))
            continue;
        const char *const shard = join(search, names[i]);
        if (!shard || (is_there(search, shard, &st) && !add_path(search, shard)))
            return dti_no_memory(reterr);
    }
    return DTI_OK;
}

/* Removes duplicates: shards that two indexes name, or that are also an entry. */
static void leave_out_repeated(struct dti_old_form *old)
{
    size_t kept = old->entries;
    if (old->count > kept)
        qsort((void *)(old->paths + kept), old->count - kept, sizeof *old->paths, dti_text_order);
    for (size_t i = old->entries; i < old->count; i++) {
        bool again = kept > old->entries && strcmp(old->paths[i], old->paths[kept - 1]) == 0;
        for (size_t entry = 0; entry < old->entries; entry++)
            again = again || strcmp(old->paths[i], old->paths[entry]) == 0;
        if (!again)
            old->paths[kept++] = old->paths[i];
    }
    old->count = kept;
}

/* Adds "x.safetensors" and its index, unless already listed; from the pool. */
static bool name_pair(struct old_search *search, const char *stem, size_t length,
                      const char *entries[ENTRIES_MAX], size_t *count)
{
    if (!dti_text_ends(stem, length, tensors_end) ||
        (*count > 0 && strlen(entries[0]) == length && memcmp(entries[0], stem, length) == 0))
        return true;
    char *const file = dti_pool_text(&search->files->old.pool, stem, length);
    char *const index = dti_pool_alloc(&search->files->old.pool, length + INDEX_END + 1);
    if (!file || !index)
        return false;
    (void)snprintf(index, length + INDEX_END + 1, "%s%s", file, index_end);
    entries[(*count)++] = file;
    entries[(*count)++] = index;
    return true;
}

/* The names that programs would look for in the new files' folder. */
static bool name_entries(struct old_search *search, const char *entries[ENTRIES_MAX], size_t *count)
{
    const struct dti_new_files *const files = search->files;
    const bool folder = dti_is_sharded(files->kind);
    const char *const name = dti_path_base(
        folder && files->has_index ? files->list[files->count - 1].path : files->list[0].path);
    const size_t length = strlen(name);
    const bool index = dti_text_ends(name, length, index_end);
    return name_pair(search, name, index ? length - INDEX_END : length, entries, count) &&
           (!folder || name_pair(search, usual, sizeof usual - 1, entries, count));
}

static enum dti_status refuse(const char *path, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    dti_fail_remedy(
        reterr, DTI_WRITE_FAILED, DTI_REMEDY_REPLACE,
        "%s exists, and programs would load it in addition to or instead of the new files",
        dti_quote(label, path, strlen(path)));
    dti_error_argument(reterr, path, strlen(path));
    return DTI_WRITE_FAILED;
}

static enum dti_status find(struct old_search *search, bool force, struct dti_error *reterr)
{
    struct dti_old_form *const old = &search->files->old;
    const char *entries[ENTRIES_MAX];
    struct stat st = {0};
    size_t count = 0;
    enum dti_status status = name_entries(search, entries, &count) ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const char *const path = join(search, entries[i]);
        if (!path ||
            (!is_own(search, entries[i]) && is_there(search, path, &st) && !add_path(search, path)))
            status = dti_no_memory(reterr);
    }
    old->entries = old->count;
    for (size_t i = 1; i < count && status == DTI_OK && force; i += 2) { /* odd entries: indexes */
        const char *const path = join(search, entries[i]);
        status = path ? add_shards(search, path, reterr) : dti_no_memory(reterr);
    }
    if (status == DTI_OK)
        leave_out_repeated(old);
    return status;
}

struct input_identity {
    uint64_t device, inode;
};

struct part_search {
    struct old_search *search;
    const char *name; /* "STEM.gguf" */
    size_t stem;      /* length of STEM */
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

/* Lists the files that are read: those of the input and of a template. */
static bool list_inputs(struct part_search *parts)
{
    const struct dti_new_files *const files = parts->search->files;
    const struct dti_container *const model = files->model;
    const struct dti_container *const read[] = {files->container, model,
                                                model->stored ? model->stored : model};
    parts->inputs = dti_calloc(read[0]->file_count + read[1]->file_count + read[2]->file_count + 1,
                               sizeof *parts->inputs);
    if (!parts->inputs)
        return false;
    for (size_t of = 0; of < sizeof read / sizeof *read; of++) {
        for (size_t i = 0; i < read[of]->file_count; i++) {
            const struct dti_input *const input = &read[of]->files[i].input;
            parts->inputs[parts->input_count++] =
                (struct input_identity){input->device, input->inode};
        }
    }
    qsort(parts->inputs, parts->input_count, sizeof *parts->inputs, compare_identities);
    return true;
}

/* By identity, so links to an input are found. */
static bool is_input(const struct part_search *parts, const char *path)
{
    struct stat st = {0};
    if (stat(path, &st) != 0)
        note_error(parts->search);
    if (!S_ISREG(st.st_mode))
        return false;
    const struct input_identity is = {st.st_dev, st.st_ino};
    return bsearch(&is, parts->inputs, parts->input_count, sizeof is, compare_identities);
}

/* False: out of memory. */
static bool consider(struct part_search *parts, const char *name)
{
    struct dti_old_form *const old = &parts->search->files->old;
    struct stat st;
    if (is_own(parts->search, name))
        return true;
    const char *const path = join(parts->search, name);
    if (!path || !is_there(parts->search, path, &st))
        return path != NULL;
    if (!is_input(parts, path))
        return add_path(parts->search, path);
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

/* A folder that does not exist has no files; other problems are reported when the output is opened.
 */
static bool list_folder(struct part_search *parts)
{
    const char *const path = parts->search->folder[0] != '\0' ? parts->search->folder : ".";
    const struct dirent *entry;
    bool fits = true;
    DIR *folder;
    do
        folder = opendir(path);
    while (!folder && errno == EINTR);
    parts->search->files->old.unlisted = !folder && errno == EACCES;
    if (!folder && errno != EACCES)
        note_error(parts->search);
    while (folder && fits && (errno = 0, entry = readdir(folder)) != NULL)
        fits = !is_part(parts, entry->d_name) || consider(parts, entry->d_name);
    if (folder && fits && errno != 0)
        note_error(parts->search);
    if (folder)
        (void)closedir(folder);
    return fits;
}

/* Finds the GGUF "name", and the parts of split ones of that name, of any count. Files that are
 * read are kept, and only counted. */
static enum dti_status find_parts(struct old_search *search, const char *name,
                                  struct dti_error *reterr)
{
    const char *const end = dti_container_extension(search->files->kind);
    struct dti_old_form *const old = &search->files->old;
    const size_t length = strlen(name);
    if (!dti_text_ends(name, length, end))
        return DTI_OK;
    struct part_search parts = {.search = search, .name = name, .stem = length - strlen(end)};
    const bool fits = list_inputs(&parts) && consider(&parts, name) && list_folder(&parts);
    const enum dti_status status = fits ? DTI_OK : dti_no_memory(reterr);
    dti_free(parts.inputs);
    if (status == DTI_OK && old->count > 0)
        qsort((void *)old->paths, old->count, sizeof *old->paths, dti_text_order);
    old->entries = old->count; /* without any one of its parts a model cannot be loaded */
    return status;
}

/* What could not be looked at could be an old form. */
static enum dti_status require_looked(const struct old_search *search, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    const char *const path = search->folder[0] != '\0' ? search->folder : ".";
    if (search->error == 0)
        return DTI_OK;
    return dti_fail(reterr, search->error == ENOMEM ? DTI_NO_MEMORY : DTI_WRITE_FAILED,
                    "cannot look for an old form of the model in %s: %s",
                    dti_quote(label, path, strlen(path)), dti_errno_text(search->error));
}

/* The folder of the new files, with a trailing slash. */
static char *folder_of(struct dti_new_files *files)
{
    const char *const path = files->path, *const slash = strrchr(path, '/');
    const bool whole = dti_is_sharded(files->kind);
    const size_t length = whole ? strlen(path) : slash ? (size_t)(slash - path) + 1 : 0;
    char *const folder = dti_pool_alloc(&files->old.pool, length + 2);
    if (folder) {
        memcpy(folder, path, length);
        (void)snprintf(folder + length, 2, "%s", length > 0 && path[length - 1] != '/' ? "/" : "");
    }
    return folder;
}

/* Parts of a divided run write only shards; the final run writes their index. */
static bool concerns(const struct dti_new_files *files)
{
    const bool part = files->shared && files->count > files->companions + files->has_index;
    return files->count > 0 && !part && dti_container_has(files->kind, DTI_TRAIT_REPLACES);
}

enum dti_status dti_new_files_find_old(struct dti_new_files *files, bool force,
                                       struct dti_error *reterr)
{
    const size_t count = files->count + files->others;
    dti_pool_free(&files->old.pool);
    files->old = (struct dti_old_form){.count = 0};
    if (!concerns(files))
        return DTI_OK;
    const char **const own = dti_calloc(count + 1, sizeof *own);
    struct old_search search = {.files = files, .own = own, .own_count = count};
    search.folder = files->old.folder = folder_of(files);
    enum dti_status status = own && search.folder ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        own[i] = dti_path_base(files->list[i].path);
    if (status == DTI_OK) {
        qsort((void *)own, count, sizeof *own, dti_text_order);
        status = dti_is_gguf(files->kind) ? find_parts(&search, dti_path_base(files->path), reterr)
                                          : find(&search, force, reterr);
    }
    if (status == DTI_OK)
        status = require_looked(&search, reterr);
    dti_free((void *)own);
    return status == DTI_OK && files->old.count > 0 && !force ? refuse(files->old.paths[0], reterr)
                                                              : status;
}

static const struct dti_output_removal words = {"the new files are written, but",
                                                ", which programs may load instead,",
                                                DTI_REMEDY_REPLACE_AGAIN};

enum dti_status dti_new_files_remove_old(const struct dti_new_files *files,
                                         struct dti_error *reterr)
{
    const struct dti_old_form *const old = &files->old;
    if (old->count == 0)
        return DTI_OK;
    const char **const kept = dti_calloc(files->count + files->others + 1, sizeof *kept);
    if (!kept)
        return dti_output_fail_remove(old->paths[0], ENOMEM, &words, reterr);
    for (size_t i = 0; i < files->count + files->others; i++)
        kept[i] = files->list[i].path;
    const enum dti_status status =
        dti_output_remove(old->folder[0] != '\0' ? old->folder : ".", old->paths, old->count,
                          old->entries, kept, files->count + files->others, &words, reterr);
    dti_free((void *)kept);
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
                       "%s%s, which %s read, stay%s next to the new files of that name: programs "
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
