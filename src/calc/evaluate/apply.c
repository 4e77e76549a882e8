/* SPDX-License-Identifier: MIT
 *
 * Elementwise operations and casts: maps an operation to a function of arith.h or truth.h,
 * computes one element at a time exactly, and rounds each once. */
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/cast_tiles.h"
#include "calc/evaluate/evaluate.h"
#include "calc/evaluate/fast_path.h"
#include "core/wide.h"
#include "util/run/allocate.h"

/* x^power if no product needs more than 128 bits, so arith.h is sufficient. False if it does not
 * fit. */
static bool small_power(struct dti_value *ret, int64_t power, const struct dti_value *x,
                        unsigned *ret_arith)
{
    const int64_t times = power < 0 ? -power : power;
    const unsigned bits = x->kind == DTI_CLASS_FINITE ? 64 - dti_trailing_zeros(x->hi) : 1;
    struct dti_value one, product;
    dti_value_set(&one, false, 1, 0);
    /* a divisor may have 64 bits; a result that is only rounded may have 128, so the last
     * multiplication does not count */
    if (times > 64 || (times > 1 && bits * (uint64_t)(times - (power > 0)) > 64))
        return false; /* needs_library() decides the same for all numbers of a format */
    product = one;
    *ret_arith = 0;
    for (int64_t i = 0; i < times; i++)
        *ret_arith |= i == 0 ? (product = *x, 0u) : dti_value_multiply(&product, &product, x);
    if (power < 0)
        *ret_arith |= dti_value_divide(&product, &one, &product);
    *ret = product;
    return true;
}

/* Whether the operation on numbers of the format needs libmpfr. */
static bool needs_library(enum dti_calc_op op, int64_t power, const struct dti_format *format)
{
    const int64_t times = power < 0 ? -power : power;
    const int64_t bits = dti_format_is_float(format) ? format->man_bits + 1 : format->width;
    if (op == DTI_CALC_POWER)
        return times > 64 || (times > 1 && bits * (times - (power > 0)) > 64);
    return dti_calc_op_kind(op) == DTI_CALC_KIND_FUNCTION;
}

unsigned dti_calc_operate(const struct dti_calc_recorder *recorder, enum dti_calc_op op,
                          int64_t power, const struct dti_value *x, struct dti_value *ret)
{
    const enum dti_round round = recorder->policy.round;
    const struct dti_value zero = {.kind = DTI_CLASS_ZERO};
    unsigned arith;
    switch (op) {
    case DTI_CALC_ADD:
        return dti_value_add(ret, &x[0], &x[1], round);
    case DTI_CALC_SUBTRACT:
        return dti_value_subtract(ret, &x[0], &x[1], round);
    case DTI_CALC_MULTIPLY:
        return dti_value_multiply(ret, &x[0], &x[1]);
    case DTI_CALC_DIVIDE:
        return dti_value_divide(ret, &x[0], &x[1]);
    case DTI_CALC_SQRT:
        return dti_value_sqrt(ret, &x[0]);
    case DTI_CALC_FMA:
        return dti_value_fma(ret, &x[0], &x[1], &x[2], round);
    case DTI_CALC_NEGATE:
    case DTI_CALC_ABS:
        *ret = x[0];
        ret->negative = op == DTI_CALC_NEGATE && !x[0].negative;
        return 0;
    case DTI_CALC_MINIMUM:
        dti_value_minimum(ret, &x[0], &x[1]);
        return 0;
    case DTI_CALC_MAXIMUM:
        dti_value_maximum(ret, &x[0], &x[1]);
        return 0;
    case DTI_CALC_RELU:
        dti_value_maximum(ret, &x[0], &zero);
        return 0;
    case DTI_CALC_FLOOR:
        dti_value_round_integral(ret, &x[0], DTI_ROUND_DOWN);
        return 0;
    case DTI_CALC_CEIL:
        dti_value_round_integral(ret, &x[0], DTI_ROUND_UP);
        return 0;
    case DTI_CALC_ROUND:
        dti_value_round_integral(ret, &x[0], DTI_ROUND_NEAREST_EVEN);
        return 0;
    case DTI_CALC_POWER:
        if (small_power(ret, power, &x[0], &arith))
            return arith;
        /* fallthrough */
    default:
        return dti_function_value(ret, op, power, &x[0]);
    }
}

/* Whether b is chosen from the elements of a: then the difference of a's maximum and b is
 * exactly 0 by design. */
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

/* State of an operation on arrays. */
struct application {
    struct dti_calc_recorder recorder;
    const struct dti_calc_node *node;
    size_t operands[3];
    unsigned count, negated;
    enum dti_calc_op op;
    bool function;
};

/* Computes and rounds element i, whose operands are at `offsets`. */
static void apply_one(struct application *a, size_t i, const size_t *offsets, size_t total,
                      struct dti_calc_rounded *ret, bool *ret_rounded)
{
    struct dti_calc_engine *const engine = a->recorder.engine;
    struct dti_calc_element e = {.op = a->op, .operand_count = a->count, .index = i};
    for (unsigned j = 0; j < a->count; j++) {
        const struct dti_calc_slot *const from = &engine->slots[a->operands[j]];
        dti_decode(&from->array.format, dti_calc_code(&from->array, offsets[j]), &e.operand[j]);
        e.rounded |= dti_calc_is_marked(from, offsets[j]);
        e.operand[j].negative ^= a->negated >> j & 1;
    }
    if (!a->function || !dti_calc_function_soon(&a->recorder, total, &e))
        e.arith = dti_calc_operate(&a->recorder, e.op, a->node->power, e.operand, &e.exact);
    if (e.op == DTI_CALC_POWER) { /* show the exponent in events */
        const int64_t power = a->node->power;
        dti_value_set(&e.operand[1], power < 0, (uint64_t)(power < 0 ? -power : power), 0);
        e.operand_count = 2;
    }
    dti_calc_round(&a->recorder, &e, ret);
    *ret_rounded = e.rounded || ret->inexact;
}

