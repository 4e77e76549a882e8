/* SPDX-License-Identifier: MIT
 *
 * Lists generated from a few numbers. linspace and arange: numbers (P + Q i) / R with integers
 * P, Q and R, each rounded once. Decimals of ordinary length need 128 bits and one division
 * each; all others use big integers. In rand and randn each element is a function of the seed,
 * the position of the generator in the expression, and the index, so every machine makes the
 * same list. Lengths are literals, because a dtype may not be able to represent them. */
#include "calc/evaluate/cast_tiles.h"
#include "calc/evaluate/evaluate.h"

#include <string.h>

#include "core/number/number_terms.h"
#include "core/wide.h"

enum { EXPONENT_MAX = 20000 }; /* of ends and steps, for powers of ten and two */

struct signed_big {
    struct dti_big big;
    bool negative;
};

/* A progression and its length. */
struct progression {
    struct signed_big p, q;
    struct dti_big r;
};

static void progression_init(struct progression *ret)
{
    dti_big_init(&ret->p.big);
    dti_big_init(&ret->q.big);
    dti_big_init(&ret->r);
}

static void progression_free(struct progression *s)
{
    dti_big_free(&s->p.big);
    dti_big_free(&s->q.big);
    dti_big_free(&s->r);
}

/* An argument as a fraction num / den. */
struct ratio {
    struct signed_big num;
    struct dti_big den;
};

static bool is_moderate(int64_t exponent)
{
    return exponent <= EXPONENT_MAX && exponent >= -EXPONENT_MAX;
}

static bool set_number(struct ratio *ret, const struct dti_number *number)
{
    struct dti_fraction fraction;
    if (number->kind == DTI_CLASS_ZERO)
        return true;
    dti_fraction_init(&fraction, number);
    const bool ok = is_moderate(fraction.two) && is_moderate(fraction.five);
    if (ok) {
        struct dti_big *const num = &ret->num.big;
        dti_big_move(num, &fraction.num);
        dti_big_move(&ret->den, &fraction.den);
        dti_big_mul_pow5(fraction.five > 0 ? num : &ret->den,
                         (uint32_t)(fraction.five > 0 ? fraction.five : -fraction.five));
        dti_big_shift_left(fraction.two > 0 ? num : &ret->den,
                           (size_t)(fraction.two > 0 ? fraction.two : -fraction.two));
        ret->num.negative = number->negative;
    }
    dti_fraction_free(&fraction);
    return ok;
}

static bool set_value(struct ratio *ret, const struct dti_value *value)
{
    if (value->kind == DTI_CLASS_ZERO)
        return true;
    const int64_t exponent = dti_big_from_value(&ret->num.big, value);
    if (!is_moderate(exponent))
        return false;
    dti_big_shift_left(exponent > 0 ? &ret->num.big : &ret->den,
                       (size_t)(exponent > 0 ? exponent : -exponent));
    ret->num.negative = value->negative;
    return true;
}

static void ratio_init(struct ratio *ret)
{
    dti_big_init(&ret->num.big);
    dti_big_init(&ret->den);
    dti_big_set(&ret->den, 1);
    ret->num.negative = false;
}

static void ratio_free(struct ratio *ratio)
{
    dti_big_free(&ratio->num.big);
    dti_big_free(&ratio->den);
}

/* Argument i: a literal with its exact value, or a number of the dtype. */
static enum dti_status argument(struct dti_calc_engine *engine, size_t node, size_t i,
                                struct ratio *ret)
{
    const size_t child = dti_calc_child(engine, node, i);
    const struct dti_calc_node *const n = &engine->tree->nodes[child];
    const struct dti_calc_array *const array = &engine->slots[child].array;
    const char *const name = dti_calc_op_get(engine->tree->nodes[node].op)->name;
    const char *const text = DTI_QUOTED(engine->tree->source + n->text, n->length);
    const bool literal = n->kind == DTI_NODE_NUMBER;
    struct dti_value value;
    if (!literal && array->rank > 0)
        return dti_fail(engine->error, DTI_BAD_VALUE, "'%s' is made of numbers; %s is a list", name,
                        text);
    if (literal && !dti_number_value(n->number, &value))
        return dti_no_memory(engine->error);
    if (!literal)
        dti_decode(&array->format, dti_calc_code(array, 0), &value);
    if (value.kind == DTI_CLASS_INF || value.kind == DTI_CLASS_NAN)
        return dti_fail(engine->error, DTI_BAD_VALUE, "'%s' takes finite numbers; %s is not one",
                        name, text);
    if (!(literal ? set_number(ret, n->number) : set_value(ret, &value)))
        return dti_fail(engine->error, DTI_BAD_VALUE,
                        "%s is too large or too small for the ends of a list", text);
    return ret->num.big.failed || ret->den.failed ? dti_no_memory(engine->error) : DTI_OK;
}

