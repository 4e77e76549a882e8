/* SPDX-License-Identifier: MIT
 *
 * Puts pieces of the automaton together, each with one entry and one exit. */
#include "util/regex_build.h"

#include <stdlib.h>

void dti_regex_fail(struct dti_regex_parser *parser, const char *why)
{
    if (parser->status == DTI_OK)
        parser->status = dti_fail(parser->reterr, DTI_BAD_INPUT, "%s", why);
}

void dti_regex_unsupported(struct dti_regex_parser *parser, const char *what)
{
    if (parser->status == DTI_OK)
        parser->status =
            dti_fail(parser->reterr, DTI_BAD_INPUT, "has %s, which is not supported", what);
}

bool dti_regex_grow(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    const uint32_t more = *capacity > 0 ? *capacity * 2 : 64;
    void *const grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

uint32_t dti_regex_add_node(struct dti_regex_parser *parser, enum dti_regex_node_kind kind,
                            uint32_t other)
{
    struct dti_regex_program *const program = parser->program;
    void *nodes = program->nodes;
    if (parser->status != DTI_OK)
        return 0;
    if (program->made >= DTI_REGEX_NODES_MOST ||
        program->made >= DTI_REGEX_NODES + DTI_REGEX_NODES_A_BYTE * program->bytes) {
        dti_regex_fail(parser, "makes the patterns too long: more than 65536 states, and 8 for "
                               "each byte of them");
        return 0;
    }
    if (!dti_regex_grow(&nodes, program->count, &program->capacity, sizeof *program->nodes)) {
        parser->status = dti_no_memory(parser->reterr);
        return 0;
    }
    program->nodes = nodes;
    program->nodes[program->count] = (struct dti_regex_node){.kind = (uint8_t)kind, .other = other};
    program->made++;
    return program->count++;
}

void dti_regex_link(struct dti_regex_parser *parser, uint32_t from, uint32_t to)
{
    if (parser->status == DTI_OK)
        parser->program->nodes[from].next = to;
}

/* A node and its exit. */
struct dti_regex_piece dti_regex_single(struct dti_regex_parser *parser,
                                        enum dti_regex_node_kind kind, uint8_t value,
                                        uint32_t other)
{
    struct dti_regex_piece piece;
    piece.in = dti_regex_add_node(parser, kind, other);
    piece.out = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    dti_regex_link(parser, piece.in, piece.out);
    if (parser->status == DTI_OK)
        parser->program->nodes[piece.in].value = value;
    return piece;
}

struct dti_regex_piece dti_regex_nothing(struct dti_regex_parser *parser)
{
    const uint32_t node = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    return (struct dti_regex_piece){.in = node, .out = node};
}

struct dti_regex_piece dti_regex_then(struct dti_regex_parser *parser, struct dti_regex_piece first,
                                      struct dti_regex_piece second)
{
    dti_regex_link(parser, first.out, second.in);
    return (struct dti_regex_piece){.in = first.in, .out = second.out};
}

/* One or the other. */
struct dti_regex_piece dti_regex_either(struct dti_regex_parser *parser, struct dti_regex_piece one,
                                        struct dti_regex_piece other)
{
    struct dti_regex_piece both;
    both.in = dti_regex_add_node(parser, DTI_NODE_FORK, other.in);
    both.out = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    dti_regex_link(parser, both.in, one.in);
    dti_regex_link(parser, one.out, both.out);
    dti_regex_link(parser, other.out, both.out);
    return both;
}

/* Any number of times. */
struct dti_regex_piece dti_regex_loop(struct dti_regex_parser *parser, struct dti_regex_piece piece)
{
    struct dti_regex_piece all;
    all.out = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    all.in = dti_regex_add_node(parser, DTI_NODE_FORK, all.out);
    dti_regex_link(parser, all.in, piece.in);
    dti_regex_link(parser, piece.out, all.in);
    return all;
}

static struct dti_regex_piece of_set(struct dti_regex_parser *parser,
                                     const struct dti_regex_set *set)
{
    struct dti_regex_program *const program = parser->program;
    void *sets = program->sets;
    if (!dti_regex_grow(&sets, program->set_count, &program->set_capacity, sizeof *program->sets)) {
        if (parser->status == DTI_OK)
            parser->status = dti_no_memory(parser->reterr);
        return (struct dti_regex_piece){.in = 0};
    }
    program->sets = sets;
    program->sets[program->set_count] = *set;
    return dti_regex_single(parser, DTI_NODE_SET, 0, program->set_count++);
}

struct dti_regex_piece dti_regex_characters(struct dti_regex_parser *parser,
                                            const struct dti_regex_characters *set)
{
    static const struct dti_regex_set rest = {.bytes = {0, 0, UINT64_MAX, 0}};
    const struct dti_regex_set first = {
        .bytes = {set->ascii[0], set->ascii[1], 0, set->others ? UINT64_MAX : 0}};
    const struct dti_regex_piece piece = of_set(parser, &first);
    return set->others
               ? dti_regex_then(parser, piece, dti_regex_loop(parser, of_set(parser, &rest)))
               : piece;
}

void dti_regex_include(struct dti_regex_characters *set, unsigned low, unsigned high)
{
    for (unsigned i = low; i <= high; i++)
        set->ascii[i / 64] |= UINT64_C(1) << i % 64;
}

void dti_regex_invert(struct dti_regex_characters *set)
{
    set->ascii[0] = ~set->ascii[0];
    set->ascii[1] = ~set->ascii[1];
    set->others = !set->others;
}
