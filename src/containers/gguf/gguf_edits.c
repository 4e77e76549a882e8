/* SPDX-License-Identifier: MIT
 *
 * Key-values in memory, merged with those of a file into the header of a GGUF file without tensors,
 * which the reader then checks like any other. */
#include "containers/gguf/gguf_edits.h"

#include <string.h>

#include "containers/gguf/gguf.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/ascii.h"

enum {
    VERSION = 3,
    COUNT_AT = 4 + 4 + 8,
    HEAD = COUNT_AT + 8,
    EDITS_MAX = 100000000, /* bytes; as of files whose key-values are copied */
};

void dti_gguf_edits_init(struct dti_gguf_edits *ret)
{
    *ret = (struct dti_gguf_edits){.list = NULL};
    dti_buffer_init(&ret->text);
}

void dti_gguf_edits_free(struct dti_gguf_edits *edits)
{
    dti_buffer_free(&edits->text);
    dti_free(edits->list);
    edits->list = NULL;
    edits->count = edits->capacity = 0;
}

void dti_gguf_edits_begin(struct dti_gguf_edits *edits, const char *key, size_t length)
{
    struct dti_gguf_edit *const list =
        dti_grown(edits->list, edits->count, &edits->capacity, sizeof *list);
    edits->failed = edits->failed || !list;
    if (!list)
        return;
    edits->list = list;
    edits->list[edits->count] =
        (struct dti_gguf_edit){.at = edits->text.length, .key_length = length};
    dti_buffer_append(&edits->text, key, length);
}

void dti_gguf_edits_end(struct dti_gguf_edits *edits)
{
    edits->failed = edits->failed || edits->text.failed;
    if (edits->failed)
        return;
    struct dti_gguf_edit *const edit = &edits->list[edits->count++];
    edit->length = edits->text.length - edit->at - edit->key_length;
}

static void put(struct dti_buffer *out, size_t size, uint64_t value)
{
    unsigned char bytes[8];
    dti_little_put(bytes, size, value);
    dti_buffer_append(out, (const char *)bytes, size);
}

