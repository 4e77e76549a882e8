/* SPDX-License-Identifier: MIT
 *
 * Lays out the new files: each tensor, or the parts that it becomes, with names and offsets.
 *
 * The metadata of the new files: the input's, plus entries about tensors whose parts are ambiguous.
 * An entry about one tensor goes into that tensor's shard, all others into every shard. Otherwise
 * every shard would describe all tensors.
 *
 * For a run divided among machines: which of the new files, and hence which tensors, belong to this
 * run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/model_folder.h"
#include "files/rewrite/part_records.h"
#include "files/rewrite/rewrite_parts.h"
#include "files/rewrite/rewrite_shards.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

enum { KEY = sizeof DTI_QUANT_KEY - 1 };

static void add_entry(const struct dti_rewrite *rewrite, size_t at,
                      struct dti_rewrite_metadata *metadata)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    char value[DTI_QUANT_ENTRY_SIZE];
    struct dti_quant_stored stored;
    dti_rewrite_stored(rewrite, at, &stored);
    if (!dti_quant_needs_entry(&stored))
        return;
    dti_quant_entry(&stored, value);
    metadata->entries[metadata->count++] = (struct dti_metadata){
        .key_length = KEY + source->name_length,
        .value_length = strlen(value),
        .kind = DTI_METADATA_STRING,
        .type = "string",
        .count = 1,
    };
    dti_buffer_puts(&metadata->texts, DTI_QUANT_KEY);
    dti_buffer_append(&metadata->texts, source->name, source->name_length);
    dti_buffer_append(&metadata->texts, "", 1);
    dti_buffer_append(&metadata->texts, value, strlen(value) + 1);
}

/* Entries about no tensor come first; the others are indexed by its name. */
static bool sort(struct dti_rewrite_metadata *metadata)
{
    struct dti_metadata *const entries = metadata->entries;
    size_t named = 0;
    metadata->chosen = dti_calloc(metadata->count + 2, sizeof *metadata->chosen);
    if (!metadata->chosen || !dti_name_order_init(&metadata->named, metadata->count))
        return false;
    for (size_t i = 0; i < metadata->count; i++) { /* chosen: a temporary buffer */
        if (dti_is_quant_entry(&entries[i]))
            metadata->chosen[named++] = entries[i];
        else
            entries[metadata->common++] = entries[i];
    }
    memcpy(entries + metadata->common, metadata->chosen, named * sizeof *entries);
    for (size_t i = metadata->common; i < metadata->count; i++)
        dti_name_order_add(&metadata->named, entries[i].key + KEY, entries[i].key_length - KEY);
    dti_name_order_sort(&metadata->named);
    return true;
}

/* Drops the input's entries about tensors that are quantized now. False: out of memory. */
static bool leave_out_stale(struct dti_rewrite_metadata *metadata,
                            const struct dti_rewrite *rewrite, size_t quantized)
{
    struct dti_name_order order;
    size_t first = 0, kept, at;
    while (first < metadata->count && !dti_is_quant_entry(&metadata->entries[first]))
        first++;
    if (first == metadata->count)
        return true;
    if (!dti_name_order_init(&order, quantized))
        return false;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const source = dti_rewrite_source(rewrite, i);
        if (dti_is_quantized(&rewrite->tensors[i]))
            dti_name_order_add(&order, source->name, source->name_length);
    }
    dti_name_order_sort(&order);
    kept = first;
    for (size_t i = first; i < metadata->count; i++) {
        const struct dti_metadata *const entry = &metadata->entries[i];
        if (!dti_is_quant_entry(entry) ||
            !dti_name_order_find(&order, entry->key + KEY, entry->key_length - KEY, &at))
            metadata->entries[kept++] = *entry;
    }
    metadata->count = kept;
    dti_name_order_free(&order);
    return true;
}