/* *a += or -= b */
static void add_signed(struct signed_big *a, const struct signed_big *b, bool subtract)
{
    const bool negative = b->negative != subtract;
    if (a->negative == negative) {
        dti_big_add(&a->big, &a->big, &b->big);
    } else if (dti_big_compare(&a->big, &b->big) >= 0) {
        dti_big_sub(&a->big, &a->big, &b->big);
    } else {
        dti_big_sub(&a->big, &b->big, &a->big);
        a->negative = negative;
    }
}

/* Brings P and Q to a common denominator. */
static void common(struct progression *ret, const struct ratio *a, const struct ratio *b)
{
    dti_big_mul(&ret->p.big, &a->num.big, &b->den);
    dti_big_mul(&ret->q.big, &b->num.big, &a->den);
    dti_big_mul(&ret->r, &a->den, &b->den);
    ret->p.negative = a->num.negative;
    ret->q.negative = b->num.negative;
}

/* Argument i as a literal integer from 1 to DTI_CALC_ELEMENTS_MAX. */
static enum dti_status read_length(struct dti_calc_engine *engine, size_t node, size_t i,
                                   uint64_t *ret)
{
    const struct dti_calc_node *const child = &engine->tree->nodes[dti_calc_child(engine, node, i)];
    const char *const name = dti_calc_op_get(engine->tree->nodes[node].op)->name;
    const char *const text = DTI_QUOTED(engine->tree->source + child->text, child->length);
    struct dti_value value;
    if (child->kind != DTI_NODE_NUMBER)
        return dti_fail(engine->error, DTI_BAD_VALUE,
                        "a length that '%s' is given must be written as a number, not %s", name,
                        text);
    if (!dti_number_value(child->number, &value))
        return dti_no_memory(engine->error);
    const bool finite = value.kind == DTI_CLASS_FINITE && !value.negative;
    if (!finite || value.exponent < 0 ||
        (value.exponent < 63 && (value.hi << (value.exponent + 1) || value.lo || value.sticky)))
        return dti_fail(engine->error, DTI_BAD_VALUE,
                        "%s is no length; '%s' takes an integer from 1 on", text, name);
    if (value.exponent >= 63 || value.hi >> (63 - value.exponent) > DTI_CALC_ELEMENTS_MAX)
        return dti_fail(engine->error, DTI_BAD_VALUE, "%s elements are too many; the limit is %d",
                        text, DTI_CALC_ELEMENTS_MAX);
    *ret = value.hi >> (63 - value.exponent);
    return DTI_OK;
}

static enum dti_status set_linspace(struct dti_calc_engine *engine, size_t node,
                                    const struct ratio *a, const struct ratio *b,
                                    struct progression *ret, uint64_t *ret_count)
{
    const enum dti_status status = read_length(engine, node, 2, ret_count);
    if (status != DTI_OK)
        return status;
    common(ret, a, b);
    add_signed(&ret->q, &ret->p, true);
    if (*ret_count > 1) {
        dti_big_mul_add(&ret->p.big, *ret_count - 1, 0);
        dti_big_mul_add(&ret->r, *ret_count - 1, 0);
    }
    return DTI_OK;
}

