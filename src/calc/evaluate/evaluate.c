/* SPDX-License-Identifier: MIT
 *
 * Evaluates a tree: decides which nodes are needed, which products are contracted and when an
 * array can be released, and calls each operation. Computes literals and lists of literals here:
 * each number is rounded once from its text. For the result, decides whether to compute the
 * truth, and finds the element with the largest error. */
#include "calc/evaluate/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/bulk.h"
#include "core/code/scalar.h"
#include "util/run/allocate.h"

static enum dti_status round_literal(struct dti_calc_recorder *recorder,
                                     const struct dti_calc_node *literal, size_t index,
                                     struct dti_calc_slot *slot)
{
    struct dti_calc_element e = {
        .op = DTI_CALC_OP_COUNT, .index = index, .number = literal->number};
    if (!dti_number_value(literal->number, &e.exact))
        return dti_no_memory(recorder->engine->error);
    dti_calc_round_into(recorder, &e, slot);
    return DTI_OK;
}

/* The shape of a list's child; a literal has no array of its own. */
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

static enum dti_status make_list(struct dti_calc_engine *engine, size_t node)
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
        for (size_t j = 0; j < from->array.count;
             j++, at++) { /* same format, so codes are copied */
            dti_calc_put(&slot->array, at, dti_calc_code(&from->array, j));
            if (dti_calc_is_marked(from, j))
                dti_calc_mark(slot, at);
        }
    }
    return status == DTI_OK ? dti_calc_step_end(&recorder, &slot->array) : status;
}

/* Whether a child literal is used unrounded: numbers in a list, and arguments of generators. */
static bool is_read_exactly(const struct dti_calc_engine *engine, size_t node, size_t child)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const bool reads =
        n->kind == DTI_NODE_LIST ||
        (n->kind == DTI_NODE_CALL && dti_calc_op_kind(n->op) == DTI_CALC_KIND_GENERATOR);
    return reads && engine->tree->nodes[child].kind == DTI_NODE_NUMBER &&
           !(n->kind == DTI_NODE_CALL && n->op == DTI_CALC_REPEAT &&
             child == dti_calc_child(engine, node, 0));
}

static void count_uses(struct dti_calc_engine *engine)
{
    const struct dti_calc_tree *const tree = engine->tree;
    engine->slots[engine->slots[tree->answer].same].uses = 1;
    for (size_t node = tree->node_count; node-- > 0;) {
        struct dti_calc_slot *const slot = &engine->slots[node];
        slot->needed = slot->uses > 0;
        for (size_t i = 0; i < tree->nodes[node].count && slot->needed; i++) {
            const size_t child = dti_calc_child(engine, node, i);
            engine->slots[child].uses += !is_read_exactly(engine, node, child);
        }
    }
}

/* Contracts a*b + c, a*b - c and c - a*b if the product is used nowhere else; of two products,
 * the first. */
static void contract(struct dti_calc_engine *engine)
{
    const struct dti_calc_tree *const tree = engine->tree;
    for (size_t node = 0; node < tree->node_count; node++) {
        const struct dti_calc_node *const n = &tree->nodes[node];
        struct dti_calc_slot *const slot = &engine->slots[node];
        if (!slot->needed || n->kind != DTI_NODE_CALL ||
            (n->op != DTI_CALC_ADD && n->op != DTI_CALC_SUBTRACT))
            continue;
        for (size_t i = 0; i < 2 && !slot->fused; i++) {
            const size_t child = dti_calc_child(engine, node, i);
            const struct dti_calc_node *const product = &tree->nodes[child];
            if (product->kind == DTI_NODE_CALL && product->op == DTI_CALC_MULTIPLY &&
                engine->slots[child].uses == 1 &&
                dti_calc_same_format(dti_calc_node_format(engine, child),
                                     dti_calc_node_format(engine, node))) {
                slot->fused = i + 1;
                engine->slots[child].needed = false;
            }
        }
    }
}

/* Releases the arrays whose last use was this node. */
static void release(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    for (size_t i = 0; i < n->count; i++) {
        const size_t child = dti_calc_child(engine, node, i);
        struct dti_calc_slot *const slot = &engine->slots[child];
        if (is_read_exactly(engine, node, child) || --slot->uses > 0)
            continue;
        if (engine->slots[node].fused == i + 1) /* a contracted product was never computed itself */
            release(engine, child);
        dti_calc_array_drop(engine, &slot->array);
        dti_free(slot->marks);
        slot->marks = NULL;
    }
}

