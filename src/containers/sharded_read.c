/* SPDX-License-Identifier: MIT
 *
 * Sharded checkpoints: the tensors of several safetensors files as those of one. The index and the
 * files must agree about every tensor. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "containers/name_order.h"
#include "containers/safetensors.h"
#include "containers/sharded.h"
#include "dtinfo/checked.h"

enum { FEW_FILES = 200 }; /* that may be open without asking for more */

/* The opening of one checkpoint. */
struct checkpoint_opening {
    struct dti_container_whole *whole;
    const struct dti_container_options *options;
    struct dti_shards shards;
    const char *label; /* of the index or the folder, for messages */
    struct dti_notes notes;
    size_t capacity; /* of the container's tensors */
    size_t metadata_capacity;
};

static const char *quote_text(char buffer[DTI_QUOTE_SIZE], const char *text)
{
    return dti_quote(buffer, text, strlen(text));
}

/* folder/name; the folder is that of the index, or the path itself. */
static const char *join(struct dti_pool *pool, const char *path, bool path_is_folder,
                        const char *name)
{
    size_t folder = strlen(path);
    if (!path_is_folder) {
        const char *const slash = strrchr(path, '/');
        folder = slash ? (size_t)(slash + 1 - path) : 0;
    }
    const bool separator = folder > 0 && path[folder - 1] != '/';
    const size_t length = strlen(name);
    char *const joined = dti_pool_alloc(pool, folder + separator + length + 1);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    if (separator)
        joined[folder] = '/';
    memcpy(joined + folder + separator, name, length + 1);
    return joined;
}

/* All shards stay open. */
static void allow_files(size_t count)
{
    struct rlimit limit;
    if (count <= FEW_FILES || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Opens the files first: what is missing shows before any header is read. */
static enum dti_status open_shards(struct checkpoint_opening *work, const char *path,
                                   bool path_is_folder, struct dti_error *reterr)
{
    struct dti_container *const container = &work->whole->container;
    struct dti_pool *const pool = &work->whole->pool;
    const size_t count = work->shards.count;
    char quoted[DTI_QUOTE_SIZE];
    allow_files(count);
    container->files = dti_pool_array(pool, count, sizeof *container->files);
    if (!container->files)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        struct dti_error error = {.status = DTI_OK};
        struct dti_container_file *const file = &container->files[i];
        *file = (struct dti_container_file){
            .path = join(pool, path, path_is_folder, work->shards.names[i]),
        };
        if (!file->path)
            return dti_no_memory(reterr);
        const enum dti_status status = dti_input_open_file(&file->input, file->path, &error);
        if (status != DTI_OK) {
            dti_fail(reterr, status, "%s: of its %zu shards, %s cannot be had: %s", work->label,
                     count, quote_text(quoted, work->shards.names[i]), error.text);
            dti_error_argument(reterr, file->path, strlen(file->path));
            return status;
        }
        container->file_count++;
        if (!file->input.seekable)
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is not a regular file",
                            quote_text(quoted, file->path));
    }
    return DTI_OK;
}

/* Adds what was found in a shard. */
static enum dti_status join_shard(struct checkpoint_opening *work, size_t shard,
                                  const struct dti_safetensors *found, struct dti_error *reterr)
{
    struct dti_container *const container = &work->whole->container;
    if (found->tensor_count > work->capacity - container->tensor_count) {
        size_t capacity = container->tensor_count + found->tensor_count;
        if (capacity < 2 * work->capacity)
            capacity = 2 * work->capacity;
        struct dti_tensor *const larger =
            dti_pool_array(&work->whole->pool, capacity, sizeof *larger);
        if (!larger)
            return dti_no_memory(reterr);
        if (container->tensor_count > 0)
            memcpy(larger, container->tensors, container->tensor_count * sizeof *larger);
        container->tensors = larger;
        work->capacity = capacity;
    }
    if (found->tensor_count > 0)
        memcpy(container->tensors + container->tensor_count, found->tensors,
               found->tensor_count * sizeof *found->tensors);
    container->tensor_count += found->tensor_count;
    for (size_t i = 0; i < found->metadata_count; i++) {
        void *list = container->metadata;
        if (!dti_list_grow(&work->whole->pool, &list, container->metadata_count,
                           &work->metadata_capacity, sizeof *container->metadata))
            return dti_no_memory(reterr);
        container->metadata = list;
        container->metadata[container->metadata_count++] = found->metadata[i];
    }
    for (size_t i = 0; i < found->note_count; i++) {
        char line[2 * DTI_QUOTE_SIZE], name[DTI_QUOTE_SIZE];
        snprintf(line, sizeof line, "%s: %s", quote_text(name, work->shards.names[shard]),
                 found->notes[i].text);
        if (!dti_notes_add(&work->notes, found->notes[i].code, line))
            return dti_no_memory(reterr);
    }
    return DTI_OK;
}

