/* SPDX-License-Identifier: MIT
 *
 * Writing GGUF, version 3: a new file takes over the key-values of another as they are, byte for
 * byte, but for those that gguf_file_type.c sets and those of split files. Blocks are written under
 * the name of their type. */
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/gguf.h"
#include "dtinfo/checked.h"
#include "dtinfo/gguf_type.h"
#include "dtinfo/little_endian.h"

enum { VERSION = 3, TYPE_UINT16 = 2, TYPE_UINT32 = 4, TYPE_INT32 = 5 };
enum { PAIRS_MAX = 100000000 /* bytes; a vocabulary of a million words has 30 MB */ };

static void put(struct dti_buffer *out, size_t size, uint64_t value)
{
    unsigned char bytes[8];
    dti_little_put(bytes, size, value);
    dti_buffer_append(out, (const char *)bytes, size);
}

/* Fills bytes; false: they do not fit. */
static bool measure(struct dti_new_tensor *tensor, const struct dti_gguf_type *type)
{
    uint64_t elements = 1, bytes = 0;
    bool empty = false, fits = true;
    for (unsigned i = 0; i < tensor->rank; i++) {
        empty = empty || tensor->shape[i] == 0;
        fits = fits && dti_mul_u64(elements, tensor->shape[i], &elements);
    }
    fits = fits && dti_mul_u64(elements / type->elements, type->bytes, &bytes);
    tensor->bytes = empty ? 0 : bytes;
    return empty || fits;
}

static bool pad(uint64_t *at, uint64_t alignment)
{
    const uint64_t past = *at % alignment;
    return past == 0 || dti_add_u64(*at, alignment - past, at);
}

/* A tensor's description; *at, where its data begin after those of the first one, moves on. */
static enum dti_status add_tensor(struct dti_buffer *text, struct dti_new_tensor *tensor,
                                  uint64_t alignment, uint64_t *at, struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    const struct dti_gguf_type *const type = dti_gguf_type_written(tensor->format);
    dti_quote(name, tensor->name, tensor->name_length);
    if (!type)
        return dti_fail(reterr, DTI_WRONG_KIND, "tensor %s: gguf has no type for %s", name,
                        tensor->format->name);
    if (tensor->rank > DTI_GGUF_RANK_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "tensor %s has %u dimensions; gguf has at most %u",
                        name, tensor->rank, (unsigned)DTI_GGUF_RANK_MAX);
    put(text, 8, tensor->name_length);
    dti_buffer_append(text, tensor->name, tensor->name_length);
    put(text, 4, tensor->rank);
    for (unsigned i = tensor->rank; i-- > 0;)
        put(text, 8, tensor->shape[i]);
    put(text, 4, type->id);
    put(text, 8, *at);
    tensor->offset = *at;
    if (!measure(tensor, type) || !dti_add_u64(*at, tensor->bytes, at) || !pad(at, alignment))
        return dti_fail(reterr, DTI_BAD_INPUT, "tensor %s is too large for a file", name);
    return DTI_OK;
}

static bool is_split_key(const struct dti_metadata *entry)
{
    return dti_gguf_split_key(entry->key, entry->key_length) != DTI_GGUF_SPLIT_KEYS;
}

/* What says that the model of which it is made was split is left out. *file_type_at, in the text,
 * moves along. */
static void leave_out_split(struct dti_buffer *text, size_t start, const struct dti_container *from,
                            size_t *file_type_at)
{
    size_t to = start, at = start;
    for (size_t i = 0; i < from->metadata_count; i++) {
        const struct dti_metadata *const entry = &from->metadata[i];
        if (!is_split_key(entry))
            continue;
        const size_t next = start + (size_t)(entry->offset - from->pairs.offset);
        memmove(text->data + to, text->data + at, next - at);
        to += next - at;
        at = next + (size_t)entry->bytes;
        if (from->pairs.file_type_at > 0 && next < start + (size_t)from->pairs.file_type_at)
            *file_type_at -= (size_t)entry->bytes;
    }
    memmove(text->data + to, text->data + at, text->length - at);
    text->length -= at - to;
}

/* What the new file takes over. *ret_file_type_at: where it is in the text, or 0. */
static enum dti_status add_pairs(struct dti_buffer *text, const struct dti_container *from,
                                 size_t *ret_file_type_at, struct dti_error *reterr)
{
    const struct dti_container_file *const file = &from->files[0];
    const uint64_t bytes = from->pairs.bytes;
    const size_t start = text->length;
    char label[DTI_QUOTE_SIZE];
    if (bytes > PAIRS_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "the key-values of %s have %llu bytes, more than %d",
                        dti_input_label(&file->input, label), (unsigned long long)bytes,
                        (int)PAIRS_MAX);
    if (!dti_buffer_reserve(text, (size_t)bytes))
        return dti_no_memory(reterr);
    const enum dti_status status = dti_input_read_at(&file->input, text->data + text->length,
                                                     (size_t)bytes, from->pairs.offset, reterr);
    if (status != DTI_OK)
        return status;
    text->length += (size_t)bytes;
    *ret_file_type_at = from->pairs.file_type_at > 0 ? start + (size_t)from->pairs.file_type_at : 0;
    leave_out_split(text, start, from, ret_file_type_at);
    return DTI_OK;
}

