/* SPDX-License-Identifier: MIT
 *
 * A folder as a checkpoint: its index; else all its safetensors files; else the split GGUF in it.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/gguf/gguf.h"
#include "containers/sharded/sharded.h"
#include "io/descriptor.h"
#include "util/text/ascii.h"

enum { FEW_FILES = 200 }; /* files that may be open without raising the limit */

struct shard_names {
    const char **names;
    size_t count, capacity;
};

/* Folders often hold the same weights in the formats of other libraries. PyTorch files are read
 * only if there are no others. */
static const char torch_index[] = ".bin.index.json", tensors_end[] = ".safetensors";

static bool is_index(const char *name, size_t length)
{
    return dti_text_ends(name, length, ".index.json") &&
           !dti_text_ends(name, length, torch_index) &&
           !dti_text_ends(name, length, ".h5.index.json") &&
           !dti_text_ends(name, length, ".msgpack.index.json");
}

static bool add_name(struct dti_opening *opening, struct shard_names *list, const char *name)
{
    if (!dti_opening_grow(opening, &list->names, list->count, 1, &list->capacity,
                          sizeof *list->names))
        return false;
    list->names[list->count] = dti_opening_text(opening, name, strlen(name));
    return list->names[list->count++] != NULL;
}

void dti_shards_sort(const char **names, size_t count)
{
    if (count > 0)
        qsort(names, count, sizeof *names, dti_text_order);
}

/* The names in a folder, by extension. */
struct folder_names {
    struct shard_names indexes, torch_indexes, shards, parts;
};

static bool look(struct dti_opening *opening, struct folder_names *names)
{
    const struct dti_input input = {.name = opening->container->path};
    DIR *folder;
    do
        folder = opendir(input.name);
    while (!folder && errno == EINTR);
    if (!folder)
        return dti_opening_goes_on(opening, dti_input_fail(&input, errno, opening->error));
    bool fits = true;
    const struct dirent *entry;
    errno = 0;
    while (fits && (entry = readdir(folder)) != NULL) {
        const char *const name = entry->d_name;
        const size_t length = strlen(name);
        if (name[0] == '.')
            continue; /* hidden, such as the "._" files of macOS */
        if (is_index(name, length))
            fits = add_name(opening, &names->indexes, name);
        else if (dti_text_ends(name, length, torch_index))
            fits = add_name(opening, &names->torch_indexes, name);
        else if (dti_text_ends(name, length, tensors_end))
            fits = add_name(opening, &names->shards, name);
        else if (dti_text_ends(name, length, ".gguf"))
            fits = add_name(opening, &names->parts, name);
        errno = 0;
    }
    const int error = errno;
    (void)closedir(folder);
    if (fits && error != 0)
        return dti_opening_goes_on(opening, dti_input_fail(&input, error, opening->error));
    dti_shards_sort(names->indexes.names, names->indexes.count);
    dti_shards_sort(names->shards.names, names->shards.count);
    dti_shards_sort(names->parts.names, names->parts.count);
    return fits;
}

/* A folder of another library, known by one of its members; NULL: none. */
static const struct dti_foreign *foreign_folder(const char *folder)
{
    static const struct {
        char member[24];
        struct dti_foreign foreign;
    } rows[] = {
#define FOREIGN_FOLDER(name, what, advice) {name, {.is = what, .remedy = advice}},
#include "containers/foreign.def"
#undef FOREIGN_FOLDER
    };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s", folder, rows[i].member);
        if (length > 0 && (size_t)length < sizeof path && dti_input_there(path) == 0)
            return &rows[i].foreign;
    }
    return NULL;
}

/* A folder without anything else may hold one split GGUF. */
static bool find_part(struct dti_opening *opening, const struct shard_names *parts,
                      const char **ret)
{
    const char *two[2];
    char first[DTI_QUOTE_SIZE], second[DTI_QUOTE_SIZE];
    if (!dti_gguf_find_part(parts->names, parts->count, ret, two))
        return dti_opening_refuse(
            opening, " holds several gguf models, among them %s and %s; name one of them",
            dti_quote(first, two[0], strlen(two[0])), dti_quote(second, two[1], strlen(two[1])));
    const struct dti_foreign *const foreign =
        *ret ? NULL : foreign_folder(opening->container->path);
    if (foreign)
        return dti_opening_refuse(opening, " %s; %s", foreign->is, foreign->remedy);
    return *ret || dti_opening_refuse(opening, " is a folder without *.safetensors files, without "
                                               "an index and without a split gguf");
}

