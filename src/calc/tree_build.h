/* SPDX-License-Identifier: MIT
 *
 * What the parser builds a tree with: nodes, names, and the words of the language. */
#ifndef DTINFO_CALC_TREE_BUILD_H
#define DTINFO_CALC_TREE_BUILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/tree.h"

struct dti_builder_name {
    const char *text; /* of tree->source, or a string that outlives it */
    size_t length, node;
};

struct dti_builder {
    struct dti_calc_tree *tree;
    struct dti_reader reader;
    struct dti_error *error;
    struct dti_builder_name *names; /* those before name_base belong to who called a composite */
    size_t name_count, name_capacity, name_base;
    size_t *pending; /* children of what is being read */
    size_t pending_count, pending_capacity;
    size_t node_capacity, child_capacity;
    unsigned depth;
    size_t bodies[DTI_CALC_OP_COUNT]; /* where a composite's body begins in tree->source */
};

/* A tree without nodes, and the reader at the start of its text. */
enum dti_status dti_builder_init(struct dti_builder *b, const char *text, size_t length);
void dti_builder_free(struct dti_builder *b); /* all but the tree */

/* A node whose text is source[start, end). */
enum dti_status dti_builder_add(struct dti_builder *b, enum dti_calc_node_kind kind,
                                enum dti_calc_op op, const size_t *children, size_t count,
                                size_t start, size_t end, size_t *ret);
/* The number that the reader looks at: a NUMBER, or a NAME for which dti_builder_is_number(). */
enum dti_status dti_builder_number(struct dti_builder *b, size_t *ret);
enum dti_status dti_builder_push(struct dti_builder *b, size_t node);
enum dti_status dti_builder_name(struct dti_builder *b, const char *text, size_t length,
                                 size_t node);

/* "inf", "nan" */
static inline bool dti_builder_is_number(const char *name, size_t length)
{
    struct dti_value value;
    return dti_value_parse(&value, name, length, NULL) == DTI_OK;
}

/* tree_mistakes.c: failures, and what was perhaps meant. */

/* No function or no name is called so. */
enum dti_status dti_builder_unknown(struct dti_builder *b, bool function, const char *name,
                                    size_t length);
/* What the reader looks at is not what is `wanted`: "an operator", where nothing else may follow;
 * "an operator or ...". */
enum dti_status dti_builder_unexpected(struct dti_builder *b, const char *wanted);
enum dti_status dti_builder_wrong_count(struct dti_builder *b, const struct dti_calc_op_row *row,
                                        size_t count);

#endif
