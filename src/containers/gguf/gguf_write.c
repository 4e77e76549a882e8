/* SPDX-License-Identifier: MIT
 *
 * Writes GGUF version 3. The key-values of the source are copied byte for byte, except those about
 * types and about split files. Blocks are written under the name of their type. */
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/gguf/gguf.h"
#include "core/dtype/gguf_type.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum { VERSION = 3, TYPE_UINT16 = 2, TYPE_UINT32 = 4, TYPE_INT32 = 5 };
enum { PAIRS_MAX = 100000000 /* bytes; a vocabulary of a million words has 30 MB */ };

static void put(struct dti_buffer *out, size_t size, uint64_t value)
{
    unsigned char bytes[8];
    dti_little_put(bytes, size, value);
    dti_buffer_append(out, (const char *)bytes, size);
}

static void put_key(struct dti_buffer *text, const char *key, unsigned type)
{
    put(text, 8, strlen(key));
    dti_buffer_puts(text, key);
    put(text, 4, type);
}

/* Formats that stand for the bytes of ggml's blocks: only the name of the type is set. */
static const struct dti_format blocks[DTI_GGUF_BLOCKS_COUNT] = {
#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(number, spelling, word, ...) \
    {.name = #word, .id = DTI_NONE, .kind = DTI_KIND_UINT, .width = 8},
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS
#undef GGUF_DTYPE
};

const struct dti_format *dti_gguf_blocks(const struct dti_gguf_type *type)
{
    return type && type->dtype == DTI_NONE ? &blocks[type->blocks] : NULL;
}

/* The type that stores a format; NULL: there is none. */
static const struct dti_gguf_type *type_written(const struct dti_format *format)
{
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++) {
        if (format == &blocks[i])
            return dti_gguf_type_of((enum dti_gguf_blocks)i);
    }
    return dti_gguf_type_storing(format->id);
}

bool dti_gguf_stores(const struct dti_format *format, struct dti_layout *ret_layout)
{
    if (!type_written(format))
        return false;
    *ret_layout = dti_file_layout(format, DTI_PACKING_LOW, false);
    return true;
}

/* Key-values that summarize the types of all tensors. They come from a file with other types and
 * are updated: general.file_type in place if present; general.quantization_version is added if
 * tensors were encoded. */

enum { QUANTIZATION_VERSION = 2 }; /* GGML_QNT_VERSION of ggml.h */
static const char file_type_key[] = "general.file_type";
static const char version_key[] = "general.quantization_version";

/* enum llama_ftype of llama.h plus one, by ggml type id; 0: none. Mixtures with several numbers (S,
 * M, L) use the most common, M: llama.cpp only displays this number, and loads all of them alike.
 */
static const unsigned char file_types[] = {
    [0] = 1 + 0,   [1] = 1 + 1,   [2] = 1 + 2,   [3] = 1 + 3,   [6] = 1 + 8,   [7] = 1 + 9,
    [8] = 1 + 7,   [10] = 1 + 10, [11] = 1 + 12, [12] = 1 + 15, [13] = 1 + 17, [14] = 1 + 18,
    [16] = 1 + 19, [17] = 1 + 20, [18] = 1 + 23, [19] = 1 + 24, [20] = 1 + 25, [21] = 1 + 26,
    [22] = 1 + 28, [23] = 1 + 30, [29] = 1 + 31, [30] = 1 + 32, [34] = 1 + 36, [35] = 1 + 37,
    [39] = 1 + 38, [40] = 1 + 39, [41] = 1 + 40, [42] = 1 + 41,
};
enum { TYPES = sizeof file_types / sizeof *file_types };

/* Tensor bytes by type. */
struct census {
    uint64_t bytes[TYPES];
    bool blocks[TYPES];
};

static void count_tensor(struct census *census, const struct dti_gguf_type *type, uint64_t bytes)
{
    if (!type || type->id >= TYPES)
        return;
    census->blocks[type->id] = type->dtype == DTI_NONE;
    if (census->bytes[type->id] <= UINT64_MAX - bytes) /* a file has fewer */
        census->bytes[type->id] += bytes;
}

/* The file type with most bytes among block types, or among floats if there are no blocks; -1: no
 * number. */
