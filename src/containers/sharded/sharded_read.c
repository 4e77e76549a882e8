/* SPDX-License-Identifier: MIT
 *
 * Sharded checkpoints: the tensors of several safetensors or PyTorch files in one container. The
 * index and the files must agree about every tensor. */
#include <inttypes.h>
#include <string.h>

#include "containers/gguf/gguf.h"
#include "containers/safetensors/safetensors.h"
#include "containers/sharded/sharded.h"
#include "containers/torch/torch.h"
#include "util/text/ascii.h"

/* State while one checkpoint is opened. */
struct checkpoint_opening {
    struct dti_opening *opening;
    struct dti_shards shards;
    struct dti_torch *torch; /* NULL: the shards are safetensors */
};

static const char *quote_text(char buffer[DTI_QUOTE_SIZE], const char *text)
{
    return dti_quote(buffer, text, strlen(text));
}

/* Opens all files first, so that a missing one is reported before any header is read. */
static bool open_shards(struct checkpoint_opening *work, const char *path, bool path_is_folder)
{
    struct dti_opening *const opening = work->opening;
    struct dti_container *const container = opening->container;
    const size_t count = work->shards.count;
    struct dti_container_file *const files = dti_opening_array(opening, count, sizeof *files);
    struct dti_error error = {.status = DTI_OK};
    char quoted[DTI_QUOTE_SIZE];
    size_t at = 0;
    dti_shards_allow(count);
    if (!files)
        return false;
    if (count > DTI_FILES_MAX)
        return dti_opening_refuse(opening, " has %zu shards, and the limit is %d", count,
                                  (int)DTI_FILES_MAX);
    container->files = files;
    for (size_t i = 0; i < count; i++) {
        files[i] = (struct dti_container_file){
            .path = dti_shard_path(opening, path, path_is_folder, work->shards.names[i])};
        if (!files[i].path)
            return false;
    }
    const enum dti_status status =
        dti_open_files(opening, files, count, &container->file_count, &error);
    if (status != DTI_OK && container->file_count < count) {
        const struct dti_container_file *const file = &files[container->file_count];
        dti_fail(opening->error, status, "%s: cannot open shard %s of its %zu: %s", opening->label,
                 quote_text(quoted, work->shards.names[container->file_count]), count, error.text);
        dti_error_argument(opening->error, file->path, strlen(file->path));
        return dti_opening_goes_on(opening, status);
    }
    while (at < container->file_count && files[at].input.seekable)
        at++;
    if (at == container->file_count)
        return true;
    opening->label = quote_text(opening->file_label, files[at].path);
    return dti_opening_refuse(opening, " is not a regular file");
}

/* Detects the kind of the shards; all must be of one kind. */
static bool choose_kind(struct checkpoint_opening *work)
{
    struct dti_opening *const opening = work->opening;
    unsigned char head[DTI_HEAD_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < work->shards.count; i++) {
        const uint64_t size = opening->container->files[i].input.size;
        const size_t there = size < sizeof head ? (size_t)size : sizeof head;
        dti_opening_turn_to(opening, &opening->container->files[i]);
        if (!dti_opening_read(opening, head, there, 0))
            return false;
        count += dti_torch_detect(head, there);
        if (count != 0 && count != i + 1)
            return dti_opening_refuse(opening, " is not of the same kind as the shards before it");
    }
    if (count == 0)
        return true;
    work->torch = dti_opening_array(opening, 1, sizeof *work->torch);
    if (!work->torch)
        return false;
    *work->torch = (struct dti_torch){.count = 0};
    return true;
}

/* Reads all headers; notes name the shard. */
static bool read_shards(struct checkpoint_opening *work)
{
    struct dti_opening *const opening = work->opening;
    const char *const label = opening->label;
    char name[DTI_QUOTE_SIZE];
    if (!choose_kind(work))
        return false;
    opening->note_about = name;
    for (size_t i = 0; i < work->shards.count; i++) {
        quote_text(name, work->shards.names[i]);
        dti_opening_turn_to(opening, &opening->container->files[i]);
        if (!(work->torch ? dti_torch_read(opening, (unsigned)i, work->torch)
                          : dti_safetensors_read(opening, (unsigned)i)))
            return false;
    }
    opening->note_about = NULL;
    opening->label = label;
    return dti_opening_unite_metadata(opening);
}

static struct dti_subject the(const char *tensor, size_t length)
{
    return (struct dti_subject){"tensor", tensor, length, .argument = true};
}

