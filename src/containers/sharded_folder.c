/* SPDX-License-Identifier: MIT
 *
 * A folder as a checkpoint: its index, or else all safetensors files in it. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "containers/sharded.h"

struct shard_names {
    const char **names;
    size_t count, capacity;
};

static bool ends(const char *name, const char *suffix)
{
    const size_t length = strlen(name), wanted = strlen(suffix);
    return length > wanted && memcmp(name + length - wanted, suffix, wanted) == 0;
}

/* Folders often have the same weights in the formats of other libraries beside them. */
static bool is_index(const char *name)
{
    return ends(name, ".index.json") && !ends(name, ".bin.index.json") &&
           !ends(name, ".h5.index.json") && !ends(name, ".msgpack.index.json");
}

static bool add(struct dti_pool *pool, struct shard_names *list, const char *name)
{
    void *names = list->names;
    if (!dti_list_grow(pool, &names, list->count, &list->capacity, sizeof *list->names))
        return false;
    list->names = names;
    list->names[list->count] = dti_pool_text(pool, name, strlen(name));
    return list->names[list->count++] != NULL;
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *const one = a, *const *const other = b;
    return strcmp(*one, *other);
}

static enum dti_status look(struct dti_pool *pool, const char *path, struct shard_names *indexes,
                            struct shard_names *shards, struct dti_error *reterr)
{
    const struct dti_input input = {.name = path};
    DIR *folder;
    do
        folder = opendir(path);
    while (!folder && errno == EINTR);
    if (!folder)
        return dti_input_fail(&input, errno, reterr);
    bool fits = true;
    const struct dirent *entry;
    errno = 0;
    while (fits && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue; /* hidden, such as the "._" files of macOS */
        if (is_index(entry->d_name))
            fits = add(pool, indexes, entry->d_name);
        else if (ends(entry->d_name, ".safetensors"))
            fits = add(pool, shards, entry->d_name);
        errno = 0;
    }
    const int error = errno;
    (void)closedir(folder);
    if (!fits)
        return dti_no_memory(reterr);
    if (error != 0)
        return dti_input_fail(&input, error, reterr);
    if (indexes->count > 0)
        qsort(indexes->names, indexes->count, sizeof *indexes->names, compare_texts);
    if (shards->count > 0)
        qsort(shards->names, shards->count, sizeof *shards->names, compare_texts);
    return DTI_OK;
}

enum dti_status dti_folder_read(struct dti_pool *pool, const char *path, const char **ret_index,
                                struct dti_shards *ret, struct dti_error *reterr)
{
    static const char usual[] = "model.safetensors.index.json";
    struct shard_names indexes = {.count = 0}, shards = {.count = 0};
    char label[DTI_QUOTE_SIZE], first[DTI_QUOTE_SIZE], second[DTI_QUOTE_SIZE];
    const enum dti_status status = look(pool, path, &indexes, &shards, reterr);
    if (status != DTI_OK)
        return status;
    dti_quote(label, path, strlen(path));
    const char *index = indexes.count == 1 ? indexes.names[0] : NULL;
    for (size_t i = 0; i < indexes.count; i++) {
        if (strcmp(indexes.names[i], usual) == 0)
            index = indexes.names[i];
    }
    if (!index && indexes.count > 1)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s holds %zu indexes, among them %s and %s; name one of them", label,
                        indexes.count, dti_quote(first, indexes.names[0], strlen(indexes.names[0])),
                        dti_quote(second, indexes.names[1], strlen(indexes.names[1])));
    if (!index && shards.count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is a folder without *.safetensors files and without an index", label);
    *ret_index = index;
    *ret = (struct dti_shards){
        .names = index ? NULL : shards.names,
        .count = index ? 0 : shards.count,
    };
    return DTI_OK;
}