static void put_key(struct dti_buffer *text, const char *key, unsigned type)
{
    put(text, 8, strlen(key));
    dti_buffer_puts(text, key);
    put(text, 4, type);
}

/* Of a part: which it is. Only the first has the others, but each has the alignment of its data. */
static void add_split(struct dti_buffer *text, const struct dti_new_head *head)
{
    const uint64_t alignment = head->from->pairs.alignment;
    if (head->part.count == 0)
        return;
    if (head->part.no > 0 && alignment != DTI_GGUF_ALIGNMENT) {
        put_key(text, "general.alignment", TYPE_UINT32);
        put(text, 4, alignment);
    }
    put_key(text, dti_gguf_split_keys[DTI_GGUF_SPLIT_NO], TYPE_UINT16);
    put(text, 2, head->part.no);
    put_key(text, dti_gguf_split_keys[DTI_GGUF_SPLIT_COUNT], TYPE_UINT16);
    put(text, 2, head->part.count);
    put_key(text, dti_gguf_split_keys[DTI_GGUF_SPLIT_TENSORS], TYPE_INT32);
    put(text, 4, head->part.tensor_count);
}

static uint64_t count_pairs(const struct dti_new_head *head)
{
    const struct dti_container *const from = head->from;
    uint64_t count = head->part.count > 0 ? DTI_GGUF_SPLIT_KEYS : 0;
    if (head->part.no > 0)
        return count + (from->pairs.alignment != DTI_GGUF_ALIGNMENT);
    for (size_t i = 0; i < from->metadata_count; i++)
        count -= is_split_key(&from->metadata[i]);
    return count + from->pairs.count + dti_gguf_adds_version(head);
}

static enum dti_status check_source(const struct dti_container *from, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    if (!from || !dti_is_gguf(from->kind))
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "a gguf file has the metadata of a model, which only a gguf file has; "
                        "write safetensors");
    if (from->pairs.big_endian)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "%s is big-endian, and gguf files are written little-endian; write "
                        "safetensors",
                        dti_input_label(&from->files[0].input, label));
    return DTI_OK;
}

/* The data begin after the head and end with padding, which holes in the file are, up to a last
 * byte that is written. */
static enum dti_status finish(struct dti_new_head *head, struct dti_new_tensor *tensors,
                              size_t count, uint64_t alignment, uint64_t data_bytes,
                              uint64_t *ret_size, struct dti_error *reterr)
{
    uint64_t start = head->text.length, size;
    if (head->text.failed)
        return dti_no_memory(reterr);
    /* a part without tensors is padded, too, as by gguf-split */
    if (((count > 0 || head->part.count > 0) && !pad(&start, alignment)) ||
        !dti_add_u64(start, data_bytes, &size) || size > INT64_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "the file would have 2^63 bytes or more");
    uint64_t end = head->text.length; /* of what is written anyway */
    for (size_t i = 0; i < count; i++) {
        tensors[i].offset += start;
        if (tensors[i].bytes > 0)
            end = tensors[i].offset + tensors[i].bytes;
    }
    *ret_size = size;
    if (end == size)
        return DTI_OK;
    head->pieces = calloc(2, sizeof *head->pieces);
    if (!head->pieces)
        return dti_no_memory(reterr);
    head->count = 2;
    head->pieces[0].length = head->text.length;
    head->pieces[1] = (struct dti_head_piece){size - 1, 1};
    dti_buffer_fill(&head->text, '\0', 1);
    return head->text.failed ? dti_no_memory(reterr) : DTI_OK;
}

enum dti_status dti_gguf_layout(struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_new_head *ret_head, uint64_t *ret_size,
                                struct dti_error *reterr)
{
    const struct dti_container *const from = ret_head->from;
    struct dti_buffer *const text = &ret_head->text;
    (void)metadata;
    (void)metadata_count;
    enum dti_status status = check_source(from, reterr);
    if (status != DTI_OK)
        return status;
    uint64_t at = 0;
    dti_buffer_append(text, "GGUF", 4);
    put(text, 4, VERSION);
    put(text, 8, count);
    put(text, 8, count_pairs(ret_head));
    size_t file_type_at = 0;
    if (ret_head->part.no == 0)
        status = add_pairs(text, from, &file_type_at, reterr);
    if (status == DTI_OK) {
        dti_gguf_add_version(ret_head);
        add_split(text, ret_head);
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = add_tensor(text, &tensors[i], from->pairs.alignment, &at, reterr);
    if (status == DTI_OK && !text->failed)
        dti_gguf_set_file_type(ret_head, file_type_at,
                               ret_head->part.count > 0 ? ret_head->part.tensors : tensors,
                               ret_head->part.count > 0 ? ret_head->part.tensor_count : count);
    return status == DTI_OK
               ? finish(ret_head, tensors, count, from->pairs.alignment, at, ret_size, reterr)
               : status;
}
