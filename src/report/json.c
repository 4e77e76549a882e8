/* SPDX-License-Identifier: MIT
 *
 * JSON documents: cJSON links the tree, and only the builder (json_tree.h, json_write.c and this
 * file) knows of it. Records of forty members are written by the hundred thousand, so three things
 * are done differently from its defaults. Items and their texts are carved from an arena that the
 * next document reuses (no item is ever given to cJSON_Delete). Keys are not copied. And the tree
 * is printed here: cJSON 1.7.15 scans every key for escapes and takes 1.4 us where the walk below
 * takes 0.3. Every scalar is a raw token that was escaped on its way in, so cJSON's way with
 * numbers and with invalid UTF-8 does not matter. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/utf8.h"
#include "report/json_tree.h"

enum {
    FIRST_CHUNK = 8 * 1024,
    DIGITS_MAX = 20, /* of 64 bits */
    NUMBERS_MAX = 64 /* to an item of many */
};

static struct dti_chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct dti_chunk))
        return NULL;
    struct dti_chunk *const chunk = malloc(sizeof *chunk + size);
    if (chunk) {
        chunk->next = NULL;
        chunk->size = size;
        chunk->used = 0;
    }
    return chunk;
}

struct dti_json *dti_json_new(void)
{
    struct dti_json *const json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    dti_buffer_init(&json->text);
    json->first = json->current = chunk_new(FIRST_CHUNK);
    if (!json->first) {
        free(json);
        return NULL;
    }
    return json;
}

void dti_json_free(struct dti_json *json)
{
    if (!json)
        return;
    for (struct dti_chunk *chunk = json->first; chunk;) {
        struct dti_chunk *const next = chunk->next;
        free(chunk);
        chunk = next;
    }
    dti_buffer_free(&json->text);
    free(json);
}

/* Goes on to the next chunk that is large enough. A new one is twice the size of the last, so the
 * chunks together stay within a small multiple of the largest document. */
static bool next_chunk(struct dti_json *json, size_t size)
{
    struct dti_chunk *chunk = json->current;
    while (chunk->next) {
        chunk = chunk->next;
        chunk->used = 0;
        if (chunk->size >= size) {
            json->current = chunk;
            return true;
        }
    }
    const size_t doubled = chunk->size <= SIZE_MAX / 4 ? chunk->size * 2 : chunk->size;
    chunk->next = chunk_new(size > doubled ? size : doubled);
    if (!chunk->next)
        return false;
    json->current = chunk->next;
    return true;
}

/* Memory from the arena; NULL when there is none. */
static void *take(struct dti_json *json, size_t size)
{
    size = (size + DTI_JSON_ALIGNMENT - 1) & ~(size_t)(DTI_JSON_ALIGNMENT - 1);
    if (json->current->size - json->current->used < size && !next_chunk(json, size))
        return NULL;
    void *const memory = json->current->memory + json->current->used;
    json->current->used += size;
    return memory;
}

struct dti_item *dti_json_item(struct dti_json *json, int type, size_t text_size)
{
    struct dti_item *const item =
        text_size < SIZE_MAX / 8 ? take(json, sizeof *item + text_size) : NULL;
    if (!item) {
        json->failed = true;
        return NULL;
    }
    memset(item, 0, sizeof *item);
    item->node.type = type;
    return item;
}

/* A new item in the innermost open container, or NULL when memory ran out. It has its type before
 * it is added: cJSON changes the type's flags on the way. */
static struct dti_item *add(struct dti_json *json, const char *key, int type, size_t text_size)
{
    if (json->failed)
        return NULL;
    assert(json->depth > 0);
    struct dti_item *const parent = json->open[json->depth - 1];
    assert(((parent->node.type & 0xFF) == cJSON_Object) == (key != NULL));

    struct dti_item *const item = dti_json_item(json, type, text_size);
    if (!item)
        return NULL;
    if (key) {
        item->key_length = strlen(key);
        json->bound += item->key_length + 3; /* quotes and colon */
        cJSON_AddItemToObjectCS(&parent->node, key, &item->node);
    } else {
        cJSON_AddItemToArray(&parent->node, &item->node);
    }
    json->bound += 3; /* a comma, or brackets and a comma */
    return item;
}

static void open_container(struct dti_json *json, const char *key, int type)
{
    struct dti_item *const item = add(json, key, type, 0);
    if (!item)
        return;
    assert(json->depth < DTI_JSON_DEEPEST);
    json->open[json->depth++] = item;
}

void dti_json_begin(struct dti_json *json, const char *schema)
{
    json->current = json->first;
    json->first->used = 0;
    json->depth = 0;
    json->bound = 64;
    json->failed = false;
    json->stream = NULL;
    json->stream_depth = 0;
    json->begun = 0;

    struct dti_item *const root = dti_json_item(json, cJSON_Object, 0);
    if (!root)
        return;
    json->open[json->depth++] = root;
    dti_json_string(json, "schema", schema);
    dti_json_string(json, "dtinfo", DTI_VERSION);
}

void dti_json_object(struct dti_json *json, const char *key)
{
    open_container(json, key, cJSON_Object);
}

void dti_json_array(struct dti_json *json, const char *key)
{
    open_container(json, key, cJSON_Array);
}

