/* SPDX-License-Identifier: MIT
 *
 * The automaton that patterns become: nodes, from each of which one gets to others with a byte or
 * without. Shared by regex_parse.c, which makes it, and regexes.c, which runs it. */
#ifndef UTIL_TEXT_REGEX_H
#define UTIL_TEXT_REGEX_H

#include <stdbool.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/text/regexes.h"

enum dti_regex_node_kind {
    DTI_NODE_BYTE,   /* with the byte `value`, to next */
    DTI_NODE_SET,    /* with any byte of a set, to next */
    DTI_NODE_JOIN,   /* without a byte */
    DTI_NODE_FORK,   /* the same, to next and to other */
    DTI_NODE_BEGIN,  /* to next at the start of the name */
    DTI_NODE_END,    /* to next at its end, or before a newline that ends it */
    DTI_NODE_ACCEPT, /* pattern `other` matches up to here, if that is a place for `value` */
};
struct dti_regex_node {
    uint8_t kind, value;
    uint32_t next, other; /* SET: other is the index of the set */
};
struct dti_regex_set {
    uint64_t bytes[4];
};

/* How many nodes may be made: NODES, and NODES_A_BYTE for each byte of all patterns, which is more
 * than they need without repetitions. */
enum {
    DTI_REGEX_NODES = 65536,
    DTI_REGEX_NODES_A_BYTE = 8,
    DTI_REGEX_NODES_MOST = 1 << 22,
    DTI_REGEX_REPEAT = 1000,
    DTI_REGEX_DEPTH = 50,
};

/* Patterns that begin with the same text have nodes in common: 700 of them such as
 * ".*layers.17.q_proj" are in one place of ".*layers." and not in 700. A step: the text of a piece
 * that was read at node `from` leads to `to`. */
struct dti_regex_step {
    uint32_t from, to;
    size_t text, length; /* in texts */
};
enum { DTI_REGEX_ROOTS = 3 };
struct dti_regex_program {
    struct dti_regex_node *nodes; /* the first is none */
    uint32_t count, capacity;
    struct dti_regex_set *sets;
    uint32_t set_count, set_capacity;
    uint64_t made, bytes; /* nodes, kept or not; of patterns */
    uint32_t
        roots[DTI_REGEX_ROOTS]; /* where patterns begin, by how they are read; 0: there is none */
    struct dti_regex_step *steps;
    uint32_t step_count, step_capacity;
    uint32_t *slots; /* of steps, and 1 */
    uint32_t slot_count;
    struct dti_buffer texts;
};
void dti_regex_program_init(struct dti_regex_program *program);
void dti_regex_program_free(struct dti_regex_program *program);

/* Adds a pattern. Where it fails, nodes of it may remain, which accept nothing. */
enum dti_status dti_regex_parse(struct dti_regex_program *program, enum dti_regex_kind kind,
                                const char *text, size_t length, uint32_t id,
                                struct dti_error *reterr);

static inline bool dti_regex_set_has(const struct dti_regex_set *set, unsigned char byte)
{
    return (set->bytes[byte / 64] >> byte % 64 & 1) != 0;
}

#endif