static enum dti_status rewrite_metadata_init(struct dti_rewrite_metadata *ret,
                                             const struct dti_rewrite *rewrite,
                                             struct dti_error *reterr)
{
    size_t quantized = 0;
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
    dti_buffer_init(&ret->marks);
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        quantized += dti_is_quantized(&rewrite->tensors[i]);
    const enum dti_status status =
        dti_new_files_metadata(&rewrite->files, quantized + 1, rewrite->request.warn,
                               rewrite->request.warn_context, &ret->entries, &ret->count, reterr);
    if (status != DTI_OK)
        return status;
    if (quantized > 0 && !leave_out_stale(ret, rewrite, quantized))
        return dti_no_memory(reterr);
    const size_t kept = ret->count;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        if (dti_is_quantized(&rewrite->tensors[i]))
            add_entry(rewrite, i, ret);
    }
    const char *text = ret->texts.data;
    for (size_t i = kept; i < ret->count && !ret->texts.failed; i++) {
        ret->entries[i].key = text;
        ret->entries[i].value = text + ret->entries[i].key_length + 1;
        text = ret->entries[i].value + ret->entries[i].value_length + 1;
    }
    if (ret->texts.failed || (dti_is_sharded(rewrite->request.kind) && !sort(ret)))
        return dti_no_memory(reterr);
    return DTI_OK;
}

static void rewrite_metadata_free(struct dti_rewrite_metadata *metadata)
{
    dti_free(metadata->entries);
    dti_free(metadata->chosen);
    dti_buffer_free(&metadata->texts);
    dti_buffer_free(&metadata->marks);
    dti_name_order_free(&metadata->named);
}

/* Y.qweight belongs to Y.weight. Names longer than any in use have no entry: readers then refuse
 * such a tensor, unless there is a configuration. */
static bool find_weight(const struct dti_rewrite_metadata *metadata, const char *name,
                        size_t length, size_t *ret)
{
    static const char qweight[] = ".qweight";
    const size_t stem = length - (sizeof qweight - 1);
    char weight[1024];
    if (!dti_quant_name_ends(name, length, qweight) || length >= sizeof weight)
        return false;
    memcpy(weight, name, stem);
    memcpy(weight + stem, ".weight", sizeof ".weight");
    return dti_name_order_find(&metadata->named, weight, length - 1, ret);
}

/* The entries for a shard with these tensors; valid until the next call. */
static struct dti_metadata *rewrite_metadata_of(struct dti_rewrite_metadata *metadata,
                                                const struct dti_new_tensor *tensors, size_t count,
                                                size_t *ret_count)
{
    static const char packed[] = "_packed";
    size_t chosen = metadata->common, at;
    memcpy(metadata->chosen, metadata->entries, chosen * sizeof *metadata->chosen);
    for (size_t i = 0; i < count; i++) {
        const char *const name = tensors[i].name;
        const size_t length = tensors[i].name_length;
        if (dti_name_order_find(&metadata->named, name, length, &at) ||
            find_weight(metadata, name, length, &at) ||
            (dti_quant_name_ends(name, length, packed) &&
             dti_name_order_find(&metadata->named, name, length - (sizeof packed - 1), &at)))
            metadata->chosen[chosen++] = metadata->entries[metadata->common + at];
    }
    *ret_count = chosen;
    return metadata->chosen;
}

struct sized_file {
    size_t at;
    uint64_t bytes;
};

/* By descending size; ties are broken by index. */
static int compare(const void *a, const void *b)
{
    const struct sized_file *const one = a, *const other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->at < other->at ? -1 : 1;
}

/* Distributes shards by descending size: to parts 1 to N, then N to 1, and so on. */
static enum dti_status deal(const struct dti_rewrite *rewrite, size_t shards, bool *ret_own,
                            struct dti_error *reterr)
{
    const struct dti_run_part *const part = &rewrite->request.part;
    struct sized_file *const sorted = dti_calloc(shards + 1, sizeof *sorted);
    if (!sorted)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < shards; i++)
        sorted[i] = (struct sized_file){i, rewrite->files.list[i].size};
    qsort(sorted, shards, sizeof *sorted, compare);
    for (size_t i = 0; i < shards; i++) {
        const uint64_t place = i % part->count;
        const bool back = i / part->count % 2 != 0;
        ret_own[sorted[i].at] = (back ? part->count - 1 - place : place) == part->index - 1;
    }
    dti_free(sorted);
    return DTI_OK;
}