static void apply_all(struct application *a, struct dti_calc_slot *slot)
{
    struct dti_calc_engine *const engine = a->recorder.engine;
    const struct dti_calc_array *const first = &engine->slots[a->operands[0]].array;
    const size_t count = slot->array.count;
    uint32_t *const known =
        a->count == 1 ? dti_calc_known_new(&a->recorder, &first->format, count) : NULL;
    struct dti_calc_rounded rounded;
    struct dti_calc_walk walk;
    dti_calc_walk_begin(&walk, engine, a->operands, a->count, slot->array.rank, slot->array.shape);
    for (size_t i = 0; i < count && dti_calc_next(engine->options, i, count); i++) {
        uint32_t *const place = known ? &known[dti_calc_code(first, walk.offset[0])] : NULL;
        bool is_rounded;
        if (place && dti_calc_known_get(&a->recorder, *place, &rounded)) {
            is_rounded = rounded.inexact ||
                         dti_calc_is_marked(&engine->slots[a->operands[0]], walk.offset[0]);
        } else {
            apply_one(a, i, walk.offset, count, &rounded, &is_rounded);
            if (place)
                dti_calc_known_set(place, &rounded);
        }
        dti_calc_put(&slot->array, i, rounded.code);
        if (is_rounded)
            dti_calc_mark(slot, i);
        dti_calc_walk_next(&walk);
    }
    dti_free(known);
}

/* Recomputes the first element that went wrong in a list computed as a whole. */
static void find_first(struct application *a, const struct dti_calc_array *result,
                       const struct dti_calc_bulk_counts *counts)
{
    struct dti_calc_walk walk;
    struct application again = *a;
    struct dti_calc_rounded rounded;
    bool is_rounded;
    size_t element;
    if (!dti_calc_first_wrong(&a->recorder, counts, &element))
        return;
    dti_calc_walk_begin(&walk, a->recorder.engine, a->operands, a->count, result->rank,
                        result->shape);
    dti_calc_walk_to(&walk, element);
    apply_one(&again, element, walk.offset, 0, &rounded, &is_rounded);
    a->recorder.has_first = again.recorder.has_first;
    a->recorder.first = again.recorder.first;
}

enum dti_status dti_calc_apply(struct dti_calc_engine *engine, size_t node)
{
    struct application a = {.node = &engine->tree->nodes[node]};
    const struct dti_format *const format = dti_calc_node_format(engine, node);
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_bulk_counts counts;
    unsigned rank = 0;
    uint64_t shape[DTI_CALC_RANK_MAX];
    a.count = dti_calc_operands(engine, node, a.operands, &a.op, &a.negated);
    a.function = dti_calc_op_kind(a.op) == DTI_CALC_KIND_FUNCTION;
    enum dti_status status = dti_calc_broadcast(engine, node, a.operands, a.count, &rank, shape);
    if (status == DTI_OK &&
        needs_library(a.op, a.node->power, &engine->slots[a.operands[0]].array.format))
        status = dti_multi_load(engine->error);
    if (status == DTI_OK)
        status = dti_calc_array_new(engine, format, rank, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&a.recorder, engine, node, dti_calc_op_get(a.op)->name, format);
    a.recorder.is_long = dti_calc_is_long(slot->array.count);
    a.recorder.selects =
        a.op == DTI_CALC_SUBTRACT && (is_chosen_from(engine, a.operands[0], a.operands[1]) ||
                                      is_chosen_from(engine, a.operands[1], a.operands[0]));
    if (a.negated == 0 && dti_calc_fast_path(&a.recorder, a.op, a.operands, a.count, slot, &counts))
        find_first(&a, &slot->array, &counts);
    else
        apply_all(&a, slot);
    return dti_calc_step_end(&a.recorder, &slot->array);
}

/* Casts elements one by one, or a tile at a time. */
static void cast_all(struct dti_calc_recorder *recorder, const struct dti_calc_array *from,
                     struct dti_calc_slot *slot)
{
    struct dti_cast_tiles tiles;
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    const struct dti_calc_options *const options = recorder->engine->options;
    if (dti_cast_tiles_open(&tiles, recorder, &from->format, from->count)) {
        (void)dti_cast_tiles_list(&tiles, from->codes, from->count, 0, slot);
        dti_cast_tiles_close(&tiles);
        return;
    }
    for (; e.index < from->count && dti_calc_next(options, e.index, from->count); e.index++) {
        dti_decode(&from->format, dti_calc_code(from, e.index), &e.exact);
        dti_calc_round_into(recorder, &e, slot);
    }
}

enum dti_status dti_calc_cast(struct dti_calc_engine *engine, size_t node, const char *op,
                              const struct dti_calc_array *from, const struct dti_calc_slot *marks)
{
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    const enum dti_status status = dti_calc_array_new(engine, dti_calc_node_format(engine, node),
                                                      from->rank, from->shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, op, dti_calc_node_format(engine, node));
    cast_all(&recorder, from, slot);
    for (size_t i = 0; marks && marks->rounded && i < from->count; i++) {
        if (dti_calc_is_marked(marks, i))
            dti_calc_mark(slot, i);
        if (slot->rounded && !slot->marks) /* a long list */
            break;
    }
    return dti_calc_step_end(&recorder, &slot->array);
}
