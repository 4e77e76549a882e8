/* SPDX-License-Identifier: MIT
 *
 * Writing one JSON document at a time, in memory that the next one uses again. Numbers enter as
 * spell.c wrote them. There is no way to add raw text: every string is escaped, every number
 * checked, but for those that rows declare as spelled by the program (rows.h). key is NULL inside
 * an array; keys are string literals or from tables of such (they are not copied), snake_case; in a
 * key, what a string would escape is written as '?'. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "dtinfo/error.h"
#include "util/buffer.h"

struct dti_json;

/* A text or a number that the program spelled or has in a table, so that each character stands for
 * itself; text is NULL where there is none, which is written as null. */
struct dti_spelled {
    const char *text;
    size_t length;
};

static inline struct dti_spelled dti_spelled(const char *text)
{
    return (struct dti_spelled){text, text ? strlen(text) : 0};
}

/* The same, if a condition holds. */
static inline struct dti_spelled dti_spelled_if(bool there, const char *text, size_t length)
{
    return there ? (struct dti_spelled){text, length} : (struct dti_spelled){NULL, 0};
}

struct dti_json *dti_json_new(void); /* NULL when memory ran out */
void dti_json_free(struct dti_json *json);

/* Starts a document: an object whose first members are "schema" ("dtinfo.cast/1") and "dtinfo"
 * (the version). Whatever was built before is gone. */
void dti_json_begin(struct dti_json *json, const char *schema);

void dti_json_object(struct dti_json *json, const char *key); /* open; close with dti_json_end */
void dti_json_array(struct dti_json *json, const char *key);
void dti_json_end(struct dti_json *json);

void dti_json_null(struct dti_json *json, const char *key);
void dti_json_uint(struct dti_json *json, const char *key, uint64_t value);
void dti_json_int(struct dti_json *json, const char *key, int64_t value);
/* A string, whatever it holds; NULL gives null. Invalid UTF-8 becomes U+FFFD; returns whether there
 * was none. */
bool dti_json_text(struct dti_json *json, const char *key, const char *text, size_t length);
static inline void dti_json_string(struct dti_json *json, const char *key, const char *text)
{
    (void)dti_json_text(json, key, text, text ? strlen(text) : 0);
}
/* A number as spell.c wrote it; NULL gives null. Text that JSON does not call a number becomes a
 * string. */
void dti_json_number(struct dti_json *json, const char *key, const char *number, size_t length);

/* Called with an array open: each element (an object or array) goes to out once it is finished,
 * with everything before it, and its memory is used again, so that a document can be of any length.
 * Another array may follow it, or be in a later element of an array around it. The document is
 * ended by dti_json_write() with the same out; nothing is written before the first element. Write
 * errors show at the end, or in ferror(out). */
void dti_json_stream(struct dti_json *json, FILE *out);

/* Starts with nothing but the open object. */
void dti_json_begin_plain(struct dti_json *json);

/* Memory ran out where a member was made: dti_json_write() says so. */
void dti_json_out_of_memory(struct dti_json *json);

/* A place in a document, to which dti_json_rewind() goes back: what was added since is gone, and
 * the containers that were open then are open again. For documents that begin alike. Not with a
 * stream. */
struct dti_json_mark {
    size_t length, depth;
    uint64_t objects;
    bool comma;
};
struct dti_json_mark dti_json_mark(const struct dti_json *json);
void dti_json_rewind(struct dti_json *json, const struct dti_json_mark *mark);

/* Writes the document on one line with a newline. Fails with DTI_WRITE_FAILED, and errno of the
 * first write that failed. */
enum dti_status dti_json_write(struct dti_json *json, FILE *out, struct dti_error *reterr);

/* The same into memory, of which `out` keeps account. */
enum dti_status dti_json_append(struct dti_json *json, struct dti_buffer *out,
                                struct dti_error *reterr);

/* The version of the library underneath, for --version. */
const char *dti_json_library_version(void);

#endif