static enum dti_status set_arange(struct dti_calc_engine *engine, const struct ratio *a,
                                  const struct ratio *b, const struct ratio *step,
                                  struct progression *ret, uint64_t *ret_count)
{
    struct progression span; /* b - a and the step, with a common denominator */
    struct dti_big rest;
    progression_init(&span);
    dti_big_init(&rest);
    common(ret, a, step);
    common(&span, b, a);
    add_signed(&span.p, &span.q, true);
    dti_big_mul(&span.p.big, &span.p.big, &step->den);
    dti_big_mul(&span.q.big, &step->num.big, &span.r);
    enum dti_status status = DTI_OK;
    if (step->num.big.count == 0)
        status = dti_fail(engine->error, DTI_BAD_VALUE, "the step of 'arange' is 0");
    else if (span.p.big.count == 0 || span.p.negative != step->num.negative)
        status = dti_fail(engine->error, DTI_BAD_VALUE,
                          "'arange' is empty: its end does not lie beyond its start");
    if (status == DTI_OK) {
        dti_big_divide(&span.p.big, &rest, &span.p.big, &span.q.big);
        dti_big_mul_add(&span.p.big, 1, rest.count > 0);
        if (span.p.big.failed || rest.failed)
            status = dti_no_memory(engine->error);
        else if (span.p.big.count > 1 || span.p.big.limb[0] > DTI_CALC_ELEMENTS_MAX)
            status =
                dti_fail(engine->error, DTI_BAD_VALUE,
                         "'arange' has too many elements; the limit is %d", DTI_CALC_ELEMENTS_MAX);
        else
            *ret_count = span.p.big.limb[0];
    }
    progression_free(&span);
    dti_big_free(&rest);
    return status;
}

/* The same with P and Q as 128-bit two's complement, R in 64 bits, and a power of two. */
struct short_progression {
    uint64_t high, low, q_high, q_low, r;
    int64_t exponent;
};

static void complement(uint64_t *high, uint64_t *low)
{
    *low = UINT64_C(0) - *low;
    *high = ~*high + (*low == 0);
}

static bool set_short(struct short_progression *ret, const struct progression *from)
{
    enum { LONGEST = 96 }; /* 2^28 steps of this many bits fit */
    const struct dti_big *const p = &from->p.big, *const q = &from->q.big, *const r = &from->r;
    if (dti_big_bits(p) > LONGEST || dti_big_bits(q) > LONGEST || dti_big_bits(r) > 64)
        return false;
    const unsigned twos = dti_leading_zeros(r->limb[0]); /* shift R's top bit to the top */
    *ret = (struct short_progression){.low = p->count > 0 ? p->limb[0] : 0,
                                      .high = p->count > 1 ? p->limb[1] : 0,
                                      .q_low = q->count > 0 ? q->limb[0] : 0,
                                      .q_high = q->count > 1 ? q->limb[1] : 0,
                                      .r = r->limb[0] << twos,
                                      .exponent = twos};
    if (from->p.negative)
        complement(&ret->high, &ret->low);
    if (from->q.negative)
        complement(&ret->q_high, &ret->q_low);
    return true;
}

static void short_value(const struct short_progression *s, struct dti_value *ret)
{
    uint64_t high = s->high, low = s->low, rest;
    const bool negative = high >> 63;
    int64_t exponent = s->exponent - 64;
    *ret = (struct dti_value){.kind = DTI_CLASS_ZERO};
    if (negative)
        complement(&high, &low);
    if (high == 0 && low == 0)
        return;
    exponent -= dti_wide_normalise(&high, &low);
    const uint64_t whole = high >= s->r; /* both have their top bit set */
    high -= whole ? s->r : 0;
    uint64_t top = dti_wide_div(high, low, s->r, &rest);
    uint64_t bottom = dti_wide_div(rest, 0, s->r, &rest);
    bool sticky = rest != 0;
    if (whole) {
        sticky |= bottom & 1;
        bottom = bottom >> 1 | top << 63;
        top = top >> 1 | UINT64_C(1) << 63;
        exponent++;
    }
    dti_value_set_wide(ret, negative, top, bottom, sticky, exponent);
}

