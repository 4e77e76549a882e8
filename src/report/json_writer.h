/* SPDX-License-Identifier: MIT
 *
 * Internals of the JSON writer, for code generated from rows: text known at compile time is
 * copied as is. All other code uses only report/json.h. */
#ifndef REPORT_JSON_WRITER_H
#define REPORT_JSON_WRITER_H

#include <assert.h>
#include <string.h>

#include "report/json.h"
#include "util/buffer.h"

/* Where the next value goes. */
enum dti_json_place { DTI_JSON_IN_ARRAY, DTI_JSON_IN_OBJECT, DTI_JSON_BEHIND_KEY };

struct dti_json {
    struct dti_buffer text; /* not written to the stream yet */
    size_t depth;           /* number of open containers */
    uint64_t objects;       /* one bit per open container: it is an object */
    bool comma;             /* write a comma before the next item */
    enum dti_json_place place;
    const struct dti_sink *stream; /* where finished array elements go, or NULL */
    size_t stream_depth;           /* depth inside the streamed array, or 0 */
    int cause;                     /* errno value of the first failed write, or 0 */
};

/* Reserves space for `size` bytes and a comma. NULL when out of memory. */
static inline char *dti_json_space(struct dti_json *json, size_t size)
{
    struct dti_buffer *const text = &json->text;
    if ((text->failed || size + 1 >= text->capacity - text->length) &&
        !dti_buffer_reserve(text, size + 1))
        return NULL;
    return text->data + text->length;
}

static inline void dti_json_filled_to(struct dti_json *json, const char *end)
{
    json->text.length = (size_t)(end - json->text.data);
}

/* Writes the key of the next member, which is then added with a NULL key. The literal includes
 * its quotes and colon. */
static inline void dti_json_key(struct dti_json *json, const char *quoted, size_t length)
{
    assert(json->place == DTI_JSON_IN_OBJECT);
    char *out = dti_json_space(json, length);
    json->place = DTI_JSON_BEHIND_KEY;
    if (!out)
        return;
    *out = ',';
    out += json->comma;
    memcpy(out, quoted, length);
    dti_json_filled_to(json, out + length);
    json->comma = false;
}

/* Adds a member that is one literal, key and value: "\"known\":true". */
static inline void dti_json_pair(struct dti_json *json, const char *literal, size_t length)
{
    dti_json_key(json, literal, length);
    json->place = DTI_JSON_IN_OBJECT;
    json->comma = true;
}

/* json.c: these write a value after an opening quote, or a colon, that is already written. A
 * NULL text becomes null, which replaces the quote. They return the end. */
char *dti_json_close_text(char *out, struct dti_spelled spelled);
char *dti_json_put_token(char *out, struct dti_spelled spelled);

/* Writes the key of a member with a spelled value; the literal is as above. Returns where the
 * value goes, or NULL when out of memory. */
static inline char *dti_json_spelled_key(struct dti_json *json, const char *literal, size_t size,
                                         struct dti_spelled spelled)
{
    assert(json->place == DTI_JSON_IN_OBJECT);
    char *out = dti_json_space(json, size + spelled.length + sizeof "null");
    if (!out)
        return NULL;
    *out = ',';
    out += json->comma;
    memcpy(out, literal, size);
    json->comma = true;
    return out + size;
}

/* A string member: the literal ends with its opening quote. */
static inline void dti_json_spelled_text(struct dti_json *json, const char *opened, size_t size,
                                         struct dti_spelled spelled)
{
    char *const out = dti_json_spelled_key(json, opened, size, spelled);
    if (out)
        dti_json_filled_to(json, dti_json_close_text(out, spelled));
}

static inline void dti_json_spelled_token(struct dti_json *json, const char *quoted, size_t size,
                                          struct dti_spelled spelled)
{
    char *const out = dti_json_spelled_key(json, quoted, size, spelled);
    if (out)
        dti_json_filled_to(json, dti_json_put_token(out, spelled));
}

#endif
