/* SPDX-License-Identifier: MIT
 *
 * Evaluates a tree again in true values: there is no dtype and no rounding, casts and
 * --accumulate have no effect, and products are not contracted. Numbers from files and random
 * numbers are exact.
 */
#include <limits.h>
#include <stdlib.h>

#include "calc/evaluate/evaluate.h"
#include "util/run/allocate.h"

enum {
    PRECISION_FIRST = 256,
    PRECISION_LAST = 4096,
    PRECISION_LONG = 512, /* the limit for more than SHORT elements */
    SHORT = 1024,
    BITS_WANTED = 110,
};

struct walk {
    struct dti_calc_engine *engine;
    struct dti_calc_truth_list **lists; /* one per node */
    size_t *uses;
    unsigned precision;
};

/* The node below any casts. */
static size_t through_casts(const struct walk *w, size_t node)
{
    const struct dti_calc_tree *const tree = w->engine->tree;
    while (tree->nodes[node].kind == DTI_NODE_CAST)
        node = tree->children[tree->nodes[node].first];
    return node;
}

static size_t child_of(const struct walk *w, size_t node, size_t i)
{
    const struct dti_calc_tree *const tree = w->engine->tree;
    return through_casts(w, tree->children[tree->nodes[node].first + i]);
}

static const struct dti_calc_array *shape_of(const struct walk *w, size_t node)
{
    return &w->engine->slots[node].array;
}

static void set_codes(struct dti_calc_truth_list *ret, const struct dti_calc_array *array)
{
    struct dti_value value;
    for (size_t i = 0; i < array->count; i++) {
        dti_decode(&array->format, dti_calc_code(array, i), &value);
        dti_truth_set_value(ret, i, &value);
    }
}

static void set_list(const struct walk *w, size_t node, struct dti_calc_truth_list *ret)
{
    const struct dti_calc_node *const n = &w->engine->tree->nodes[node];
    size_t at = 0;
    for (size_t i = 0; i < n->count; i++) {
        const struct dti_calc_truth_list *const from = w->lists[child_of(w, node, i)];
        for (size_t j = 0; j < dti_truth_count(from); j++)
            dti_truth_copy(ret, at++, from, j);
    }
}

static void set_repeated(struct dti_calc_truth_list *ret, const struct dti_calc_truth_list *from)
{
    for (size_t i = 0; i < dti_truth_count(ret) && dti_truth_count(from) > 0; i++)
        dti_truth_copy(ret, i, from, i % dti_truth_count(from));
}

/* A contracted product has no array of its own: it has the shape of the operation it is part of. */
static bool apply(const struct walk *w, size_t node, struct dti_calc_truth_list *ret)
{
    const struct dti_calc_engine *const engine = w->engine;
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const struct dti_calc_array *const shape = shape_of(w, node);
    const size_t fused = engine->slots[node].fused;
    struct dti_truth_operand operands[3];
    struct dti_calc_walk walk;
    size_t from[3];
    enum dti_calc_op op;
    unsigned negated;
    const unsigned count = dti_calc_operands(engine, node, from, &op, &negated);
    struct dti_calc_truth_list *const product = fused ? dti_truth_new(1, w->precision) : NULL;
    if (fused && !product)
        return false;
    dti_calc_walk_begin(&walk, engine, from, count, shape->rank, shape->shape);
    for (unsigned i = 0; i < count; i++)
        operands[i].list = w->lists[through_casts(w, from[i])];
    const struct dti_truth_operand third = operands[2];
    for (size_t i = 0; i < shape->count && dti_calc_next(engine->options, i, shape->count); i++) {
        for (unsigned j = 0; j < count; j++)
            operands[j].index = walk.offset[j];
        if (fused) {
            const struct dti_truth_operand whole = {.list = product, .index = 0},
                                           other = {.list = third.list, .index = walk.offset[2]};
            dti_truth_apply(product, 0, DTI_CALC_MULTIPLY, 0, operands);
            const struct dti_truth_operand pair[2] = {fused == 1 ? whole : other,
                                                      fused == 1 ? other : whole};
            dti_truth_apply(ret, i, n->op, 0, pair);
        } else {
            dti_truth_apply(ret, i, n->op, n->power, operands);
        }
        dti_calc_walk_next(&walk);
    }
    const bool failed = product && dti_truth_failed(product);
    dti_truth_free(product);
    return !failed;
}

