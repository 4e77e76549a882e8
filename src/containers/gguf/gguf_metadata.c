/* SPDX-License-Identifier: MIT
 *
 * The header of a GGUF file as a stream, in memory independent of its size: a length is accepted
 * only if the rest of the file is long enough. Also the key-values; of an array, such as a
 * vocabulary of a hundred thousand words, only the first elements are kept. */
#include <inttypes.h>
#include <string.h>

#include "containers/gguf/gguf.h"
#include "containers/json_quoted.h"
#include "core/code/scalar.h"
#include "util/checked.h"
#include "util/text/ascii.h"

/* Fails unless `size` bytes are left. */
static bool expect(const struct dti_gguf_stream *stream, uint64_t size)
{
    return size <= dti_gguf_left(stream) ||
           dti_opening_refuse(stream->opening,
                              ": truncated: the header needs %" PRIu64 " bytes from byte %" PRIu64
                              " on, the file has %" PRIu64,
                              size, dti_gguf_at(stream), stream->opening->file->input.size);
}

/* Fills the buffer from the stream's position. */
static bool refill(struct dti_gguf_stream *stream)
{
    const uint64_t at = dti_gguf_at(stream), left = dti_gguf_left(stream);
    const size_t size = left < sizeof stream->buffer ? (size_t)left : sizeof stream->buffer;
    if (!dti_opening_read(stream->opening, stream->buffer, size, at))
        return false;
    stream->buffer_at = at;
    stream->have = size;
    stream->next = 0;
    return true;
}

bool dti_gguf_bytes(struct dti_gguf_stream *stream, void *ret, size_t size)
{
    unsigned char *to = ret;
    if (!expect(stream, size))
        return false;
    while (size > 0) {
        if (stream->next == stream->have && !refill(stream))
            return false;
        const size_t there = stream->have - stream->next;
        const size_t part = size < there ? size : there;
        memcpy(to, stream->buffer + stream->next, part);
        stream->next += part;
        to += part;
        size -= part;
    }
    return true;
}

static bool skip(struct dti_gguf_stream *stream, uint64_t size)
{
    if (!expect(stream, size))
        return false;
    if (size <= stream->have - stream->next) {
        stream->next += (size_t)size;
    } else {
        stream->buffer_at = dti_gguf_at(stream) + size;
        stream->have = stream->next = 0;
    }
    return true;
}

bool dti_gguf_number(struct dti_gguf_stream *stream, size_t size, uint64_t *ret)
{
    unsigned char bytes[8];
    if (!dti_gguf_bytes(stream, bytes, size))
        return false;
    *ret = 0;
    for (size_t i = 0; i < size; i++)
        *ret = *ret << 8 | bytes[stream->big_endian ? i : size - 1 - i];
    return true;
}

/* Reads the length of a string and checks that the file is long enough. */
static bool read_length(struct dti_gguf_stream *stream, uint64_t *ret)
{
    if (!dti_gguf_number(stream, 8, ret))
        return false;
    const uint64_t left = dti_gguf_left(stream);
    if (*ret <= left && *ret <= DTI_GGUF_LENGTH_MAX)
        return true;
    return dti_opening_refuse(
        stream->opening, ": a string at byte %" PRIu64 " has %" PRIu64 " bytes, and %s %" PRIu64,
        dti_gguf_at(stream) - 8, *ret, *ret > left ? "the rest of the file" : "the limit is",
        *ret > left ? left : DTI_GGUF_LENGTH_MAX);
}

bool dti_gguf_string(struct dti_gguf_stream *stream, const char **ret, size_t *ret_length)
{
    uint64_t length;
    if (!read_length(stream, &length))
        return false;
    char *const text = dti_opening_array(stream->opening, (size_t)length + 1, 1);
    if (!text || !dti_gguf_bytes(stream, text, (size_t)length))
        return false;
    text[length] = '\0';
    *ret = text;
    *ret_length = (size_t)length;
    return true;
}

enum {
    TYPE_BOOL = 7,
    TYPE_STRING = 8,
    TYPE_ARRAY = 9,
    TYPE_UINT16 = 2,
    TYPE_UINT32 = 4,
    TYPE_INT32 = 5,
    ARRAY_DEPTH = 8,          /* ggml itself accepts no nested arrays */
    ARRAY_SHOWN = 8,          /* elements */
    ARRAY_TEXT = 1 << 14,     /* bytes of text after which no more elements are shown */
    STRING_KEPT = 1 << 20,    /* bytes; longer strings are truncated */
    PAIR_MIN = 8 + 1 + 4 + 1, /* bytes of the smallest key-value */
};

