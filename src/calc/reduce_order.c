/* SPDX-License-Identifier: MIT
 *
 * The steps of a reduction, each rounded once, and the orders in which they are taken. */
#include "calc/reduce.h"

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