/* Most shards say the same: each key is kept once, as the first shard that has it spells it. */
static enum dti_status unite_metadata(struct dti_container *container, struct dti_error *reterr)
{
    struct dti_name_order order;
    size_t count = 0, first;
    if (!dti_name_order_init(&order, container->metadata_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->metadata_count; i++)
        dti_name_order_add(&order, container->metadata[i].key, container->metadata[i].key_length);
    dti_name_order_sort(&order);
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata entry = container->metadata[i];
        if (dti_name_order_find(&order, entry.key, entry.key_length, &first) && first == i)
            container->metadata[count++] = entry;
    }
    container->metadata_count = count;
    dti_name_order_free(&order);
    return DTI_OK;
}

static enum dti_status read_shards(struct checkpoint_opening *work, struct dti_error *reterr)
{
    struct dti_container *const container = &work->whole->container;
    for (size_t i = 0; i < container->file_count; i++) {
        struct dti_safetensors found;
        enum dti_status status = dti_safetensors_read(&work->whole->pool, &container->files[i],
                                                      (unsigned)i, work->options, &found, reterr);
        if (status == DTI_OK)
            status = join_shard(work, i, &found, reterr);
        if (status != DTI_OK)
            return status;
    }
    return unite_metadata(container, reterr);
}

static enum dti_status fail_tensor(const struct checkpoint_opening *work, const char *name,
                                   size_t length, struct dti_error *reterr, const char *problem)
{
    char quoted[DTI_QUOTE_SIZE];
    dti_fail(reterr, DTI_BAD_INPUT, "%s: tensor %s %s", work->label,
             dti_quote(quoted, name, length), problem);
    dti_error_argument(reterr, name, length);
    return DTI_BAD_INPUT;
}

/* No tensor may be in two shards. order holds all of them. */
static enum dti_status check_repeated(const struct checkpoint_opening *work,
                                      const struct dti_name_order *order, struct dti_error *reterr)
{
    size_t again, first;
    if (!dti_name_order_repeated(order, &again))
        return DTI_OK;
    const struct dti_tensor *const tensors = work->whole->container.tensors;
    const struct dti_tensor *const tensor = &tensors[again];
    char problem[2 * DTI_QUOTE_SIZE + 40], a[DTI_QUOTE_SIZE], b[DTI_QUOTE_SIZE];
    (void)dti_name_order_find(order, tensor->name, tensor->name_length, &first);
    snprintf(problem, sizeof problem, "is in two shards, %s and %s",
             quote_text(a, work->shards.names[tensors[first].file]),
             quote_text(b, work->shards.names[tensor->file]));
    return fail_tensor(work, tensor->name, tensor->name_length, reterr, problem);
}

/* A mapping that the shards do not bear out: tells how many more there are of that shard. */
static enum dti_status fail_mapping(const struct checkpoint_opening *work,
                                    const struct dti_name_order *order, size_t wrong,
                                    struct dti_error *reterr)
{
    const struct dti_shards *const shards = &work->shards;
    const struct dti_mapping *const mapping = &shards->mappings[wrong];
    const struct dti_tensor *const tensors = work->whole->container.tensors;
    char problem[2 * DTI_QUOTE_SIZE + 100], a[DTI_QUOTE_SIZE], b[DTI_QUOTE_SIZE];
    size_t at;
    quote_text(a, shards->names[mapping->shard]);
    if (dti_name_order_find(order, mapping->tensor, mapping->tensor_length, &at)) {
        snprintf(problem, sizeof problem, "is in %s, not in %s as the index says",
                 quote_text(b, shards->names[tensors[at].file]), a);
    } else {
        size_t listed = 0, absent = 0;
        for (size_t i = 0; i < shards->mapping_count; i++) {
            const struct dti_mapping *const other = &shards->mappings[i];
            if (other->shard == mapping->shard) {
                listed++;
                absent += !dti_name_order_find(order, other->tensor, other->tensor_length, &at);
            }
        }
        snprintf(problem, sizeof problem,
                 "is not in %s; of the tensors that the index lists there, %zu of %zu are in no "
                 "shard",
                 a, absent, listed);
    }
    return fail_tensor(work, mapping->tensor, mapping->tensor_length, reterr, problem);
}