/* dtype: how numbers are formatted; unused for strings and arrays. */
static const struct value_type {
    const char *name, *array_name;
    unsigned bytes; /* minimum in the file */
    enum dti_dtype dtype;
} value_types[] = {
    {"uint8", "array of uint8", 1, DTI_UINT8},    {"int8", "array of int8", 1, DTI_INT8},
    {"uint16", "array of uint16", 2, DTI_UINT16}, {"int16", "array of int16", 2, DTI_INT16},
    {"uint32", "array of uint32", 4, DTI_UINT32}, {"int32", "array of int32", 4, DTI_INT32},
    {"float32", "array of float32", 4, DTI_FP32}, {"bool", "array of bool", 1, DTI_BOOL},
    {"string", "array of string", 8, DTI_NONE},   {"array", "array of arrays", 12, DTI_NONE},
    {"uint64", "array of uint64", 8, DTI_UINT64}, {"int64", "array of int64", 8, DTI_INT64},
    {"float64", "array of float64", 8, DTI_FP64},
};
enum { VALUE_TYPES = sizeof value_types / sizeof *value_types };

/* The key-value being read. */
struct metadata_pair {
    struct dti_gguf_stream *stream;
    const char *key;
    size_t key_length;
    struct dti_buffer *text; /* for arrays */
    struct dti_gguf_part *part;
};

static bool fail_pair(const struct metadata_pair *pair, const char *problem, uint64_t number)
{
    const struct dti_subject key = {"key", pair->key, pair->key_length, .argument = true};
    return dti_opening_refuse_of(pair->stream->opening, key, ": %s %" PRIu64, problem, number);
}

static bool read_type(struct metadata_pair *pair, uint64_t *ret_type)
{
    if (!dti_gguf_number(pair->stream, 4, ret_type))
        return false;
    return *ret_type < VALUE_TYPES || fail_pair(pair, "unknown value type", *ret_type);
}

/* Appends a number as a JSON token. */
static bool read_number(struct metadata_pair *pair, uint64_t type, uint64_t *ret_code)
{
    struct dti_buffer *const text = pair->text;
    if (!dti_gguf_number(pair->stream, value_types[type].bytes, ret_code))
        return false;
    if (type == TYPE_BOOL) {
        dti_buffer_puts(text, *ret_code != 0 ? "true" : "false");
        return true;
    }
    const struct dti_format *const format = dti_format_get(value_types[type].dtype);
    struct dti_value value;
    char spelled[DTI_TEXT_SIZE];
    dti_decode(format, *ret_code, &value);
    const size_t length = dti_spell_stored(spelled, format, *ret_code, &value);
    const bool is_number = value.kind == DTI_CLASS_FINITE || value.kind == DTI_CLASS_ZERO;
    dti_buffer_puts(text, is_number ? "" : "\"");
    dti_buffer_append(text, spelled, length);
    dti_buffer_puts(text, is_number ? "" : "\"");
    return true;
}

/* An array being read, possibly nested in others. */
struct array_level {
    uint64_t type, count, done;
    bool open;  /* its opening bracket has been written */
    bool shown; /* its next element is shown */
};

static bool open_level(struct metadata_pair *pair, struct array_level *level, bool shown)
{
    uint64_t type, count, bytes;
    if (!read_type(pair, &type) || !dti_gguf_number(pair->stream, 8, &count))
        return false;
    if (count > DTI_GGUF_LENGTH_MAX)
        return fail_pair(pair, "array longer than the limit of 1073741824 elements:", count);
    if (!dti_mul_u64(count, value_types[type].bytes, &bytes) || bytes > dti_gguf_left(pair->stream))
        return fail_pair(pair, "the file is too short for an array of length", count);
    *level = (struct array_level){.type = type, .count = count, .open = shown, .shown = shown};
    if (shown)
        dti_buffer_puts(pair->text, "[");
    return true;
}

