/* SPDX-License-Identifier: MIT
 *
 * Nodes that patterns have in common: a tree of the pieces that patterns begin with, by their
 * texts. Where a piece begins and what it means follow from its text alone. */
#include <stdlib.h>
#include <string.h>

#include "util/regex_build.h"

void dti_regex_program_init(struct dti_regex_program *program)
{
    *program = (struct dti_regex_program){.count = 0};
    dti_buffer_init(&program->texts);
}

void dti_regex_program_free(struct dti_regex_program *program)
{
    free(program->nodes);
    free(program->sets);
    free(program->steps);
    free(program->slots);
    dti_buffer_free(&program->texts);
}

uint32_t dti_regex_root(struct dti_regex_parser *parser, unsigned which)
{
    uint32_t *const root = &parser->program->roots[which];
    if (parser->program->count == 0)
        (void)dti_regex_add_node(parser, DTI_NODE_JOIN, 0); /* to which nothing leads */
    if (*root == 0)
        *root = dti_regex_add_node(parser, DTI_NODE_JOIN, 0);
    return *root;
}

void dti_regex_branch(struct dti_regex_parser *parser, uint32_t from, uint32_t to)
{
    const uint32_t others = parser->status == DTI_OK ? parser->program->nodes[from].next : 0;
    if (others == 0) {
        dti_regex_link(parser, from, to);
        return;
    }
    const uint32_t fork = dti_regex_add_node(parser, DTI_NODE_FORK, others);
    dti_regex_link(parser, fork, to);
    dti_regex_link(parser, from, fork);
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

/* The slot of a step, or the empty one that it gets. */
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

/* Room for one more step, with half of the slots empty. */
static bool make_room(struct dti_regex_program *program)
{
    void *steps = program->steps;
    if (!dti_regex_grow(&steps, program->step_count, &program->step_capacity,
                        sizeof *program->steps))
        return false;
    program->steps = steps;
    if (program->step_count < program->slot_count / 2)
        return true;
    const uint32_t more = program->slot_count > 0 ? 2 * program->slot_count : 128;
    uint32_t *const slots = calloc(more, sizeof *slots);
    if (!slots)
        return false;
    free(program->slots);
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
