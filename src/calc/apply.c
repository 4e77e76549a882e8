/* SPDX-License-Identifier: MIT
 *
 * Elementwise operations, and casts, one element after the other: exactly, then rounded once. */
#include <stdlib.h>
#include <string.h>

#include "calc/engine.h"

void dti_calc_mark(struct dti_calc_slot *slot, size_t i)
{
    if (!slot->rounded && slot->array.count <= DTI_CALC_TRUTH_MAX)
        slot->marks = calloc(slot->array.count, 1); /* without: all may be */
    slot->rounded = true;
    if (slot->marks)
        slot->marks[i] = 1;
}

unsigned dti_calc_operands(const struct dti_calc_engine *engine, size_t node, size_t ret[3],
                           enum dti_calc_op *ret_op, unsigned *ret_negated)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const size_t fused = engine->slots[node].fused;
    *ret_op = n->op;
    *ret_negated = 0;
    for (size_t i = 0; i < n->count && !fused; i++)
        ret[i] = dti_calc_child(engine, node, i);
    if (!fused)
        return (unsigned)n->count;
    const size_t product = dti_calc_child(engine, node, fused - 1);
    ret[0] = dti_calc_child(engine, product, 0);
    ret[1] = dti_calc_child(engine, product, 1);
    ret[2] = dti_calc_child(engine, node, 2 - fused);
    *ret_op = DTI_CALC_FMA;
    if (n->op == DTI_CALC_SUBTRACT)
        *ret_negated = fused == 1 ? 4 : 1;
    return 3;
}

/* Whether b is chosen from the elements of a: the largest of a minus a is exactly 0 for a reason.
 */
static bool is_chosen_from(const struct dti_calc_engine *engine, size_t b, size_t a)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[b];
    if (a == b)
        return true;
    if (n->kind != DTI_NODE_CALL ||
        (n->op != DTI_CALC_ROW_MAXIMUM && n->op != DTI_CALC_MAXIMUM && n->op != DTI_CALC_MINIMUM))
        return false;
    for (size_t i = 0; i < n->count; i++) {
        if (dti_calc_child(engine, b, i) == a)
            return true;
    }
    return false;
}

/* An element, computed and rounded. */
static void apply_one(struct dti_calc_recorder *recorder, const struct dti_calc_node *n,
                      unsigned negated, struct dti_calc_element *e, struct dti_calc_rounded *ret)
{
    for (unsigned i = 0; i < e->operand_count; i++)
        e->operand[i].negative ^= negated >> i & 1;
    e->arith = dti_calc_operate(recorder, e->op, n->power, e->operand, &e->exact);
    dti_calc_round(recorder, e, ret);
}

static const char *op_name(enum dti_calc_op op)
{
    return dti_calc_op_get(op)->name;
}

enum dti_status dti_calc_apply(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    struct dti_calc_walk walk;
    struct dti_calc_element e = {.index = 0};
    struct dti_calc_rounded rounded;
    size_t operands[3];
    unsigned rank = 0, negated;
    uint64_t shape[DTI_CALC_RANK_MAX];
    enum dti_status status;
    e.operand_count = dti_calc_operands(engine, node, operands, &e.op, &negated);
    if (dti_calc_op_kind(e.op) == DTI_CALC_KIND_FUNCTION || e.op == DTI_CALC_POWER) {
        if ((status = dti_multi_load(engine->error)) != DTI_OK)
            return status;
    }
    if ((status = dti_calc_broadcast(engine, node, operands, e.operand_count, &rank, shape)) !=
            DTI_OK ||
        (status = dti_calc_array_new(engine, dti_calc_node_format(engine, node), rank, shape,
                                     &slot->array)) != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, op_name(e.op), dti_calc_node_format(engine, node));
    recorder.selects =
        e.op == DTI_CALC_SUBTRACT && (is_chosen_from(engine, operands[0], operands[1]) ||
                                      is_chosen_from(engine, operands[1], operands[0]));
    dti_calc_walk_begin(&walk, engine, operands, e.operand_count, rank, shape);
    for (size_t i = 0; i < slot->array.count; i++) {
        e.rounded = false;
        e.index = i;
        for (unsigned j = 0; j < e.operand_count; j++) {
            const struct dti_calc_slot *const from = &engine->slots[operands[j]];
            dti_calc_fetch(&recorder, &from->array.format,
                           dti_calc_code(&from->array, walk.offset[j]), &e.operand[j]);
            e.rounded |= dti_calc_is_marked(from, walk.offset[j]);
        }
        apply_one(&recorder, n, negated, &e, &rounded);
        dti_calc_put(&slot->array, i, rounded.code);
        if (rounded.inexact || e.rounded)
            dti_calc_mark(slot, i);
        dti_calc_walk_next(&walk);
    }
    return dti_calc_step_end(&recorder, &slot->array);
}

enum dti_status dti_calc_cast(struct dti_calc_engine *engine, size_t node, const char *op,
                              const struct dti_calc_array *from, const struct dti_calc_slot *marks)
{
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    struct dti_calc_rounded rounded;
    const enum dti_status status = dti_calc_array_new(engine, dti_calc_node_format(engine, node),
                                                      from->rank, from->shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, op, dti_calc_node_format(engine, node));
    for (size_t i = 0; i < from->count; i++) {
        dti_calc_fetch(&recorder, &from->format, dti_calc_code(from, i), &e.exact);
        e.index = i;
        dti_calc_round(&recorder, &e, &rounded);
        dti_calc_put(&slot->array, i, rounded.code);
        if (rounded.inexact || (marks && dti_calc_is_marked(marks, i)))
            dti_calc_mark(slot, i);
    }
    return dti_calc_step_end(&recorder, &slot->array);
}
