/* SPDX-License-Identifier: MIT
 *
 * Writes the start of a safetensors file: header length, header, space padding to a multiple of
 * eight bytes. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/json_quoted.h"
#include "containers/name_order.h"
#include "containers/safetensors/safetensors.h"
#include "core/number/spell.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/text/ascii.h"

static const char metadata_name[] = "__metadata__";

static enum dti_status fail_tensor(struct dti_error *reterr, enum dti_status status,
                                   const struct dti_new_tensor *tensor, const char *what)
{
    char name[DTI_QUOTE_SIZE];
    return dti_fail(reterr, status, "tensor %s %s",
                    dti_quote(name, tensor->name, tensor->name_length), what);
}

static enum dti_status check_names(const void *items, size_t count, struct dti_named named,
                                   const char *what, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    size_t again;
    if (!dti_names_repeated(items, count, named, &again))
        return dti_no_memory(reterr);
    if (again == SIZE_MAX)
        return DTI_OK;
    const struct dti_name twice = dti_name_of(items, again, named);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s %s would be written twice", what,
                    dti_quote(quoted, twice.text, twice.text_length));
}

static struct dti_new_tensor tensor_of(const struct dti_new_source *source, size_t at)
{
    struct dti_new_tensor tensor;
    source->get(source->context, at, &tensor);
    return tensor;
}

/* Sets bytes. */
static enum dti_status measure(struct dti_new_tensor *tensor, struct dti_error *reterr)
{
    if (dti_text_is(tensor->name, tensor->name_length, metadata_name))
        return fail_tensor(reterr, DTI_BAD_INPUT, tensor,
                           "has a name that safetensors reserves for metadata");
    if (!dti_safetensors_name(tensor->format)) {
        char name[DTI_QUOTE_SIZE];
        return dti_fail(reterr, DTI_WRONG_KIND, "safetensors has no dtype %s (tensor %s)",
                        tensor->format->name, dti_quote(name, tensor->name, tensor->name_length));
    }
    uint64_t elements, bits;
    if (!dti_safetensors_measure(tensor->format, tensor->shape, tensor->rank, &elements, &bits))
        return fail_tensor(reterr, DTI_BAD_INPUT, tensor,
                           "is too large: its size in bits exceeds 64 bits");
    if (bits % 8 != 0)
        return fail_tensor(reterr, DTI_BAD_INPUT, tensor,
                           "does not fill whole bytes, as safetensors requires");
    tensor->bytes = bits / 8;
    return DTI_OK;
}

static enum dti_status fail_end(const struct dti_new_tensor *tensor, struct dti_error *reterr)
{
    return fail_tensor(reterr, DTI_BAD_INPUT, tensor, "ends at an offset beyond 64 bits");
}

/* Places a tensor at *offset, from the start of the data, and moves that to its end; false: beyond
 * 64 bits. *aligned: whether it and those before are at multiples of their element sizes. */
static bool place(const struct dti_new_source *source, size_t at,
                  const struct dti_new_tensor *tensor, uint64_t *offset, bool *aligned)
{
    const unsigned element = (dti_safetensors_bits(tensor->format) + 7) / 8;
    source->set(source->context, at, tensor->bytes, *offset);
    *aligned = *aligned && (tensor->bytes == 0 || *offset % element == 0);
    return dti_add_u64(*offset, tensor->bytes, offset);
}

/* The same for all, once they are sorted. */
static enum dti_status place_all(const struct dti_new_source *source, uint64_t *ret_size,
                                 bool *ret_aligned, struct dti_error *reterr)
{
    *ret_size = 0;
    *ret_aligned = true;
    for (size_t i = 0; i < source->count; i++) {
        const struct dti_new_tensor tensor = tensor_of(source, i);
        if (!place(source, i, &tensor, ret_size, ret_aligned))
            return fail_end(&tensor, reterr);
    }
    return DTI_OK;
}