/* Moves the tensors of these files to the front; stable. */
static void sort_tensors(struct dti_rewrite *rewrite, const size_t *place,
                         struct dti_rewrite_tensor *old, size_t *ret_place)
{
    const size_t count = rewrite->tensor_count;
    size_t to = 0;
    for (size_t i = 0; i < count; i++)
        old[i] = rewrite->tensors[i];
    rewrite->changed_count = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < count; i++) {
            const size_t file = dti_rewrite_file(rewrite, &rewrite->parts[old[i].part]);
            if ((place[file] < rewrite->files.count) != (turn == 0))
                continue;
            rewrite->changed_count += turn == 0 && old[i].fate == DTI_FATE_CHANGED;
            rewrite->tensors[to] = old[i];
            ret_place[i] = to++;
        }
        if (turn == 0)
            rewrite->tensor_count = to;
    }
    for (size_t i = 0; i < rewrite->part_count; i++)
        rewrite->part_files[i] = (uint32_t)place[rewrite->part_files[i]];
    for (size_t i = 0; i < rewrite->quant_plan_count; i++)
        rewrite->quant_firsts[i] = ret_place[rewrite->quant_firsts[i]];
}

/* For a divided run: keeps only this run's files and tensors. */
static enum dti_status rewrite_share(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    struct dti_new_files *const files = &rewrite->files;
    const struct dti_rewrite_request *const request = &rewrite->request;
    if (request->part.count == 0 && !request->finish)
        return DTI_OK;
    const size_t shards = files->count - files->companions - files->has_index;
    bool *const own = dti_calloc(files->count + 1, sizeof *own);
    size_t *const place = dti_calloc(files->count + 1, sizeof *place);
    size_t *const places = dti_calloc(rewrite->tensor_count + 1, sizeof *places);
    struct dti_rewrite_tensor *const old = dti_calloc(rewrite->tensor_count + 1, sizeof *old);
    enum dti_status status = own && place && places && old ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = shards; i < files->count && status == DTI_OK; i++)
        own[i] = request->finish;
    if (status == DTI_OK && request->part.count > 0)
        status = deal(rewrite, shards, own, reterr);
    if (status == DTI_OK)
        status = dti_new_files_share(files, own, place, reterr);
    if (status == DTI_OK)
        sort_tensors(rewrite, place, old, places);
    if (status == DTI_OK)
        status = dti_part_digests_of(rewrite->container,
                                     request->part_recipe ? request->part_recipe : "",
                                     &files->digests, reterr);
    dti_free(own);
    dti_free(place);
    dti_free(places);
    dti_free(old);
    return status;
}

/* Tensors to be written; `source` of each is tensor x DTI_PART_COUNT + part. */
struct new_tensor_list {
    struct dti_new_tensor *tensors; /* these, shapes and names are the rewrite's */
    size_t count;
    uint64_t *shapes; /* those that are no tensor's own */
    size_t shape_count;
    const uint64_t *last[DTI_PART_COUNT]; /* the shape added last, for each part */
    unsigned last_rank[DTI_PART_COUNT];
    struct dti_buffer *names; /* likewise; fully reserved, so names never move */
};

void dti_rewrite_list_free(struct dti_rewrite *rewrite)
{
    struct dti_rewrite_list *const list = &rewrite->list;
    dti_free(list->tensors);
    dti_free(list->shapes);
    dti_buffer_free(&list->names);
    list->tensors = NULL;
    list->shapes = NULL;
}

static size_t part_count(const struct dti_rewrite_tensor *tensor)
{
    return dti_parts_before(tensor->parts, DTI_PART_COUNT);
}

/* Bytes of the suffixes of all parts. */
static size_t suffixes(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    size_t bytes = 0;
    for (unsigned i = 0; i < DTI_PART_COUNT; i++) {
        const char *suffix;
        if ((tensor->parts >> i & 1) == 0)
            continue;
        (void)dti_quant_part_stem(tensor->way->by->row, (enum dti_quant_part)i,
                                  dti_rewrite_source(rewrite, at)->name_length, &suffix);
        bytes += strlen(suffix);
    }
    return bytes;
}

