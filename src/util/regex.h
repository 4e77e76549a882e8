/* SPDX-License-Identifier: MIT
 *
 * The automaton that patterns become: nodes, from each of which one gets to others with a byte or
 * without. Shared by regex_parse.c, which makes it, and regexes.c, which runs it. */
#ifndef DTINFO_UTIL_REGEX_H
#define DTINFO_UTIL_REGEX_H

#include <stdbool.h>
#include <stdint.h>

#include "dtinfo/regexes.h"

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

enum { DTI_REGEX_NODES = 65536, DTI_REGEX_REPEAT = 1000, DTI_REGEX_DEPTH = 50 };
struct dti_regex_program {
    struct dti_regex_node *nodes;
    uint32_t count, capacity;
    struct dti_regex_set *sets;
    uint32_t set_count, set_capacity;
};

/* Appends a pattern; *ret_start is its first node. Where it fails, nodes of it may remain, to which
 * nothing leads. */
enum dti_status dti_regex_parse(struct dti_regex_program *program, enum dti_regex_kind kind,
                                const char *text, size_t length, uint32_t id, uint32_t *ret_start,
                                struct dti_error *reterr);

static inline bool dti_regex_set_has(const struct dti_regex_set *set, unsigned char byte)
{
    return (set->bytes[byte / 64] >> byte % 64 & 1) != 0;
}

#endif