static void fold(struct dti_calc_truth_list *ret, size_t row, enum dti_calc_op op,
                 const struct dti_calc_truth_list *from, size_t first, size_t count)
{
    if (count == 0)
        dti_truth_set_quotient(ret, row, op == DTI_CALC_MULTIPLY, 1);
    for (size_t i = 0; i < count && (i % 64 != 0 || !dti_interrupted()); i++) {
        const struct dti_truth_operand pair[2] = {{.list = ret, .index = row},
                                                  {.list = from, .index = first + i}};
        if (i == 0)
            dti_truth_copy(ret, row, from, first);
        else
            dti_truth_apply(ret, row, op, 0, pair);
    }
}

static void reduce(const struct walk *w, size_t node, struct dti_calc_truth_list *ret)
{
    const enum dti_calc_op op = w->engine->tree->nodes[node].op;
    const size_t child = child_of(w, node, 0);
    const struct dti_calc_array *const shape = shape_of(w, child);
    const struct dti_calc_truth_list *const a = w->lists[child];
    const bool rows = shape->rank > 1 && (op == DTI_CALC_ROW_SUM || op == DTI_CALC_ROW_MAXIMUM ||
                                          op == DTI_CALC_ROW_COUNT);
    const size_t length = rows ? (size_t)shape->shape[shape->rank - 1] : dti_truth_count(a);
    for (size_t row = 0; row < dti_truth_count(ret); row++) {
        const size_t first = row * length;
        switch (op) {
        case DTI_CALC_SUM:
        case DTI_CALC_ROW_SUM:
            dti_truth_sum(ret, row, a, first, 1, NULL, 0, 0, length);
            break;
        case DTI_CALC_DOT:
            dti_truth_sum(ret, row, a, 0, 1, w->lists[child_of(w, node, 1)], 0, 1, length);
            break;
        case DTI_CALC_COUNT:
        case DTI_CALC_ROW_COUNT:
            dti_truth_set_quotient(ret, row, (int64_t)length, 1);
            break;
        default:
            fold(ret, row,
                 op == DTI_CALC_PROD      ? DTI_CALC_MULTIPLY
                 : op == DTI_CALC_MINIMUM ? DTI_CALC_MINIMUM
                                          : DTI_CALC_MAXIMUM,
                 a, first, length);
        }
    }
}

static void multiply_matrices(const struct walk *w, size_t node, struct dti_calc_truth_list *ret)
{
    const size_t left = child_of(w, node, 0), right = child_of(w, node, 1);
    const struct dti_calc_array *const b = shape_of(w, right);
    const size_t length = (size_t)b->shape[0], columns = b->rank == 2 ? (size_t)b->shape[1] : 1;
    for (size_t i = 0; i < dti_truth_count(ret); i++)
        dti_truth_sum(ret, i, w->lists[left], i / columns * length, 1, w->lists[right], i % columns,
                      columns, length);
}

/* a + i (b - a)/(n - 1), or a + i step. */
static bool progress(const struct walk *w, size_t node, struct dti_calc_truth_list *ret)
{
    const struct dti_calc_node *const n = &w->engine->tree->nodes[node];
    const size_t count = dti_truth_count(ret);
    const bool arange = n->op == DTI_CALC_ARANGE;
    struct dti_calc_truth_list *const room = dti_truth_new(2, w->precision);
    const struct dti_truth_operand start = {.list = w->lists[child_of(w, node, 0)]},
                                   step = {.list = room}, place = {.list = room, .index = 1};
    if (!room)
        return false;
    if (arange && n->count == 2)
        dti_truth_set_quotient(room, 0, 1, 1);
    else if (arange)
        dti_truth_copy(room, 0, w->lists[child_of(w, node, 2)], 0);
    else
        dti_truth_apply(
            room, 0, DTI_CALC_SUBTRACT, 0,
            (struct dti_truth_operand[]){{.list = w->lists[child_of(w, node, 1)]}, start});
    for (size_t i = 0; i < count; i++) {
        dti_truth_set_quotient(room, 1, (int64_t)i, arange || count == 1 ? 1 : count - 1);
        dti_truth_apply(room, 1, DTI_CALC_MULTIPLY, 0, (struct dti_truth_operand[]){place, step});
        dti_truth_apply(ret, i, DTI_CALC_ADD, 0, (struct dti_truth_operand[]){start, place});
    }
    const bool failed = dti_truth_failed(room);
    dti_truth_free(room);
    return !failed;
}