/* By descending element size, then in the given order, which is temporarily in `offset`. */
static int compare(const void *a, const void *b)
{
    const struct dti_new_tensor *const left = a, *const right = b;
    const unsigned left_bits = dti_safetensors_bits(left->format);
    const unsigned right_bits = dti_safetensors_bits(right->format);
    if (left_bits != right_bits)
        return left_bits > right_bits ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static enum dti_status append_metadata(struct dti_buffer *out, const struct dti_metadata *metadata,
                                       size_t count, struct dti_error *reterr)
{
    (void)dti_json_quoted(out, metadata_name, sizeof metadata_name - 1);
    dti_buffer_puts(out, ":{");
    for (size_t i = 0; i < count; i++) {
        char key[DTI_QUOTE_SIZE];
        dti_quote(key, metadata[i].key, metadata[i].key_length);
        if (metadata[i].kind != DTI_METADATA_STRING)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "metadata %s is not a string; safetensors holds only strings", key);
        dti_buffer_append(out, ",", i > 0);
        bool ok = dti_json_quoted(out, metadata[i].key, metadata[i].key_length);
        dti_buffer_append(out, ":", 1);
        ok = ok && dti_json_quoted(out, metadata[i].value, metadata[i].value_length);
        if (!ok)
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "metadata %s is not UTF-8, as safetensors requires", key);
    }
    dti_buffer_puts(out, "}");
    return DTI_OK;
}

static enum dti_status fail_name(const struct dti_new_tensor *tensor, struct dti_error *reterr)
{
    return fail_tensor(reterr, DTI_BAD_INPUT, tensor,
                       "has a name that is not UTF-8, as safetensors requires");
}

static char *put_text(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}
#define PUT(at, literal) put_text(at, literal, sizeof(literal) - 1)

/* start: where the data begin in the file, if the offset counts from its start. */
static enum dti_status append_tensor(struct dti_buffer *out, const struct dti_new_tensor *tensor,
                                     uint64_t start, struct dti_error *reterr)
{
    enum { FIXED = 64, NUMBER = 21 };
    const char *const type = dti_safetensors_name(tensor->format);
    if (!dti_json_quoted(out, tensor->name, tensor->name_length))
        return fail_name(tensor, reterr);
    if (!dti_buffer_reserve(out, FIXED + NUMBER * ((size_t)tensor->rank + 2)))
        return DTI_OK; /* out->failed */
    char *at = PUT(out->data + out->length, ":" DTI_SAFETENSORS_DTYPE);
    at = put_text(at, type, strlen(type));
    at = PUT(at, DTI_SAFETENSORS_SHAPE);
    for (unsigned i = 0; i < tensor->rank; i++) {
        at = put_text(at, ",", i > 0);
        at += dti_spell_u64(at, tensor->shape[i]);
    }
    at = PUT(at, DTI_SAFETENSORS_OFFSETS);
    at += dti_spell_u64(at, tensor->offset - start);
    at = PUT(at, ",");
    at += dti_spell_u64(at, tensor->offset - start + tensor->bytes);
    at = PUT(at, DTI_SAFETENSORS_END);
    *at = '\0';
    out->length = (size_t)(at - out->data);
    return DTI_OK;
}

/* Reserves approximately enough room, to avoid repeated copies of a long header. */
static void reserve_header(struct dti_buffer *out, const struct dti_new_source *source)
{
    enum { ENTRY = 96, DIMENSION = 8, MOST = DTI_SAFETENSORS_HEADER_MAX };
    size_t bytes = 0;
    for (size_t i = 0; i < source->count && bytes < MOST; i++) {
        const struct dti_new_tensor tensor = tensor_of(source, i);
        bytes += tensor.name_length + ENTRY + tensor.rank * DIMENSION;
    }
    if (bytes < MOST)
        dti_buffer_reserve(out, bytes);
}

/* An item of the rest of a head: the entry of a tensor. */
static void put_entry(const struct dti_new_head *head, size_t at, struct dti_buffer *out)
{
    enum { EMPTY = DTI_SAFETENSORS_PREFIX + 1 };
    const struct dti_new_tensor tensor = tensor_of(&head->rest.source, at);
    dti_buffer_append(out, ",", at > 0 || head->text.length > EMPTY);
    (void)append_tensor(out, &tensor, head->text.length + head->rest.bytes, NULL);
}