/* No tensor may be in two shards. order indexes all of them. */
static bool check_repeated(const struct checkpoint_opening *work,
                           const struct dti_name_order *order)
{
    const size_t again = dti_name_order_repeated(order);
    if (again == SIZE_MAX)
        return true;
    const struct dti_tensor *const tensors = work->opening->container->tensors;
    const struct dti_tensor *const tensor = &tensors[again];
    char a[DTI_QUOTE_SIZE], b[DTI_QUOTE_SIZE];
    size_t first;
    (void)dti_name_order_find(order, tensor->name, tensor->name_length, &first);
    return dti_opening_refuse_of(work->opening, the(tensor->name, tensor->name_length),
                                 " is in two shards, %s and %s",
                                 quote_text(a, work->shards.names[tensors[first].file]),
                                 quote_text(b, work->shards.names[tensor->file]));
}

/* Reports a mapping that the shards contradict, and how many more there are for that shard. */
static bool fail_mapping(const struct checkpoint_opening *work, const struct dti_name_order *order,
                         const struct dti_mapping *mapping)
{
    const struct dti_shards *const shards = &work->shards;
    const struct dti_subject tensor = the(mapping->tensor, mapping->tensor_length);
    char a[DTI_QUOTE_SIZE], b[DTI_QUOTE_SIZE];
    size_t at, listed = 0, absent = 0;
    quote_text(a, shards->names[mapping->shard]);
    if (dti_name_order_find(order, mapping->tensor, mapping->tensor_length, &at)) {
        quote_text(b, shards->names[work->opening->container->tensors[at].file]);
        return dti_opening_refuse_of(work->opening, tensor,
                                     " is in %s, not in %s as the index says", b, a);
    }
    for (size_t i = 0; i < shards->mapping_count; i++) {
        const struct dti_mapping *const other = &shards->mappings[i];
        if (other->shard == mapping->shard) {
            listed++;
            absent += !dti_name_order_find(order, other->tensor, other->tensor_length, &at);
        }
    }
    return dti_opening_refuse_of(work->opening, tensor,
                                 " is not in %s; of the tensors that the index lists there, %zu of "
                                 "%zu are in no shard",
                                 a, absent, listed);
}

static bool is_called(const struct dti_container *container, size_t at,
                      const struct dti_mapping *mapping)
{
    return at < container->tensor_count &&
           container->tensors[at].name_length == mapping->tensor_length &&
           (mapping->tensor_length == 0 ||
            memcmp(container->tensors[at].name, mapping->tensor, mapping->tensor_length) == 0);
}

/* Checks that every mapped tensor is where the index says, and that every tensor is mapped. */
static bool check_mappings(const struct checkpoint_opening *work,
                           const struct dti_name_order *order)
{
    const struct dti_shards *const shards = &work->shards;
    const struct dti_container *const container = work->opening->container;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < shards->mapping_count; i++) {
        const struct dti_mapping *const mapping = &shards->mappings[i];
        at++; /* fast path: mappings are mostly in tensor order */
        if ((!is_called(container, at, mapping) &&
             !dti_name_order_find(order, mapping->tensor, mapping->tensor_length, &at)) ||
            container->tensors[at].file != mapping->shard)
            return fail_mapping(work, order, mapping);
    }
    if (shards->mapping_count == container->tensor_count)
        return true;

    struct dti_name_order mapped;
    if (!dti_name_order_of(&mapped, shards->mappings, shards->mapping_count,
                           DTI_NAMED(struct dti_mapping, tensor)))
        return dti_opening_no_memory(work->opening);
    const struct dti_tensor *tensor = container->tensors;
    while (dti_name_order_find(&mapped, tensor->name, tensor->name_length, &at))
        tensor++; /* one tensor is unmapped, since there are more tensors than mappings */
    dti_name_order_free(&mapped);
    char name[DTI_QUOTE_SIZE];
    return dti_opening_refuse_of(work->opening, the(tensor->name, tensor->name_length),
                                 " is in %s, but not in the index",
                                 quote_text(name, shards->names[tensor->file]));
}