static enum dti_status init_parts(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        rewrite->tensors[i].part = (uint32_t)rewrite->part_count;
        rewrite->part_count += part_count(&rewrite->tensors[i]);
    }
    const bool several = dti_is_sharded(rewrite->request.kind) || rewrite->request.most_bytes > 0 ||
                         !dti_container_has(rewrite->request.kind, DTI_TRAIT_SEVERAL);
    rewrite->parts = dti_calloc(rewrite->part_count + 1, sizeof *rewrite->parts);
    if (several)
        rewrite->part_files = dti_calloc(rewrite->part_count + 1, sizeof *rewrite->part_files);
    return rewrite->parts && (rewrite->part_files || !several) ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status init_list(struct dti_rewrite *rewrite, struct new_tensor_list *ret,
                                 struct dti_error *reterr)
{
    size_t shapes = 0, names = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_tensor *const source = dti_rewrite_source(rewrite, i);
        const size_t parts = part_count(&rewrite->tensors[i]);
        if (!dti_is_quantized(&rewrite->tensors[i])) {
            names += parts > 1 ? source->name_length + sizeof DTI_GGUF_SCALE : 0;
            continue;
        }
        shapes += parts * ((size_t)source->rank + 1);
        names += parts * (source->name_length + 1) + suffixes(rewrite, i);
    }
    memset(ret, 0, sizeof *ret);
    ret->names = &rewrite->list.names;
    ret->tensors = rewrite->list.tensors =
        dti_calloc(rewrite->part_count + 1, sizeof *ret->tensors);
    dti_pages_use(ret->tensors, rewrite->part_count * sizeof *ret->tensors);
    ret->shapes = rewrite->list.shapes = dti_calloc(shapes + 1, sizeof *ret->shapes);
    return ret->tensors && ret->shapes && dti_buffer_reserve(ret->names, names)
               ? DTI_OK
               : dti_no_memory(reterr);
}

/* The scale of a whole tensor in GGUF: "blk.0.attn_q.scale" for "blk.0.attn_q.weight". */
static void add_scale(const struct dti_rewrite *rewrite, size_t at, struct new_tensor_list *list)
{
    static const uint64_t shape[] = {1};
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const size_t stem = dti_gguf_scale_stem(source);
    struct dti_new_tensor *const tensor = &list->tensors[list->count++];
    *tensor = (struct dti_new_tensor){
        .name = list->names->data + list->names->length,
        .name_length = (uint32_t)(stem + sizeof DTI_GGUF_SCALE - 1),
        .format = dti_format_get(DTI_FP32),
        .rank = 1,
        .shape = shape,
        .source = (uint32_t)(at * DTI_PART_COUNT + DTI_PART_TENSOR_SCALE),
    };
    dti_buffer_append(list->names, source->name, stem);
    dti_buffer_append(list->names, DTI_GGUF_SCALE, sizeof DTI_GGUF_SCALE);
    (void)dti_container_stores(rewrite->request.kind, tensor->format, &tensor->layout);
}

static struct dti_new_tensor new_tensor(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    return (struct dti_new_tensor){
        .name = source->name,
        .name_length = source->name_length,
        .format = tensor->way->format,
        .layout = tensor->way->layout,
        .rank = source->rank,
        .shape = source->shape,
        .fortran = dti_rewrite_is_fortran(rewrite, source),
        .source = (uint32_t)(at * DTI_PART_COUNT),
    };
}

static void add_tensor(const struct dti_rewrite *rewrite, size_t at, struct new_tensor_list *list)
{
    list->tensors[list->count++] = new_tensor(rewrite, at);
    if (part_count(&rewrite->tensors[at]) > 1)
        add_scale(rewrite, at, list);
}

/* A part's shape: shared with the tensor, or with the same part of the previous tensor, or a new
 * copy. */
static const uint64_t *keep_shape(struct new_tensor_list *list, size_t which,
                                  const struct dti_quant_part_shape *part,
                                  const struct dti_tensor *source)
{
    const size_t bytes = part->rank * sizeof *part->shape;
    if (part->rank == source->rank && part->rank > 0 &&
        memcmp(part->shape, source->shape, bytes) == 0)
        return source->shape;
    if (list->last[which] && part->rank == list->last_rank[which] &&
        memcmp(part->shape, list->last[which], bytes) == 0)
        return list->last[which];
    uint64_t *const shape = list->shapes + list->shape_count;
    memcpy(shape, part->shape, bytes);
    list->shape_count += part->rank;
    list->last[which] = shape;
    list->last_rank[which] = part->rank;
    return shape;
}