/* Reads the numbers to be shown one by one, and skips the rest at once. */
static bool read_numbers(struct metadata_pair *pair, struct array_level *level)
{
    if (level->shown && level->done < ARRAY_SHOWN) {
        uint64_t code;
        dti_buffer_puts(pair->text, level->done > 0 ? "," : "");
        level->done++;
        return read_number(pair, level->type, &code);
    }
    const uint64_t left = level->count - level->done;
    level->done = level->count;
    return skip(pair->stream, left * value_types[level->type].bytes);
}

static bool read_string(struct metadata_pair *pair, struct array_level *level)
{
    char kept[ARRAY_TEXT];
    uint64_t length;
    if (!read_length(pair->stream, &length))
        return false;
    level->shown = level->shown && level->done < ARRAY_SHOWN && length <= sizeof kept &&
                   pair->text->length < ARRAY_TEXT;
    const bool first = level->done++ == 0;
    if (!level->shown)
        return skip(pair->stream, length);
    if (!dti_gguf_bytes(pair->stream, kept, (size_t)length))
        return false;
    dti_buffer_puts(pair->text, first ? "" : ",");
    (void)dti_json_quoted(pair->text, kept, (size_t)length);
    return true;
}

/* Descends into an element that is an array. */
static bool read_inner(struct metadata_pair *pair, struct array_level *level, bool has_room)
{
    if (!has_room)
        return fail_pair(pair, "arrays nested deeper than", ARRAY_DEPTH);
    level->shown = level->shown && level->done < ARRAY_SHOWN && pair->text->length < ARRAY_TEXT;
    if (level->shown)
        dti_buffer_puts(pair->text, level->done > 0 ? "," : "");
    level->done++;
    return open_level(pair, level + 1, level->shown);
}

/* Writes the elements of an array to pair->text; nested arrays use `levels` as a stack. */
static bool read_array(struct metadata_pair *pair, const char **ret_type, uint64_t *ret_count)
{
    struct array_level levels[ARRAY_DEPTH];
    if (!open_level(pair, &levels[0], true))
        return false;
    *ret_type = value_types[levels[0].type].array_name;
    *ret_count = levels[0].count;
    bool good = true;
    for (size_t depth = 1; depth > 0 && good;) {
        struct array_level *const level = &levels[depth - 1];
        if (level->done == level->count) {
            dti_buffer_puts(pair->text, level->open ? "]" : "");
            depth--;
        } else if (level->type == TYPE_STRING) {
            good = read_string(pair, level);
        } else if (level->type != TYPE_ARRAY) {
            good = read_numbers(pair, level);
        } else {
            good = read_inner(pair, level, depth < ARRAY_DEPTH);
            depth++;
        }
    }
    return good;
}

