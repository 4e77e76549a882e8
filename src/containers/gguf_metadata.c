/* SPDX-License-Identifier: MIT
 *
 * The key-values of a GGUF file. Of arrays, such as a vocabulary of a hundred thousand words, the
 * first elements are kept. */
#include <stdio.h>
#include <string.h>

#include "containers/gguf.h"
#include "containers/json_quoted.h"
#include "containers/name_order.h"
#include "dtinfo/checked.h"
#include "dtinfo/scalar.h"

enum {
    TYPE_BOOL = 7,
    TYPE_STRING = 8,
    TYPE_ARRAY = 9,
    TYPE_UINT32 = 4,
    ARRAY_DEPTH = 8,          /* ggml itself takes no arrays of arrays */
    ARRAY_SHOWN = 8,          /* elements */
    ARRAY_TEXT = 1 << 14,     /* bytes of text after which no more elements are shown */
    STRING_KEPT = 1 << 20,    /* bytes; longer strings are cut */
    PAIR_MIN = 8 + 1 + 4 + 1, /* bytes of the smallest key-value */
};

/* dtype: what numbers are spelled as; of no meaning for strings and arrays. */
static const struct value_type {
    const char *name, *array_name;
    unsigned bytes; /* at least, in the file */
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

/* A key-value under way. */
struct metadata_pair {
    struct dti_gguf_stream *stream;
    struct dti_notes *notes;
    const char *key;
    size_t key_length;
    struct dti_buffer *text; /* of arrays */
};

static enum dti_status fail_pair(const struct metadata_pair *pair, const char *problem,
                                 uint64_t number, struct dti_error *reterr)
{
    char key[DTI_QUOTE_SIZE];
    dti_quote(key, pair->key, pair->key_length);
    dti_fail(reterr, DTI_BAD_INPUT, "%s: key %s: %s %llu", pair->stream->label, key, problem,
             (unsigned long long)number);
    dti_error_argument(reterr, pair->key, pair->key_length);
    return DTI_BAD_INPUT;
}

static enum dti_status read_type(struct metadata_pair *pair, uint64_t *ret_type,
                                 struct dti_error *reterr)
{
    uint64_t type = 0;
    const enum dti_status status = dti_gguf_number(pair->stream, 4, &type, reterr);
    if (status != DTI_OK)
        return status;
    if (type >= VALUE_TYPES)
        return fail_pair(pair, "there is no type", type, reterr);
    *ret_type = type;
    return DTI_OK;
}

/* Appends a number as a JSON token. */
static enum dti_status read_number(struct metadata_pair *pair, uint64_t type,
                                   struct dti_buffer *text, uint64_t *ret_code,
                                   struct dti_error *reterr)
{
    uint64_t code;
    const enum dti_status status =
        dti_gguf_number(pair->stream, value_types[type].bytes, &code, reterr);
    if (status != DTI_OK)
        return status;
    *ret_code = code;
    if (type == TYPE_BOOL) {
        dti_buffer_puts(text, code != 0 ? "true" : "false");
        return DTI_OK;
    }
    const struct dti_format *const format = dti_format_get(value_types[type].dtype);
    struct dti_value value;
    char spelled[DTI_TEXT_SIZE];
    dti_decode(format, code, &value);
    const size_t length = dti_spell_stored(spelled, format, code, &value);
    const bool is_number = value.class == DTI_CLASS_FINITE || value.class == DTI_CLASS_ZERO;
    dti_buffer_puts(text, is_number ? "" : "\"");
    dti_buffer_append(text, spelled, length);
    dti_buffer_puts(text, is_number ? "" : "\"");
    return DTI_OK;
}

/* An array that is being read, inside of others. */
struct array_level {
    uint64_t type, count, done;
    bool open;  /* its bracket is in the text */
    bool shown; /* its next element will be */
};

static enum dti_status open_level(struct metadata_pair *pair, struct array_level *level, bool shown,
                                  struct dti_error *reterr)
{
    uint64_t type = 0, count = 0, bytes = 0;
    enum dti_status status = read_type(pair, &type, reterr);
    if (status == DTI_OK)
        status = dti_gguf_number(pair->stream, 8, &count, reterr);
    if (status != DTI_OK)
        return status;
    if (count > DTI_GGUF_LENGTH_MAX)
        return fail_pair(pair, "an array may have 1073741824 elements, not", count, reterr);
    if (!dti_mul_u64(count, value_types[type].bytes, &bytes) || bytes > dti_gguf_left(pair->stream))
        return fail_pair(pair, "the file is too short for an array of length", count, reterr);
    *level = (struct array_level){.type = type, .count = count, .open = shown, .shown = shown};
    if (shown)
        dti_buffer_puts(pair->text, "[");
    return DTI_OK;
}

/* Numbers to be shown one by one, the rest at once. */
static enum dti_status read_numbers(struct metadata_pair *pair, struct array_level *level,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (level->shown && level->done < ARRAY_SHOWN) {
        uint64_t code;
        dti_buffer_puts(pair->text, level->done > 0 ? "," : "");
        status = read_number(pair, level->type, pair->text, &code, reterr);
        level->done++;
    } else {
        status = dti_gguf_skip(
            pair->stream, (level->count - level->done) * value_types[level->type].bytes, reterr);
        level->done = level->count;
    }
    return status;
}

static enum dti_status read_string(struct metadata_pair *pair, struct array_level *level,
                                   struct dti_error *reterr)
{
    char kept[ARRAY_TEXT];
    uint64_t length;
    enum dti_status status = dti_gguf_length(pair->stream, &length, reterr);
    if (status != DTI_OK)
        return status;
    level->shown = level->shown && level->done < ARRAY_SHOWN && length <= sizeof kept &&
                   pair->text->length < ARRAY_TEXT;
    if (!level->shown) {
        level->done++;
        return dti_gguf_skip(pair->stream, length, reterr);
    }
    status = dti_gguf_bytes(pair->stream, kept, (size_t)length, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_puts(pair->text, level->done > 0 ? "," : "");
    dti_json_quoted(pair->text, kept, (size_t)length);
    level->done++;
    return DTI_OK;
}

/* The elements of an array go to pair->text; arrays inside it have a place in `levels`. */
static enum dti_status read_array(struct metadata_pair *pair, const char **ret_type,
                                  uint64_t *ret_count, struct dti_error *reterr)
{
    struct array_level levels[ARRAY_DEPTH];
    dti_buffer_clear(pair->text);
    enum dti_status status = open_level(pair, &levels[0], true, reterr);
    if (status != DTI_OK)
        return status;
    *ret_type = value_types[levels[0].type].array_name;
    *ret_count = levels[0].count;
    for (size_t depth = 1; depth > 0 && status == DTI_OK;) {
        struct array_level *const level = &levels[depth - 1];
        if (level->done == level->count) {
            dti_buffer_puts(pair->text, level->open ? "]" : "");
            depth--;
        } else if (level->type == TYPE_STRING) {
            status = read_string(pair, level, reterr);
        } else if (level->type != TYPE_ARRAY) {
            status = read_numbers(pair, level, reterr);
        } else if (depth == ARRAY_DEPTH) {
            status = fail_pair(pair, "arrays within arrays, more than", ARRAY_DEPTH, reterr);
        } else {
            level->shown =
                level->shown && level->done < ARRAY_SHOWN && pair->text->length < ARRAY_TEXT;
            if (level->shown)
                dti_buffer_puts(pair->text, level->done > 0 ? "," : "");
            level->done++;
            status = open_level(pair, &levels[depth], level->shown, reterr);
            depth++;
        }
    }
    return status;
}

/* Length of text cut to `limit` bytes, not inside a UTF-8 sequence. */
static size_t cut(const char *text, size_t limit)
{
    size_t length = limit;
    while (length > 0 && limit - length < 3 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* A string value: all of it, or its beginning and a note. */
static enum dti_status read_text(struct metadata_pair *pair, struct dti_metadata *ret,
                                 struct dti_error *reterr)
{
    uint64_t length;
    enum dti_status status = dti_gguf_length(pair->stream, &length, reterr);
    if (status != DTI_OK)
        return status;
    const size_t kept = length < STRING_KEPT ? (size_t)length : STRING_KEPT;
    char *const text = dti_pool_alloc(pair->notes->pool, kept + 1);
    if (!text)
        return dti_no_memory(reterr);
    status = dti_gguf_bytes(pair->stream, text, kept, reterr);
    if (status == DTI_OK)
        status = dti_gguf_skip(pair->stream, length - kept, reterr);
    if (status != DTI_OK)
        return status;
    ret->kind = DTI_METADATA_STRING;
    ret->value = text;
    ret->value_length = kept == length ? kept : cut(text, kept - 1);
    text[ret->value_length] = '\0';
    if (kept == length)
        return DTI_OK;
    char key[DTI_QUOTE_SIZE], line[DTI_QUOTE_SIZE + 100];
    snprintf(line, sizeof line, "the text of key %s is cut: it has %llu bytes",
             dti_quote(key, pair->key, pair->key_length), (unsigned long long)length);
    return dti_notes_add(pair->notes, "metadata_cut", line) ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status check_alignment(const struct metadata_pair *pair, uint64_t type,
                                       uint64_t alignment, struct dti_error *reterr)
{
    if (type != TYPE_UINT32)
        return fail_pair(pair, "its type must be 4 (uint32), not", type, reterr);
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return fail_pair(pair, "it must be a power of two, not", alignment, reterr);
    return DTI_OK;
}

static enum dti_status read_pair(struct metadata_pair *pair, struct dti_metadata *ret,
                                 uint64_t *ret_alignment, struct dti_error *reterr)
{
    static const char alignment_key[] = "general.alignment";
    struct dti_pool *const pool = pair->notes->pool;
    uint64_t type = 0;
    enum dti_status status =
        dti_gguf_string(pair->stream, pool, &pair->key, &pair->key_length, reterr);
    if (status != DTI_OK)
        return status;
    if (pair->key_length == 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: the key before byte %llu is empty",
                        pair->stream->label, (unsigned long long)dti_gguf_at(pair->stream));
    status = read_type(pair, &type, reterr);
    if (status != DTI_OK)
        return status;

    *ret = (struct dti_metadata){
        .key = pair->key,
        .key_length = pair->key_length,
        .kind = type == TYPE_ARRAY ? DTI_METADATA_ARRAY : DTI_METADATA_TOKEN,
        .type = value_types[type].name,
        .count = 1,
    };
    const bool aligns = pair->key_length == sizeof alignment_key - 1 &&
                        memcmp(pair->key, alignment_key, sizeof alignment_key - 1) == 0;
    uint64_t code = 0;
    dti_buffer_clear(pair->text);
    if (type == TYPE_STRING)
        status = read_text(pair, ret, reterr);
    else if (type == TYPE_ARRAY)
        status = read_array(pair, &ret->type, &ret->count, reterr);
    else
        status = read_number(pair, type, pair->text, &code, reterr);
    if (status == DTI_OK && aligns)
        status = check_alignment(pair, type, code, reterr);
    if (status != DTI_OK)
        return status;
    if (aligns)
        *ret_alignment = code;
    if (type == TYPE_STRING)
        return DTI_OK;
    ret->value_length = pair->text->length;
    ret->value =
        pair->text->failed ? NULL : dti_pool_text(pool, pair->text->data, pair->text->length);
    return ret->value ? DTI_OK : dti_no_memory(reterr);
}

/* Fails when a key occurs twice. */
static enum dti_status check_keys(const struct dti_gguf_stream *stream,
                                  const struct dti_metadata *metadata, size_t count,
                                  struct dti_error *reterr)
{
    struct dti_name_order order;
    size_t repeated;
    if (!dti_name_order_init(&order, count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++)
        dti_name_order_add(&order, metadata[i].key, metadata[i].key_length);
    dti_name_order_sort(&order);
    enum dti_status status = DTI_OK;
    if (dti_name_order_repeated(&order, &repeated)) {
        char key[DTI_QUOTE_SIZE];
        const struct dti_metadata *const twice = &metadata[repeated];
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s: the key %s occurs twice", stream->label,
                          dti_quote(key, twice->key, twice->key_length));
        dti_error_argument(reterr, twice->key, twice->key_length);
    }
    dti_name_order_free(&order);
    return status;
}

enum dti_status dti_gguf_metadata(struct dti_gguf_stream *stream, struct dti_notes *notes,
                                  uint64_t count, struct dti_metadata **ret,
                                  uint64_t *ret_alignment, struct dti_error *reterr)
{
    if (count > dti_gguf_left(stream) / PAIR_MIN)
        return dti_fail(
            reterr, DTI_BAD_INPUT, "%s: %llu key-values do not fit into the %llu bytes behind them",
            stream->label, (unsigned long long)count, (unsigned long long)dti_gguf_left(stream));
    struct dti_buffer text;
    struct metadata_pair pair = {.stream = stream, .notes = notes, .text = &text};
    void *list = NULL;
    size_t capacity = 0;
    uint64_t alignment = DTI_GGUF_ALIGNMENT;
    enum dti_status status = DTI_OK;
    dti_buffer_init(&text);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!dti_list_grow(notes->pool, &list, i, &capacity, sizeof **ret))
            status = dti_no_memory(reterr);
        else
            status = read_pair(&pair, (struct dti_metadata *)list + i, &alignment, reterr);
    }
    dti_buffer_free(&text);
    if (status == DTI_OK)
        status = check_keys(stream, list, (size_t)count, reterr);
    if (status != DTI_OK)
        return status;
    *ret = list;
    *ret_alignment = alignment;
    return DTI_OK;
}
