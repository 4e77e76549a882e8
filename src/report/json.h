/* SPDX-License-Identifier: MIT
 *
 * A JSON writer: one document at a time, in a buffer that is reused by the next document.
 * Numbers are passed as spell.c formatted them. There is no way to add raw text: every string is
 * escaped and every number is checked, except those that rows declare as spelled by the program
 * (rows.h). key is NULL inside an array. Keys are snake_case and must be static, because they
 * are not copied: string literals or table entries. A character of a key that would need
 * escaping is written as '?'. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/buffer.h"
#include "util/error.h"
#include "util/sink.h"

struct dti_json;

/* Text or a number that the program formatted or has in a table, so that no character needs
 * escaping. NULL text is written as null. */
struct dti_spelled {
    const char *text;
    size_t length;
};

static inline struct dti_spelled dti_spelled(const char *text)
{
    return (struct dti_spelled){text, text ? strlen(text) : 0};
}

/* The same if `there` is true, else null. */
static inline struct dti_spelled dti_spelled_if(bool there, const char *text, size_t length)
{
    return there ? (struct dti_spelled){text, length} : (struct dti_spelled){NULL, 0};
}

struct dti_json *dti_json_new(void); /* NULL when out of memory */
void dti_json_free(struct dti_json *json);

/* Starts a document: an object whose first members are "schema" ("dtinfo.cast/1") and "dtinfo"
 * (the version). Discards the previous document. */
void dti_json_begin(struct dti_json *json, const char *schema);

void dti_json_object(struct dti_json *json, const char *key); /* open; close with dti_json_end */
void dti_json_array(struct dti_json *json, const char *key);
void dti_json_end(struct dti_json *json);

void dti_json_null(struct dti_json *json, const char *key);
void dti_json_bool(struct dti_json *json, const char *key, bool value);
void dti_json_uint(struct dti_json *json, const char *key, uint64_t value);
void dti_json_int(struct dti_json *json, const char *key, int64_t value);
/* A string with any content; NULL writes null. Invalid UTF-8 becomes U+FFFD. Returns false if
 * there was any. */
bool dti_json_text(struct dti_json *json, const char *key, const char *text, size_t length);
static inline void dti_json_string(struct dti_json *json, const char *key, const char *text)
{
    (void)dti_json_text(json, key, text, text ? strlen(text) : 0);
}
/* A number as formatted by spell.c; NULL writes null. Text that is not a valid JSON number is
 * written as a string. */
void dti_json_number(struct dti_json *json, const char *key, const char *number, size_t length);

/* Call it with an array open. Each element (an object or array) is flushed to `out` when it is
 * closed, with everything before it, and its memory is reused: the document can have any length.
 * Another streamed array may follow this one, or be inside a later element of an enclosing
 * array. End the document with dti_json_write() and the same `out`, which must live until then.
 * Nothing is written before the first element is closed. Write errors are reported at the end. */
void dti_json_stream(struct dti_json *json, const struct dti_sink *out);

/* Starts a document with only the open object. */
void dti_json_begin_plain(struct dti_json *json);

/* Records that memory ran out while a member was being built: dti_json_write() reports it. */
void dti_json_out_of_memory(struct dti_json *json);

/* A checkpoint in a document. dti_json_rewind() discards what was added since, and restores the
 * containers that were open then. For documents with a common beginning. Not for streamed
 * documents. */
struct dti_json_mark {
    size_t length, depth;
    uint64_t objects;
    bool comma;
};
struct dti_json_mark dti_json_mark(const struct dti_json *json);
void dti_json_rewind(struct dti_json *json, const struct dti_json_mark *mark);

/* Writes the document on one line with a newline. Fails with DTI_WRITE_FAILED and the errno of
 * the first write that failed. */
enum dti_status dti_json_write(struct dti_json *json, const struct dti_sink *out,
                               struct dti_error *reterr);

/* The same, appended to a buffer: check out->failed for memory errors. */
enum dti_status dti_json_append(struct dti_json *json, struct dti_buffer *out,
                                struct dti_error *reterr);

#endif
