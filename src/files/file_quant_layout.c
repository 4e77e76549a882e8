/* SPDX-License-Identifier: MIT
 *
 * The new files: each tensor, or the parts that it becomes, with names and places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "files/file_quant_parts.h"
#include "files/told_metadata.h"

/* Tensors to be written; `source` of each is tensor x DTI_PART_COUNT + part. */
struct new_tensor_list {
    struct dti_new_tensor *tensors;
    size_t count;
    uint64_t *shapes; /* those that are no tensor's own */
    size_t shape_count;
    struct dti_buffer names; /* likewise */
    size_t *name_at;         /* of each tensor: place in names, or SIZE_MAX */
    /* of the input's tensors, the names of those that become parts */
    struct dti_name_order quantized;
};

static void free_list(struct new_tensor_list *list)
{
    free(list->tensors);
    free(list->shapes);
    free(list->name_at);
    dti_buffer_free(&list->names);
    dti_name_order_free(&list->quantized);
}

static enum dti_status init_list(const struct dti_file_quant *quant, struct new_tensor_list *ret,
                                 struct dti_error *reterr)
{
    size_t tensors = 0, shapes = 0;
    for (size_t i = 0; i < quant->tensor_count; i++) {
        const bool quantized = quant->tensors[i].fate == DTI_QUANT_FATE_QUANTIZED;
        tensors += quantized ? DTI_PART_COUNT : 1;
        shapes +=
            quantized ? DTI_PART_COUNT * (size_t)(dti_file_quant_source(quant, i)->rank + 1) : 0;
    }
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->names);
    ret->tensors = calloc(tensors + 1, sizeof *ret->tensors);
    ret->name_at = calloc(tensors + 1, sizeof *ret->name_at);
    ret->shapes = calloc(shapes + 1, sizeof *ret->shapes);
    if (!ret->tensors || !ret->name_at || !ret->shapes ||
        !dti_name_order_init(&ret->quantized, quant->quantized_count))
        return dti_file_quant_no_memory(reterr);
    return DTI_OK;
}

static void add_kept(const struct dti_file_quant *quant, size_t at, struct new_tensor_list *list)
{
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    struct dti_new_tensor *const tensor = &list->tensors[list->count];
    *tensor = (struct dti_new_tensor){
        .name = source->name,
        .name_length = source->name_length,
        .format = source->format,
        .rank = source->rank,
        .shape = source->shape,
        .source = at * DTI_PART_COUNT,
    };
    (void)dti_container_stores(quant->request.kind, source->format, &tensor->layout);
    list->name_at[list->count++] = SIZE_MAX;
}

static enum dti_status add_parts(const struct dti_file_quant *quant, size_t at,
                                 struct new_tensor_list *list, struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_file_quant_source(quant, at);
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    dti_name_order_add(&list->quantized, source->name, source->name_length);
    dti_file_quant_stored(quant, at, &stored);
    const enum dti_status status = dti_quant_parts(&stored, parts, reterr);
    for (size_t i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++) {
        if (!parts[i].there)
            continue;
        const char *const suffix = dti_quant_suffix(quant->row, (enum dti_quant_part)i);
        const struct dti_format *const format = dti_format_get(parts[i].dtype);
        struct dti_new_tensor *const tensor = &list->tensors[list->count];
        uint64_t *const shape = list->shapes + list->shape_count;
        memcpy(shape, parts[i].shape, parts[i].rank * sizeof *shape);
        list->shape_count += parts[i].rank;
        list->name_at[list->count++] = list->names.length;
        dti_buffer_append(&list->names, source->name, source->name_length);
        dti_buffer_append(&list->names, suffix, strlen(suffix) + 1);
        *tensor = (struct dti_new_tensor){
            .name_length = source->name_length + strlen(suffix),
            .format = format,
            .rank = parts[i].rank,
            .shape = shape,
            .source = at * DTI_PART_COUNT + i,
        };
        if (!dti_container_stores(quant->request.kind, format, &tensor->layout))
            return dti_fail(reterr, DTI_WRONG_KIND, "%s files have no name for %s",
                            dti_container_name(quant->request.kind), format->name);
    }
    return status;
}