static bool check_names(const struct checkpoint_opening *work)
{
    const struct dti_container *const container = work->opening->container;
    struct dti_name_order order;
    if (!dti_name_order_of(&order, container->tensors, container->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return dti_opening_no_memory(work->opening);
    const bool good =
        check_repeated(work, &order) && (!work->shards.indexed || check_mappings(work, &order));
    dti_name_order_free(&order);
    return good;
}

/* Sizes in the index are only noted: they are written by hand or by scripts, and often wrong. */
static bool note_totals(const struct checkpoint_opening *work)
{
    const struct dti_container *const container = work->opening->container;
    const struct dti_shards *const shards = &work->shards;
    uint64_t bytes = 0;
    for (size_t i = 0; i < container->tensor_count; i++)
        bytes += container->tensors[i].bytes; /* no overflow: below the total file size */
    return (!shards->has_total_size || shards->total_size == bytes ||
            dti_opening_note(work->opening, "total_size",
                             "total_size says %" PRIu64 " bytes, but the tensors have %" PRIu64,
                             shards->total_size, bytes)) &&
           (!shards->has_total_parameters ||
            dti_opening_note(work->opening, "total_parameters",
                             "the index counts %" PRIu64 " parameters", shards->total_parameters));
}

static bool open_all(struct checkpoint_opening *work, const char *path, bool path_is_folder)
{
    struct dti_container *const container = work->opening->container;
    if (!open_shards(work, path, path_is_folder) || !read_shards(work) || !check_names(work) ||
        !note_totals(work))
        return false;
    if (work->torch)
        container->kind = DTI_CONTAINER_SHARDED_PT;
    container->own = work->torch;
    return true;
}

/* Reads the open index, then its shards. */
static bool open_index(struct checkpoint_opening *work)
{
    struct dti_opening *const opening = work->opening;
    struct dti_container *const container = opening->container;
    char label[DTI_QUOTE_SIZE];
    opening->file = &container->index_file;
    opening->label = dti_input_label(&opening->file->input, label);
    if (container->alone)
        return dti_opening_refuse(
            opening, ": an index needs a file name, since its shards are in the same folder");
    const char *const name = opening->file->input.name;
    container->index = dti_path_base(name);
    return dti_index_read(opening, &work->shards) && open_all(work, name, false);
}

static bool open_folder(struct checkpoint_opening *work)
{
    struct dti_opening *const opening = work->opening;
    struct dti_container *const container = opening->container;
    char label[DTI_QUOTE_SIZE];
    const char *name;
    opening->label = quote_text(label, container->path);
    if (!dti_folder_read(opening, &name, &work->shards))
        return false;
    if (work->shards.part)
        return dti_gguf_open_folder(opening, work->shards.part);
    if (!name)
        return open_all(work, container->path, true);
    struct dti_container_file file = {.path = dti_shard_path(opening, container->path, true, name)};
    if (!file.path ||
        !dti_opening_goes_on(opening, dti_input_open_file(&file.input, file.path, opening->error)))
        return false;
    container->index_file = file;
    const struct dti_shards there = work->shards;
    return open_index(work) &&
           dti_folder_note_others(opening, container->index, &work->shards, &there);
}

/* Opens an index, the only file, or, without a file, the folder that is the container's path. */
static bool open_sharded(struct dti_opening *opening)
{
    struct dti_container *const container = opening->container;
    struct checkpoint_opening work = {.opening = opening};
    if (container->file_count == 0)
        return open_folder(&work);
    container->index_file = container->files[0];
    container->file_count = 0;
    return open_index(&work);
}

static bool resembles(const unsigned char *head, size_t head_size)
{
    const size_t first = dti_skip_space(head, head_size, 0);
    return first < head_size && head[first] == '{';
}

const struct dti_container_ops dti_sharded_ops = {
    .traits = DTI_TRAIT_SEVERAL | DTI_TRAIT_TEXTS | DTI_TRAIT_FOLDER | DTI_TRAIT_SHARDS |
              DTI_TRAIT_CONFIG | DTI_TRAIT_REPLACES,
    .becomes = DTI_CONTAINER_SHARDED,
    .resembles = resembles,
    .other_extension = ".index.json",
    .open = open_sharded,
    .stores = dti_safetensors_stores,
    .layout = dti_safetensors_layout,
};

/* The same index and folder, for shards that are PyTorch files. */
const struct dti_container_ops dti_sharded_torch_ops = {
    .traits = DTI_TRAIT_FOLDER | DTI_TRAIT_CONFIG,
    .becomes = DTI_CONTAINER_SHARDED,
    .open = open_sharded,
    .data = dti_torch_data,
    .verify = dti_torch_verify,
    .free = dti_torch_free,
};
