/* SPDX-License-Identifier: MIT
 *
 * The recognizer. Its state is the set of tokens allowed next, plus one bit per open level. */
#include "util/json/json_read.h"

#include <assert.h>
#include <string.h>

#include "util/json/json_string.h"
#include "util/text/ascii.h"

enum {
    EXPECTS_VALUE,
    EXPECTS_FIRST_VALUE, /* or the end of the array */
    EXPECTS_KEY,
    EXPECTS_FIRST_KEY, /* or the end of the object */
    EXPECTS_MORE, /* a comma or the end of the open container; at top level, the end of the text */
    EXPECTS_NOTHING, /* after a failure */
};

void dti_json_reader_init(struct dti_json_reader *reader, const char *text, size_t length)
{
    *reader = (struct dti_json_reader){
        .start = text, .at = text, .end = text + length, .expects = EXPECTS_VALUE};
    dti_buffer_init(&reader->string);
}

void dti_json_reader_free(struct dti_json_reader *reader)
{
    dti_buffer_free(&reader->string);
}

static bool fail(struct dti_json_reader *reader, const char *at, const char *problem)
{
    reader->at = at;
    reader->problem = problem;
    reader->expects = EXPECTS_NOTHING;
    return false;
}

/* The end of a comment that begins with this text; NULL if none does, or it has no end. */
static const char *comment_end(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return NULL;
    if (at[1] == '/') {
        const char *const line = memchr(at, '\n', (size_t)(end - at));
        return line ? line : end;
    }
    for (at += 2; end - at >= 2; at++) {
        if (at[0] == '*' && at[1] == '/')
            return at + 2;
    }
    return NULL;
}

static void skip_blanks(struct dti_json_reader *reader)
{
    const char *at = reader->at, *comment;
    for (;;) {
        while (at < reader->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
            at++;
        comment = reader->comments ? comment_end(at, reader->end) : NULL;
        if (!comment)
            break;
        at = comment;
    }
    reader->at = at;
}

static bool is_in_object(const struct dti_json_reader *reader)
{
    const unsigned level = reader->depth - 1;
    return reader->kinds[level / 64] >> level % 64 & 1;
}

/* reader->at points to the opening quote. */
static bool read_string(struct dti_json_reader *reader)
{
    const char *problem = NULL;
    const char *const start = reader->at + 1;
    const char *const end = dti_json_string_end(start, reader->end, &reader->escaped, &problem);
    if (problem)
        return fail(reader, end, problem);
    reader->token = start;
    reader->token_length = (size_t)(end - start);
    reader->at = end + 1;
    if (!reader->escaped)
        return true;
    dti_json_string_decode(&reader->string, start, reader->token_length);
    return !reader->string.failed || fail(reader, start, "out of memory");
}

static bool read_number(struct dti_json_reader *reader)
{
    const char *problem = NULL;
    const char *const at = dti_json_number_end(reader->at, reader->end, &problem);
    if (problem)
        return fail(reader, at, problem);
    reader->token = reader->at;
    reader->token_length = (size_t)(at - reader->at);
    reader->at = at;
    return true;
}

static bool begins_with(const struct dti_json_reader *reader, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(reader->end - reader->at) >= length && memcmp(reader->at, word, length) == 0;
}

static bool read_word(struct dti_json_reader *reader, const char *word)
{
    const size_t length = strlen(word);
    if (!begins_with(reader, word))
        return fail(reader, reader->at, "a value is missing");
    reader->token = reader->at;
    reader->token_length = length;
    reader->at += length;
    return true;
}

/* The word Python's json module writes for a float that JSON cannot represent. */
static const char *nonfinite_word(const struct dti_json_reader *reader)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; reader->nonfinite && i < sizeof words / sizeof *words; i++) {
        if (begins_with(reader, words[i]))
            return words[i];
    }
    return NULL;
}

static bool open_level(struct dti_json_reader *reader, bool is_object)
{
    const unsigned level = reader->depth;
    if (level == DTI_JSON_DEPTH)
        return fail(reader, reader->at, "nested deeper than 127 levels");
    const uint64_t bit = UINT64_C(1) << level % 64;
    uint64_t *const kinds = &reader->kinds[level / 64];
    *kinds = is_object ? *kinds | bit : *kinds & ~bit;
    reader->depth++;
    reader->expects = is_object ? EXPECTS_FIRST_KEY : EXPECTS_FIRST_VALUE;
    reader->token = reader->at++;
    reader->token_length = 1;
    return true;
}

static void close_level(struct dti_json_reader *reader, enum dti_json_token *ret_token)
{
    *ret_token = is_in_object(reader) ? DTI_JSON_OBJECT_END : DTI_JSON_ARRAY_END;
    reader->depth--;
    reader->expects = EXPECTS_MORE;
    reader->token = reader->at++;
    reader->token_length = 1;
}

