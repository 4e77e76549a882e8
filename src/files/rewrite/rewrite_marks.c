/* SPDX-License-Identifier: MIT
 *
 * The metadata entry of a new file that lists the formats of its layers, as ComfyUI has it:
 * {"format_version": "1.0", "layers": {"Y": {"format": "nvfp4"}, ...}}. Each layer has the same
 * text in its tensor Y.comfy_quant. Source: ComfyUI (QUANTIZATION.md, comfy/utils.py). */
#include <string.h>

#include "containers/json_quoted.h"
#include "files/rewrite/rewrite_parts.h"
#include "files/stored/quant_marks.h"
#include "util/json/json_edit.h"

static const char member[] = "layers";

/* The text between the braces of the member of an entry. False: the entry has no such object. */
static bool find_layers(const struct dti_metadata *entry, const char **ret, size_t *ret_length)
{
    struct dti_json_reader json;
    enum dti_json_token token;
    bool found = false;
    dti_json_reader_init(&json, entry->value, entry->value_length);
    bool fine = dti_json_next(&json, &token) && token == DTI_JSON_OBJECT;
    while (fine && (fine = dti_json_next(&json, &token)) && token == DTI_JSON_KEY) {
        const bool wanted = dti_json_string_is(&json, member);
        fine = dti_json_next(&json, &token);
        const char *const begin = json.at;
        const bool object = token == DTI_JSON_OBJECT;
        fine = fine && dti_json_skip(&json, token);
        if (!fine || !wanted || !object)
            continue;
        found = true;
        *ret = begin;
        *ret_length = (size_t)(json.at - begin) - 1;
    }
    dti_json_reader_free(&json);
    return fine && found;
}

static bool is_blank(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && strchr(" \t\r\n", text[i]))
        i++;
    return i == length;
}

/* The text of a new tensor that is a mark; NULL: it is not one. */
static const char *text_of(const struct dti_rewrite *rewrite, const struct dti_new_tensor *tensor,
                           char buffer[DTI_QUANT_MARK_SIZE])
{
    const size_t at = tensor->source / DTI_PART_COUNT;
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    struct dti_error ignored;
    if (rewrite->request.transcode)
        return dti_file_transcode_mark(rewrite->request.transcode,
                                       dti_rewrite_place(rewrite, rewrite->tensors[at].source));
    if (tensor->source % DTI_PART_COUNT != DTI_PART_STATE ||
        !dti_quant_mark(rewrite->tensors[at].way->by->row))
        return NULL;
    dti_rewrite_stored(rewrite, at, &stored);
    if (dti_quant_parts(&stored, parts, &ignored) != DTI_OK)
        return NULL; /* cannot happen: it was planned */
    (void)dti_quant_mark_text(&stored, dti_quant_is_filled_up(&stored, &parts[DTI_PART_CODES]),
                              buffer);
    return buffer;
}

static bool has_marks(const struct dti_rewrite *rewrite)
{
    if (rewrite->request.transcode)
        return dti_file_transcode_has_marks(rewrite->request.transcode);
    bool any = false;
    for (size_t i = 0; rewrite->forms && i <= rewrite->request.quantize_rule_count; i++)
        any = any || dti_quant_mark(rewrite->forms[i].row);
    return any;
}

/* Appends the layers of these tensors to those that are there. Returns whether there are any. */
static bool put_layers(const struct dti_rewrite *rewrite, const struct dti_new_source *source,
                       bool first, struct dti_buffer *out)
{
    const size_t count = has_marks(rewrite) ? source->count : 0;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        char buffer[DTI_QUANT_MARK_SIZE];
        struct dti_new_tensor tensor;
        source->get(source->context, i, &tensor);
        const char *const text = text_of(rewrite, &tensor, buffer);
        if (!text)
            continue;
        dti_buffer_puts(out, first && !any ? "" : ", ");
        (void)dti_json_quoted(out, tensor.name,
                              tensor.name_length - (sizeof DTI_QUANT_MARK_SUFFIX - 1));
        dti_buffer_puts(out, ": ");
        dti_buffer_puts(out, text);
        any = true;
    }
    return any;
}

static const struct dti_metadata *old_entry(const struct dti_metadata *entries, size_t count)
{
    size_t i = 0;
    while (i < count && (entries[i].key_length != sizeof DTI_QUANT_MARKS_ENTRY - 1 ||
                         memcmp(entries[i].key, DTI_QUANT_MARKS_ENTRY, entries[i].key_length) != 0))
        i++;
    return i < count ? &entries[i] : NULL;
}

bool dti_rewrite_put_marks(const struct dti_rewrite *rewrite, const struct dti_new_source *source,
                           struct dti_metadata *entries, size_t *entry_count,
                           struct dti_buffer *text)
{
    const struct dti_metadata *const old = old_entry(entries, *entry_count);
    struct dti_buffer layers;
    const char *kept = "", *problem;
    size_t kept_length = 0;
    dti_buffer_clear(text);
    if (old && !find_layers(old, &kept, &kept_length))
        return true; /* it says something else; each matrix has its own */
    dti_buffer_init(&layers);
    dti_buffer_puts(&layers, "{");
    dti_buffer_append(&layers, kept, kept_length);
    bool fits = true;
    const bool any = put_layers(rewrite, source, is_blank(kept, kept_length), &layers);
    dti_buffer_puts(&layers, "}");
    if (any && old && !layers.failed)
        fits =
            dti_json_set_member(old->value, old->value_length, member, layers.data, text, &problem);
    if (any && !old)
        dti_quant_marks_entry(layers.data, layers.length, text);
    fits = fits && !layers.failed && !text->failed;
    dti_buffer_free(&layers);
    if (!any || !fits)
        return fits;
    const struct dti_metadata entry = {
        .key = DTI_QUANT_MARKS_ENTRY,
        .key_length = sizeof DTI_QUANT_MARKS_ENTRY - 1,
        .value = text->data,
        .value_length = text->length,
        .kind = DTI_METADATA_STRING,
        .type = "string",
        .count = 1,
    };
    entries[old ? (size_t)(old - entries) : (*entry_count)++] = entry;
    return true;
}