static enum dti_status compute(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    size_t child;
    switch (n->kind) {
    case DTI_NODE_NUMBER:
    case DTI_NODE_LIST:
        return make_list(engine, node);
    case DTI_NODE_FILE:
        return dti_calc_read_file(engine, node);
    case DTI_NODE_CAST:
        child = dti_calc_child(engine, node, 0);
        return dti_calc_cast(engine, node, "cast", &engine->slots[child].array,
                             &engine->slots[child]);
    case DTI_NODE_CALL:
        break;
    }
    switch (dti_calc_op_kind(n->op)) {
    case DTI_CALC_KIND_GENERATOR:
        return dti_calc_generate(engine, node);
    case DTI_CALC_KIND_REDUCTION:
    case DTI_CALC_KIND_EXACT:
        return n->op == DTI_CALC_MATMUL ? dti_calc_multiply_matrices(engine, node)
                                        : dti_calc_reduce(engine, node);
    default: /* min and max of one list are reductions */
        return n->count == 1 && (n->op == DTI_CALC_MINIMUM || n->op == DTI_CALC_MAXIMUM)
                   ? dti_calc_reduce(engine, node)
                   : dti_calc_apply(engine, node);
    }
}

/* Whether the truth needs the codes of random numbers, which are their own true values. */
static bool is_drawn(const struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    return n->kind == DTI_NODE_CALL && (n->op == DTI_CALC_RAND || n->op == DTI_CALC_RANDN) &&
           dti_calc_keeps_for_truth(engine, engine->slots[node].array.count);
}

static enum dti_status go_through(struct dti_calc_engine *engine)
{
    for (size_t node = 0; node < engine->tree->node_count; node++) {
        if (!engine->slots[node].needed)
            continue;
        enum dti_status status = compute(engine, node);
        if (status == DTI_OK && dti_interrupted())
            status = dti_cancelled(engine->error);
        if (status != DTI_OK)
            return status;
        engine->slots[node].uses += is_drawn(engine, node);
        release(engine, node);
    }
    return DTI_OK;
}

static void prepare(struct dti_calc_engine *engine)
{
    const struct dti_calc_tree *const tree = engine->tree;
    for (size_t node = 0; node < tree->node_count; node++) {
        const struct dti_calc_node *const n = &tree->nodes[node];
        struct dti_calc_slot *const slot = &engine->slots[node];
        slot->same = node;
        if (n->kind != DTI_NODE_CAST)
            continue;
        const size_t child = dti_calc_child(engine, node, 0);
        if (dti_calc_same_format(dti_calc_node_format(engine, child),
                                 dti_calc_node_format(engine, node)))
            slot->same = child;
    }
    count_uses(engine);
    if (engine->options->fma)
        contract(engine);
}

enum {
    WORK_MAX = 1 << 21,  /* operations done for the truth by default */
    ASKED_MAX = 1 << 22, /* longest list for which the truth is computed on request */
};

/* Whether the work is small enough to do by default; if not, *ret_reason says why. */
static bool is_short(const struct dti_calc_engine *engine, const char **ret_reason)
{
    uint64_t products = 0;
    for (size_t node = 0; node < engine->tree->node_count; node++) {
        const struct dti_calc_node *const n = &engine->tree->nodes[node];
        const struct dti_calc_slot *const slot = &engine->slots[node];
        if (slot->array.count > DTI_CALC_TRUTH_MAX) {
            *ret_reason = "more than 65536 elements";
            return false;
        }
        if (slot->needed && n->kind == DTI_NODE_CALL && n->op == DTI_CALC_MATMUL)
            products +=
                slot->array.count * engine->slots[dti_calc_child(engine, node, 1)].array.shape[0];
    }
    *ret_reason = "a matrix product of more than 2097152 products";
    return products <= WORK_MAX;
}

/* Computes the true values of the result if they are wanted. */
static enum dti_status find_truth(struct dti_calc_engine *engine)
{
    struct dti_calc_result *const result = engine->result;
    const bool asked = engine->options->truth == DTI_CALC_TRUTH_YES;
    const char *reason = NULL;
    if (engine->options->truth == DTI_CALC_TRUTH_NO)
        return DTI_OK;
    if (!is_short(engine, &reason) && !asked) {
        result->truth_reason = reason;
        return DTI_OK;
    }
    for (size_t node = 0; node < engine->tree->node_count; node++) {
        if (engine->slots[node].array.count > ASKED_MAX)
            return dti_fail(engine->error, DTI_BAD_VALUE,
                            "true values of lists of more than %d elements are not computed",
                            ASKED_MAX);
    }
    if (dti_multi_load(asked ? engine->error : NULL) != DTI_OK) {
        result->truth_reason = "libmpfr is not available";
        return asked ? DTI_UNAVAILABLE : DTI_OK;
    }
    return dti_calc_walk_truth(engine);
}

