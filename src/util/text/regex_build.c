/* SPDX-License-Identifier: MIT
 *
 * Combines pieces of the NFA, each with one entry and one exit (Thompson's construction). Shared
 * prefixes are found in a trie of pieces keyed by their text: the text alone determines where a
 * piece begins and what it means. */
#include "util/text/regex_build.h"
#include "util/run/allocate.h"

#include <stdlib.h>
#include <string.h>

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

/* Makes room for one more element. On failure the array is unchanged. */
static bool regex_grow(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    const uint32_t more = *capacity > 0 ? *capacity * 2 : 64;
    void *const grown = dti_realloc(*items, more * size);
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
    if (!regex_grow(&nodes, program->count, &program->capacity, sizeof *program->nodes)) {
        parser->status = dti_no_memory(parser->reterr);
        return 0;
    }
    program->nodes = nodes;
    program->nodes[program->count] = (struct dti_regex_node){.kind = (uint8_t)kind, .other = other};
    program->made++;
    return program->count++;
}

static void regex_link(struct dti_regex_parser *parser, uint32_t from, uint32_t to)
{
    if (parser->status == DTI_OK)
        parser->program->nodes[from].next = to;
}

/* Makes a node and its exit. */
struct dti_regex_piece dti_regex_single(struct dti_regex_parser *parser,
                                        enum dti_regex_node_kind kind, uint8_t value,
                                        uint32_t other)
{
    struct dti_regex_piece piece;
    piece.in = dti_regex_add_node(parser, kind, other);
    piece.out = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    regex_link(parser, piece.in, piece.out);
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
    regex_link(parser, first.out, second.in);
    return (struct dti_regex_piece){.in = first.in, .out = second.out};
}

/* Alternation. */
struct dti_regex_piece dti_regex_either(struct dti_regex_parser *parser, struct dti_regex_piece one,
                                        struct dti_regex_piece other)
{
    struct dti_regex_piece both;
    both.in = dti_regex_add_node(parser, DTI_NODE_FORK, other.in);
    both.out = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    regex_link(parser, both.in, one.in);
    regex_link(parser, one.out, both.out);
    regex_link(parser, other.out, both.out);
    return both;
}

/* Zero or more repetitions. */
struct dti_regex_piece dti_regex_loop(struct dti_regex_parser *parser, struct dti_regex_piece piece)
{
    struct dti_regex_piece all;
    all.out = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    all.in = dti_regex_add_node(parser, DTI_NODE_FORK, all.out);
    regex_link(parser, all.in, piece.in);
    regex_link(parser, piece.out, all.in);
    return all;
}

static struct dti_regex_piece of_set(struct dti_regex_parser *parser,
                                     const struct dti_regex_set *set)
{
    struct dti_regex_program *const program = parser->program;
    void *sets = program->sets;
    if (!regex_grow(&sets, program->set_count, &program->set_capacity, sizeof *program->sets)) {
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

void dti_regex_program_init(struct dti_regex_program *program)
{
    *program = (struct dti_regex_program){.count = 0};
    dti_buffer_init(&program->texts);
}

void dti_regex_program_free(struct dti_regex_program *program)
{
    dti_free(program->nodes);
    dti_free(program->sets);
    dti_free(program->steps);
    dti_free(program->slots);
    dti_buffer_free(&program->texts);
}

uint32_t dti_regex_root(struct dti_regex_parser *parser, unsigned which)
{
    uint32_t *const root = &parser->program->roots[which];
    if (parser->program->count == 0)
        (void)dti_regex_add_node(parser, DTI_NODE_JOIN, 0); /* node 0, which nothing leads to */
    if (*root == 0)
        *root = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    return *root;
}

void dti_regex_branch(struct dti_regex_parser *parser, uint32_t from, uint32_t to)
{
    const uint32_t others = parser->status == DTI_OK ? parser->program->nodes[from].next : 0;
    if (others == 0) {
        regex_link(parser, from, to);
        return;
    }
    const uint32_t fork = dti_regex_add_node(parser, DTI_NODE_FORK, others);
    regex_link(parser, fork, to);
    regex_link(parser, from, fork);
}

struct dti_regex_mark dti_regex_mark(const struct dti_regex_parser *parser)
{
    return (struct dti_regex_mark){parser->program->count, parser->program->set_count};
}

static uint32_t first_slot(const struct dti_regex_program *program, uint32_t from, const char *text,
                           size_t length)
{
    uint32_t hash = 2166136261U ^ from * 2654435761U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    return (hash ^ hash >> 15) & (program->slot_count - 1);
}

/* The slot of a step, or the empty slot where it belongs. */
static uint32_t *find(const struct dti_regex_program *program, uint32_t from, const char *text,
                      size_t length)
{
    uint32_t slot = first_slot(program, from, text, length);
    for (; program->slots[slot] != 0; slot = (slot + 1) & (program->slot_count - 1)) {
        const struct dti_regex_step *const step = &program->steps[program->slots[slot] - 1];
        if (step->from == from && step->length == length &&
            memcmp(program->texts.data + step->text, text, length) == 0)
            break;
    }
    return &program->slots[slot];
}

/* Makes room for one more step; at least half of the slots stay empty. */
static bool make_room(struct dti_regex_program *program)
{
    void *steps = program->steps;
    if (!regex_grow(&steps, program->step_count, &program->step_capacity, sizeof *program->steps))
        return false;
    program->steps = steps;
    if (program->step_count < program->slot_count / 2)
        return true;
    const uint32_t more = program->slot_count > 0 ? 2 * program->slot_count : 128;
    uint32_t *const slots = dti_calloc(more, sizeof *slots);
    if (!slots)
        return false;
    dti_free(program->slots);
    program->slots = slots;
    program->slot_count = more;
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct dti_regex_step *const step = &program->steps[i];
        *find(program, step->from, program->texts.data + step->text, step->length) = i + 1;
    }
    return true;
}

uint32_t dti_regex_share(struct dti_regex_parser *parser, uint32_t from, struct dti_regex_mark mark,
                         const char *text, struct dti_regex_piece piece)
{
    struct dti_regex_program *const program = parser->program;
    const size_t length = (size_t)(parser->at - text);
    if (parser->status != DTI_OK)
        return 0;
    if (!make_room(program)) {
        parser->status = dti_no_memory(parser->reterr);
        return 0;
    }
    uint32_t *const slot = find(program, from, text, length);
    if (*slot != 0) {
        program->count = mark.nodes;
        program->set_count = mark.sets;
        return program->steps[*slot - 1].to;
    }
    program->steps[program->step_count] = (struct dti_regex_step){
        .from = from, .to = piece.out, .text = program->texts.length, .length = length};
    dti_buffer_append(&program->texts, text, length);
    if (program->texts.failed) {
        parser->status = dti_no_memory(parser->reterr);
        return 0;
    }
    *slot = ++program->step_count;
    dti_regex_branch(parser, from, piece.in);
    return piece.out;
}
