/* SPDX-License-Identifier: MIT
 *
 * JSON trees: one node a value, in an arena, built from the tokens of the strict parser without
 * recursion. */
#include "report/json_tree.h"

#include <string.h>

#include "util/json/json_read.h"
#include "util/run/allocate.h"
#include "util/run/memory_pool.h"

struct dti_tree {
    enum dti_json_token kind; /* a first token of a value, never a key or an end */
    const char *key;          /* in an object */
    const char *text;         /* of a string or a number */
    struct dti_tree *child, *next;
};

struct document {
    struct dti_tree root; /* first: dti_tree_free() gets its address */
    struct dti_pool pool;
};

/* Where the next value goes: below the innermost open array or object, after its last value. */
struct builder {
    struct document *document;
    struct dti_json_reader reader;
    struct dti_tree **places[DTI_JSON_DEPTH + 1]; /* by depth */
    size_t level, values;
    const char *key;
    const char *problem;
};

static const char *copy_string(struct builder *builder)
{
    const char *text;
    size_t length;
    dti_json_string_value(&builder->reader, &text, &length);
    return dti_pool_text(&builder->document->pool, text, length);
}

static const char *limit_exceeded(const struct builder *builder, enum dti_json_token token)
{
    if (token == DTI_JSON_NUMBER && builder->reader.token_length > DTI_TREE_DIGITS)
        return "a number is too long";
    return builder->values > DTI_TREE_VALUES ? "there are too many values" : NULL;
}

/* Appends a value, and goes below it if it has values of its own. False if memory ran out. */
static bool add_value(struct builder *builder, enum dti_json_token token)
{
    struct document *const document = builder->document;
    struct dti_tree *const node =
        builder->level == 0 ? &document->root : dti_pool_alloc(&document->pool, sizeof *node);
    if (!node)
        return false;
    *node = (struct dti_tree){.kind = token, .key = builder->key};
    builder->key = NULL;
    if (token == DTI_JSON_STRING)
        node->text = copy_string(builder);
    else if (token == DTI_JSON_NUMBER)
        node->text =
            dti_pool_text(&document->pool, builder->reader.token, builder->reader.token_length);
    if (!node->text && (token == DTI_JSON_STRING || token == DTI_JSON_NUMBER))
        return false;
    if (builder->level > 0) {
        *builder->places[builder->level] = node;
        builder->places[builder->level] = &node->next;
    }
    if (token == DTI_JSON_OBJECT || token == DTI_JSON_ARRAY)
        builder->places[++builder->level] = &node->child;
    return true;
}

/* Reads the whole document. False on an error; builder->problem is NULL when memory ran out. */
static bool build(struct builder *builder)
{
    for (enum dti_json_token token;;) {
        if (!dti_json_next(&builder->reader, &token)) {
            builder->problem = builder->reader.string.failed ? NULL : builder->reader.problem;
            return false;
        }
        if (token == DTI_JSON_END)
            return true;
        if (token == DTI_JSON_OBJECT_END || token == DTI_JSON_ARRAY_END) {
            builder->values++;
            builder->level--;
        } else if (token == DTI_JSON_KEY) {
            builder->key = copy_string(builder);
            if (!builder->key)
                return false;
        } else {
            builder->values++;
            builder->problem = limit_exceeded(builder, token);
            if (builder->problem || !add_value(builder, token))
                return false;
        }
    }
}

enum dti_status dti_tree_read(struct dti_tree **ret, const char *text, size_t length,
                              const char **ret_problem, size_t *ret_at)
{
    struct builder builder = {.document = dti_calloc(1, sizeof *builder.document)};
    if (!builder.document)
        return DTI_NO_MEMORY;
    dti_json_reader_init(&builder.reader, text, length);
    const bool good = build(&builder);
    *ret_at = (size_t)(builder.reader.at - builder.reader.start);
    dti_json_reader_free(&builder.reader);
    if (good) {
        *ret = &builder.document->root;
        return DTI_OK;
    }
    dti_tree_free(&builder.document->root);
    *ret_problem = builder.problem;
    return builder.problem ? DTI_BAD_INPUT : DTI_NO_MEMORY;
}

void dti_tree_free(struct dti_tree *tree)
{
    struct document *const document = (struct document *)tree;
    if (document)
        dti_pool_free(&document->pool);
    dti_free(document);
}

const struct dti_tree *dti_tree_member(const struct dti_tree *object, const char *key)
{
    const struct dti_tree *found = NULL;
    if (!object || object->kind != DTI_JSON_OBJECT)
        return NULL;
    for (const struct dti_tree *member = object->child; member; member = member->next) {
        if (strcmp(member->key, key) == 0)
            found = member;
    }
    return found;
}

const struct dti_tree *dti_tree_first(const struct dti_tree *array)
{
    return array && array->kind == DTI_JSON_ARRAY ? array->child : NULL;
}

const struct dti_tree *dti_tree_next(const struct dti_tree *element)
{
    return element->next;
}

const char *dti_tree_text(const struct dti_tree *value)
{
    return value && value->kind == DTI_JSON_STRING ? value->text : NULL;
}

const char *dti_tree_number(const struct dti_tree *value)
{
    return value && value->kind == DTI_JSON_NUMBER ? value->text : NULL;
}

bool dti_tree_is_true(const struct dti_tree *value)
{
    return value && value->kind == DTI_JSON_TRUE;
}
