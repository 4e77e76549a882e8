/* SPDX-License-Identifier: MIT
 *
 * Literals and lists of them: each number is rounded once from what the text says. */
#include <string.h>

#include "calc/evaluate.h"

static enum dti_status round_literal(struct dti_calc_recorder *recorder,
                                     const struct dti_calc_node *literal, size_t index,
                                     struct dti_calc_slot *slot)
{
    struct dti_calc_element e = {
        .op = DTI_CALC_OP_COUNT, .index = index, .number = literal->number};
    struct dti_calc_rounded rounded;
    if (!dti_number_value(literal->number, &e.exact))
        return dti_no_memory(recorder->engine->error);
    dti_calc_round(recorder, &e, &rounded);
    dti_calc_put(&slot->array, index, rounded.code);
    if (rounded.inexact)
        dti_calc_mark(slot, index);
    return DTI_OK;
}

/* The shape that a child of a list has: a literal there is not computed by itself. */
static const struct dti_calc_array *child_array(const struct dti_calc_engine *engine, size_t child)
{
    static const struct dti_calc_array number = {.count = 1};
    return engine->tree->nodes[child].kind == DTI_NODE_NUMBER ? &number
                                                              : &engine->slots[child].array;
}

static enum dti_status list_shape(struct dti_calc_engine *engine, size_t node, unsigned *ret_rank,
                                  uint64_t *ret_shape)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const struct dti_calc_array *const first = child_array(engine, dti_calc_child(engine, node, 0));
    if (first->rank == DTI_CALC_RANK_MAX)
        return dti_fail(engine->error, DTI_BAD_VALUE, "lists in lists: more than %d levels",
                        DTI_CALC_RANK_MAX);
    for (size_t i = 1; i < n->count; i++) {
        const struct dti_calc_array *const other =
            child_array(engine, dti_calc_child(engine, node, i));
        if (other->rank != first->rank ||
            memcmp(other->shape, first->shape, first->rank * sizeof *first->shape) != 0)
            return dti_fail(engine->error, DTI_BAD_VALUE, "the parts of %s have different shapes",
                            DTI_QUOTED(engine->tree->source + n->text, n->length));
    }
    *ret_rank = first->rank + 1;
    ret_shape[0] = n->count;
    if (first->rank > 0)
        memcpy(ret_shape + 1, first->shape, first->rank * sizeof *ret_shape);
    return DTI_OK;
}

enum dti_status dti_calc_list(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    unsigned rank = 0;
    uint64_t shape[DTI_CALC_RANK_MAX];
    enum dti_status status = DTI_OK;
    const bool literal = n->kind == DTI_NODE_NUMBER;
    if (!literal)
        status = list_shape(engine, node, &rank, shape);
    if (status == DTI_OK)
        status = dti_calc_array_new(engine, dti_calc_node_format(engine, node), rank, shape,
                                    &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, literal ? "literal" : "list",
                        dti_calc_node_format(engine, node));
    size_t at = 0;
    if (literal)
        status = round_literal(&recorder, n, 0, slot);
    for (size_t i = 0; i < n->count && status == DTI_OK; i++) {
        const size_t child = dti_calc_child(engine, node, i);
        const struct dti_calc_slot *const from = &engine->slots[child];
        if (engine->tree->nodes[child].kind == DTI_NODE_NUMBER) {
            status = round_literal(&recorder, &engine->tree->nodes[child], at++, slot);
            continue;
        }
        for (size_t j = 0; j < from->array.count; j++, at++) { /* of the same format */
            dti_calc_put(&slot->array, at, dti_calc_code(&from->array, j));
            if (dti_calc_is_marked(from, j))
                dti_calc_mark(slot, at);
        }
    }
    return status == DTI_OK ? dti_calc_step_end(&recorder, &slot->array) : status;
}