/* Whether a name is STEM-00001-of-00002.safetensors with the stem of "STEM.safetensors". */
static bool is_shard_of(const char *name, const char *file)
{
    static const char form[] = "-#####-of-#####";
    const size_t stem = strlen(file) - (sizeof tensors_end - 1), length = strlen(name);
    if (length != stem + sizeof form - 1 + sizeof tensors_end - 1 ||
        memcmp(name, file, stem) != 0 || !dti_text_ends(name, length, tensors_end))
        return false;
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == '#' ? !dti_ascii_digit(name[stem + i]) : name[stem + i] != form[i])
            return false;
    }
    return true;
}

bool dti_folder_note_others(struct dti_opening *opening, const char *index,
                            const struct dti_shards *named, const struct dti_shards *there)
{
    static const char end[] = ".index.json";
    char file[NAME_MAX + 1], quoted[DTI_QUOTE_SIZE];
    const size_t length = strlen(index) - (sizeof end - 1);
    const char *first = NULL;
    size_t count = 0;
    if (!dti_text_ends(index, length, tensors_end) || length > NAME_MAX)
        return true;
    memcpy(file, index, length);
    file[length] = '\0';
    for (size_t i = 0; i < there->count; i++) {
        const char *const name = there->names[i];
        if (named->count > 0 &&
            bsearch(&name, named->names, named->count, sizeof *named->names, dti_text_order))
            continue;
        if (strcmp(name, file) == 0 &&
            !dti_opening_note(opening, "two_models",
                              "the folder has both %s and an index, and programs differ in which "
                              "of them they load; remove the one that is out of date",
                              dti_quote(quoted, name, length)))
            return false;
        if (is_shard_of(name, file) && count++ == 0)
            first = name;
    }
    return count == 0 || dti_opening_note(opening, "stray_shards",
                                          "%zu shard%s of the folder %s not in the index, %s",
                                          count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
                                          dti_quote(quoted, first, strlen(first)));
}

bool dti_folder_read(struct dti_opening *opening, const char **ret_index, struct dti_shards *ret)
{
    static const char usual[] = "model.safetensors.index.json";
    struct folder_names names = {.indexes = {.count = 0}};
    char first[DTI_QUOTE_SIZE], second[DTI_QUOTE_SIZE];
    if (!look(opening, &names))
        return false;
    const struct shard_names shards = names.shards;
    struct shard_names indexes = names.indexes;
    if (indexes.count == 0 && shards.count == 0) {
        indexes = names.torch_indexes;
        dti_shards_sort(indexes.names, indexes.count);
    }
    const char *index = indexes.count == 1 ? indexes.names[0] : NULL;
    for (size_t i = 0; i < indexes.count; i++) {
        if (strcmp(indexes.names[i], usual) == 0)
            index = indexes.names[i];
    }
    if (!index && indexes.count > 1)
        return dti_opening_refuse(
            opening, " holds %zu indexes, among them %s and %s; name one of them", indexes.count,
            dti_quote(first, indexes.names[0], strlen(indexes.names[0])),
            dti_quote(second, indexes.names[1], strlen(indexes.names[1])));
    const char *part = NULL;
    if (!index && shards.count == 0 && !find_part(opening, &names.parts, &part))
        return false;
    *ret_index = index;
    *ret = (struct dti_shards){.names = shards.names, .count = shards.count, .part = part};
    return true;
}

const char *dti_shard_path(struct dti_opening *opening, const char *path, bool path_is_folder,
                           const char *name)
{
    size_t folder = strlen(path);
    if (!path_is_folder) {
        const char *const slash = strrchr(path, '/');
        folder = slash ? (size_t)(slash + 1 - path) : 0;
    }
    const bool separator = folder > 0 && path[folder - 1] != '/';
    const size_t length = strlen(name);
    char *const joined = dti_opening_array(opening, folder + separator + length + 1, 1);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    if (separator)
        joined[folder] = '/';
    memcpy(joined + folder + separator, name, length + 1);
    return joined;
}

void dti_shards_allow(size_t count)
{
    if (count > FEW_FILES)
        dti_descriptor_allow(SIZE_MAX);
}