static enum dti_status add_parts(const struct dti_rewrite *rewrite, size_t at,
                                 struct new_tensor_list *list, struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    dti_rewrite_stored(rewrite, at, &stored);
    const enum dti_status status = dti_quant_parts(&stored, parts, reterr);
    for (size_t i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++) {
        if (!parts[i].there)
            continue;
        const char *suffix;
        const size_t stem =
            dti_quant_part_stem(stored.row, (enum dti_quant_part)i, source->name_length, &suffix);
        const struct dti_format *const format = dti_format_get(parts[i].dtype);
        struct dti_new_tensor *const tensor = &list->tensors[list->count++];
        const bool renamed = suffix[0] != '\0';
        const char *const name = renamed ? list->names->data + list->names->length : source->name;
        if (renamed) {
            dti_buffer_append(list->names, source->name, stem);
            dti_buffer_append(list->names, suffix, strlen(suffix) + 1);
        }
        *tensor = (struct dti_new_tensor){
            .name = name,
            .name_length = (uint32_t)(stem + strlen(suffix)),
            .format = format,
            .rank = parts[i].rank,
            .shape = keep_shape(list, i, &parts[i], source),
            .source = (uint32_t)(at * DTI_PART_COUNT + i),
        };
        if (!dti_container_stores(rewrite->request.kind, format, &tensor->layout))
            return dti_fail(reterr, DTI_WRONG_KIND, "%s files have no name for %s",
                            dti_container_name(rewrite->request.kind), format->name);
    }
    return status;
}

static enum dti_status make_list(struct dti_rewrite *rewrite, struct new_tensor_list *ret,
                                 struct dti_error *reterr)
{
    enum dti_status status = init_list(rewrite, ret, reterr);
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        if (dti_is_quantized(&rewrite->tensors[i]))
            status = add_parts(rewrite, i, ret, reterr);
        else
            add_tensor(rewrite, i, ret);
    }
    return status;
}

static void get_tensor(const void *context, size_t at, struct dti_new_tensor *ret)
{
    const struct dti_rewrite *const rewrite = context;
    const struct dti_rewrite_part *const part = &rewrite->parts[rewrite->tensors[at].part];
    *ret = new_tensor(rewrite, at);
    ret->bytes = part->bytes;
    ret->offset = part->offset;
}

static void set_tensor(void *context, size_t at, uint64_t bytes, uint64_t offset)
{
    struct dti_rewrite *const rewrite = context;
    rewrite->parts[rewrite->tensors[at].part] =
        (struct dti_rewrite_part){.bytes = bytes, .offset = offset};
}

static void shift_tensors(void *context, size_t count, uint64_t bytes)
{
    struct dti_rewrite *const rewrite = context;
    for (size_t i = 0; i < count; i++)
        rewrite->parts[rewrite->tensors[i].part].offset += bytes;
}

/* A list is not needed where each tensor of the container becomes one of the same name, of the same
 * file. */
static bool needs_list(const struct dti_rewrite *rewrite)
{
    return !rewrite->files.waits || !rewrite->ops->elementwise ||
           dti_is_sharded(rewrite->request.kind) ||
           rewrite->tensor_count < rewrite->container->tensor_count;
}

static struct dti_rewrite_part *part_of(const struct dti_rewrite *rewrite,
                                        const struct dti_new_tensor *tensor)
{
    return dti_rewrite_part(rewrite, tensor->source / DTI_PART_COUNT,
                            (enum dti_quant_part)(tensor->source % DTI_PART_COUNT));
}

static void place_part(const struct dti_rewrite *rewrite, const struct dti_new_tensor *tensor,
                       size_t file)
{
    struct dti_rewrite_part *const part = part_of(rewrite, tensor);
    *part = (struct dti_rewrite_part){.bytes = tensor->bytes, .offset = tensor->offset};
    if (rewrite->part_files)
        rewrite->part_files[part - rewrite->parts] = (uint32_t)file;
}

/* Adds one file with some tensors of the list and records their locations; with a suffix, next to
 * the output. */
