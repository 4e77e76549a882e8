/* SPDX-License-Identifier: MIT
 *
 * What the parts of the parser share: tokens, the tree that is being built, and messages. */
#ifndef CALC_PARSE_TREE_PARSE_H
#define CALC_PARSE_TREE_PARSE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc/parse/tree.h"

/* tree_read.c: a token of the text: a kind, or the character that it is. */
enum { DTI_TOKEN_END = 0, DTI_TOKEN_NUMBER = 256, DTI_TOKEN_NAME };
struct dti_reader {
    const char *source;
    size_t at, end;       /* what is still to be read */
    int token;            /* the one being looked at, */
    size_t start, length; /* and where it is */
    size_t last_end;      /* where the one before it ends */
};
/* Goes on to the next token. Fails with DTI_BAD_VALUE at what is none. */
enum dti_status dti_reader_next(struct dti_reader *reader, struct dti_error *reterr);
/* The NUMBER that is being looked at. */
enum dti_status dti_reader_number(const struct dti_reader *reader, struct dti_number *ret,
                                  struct dti_error *reterr);
/* The PATH or TENSOR that begins where the token ends, as a string to free. Then goes on to the
 * next token. */
enum dti_status dti_reader_path(struct dti_reader *reader, const char *what, char **ret,
                                struct dti_error *reterr);

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

/* "inf", "nan" */
static inline bool dti_builder_is_number(const char *name, size_t length)
{
    struct dti_value value;
    return dti_value_parse(&value, name, length, NULL) == DTI_OK;
}

/* tree_mistakes.c: failures, and what was perhaps meant. */

/* What to do instead of writing the sign at `at`, which other languages have; NULL: nobody has it.
 */
const char *dti_foreign_sign(const char *at, size_t left, size_t *ret_length);
/* No function or no name is called so. */
enum dti_status dti_builder_unknown(struct dti_builder *b, bool function, const char *name,
                                    size_t length);
/* What the reader looks at is not what is `wanted`: "an operator", where nothing else may follow;
 * "an operator or ...". */
enum dti_status dti_builder_unexpected(struct dti_builder *b, const char *wanted);
enum dti_status dti_builder_wrong_count(struct dti_builder *b, const struct dti_calc_op_row *row,
                                        size_t count);

#endif