enum dti_status dti_calc_run(const struct dti_calc_tree *tree, const struct dti_format *format,
                             const struct dti_calc_options *options, struct dti_calc_result *ret,
                             struct dti_error *reterr)
{
    struct dti_calc_result result = {.steps = NULL};
    struct dti_calc_engine engine = {
        .tree = tree, .dtype = format, .options = options, .result = &result, .error = reterr};
    if (!dti_policy_exists(&options->policy) || (unsigned)options->order > DTI_CALC_KAHAN ||
        (unsigned)options->truth > DTI_CALC_TRUTH_YES ||
        (options->order == DTI_CALC_BLOCKED && options->block == 0))
        return dti_fail(reterr, DTI_USAGE, "an expression with a policy that does not exist");
    if (format->kind == DTI_KIND_COMPLEX ||
        (options->accumulates && options->accumulate.kind == DTI_KIND_COMPLEX))
        return dti_fail(reterr, DTI_WRONG_KIND, "%s is complex; arithmetic is for real dtypes",
                        format->kind == DTI_KIND_COMPLEX ? format->name : options->accumulate.name);
    engine.slots = dti_calloc(tree->node_count, sizeof *engine.slots);
    if (!engine.slots)
        return dti_no_memory(reterr);
    prepare(&engine);
    enum dti_status status = go_through(&engine);
    if (status == DTI_OK) {
        struct dti_calc_slot *const answer = &engine.slots[engine.slots[tree->answer].same];
        result.value = answer->array;
        status = find_truth(&engine); /* it may read the codes of the result */
        answer->array.codes = NULL;
        if (status == DTI_OK && dti_interrupted())
            status = dti_cancelled(reterr);
    }
    for (size_t node = 0; node < tree->node_count; node++) {
        dti_calc_array_free(&engine.slots[node].array);
        dti_calc_array_free(&engine.slots[node].given);
        dti_free(engine.slots[node].marks);
    }
    dti_free(engine.slots);
    dti_bulk_close(engine.bulk[0]);
    dti_bulk_close(engine.bulk[1]);
    if (status == DTI_OK)
        *ret = result;
    else
        dti_calc_result_free(&result);
    return status;
}

void dti_calc_result_free(struct dti_calc_result *result)
{
    dti_calc_array_free(&result->value);
    dti_free(result->steps);
    dti_truth_free(result->truth);
    result->steps = NULL;
    result->truth = NULL;
}

/* The severity of an element's error: 0 correct or unknown, 1 relative error, 2 wrong although
 * the truth is 0, 3 a number instead of a non-number or the reverse. */
static int rank_error(const struct dti_calc_true *truth, const struct dti_value *stored)
{
    const bool number = stored->kind == DTI_CLASS_ZERO || stored->kind == DTI_CLASS_FINITE;
    if (!truth->known)
        return 0;
    if (truth->undefined)
        return stored->kind == DTI_CLASS_NAN ? 0 : 3;
    if (!number)
        return stored->kind == truth->value.kind && stored->negative == truth->value.negative ? 0
                                                                                              : 3;
    if (!truth->has_error)
        return 3;
    if (truth->absolute.kind == DTI_CLASS_ZERO)
        return 0;
    return truth->relative.kind == DTI_CLASS_NAN ? 2 : 1;
}

bool dti_calc_worst(const struct dti_calc_result *result, size_t *ret_element,
                    uint64_t *ret_different)
{
    struct dti_value worst = {.kind = DTI_CLASS_ZERO};
    uint64_t different = 0;
    size_t element = 0;
    int worst_rank = 0;
    if (!result->truth)
        return false;
    for (size_t i = 0; i < result->value.count; i++) {
        struct dti_calc_true truth;
        struct dti_value stored;
        dti_calc_true_get(result, i, &truth);
        dti_decode(&result->value.format, dti_calc_code(&result->value, i), &stored);
        const int rank = rank_error(&truth, &stored);
        different += rank > 0;
        struct dti_value error = rank == 1 ? truth.relative : truth.absolute;
        error.negative = false;
        if (rank < worst_rank || rank == 0 ||
            (rank == worst_rank && (rank == 3 || dti_value_compare(&error, &worst) <= 0)))
            continue;
        worst_rank = rank;
        worst = error;
        element = i;
    }
    *ret_element = element;
    *ret_different = different;
    return true;
}