static bool read_value(struct dti_json_reader *reader, enum dti_json_token *ret_token)
{
    enum dti_json_token token;
    const char *word;
    bool ok;
    reader->expects = EXPECTS_MORE; /* unless a level opens, or the value is invalid */
    if (reader->at == reader->end)
        return fail(reader, reader->at, "the text ends where a value is expected");
    switch (*reader->at) {
    case '{':
        token = DTI_JSON_OBJECT, ok = open_level(reader, true);
        break;
    case '[':
        token = DTI_JSON_ARRAY, ok = open_level(reader, false);
        break;
    case '"':
        token = DTI_JSON_STRING, ok = read_string(reader);
        break;
    case 't':
        token = DTI_JSON_TRUE, ok = read_word(reader, "true");
        break;
    case 'f':
        token = DTI_JSON_FALSE, ok = read_word(reader, "false");
        break;
    case 'n':
        token = DTI_JSON_NULL, ok = read_word(reader, "null");
        break;
    default:
        word = nonfinite_word(reader);
        if (!word && *reader->at != '-' && (*reader->at < '0' || *reader->at > '9'))
            return fail(reader, reader->at, "a value is missing");
        token = DTI_JSON_NUMBER, ok = word ? read_word(reader, word) : read_number(reader);
        break;
    }
    if (ok)
        *ret_token = token;
    return ok;
}

/* Reads a member's name and its colon. */
static bool read_key(struct dti_json_reader *reader, enum dti_json_token *ret_token)
{
    if (reader->at == reader->end)
        return fail(reader, reader->at, "the text ends within an object");
    if (*reader->at != '"')
        return fail(reader, reader->at, "the name of a member is missing");
    if (!read_string(reader))
        return false;
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != ':')
        return fail(reader, reader->at, "a colon is missing");
    reader->at++;
    reader->expects = EXPECTS_VALUE;
    *ret_token = DTI_JSON_KEY;
    return true;
}

bool dti_json_next(struct dti_json_reader *reader, enum dti_json_token *ret_token)
{
    if (reader->expects == EXPECTS_NOTHING)
        return false;
    skip_blanks(reader);
    const bool at_end = reader->at == reader->end;
    switch (reader->expects) {
    case EXPECTS_FIRST_VALUE:
        if (!at_end && *reader->at == ']') {
            close_level(reader, ret_token);
            return true;
        }
        return read_value(reader, ret_token);
    case EXPECTS_FIRST_KEY:
        if (!at_end && *reader->at == '}') {
            close_level(reader, ret_token);
            return true;
        }
        return read_key(reader, ret_token);
    case EXPECTS_VALUE:
        return read_value(reader, ret_token);
    default:
        assert(reader->expects == EXPECTS_MORE);
        break;
    }

    if (reader->depth == 0) {
        if (!at_end)
            return fail(reader, reader->at, "unexpected text after the value");
        *ret_token = DTI_JSON_END;
        return true;
    }
    const bool in_object = is_in_object(reader);
    if (at_end)
        return fail(reader, reader->at,
                    in_object ? "the text ends within an object" : "the text ends within an array");
    const bool comma = *reader->at == ',';
    if (comma) {
        reader->at++;
        skip_blanks(reader);
    }
    if ((!comma || reader->comments) && reader->at < reader->end &&
        *reader->at == (in_object ? '}' : ']')) {
        close_level(reader, ret_token);
        return true;
    }
    if (!comma)
        return fail(reader, reader->at, "a comma is missing");
    return in_object ? read_key(reader, ret_token) : read_value(reader, ret_token);
}

void dti_json_string_value(const struct dti_json_reader *reader, const char **ret_text,
                           size_t *ret_length)
{
    *ret_text = reader->escaped ? reader->string.data : reader->token;
    *ret_length = reader->escaped ? reader->string.length : reader->token_length;
}

bool dti_json_string_is(const struct dti_json_reader *reader, const char *text)
{
    const char *string;
    size_t length;
    dti_json_string_value(reader, &string, &length);
    return dti_text_is(string, length, text);
}

bool dti_json_u64(const struct dti_json_reader *reader, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < reader->token_length; i++) {
        const char c = reader->token[i];
        if (c < '0' || c > '9')
            return false;
        const unsigned digit = (unsigned)(c - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return true;
}

void dti_json_value_ends(struct dti_json_reader *reader, const char *end)
{
    reader->at = end;
    reader->expects = EXPECTS_MORE;
}

bool dti_json_skip(struct dti_json_reader *reader, enum dti_json_token first)
{
    if (first != DTI_JSON_OBJECT && first != DTI_JSON_ARRAY)
        return true;
    const unsigned outside = reader->depth - 1;
    while (reader->depth > outside) {
        enum dti_json_token token;
        if (!dti_json_next(reader, &token))
            return false;
    }
    return true;
}
