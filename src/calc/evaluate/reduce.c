/* SPDX-License-Identifier: MIT
 *
 * Reductions of lists to one number: sums, products, dot products in the requested order,
 * extremes, counts; and matrix products, one dot product per element. Each operation is rounded
 * once. With --accumulate they compute in that dtype, followed by a cast as a separate step.
 * Unless there is little to do, dti_bulk_compute() does it. */
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/evaluate.h"
#include "calc/evaluate/fast_path.h"
#include "convert/plan.h"
#include "util/run/allocate.h"
#include "util/run/process_environment.h"

/* Elements at a constant stride. */
struct strided_list {
    const struct dti_calc_slot *slot;
    size_t first, step;
};

/* A reduction over such elements. */
struct reducer {
    struct dti_calc_recorder *recorder; /* computes in its format */
    enum dti_calc_op op;                /* SUM, PROD, DOT, or an extreme */
    enum dti_calc_op combiner;          /* combines two partial results */
    struct strided_list a, b;
    uint64_t total;     /* elements of all its lists, for progress; 0: not reported here */
    bool worth;         /* there are enough operations for dti_bulk_compute() */
    bool fma, converts; /* converts: the operands have a different format */
    struct dti_calc_slot wide[2]; /* or had: these are copies in the format of the computation */
};

/* An intermediate result, and whether it is inexact. */
struct partial_result {
    struct dti_value value;
    bool rounded;
};

/* Which events of an operation are recorded. */
enum event_note {
    TELL,     /* all events */
    HARMLESS, /* absorption and cancellation are not events */
    QUIET,    /* no events */
};

/* Applies an operation to two partial results and rounds. */
static struct partial_result combine(struct reducer *r, enum dti_calc_op op,
                                     const struct partial_result *a, const struct partial_result *b,
                                     size_t index, enum event_note note)
{
    struct dti_calc_element e = {.op = op,
                                 .operand_count = 2,
                                 .operand = {a->value, b->value},
                                 .rounded = a->rounded || b->rounded,
                                 .harmless = note != TELL,
                                 .quiet = note == QUIET,
                                 .index = index};
    struct dti_calc_rounded rounded;
    e.arith = dti_calc_operate(r->recorder, op, 0, e.operand, &e.exact);
    dti_calc_round(r->recorder, &e, &rounded);
    return (struct partial_result){.value = rounded.value, .rounded = e.rounded || rounded.inexact};
}

