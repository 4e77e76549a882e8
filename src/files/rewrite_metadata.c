/* SPDX-License-Identifier: MIT
 *
 * The metadata of the new files: that of the input, and entries about tensors whose parts do not
 * tell all. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite_parts.h"
#include "files/told_metadata.h"

/* An entry of the input about a tensor that is quantized again. */
static bool is_stale(const struct dti_name_order *quantized, const struct dti_metadata *entry)
{
    const size_t length = strlen(DTI_QUANT_KEY);
    size_t at;
    return dti_is_told(entry) &&
           dti_name_order_find(quantized, entry->key + length, entry->key_length - length, &at);
}

static void add_told(const struct dti_rewrite *rewrite, size_t at,
                     struct dti_rewrite_metadata *metadata)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    char value[DTI_QUANT_TOLD_SIZE];
    struct dti_quant_stored stored;
    dti_rewrite_stored(rewrite, at, &stored);
    if (!dti_quant_told(&stored, value))
        return;
    struct dti_metadata *const entry = &metadata->entries[metadata->count++];
    *entry = (struct dti_metadata){
        .key_length = strlen(DTI_QUANT_KEY) + source->name_length,
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

enum dti_status dti_rewrite_metadata(const struct dti_rewrite *rewrite,
                                     const struct dti_name_order *quantized,
                                     struct dti_rewrite_metadata *ret, struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    size_t kept = 0;
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
    const enum dti_status status =
        dti_new_files_metadata(&rewrite->files, quantized->count, request->warn,
                               request->warn_context, &ret->entries, &ret->count, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < ret->count; i++) {
        if (!is_stale(quantized, &ret->entries[i]))
            ret->entries[kept++] = ret->entries[i];
    }
    ret->count = kept;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        if (dti_is_quantized(&rewrite->tensors[i]))
            add_told(rewrite, i, ret);
    }
    if (ret->texts.failed)
        return dti_no_memory(reterr);
    const char *text = ret->texts.data;
    for (size_t i = kept; i < ret->count; i++) {
        ret->entries[i].key = text;
        ret->entries[i].value = text + ret->entries[i].key_length + 1;
        text = ret->entries[i].value + ret->entries[i].value_length + 1;
    }
    return DTI_OK;
}
