/* SPDX-License-Identifier: MIT
 *
 * Writes JSON documents incrementally: each member is appended to a byte buffer in its final
 * form. Strings are escaped and numbers are validated when they are added, so there is no second
 * pass. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/json_writer.h"
#include "util/buffer.h"
#include "util/json/json_string.h"
#include "util/run/allocate.h"
#include "util/text/utf8.h"

/* Control characters, and characters that only affect line breaks or text direction. */
static bool is_hidden(uint32_t point)
{
    return (point >= 0x7F && point <= 0x9F) || point == 0x061C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

/* Encodes one character of text for a JSON string and returns the number of bytes consumed.
 * Escapes what RFC 8259 requires, and also DEL, C1 controls, line separators and characters that
 * change the text direction: JSON readers treat the escape as the same character, but terminals
 * and JavaScript never see the raw one. */
static size_t spell_character(char piece[8], const char *text, size_t length, bool *is_valid)
{
    static const char hex[] = "0123456789abcdef";
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */
    uint32_t point;
    const size_t size = dti_utf8_decode(text, length, &point);
    if (size == 0) {
        memcpy(piece, "\xEF\xBF\xBD", 4); /* U+FFFD, replacement character */
        *is_valid = false;
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

/* Writes text escaped for use between quotes. Returns the end of the output. */
enum { ESCAPED_MAX = 6 }; /* output bytes per input byte: \u001f; an invalid byte takes 3 */
static char *put_escaped(char *out, const char *text, size_t length, bool *ret_valid)
{
    *ret_valid = true;
    for (size_t taken = 0; taken < length;) {
        char piece[8];
        taken += spell_character(piece, text + taken, length - taken, ret_valid);
        const size_t size = strlen(piece);
        memcpy(out, piece, size);
        out += size;
    }
    return out;
}

enum {
    DEEPEST = 64,    /* nesting limit; the deepest document has 12 levels */
    DIGITS_MAX = 20, /* in a 64-bit number */
};

struct dti_json *dti_json_new(void)
{
    struct dti_json *const json = dti_calloc(1, sizeof *json);
    if (json)
        dti_buffer_init(&json->text);
    return json;
}

void dti_json_free(struct dti_json *json)
{
    if (!json)
        return;
    dti_buffer_free(&json->text);
    dti_free(json);
}

/* Keys are static and plain. If one is not, the '?' keeps it from ending its string. */
static char *put_key(char *out, const char *key, size_t length)
{
    *out++ = '"';
    for (size_t i = 0; i < length; i++)
        *out++ = dti_json_is_plain(key[i]) ? key[i] : '?';
    *out++ = '"';
    *out++ = ':';
    return out;
}

static char *begin_unkeyed(struct dti_json *json, const char *key, size_t size)
{
    const size_t key_length = key ? strlen(key) + 3 : 0;
    assert(json->depth > 0 && json->place == (key ? DTI_JSON_IN_OBJECT : DTI_JSON_IN_ARRAY));
    char *out = dti_json_space(json, key_length + size);
    if (!out)
        return NULL;
    *out = ',';
    out += json->comma;
    json->comma = true;
    return key ? put_key(out, key, key_length - 3) : out;
}

/* Starts a member or an element: writes a comma unless it is the first, and its key unless
 * dti_json_key() already did. Returns where the value goes, with room for `size` bytes, or NULL
 * when out of memory. */
static inline char *begin_value(struct dti_json *json, const char *key, size_t size)
{
    if (json->place != DTI_JSON_BEHIND_KEY)
        return begin_unkeyed(json, key, size);
    assert(!key);
    json->place = DTI_JSON_IN_OBJECT;
    json->comma = true;
    return dti_json_space(json, size);
}

static void put_plain(struct dti_json *json, const char *key, const char *text, size_t length)
{
    char *const out = begin_value(json, key, length);
    if (!out)
        return;
    memcpy(out, text, length);
    dti_json_filled_to(json, out + length);
}

/* Sets the place to that of the innermost open container. */
static void set_place(struct dti_json *json)
{
    const bool object = json->objects >> (json->depth - 1) & 1;
    json->place = object ? DTI_JSON_IN_OBJECT : DTI_JSON_IN_ARRAY;
}

static void open_container(struct dti_json *json, const char *key, bool object)
{
    char *const out = begin_value(json, key, 1);
    if (out) {
        *out = object ? '{' : '[';
        dti_json_filled_to(json, out + 1);
    }
    assert(json->depth < DEEPEST);
    const uint64_t level = UINT64_C(1) << json->depth++;
    json->objects = object ? json->objects | level : json->objects & ~level;
    json->place = object ? DTI_JSON_IN_OBJECT : DTI_JSON_IN_ARRAY;
    json->comma = false;
}

void dti_json_begin_plain(struct dti_json *json)
{
    dti_buffer_clear(&json->text);
    json->text.failed = false;
    json->depth = 1;
    json->objects = 1;
    json->place = DTI_JSON_IN_OBJECT;
    json->comma = false;
    json->stream = NULL;
    json->stream_depth = 0;
    dti_buffer_append(&json->text, "{", 1);
}

void dti_json_begin(struct dti_json *json, const char *schema)
{
    dti_json_begin_plain(json);
    dti_json_string(json, "schema", schema);
    dti_json_string(json, "dtinfo", DTI_VERSION);
}

void dti_json_out_of_memory(struct dti_json *json)
{
    json->text.failed = true;
}

struct dti_json_mark dti_json_mark(const struct dti_json *json)
{
    return (struct dti_json_mark){json->text.length, json->depth, json->objects, json->comma};
}

void dti_json_rewind(struct dti_json *json, const struct dti_json_mark *mark)
{
    assert(mark->length <= json->text.length || json->text.failed);
    if (!json->text.failed)
        json->text.length = mark->length;
    json->depth = mark->depth;
    json->objects = mark->objects;
    json->comma = mark->comma;
    set_place(json);
}

void dti_json_object(struct dti_json *json, const char *key)
{
    open_container(json, key, true);
}

void dti_json_array(struct dti_json *json, const char *key)
{
    open_container(json, key, false);
}

/* Nothing is written before the first element: an earlier error leaves no partial document. */
void dti_json_stream(struct dti_json *json, const struct dti_sink *out)
{
    assert(json->depth > 0 && json->place == DTI_JSON_IN_ARRAY);
    json->stream = out;
    json->stream_depth = json->depth;
}

static void write_text(struct dti_json *json, const struct dti_sink *out)
{
    const int error = out->write(out->context, json->text.data, json->text.length);
    if (json->cause == 0)
        json->cause = error;
}

void dti_json_end(struct dti_json *json)
{
    assert(json->depth > 1);
    const bool object = json->objects >> --json->depth & 1;
    char *const out = dti_json_space(json, 1);
    if (out) {
        *out = object ? '}' : ']';
        dti_json_filled_to(json, out + 1);
    }
    set_place(json);
    json->comma = true;
    if (json->stream_depth == 0 || json->text.failed)
        return;
    if (json->depth < json->stream_depth) {
        json->stream_depth = 0;
    } else if (json->depth == json->stream_depth) {
        write_text(json, json->stream);
        dti_buffer_clear(&json->text);
    }
}

void dti_json_null(struct dti_json *json, const char *key)
{
    put_plain(json, key, "null", 4);
}

void dti_json_bool(struct dti_json *json, const char *key, bool value)
{
    put_plain(json, key, value ? "true" : "false", value ? 4 : 5);
}

/* Writes the digits of value so that they end at `end`. Returns the first digit. */
static char *put_digits(char *end, uint64_t value)
{
    do
        *--end = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    return end;
}

static void put_integer(struct dti_json *json, const char *key, uint64_t magnitude, bool negative)
{
    char text[DIGITS_MAX + 1];
    char *const end = text + sizeof text;
    char *at = put_digits(end, magnitude);
    if (negative)
        *--at = '-';
    put_plain(json, key, at, (size_t)(end - at));
}

void dti_json_uint(struct dti_json *json, const char *key, uint64_t value)
{
    put_integer(json, key, value, false);
}

void dti_json_int(struct dti_json *json, const char *key, int64_t value)
{
    put_integer(json, key, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

/* Writes the rest of a text, from the first character that needs escaping through the closing
 * quote. */
static bool put_rest(struct dti_json *json, const char *text, size_t length)
{
    bool valid;
    char *out =
        dti_json_space(json, length < SIZE_MAX / 8 ? length * ESCAPED_MAX + 1 : SIZE_MAX / 2);
    if (!out)
        return true;
    out = put_escaped(out, text, length, &valid);
    *out++ = '"';
    dti_json_filled_to(json, out);
    return valid;
}

bool dti_json_text(struct dti_json *json, const char *key, const char *text, size_t length)
{
    if (!text) {
        dti_json_null(json, key);
        return true;
    }
    char *out = begin_value(json, key, length + 2); /* no object is SIZE_MAX bytes long, so this
                                                     * cannot overflow */
    if (!out)
        return true;
    *out++ = '"';
    const size_t plain = dti_json_copy_plain(out, text, length);
    out += plain;
    if (plain == length)
        *out++ = '"';
    dti_json_filled_to(json, out);
    return plain == length || put_rest(json, text + plain, length - plain);
}

void dti_json_number(struct dti_json *json, const char *key, const char *number, size_t length)
{
    const char *problem = NULL;
    if (number && dti_json_number_end(number, number + length, &problem) == number + length &&
        !problem)
        put_plain(json, key, number, length);
    else
        (void)dti_json_text(json, key, number, length);
}

/* Copies short texts inline, in chunks of which the last may overlap the one before it. */
static char *copy_short(char *out, const char *text, size_t length)
{
    if (length < 4) {
        for (size_t i = 0; i < length; i++)
            out[i] = text[i];
    } else if (length < 8) {
        memcpy(out, text, 4);
        memcpy(out + length - 4, text + length - 4, 4);
    } else if (length <= 24) {
        memcpy(out, text, 8);
        if (length > 16)
            memcpy(out + 8, text + 8, 8);
        memcpy(out + length - 8, text + length - 8, 8);
    } else {
        memcpy(out, text, length);
    }
    return out + length;
}

char *dti_json_close_text(char *out, struct dti_spelled spelled)
{
    if (!spelled.text) {
        memcpy(out - 1, "null", 4);
        return out + 3;
    }
    out = copy_short(out, spelled.text, spelled.length);
    *out = '"';
    return out + 1;
}

char *dti_json_put_token(char *out, struct dti_spelled spelled)
{
    return spelled.text ? copy_short(out, spelled.text, spelled.length)
                        : copy_short(out, "null", 4);
}

/* Closes the document. */
static enum dti_status end_document(struct dti_json *json, struct dti_error *reterr)
{
    struct dti_buffer *const text = &json->text;
    dti_buffer_append(text, "}\n", 2);
    if (text->failed)
        return dti_fail_remedy(reterr, DTI_NO_MEMORY, DTI_REMEDY_DOCUMENT_A_LINE,
                               "out of memory for one JSON document");
    assert(json->depth == 1);
    return DTI_OK;
}

enum dti_status dti_json_append(struct dti_json *json, struct dti_buffer *out,
                                struct dti_error *reterr)
{
    const enum dti_status status = end_document(json, reterr);
    if (status == DTI_OK)
        dti_buffer_append(out, json->text.data, json->text.length);
    return status;
}

enum dti_status dti_json_write(struct dti_json *json, const struct dti_sink *out,
                               struct dti_error *reterr)
{
    const enum dti_status status = end_document(json, reterr);
    if (status != DTI_OK)
        return status;
    write_text(json, out);
    if (json->cause == 0)
        return DTI_OK;
    (void)dti_fail(reterr, DTI_WRITE_FAILED, "cannot write the JSON document");
    errno = json->cause;
    return DTI_WRITE_FAILED;
}
