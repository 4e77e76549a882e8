/* SPDX-License-Identifier: MIT
 *
 * A JSON document against the schema that it names, by tables that make_schema_table.py made. The
 * text is read by the strict reader, which knows nothing of the writer. */
#ifndef DTINFO_SCHEMA_CHECK_H
#define DTINFO_SCHEMA_CHECK_H

#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "util/json/json_read.h"

enum schema_type {
    SCHEMA_OBJECT = 1,
    SCHEMA_ARRAY = 2,
    SCHEMA_STRING = 4,
    SCHEMA_NUMBER = 8,
    SCHEMA_INTEGER = 16,
    SCHEMA_BOOLEAN = 32,
    SCHEMA_NULL = 64,
};

struct schema_node {
    uint16_t types, first_member, members, items, first_word, words;
};

struct schema_member {
    const char *name;
    uint16_t length, node;
    bool required;
};

struct schema_word {
    const char *text;
    uint16_t length;
};

struct schema_root {
    const char *title;
    uint16_t node;
};

#include "schema_table.h"

static inline bool schema_token_is(const struct dti_json_reader *reader, const char *text,
                                   size_t text_length)
{
    const char *value;
    size_t length;
    dti_json_string_value(reader, &value, &length);
    return length == text_length && memcmp(value, text, length) == 0;
}

static inline enum dti_json_token schema_next(struct dti_json_reader *reader)
{
    enum dti_json_token token = DTI_JSON_NULL;
    REQUIRE(dti_json_next(reader, &token));
    return token;
}

static inline unsigned schema_types_of(const struct dti_json_reader *reader,
                                       enum dti_json_token token)
{
    switch (token) {
    case DTI_JSON_OBJECT:
        return SCHEMA_OBJECT;
    case DTI_JSON_ARRAY:
        return SCHEMA_ARRAY;
    case DTI_JSON_STRING:
        return SCHEMA_STRING;
    case DTI_JSON_NUMBER:
        for (size_t i = 0; i < reader->token_length; i++) {
            if (strchr(".eE", reader->token[i]))
                return SCHEMA_NUMBER;
        }
        return SCHEMA_NUMBER | SCHEMA_INTEGER;
    case DTI_JSON_TRUE:
    case DTI_JSON_FALSE:
        return SCHEMA_BOOLEAN;
    case DTI_JSON_NULL:
        return SCHEMA_NULL;
    default:
        return 0;
    }
}

/* The member of that name, or the number of members. Documents mostly have them in the order of the
 * schema: `next` is looked at first. */
static inline unsigned schema_find(const struct dti_json_reader *reader,
                                   const struct schema_node *node, unsigned next)
{
    for (unsigned i = 0; i < node->members; i++, next++) {
        next = next < node->members ? next : 0;
        const struct schema_member *const member = &schema_members[node->first_member + next];
        if (schema_token_is(reader, member->name, member->length))
            return next;
    }
    return node->members;
}

static inline void schema_check_word(const struct dti_json_reader *reader,
                                     const struct schema_node *node)
{
    bool is_word = node->words == 0;
    for (unsigned i = 0; i < node->words && !is_word; i++)
        is_word = schema_token_is(reader, schema_words[node->first_word + i].text,
                                  schema_words[node->first_word + i].length);
    REQUIRE(is_word);
}

static inline void schema_check_value(struct dti_json_reader *reader, enum dti_json_token token,
                                      unsigned number);

/* Each member once, none that the schema does not have, and all that it demands. */
static inline void schema_check_object(struct dti_json_reader *reader,
                                       const struct schema_node *node)
{
    uint64_t seen = 0;
    for (unsigned member = 0;; member++) {
        const enum dti_json_token token = schema_next(reader);
        if (token == DTI_JSON_OBJECT_END)
            break;
        REQUIRE(token == DTI_JSON_KEY);
        member = schema_find(reader, node, member);
        REQUIRE(member < node->members);
        REQUIRE(!(seen >> member & 1));
        seen |= UINT64_C(1) << member;
        schema_check_value(reader, schema_next(reader),
                           schema_members[node->first_member + member].node);
    }
    for (unsigned i = 0; i < node->members; i++)
        REQUIRE(seen >> i & 1 || !schema_members[node->first_member + i].required);
}

static inline void schema_check_value(struct dti_json_reader *reader, enum dti_json_token token,
                                      unsigned number)
{
    const struct schema_node *const node = &schema_nodes[number];
    REQUIRE(schema_types_of(reader, token) & node->types);
    if (token == DTI_JSON_STRING)
        schema_check_word(reader, node);
    if (token == DTI_JSON_OBJECT)
        schema_check_object(reader, node);
    while (token == DTI_JSON_ARRAY) {
        const enum dti_json_token item = schema_next(reader);
        if (item == DTI_JSON_ARRAY_END)
            break;
        schema_check_value(reader, item, node->items);
    }
}

/* The row of the schema that stands in the document's first member. */
static inline unsigned schema_of(const char *text, size_t length)
{
    static const char front[] = "{\"schema\":\"";
    const size_t skipped = sizeof front - 1;
    REQUIRE(length > skipped && memcmp(text, front, skipped) == 0);
    for (size_t i = 0; i < sizeof schema_roots / sizeof *schema_roots; i++) {
        const size_t title = strlen(schema_roots[i].title);
        if (length > skipped + title && text[skipped + title] == '"' &&
            memcmp(text + skipped, schema_roots[i].title, title) == 0)
            return schema_roots[i].node;
    }
    const bool is_known = false;
    REQUIRE(is_known);
    return 0;
}

static inline void schema_check(const char *text, size_t length)
{
    struct dti_json_reader reader;
    dti_json_reader_init(&reader, text, length);
    const enum dti_json_token token = schema_next(&reader);
    schema_check_value(&reader, token, schema_of(text, length));
    REQUIRE(schema_next(&reader) == DTI_JSON_END);
    dti_json_reader_free(&reader);
}

#endif
