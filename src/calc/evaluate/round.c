/* SPDX-License-Identifier: MIT
 *
 * Rounds the exact result of an operation to a code and detects what went wrong. The whole exact
 * path goes through dti_calc_round(). */
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/evaluate.h"
#include "core/code/scalar.h"
#include "core/wide.h"
#include "util/run/grown.h"

enum {
    /* Events that make a result wrong; an inexact subnormal alone does not. */
    WRONG = 1 << DTI_CALC_OVERFLOW | 1 << DTI_CALC_NAN | 1 << DTI_CALC_DIVIDE_BY_ZERO |
            1 << DTI_CALC_TO_ZERO | 1 << DTI_CALC_ABSORBED | 1 << DTI_CALC_CANCELLATION,
};

/* The rounding policy for a format. */
static struct dti_policy policy_of(const struct dti_calc_options *options,
                                   const struct dti_format *format)
{
    const struct dti_cast cast = {.policy = options->policy, .round_given = options->round_given};
    struct dti_policy policy = options->policy;
    policy.round = dti_cast_round(&cast, format);
    return policy;
}

void dti_calc_step_begin(struct dti_calc_recorder *recorder, struct dti_calc_engine *engine,
                         size_t node, const char *op, const struct dti_format *format)
{
    const struct dti_calc_tree *const tree = engine->tree;
    const struct dti_calc_node *const n = &tree->nodes[node];
    *recorder = (struct dti_calc_recorder){
        .engine = engine,
        .format = *format,
        .policy = policy_of(engine->options, format),
        .flush = engine->options->flush,
        .finds_worst = engine->options->steps,
        .step = {.text = tree->source + n->text,
                 .length = n->length,
                 .within = n->within ? dti_calc_op_get(tree->nodes[n->within - 1].op)->name : NULL,
                 .op = op,
                 .format = *format},
    };
    /* each step has its own random bits */
    recorder->policy.stream += (uint32_t)engine->steps;
}

enum dti_status dti_calc_step_end(struct dti_calc_recorder *recorder,
                                  const struct dti_calc_array *array)
{
    struct dti_calc_engine *const engine = recorder->engine;
    struct dti_calc_result *const result = engine->result;
    struct dti_calc_step *const step = &recorder->step;
    step->rank = array->rank;
    memcpy(step->shape, array->shape, sizeof step->shape);
    step->count = array->count;
    if (array->count == 1)
        step->code = dti_calc_code(array, 0);
    for (size_t kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++)
        result->events[kind] += step->events[kind];
    result->operations += recorder->operations;
    result->flags |= recorder->flags;
    if (recorder->has_first && !result->went_wrong) {
        result->went_wrong = true;
        result->first = recorder->first;
        result->first_step = *step;
    }
    engine->steps++;
    if (!engine->options->steps)
        return DTI_OK;
    struct dti_calc_step *const moved =
        dti_grown(result->steps, result->step_count, &engine->step_capacity, sizeof *moved);
    if (!moved)
        return dti_no_memory(engine->error);
    result->steps = moved;
    result->steps[result->step_count++] = *step;
    return DTI_OK;
}

static bool is_subnormal(const struct dti_format *format, const struct dti_value *value)
{
    return dti_format_is_float(format) && value->kind == DTI_CLASS_FINITE &&
           value->exponent < dti_format_min_exponent(format);
}

static void make_zero(struct dti_value *value)
{
    *value = (struct dti_value){.kind = DTI_CLASS_ZERO, .negative = value->negative};
}

static bool same_number(const struct dti_value *a, const struct dti_value *b, bool other_sign)
{
    return a->kind == DTI_CLASS_FINITE && b->kind == DTI_CLASS_FINITE && a->hi == b->hi &&
           a->lo == b->lo && a->exponent == b->exponent && a->sticky == b->sticky &&
           (a->negative != b->negative) == other_sign;
}

/* Whether the stored sum equals one operand although the other is a nonzero number. */
static bool is_absorbed(const struct dti_calc_element *e, const struct dti_value *stored)
{
    const struct dti_value *const a = &e->operand[0], *const b = &e->operand[1];
    if (e->op == DTI_CALC_ADD || e->op == DTI_CALC_SUBTRACT)
        return a->kind == DTI_CLASS_FINITE && b->kind == DTI_CLASS_FINITE &&
               (same_number(stored, a, false) ||
                same_number(stored, b, e->op == DTI_CALC_SUBTRACT));
    if (e->op != DTI_CALC_FMA || e->operand[2].kind != DTI_CLASS_FINITE)
        return false;
    struct dti_value product;
    (void)dti_value_multiply(&product, a, b);
    return product.kind == DTI_CLASS_FINITE &&
           (same_number(stored, &e->operand[2], false) || same_number(stored, &product, false));
}