static void round_short(struct dti_calc_recorder *recorder, struct short_progression *s,
                        struct dti_calc_slot *slot)
{
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    for (; e.index < slot->array.count; e.index++) {
        short_value(s, &e.exact);
        dti_calc_round_into(recorder, &e, slot);
        const unsigned carry = dti_wide_add(&s->low, s->q_low, 0);
        (void)dti_wide_add(&s->high, s->q_high, carry);
    }
}

static bool round_long(struct dti_calc_recorder *recorder, struct progression *s,
                       struct dti_calc_slot *slot)
{
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    for (; e.index < slot->array.count; e.index++) {
        if (!dti_big_ratio(&e.exact, s->p.negative && s->p.big.count > 0, &s->p.big, &s->r, 0))
            return false;
        dti_calc_round_into(recorder, &e, slot);
        add_signed(&s->p, &s->q, false);
    }
    return !s->p.big.failed;
}

static enum dti_status fill(struct dti_calc_engine *engine, size_t node, struct progression *s,
                            uint64_t count)
{
    const struct dti_format *const format = dti_calc_node_format(engine, node);
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    struct short_progression fits;
    if (s->p.big.failed || s->q.big.failed || s->r.failed)
        return dti_no_memory(engine->error);
    const enum dti_status status = dti_calc_array_new(engine, format, 1, &count, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node,
                        dti_calc_op_get(engine->tree->nodes[node].op)->name, format);
    if (set_short(&fits, s))
        round_short(&recorder, &fits, slot);
    else if (!round_long(&recorder, s, slot))
        return dti_no_memory(engine->error);
    return dti_calc_step_end(&recorder, &slot->array);
}

/* linspace(a, b, n) and arange(a, b, step): element i is the exact a + i (b - a)/(n - 1), or a +
 * i step, rounded once. A literal has its exact value; any other argument has its value in the
 * dtype. */
static enum dti_status progress(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const bool arange = n->op == DTI_CALC_ARANGE;
    struct progression s;
    struct ratio given[3];
    uint64_t count = 0;
    enum dti_status status = DTI_OK;
    progression_init(&s);
    for (size_t i = 0; i < 3; i++)
        ratio_init(&given[i]);
    if (arange && n->count == 2)
        dti_big_set(&given[2].num.big, 1);
    for (size_t i = 0; i < (arange ? n->count : 2) && status == DTI_OK; i++)
        status = argument(engine, node, i, &given[i]);
    if (status == DTI_OK)
        status = arange ? set_arange(engine, &given[0], &given[1], &given[2], &s, &count)
                        : set_linspace(engine, node, &given[0], &given[1], &s, &count);
    if (status == DTI_OK)
        status = fill(engine, node, &s, count);
    for (size_t i = 0; i < 3; i++)
        ratio_free(&given[i]);
    progression_free(&s);
    return status;
}

/* Copies codes; nothing is rounded. */
static enum dti_status repeat(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_slot *const from = &engine->slots[dti_calc_child(engine, node, 0)];
    struct dti_calc_slot *const slot = &engine->slots[node];
    struct dti_calc_recorder recorder;
    uint64_t shape[DTI_CALC_RANK_MAX];
    enum dti_status status = read_length(engine, node, 1, &shape[0]);
    if (status == DTI_OK && from->array.rank == DTI_CALC_RANK_MAX)
        status = dti_fail(engine->error, DTI_BAD_VALUE, "arrays have at most %d dimensions",
                          DTI_CALC_RANK_MAX);
    if (status != DTI_OK)
        return status;
    memcpy(shape + 1, from->array.shape, from->array.rank * sizeof *shape);
    status =
        dti_calc_array_new(engine, &from->array.format, from->array.rank + 1, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, "repeat", &from->array.format);
    const size_t width = dti_calc_code_bytes(&from->array.format);
    const size_t piece = from->array.count * width, size = slot->array.count * width;
    char *const codes = slot->array.codes;
    memcpy(codes, from->array.codes, size ? piece : 0);
    for (size_t done = piece; done < size;) {
        const size_t more = done < size - done ? done : size - done;
        memcpy(codes + done, codes, more);
        done += more;
    }
    if (from->rounded) {
        for (size_t i = 0; i < slot->array.count; i++) {
            if (dti_calc_is_marked(from, i % from->array.count))
                dti_calc_mark(slot, i);
            if (!slot->marks && slot->rounded)
                break;
        }
    }
    return dti_calc_step_end(&recorder, &slot->array);
}