/* Fetches an operand in the format of the computation. */
static struct partial_result fetch(struct reducer *r, const struct strided_list *from, size_t i)
{
    const size_t at = from->first + i * from->step;
    const struct dti_calc_array *const array = &from->slot->array;
    struct partial_result ret = {.rounded = dti_calc_is_marked(from->slot, at)};
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

/* A term of the reduction: an element, or the product of two. */
static struct partial_result term(struct reducer *r, size_t i)
{
    const struct partial_result a = fetch(r, &r->a, i);
    if (r->op != DTI_CALC_DOT)
        return a;
    const struct partial_result b = fetch(r, &r->b, i);
    return combine(r, DTI_CALC_MULTIPLY, &a, &b, i, TELL);
}

/* The sum plus the product of two elements, rounded once. */
static struct partial_result fused(struct reducer *r, const struct partial_result *sum, size_t i)
{
    const struct partial_result a = fetch(r, &r->a, i), b = fetch(r, &r->b, i);
    struct dti_calc_element e = {.op = DTI_CALC_FMA,
                                 .operand_count = 3,
                                 .operand = {a.value, b.value, sum->value},
                                 .rounded = a.rounded || b.rounded || sum->rounded,
                                 .index = i};
    struct dti_calc_rounded rounded;
    e.arith = dti_calc_operate(r->recorder, e.op, 0, e.operand, &e.exact);
    dti_calc_round(r->recorder, &e, &rounded);
    return (struct partial_result){.value = rounded.value, .rounded = e.rounded || rounded.inexact};
}

static bool goes_on(const struct reducer *r, size_t i)
{
    return i % 64 != 0 || dti_calc_goes_on(r->recorder->engine->options, r->a.first + i, r->total);
}

/* Adds the elements after the first, one by one. */
static struct partial_result sequential(struct reducer *r, size_t first, size_t count)
{
    struct partial_result sum = term(r, first);
    for (size_t i = first + 1; i < first + count && goes_on(r, i); i++) {
        if (r->fma) {
            sum = fused(r, &sum, i);
            continue;
        }
        const struct partial_result next = term(r, i);
        sum = combine(r, r->combiner, &sum, &next, i, TELL);
    }
    return sum;
}

static struct partial_result pairwise(struct reducer *r, size_t first, size_t count)
{
    size_t half = 1;
    if (count == 1 || !goes_on(r, first))
        return term(r, first);
    while (half < count - half)
        half *= 2;
    const struct partial_result left = pairwise(r, first, half);
    const struct partial_result right = pairwise(r, first + half, count - half);
    return combine(r, r->combiner, &left, &right, first + half, TELL);
}

static struct partial_result blocked(struct reducer *r, size_t first, size_t count)
{
    const uint64_t block = r->recorder->engine->options->block;
    const size_t length = block < count ? (size_t)block : count;
    struct partial_result sum = sequential(r, first, length);
    for (size_t done = length; done < count; done += length) {
        const size_t left = count - done;
        const struct partial_result next =
            sequential(r, first + done, left < length ? left : length);
        sum = combine(r, r->combiner, &sum, &next, first + done, TELL);
    }
    return sum;
}

/* Kahan, "Further remarks on reducing truncation errors", CACM 8 (1965). The correction keeps
 * what the sum absorbs. */
static struct partial_result kahan(struct reducer *r, size_t first, size_t count)
{
    struct partial_result sum = term(r, first);
    struct partial_result correction = {.value = {.kind = DTI_CLASS_ZERO}};
    for (size_t i = first + 1; i < first + count && goes_on(r, i); i++) {
        const struct partial_result next = term(r, i);
        const struct partial_result corrected =
            combine(r, DTI_CALC_SUBTRACT, &next, &correction, i, QUIET);
        const struct partial_result total = combine(r, DTI_CALC_ADD, &sum, &corrected, i, HARMLESS);
        correction = combine(r, DTI_CALC_SUBTRACT, &total, &sum, i, QUIET);
        correction = combine(r, DTI_CALC_SUBTRACT, &correction, &corrected, i, QUIET);
        sum = total;
    }
    return sum;
}

/* Reduces `count` elements from `first` on, in the requested order, one operation at a time. */
static struct partial_result add_range(struct reducer *r, size_t first, size_t count)
{
    if (count == 0) {
        struct partial_result none = {.value = {.kind = DTI_CLASS_ZERO}};
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

enum { LENGTH_LEAST = 16 }; /* minimum row length */

/* Tries the bulk path; *ret is the sum. With marks, unless the list is long. */
static bool bulk_range(const struct reducer *r, size_t first, size_t count, uint64_t *ret,
                       struct dti_calc_bulk_counts *counts)
{
    struct dti_calc_bulk_marks marks = {.ret = NULL};
    const struct dti_format *const format = &r->recorder->format;
    const size_t width = dti_calc_code_bytes(format);
    const struct strided_list *const lists[2] = {&r->a, &r->b};
    const void *operands[2] = {NULL, NULL};
    const bool scalar[2] = {false, false};
    struct dti_calc_array sum = {.format = *format};
    uint64_t room = 0;
    sum.codes = &room;
    for (size_t i = 0; i < (r->op == DTI_CALC_DOT ? 2 : 1); i++) {
        const size_t at = lists[i]->first + first;
        operands[i] = (const char *)lists[i]->slot->array.codes + at * width;
        marks.operand[i] = dti_calc_marks_from(lists[i]->slot, at, &marks.all[i]);
    }
    struct dti_bulk *const bulk = dti_calc_bulk_of(r->recorder->engine, format);
    if (!bulk || !dti_bulk_compute(bulk, r->op, &room, operands, scalar, count,
                                   r->recorder->is_long ? NULL : &marks, counts))
        return false;
    *ret = dti_calc_code(&sum, 0);
    return true;
}

static struct partial_result partial_of(const struct reducer *r, uint64_t code)
{
    struct partial_result ret = {.rounded = true};
    dti_decode(&r->recorder->format, code, &ret.value);
    return ret;
}

static struct partial_result sum_of(struct reducer *r, size_t first, size_t count)
{
    struct dti_calc_bulk_counts ignored;
    uint64_t code;
    return bulk_range(r, first, count, &code, &ignored) ? partial_of(r, code)
                                                        : add_range(r, first, count);
}

/* Finds the addition whose right operand starts at `index`, and the ranges of its left and right
 * operands. False if there is none. */
static bool find_addition(const struct reducer *r, size_t count, size_t index, size_t *ret_left,
                          size_t *ret_left_count, size_t *ret_right_count)
{
    const struct dti_calc_options *const options = r->recorder->engine->options;
    size_t first = 0;
    *ret_left = 0;
    *ret_left_count = index;
    *ret_right_count = 1;
    if (index == 0)
        return false;
    if (options->order == DTI_CALC_BLOCKED) {
        const size_t in_block = (size_t)(index % options->block);
        *ret_left = in_block == 0 ? 0 : index - in_block;
        *ret_left_count = in_block == 0 ? index : in_block;
        if (in_block == 0)
            *ret_right_count =
                count - index < options->block ? count - index : (size_t)options->block;
    }
    while (options->order == DTI_CALC_PAIRWISE && count > 1) {
        size_t half = 1;
        while (half < count - half)
            half *= 2;
        if (index == first + half) {
            *ret_left = first;
            *ret_left_count = half;
            *ret_right_count = count - half;
            return true;
        }
        count = index < first + half ? half : count - half;
        first += index < first + half ? 0 : half;
    }
    return true;
}

/* Records the event at `index` as the exact path does: recomputes the sum before it, in the
 * requested order, and repeats the operation. */
static void find_first(struct reducer *r, size_t count, size_t index)
{
    struct dti_calc_recorder *const recorder = r->recorder;
    struct dti_calc_recorder again = *recorder;
    struct reducer replay = *r;
    size_t left, left_count, right_count;
    const struct dti_calc_options *const options = recorder->engine->options;
    const bool starts = index == 0 || /* a block, whose first product is rounded */
                        (options->order == DTI_CALC_BLOCKED && index % options->block == 0);
    replay.recorder = &again;
    if (r->op == DTI_CALC_DOT && (!r->fma || starts))
        (void)term(&replay, index);
    if (!again.has_first && find_addition(r, count, index, &left, &left_count, &right_count)) {
        const struct partial_result a = sum_of(r, left, left_count);
        if (r->fma && !starts)
            (void)fused(&replay, &a, index);
        else {
            const struct partial_result b = sum_of(r, index, right_count);
            (void)combine(&replay, r->combiner, &a, &b, index, TELL);
        }
    }
    recorder->has_first = again.has_first;
    recorder->first = again.first;
}

/* Records the first event of all `count` elements, by doing everything again one by one. */
static void replay_all(const struct reducer *r, size_t count)
{
    struct dti_calc_recorder again = *r->recorder;
    struct reducer replay = *r;
    replay.recorder = &again;
    (void)add_range(&replay, 0, count);
    r->recorder->has_first = again.has_first;
    r->recorder->first = again.first;
}

/* Roundings of a sum or dot product of `count` terms, at least 1. With --fma the first product of
 * each block is rounded. */
static uint64_t operations_of(const struct reducer *r, size_t count)
{
    const struct dti_calc_options *const options = r->recorder->engine->options;
    const uint64_t blocks =
        options->order == DTI_CALC_BLOCKED ? 1 + (count - 1) / options->block : 1;
    const uint64_t sums = (count - 1) * (options->order == DTI_CALC_KAHAN ? 4 : 1);
    return sums + (r->op != DTI_CALC_DOT ? 0 : r->fma ? blocks : count);
}

/* Reduces all `count` elements, by dti_bulk_compute() if there are many. */
static struct partial_result add_list(struct reducer *r, size_t count)
{
    struct dti_calc_bulk_counts counts;
    uint64_t code;
    size_t element;
    if (r->converts || !r->worth || count < LENGTH_LEAST || r->a.step != 1 || r->b.step != 1 ||
        !bulk_range(r, 0, count, &code, &counts))
        return add_range(r, 0, count);
    dti_calc_add_counts(r->recorder, &counts, operations_of(r, count));
    const bool in_order = r->recorder->engine->options->order == DTI_CALC_SEQUENTIAL;
    if (dti_calc_first_wrong(r->recorder, &counts, &element)) {
        if (in_order || r->recorder->is_long)
            find_first(r, count, element);
        else
            replay_all(r, count);
    }
    struct partial_result ret = partial_of(r, code);
    ret.rounded = counts.inexact > 0 || dti_calc_has_marks(r->a.slot, r->a.first, count) ||
                  (r->b.slot && dti_calc_has_marks(r->b.slot, r->b.first, count));
    return ret;
}

/* Whether fp32 can represent every number of a format. */
static bool fits_fp32(const struct dti_format *format)
{
    return dti_format_is_float(format) && format->width <= 16 && format->exp_bits <= 8 &&
           format->bias <= 127 && format->specials != DTI_SPECIALS_SCALE;
}

/* Converts a list to another format, if that is fp32 and changes no number; otherwise returns no
 * codes. The marks stay those of the list. */
static enum dti_status widen(struct dti_calc_engine *engine, const struct dti_calc_slot *from,
                             const struct dti_format *format, struct dti_calc_slot *ret)
{
    const struct dti_request request = {
        .src = from->array.format,
        .cast = {.dst = *format, .policy = {.round = DTI_ROUND_NEAREST_EVEN}},
        .src_layout = {.packing = DTI_PACKING_BYTES}};
    struct dti_plan *plan;
    enum dti_level level;
    *ret = (struct dti_calc_slot){.rounded = from->rounded, .marks = from->marks};
    if (format->id != DTI_FP32 || engine->options->flush || !fits_fp32(&from->array.format) ||
        dti_level_choose(dti_environment("DTINFO_CPU"), &level, NULL) != DTI_OK)
        return DTI_OK;
    enum dti_status status =
        dti_calc_array_new(engine, format, from->array.rank, from->array.shape, &ret->array);
    if (status != DTI_OK)
        return status;
    status = dti_plan_new(&plan, &request, level, engine->error);
    if (status == DTI_OK) {
        status = dti_plan_run(plan, ret->array.codes, from->array.codes, from->array.count, 0,
                              DTI_STORES_AUTO, NULL, engine->error);
        dti_plan_free(plan);
    }
    if (status != DTI_OK)
        dti_calc_array_drop(engine, &ret->array);
    return status;
}

static void store(struct dti_calc_slot *slot, size_t index, const struct partial_result *partial,
                  const struct reducer *r)
{
    struct dti_outcome outcome; /* exact, because it was rounded to this format before */
    dti_encode(&r->recorder->format, &partial->value, &r->recorder->policy, 0, &outcome);
    dti_calc_put(&slot->array, index, outcome.code);
    if (partial->rounded)
        dti_calc_mark(slot, index);
}

static struct partial_result extreme(struct reducer *r, size_t count)
{
    struct partial_result ret = term(r, 0);
    for (size_t i = 1; i < count && goes_on(r, i); i++) {
        const struct partial_result next = term(r, i);
        if (r->op == DTI_CALC_MINIMUM)
            dti_value_minimum(&ret.value, &ret.value, &next.value);
        else
            dti_value_maximum(&ret.value, &ret.value, &next.value);
        ret.rounded |= next.rounded;
    }
    return ret;
}

static struct partial_result counted(struct reducer *r, size_t count)
{
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    struct dti_calc_rounded rounded;
    dti_value_set(&e.exact, false, count, 0);
    dti_calc_round(r->recorder, &e, &rounded);
    return (struct partial_result){.value = rounded.value, .rounded = rounded.inexact};
}

static void begin(struct reducer *r, struct dti_calc_recorder *recorder, enum dti_calc_op op)
{
    const struct dti_calc_options *const options = recorder->engine->options;
    *r = (struct reducer){.recorder = recorder,
                          .op = op,
                          .a = {.step = 1},
                          .b = {.step = 1},
                          .combiner = op == DTI_CALC_PROD ? DTI_CALC_MULTIPLY : DTI_CALC_ADD};
    r->fma = options->fma && op == DTI_CALC_DOT &&
             (options->order == DTI_CALC_SEQUENTIAL || options->order == DTI_CALC_BLOCKED);
    recorder->finds_worst = false;
}

static void free_operands(struct reducer *r)
{
    for (size_t i = 0; i < 2; i++)
        dti_calc_array_drop(r->recorder->engine, &r->wide[i].array);
}

/* Sets the operands, which the caller frees; unless there is little to do, they are converted to
 * the format of the computation. */
static enum dti_status set_operands(struct reducer *r, const struct dti_calc_slot *a,
                                    const struct dti_calc_slot *b, uint64_t operations)
{
    const struct dti_calc_slot *const given[2] = {a, b};
    struct strided_list *const lists[2] = {&r->a, &r->b};
    struct dti_calc_engine *const engine = r->recorder->engine;
    r->recorder->is_long = dti_calc_is_long(a->array.count);
    r->worth = dti_calc_is_worth(operations);
    r->converts = !dti_calc_same_format(&a->array.format, &r->recorder->format);
    for (size_t i = 0; i < 2; i++) {
        lists[i]->slot = given[i];
        if (!given[i] || !r->converts || !r->worth)
            continue;
        const enum dti_status status = widen(engine, given[i], &r->recorder->format, &r->wide[i]);
        if (status != DTI_OK) {
            free_operands(r);
            return status;
        }
    }
    /* convert both or neither; except in a matrix product the lists are equally long */
    if (r->wide[0].array.codes && (!b || r->wide[1].array.codes)) {
        lists[0]->slot = &r->wide[0];
        lists[1]->slot = b ? &r->wide[1] : NULL;
        r->converts = false;
    }
    return DTI_OK;
}

/* The format that a node's reduction computes in. */
static const struct dti_format *format_of(const struct dti_calc_engine *engine, size_t node)
{
    return engine->options->accumulates ? &engine->options->accumulate
                                        : dti_calc_node_format(engine, node);
}

/* Ends a step: the array of results becomes the node's. */
static enum dti_status end(struct dti_calc_engine *engine, size_t node,
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
    dti_free(wide.marks);
    return status;
}

static enum dti_status mismatch(struct dti_calc_engine *engine, size_t node)
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
    struct reducer r;
    uint64_t shape[DTI_CALC_RANK_MAX];
    if (b && (a->array.rank > 1 || b->array.rank > 1 || a->array.count != b->array.count))
        return mismatch(engine, node);
    const uint64_t length = rows ? a->array.shape[a->array.rank - 1] : a->array.count;
    if (length == 0 && extremes)
        return dti_fail(engine->error, DTI_BAD_VALUE, "'%s' of an empty list",
                        dti_calc_op_get(n->op)->name);
    memcpy(shape, a->array.shape, sizeof shape);
    if (rows)
        shape[a->array.rank - 1] = 1;
    const struct dti_format *const format =
        extremes || counts ? dti_calc_node_format(engine, node) : format_of(engine, node);
    enum dti_status status = dti_calc_array_new(engine, format, rows && !counts ? a->array.rank : 0,
                                                shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, dti_calc_op_get(n->op)->name, format);
    begin(&r, &recorder, n->op == DTI_CALC_ROW_SUM ? DTI_CALC_SUM : n->op);
    if (!extremes && !counts && (status = set_operands(&r, a, b, a->array.count)) != DTI_OK)
        return status;
    r.a.slot = extremes || counts ? a : r.a.slot;
    r.total = a->array.count;
    for (size_t row = 0; row < slot->array.count; row++) {
        r.a.first = row * (size_t)length;
        const struct partial_result partial = counts     ? counted(&r, (size_t)length)
                                              : extremes ? extreme(&r, (size_t)length)
                                                         : add_list(&r, (size_t)length);
        store(slot, row, &partial, &r);
    }
    free_operands(&r);
    return end(engine, node, &recorder);
}

/* Transposes a matrix, so that its columns are contiguous. */
static enum dti_status turn(struct dti_calc_engine *engine, const struct dti_calc_slot *from,
                            struct dti_calc_slot *ret)
{
    const size_t rows = (size_t)from->array.shape[0], columns = (size_t)from->array.shape[1];
    const uint64_t shape[2] = {columns, rows};
    const enum dti_status status =
        dti_calc_array_new(engine, &from->array.format, 2, shape, &ret->array);
    for (size_t i = 0; i < rows && status == DTI_OK; i++) {
        for (size_t j = 0; j < columns; j++) {
            dti_calc_put(&ret->array, j * rows + i, dti_calc_code(&from->array, i * columns + j));
            if (dti_calc_is_marked(from, i * columns + j))
                dti_calc_mark(ret, j * rows + i);
        }
    }
    return status;
}

/* The sizes of a product of matrices. */
struct sizes {
    size_t rows, length, columns;
};

/* Computes all sums side by side, if that is possible. */
static bool multiply_at_once(struct reducer *r, const struct sizes *sizes,
                             struct dti_calc_slot *slot)
{
    const struct dti_calc_slot *const a = r->a.slot, *const b = r->b.slot;
    struct dti_bulk *const bulk = dti_calc_bulk_of(r->recorder->engine, &r->recorder->format);
    struct dti_calc_bulk_counts counts;
    size_t element;
    struct dti_bulk_product product = {.a = a->array.codes,
                                       .b = b->array.codes,
                                       .rows = sizes->rows,
                                       .length = sizes->length,
                                       .columns = sizes->columns,
                                       .ret = slot->array.codes};
    if (!bulk || r->converts || !r->worth || sizes->columns < LENGTH_LEAST || sizes->length == 0)
        return false;
    product.a_marks = dti_calc_marks_from(a, 0, &product.a_all);
    product.b_marks = dti_calc_marks_from(b, 0, &product.b_all);
    const bool marks = !dti_calc_is_long(slot->array.count) || !r->recorder->is_long;
    if (marks && !(product.ret_marks = dti_calloc(slot->array.count, 1)))
        return false;
    if (!dti_bulk_multiply(bulk, &product, &counts)) {
        dti_free(product.ret_marks);
        return false;
    }
    if (r->recorder->is_long)
        counts.events[DTI_CALC_CANCELLATION] = 0;
    dti_calc_add_counts(r->recorder, &counts, slot->array.count * operations_of(r, sizes->length));
    if (dti_calc_first_wrong(r->recorder, &counts, &element)) {
        r->a.first = element / sizes->columns * sizes->length;
        r->b = (struct strided_list){b, element % sizes->columns, sizes->columns};
        replay_all(r, sizes->length);
    }
    if (!dti_calc_is_long(slot->array.count)) {
        dti_calc_marks_take(slot, product.ret_marks);
        return true;
    }
    dti_free(product.ret_marks);
    slot->rounded = counts.inexact > 0 || a->rounded || b->rounded;
    return true;
}

/* Computes one sum after the other. */
static enum dti_status multiply_each(struct reducer *r, const struct sizes *sizes,
                                     struct dti_calc_slot *slot)
{
    const struct dti_calc_options *const options = r->recorder->engine->options;
    const size_t length = sizes->length, columns = sizes->columns;
    struct dti_calc_slot turned = {.rounded = false}; /* the transposed matrix */
    const bool turns = columns > 1 && r->worth && length >= LENGTH_LEAST && !r->converts;
    const enum dti_status status = turns ? turn(r->recorder->engine, r->b.slot, &turned) : DTI_OK;
    r->b.slot = turns ? &turned : r->b.slot;
    for (size_t i = 0; i < sizes->rows && status == DTI_OK; i++) {
        for (size_t j = 0;
             j < columns && dti_calc_goes_on(options, i * columns + j, sizes->rows * columns);
             j++) {
            r->a.first = i * length;
            r->b.first = turns ? j * length : j;
            r->b.step = turns ? 1 : columns;
            const struct partial_result partial = add_list(r, length);
            store(slot, i * columns + j, &partial, r);
        }
    }
    dti_calc_array_drop(r->recorder->engine, &turned.array);
    dti_free(turned.marks);
    return status;
}

enum dti_status dti_calc_multiply_matrices(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_slot *const a = &engine->slots[dti_calc_child(engine, node, 0)];
    const struct dti_calc_slot *const b = &engine->slots[dti_calc_child(engine, node, 1)];
    const unsigned a_rank = a->array.rank, b_rank = b->array.rank;
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    struct reducer r;
    uint64_t shape[2];
    unsigned rank = 0;
    if (a_rank < 1 || a_rank > 2 || b_rank < 1 || b_rank > 2 ||
        a->array.shape[a_rank - 1] != b->array.shape[0])
        return mismatch(engine, node);
    const struct sizes sizes = {.rows = a_rank == 2 ? (size_t)a->array.shape[0] : 1,
                                .length = (size_t)b->array.shape[0],
                                .columns = b_rank == 2 ? (size_t)b->array.shape[1] : 1};
    if (a_rank == 2)
        shape[rank++] = sizes.rows;
    if (b_rank == 2)
        shape[rank++] = sizes.columns;
    const struct dti_format *const format = format_of(engine, node);
    enum dti_status status = dti_calc_array_new(engine, format, rank, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, "matmul", format);
    begin(&r, &recorder, DTI_CALC_DOT);
    status = set_operands(&r, a, b, slot->array.count * sizes.length);
    if (status == DTI_OK && !multiply_at_once(&r, &sizes, slot))
        status = multiply_each(&r, &sizes, slot);
    free_operands(&r);
    return status == DTI_OK ? end(engine, node, &recorder) : status;
}