/* How many leading bits of a - b or a + b cancel, out of those that the format has. */
static unsigned cancelled_bits(const struct dti_format *format, const struct dti_calc_element *e)
{
    const struct dti_value *const a = &e->operand[0], *const b = &e->operand[1];
    const unsigned bits = format->man_bits + 1u;
    if ((e->op != DTI_CALC_ADD && e->op != DTI_CALC_SUBTRACT) || a->kind != DTI_CLASS_FINITE ||
        b->kind != DTI_CLASS_FINITE)
        return 0;
    if (e->exact.kind == DTI_CLASS_ZERO)
        return bits;
    const int64_t top = a->exponent > b->exponent ? a->exponent : b->exponent;
    const int64_t lost = top - e->exact.exponent;
    return lost <= 0 ? 0 : lost > bits ? bits : (unsigned)lost;
}

/* The kinds of events in an operation on one element. */
static unsigned find_kinds(const struct dti_calc_recorder *recorder,
                           const struct dti_calc_element *e, const struct dti_outcome *outcome,
                           const struct dti_value *stored, bool inexact)
{
    const struct dti_format *const format = &recorder->format;
    const bool invalid = (outcome->flags & DTI_FLAG_INVALID) &&
                         !(outcome->flags & DTI_FLAG_OVERFLOW) && e->exact.kind != DTI_CLASS_NAN;
    unsigned kinds = 0;
    if ((e->arith & DTI_ARITH_INVALID) || invalid)
        kinds |= 1 << DTI_CALC_NAN;
    if (e->arith & DTI_ARITH_DIVIDE_BY_ZERO)
        kinds |= 1 << DTI_CALC_DIVIDE_BY_ZERO;
    else if (outcome->flags & DTI_FLAG_OVERFLOW)
        kinds |= 1 << DTI_CALC_OVERFLOW;
    if (kinds || format->kind == DTI_KIND_BOOL || e->exact.kind == DTI_CLASS_NAN)
        return kinds;
    if (inexact && stored->kind == DTI_CLASS_ZERO)
        kinds |= 1 << DTI_CALC_TO_ZERO;
    else if (inexact && is_subnormal(format, stored))
        kinds |= 1 << DTI_CALC_SUBNORMAL;
    if (inexact && !e->harmless && is_absorbed(e, stored))
        kinds |= 1 << DTI_CALC_ABSORBED;
    if (e->rounded && !e->harmless && !recorder->is_long && dti_format_is_float(format) &&
        2 * cancelled_bits(format, e) > format->man_bits &&
        !(recorder->selects && e->exact.kind == DTI_CLASS_ZERO))
        kinds |= 1 << DTI_CALC_CANCELLATION;
    return kinds;
}

static void record_events(struct dti_calc_recorder *recorder, const struct dti_calc_element *e,
                          const struct dti_calc_rounded *rounded)
{
    for (unsigned kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++) {
        if (!(rounded->kinds >> kind & 1))
            continue;
        recorder->step.events[kind]++;
        if (recorder->has_first || !(WRONG >> kind & 1))
            continue;
        recorder->has_first = true;
        recorder->first = (struct dti_calc_event){
            .kind = (enum dti_calc_event_kind)kind,
            .op = e->op,
            .step = recorder->engine->steps,
            .element = e->index,
            .operand_count = e->operand_count,
            .operand = {e->operand[0], e->operand[1], e->operand[2]},
            .exact = e->exact,
            .code = rounded->code,
            .bits = kind == DTI_CALC_CANCELLATION ? cancelled_bits(&recorder->format, e) : 0,
        };
    }
}

/* |stored - exact| / |exact| to 64 bits, enough to compare errors; both are finite and not zero.
 * Uses integers, so every machine picks the same element. */