static enum dti_status add_file(struct dti_rewrite *rewrite, const char *name, const char *suffix,
                                struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_error *reterr)
{
    const enum dti_status status =
        suffix ? dti_new_files_add_sibling(&rewrite->files, suffix, tensors, reterr)
               : dti_new_files_add(&rewrite->files, name, tensors, count, metadata, metadata_count,
                                   reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        place_part(rewrite, &tensors[i], rewrite->files.count - 1);
    return status;
}

static void warn_of_large(const struct dti_rewrite *rewrite, size_t large)
{
    char text[128];
    const struct dti_note note = {.code = "large_shards", .text = text};
    if (large == 0 || !rewrite->request.warn)
        return;
    (void)snprintf(text, sizeof text,
                   "%zu of %zu files %s more than %llu bytes: one tensor, or the key-values, has "
                   "more",
                   large, rewrite->files.count, large == 1 ? "has" : "have",
                   (unsigned long long)rewrite->request.most_bytes);
    rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* The end of the tensors that come from the same file as the first one. */
static size_t end_of_source(const struct dti_rewrite *rewrite, const struct new_tensor_list *list,
                            size_t first)
{
    const struct dti_new_tensor *const tensors = list->tensors;
    const unsigned file = dti_rewrite_source(rewrite, tensors[first].source / DTI_PART_COUNT)->file;
    size_t next = first + 1;
    while (next < list->count &&
           dti_rewrite_source(rewrite, tensors[next].source / DTI_PART_COUNT)->file == file)
        next++;
    return next;
}

/* Shards of the input's, or of the size that is asked for. */
static enum dti_status add_shards(struct dti_rewrite *rewrite, struct new_tensor_list *list,
                                  struct dti_rewrite_metadata *metadata, struct dti_error *reterr)
{
    const uint64_t most = rewrite->request.most_bytes;
    struct dti_shard_cut cut = {.tensors = list->tensors, .count = list->count, .most = most};
    const size_t shards = most > 0 ? dti_shard_count(cut) : 0;
    enum dti_status status = DTI_OK;
    for (size_t first = 0, at = 1, next; first < list->count && status == DTI_OK; first = next) {
        struct dti_new_tensor *const tensors = list->tensors + first;
        const unsigned file = dti_rewrite_source(rewrite, tensors->source / DTI_PART_COUNT)->file;
        char name[DTI_SHARD_NAME];
        size_t count;
        next = most > 0 ? dti_shard_end(&cut, first) : end_of_source(rewrite, list, first);
        struct dti_metadata *const own =
            rewrite_metadata_of(metadata, tensors, next - first, &count);
        const struct dti_new_source source = dti_new_source_of(tensors, next - first);
        if (!dti_rewrite_put_marks(rewrite, &source, own, &count, &metadata->marks))
            return dti_no_memory(reterr);
        status = add_file(rewrite,
                          most > 0 ? dti_shard_name(at++, shards, name)
                                   : dti_new_files_shard(&rewrite->files, file, name),
                          NULL, tensors, next - first, own, count, reterr);
    }
    if (status == DTI_OK)
        warn_of_large(rewrite, cut.large);
    return status;
}

/* Adds one file, or a split GGUF. */
static enum dti_status add_parts_of(struct dti_rewrite *rewrite, struct new_tensor_list *list,
                                    struct dti_error *reterr)
{
    const uint64_t most = rewrite->request.most_bytes;
    size_t *const ends = dti_calloc(list->count + 2, sizeof *ends);
    size_t large = 0;
    if (!ends)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_new_files_add_parts(&rewrite->files, most, list->tensors,
                                                           list->count, ends, &large, reterr);
    for (size_t i = 0, file = 0; i < list->count && status == DTI_OK; i++) {
        const struct dti_new_tensor *const tensor = &list->tensors[i];
        while (i == ends[file])
            file++;
        place_part(rewrite, tensor, file);
    }
    if (status == DTI_OK)
        warn_of_large(rewrite, large);
    dti_free(ends);
    return status;
}

/* Adds one file; with a list only if its tensors have to be sorted. */
static enum dti_status add_without_list(struct dti_rewrite *rewrite, struct new_tensor_list *list,
                                        struct dti_rewrite_metadata *metadata,
                                        struct dti_error *reterr)
{
    const struct dti_container *const container = rewrite->container;
    const struct dti_tensor *const tensors = container->tensors;
    const struct dti_new_source source = {
        .count = rewrite->tensor_count,
        .get = get_tensor,
        .set = set_tensor,
        .shift = shift_tensors,
        .context = rewrite,
        .items = tensors ? tensors : container->names,
        .named = tensors ? DTI_NAMED(struct dti_tensor, name) : container->named,
    };
    bool added = false;
    if (!dti_rewrite_put_marks(rewrite, &source, metadata->entries, &metadata->count,
                               &metadata->marks))
        return dti_no_memory(reterr);
    enum dti_status status = dti_new_files_add_each(&rewrite->files, &source, metadata->entries,
                                                    metadata->count, &added, reterr);
    if (status == DTI_OK && !added)
        status = make_list(rewrite, list, reterr);
    return status == DTI_OK && !added ? add_file(rewrite, NULL, NULL, list->tensors, list->count,
                                                 metadata->entries, metadata->count, reterr)
                                      : status;
}

/* Adds one file of a list. */
static enum dti_status add_whole(struct dti_rewrite *rewrite, struct new_tensor_list *list,
                                 struct dti_rewrite_metadata *metadata, struct dti_error *reterr)
{
    const struct dti_new_source source = dti_new_source_of(list->tensors, list->count);
    if (!dti_rewrite_put_marks(rewrite, &source, metadata->entries, &metadata->count,
                               &metadata->marks))
        return dti_no_memory(reterr);
    return rewrite->request.most_bytes > 0
               ? add_parts_of(rewrite, list, reterr)
               : add_file(rewrite, NULL, NULL, list->tensors, list->count, metadata->entries,
                          metadata->count, reterr);
}

/* For kinds that hold several tensors: adds one file, or shards. */
static enum dti_status add_files(struct dti_rewrite *rewrite, struct new_tensor_list *list,
                                 struct dti_error *reterr)
{
    struct dti_rewrite_metadata metadata;
    enum dti_status status = needs_list(rewrite) ? make_list(rewrite, list, reterr) : DTI_OK;
    if (status != DTI_OK)
        return status;
    status = rewrite_metadata_init(&metadata, rewrite, reterr);
    if (status == DTI_OK)
        status = !needs_list(rewrite) ? add_without_list(rewrite, list, &metadata, reterr)
                 : dti_is_sharded(rewrite->request.kind)
                     ? add_shards(rewrite, list, &metadata, reterr)
                     : add_whole(rewrite, list, &metadata, reterr);
    rewrite_metadata_free(&metadata);
    return status;
}

static enum dti_status add_index(struct dti_rewrite *rewrite, const struct new_tensor_list *list,
                                 struct dti_error *reterr)
{
    size_t *const file = dti_calloc(list->count + 1, sizeof *file);
    if (!file)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < list->count; i++)
        file[i] = dti_rewrite_file(rewrite, part_of(rewrite, &list->tensors[i]));
    const enum dti_status status = dti_new_files_add_index(
        &rewrite->files, rewrite->request.index, list->tensors, file, list->count, reterr);
    dti_free(file);
    return status;
}

/* For npy and raw codes: OUT.npy has the codes and comes last; the other parts are next to it. */
static enum dti_status add_arrays(struct dti_rewrite *rewrite, struct new_tensor_list *list,
                                  struct dti_error *reterr)
{
    enum dti_status status = make_list(rewrite, list, reterr);
    char label[DTI_QUOTE_SIZE];
    const char *const path = rewrite->container->path;
    const bool several = rewrite->tensor_count > 0;
    if (status != DTI_OK)
        return status;
    if (rewrite->tensor_count != 1)
        return dti_fail_remedy(reterr, DTI_USAGE, several ? DTI_REMEDY_SELECT_ONE : DTI_REMEDY_NONE,
                               "%s has %zu tensors, but %s %s file holds only one%s",
                               dti_quote(label, path, strlen(path)), rewrite->tensor_count,
                               dti_is_numpy(rewrite->request.kind) ? "an" : "a",
                               dti_container_name(rewrite->request.kind),
                               several ? "" : "; there is nothing to write");
    for (size_t i = 1; i <= list->count && status == DTI_OK; i++) {
        struct dti_new_tensor *const tensor = &list->tensors[i % list->count];
        const enum dti_quant_part part = (enum dti_quant_part)(tensor->source % DTI_PART_COUNT);
        status = add_file(rewrite, NULL,
                          part == DTI_PART_CODES
                              ? NULL
                              : dti_quant_suffix(rewrite->tensors[0].way->by->row, part),
                          tensor, 1, NULL, 0, reterr);
    }
    return status;
}

/* Permutes the tensors in place into the order of the list, that of the data, following each cycle
 * of the permutation. */
static void reorder(struct dti_rewrite *rewrite, struct new_tensor_list *list)
{
    size_t codes = 0;
    for (size_t i = 0; i < list->count; i++) { /* scales follow their tensors */
        if (list->tensors[i].source % DTI_PART_COUNT == DTI_PART_CODES)
            list->tensors[codes++] = list->tensors[i];
    }
    list->count = codes;
    for (size_t first = 0; first < list->count; first++) {
        const struct dti_rewrite_tensor held = rewrite->tensors[first];
        for (size_t at = first, from; list->tensors[at].source != UINT32_MAX; at = from) {
            from = list->tensors[at].source / DTI_PART_COUNT;
            rewrite->tensors[at] = from == first ? held : rewrite->tensors[from];
            list->tensors[at].source = UINT32_MAX; /* done */
        }
    }
}

/* Whether figures of a tensor are counted. */
static bool has_outcome(const struct dti_rewrite *rewrite, const struct dti_rewrite_tensor *tensor)
{
    return dti_is_quantized(tensor) || (rewrite->counts && tensor->fate == DTI_FATE_CHANGED);
}

/* The last one belongs to all other tensors. */
static enum dti_status make_outcomes(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    size_t count = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        count += has_outcome(rewrite, &rewrite->tensors[i]);
    rewrite->outcomes = dti_calloc(count + 1, sizeof *rewrite->outcomes);
    if (!rewrite->outcomes)
        return dti_no_memory(reterr);
    dti_pages_use(rewrite->outcomes, count * sizeof *rewrite->outcomes);
    uint32_t next = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        tensor->outcome = has_outcome(rewrite, tensor) ? next++ : (uint32_t)count;
    }
    return DTI_OK;
}

