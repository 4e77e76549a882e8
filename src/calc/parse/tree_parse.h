/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of the parser: tokens, the tree being built, and error messages. */
#ifndef CALC_PARSE_TREE_PARSE_H
#define CALC_PARSE_TREE_PARSE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/parse/tree.h"

/* tree_read.c: a token, given by its kind or by its single character. */
enum { DTI_TOKEN_END = 0, DTI_TOKEN_NUMBER = 256, DTI_TOKEN_NAME };
struct dti_reader {
    const char *source;
    size_t at, end;       /* remaining text */
    int token;            /* current token, */
    size_t start, length; /* its position, */
    size_t last_end;      /* and the end of the previous one */
};
/* Advances to the next token. Fails with DTI_BAD_VALUE if there is no valid one. */
enum dti_status dti_reader_next(struct dti_reader *reader, struct dti_error *reterr);
/* The value of the current NUMBER token. */
enum dti_status dti_reader_number(const struct dti_reader *reader, struct dti_number *ret,
                                  struct dti_error *reterr);
/* Reads the PATH or TENSOR that starts at the end of the current token; the caller frees it.
 * Then advances to the next token. */
enum dti_status dti_reader_path(struct dti_reader *reader, const char *what, char **ret,
                                struct dti_error *reterr);

struct dti_builder_name {
    const char *text; /* points into tree->source, or to a string that outlives it */
    size_t length, node;
};

struct dti_builder {
    struct dti_calc_tree *tree;
    struct dti_reader reader;
    struct dti_error *error;
    struct dti_builder_name *names; /* names below name_base belong to the caller of a composite */
    size_t name_count, name_capacity, name_base;
    size_t *pending; /* stack of children of unfinished nodes */
    size_t pending_count, pending_capacity;
    size_t node_capacity, child_capacity;
    const char *const *bound; /* names of the caller's arrays, NULL after the last; NULL: there are
                               * files instead */
    unsigned depth;
    size_t bodies[DTI_CALC_OP_COUNT]; /* start of each composite's body in tree->source */
};

/* "inf", "nan" */
static inline bool dti_builder_is_number(const char *name, size_t length)
{
    struct dti_value value;
    return dti_value_parse(&value, name, length, NULL) == DTI_OK;
}

/* tree_mistakes.c: errors, with suggestions. */

/* The replacement for an operator of another language at `at`; NULL if there is none. */
const char *dti_foreign_sign(const char *at, size_t left, size_t *ret_length);
/* Fails: unknown function or name. */
enum dti_status dti_builder_unknown(struct dti_builder *b, bool function, const char *name,
                                    size_t length);
/* Fails: the current token is not what is `wanted`: "an operator" if nothing else may follow;
 * "an operator or ...". */
enum dti_status dti_builder_unexpected(struct dti_builder *b, const char *wanted);
enum dti_status dti_builder_wrong_count(struct dti_builder *b, const struct dti_calc_op_row *row,
                                        size_t count);

#endif