static int find_file_type(const struct census *census)
{
    size_t most = 0;
    for (size_t i = 1; i < TYPES; i++) {
        const bool more = census->bytes[i] > census->bytes[most];
        if (census->bytes[i] > 0 && file_types[i] > 0 &&
            (census->blocks[i] == census->blocks[most] ? more : census->blocks[i]))
            most = i;
    }
    return census->bytes[most] > 0 ? file_types[most] - 1 : -1;
}

static int file_type_there(const struct dti_container *container)
{
    struct census census = {.bytes = {0}};
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        const struct dti_gguf_type *type = dti_tensor_gguf(tensor);
        if (!type && tensor->format)
            type = dti_gguf_type_storing(tensor->format->id);
        count_tensor(&census, type, tensor->bytes);
    }
    return find_file_type(&census);
}

static int file_type_written(const struct dti_new_tensor *tensors, size_t count)
{
    struct census census = {.bytes = {0}};
    for (size_t i = 0; i < count; i++)
        count_tensor(&census, type_written(tensors[i].format), tensors[i].bytes);
    return find_file_type(&census);
}

/* Whether general.quantization_version is missing although some tensors are encoded. */
static bool adds_version(const struct dti_new_head *head)
{
    return head->encodes && !head->from->pairs.has_version && head->part.no == 0;
}

/* Sets general.file_type at offset `at` of the head's text (0: not present), once the tensors'
 * bytes are known. It stays unchanged if the new types need the same number as those of the source
 * file. */
static void set_file_type(struct dti_new_head *head, size_t at,
                          const struct dti_new_tensor *tensors, size_t count)
{
    const struct dti_pairs *const pairs = &head->from->pairs;
    const int now = at > 0 ? file_type_written(tensors, count) : -1;
    if (now < 0 || (uint32_t)now == pairs->file_type || now == file_type_there(head->from))
        return;
    dti_little_put((unsigned char *)head->text.data + at, sizeof pairs->file_type, (uint32_t)now);
    head->changes[head->change_count++] =
        (struct dti_head_change){.key = file_type_key,
                                 .added = pairs->new_file_type,
                                 .from = pairs->new_file_type ? 0 : pairs->file_type,
                                 .to = (uint32_t)now};
}

static void add_version(struct dti_new_head *head)
{
    if (!adds_version(head))
        return;
    put_key(&head->text, version_key, TYPE_UINT32);
    put(&head->text, 4, QUANTIZATION_VERSION);
    head->changes[head->change_count++] =
        (struct dti_head_change){.key = version_key, .added = true, .to = QUANTIZATION_VERSION};
}

/* Sets bytes; false: overflow. */
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

/* Appends a tensor's description; *at, the offset of its data from the first tensor's, advances. */
static enum dti_status add_tensor(struct dti_buffer *text, struct dti_new_tensor *tensor,
                                  uint64_t alignment, uint64_t *at, struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    const struct dti_gguf_type *const type = type_written(tensor->format);
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

/* Removes the split keys of a source that was split. *file_type_at, an offset in the text, is
 * adjusted. */
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

/* Copies the source's key-values. *ret_file_type_at: offset of the file type in the text, or 0. */
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

/* For a part: adds its split keys. Only the first part has the other key-values, but each has its
 * data alignment. */
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
    return count + from->pairs.count + adds_version(head);
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

/* Data follow the head; their padding consists of holes in the file, except for a final byte that
 * is written. */
static enum dti_status finish(struct dti_new_head *head, struct dti_new_tensor *tensors,
                              size_t count, uint64_t alignment, uint64_t data_bytes,
                              uint64_t *ret_size, struct dti_error *reterr)
{
    uint64_t start = head->text.length, size;
    if (head->text.failed)
        return dti_no_memory(reterr);
    /* a part without tensors is also padded, as gguf-split does */
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
    head->pieces = dti_calloc(2, sizeof *head->pieces);
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
        add_version(ret_head);
        add_split(text, ret_head);
    }
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = add_tensor(text, &tensors[i], from->pairs.alignment, &at, reterr);
    if (status == DTI_OK && !text->failed)
        set_file_type(ret_head, file_type_at,
                      ret_head->part.count > 0 ? ret_head->part.tensors : tensors,
                      ret_head->part.count > 0 ? ret_head->part.tensor_count : count);
    return status == DTI_OK
               ? finish(ret_head, tensors, count, from->pairs.alignment, at, ret_size, reterr)
               : status;
}