void dti_json_end(struct dti_json *json)
{
    if (json->failed)
        return;
    assert(json->depth > 1);
    json->depth--;
    if (json->stream)
        dti_json_stream_end(json);
}

/* What is written of an item as it stands: text, of which there may be less than there is room. */
static void set_text(struct dti_json *json, struct dti_item *item, char *text, size_t length)
{
    item->node.valuestring = text;
    item->text_length = length;
    json->bound += length;
}

void dti_json_null(struct dti_json *json, const char *key)
{
    if (add(json, key, cJSON_NULL, 0))
        json->bound += 4;
}

void dti_json_bool(struct dti_json *json, const char *key, bool value)
{
    if (add(json, key, value ? cJSON_True : cJSON_False, 0))
        json->bound += 5;
}

/* The digits of value, in front of end; returns the first one. */
static char *put_digits(char *end, uint64_t value)
{
    do
        *--end = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    return end;
}

/* Adds what is written as it stands. */
static void add_raw(struct dti_json *json, const char *key, const char *text, size_t length)
{
    struct dti_item *const item = add(json, key, cJSON_Raw, length);
    if (!item)
        return;
    memcpy(item->text, text, length);
    set_text(json, item, item->text, length);
}

static void put_integer(struct dti_json *json, const char *key, uint64_t magnitude, bool negative)
{
    char text[DIGITS_MAX + 1];
    char *const end = text + sizeof text;
    char *at = put_digits(end, magnitude);
    if (negative)
        *--at = '-';
    add_raw(json, key, at, (size_t)(end - at));
}

void dti_json_uint(struct dti_json *json, const char *key, uint64_t value)
{
    put_integer(json, key, value, false);
}

void dti_json_int(struct dti_json *json, const char *key, int64_t value)
{
    put_integer(json, key, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void dti_json_uints(struct dti_json *json, const uint64_t *values, size_t count)
{
    while (count > 0) {
        char text[NUMBERS_MAX * (DIGITS_MAX + 1)];
        char *const end = text + sizeof text;
        const size_t some = count < NUMBERS_MAX ? count : NUMBERS_MAX;
        char *at = put_digits(end, values[some - 1]);
        for (size_t i = some - 1; i > 0; i--) {
            *--at = ',';
            at = put_digits(at, values[i - 1]);
        }
        add_raw(json, NULL, at, (size_t)(end - at));
        values += some;
        count -= some;
    }
}

/* Characters that are seen by what they do. */
static bool is_hidden(uint32_t point)
{
    return (point >= 0x7F && point <= 0x9F) || point == 0x061C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

/* Spells one character of text as it stands in a JSON string and returns the bytes of text it took.
 * What RFC 8259 demands is escaped, and also DEL, C1, the line separators and what turns the
 * direction of text: to a reader they are the same, to a terminal and to JavaScript they are not.
 */
static size_t spell_character(char piece[8], const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */
    uint32_t point;
    const size_t size = dti_utf8_decode(text, length, &point);
    if (size == 0) {
        memcpy(piece, "\xEF\xBF\xBD", 4); /* U+FFFD, replacement character */
        return 1;
    }
    for (size_t i = 0; point < 0x80 && i + 1 < sizeof named; i += 2) {
        if (named[i] == (char)point) {
            piece[0] = '\\';
            piece[1] = named[i + 1];
            piece[2] = '\0';
            return size;
        }
    }
    if (point < 0x20 || is_hidden(point)) {
        memcpy(piece, "\\u", 2);
        for (unsigned i = 0; i < 4; i++)
            piece[2 + i] = hex[point >> (12 - 4 * i) & 0xF];
        piece[6] = '\0';
        return size;
    }
    memcpy(piece, text, size);
    piece[size] = '\0';
    return size;
}

/* Writes text escaped to out, or only measures when out is NULL. */
static size_t escape(char *out, const char *text, size_t length)
{
    size_t total = 0;
    for (size_t taken = 0; taken < length;) {
        char piece[8];
        taken += spell_character(piece, text + taken, length - taken);
        const size_t piece_length = strlen(piece);
        if (out)
            memcpy(out + total, piece, piece_length);
        total += piece_length;
    }
    return total;
}

void dti_json_text(struct dti_json *json, const char *key, const char *text, size_t length)
{
    if (!text) {
        dti_json_null(json, key);
        return;
    }
    struct dti_item *const item =
        add(json, key, cJSON_Raw, length < SIZE_MAX / 8 ? length + 2 : length);
    if (!item)
        return;
    char *raw = item->text;
    if (dti_json_copy_plain(raw + 1, text, length) < length) {
        const size_t escaped = escape(NULL, text, length);
        raw = take(json, escaped + 2);
        if (!raw) {
            json->failed = true;
            return;
        }
        length = escape(raw + 1, text, length);
    }
    raw[0] = raw[length + 1] = '"';
    set_text(json, item, raw, length + 2);
}

void dti_json_string(struct dti_json *json, const char *key, const char *text)
{
    dti_json_text(json, key, text, text ? strlen(text) : 0);
}

void dti_json_number(struct dti_json *json, const char *key, const char *number, size_t length)
{
    const char *problem = NULL;
    if (number && dti_json_number_end(number, number + length, &problem) == number + length &&
        !problem)
        add_raw(json, key, number, length);
    else
        dti_json_text(json, key, number, length);
}

const char *dti_json_library_version(void)
{
    return cJSON_Version();
}
