/* SPDX-License-Identifier: MIT
 *
 * The metadata of the new files: that of the input, and entries about tensors whose parts are
 * ambiguous. Entries that are about one tensor go into the shard where that tensor goes, all others
 * into every shard. Otherwise every shard would describe all tensors. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/rewrite_parts.h"

enum { KEY = sizeof DTI_QUANT_KEY - 1 };

static void add_told(const struct dti_rewrite *rewrite, size_t at,
                     struct dti_rewrite_metadata *metadata)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    char value[DTI_QUANT_TOLD_SIZE];
    struct dti_quant_stored stored;
    dti_rewrite_stored(rewrite, at, &stored);
    if (!dti_quant_told(&stored, value))
        return;
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

/* Entries about no tensor come first; the others are found by its name. */
static bool sort(struct dti_rewrite_metadata *metadata)
{
    struct dti_metadata *const entries = metadata->entries;
    size_t told = 0;
    metadata->chosen = calloc(metadata->count + 1, sizeof *metadata->chosen);
    if (!metadata->chosen || !dti_name_order_init(&metadata->told, metadata->count))
        return false;
    for (size_t i = 0; i < metadata->count; i++) { /* chosen: room for those that come last */
        if (dti_is_told(&entries[i]))
            metadata->chosen[told++] = entries[i];
        else
            entries[metadata->common++] = entries[i];
    }
    memcpy(entries + metadata->common, metadata->chosen, told * sizeof *entries);
    for (size_t i = metadata->common; i < metadata->count; i++)
        dti_name_order_add(&metadata->told, entries[i].key + KEY, entries[i].key_length - KEY);
    dti_name_order_sort(&metadata->told);
    memcpy(metadata->chosen, entries, metadata->common * sizeof *entries);
    return true;
}

/* What the input says of tensors that are quantized now. False: memory ran out. */
static bool leave_out_stale(struct dti_rewrite_metadata *metadata,
                            const struct dti_rewrite *rewrite, size_t quantized)
{
    struct dti_name_order order;
    size_t first = 0, kept, at;
    while (first < metadata->count && !dti_is_told(&metadata->entries[first]))
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
        if (!dti_is_told(entry) ||
            !dti_name_order_find(&order, entry->key + KEY, entry->key_length - KEY, &at))
            metadata->entries[kept++] = *entry;
    }
    metadata->count = kept;
    dti_name_order_free(&order);
    return true;
}

enum dti_status dti_rewrite_metadata_init(struct dti_rewrite_metadata *ret,
                                          const struct dti_rewrite *rewrite,
                                          struct dti_error *reterr)
{
    size_t quantized = 0;
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        quantized += dti_is_quantized(&rewrite->tensors[i]);
    const enum dti_status status =
        dti_new_files_metadata(&rewrite->files, quantized, rewrite->request.warn,
                               rewrite->request.warn_context, &ret->entries, &ret->count, reterr);
    if (status != DTI_OK)
        return status;
    if (quantized > 0 && !leave_out_stale(ret, rewrite, quantized))
        return dti_no_memory(reterr);
    const size_t kept = ret->count;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        if (dti_is_quantized(&rewrite->tensors[i]))
            add_told(rewrite, i, ret);
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

void dti_rewrite_metadata_free(struct dti_rewrite_metadata *metadata)
{
    free(metadata->entries);
    free(metadata->chosen);
    dti_buffer_free(&metadata->texts);
    dti_name_order_free(&metadata->told);
}

/* Y.qweight is about Y.weight. A longer name than any that is in use has none: such a tensor is
 * refused by readers then, where no configuration tells. */
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
    return dti_name_order_find(&metadata->told, weight, length - 1, ret);
}

const struct dti_metadata *dti_rewrite_metadata_of(struct dti_rewrite_metadata *metadata,
                                                   const struct dti_new_tensor *tensors,
                                                   size_t count, size_t *ret_count)
{
    static const char packed[] = "_packed";
    size_t chosen = metadata->common, at;
    for (size_t i = 0; i < count; i++) {
        const char *const name = tensors[i].name;
        const size_t length = tensors[i].name_length;
        if (dti_name_order_find(&metadata->told, name, length, &at) ||
            find_weight(metadata, name, length, &at) ||
            (dti_quant_name_ends(name, length, packed) &&
             dti_name_order_find(&metadata->told, name, length - (sizeof packed - 1), &at)))
            metadata->chosen[chosen++] = metadata->entries[metadata->common + at];
    }
    *ret_count = chosen;
    return metadata->chosen;
}