/* Length of text truncated to `limit` bytes, at a UTF-8 boundary. */
static size_t cut(const char *text, size_t limit)
{
    size_t length = limit;
    while (length > 0 && limit - length < 3 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* Reads a string value; a long one is truncated, with a note. */
static bool read_text(struct metadata_pair *pair, struct dti_metadata *ret)
{
    struct dti_opening *const opening = pair->stream->opening;
    uint64_t length;
    if (!read_length(pair->stream, &length))
        return false;
    const size_t kept = length < STRING_KEPT ? (size_t)length : STRING_KEPT;
    char *const text = dti_opening_array(opening, kept + 1, 1);
    if (!text || !dti_gguf_bytes(pair->stream, text, kept) || !skip(pair->stream, length - kept))
        return false;
    ret->kind = DTI_METADATA_STRING;
    ret->value = text;
    ret->value_length = kept == length ? kept : cut(text, kept - 1);
    text[ret->value_length] = '\0';
    char key[DTI_QUOTE_SIZE];
    return kept == length ||
           dti_opening_note(opening, "metadata_cut",
                            "the value of key %s is truncated: it has %" PRIu64 " bytes",
                            dti_quote(key, pair->key, pair->key_length), length);
}

static bool check_alignment(const struct metadata_pair *pair, uint64_t type, uint64_t alignment)
{
    if (type != TYPE_UINT32)
        return fail_pair(pair, "its type must be 4 (uint32), not", type);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return fail_pair(pair, "it must be a power of two, not", alignment);
    return true;
}

/* The types that all readers of split files require. */
static bool check_split(const struct metadata_pair *pair, uint64_t type, uint64_t code)
{
    const enum dti_gguf_split_key key = dti_gguf_split_key(pair->key, pair->key_length);
    if (key == DTI_GGUF_SPLIT_KEYS)
        return true;
    const bool tensors = key == DTI_GGUF_SPLIT_TENSORS;
    if (type != (tensors ? TYPE_INT32 : TYPE_UINT16))
        return fail_pair(
            pair, tensors ? "its type must be 5 (int32), not" : "its type must be 2 (uint16), not",
            type);
    const int64_t number =
        tensors && code > INT32_MAX ? (int64_t)code - (INT64_C(1) << 32) : (int64_t)code;
    pair->part->split[key] = (struct dti_gguf_split_value){.there = true, .number = number};
    return true;
}

/* Records what a writer may have to change. */
static void note_types(const struct metadata_pair *pair, uint64_t type, uint64_t code)
{
    struct dti_pairs *const pairs = &pair->part->pairs;
    if (dti_text_is(pair->key, pair->key_length, "general.quantization_version"))
        pairs->has_version = true;
    if (type == TYPE_UINT32 && dti_text_is(pair->key, pair->key_length, "general.file_type")) {
        pairs->file_type_at = dti_gguf_at(pair->stream) - sizeof pairs->file_type - pairs->offset;
        pairs->file_type = (uint32_t)code;
    }
}

static bool read_pair(struct metadata_pair *pair, struct dti_metadata *ret)
{
    struct dti_opening *const opening = pair->stream->opening;
    const uint64_t at = dti_gguf_at(pair->stream);
    uint64_t type, code = 0;
    if (!dti_gguf_string(pair->stream, &pair->key, &pair->key_length))
        return false;
    if (pair->key_length == 0)
        return dti_opening_refuse(opening, ": the key before byte %" PRIu64 " is empty",
                                  dti_gguf_at(pair->stream));
    if (!read_type(pair, &type))
        return false;
    *ret = (struct dti_metadata){
        .key = pair->key,
        .key_length = pair->key_length,
        .kind = type == TYPE_ARRAY ? DTI_METADATA_ARRAY : DTI_METADATA_TOKEN,
        .type = value_types[type].name,
        .count = 1,
        .offset = at,
    };
    dti_buffer_clear(pair->text);
    if (!(type == TYPE_STRING  ? read_text(pair, ret)
          : type == TYPE_ARRAY ? read_array(pair, &ret->type, &ret->count)
                               : read_number(pair, type, &code)))
        return false;
    ret->bytes = dti_gguf_at(pair->stream) - at;
    if (dti_text_is(pair->key, pair->key_length, "general.alignment")) {
        if (!check_alignment(pair, type, code))
            return false;
        pair->part->pairs.alignment = code;
    }
    if (!check_split(pair, type, code))
        return false;
    note_types(pair, type, code);
    if (type == TYPE_STRING)
        return true;
    if (pair->text->failed)
        return dti_opening_no_memory(opening);
    ret->value_length = pair->text->length;
    ret->value = dti_opening_text(opening, pair->text->data, pair->text->length);
    return ret->value != NULL;
}

bool dti_gguf_metadata(struct dti_gguf_stream *stream, uint64_t count, struct dti_gguf_part *part)
{
    if (count > dti_gguf_left(stream) / PAIR_MIN)
        return dti_opening_refuse(stream->opening,
                                  ": %" PRIu64 " key-values do not fit into the %" PRIu64
                                  " bytes that remain",
                                  count, dti_gguf_left(stream));
    struct dti_buffer text;
    struct metadata_pair pair = {.stream = stream, .text = &text, .part = part};
    bool good = true;
    dti_buffer_init(&text);
    part->pairs = (struct dti_pairs){.offset = dti_gguf_at(stream),
                                     .count = count,
                                     .alignment = DTI_GGUF_ALIGNMENT,
                                     .big_endian = stream->big_endian};
    for (size_t i = 0; i < count && good; i++) {
        struct dti_metadata *const entry = dti_opening_metadata(stream->opening);
        good = entry && read_pair(&pair, entry);
    }
    dti_buffer_free(&text);
    part->pairs.bytes = dti_gguf_at(stream) - part->pairs.offset;
    struct dti_opening *const opening = stream->opening;
    return good && dti_opening_check_names(
                       opening, dti_opening_metadata_from(opening, part->first_metadata),
                       opening->container->metadata_count - part->first_metadata,
                       DTI_NAMED(struct dti_metadata, key),
                       (struct dti_subject){.what = "the key", .argument = true}, " occurs twice");
}
