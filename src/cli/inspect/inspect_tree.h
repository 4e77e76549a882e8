/* SPDX-License-Identifier: MIT
 *
 * The names of a file's tensors as a tree: parts between dots are branches, all numeric parts are
 * one branch "#", and tensors of one dtype and shape at the same place are one leaf. */
#ifndef DTINFO_CLI_INSPECT_TREE_H
#define DTINFO_CLI_INSPECT_TREE_H

#include "cli/inspect/inspect_view.h"

/* Deeper parts of a name stay together. */
enum { INSPECT_TREE_DEPTH = 32 };

enum inspect_branch { INSPECT_BRANCH, INSPECT_NUMBERS, INSPECT_LEAF };

#define INSPECT_NOWHERE SIZE_MAX

struct inspect_node {
    enum inspect_branch kind;
    size_t parent, first_child, last_child, next; /* or INSPECT_NOWHERE */
    const char *text;                             /* a branch's part of the name */
    size_t length;
    const struct dti_tensor *tensor; /* a leaf's first */
    size_t tensors;
    uint64_t elements, bytes;
    size_t seen; /* the first of its numbers, once the tree is complete */
    uint64_t hash;
};

/* A number from a name: at a "#", or at the level-th "#" on the path to a leaf. */
struct inspect_number {
    size_t node;
    unsigned level;
    uint64_t number;
};

struct inspect_tree {
    struct inspect_node *nodes; /* the first is the root */
    size_t count, capacity;
    size_t *slots; /* a hash table: a node's number, or INSPECT_NOWHERE */
    size_t slot_count;
    uint64_t seed;
    struct inspect_number *numbers; /* sorted, each once */
    size_t number_count, number_capacity;
};

/* Free the tree in any case. */
enum dti_status dti_inspect_tree_init(struct inspect_tree *ret,
                                      const struct dti_inspect_report *report,
                                      struct dti_error *reterr);
void dti_inspect_tree_free(struct inspect_tree *tree);

/* The numbers of a node at a level: how many, and the first. */
size_t dti_inspect_tree_numbers(const struct inspect_tree *tree, size_t node, unsigned level,
                                const struct inspect_number **ret_first);

#endif