static bool compute(const struct walk *w, size_t node, struct dti_calc_truth_list *ret)
{
    const struct dti_calc_node *const n = &w->engine->tree->nodes[node];
    const struct dti_calc_slot *const slot = &w->engine->slots[node];
    switch (n->kind) {
    case DTI_NODE_NUMBER:
        dti_truth_set_number(ret, 0, n->number);
        return true;
    case DTI_NODE_FILE:
        set_codes(ret, slot->given.codes ? &slot->given : &slot->array);
        return true;
    case DTI_NODE_LIST:
        set_list(w, node, ret);
        return true;
    default:
        break;
    }
    switch (n->op) {
    case DTI_CALC_REPEAT:
        set_repeated(ret, w->lists[child_of(w, node, 0)]);
        return true;
    case DTI_CALC_LINSPACE:
    case DTI_CALC_ARANGE:
        return progress(w, node, ret);
    case DTI_CALC_RAND:
    case DTI_CALC_RANDN:
        set_codes(ret, &slot->array);
        return true;
    case DTI_CALC_MATMUL:
        multiply_matrices(w, node, ret);
        return true;
    default:
        break;
    }
    const enum dti_calc_op_kind kind = dti_calc_op_kind(n->op);
    const bool extreme = n->count == 1 && (n->op == DTI_CALC_MINIMUM || n->op == DTI_CALC_MAXIMUM);
    if (!extreme && kind != DTI_CALC_KIND_REDUCTION && kind != DTI_CALC_KIND_EXACT)
        return apply(w, node, ret);
    reduce(w, node, ret);
    return true;
}

/* The number of children whose values are used; three for a contracted sum. */
static size_t operand_count(const struct walk *w, size_t node)
{
    return w->engine->slots[node].fused ? 3 : w->engine->tree->nodes[node].count;
}

static size_t operand_of(const struct walk *w, size_t node, size_t i)
{
    size_t three[3];
    enum dti_calc_op op;
    unsigned negated;
    if (!w->engine->slots[node].fused)
        return child_of(w, node, i);
    (void)dti_calc_operands(w->engine, node, three, &op, &negated);
    return through_casts(w, three[i]);
}

static void count_uses(struct walk *w, size_t answer)
{
    w->uses[answer] = 1;
    for (size_t node = answer + 1; node-- > 0;) {
        for (size_t i = 0; w->uses[node] > 0 && i < operand_count(w, node); i++)
            w->uses[operand_of(w, node, i)]++;
    }
}

static bool go_through(struct walk *w, size_t answer)
{
    const struct dti_calc_tree *const tree = w->engine->tree;
    count_uses(w, answer);
    for (size_t node = 0; node <= answer; node++) {
        const struct dti_calc_node *const n = &tree->nodes[node];
        if (w->uses[node] == 0)
            continue;
        w->lists[node] = dti_truth_new(
            n->kind == DTI_NODE_NUMBER ? 1 : w->engine->slots[node].array.count, w->precision);
        if (!w->lists[node] || !compute(w, node, w->lists[node]) ||
            dti_truth_failed(w->lists[node]))
            return false;
        for (size_t i = 0; i < operand_count(w, node); i++) {
            const size_t child = operand_of(w, node, i);
            if (--w->uses[child] == 0) {
                dti_truth_free(w->lists[child]);
                w->lists[child] = NULL;
            }
        }
    }
    return true;
}

/* The true values of the result, with intervals of one precision; NULL when out of memory. */
static struct dti_calc_truth_list *evaluate(struct dti_calc_engine *engine, unsigned precision)
{
    const size_t count = engine->tree->node_count;
    struct walk w = {.engine = engine, .precision = precision};
    struct dti_calc_truth_list *ret = NULL;
    w.lists = dti_calloc(count, sizeof(struct dti_calc_truth_list *));
    w.uses = dti_calloc(count, sizeof *w.uses);
    const size_t answer = through_casts(&w, engine->tree->answer);
    if (w.lists && w.uses && go_through(&w, answer)) {
        ret = w.lists[answer];
        w.lists[answer] = NULL;
    }
    for (size_t i = 0; i < count && w.lists; i++)
        dti_truth_free(w.lists[i]);
    dti_free(w.lists);
    dti_free(w.uses);
    return ret;
}

static bool is_decided(const struct dti_calc_truth_list *list)
{
    for (size_t i = 0; i < dti_truth_count(list); i++) {
        if (dti_truth_bits(list, i) < BITS_WANTED)
            return false;
    }
    return true;
}

enum dti_status dti_calc_walk_truth(struct dti_calc_engine *engine)
{
    struct dti_calc_result *const result = engine->result;
    const unsigned last = result->value.count > SHORT ? PRECISION_LONG : PRECISION_LAST;
    for (unsigned precision = PRECISION_FIRST; precision <= last; precision *= 2) {
        dti_truth_free(result->truth);
        result->truth = evaluate(engine, precision);
        if (!result->truth)
            return dti_no_memory(engine->error);
        if (is_decided(result->truth))
            break;
    }
    return DTI_OK;
}
