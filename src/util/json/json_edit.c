/* SPDX-License-Identifier: MIT
 *
 * Edits the text of a JSON object. */
#include "util/json/json_edit.h"

#include <string.h>

/* A byte range of the text. */
struct edit_span {
    size_t begin, end;
};

struct found {
    bool any;                      /* the object has members */
    bool there, first;             /* the key exists; it is the first member */
    struct edit_span first_member; /* from after the opening brace to the first key */
    struct edit_span member;       /* the key and its value */
    size_t value;                  /* start of the key's value */
    size_t before;                 /* end of the preceding member */
    size_t last;                   /* end of the last member */
    size_t next;                   /* start of the next key, or the end of the last member */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Offset of the value after a key. */
static size_t value_after(const char *text, size_t at)
{
    while (is_space(text[at]) || text[at] == ':')
        at++;
    return at;
}

static const char *look(struct dti_json_reader *reader, const char *key, struct found *ret)
{
    enum dti_json_token token;
    const char *const text = reader->start;
    bool was = false;
    if (!dti_json_next(reader, &token))
        return reader->problem;
    if (token != DTI_JSON_OBJECT)
        return "is not an object";
    const size_t open = (size_t)(reader->at - text);
    while (true) {
        if (!dti_json_next(reader, &token))
            return reader->problem;
        if (token != DTI_JSON_KEY)
            break;
        const size_t begin = (size_t)(reader->token - 1 - text);
        const size_t end = (size_t)(reader->token + reader->token_length + 1 - text);
        const bool same = dti_json_string_is(reader, key);
        if (!ret->any)
            ret->first_member = (struct edit_span){open, begin};
        if (was)
            ret->next = begin;
        if (same && ret->there)
            return "has the member twice";
        if (same) {
            ret->there = true;
            ret->first = !ret->any;
            ret->before = ret->last;
        }
        if (!dti_json_next(reader, &token) || !dti_json_skip(reader, token))
            return reader->problem;
        ret->last = (size_t)(reader->at - text);
        if (same) {
            ret->value = value_after(text, end);
            ret->member = (struct edit_span){begin, ret->last};
            ret->next = ret->last;
        }
        was = same;
        ret->any = true;
    }
    if (!ret->any)
        ret->last = open;
    return dti_json_next(reader, &token) ? NULL : reader->problem;
}

/* Appends the value, formatted like the object. */
static void put_value(struct dti_buffer *ret, const char *value, const char *space, size_t length)
{
    const char *indent = memchr(space, '\n', length);
    while (indent && memchr(indent + 1, '\n', (size_t)(space + length - indent - 1)))
        indent = memchr(indent + 1, '\n', (size_t)(space + length - indent - 1));
    const char *const end = space + length;
    for (; *value != '\0'; value++) {
        if (*value != '\n') {
            dti_buffer_append(ret, value, 1);
            continue;
        }
        if (indent) {
            dti_buffer_append(ret, indent, (size_t)(end - indent));
            continue;
        }
        if (value[-1] == ',')
            dti_buffer_puts(ret, " ");
        while (value[1] == ' ')
            value++;
    }
}

bool dti_json_set_member(const char *text, size_t length, const char *key, const char *value,
                         struct dti_buffer *ret, const char **ret_problem)
{
    struct dti_json_reader reader;
    struct found found = {.any = false};
    dti_json_reader_init(&reader, text, length);
    reader.nonfinite = true;
    *ret_problem = look(&reader, key, &found);
    if (reader.string.failed)
        ret->failed = true;
    dti_json_reader_free(&reader);
    if (*ret_problem || ret->failed)
        return false;
    const char *const space = text + found.first_member.begin;
    const size_t spaces = found.first_member.end - found.first_member.begin;
    if (found.there && value) {
        dti_buffer_append(ret, text, found.value);
        put_value(ret, value, space, spaces);
        dti_buffer_append(ret, text + found.member.end, length - found.member.end);
    } else if (found.there) { /* remove with the preceding comma, or for the first member with the
                                 following one */
        const struct edit_span gone = found.first
                                          ? (struct edit_span){found.member.begin, found.next}
                                          : (struct edit_span){found.before, found.member.end};
        dti_buffer_append(ret, text, gone.begin);
        dti_buffer_append(ret, text + gone.end, length - gone.end);
    } else if (value) {
        dti_buffer_append(ret, text, found.last);
        dti_buffer_puts(ret, found.any ? "," : "");
        dti_buffer_append(ret, space, spaces);
        dti_buffer_puts(ret, "\"");
        dti_buffer_puts(ret, key);
        dti_buffer_puts(ret, "\": ");
        put_value(ret, value, space, spaces);
        dti_buffer_append(ret, text + found.last, length - found.last);
    } else {
        dti_buffer_append(ret, text, length);
    }
    return !ret->failed;
}
