/* SPDX-License-Identifier: MIT
 *
 * A pull parser for untrusted JSON, one token at a time: strict RFC 8259. Text must be UTF-8. It
 * rejects lone surrogates, raw control characters, numbers such as 01, 1. or NaN, trailing
 * commas, and anything but white space after the value; nesting is limited. Python writes NaN,
 * Infinity and -Infinity into model files; a reader of those sets `nonfinite`. People write
 * comments and trailing commas; a reader of their files sets `comments`. The parser builds no tree
 * and does not recurse. */
#ifndef UTIL_JSON_JSON_READ_H
#define UTIL_JSON_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/error.h"

enum dti_json_token {
    DTI_JSON_END, /* end of the text, after the value and white space */
    DTI_JSON_OBJECT,
    DTI_JSON_OBJECT_END,
    DTI_JSON_ARRAY,
    DTI_JSON_ARRAY_END,
    DTI_JSON_KEY, /* a member's name; its value follows */
    DTI_JSON_STRING,
    DTI_JSON_NUMBER,
    DTI_JSON_TRUE,
    DTI_JSON_FALSE,
    DTI_JSON_NULL,
};

enum { DTI_JSON_DEPTH = 127 };

struct dti_json_reader {
    const char *start, *at, *end;
    unsigned depth;
    uint64_t kinds[2]; /* one bit per level: 1 for an object */
    int expects;       /* private */
    bool nonfinite;    /* set by the caller: NaN, Infinity and -Infinity are numbers */
    bool comments;     /* likewise: comments count as blanks, and a list may end with a comma */
    /* The last token's raw bytes; strings and keys without the quotes. */
    const char *token;
    size_t token_length;
    bool escaped;             /* the string or key contains escapes */
    struct dti_buffer string; /* the last string that had escapes, decoded */
    const char *problem;      /* why the last call failed: "a comma is missing", no full stop */
};

void dti_json_reader_init(struct dti_json_reader *reader, const char *text, size_t length);
void dti_json_reader_free(struct dti_json_reader *reader);

/* Reads the next token. Returns false if the text is not JSON from reader->at on (`problem` is
 * the reason) or memory ran out (string.failed). */
bool dti_json_next(struct dti_json_reader *reader, enum dti_json_token *ret_token);

/* After a KEY or STRING: its decoded characters, valid until the next call. */
void dti_json_string_value(const struct dti_json_reader *reader, const char **ret_text,
                           size_t *ret_length);

/* Whether the decoded characters equal text. */
bool dti_json_string_is(const struct dti_json_reader *reader, const char *text);

/* After a NUMBER: an integer from 0 to 2^64-1 written as digits only; false for all others. */
bool dti_json_u64(const struct dti_json_reader *reader, uint64_t *ret_value);

/* After a KEY: its value, which the caller has read and found to be JSON, ends here. */
void dti_json_value_ends(struct dti_json_reader *reader, const char *end);

/* After the first token of a value: skips to the end of that value. */
bool dti_json_skip(struct dti_json_reader *reader, enum dti_json_token first);

#endif
