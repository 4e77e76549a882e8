/* SPDX-License-Identifier: MIT
 *
 * Reductions of long lists through dti_calc_bulk(). Where something went wrong, the place is known
 * but not what the sum was there: that is what comes before it in the order asked for, added up
 * once more. */
#include "calc/hurry.h"
#include "calc/reduce.h"

#include "dtinfo/plan.h"

#include <stdlib.h>

enum { LENGTH_LEAST = 16 }; /* of a row in an array that is long */

/* Whether the bulk path takes the elements; *ret is their sum. */
static bool bulk_range(const struct dti_reducer *r, size_t first, size_t count, uint64_t *ret,
                       struct dti_calc_bulk_counts *counts)
{
    const struct dti_format *const format = &r->recorder->format;
    const size_t width = dti_calc_code_bytes(format);
    const struct dti_strided *const lists[2] = {&r->a, &r->b};
    const void *operands[2] = {NULL, NULL};
    const bool scalar[2] = {false, false};
    struct dti_calc_array sum = {.format = *format};
    uint64_t room = 0;
    sum.codes = &room;
    for (size_t i = 0; i < (r->op == DTI_CALC_DOT ? 2 : 1); i++)
        operands[i] = (const char *)lists[i]->slot->array.codes + (lists[i]->first + first) * width;
    struct dti_bulk *const bulk = dti_calc_bulk_of(r->recorder->engine, format);
    if (!bulk || !dti_bulk_compute(bulk, r->op, &room, operands, scalar, count, counts))
        return false;
    *ret = dti_calc_code(&sum, 0);
    return true;
}

static struct dti_partial partial_of(const struct dti_reducer *r, uint64_t code)
{
    struct dti_partial ret = {.rounded = true};
    dti_decode(&r->recorder->format, code, &ret.value);
    return ret;
}

static struct dti_partial sum_of(struct dti_reducer *r, size_t first, size_t count)
{
    struct dti_calc_bulk_counts ignored;
    uint64_t code;
    return bulk_range(r, first, count, &code, &ignored) ? partial_of(r, code)
                                                        : dti_reduce_range(r, first, count);
}

/* The addition whose right operand begins at `index`: what its left and right operands are made of.
 * False: there is none. */
static bool find_addition(const struct dti_reducer *r, size_t count, size_t index, size_t *ret_left,
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

/* The event at `index`, computed as the exact path does. */
static void find_first(struct dti_reducer *r, size_t count, size_t index)
{
    struct dti_calc_recorder *const recorder = r->recorder;
    struct dti_calc_recorder again = *recorder;
    struct dti_reducer replay = *r;
    size_t left, left_count, right_count;
    replay.recorder = &again;
    if (r->op == DTI_CALC_DOT && (!r->fma || index == 0))
        (void)dti_reduce_term(&replay, index);
    if (!again.has_first && find_addition(r, count, index, &left, &left_count, &right_count)) {
        const struct dti_partial a = sum_of(r, left, left_count);
        if (r->fma && right_count == 1)
            (void)dti_reduce_fused(&replay, &a, index);
        else {
            const struct dti_partial b = sum_of(r, index, right_count);
            (void)dti_reduce_combine(&replay, r->combiner, &a, &b, index, DTI_REDUCE_TELL);
        }
    }
    recorder->has_first = again.has_first;
    recorder->first = again.first;
}

struct dti_partial dti_reduce_list(struct dti_reducer *r, size_t count)
{
    const enum dti_calc_order order = r->recorder->engine->options->order;
    struct dti_calc_bulk_counts counts;
    uint64_t code;
    size_t element;
    if (r->converts || !dti_calc_is_long(r->a.slot->array.count) || count < LENGTH_LEAST ||
        r->a.step != 1 || r->b.step != 1 || !bulk_range(r, 0, count, &code, &counts))
        return dti_reduce_range(r, 0, count);
    const uint64_t sums = (count - 1) * (order == DTI_CALC_KAHAN ? 4 : 1);
    dti_calc_add_counts(r->recorder, &counts,
                        sums + (r->op != DTI_CALC_DOT ? 0
                                : r->fma              ? 1
                                                      : count));
    if (dti_calc_first_wrong(r->recorder, &counts, &element))
        find_first(r, count, element);
    struct dti_partial ret = partial_of(r, code);
    ret.rounded = counts.inexact > 0 || r->a.slot->rounded || (r->b.slot && r->b.slot->rounded);
    return ret;
}

/* Whether every number of a dtype is one of fp32. */
static bool fits_fp32(const struct dti_format *format)
{
    return dti_format_is_float(format) && format->width <= 16 && format->exp_bits <= 8 &&
           format->bias <= 127 && format->specials != DTI_SPECIALS_SCALE;
}

enum dti_status dti_reduce_widen(struct dti_calc_engine *engine, const struct dti_calc_slot *from,
                                 const struct dti_format *format, struct dti_calc_slot *ret)
{
    const struct dti_request request = {
        .src = from->array.format,
        .cast = {.dst = *format, .policy = {.round = DTI_ROUND_NEAREST_EVEN}},
        .src_layout = {.packing = DTI_PACKING_BYTES}};
    struct dti_plan *plan;
    enum dti_level level;
    *ret = (struct dti_calc_slot){.rounded = from->rounded};
    if (!dti_calc_is_long(from->array.count) || format->id != DTI_FP32 || engine->options->flush ||
        !fits_fp32(&from->array.format) ||
        dti_level_choose(getenv("DTINFO_CPU"), &level, NULL) != DTI_OK)
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
