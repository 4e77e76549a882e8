/* SPDX-License-Identifier: MIT
 *
 * Lists that become one number: sums, products, dot products in the order asked for, extremes,
 * counts. With --accumulate they are computed in that dtype, and a cast follows as a step of its
 * own. */
#include "calc/reduce.h"
#include "calc/hurry.h"

#include <stdlib.h>
#include <string.h>

void dti_reduce_store(struct dti_calc_slot *slot, size_t index, const struct dti_partial *partial,
                      const struct dti_reducer *r)
{
    struct dti_outcome outcome; /* exact: it was rounded to this format */
    dti_encode(&r->recorder->format, &partial->value, &r->recorder->policy, 0, &outcome);
    dti_calc_put(&slot->array, index, outcome.code);
    if (partial->rounded)
        dti_calc_mark(slot, index);
}

static struct dti_partial extreme(struct dti_reducer *r, size_t count)
{
    struct dti_partial ret = dti_reduce_term(r, 0);
    for (size_t i = 1; i < count; i++) {
        const struct dti_partial next = dti_reduce_term(r, i);
        if (r->op == DTI_CALC_MINIMUM)
            dti_value_minimum(&ret.value, &ret.value, &next.value);
        else
            dti_value_maximum(&ret.value, &ret.value, &next.value);
        ret.rounded |= next.rounded;
    }
    return ret;
}

static struct dti_partial counted(struct dti_reducer *r, size_t count)
{
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    struct dti_calc_rounded rounded;
    dti_value_set(&e.exact, false, count, 0);
    dti_calc_round(r->recorder, &e, &rounded);
    return (struct dti_partial){.value = rounded.value, .rounded = rounded.inexact};
}

void dti_reducer_begin(struct dti_reducer *r, struct dti_calc_recorder *recorder,
                       enum dti_calc_op op)
{
    const struct dti_calc_options *const options = recorder->engine->options;
    *r = (struct dti_reducer){.recorder = recorder,
                              .op = op,
                              .a = {.step = 1},
                              .b = {.step = 1},
                              .combiner = op == DTI_CALC_PROD ? DTI_CALC_MULTIPLY : DTI_CALC_ADD};
    r->fma = options->fma && op == DTI_CALC_DOT &&
             (options->order == DTI_CALC_SEQUENTIAL || options->order == DTI_CALC_BLOCKED);
    recorder->finds_worst = false;
}

enum dti_status dti_reducer_operands(struct dti_reducer *r, const struct dti_calc_slot *a,
                                     const struct dti_calc_slot *b)
{
    const struct dti_calc_slot *const given[2] = {a, b};
    struct dti_strided *const lists[2] = {&r->a, &r->b};
    struct dti_calc_engine *const engine = r->recorder->engine;
    r->recorder->is_long = dti_calc_is_long(a->array.count);
    r->converts = !dti_calc_same_format(&a->array.format, &r->recorder->format);
    for (size_t i = 0; i < 2; i++) {
        lists[i]->slot = given[i];
        if (!given[i] || !r->converts)
            continue;
        const enum dti_status status =
            dti_reduce_widen(engine, given[i], &r->recorder->format, &r->wide[i]);
        if (status != DTI_OK) {
            dti_reducer_free(r);
            return status;
        }
    }
    /* both are wide, or neither is: the lists are equally long but in a matrix product */
    if (r->wide[0].array.codes && (!b || r->wide[1].array.codes)) {
        lists[0]->slot = &r->wide[0];
        lists[1]->slot = b ? &r->wide[1] : NULL;
        r->converts = false;
    }
    return DTI_OK;
}

void dti_reducer_free(struct dti_reducer *r)
{
    for (size_t i = 0; i < 2; i++)
        dti_calc_array_drop(r->recorder->engine, &r->wide[i].array);
}