void dti_gguf_edits_number(struct dti_gguf_edits *edits, const char *key, enum dti_gguf_value type,
                           uint64_t code)
{
    static const unsigned char bytes[DTI_GGUF_VALUES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    dti_gguf_edits_begin(edits, key, strlen(key));
    put(&edits->text, 4, type);
    put(&edits->text, bytes[type], code);
    dti_gguf_edits_end(edits);
}

void dti_gguf_edits_string(struct dti_gguf_edits *edits, const char *key, const char *text,
                           size_t length)
{
    dti_gguf_edits_begin(edits, key, strlen(key));
    put(&edits->text, 4, DTI_GGUF_STRING);
    put(&edits->text, 8, length);
    dti_buffer_append(&edits->text, text, length);
    dti_gguf_edits_end(edits);
}

void dti_gguf_edits_remove(struct dti_gguf_edits *edits, const char *key)
{
    dti_gguf_edits_begin(edits, key, strlen(key));
    dti_gguf_edits_end(edits);
}

void dti_gguf_edits_append(struct dti_gguf_edits *edits, const struct dti_gguf_edits *more)
{
    edits->failed = edits->failed || more->failed;
    for (size_t i = 0; i < more->count && !edits->failed; i++) {
        const struct dti_gguf_edit *const edit = &more->list[i];
        const char *const key = more->text.data + edit->at;
        dti_gguf_edits_begin(edits, key, edit->key_length);
        dti_buffer_append(&edits->text, key + edit->key_length, edit->length);
        dti_gguf_edits_end(edits);
    }
}

/* Appends a key and its value, and counts it; nothing if the key is removed. */
static void put_edit(struct dti_buffer *text, const struct dti_gguf_edits *edits, size_t at,
                     uint64_t *count)
{
    const struct dti_gguf_edit *const edit = &edits->list[at];
    if (edit->length == 0)
        return;
    put(text, 8, edit->key_length);
    dti_buffer_append(text, edits->text.data + edit->at, edit->key_length + edit->length);
    ++*count;
}

/* Indexes the edits by key. The index finds the first of equal names, so the last edit is added
 * first. */
static bool index_edits(const struct dti_gguf_edits *edits, struct dti_name_order *ret)
{
    if (!dti_name_order_init(ret, edits->count))
        return false;
    for (size_t i = edits->count; i-- > 0;)
        dti_name_order_add(ret, edits->text.data + edits->list[i].at, edits->list[i].key_length);
    dti_name_order_sort(ret);
    return true;
}

/* The edit that counts for a key. */
static bool find(const struct dti_gguf_edits *edits, const struct dti_name_order *order,
                 const char *key, size_t length, size_t *ret)
{
    size_t at;
    if (!dti_name_order_find(order, key, length, &at))
        return false;
    *ret = edits->count - 1 - at;
    return true;
}

/* Copies the base's key-values, with edits in their places. used: a flag for each edit. */
static enum dti_status put_base(struct dti_buffer *text, const struct dti_gguf_edits *edits,
                                const struct dti_name_order *order,
                                const struct dti_container *base, bool *used, uint64_t *ret_count,
                                struct dti_error *reterr)
{
    const struct dti_input *const input = &base->files[0].input;
    char label[DTI_QUOTE_SIZE];
    if (base->pairs.big_endian || base->pairs.bytes > EDITS_MAX)
        return dti_fail(reterr, DTI_WRONG_KIND, "%s %s", dti_input_label(input, label),
                        base->pairs.big_endian ? "is big-endian, and gguf files are written "
                                                 "little-endian; write safetensors"
                                               : "has more than 100,000,000 bytes of key-values");
    for (size_t i = 0; i < base->metadata_count; i++) {
        const struct dti_metadata *const entry = &base->metadata[i];
        size_t at;
        if (dti_gguf_split_key(entry->key, entry->key_length) != DTI_GGUF_SPLIT_KEYS)
            continue;
        if (find(edits, order, entry->key, entry->key_length, &at)) {
            put_edit(text, edits, at, ret_count);
            used[at] = true;
            continue;
        }
        ++*ret_count;
        if (!dti_buffer_reserve(text, (size_t)entry->bytes))
            return dti_no_memory(reterr);
        const enum dti_status status = dti_input_read_at(
            input, text->data + text->length, (size_t)entry->bytes, entry->offset, reterr);
        if (status != DTI_OK)
            return status;
        text->length += (size_t)entry->bytes;
    }
    return DTI_OK;
}

static enum dti_status put_all(struct dti_buffer *text, const struct dti_gguf_edits *edits,
                               const struct dti_container *base, struct dti_error *reterr)
{
    struct dti_name_order order = {.rows = NULL};
    bool *const used = dti_calloc(edits->count + 1, sizeof *used);
    enum dti_status status = used && index_edits(edits, &order) ? DTI_OK : dti_no_memory(reterr);
    uint64_t count = 0;
    dti_buffer_append(text, "GGUF", 4);
    put(text, 4, VERSION);
    put(text, 8, 0);
    put(text, 8, 0);
    if (status == DTI_OK && base)
        status = put_base(text, edits, &order, base, used, &count, reterr);
    for (size_t i = 0; i < edits->count && status == DTI_OK; i++) {
        const char *const key = edits->text.data + edits->list[i].at;
        size_t at;
        if (!find(edits, &order, key, edits->list[i].key_length, &at) || used[at])
            continue;
        put_edit(text, edits, at, &count); /* in the place of the first of equal keys */
        used[at] = true;
    }
    if (status == DTI_OK && !text->failed)
        dti_little_put((unsigned char *)text->data + COUNT_AT, 8, count);
    dti_name_order_free(&order);
    dti_free(used);
    return status == DTI_OK && text->failed ? dti_no_memory(reterr) : status;
}

enum dti_status dti_gguf_edits_apply(const struct dti_gguf_edits *edits,
                                     const struct dti_container *base, const char *path,
                                     struct dti_container **ret, struct dti_error *reterr)
{
    struct dti_buffer text;
    if (edits->failed)
        return dti_no_memory(reterr);
    dti_buffer_init(&text);
    enum dti_status status = put_all(&text, edits, base, reterr);
    if (status == DTI_OK)
        status = dti_container_open_bytes(ret, path, text.data, text.length, reterr);
    dti_buffer_free(&text);
    return status;
}

const struct dti_metadata *dti_gguf_pair_of(const struct dti_container *container, const char *key)
{
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata *const entry = &container->metadata[i];
        if (dti_text_is(entry->key, entry->key_length, key))
            return entry;
    }
    return NULL;
}

bool dti_gguf_integer_of(const struct dti_container *container, const char *key, uint64_t *ret)
{
    const struct dti_metadata *const entry = dti_gguf_pair_of(container, key);
    if (!entry || entry->kind != DTI_METADATA_TOKEN)
        return false;
    *ret = 0;
    for (size_t i = 0; i < entry->value_length; i++) {
        const char c = entry->value[i];
        if (c < '0' || c > '9' || *ret > (UINT64_MAX - 9) / 10)
            return false;
        *ret = *ret * 10 + (uint64_t)(c - '0');
    }
    return entry->value_length > 0;
}