static size_t digits_of(uint64_t number)
{
    size_t digits = 1;
    for (uint64_t bound = 10; number >= bound; bound *= 10) {
        digits++;
        if (bound > UINT64_MAX / 10)
            break;
    }
    return digits;
}

/* What append_tensor() appends, in bytes. `name` holds its quoted name. */
static enum dti_status measure_entry(struct dti_buffer *name, const struct dti_new_tensor *tensor,
                                     uint64_t *bytes, struct dti_error *reterr)
{
    enum {
        FIXED = sizeof(":" DTI_SAFETENSORS_DTYPE DTI_SAFETENSORS_SHAPE DTI_SAFETENSORS_OFFSETS
                       "," DTI_SAFETENSORS_END) -
                1
    };
    dti_buffer_clear(name);
    if (!dti_json_quoted(name, tensor->name, tensor->name_length))
        return fail_name(tensor, reterr);
    if (name->failed)
        return dti_no_memory(reterr);
    size_t size = name->length + FIXED + strlen(dti_safetensors_name(tensor->format));
    for (unsigned i = 0; i < tensor->rank; i++)
        size += (i > 0) + digits_of(tensor->shape[i]);
    *bytes += size + digits_of(tensor->offset) + digits_of(tensor->offset + tensor->bytes);
    return DTI_OK;
}

/* Leaves the entries to the rest of the head. */
static enum dti_status measure_entries(struct dti_new_head *head,
                                       const struct dti_new_source *source, bool follows,
                                       struct dti_error *reterr)
{
    struct dti_buffer name;
    enum dti_status status = DTI_OK;
    head->rest = (struct dti_head_rest){.put = put_entry, .source = *source, .bytes = 0};
    dti_buffer_init(&name);
    for (size_t i = 0; status == DTI_OK && i < source->count; i++) {
        const struct dti_new_tensor tensor = tensor_of(source, i);
        head->rest.bytes += i > 0 || follows;
        status = measure_entry(&name, &tensor, &head->rest.bytes, reterr);
    }
    dti_buffer_free(&name);
    return status;
}

/* Appends the header: prefix, JSON, spaces. */
static enum dti_status append_header(struct dti_new_head *head, const struct dti_new_source *source,
                                     const struct dti_metadata *metadata, size_t metadata_count,
                                     struct dti_error *reterr)
{
    struct dti_buffer *const out = &head->text;
    const size_t start = out->length;
    const bool follows = metadata_count > 0;
    enum dti_status status = DTI_OK;
    if (!head->waits)
        reserve_header(out, source);
    dti_buffer_fill(out, '\0', DTI_SAFETENSORS_PREFIX);
    dti_buffer_append(out, "{", 1);
    if (follows)
        status = append_metadata(out, metadata, metadata_count, reterr);
    if (status == DTI_OK && head->waits)
        status = measure_entries(head, source, follows, reterr);
    for (size_t i = 0; status == DTI_OK && i < source->count && !head->waits; i++) {
        const struct dti_new_tensor tensor = tensor_of(source, i);
        dti_buffer_append(out, ",", i > 0 || follows);
        status = append_tensor(out, &tensor, 0, reterr);
    }
    if (status != DTI_OK)
        return status;
    const uint64_t rough = out->length - start - DTI_SAFETENSORS_PREFIX + head->rest.bytes + 1;
    const uint64_t length = (rough + 7) / 8 * 8;
    const int blanks = (int)(length - rough);
    if (head->waits) {
        (void)snprintf(head->rest.end, sizeof head->rest.end, "}%*s", blanks, "");
        head->rest.bytes += 1 + (uint64_t)blanks;
    } else {
        dti_buffer_append(out, "}", 1);
        dti_buffer_fill(out, ' ', (size_t)blanks);
    }
    if (out->failed)
        return dti_no_memory(reterr);
    if (length > DTI_SAFETENSORS_HEADER_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "the header would have %" PRIu64 " bytes; safetensors allows %d: write a "
                        "folder with a maximum shard size",
                        length, (int)DTI_SAFETENSORS_HEADER_MAX);
    dti_little_put((unsigned char *)out->data + start, DTI_SAFETENSORS_PREFIX, length);
    return DTI_OK;
}