const struct dti_format *dti_reduce_format(const struct dti_calc_engine *engine, size_t node)
{
    return engine->options->accumulates ? &engine->options->accumulate
                                        : dti_calc_node_format(engine, node);
}

/* The array of results in the format that is computed in becomes the node's. */
enum dti_status dti_reduce_end(struct dti_calc_engine *engine, size_t node,
                               struct dti_calc_recorder *recorder)
{
    struct dti_calc_slot *const slot = &engine->slots[node];
    enum dti_status status = dti_calc_step_end(recorder, &slot->array);
    if (status != DTI_OK ||
        dti_calc_same_format(&slot->array.format, dti_calc_node_format(engine, node)))
        return status;
    struct dti_calc_slot wide = *slot;
    slot->array.codes = NULL;
    slot->marks = NULL;
    slot->rounded = false;
    status = dti_calc_cast(engine, node, "cast", &wide.array, &wide);
    dti_calc_array_drop(engine, &wide.array);
    free(wide.marks);
    return status;
}

enum dti_status dti_reduce_mismatch(struct dti_calc_engine *engine, size_t node)
{
    const size_t operands[] = {dti_calc_child(engine, node, 0), dti_calc_child(engine, node, 1)};
    return dti_calc_mismatch(engine, node, operands, 2);
}

static bool is_of_rows(enum dti_calc_op op)
{
    return op == DTI_CALC_ROW_SUM || op == DTI_CALC_ROW_MAXIMUM || op == DTI_CALC_ROW_COUNT;
}

enum dti_status dti_calc_reduce(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const struct dti_calc_slot *const a = &engine->slots[dti_calc_child(engine, node, 0)];
    const struct dti_calc_slot *const b =
        n->op == DTI_CALC_DOT ? &engine->slots[dti_calc_child(engine, node, 1)] : NULL;
    const bool extremes =
        n->op == DTI_CALC_MINIMUM || n->op == DTI_CALC_MAXIMUM || n->op == DTI_CALC_ROW_MAXIMUM;
    const bool counts = n->op == DTI_CALC_COUNT || n->op == DTI_CALC_ROW_COUNT;
    const bool rows = is_of_rows(n->op) && a->array.rank > 1;
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    struct dti_reducer r;
    uint64_t shape[DTI_CALC_RANK_MAX];
    if (b && (a->array.rank > 1 || b->array.rank > 1 || a->array.count != b->array.count))
        return dti_reduce_mismatch(engine, node);
    const uint64_t length = rows ? a->array.shape[a->array.rank - 1] : a->array.count;
    if (length == 0 && extremes)
        return dti_fail(engine->error, DTI_BAD_VALUE, "'%s' of an empty list",
                        dti_calc_op_get(n->op)->name);
    memcpy(shape, a->array.shape, sizeof shape);
    if (rows)
        shape[a->array.rank - 1] = 1;
    const struct dti_format *const format =
        extremes || counts ? dti_calc_node_format(engine, node) : dti_reduce_format(engine, node);
    enum dti_status status = dti_calc_array_new(engine, format, rows && !counts ? a->array.rank : 0,
                                                shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, dti_calc_op_get(n->op)->name, format);
    dti_reducer_begin(&r, &recorder, n->op == DTI_CALC_ROW_SUM ? DTI_CALC_SUM : n->op);
    if (!extremes && !counts && (status = dti_reducer_operands(&r, a, b)) != DTI_OK)
        return status;
    r.a.slot = extremes || counts ? a : r.a.slot;
    for (size_t row = 0; row < slot->array.count; row++) {
        r.a.first = row * (size_t)length;
        const struct dti_partial partial = counts     ? counted(&r, (size_t)length)
                                           : extremes ? extreme(&r, (size_t)length)
                                                      : dti_reduce_list(&r, (size_t)length);
        dti_reduce_store(slot, row, &partial, &r);
    }
    dti_reducer_free(&r);
    return dti_reduce_end(engine, node, &recorder);
}
