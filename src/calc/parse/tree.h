/* SPDX-License-Identifier: MIT
 *
 * An expression as a tree: nodes in one array, children before their parents, so that going through
 * the array evaluates it. Bounded in size and depth before anything is computed.
 *
 *   program = { NAME "=" expr ";" } expr
 *   expr    = term { ("+" | "-") term }
 *   term    = unary { ("*" | "/") unary }
 *   unary   = ("-" | "+") unary | power        (a sign directly in front of a NUMBER belongs to it)
 *   power   = primary [ "^" ["-"] INTEGER ]    (binds tighter than a sign in front: -2^2 is -4)
 *   primary = NUMBER | NAME | NAME "(" expr {"," expr} ")" | "(" expr ")" | "[" expr {"," expr} "]"
 *           | "@" PATH [ ":" TENSOR ]
 *   NUMBER  = as dti_number_parse() but for signs and a/b, with a suffix k M G T after a decimal
 *             (10k, 1.5M)
 *
 * Blanks separate tokens and mean nothing else. "inf", "nan" and the names of operations are no
 * NAMEs. A PATH or TENSOR ends at a blank, a colon, a comma, a semicolon, a bracket or an operator
 * other than '/', '-', '.', or is quoted with "..." or '...'. */
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
    DTI_NODE_FILE, /* @path:tensor */
    DTI_NODE_LIST, /* [a, b]: of numbers, or of lists of one length */
    DTI_NODE_CALL, /* an operation on its children */
    DTI_NODE_CAST, /* into, and out of, the dtype that a composite computes in: the latter stands
                    * for the composite, whose op it has */
};

struct dti_calc_node {
    enum dti_calc_node_kind kind;
    enum dti_calc_op op; /* CALL */
    size_t first, count; /* children: nodes[children[first + i]]; a name is the node it was given */
    size_t text, length; /* of the source, from tree->source: "x*x" */
    size_t within;       /* the composite's node plus 1 where the node is of one's body; else 0 */
    int64_t power;       /* of POWER */
    struct dti_number *number; /* NUMBER */
    char *path, *tensor;       /* FILE; tensor may be NULL */
};

struct dti_calc_tree {
    char *source; /* the text, and behind it the bodies of the composites */
    size_t node_count;
    struct dti_calc_node *nodes;
    size_t answer; /* the node that the expression is */
    size_t child_count;
    size_t *children;
    size_t own_length; /* of source: the part that was given */
};

#endif