/* Every mapped tensor is where the index says, and every tensor is mapped. */
static enum dti_status check_mappings(const struct checkpoint_opening *work,
                                      const struct dti_name_order *order, struct dti_error *reterr)
{
    const struct dti_shards *const shards = &work->shards;
    const struct dti_container *const container = &work->whole->container;
    for (size_t i = 0; i < shards->mapping_count; i++) {
        const struct dti_mapping *const mapping = &shards->mappings[i];
        size_t at;
        if (!dti_name_order_find(order, mapping->tensor, mapping->tensor_length, &at) ||
            container->tensors[at].file != mapping->shard)
            return fail_mapping(work, order, i, reterr);
    }
    if (shards->mapping_count == container->tensor_count)
        return DTI_OK;

    struct dti_name_order mapped;
    if (!dti_name_order_init(&mapped, shards->mapping_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < shards->mapping_count; i++)
        dti_name_order_add(&mapped, shards->mappings[i].tensor, shards->mappings[i].tensor_length);
    dti_name_order_sort(&mapped);
    size_t i = 0, at;
    while (i < container->tensor_count &&
           dti_name_order_find(&mapped, container->tensors[i].name,
                               container->tensors[i].name_length, &at))
        i++;
    dti_name_order_free(&mapped);
    const struct dti_tensor *const tensor = &container->tensors[i];
    char problem[DTI_QUOTE_SIZE + 100], name[DTI_QUOTE_SIZE];
    snprintf(problem, sizeof problem, "is in %s, and not in the index",
             quote_text(name, shards->names[tensor->file]));
    return fail_tensor(work, tensor->name, tensor->name_length, reterr, problem);
}

static enum dti_status check_names(const struct checkpoint_opening *work, struct dti_error *reterr)
{
    const struct dti_container *const container = &work->whole->container;
    struct dti_name_order order;
    if (!dti_name_order_init(&order, container->tensor_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++)
        dti_name_order_add(&order, container->tensors[i].name, container->tensors[i].name_length);
    dti_name_order_sort(&order);
    enum dti_status status = check_repeated(work, &order, reterr);
    if (status == DTI_OK && work->shards.indexed)
        status = check_mappings(work, &order, reterr);
    dti_name_order_free(&order);
    return status;
}

/* What the index says about sizes: written by hand or by scripts often enough to be wrong. */
static enum dti_status note_totals(struct checkpoint_opening *work, struct dti_error *reterr)
{
    const struct dti_container *const container = &work->whole->container;
    const struct dti_shards *const shards = &work->shards;
    char line[120];
    uint64_t bytes = 0;
    bool added = true;
    for (size_t i = 0; i < container->tensor_count; i++)
        bytes += container->tensors[i].bytes; /* below the sum of the sizes of files */
    if (shards->has_total_size && shards->total_size != bytes) {
        snprintf(line, sizeof line, "total_size says %llu bytes, the tensors have %llu",
                 (unsigned long long)shards->total_size, (unsigned long long)bytes);
        added = dti_notes_add(&work->notes, "total_size", line);
    }
    if (added && shards->has_total_parameters) {
        snprintf(line, sizeof line, "the index counts %llu parameters",
                 (unsigned long long)shards->total_parameters);
        added = dti_notes_add(&work->notes, "total_parameters", line);
    }
    return added ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status open_all(struct checkpoint_opening *work, const char *path,
                                bool path_is_folder, struct dti_error *reterr)
{
    enum dti_status status = open_shards(work, path, path_is_folder, reterr);
    if (status == DTI_OK)
        status = read_shards(work, reterr);
    if (status == DTI_OK)
        status = check_names(work, reterr);
    if (status == DTI_OK)
        status = note_totals(work, reterr);
    work->whole->container.notes = work->notes.notes;
    work->whole->container.note_count = work->notes.count;
    return status;
}

/* Reads the index that is open, then its shards. */
static enum dti_status open_index(struct checkpoint_opening *work, struct dti_error *reterr)
{
    struct dti_container *const container = &work->whole->container;
    const struct dti_input *const index = &container->index_file.input;
    char label[DTI_QUOTE_SIZE];
    work->label = dti_input_label(index, label);
    if (strcmp(container->path, "-") == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: the shards of an index are found by its folder; give its name", label);
    const enum dti_status status = dti_index_read(&work->whole->pool, index, &work->shards, reterr);
    if (status != DTI_OK)
        return status;
    const char *const slash = strrchr(index->name, '/');
    container->index = slash ? slash + 1 : index->name;
    return open_all(work, index->name, false, reterr);
}

static enum dti_status open_folder(struct checkpoint_opening *work, struct dti_error *reterr)
{
    struct dti_container *const container = &work->whole->container;
    struct dti_pool *const pool = &work->whole->pool;
    char label[DTI_QUOTE_SIZE];
    const char *name;
    enum dti_status status = dti_folder_read(pool, container->path, &name, &work->shards, reterr);
    if (status != DTI_OK)
        return status;
    work->label = quote_text(label, container->path);
    if (!name)
        return open_all(work, container->path, true, reterr);
    const char *const path = join(pool, container->path, true, name);
    if (!path)
        return dti_no_memory(reterr);
    struct dti_container_file file = {.path = path};
    status = dti_input_open_file(&file.input, path, reterr);
    if (status != DTI_OK)
        return status;
    container->index_file = file;
    return open_index(work, reterr);
}

enum dti_status dti_sharded_open(struct dti_container_whole *whole,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr)
{
    struct checkpoint_opening work = {
        .whole = whole,
        .options = options,
        .notes = {.pool = &whole->pool},
    };
    return whole->container.index_file.path ? open_index(&work, reterr)
                                            : open_folder(&work, reterr);
}