/* The leading `precision` bits of 64 random bits as a fraction below 1. The dtype can represent
 * it, except for the smallest values in narrow dtypes; those round toward zero, so the result is
 * never 1. */
static void uniform(struct dti_value *ret, uint64_t bits, const struct dti_format *format)
{
    const unsigned precision = format->man_bits + 1u;
    const unsigned cut = precision < 64 ? 64 - precision : 0;
    dti_value_set(ret, false, bits >> cut << cut, -64);
}

/* The elements of rand, a tile at a time. False if there are no kernels for it. */
static bool fill_uniform(struct dti_calc_recorder *recorder, size_t generator,
                         struct dti_calc_slot *slot)
{
    const unsigned precision = recorder->format.man_bits + 1u;
    const size_t count = slot->array.count;
    struct dti_cast_tiles tiles;
    if (precision > 53 || !dti_format_is_float(&recorder->format) ||
        !dti_cast_tiles_open(&tiles, recorder, dti_format_get(DTI_FP64), count))
        return false;
    for (size_t at = 0; at < count && dti_calc_goes_on(recorder->engine->options, at, count);
         at += DTI_CAST_TILE) {
        const size_t n = count - at < DTI_CAST_TILE ? count - at : DTI_CAST_TILE;
        double numbers[DTI_CAST_TILE];
        tiles.kernel->uniform(numbers, n, recorder->policy.seed, dti_generate_stream(generator), at,
                              64 - precision);
        dti_cast_tiles_run(&tiles, numbers, n, at, slot, false);
    }
    dti_cast_tiles_close(&tiles);
    return true;
}

/* rand and randn. */
static enum dti_status random_list(struct dti_calc_engine *engine, size_t node)
{
    const struct dti_calc_node *const n = &engine->tree->nodes[node];
    const struct dti_format *const format = dti_calc_node_format(engine, node);
    struct dti_calc_slot *const slot = &engine->slots[node];
    const uint64_t seed = engine->options->policy.seed;
    const size_t generator = engine->generators++;
    struct dti_calc_recorder recorder;
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT};
    struct dti_calc_rounded rounded;
    uint64_t shape[DTI_CALC_RANK_MAX];
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < n->count && status == DTI_OK; i++)
        status = read_length(engine, node, i, &shape[i]);
    if (status == DTI_OK)
        status = dti_calc_array_new(engine, format, (unsigned)n->count, shape, &slot->array);
    if (status != DTI_OK)
        return status;
    dti_calc_step_begin(&recorder, engine, node, dti_calc_op_get(n->op)->name, format);
    if (n->op == DTI_CALC_RAND)
        recorder.policy.round = DTI_ROUND_ZERO;
    if (n->op == DTI_CALC_RAND && fill_uniform(&recorder, generator, slot))
        return dti_calc_step_end(&recorder, &slot->array);
    for (size_t i = 0;
         i < slot->array.count && dti_calc_next(engine->options, i, slot->array.count); i++) {
        e.index = i;
        if (n->op == DTI_CALC_RAND)
            uniform(&e.exact, dti_generate_bits(seed, generator, i), format);
        else
            dti_generate_normal(&e.exact, seed, generator, i);
        dti_calc_round(&recorder, &e, &rounded);
        dti_calc_put(&slot->array, i, rounded.code);
    }
    return dti_calc_step_end(&recorder, &slot->array);
}

enum dti_status dti_calc_generate(struct dti_calc_engine *engine, size_t node)
{
    switch (engine->tree->nodes[node].op) {
    case DTI_CALC_REPEAT:
        return repeat(engine, node);
    case DTI_CALC_LINSPACE:
    case DTI_CALC_ARANGE:
        return progress(engine, node);
    default:
        return random_list(engine, node);
    }
}
