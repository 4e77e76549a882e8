/* SPDX-License-Identifier: MIT
 *
 * The NFA that patterns compile to: nodes with byte transitions and epsilon transitions.
 * regex_parse.c builds it, regexes.c runs it, and regex_capture.c where groups matter. */
#ifndef UTIL_TEXT_REGEX_H
#define UTIL_TEXT_REGEX_H

#include <stdbool.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/text/regexes.h"

enum dti_regex_node_kind {
    DTI_NODE_BYTE,   /* on the byte `value`, to next */
    DTI_NODE_SET,    /* on any byte of a set, to next */
    DTI_NODE_JOIN,   /* epsilon, to next */
    DTI_NODE_FORK,   /* epsilon, to next and to other */
    DTI_NODE_BEGIN,  /* epsilon at the start of the name, to next */
    DTI_NODE_END,    /* epsilon at its end, or before its final newline, to next */
    DTI_NODE_ACCEPT, /* pattern `other` matches here, if its kind `value` allows it */
    DTI_NODE_SAVE,   /* epsilon, to next; notes the place: begin (even) or end of group value / 2 */
};
struct dti_regex_node {
    uint8_t kind, value;
    uint32_t next, other; /* SET: other is the index of the set */
};
struct dti_regex_set {
    uint64_t bytes[4];
};

/* Node limit: NODES plus NODES_A_BYTE for each byte of all patterns. Patterns without
 * repetitions never need that many. */
enum {
    DTI_REGEX_NODES = 65536,
    DTI_REGEX_NODES_A_BYTE = 8,
    DTI_REGEX_NODES_MOST = 1 << 22,
    DTI_REGEX_REPEAT = 1000,
    DTI_REGEX_DEPTH = 50,
};

/* Patterns with a common prefix share its nodes (a trie): 700 patterns such as
 * ".*layers.17.q_proj" have one copy of ".*layers.", not 700. A step is one trie edge: a piece
 * with this text, read at node `from`, leads to `to`. */
struct dti_regex_step {
    uint32_t from, to;
    size_t text, length; /* in `texts` */
};
enum { DTI_REGEX_ROOTS = 3 };
struct dti_regex_program {
    struct dti_regex_node *nodes; /* node 0 is unused */
    uint32_t count, capacity;
    struct dti_regex_set *sets;
    uint32_t set_count, set_capacity;
    uint64_t made, bytes; /* nodes made, including discarded ones; bytes of all patterns */
    uint32_t roots[DTI_REGEX_ROOTS]; /* start nodes by pattern syntax; 0: none */
    struct dti_regex_step *steps;
    uint32_t step_count, step_capacity;
    uint32_t *slots; /* hash table: step index plus 1, 0 if empty */
    uint32_t slot_count;
    struct dti_buffer texts;
    /* Set before the only pattern, of kind WHOLE, is parsed: its groups become SAVE nodes. The lazy
     * automaton does not take such a program; dti_regex_capture() does. */
    bool captures;
    unsigned groups; /* how many it has */
};
void dti_regex_program_init(struct dti_regex_program *program);
void dti_regex_program_free(struct dti_regex_program *program);

/* Adds a pattern. On failure some of its nodes may remain, but they accept nothing. */
enum dti_status dti_regex_parse(struct dti_regex_program *program, enum dti_regex_kind kind,
                                const char *text, size_t length, uint32_t id,
                                struct dti_error *reterr);

/* Where the groups of the pattern match the name, as in Python's re.fullmatch(): bytes begin[i] to
 * end[i] - 1, where 0 is the whole name; SIZE_MAX: the group takes no part. *ret_found: false: the
 * name does not match. Time and memory are proportional to the name's length times the number of
 * nodes; fails with DTI_BAD_INPUT if that exceeds 2^27, and with DTI_NO_MEMORY. */
enum { DTI_REGEX_GROUPS = 10 };
struct dti_regex_groups {
    size_t begin[DTI_REGEX_GROUPS], end[DTI_REGEX_GROUPS];
};
enum dti_status dti_regex_capture(const struct dti_regex_program *program, const char *name,
                                  size_t length, struct dti_regex_groups *ret, bool *ret_found,
                                  struct dti_error *reterr);

static inline bool dti_regex_set_has(const struct dti_regex_set *set, unsigned char byte)
{
    return (set->bytes[byte / 64] >> byte % 64 & 1) != 0;
}

#endif
