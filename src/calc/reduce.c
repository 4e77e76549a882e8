/* SPDX-License-Identifier: MIT
 *
 * Lists that become one number: sums, products, dot products in the order asked for, extremes,
 * counts. With --accumulate they are computed in that dtype, and a cast follows as a step of its
 * own. */
#include "calc/reduce.h"
#include "calc/hurry.h"

#include <stdlib.h>
#include <string.h>

/* Rounds the result of an operation on two partial results. */
struct dti_partial dti_reduce_combine(struct dti_reducer *r, enum dti_calc_op op,
                                      const struct dti_partial *a, const struct dti_partial *b,
                                      size_t index, enum dti_reduce_note note)
{
    struct dti_calc_element e = {.op = op,
                                 .operand_count = 2,
                                 .operand = {a->value, b->value},
                                 .rounded = a->rounded || b->rounded,
                                 .harmless = note != DTI_REDUCE_TELL,
                                 .quiet = note == DTI_REDUCE_QUIET,
                                 .index = index};
    struct dti_calc_rounded rounded;
    e.arith = dti_calc_operate(r->recorder, op, 0, e.operand, &e.exact);
    dti_calc_round(r->recorder, &e, &rounded);
    return (struct dti_partial){.value = rounded.value, .rounded = e.rounded || rounded.inexact};
}

/* An operand in the format that is computed in. */
static struct dti_partial fetch(struct dti_reducer *r, const struct dti_strided *from, size_t i)
{
    const size_t at = from->first + i * from->step;
    const struct dti_calc_array *const array = &from->slot->array;
    struct dti_partial ret = {.rounded = dti_calc_is_marked(from->slot, at)};
    dti_decode(&array->format, dti_calc_code(array, at), &ret.value);
    if (!r->converts)
        return ret;
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT, .exact = ret.value, .index = i};
    struct dti_calc_rounded rounded;
    dti_calc_round(r->recorder, &e, &rounded);
    r->recorder->operations -= !rounded.inexact;
    ret.value = rounded.value;
    ret.rounded |= rounded.inexact;
    return ret;
}

/* What is added or multiplied: an element, or the product of two. */
struct dti_partial dti_reduce_term(struct dti_reducer *r, size_t i)
{
    const struct dti_partial a = fetch(r, &r->a, i);
    if (r->op != DTI_CALC_DOT)
        return a;
    const struct dti_partial b = fetch(r, &r->b, i);
    return dti_reduce_combine(r, DTI_CALC_MULTIPLY, &a, &b, i, DTI_REDUCE_TELL);
}

struct dti_partial dti_reduce_fused(struct dti_reducer *r, const struct dti_partial *sum, size_t i)
{
    const struct dti_partial a = fetch(r, &r->a, i), b = fetch(r, &r->b, i);
    struct dti_calc_element e = {.op = DTI_CALC_FMA,
                                 .operand_count = 3,
                                 .operand = {a.value, b.value, sum->value},
                                 .rounded = a.rounded || b.rounded || sum->rounded,
                                 .index = i};
    struct dti_calc_rounded rounded;
    e.arith = dti_calc_operate(r->recorder, e.op, 0, e.operand, &e.exact);
    dti_calc_round(r->recorder, &e, &rounded);
    return (struct dti_partial){.value = rounded.value, .rounded = e.rounded || rounded.inexact};
}

/* The elements after the first, one after the other. */
static struct dti_partial sequential(struct dti_reducer *r, size_t first, size_t count)
{
    struct dti_partial sum = dti_reduce_term(r, first);
    for (size_t i = first + 1; i < first + count; i++) {
        if (r->fma) {
            sum = dti_reduce_fused(r, &sum, i);
            continue;
        }
        const struct dti_partial next = dti_reduce_term(r, i);
        sum = dti_reduce_combine(r, r->combiner, &sum, &next, i, DTI_REDUCE_TELL);
    }
    return sum;
}

static struct dti_partial pairwise(struct dti_reducer *r, size_t first, size_t count)
{
    size_t half = 1;
    if (count == 1)
        return dti_reduce_term(r, first);
    while (half < count - half)
        half *= 2;
    const struct dti_partial left = pairwise(r, first, half);
    const struct dti_partial right = pairwise(r, first + half, count - half);
    return dti_reduce_combine(r, r->combiner, &left, &right, first + half, DTI_REDUCE_TELL);
}

static struct dti_partial blocked(struct dti_reducer *r, size_t first, size_t count)
{
    const uint64_t block = r->recorder->engine->options->block;
    const size_t length = block < count ? (size_t)block : count;
    struct dti_partial sum = sequential(r, first, length);
    for (size_t done = length; done < count; done += length) {
        const size_t left = count - done;
        const struct dti_partial next = sequential(r, first + done, left < length ? left : length);
        sum = dti_reduce_combine(r, r->combiner, &sum, &next, first + done, DTI_REDUCE_TELL);
    }
    return sum;
}

/* Kahan, "Further remarks on reducing truncation errors", CACM 8 (1965). What the sum absorbs is
 * kept in the correction. */
static struct dti_partial kahan(struct dti_reducer *r, size_t first, size_t count)
{
    struct dti_partial sum = dti_reduce_term(r, first);
    struct dti_partial correction = {.value = {.class = DTI_CLASS_ZERO}};
    for (size_t i = first + 1; i < first + count; i++) {
        const struct dti_partial next = dti_reduce_term(r, i);
        const struct dti_partial corrected =
            dti_reduce_combine(r, DTI_CALC_SUBTRACT, &next, &correction, i, DTI_REDUCE_QUIET);
        const struct dti_partial total =
            dti_reduce_combine(r, DTI_CALC_ADD, &sum, &corrected, i, DTI_REDUCE_HARMLESS);
        correction = dti_reduce_combine(r, DTI_CALC_SUBTRACT, &total, &sum, i, DTI_REDUCE_QUIET);
        correction =
            dti_reduce_combine(r, DTI_CALC_SUBTRACT, &correction, &corrected, i, DTI_REDUCE_QUIET);
        sum = total;
    }
    return sum;
}

struct dti_partial dti_reduce_range(struct dti_reducer *r, size_t first, size_t count)
{
    if (count == 0) {
        struct dti_partial none = {.value = {.class = DTI_CLASS_ZERO}};
        if (r->op == DTI_CALC_PROD)
            dti_value_set(&none.value, false, 1, 0);
        return none;
    }
    switch (r->recorder->engine->options->order) {
    case DTI_CALC_PAIRWISE:
        return pairwise(r, first, count);
    case DTI_CALC_BLOCKED:
        return blocked(r, first, count);
    case DTI_CALC_KAHAN:
        if (r->op != DTI_CALC_PROD)
            return kahan(r, first, count);
        break;
    case DTI_CALC_SEQUENTIAL:
        break;
    }
    return sequential(r, first, count);
}

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
    struct dti_partial ret = fetch(r, &r->a, 0);
    for (size_t i = 1; i < count; i++) {
        const struct dti_partial next = fetch(r, &r->a, i);
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
