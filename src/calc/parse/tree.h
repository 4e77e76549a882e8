/* SPDX-License-Identifier: MIT
 *
 * An expression as a tree: nodes in one array, children before their parents, so a linear pass
 * over the array evaluates it. Size and depth are limited before anything is computed.
 *
 *   program = { NAME "=" expr ";" } expr
 *   expr    = term { ("+" | "-") term }
 *   term    = unary { ("*" | "/") unary }
 *   unary   = ("-" | "+") unary | power        (a sign directly in front of a NUMBER belongs to it)
 *   power   = primary [ "^" ["-"] INTEGER ]    (binds tighter than a sign in front: -2^2 is -4)
 *   primary = NUMBER | NAME | NAME "(" expr {"," expr} ")" | "(" expr ")" | "[" expr {"," expr} "]"
 *           | "@" PATH [ ":" TENSOR ]
 *   NUMBER  = as dti_number_parse() without signs and a/b, with a suffix k M G T after a decimal
 *             (10k, 1.5M)
 *
 * Blanks only separate tokens. "inf", "nan" and the names of operations are not NAMEs. A PATH or
 * TENSOR ends at a blank, a colon, a comma, a semicolon, a bracket or an operator other than
 * '/', '-', '.', or is quoted with "..." or '...'. */
#ifndef CALC_PARSE_TREE_H
#define CALC_PARSE_TREE_H

#include "calc/calc.h"
#include "core/number/number.h"

enum {
    DTI_CALC_NODES_MAX = 4096,
    DTI_CALC_DEPTH_MAX = 200,
    DTI_CALC_TEXT_MAX = 1 << 20,
    DTI_CALC_POWER_MAX = 1000000000,
};

enum dti_calc_node_kind {
    DTI_NODE_NUMBER,
    DTI_NODE_FILE, /* @path:tensor, or the name of an array of the caller */
    DTI_NODE_LIST, /* [a, b]: numbers, or lists of equal length */
    DTI_NODE_CALL, /* an operation on its children */
    DTI_NODE_CAST, /* to or from the dtype that a composite computes in; the latter represents
                    * the composite and has its op */
};

struct dti_calc_node {
    enum dti_calc_node_kind kind;
    enum dti_calc_op op; /* CALL */
    size_t first, count; /* children: nodes[children[first + i]]; a name refers to the node
                          * assigned to it */
    size_t text, length; /* source text, an offset in tree->source: "x*x" */
    size_t within;       /* 1 + the composite's node if this node is part of its body; else 0 */
    int64_t power;       /* of POWER */
    struct dti_number *number; /* NUMBER */
    char *path, *tensor;       /* FILE; tensor may be NULL; path is the name of an array */
};

struct dti_calc_tree {
    char *source; /* the text, followed by the bodies of the composites */
    size_t node_count;
    struct dti_calc_node *nodes;
    size_t answer; /* the root node */
    size_t child_count;
    size_t *children;
    size_t own_length; /* length of the user's part of source */
};

#endif