static enum dti_status make_list(const struct dti_file_quant *quant, struct new_tensor_list *ret,
                                 struct dti_error *reterr)
{
    enum dti_status status = init_list(quant, ret, reterr);
    for (size_t i = 0; i < quant->tensor_count && status == DTI_OK; i++) {
        if (quant->tensors[i].fate == DTI_QUANT_FATE_QUANTIZED)
            status = add_parts(quant, i, ret, reterr);
        else
            add_kept(quant, i, ret);
    }
    dti_name_order_sort(&ret->quantized);
    if (status == DTI_OK && ret->names.failed)
        status = dti_file_quant_no_memory(reterr);
    for (size_t i = 0; i < ret->count && status == DTI_OK; i++) {
        if (ret->name_at[i] != SIZE_MAX)
            ret->tensors[i].name = ret->names.data + ret->name_at[i];
    }
    return status;
}

/* Where the tensors of a file came to be. */
static void note_places(struct dti_file_quant *quant, const struct dti_new_tensor *tensors,
                        size_t count, size_t file)
{
    for (size_t i = 0; i < count; i++) {
        struct dti_file_quant_tensor *const tensor =
            &quant->tensors[tensors[i].source / DTI_PART_COUNT];
        tensor->part[tensors[i].source % DTI_PART_COUNT] = (struct dti_file_quant_part){
            .there = true, .file = file, .bytes = tensors[i].bytes, .offset = tensors[i].offset};
    }
}

/* One file with some tensors of the list. */
static enum dti_status add_file(struct dti_file_quant *quant, const char *name,
                                struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_error *reterr)
{
    const enum dti_status status =
        dti_new_files_add(&quant->files, name, tensors, count, metadata, metadata_count, reterr);
    if (status == DTI_OK)
        note_places(quant, tensors, count, quant->files.count - 1);
    return status;
}

static enum dti_status add_shards(struct dti_file_quant *quant, struct new_tensor_list *list,
                                  struct dti_told_metadata *metadata, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    size_t part = 0;
    for (size_t first = 0, next; first < quant->tensor_count && status == DTI_OK; first = next) {
        const unsigned shard = dti_file_quant_source(quant, first)->file;
        struct dti_new_tensor *const tensors = list->tensors + part;
        const size_t first_part = part;
        size_t count;
        for (next = first; next < quant->tensor_count; next++) {
            if (dti_file_quant_source(quant, next)->file != shard)
                break;
            while (part < list->count && list->tensors[part].source / DTI_PART_COUNT == next)
                part++;
        }
        const struct dti_metadata *const own =
            dti_told_metadata_of(metadata, tensors, part - first_part, &count);
        status = add_file(quant, dti_new_files_shard(&quant->files, shard), tensors,
                          part - first_part, own, count, reterr);
    }
    return status;
}

/* safetensors: one file, or shards. */
static enum dti_status add_files(struct dti_file_quant *quant, struct new_tensor_list *list,
                                 struct dti_error *reterr)
{
    struct dti_quant_metadata metadata;
    enum dti_status status = dti_file_quant_metadata(quant, &list->quantized, &metadata, reterr);
    if (status == DTI_OK && quant->request.kind == DTI_CONTAINER_SHARDED) {
        struct dti_told_metadata told;
        if (dti_told_metadata_init(&told, metadata.entries, metadata.count))
            status = add_shards(quant, list, &told, reterr);
        else
            status = dti_file_quant_no_memory(reterr);
        metadata.entries = NULL;
        dti_told_metadata_free(&told);
    } else if (status == DTI_OK) {
        status = add_file(quant, NULL, list->tensors, list->count, metadata.entries, metadata.count,
                          reterr);
    }
    dti_file_quant_metadata_free(&metadata);
    return status;
}