static enum dti_status add_up(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    bool fits = true;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const uint64_t input = dti_rewrite_alike(rewrite, i)->bytes;
        uint64_t bytes = 0;
        for (size_t part = 0; part < part_count(tensor); part++)
            fits = fits && dti_add_u64(bytes, rewrite->parts[tensor->part + part].bytes, &bytes);
        fits = fits && dti_add_u64(rewrite->input_bytes, input, &rewrite->input_bytes) &&
               dti_add_u64(rewrite->output_bytes, bytes, &rewrite->output_bytes) &&
               dti_add_u64(rewrite->work_bytes, dti_rewrite_work(rewrite, i), &rewrite->work_bytes);
        if (tensor->fate == DTI_FATE_CHANGED) {
            rewrite->changed_input += input;
            rewrite->changed_output += bytes;
        }
        if (tensor->way->quant && dti_quant_plan_needs_range(tensor->way->quant))
            fits = fits && dti_add_u64(rewrite->work_bytes, input, &rewrite->work_bytes);
    }
    if (fits)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "the output would have more than 2^64 bytes");
}

enum dti_status dti_rewrite_layout(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    struct new_tensor_list list = {.count = 0};
    /* for a divided run, heads are compared with those of files that are there */
    rewrite->files.waits = !rewrite->request.finish && rewrite->request.part.count == 0 &&
                           dti_holds_texts(rewrite->request.kind);
    enum dti_status status = init_parts(rewrite, reterr);
    if (status == DTI_OK)
        status = dti_container_has(rewrite->request.kind, DTI_TRAIT_SEVERAL)
                     ? add_files(rewrite, &list, reterr)
                     : add_arrays(rewrite, &list, reterr);
    if (status == DTI_OK && rewrite->request.companions && dti_is_sharded(rewrite->request.kind) &&
        dti_container_has(rewrite->container->kind, DTI_TRAIT_FOLDER | DTI_TRAIT_CONFIG) &&
        !rewrite->container->alone)
        status = dti_rewrite_add_companions(rewrite, reterr);
    if (status == DTI_OK && rewrite->request.index)
        status = add_index(rewrite, &list, reterr);
    if (status == DTI_OK && rewrite->ops->elementwise)
        reorder(rewrite, &list); /* without a list, they are in this order */
    if (!rewrite->files.waits)
        dti_rewrite_list_free(rewrite);
    if (status == DTI_OK)
        status = rewrite_share(rewrite, reterr);
    if (status == DTI_OK)
        status = make_outcomes(rewrite, reterr);
    return status == DTI_OK ? add_up(rewrite, reterr) : status;
}