static struct dti_calc_magnitude relative_error(const struct dti_value *stored,
                                                const struct dti_value *exact)
{
    struct dti_calc_magnitude ret = {.exponent = 0};
    const struct dti_value *large = stored, *small = exact;
    if (stored->exponent < exact->exponent ||
        (stored->exponent == exact->exponent &&
         (stored->hi < exact->hi || (stored->hi == exact->hi && stored->lo < exact->lo)))) {
        large = exact;
        small = stored;
    }
    const int64_t apart = (int64_t)large->exponent - small->exponent;
    uint64_t high = large->hi, low = large->lo, top = small->hi, bottom = small->lo;
    int64_t exponent = large->exponent;
    if (stored->negative == exact->negative && apart < 64) {
        if (apart > 0) {
            bottom = bottom >> apart | top << (64 - apart);
            top >>= apart;
        }
        const unsigned borrow = dti_wide_sub(&low, bottom, 0);
        (void)dti_wide_sub(&high, top, borrow);
    }
    if (high == 0 && low == 0) /* only the sticky bit is lost */
        low = 1;
    exponent -= dti_wide_normalise(&high, &low);
    const bool halve = high >= exact->hi;
    uint64_t rest;
    ret.significand = dti_wide_div(halve ? high >> 1 : high, 0, exact->hi, &rest);
    ret.exponent = exponent - exact->exponent + halve;
    const unsigned lead = ret.significand ? dti_leading_zeros(ret.significand) : 0;
    ret.significand = (ret.significand ? ret.significand : UINT64_C(1) << 63) << lead;
    ret.exponent -= lead;
    return ret;
}

static void keep_worst(struct dti_calc_recorder *recorder, const struct dti_calc_element *e,
                       const struct dti_calc_rounded *rounded)
{
    struct dti_calc_step *const step = &recorder->step;
    struct dti_calc_magnitude error = {.significand = 0};
    if (rounded->inexact && e->exact.kind == DTI_CLASS_FINITE) {
        if (rounded->value.kind == DTI_CLASS_FINITE)
            error = relative_error(&rounded->value, &e->exact);
        else /* zero: error of 100 %; infinity: more */
            error = (struct dti_calc_magnitude){
                .exponent = rounded->value.kind == DTI_CLASS_ZERO ? 0 : INT32_MAX,
                .significand = UINT64_C(1) << 63};
    }
    const struct dti_calc_magnitude *const worst = &recorder->worst;
    const bool first = step->has_worst == false;
    if (!first && (error.significand == 0 ||
                   (worst->significand != 0 && (error.exponent < worst->exponent ||
                                                (error.exponent == worst->exponent &&
                                                 error.significand <= worst->significand)))))
        return;
    recorder->worst = error;
    step->has_worst = true;
    step->worst = e->index;
    step->operand_count = e->operand_count;
    memcpy(step->operand, e->operand, sizeof step->operand);
    step->exact = e->exact;
    step->code = rounded->code;
}

void dti_calc_round(struct dti_calc_recorder *recorder, const struct dti_calc_element *e,
                    struct dti_calc_rounded *ret)
{
    const struct dti_format *const format = &recorder->format;
    struct dti_outcome outcome;
    if (e->number && recorder->policy.overflow == DTI_OVERFLOW_WRAP &&
        dti_format_is_integer(format)) { /* it may have more than 128 bits */
        const struct dti_cast cast = {.dst = *format,
                                      .policy = recorder->policy,
                                      .round_given = recorder->engine->options->round_given};
        struct dti_scalar scalar;
        dti_scalar_store(&cast, &e->exact, e->number, recorder->random, &scalar);
        outcome = (struct dti_outcome){.code = scalar.code, .flags = scalar.flags};
    } else {
        dti_encode(format, &e->exact, &recorder->policy, recorder->random, &outcome);
    }
    recorder->random++;
    recorder->operations++;
    dti_decode(format, outcome.code, &ret->value);
    bool inexact = outcome.flags & DTI_FLAG_INEXACT;
    if (recorder->flush && is_subnormal(format, &ret->value)) { /* flushing every result means that
                                                                 * no operand is subnormal */
        struct dti_outcome zero;
        make_zero(&ret->value);
        dti_encode(format, &ret->value, &recorder->policy, 0, &zero);
        outcome.code = zero.code;
        outcome.flags |= DTI_FLAG_INEXACT | DTI_FLAG_UNDERFLOW;
        inexact = true;
    }
    ret->code = outcome.code;
    ret->inexact = inexact;
    ret->kinds = 0;
    if (e->quiet)
        return;
    recorder->flags |= outcome.flags;
    recorder->step.inexact += inexact;
    ret->kinds = find_kinds(recorder, e, &outcome, &ret->value, inexact);
    if (ret->kinds)
        record_events(recorder, e, ret);
    if (recorder->finds_worst)
        keep_worst(recorder, e, ret);
}

void dti_calc_round_into(struct dti_calc_recorder *recorder, const struct dti_calc_element *e,
                         struct dti_calc_slot *slot)
{
    struct dti_calc_rounded rounded;
    dti_calc_round(recorder, e, &rounded);
    dti_calc_put(&slot->array, e->index, rounded.code);
    if (rounded.inexact)
        dti_calc_mark(slot, e->index);
}