static enum dti_status add_index(struct dti_file_quant *quant, const struct new_tensor_list *list,
                                 struct dti_error *reterr)
{
    size_t *const file = calloc(list->count + 1, sizeof *file);
    if (!file)
        return dti_file_quant_no_memory(reterr);
    for (size_t i = 0; i < list->count; i++) {
        const size_t source = list->tensors[i].source;
        file[i] = quant->tensors[source / DTI_PART_COUNT].part[source % DTI_PART_COUNT].file;
    }
    const enum dti_status status = dti_new_files_add_index(
        &quant->files, quant->request.index, list->tensors, file, list->count, reterr);
    free(file);
    return status;
}

/* OUT.npy has the codes, and comes last; the other parts stand beside it. */
static enum dti_status add_arrays(struct dti_file_quant *quant, struct new_tensor_list *list,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    char label[DTI_QUOTE_SIZE];
    const char *const path = quant->container->path;
    const bool several = quant->tensor_count > 0;
    if (quant->tensor_count != 1)
        return dti_fail_remedy(reterr, DTI_USAGE, several ? DTI_REMEDY_SELECT_ONE : DTI_REMEDY_NONE,
                               "%s has %zu tensors, and an npy file holds one%s",
                               dti_quote(label, path, strlen(path)), quant->tensor_count,
                               several ? "" : "; there is nothing to write");
    for (size_t i = 1; i <= list->count && status == DTI_OK; i++) {
        struct dti_new_tensor *const tensor = &list->tensors[i % list->count];
        const enum dti_quant_part part = (enum dti_quant_part)(tensor->source % DTI_PART_COUNT);
        if (part == DTI_PART_CODES)
            status = dti_new_files_add(&quant->files, NULL, tensor, 1, NULL, 0, reterr);
        else
            status = dti_new_files_add_beside(&quant->files, dti_quant_suffix(quant->row, part),
                                              tensor, reterr);
        if (status == DTI_OK)
            note_places(quant, tensor, 1, quant->files.count - 1);
    }
    return status;
}

static enum dti_status add_up(struct dti_file_quant *quant, struct dti_error *reterr)
{
    bool fits = true;
    for (size_t i = 0; i < quant->tensor_count; i++) {
        struct dti_file_quant_tensor *const tensor = &quant->tensors[i];
        const uint64_t input = dti_file_quant_source(quant, i)->bytes;
        for (size_t part = 0; part < DTI_PART_COUNT; part++)
            fits = fits && dti_add_u64(tensor->bytes, tensor->part[part].bytes, &tensor->bytes);
        fits = fits && dti_add_u64(quant->input_bytes, input, &quant->input_bytes) &&
               dti_add_u64(quant->output_bytes, tensor->bytes, &quant->output_bytes) &&
               dti_add_u64(quant->work_bytes, input, &quant->work_bytes);
        if (tensor->fate != DTI_QUANT_FATE_QUANTIZED)
            continue;
        quant->quantized_input += input;
        quant->quantized_output += tensor->bytes;
        if (dti_quant_plan_needs_range(tensor->plan))
            fits = fits && dti_add_u64(quant->work_bytes, input, &quant->work_bytes);
    }
    if (fits)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT, "the output would have more than 2^64 bytes");
}

enum dti_status dti_file_quant_layout(struct dti_file_quant *quant, struct dti_error *reterr)
{
    struct new_tensor_list list;
    enum dti_status status = make_list(quant, &list, reterr);
    if (status == DTI_OK) {
        if (quant->request.kind == DTI_CONTAINER_NPY)
            status = add_arrays(quant, &list, reterr);
        else
            status = add_files(quant, &list, reterr);
    }
    if (status == DTI_OK && quant->request.index)
        status = add_index(quant, &list, reterr);
    free_list(&list);
    return status == DTI_OK ? add_up(quant, reterr) : status;
}