/* Checks names, and sets bytes and offsets; *ret_bytes: those of the data. */
static enum dti_status begin(const struct dti_new_source *source,
                             const struct dti_metadata *metadata, size_t metadata_count,
                             uint64_t *ret_bytes, bool *ret_aligned, struct dti_error *reterr)
{
    enum dti_status status = check_names(metadata, metadata_count,
                                         DTI_NAMED(struct dti_metadata, key), "metadata", reterr);
    if (status == DTI_OK)
        status = check_names(source->items, source->count, source->named, "tensor", reterr);
    size_t beyond = SIZE_MAX; /* given only if all can be measured */
    *ret_bytes = 0;
    *ret_aligned = true;
    for (size_t i = 0; status == DTI_OK && i < source->count; i++) {
        struct dti_new_tensor tensor = tensor_of(source, i);
        status = measure(&tensor, reterr);
        if (status == DTI_OK && beyond == SIZE_MAX &&
            !place(source, i, &tensor, ret_bytes, ret_aligned))
            beyond = i;
    }
    if (status != DTI_OK || beyond == SIZE_MAX)
        return status;
    const struct dti_new_tensor last = tensor_of(source, beyond);
    return fail_end(&last, reterr);
}

/* Makes the head, and lets offsets count from the start of the file. */
static enum dti_status end(const struct dti_new_source *source, const struct dti_metadata *metadata,
                           size_t metadata_count, uint64_t data_bytes,
                           struct dti_new_head *ret_head, uint64_t *ret_size,
                           struct dti_error *reterr)
{
    const size_t start = ret_head->text.length;
    uint64_t size;
    const enum dti_status status =
        append_header(ret_head, source, metadata, metadata_count, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t head_bytes = ret_head->text.length - start + ret_head->rest.bytes;
    if (!dti_add_u64(head_bytes, data_bytes, &size))
        return dti_fail(reterr, DTI_BAD_INPUT, "the size of the file would exceed 64 bits");
    source->shift(source->context, source->count, head_bytes);
    *ret_size = size;
    return DTI_OK;
}

enum dti_status dti_safetensors_layout_each(const struct dti_new_source *source,
                                            const struct dti_metadata *metadata,
                                            size_t metadata_count, struct dti_new_head *ret_head,
                                            uint64_t *ret_size, bool *ret_aligned,
                                            struct dti_error *reterr)
{
    uint64_t bytes = 0;
    *ret_aligned = true;
    const enum dti_status status =
        begin(source, metadata, metadata_count, &bytes, ret_aligned, reterr);
    return status == DTI_OK && *ret_aligned
               ? end(source, metadata, metadata_count, bytes, ret_head, ret_size, reterr)
               : status;
}

enum dti_status dti_safetensors_layout(struct dti_new_tensor *tensors, size_t count,
                                       const struct dti_metadata *metadata, size_t metadata_count,
                                       struct dti_new_head *ret_head, uint64_t *ret_size,
                                       struct dti_error *reterr)
{
    const struct dti_new_source source = dti_new_source_of(tensors, count);
    uint64_t bytes = 0;
    bool aligned = true;
    enum dti_status status = begin(&source, metadata, metadata_count, &bytes, &aligned, reterr);
    if (status == DTI_OK && !aligned) {
        for (size_t i = 0; i < count; i++)
            tensors[i].offset = i;
        qsort(tensors, count, sizeof *tensors, compare);
        status = place_all(&source, &bytes, &aligned, reterr);
        assert(status != DTI_OK || aligned); /* sizes are powers of two, larger ones come first */
    }
    return status == DTI_OK
               ? end(&source, metadata, metadata_count, bytes, ret_head, ret_size, reterr)
               : status;
}
