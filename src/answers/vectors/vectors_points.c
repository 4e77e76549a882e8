/* SPDX-License-Identifier: MIT
 *
 * Where conversions go wrong: at numbers of the target and half-way between them, at its largest
 * and smallest numbers and those of other formats, and at integers next to powers of two. */
#include "answers/vectors/vectors_points.h"

#include <stdlib.h>

#include "core/code/arith.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"

enum { RANDOM_FEW = 64, RANDOM_MANY = 512, NARROW = 8 };

uint64_t dti_vectors_random(uint32_t stream, uint64_t index)
{
    const uint64_t seed = 0x766563746f7273; /* "vectors" */
    return (uint64_t)dti_random_bits(seed, stream, 2 * index) << 32 |
           dti_random_bits(seed, stream, 2 * index + 1);
}

static void power_of_two(struct dti_value *ret, int64_t exponent)
{
    dti_value_set(ret, false, 1, exponent);
}

static void add(struct dti_vectors_items *items, const struct dti_value *value, uint64_t code,
                bool near)
{
    struct dti_vectors_item *const more =
        items->failed ? NULL : dti_grown(items->at, items->count, &items->room, sizeof *more);
    items->failed = !more;
    if (!more)
        return;
    items->at = more;
    items->at[items->count++] = (struct dti_vectors_item){*value, code, near};
}

void dti_vectors_items_code(struct dti_vectors_items *items, const struct dti_format *format,
                            uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    add(items, &value, code, false);
}

void dti_vectors_items_free(struct dti_vectors_items *items)
{
    dti_free(items->at);
}

static int in_order(const void *a_, const void *b_)
{
    const struct dti_vectors_item *const a = a_, *const b = b_;
    const bool a_nan = a->value.kind == DTI_CLASS_NAN, b_nan = b->value.kind == DTI_CLASS_NAN;
    if (a_nan != b_nan)
        return a_nan ? 1 : -1;
    const int order = a_nan ? 0 : dti_value_compare(&a->value, &b->value);
    if (order != 0)
        return order;
    if (a->value.negative != b->value.negative)
        return a->value.negative ? -1 : 1;
    return a->code < b->code ? -1 : a->code > b->code;
}

void dti_vectors_items_sort(struct dti_vectors_items *items)
{
    size_t kept = 0;
    if (items->failed || items->count == 0)
        return;
    qsort(items->at, items->count, sizeof *items->at, in_order);
    for (size_t i = 1; i < items->count; i++) {
        if (in_order(&items->at[kept], &items->at[i]) == 0)
            items->at[kept].near = items->at[kept].near || items->at[i].near;
        else
            items->at[++kept] = items->at[i];
    }
    items->count = kept + 1;
}

static void add_both(struct dti_vectors_items *points, const struct dti_value *value, bool near)
{
    struct dti_value negated = *value;
    negated.negative = !negated.negative;
    add(points, value, 0, near);
    if (value->kind != DTI_CLASS_ZERO)
        add(points, &negated, 0, near);
}

/* value + part x 2^shift, exactly. */
static void sum(struct dti_value *ret, const struct dti_value *value, const struct dti_value *part,
                int32_t shift)
{
    struct dti_value scaled = *part;
    scaled.exponent += shift;
    (void)dti_value_add(ret, value, &scaled, DTI_ROUND_NEAREST_EVEN);
}

/* The numbers a and b of a code and of the next one away from zero; beyond the largest one, of what
 * would come next. False if the code is not a number. */
static bool neighbours(const struct dti_format *f, uint64_t code, struct dti_value *a,
                       struct dti_value *b)
{
    uint64_t next;
    dti_decode(f, code, a);
    if (a->kind != DTI_CLASS_ZERO && a->kind != DTI_CLASS_FINITE)
        return false;
    if (dti_code_next(f, code, !a->negative, &next)) {
        dti_decode(f, next, b);
        if (b->kind == DTI_CLASS_FINITE)
            return true;
    }
    if (a->kind == DTI_CLASS_ZERO)
        return false;
    struct dti_value step;
    dti_value_set(&step, a->negative, 1, dti_format_step_exponent(f, a));
    sum(b, a, &step, 0);
    return true;
}

bool dti_vectors_between(const struct dti_format *format, uint64_t code, uint64_t part,
                         struct dti_value *ret)
{
    struct dti_value a, b, gap, piece;
    if (!neighbours(format, code, &a, &b))
        return false;
    (void)dti_value_subtract(&gap, &b, &a, DTI_ROUND_NEAREST_EVEN);
    dti_value_set(&piece, false, part, -32);
    (void)dti_value_multiply(&piece, &piece, &gap);
    sum(ret, &a, &piece, 0);
    return true;
}

/* The first two, the middle and the last number of a binade. */
static void take_binade(const struct dti_format *f, bool negative, int64_t exponent,
                        dti_vectors_take *take, void *context)
{
    static const unsigned quarters[] = {4, 6, 8};
    const struct dti_policy policy = {.round = DTI_ROUND_ZERO};
    for (size_t i = 0; i < sizeof quarters / sizeof *quarters; i++) {
        struct dti_value value;
        struct dti_outcome outcome;
        uint64_t next;
        dti_value_set(&value, negative, quarters[i], exponent - 2);
        dti_encode(f, &value, &policy, 0, &outcome);
        take(context, f, outcome.code);
        /* after the first one up, before the first of the next binade down */
        const bool up = quarters[i] == 4;
        if (quarters[i] != 6 && dti_code_next(f, outcome.code, up != negative, &next))
            take(context, f, next);
    }
}

void dti_vectors_numbers(const struct dti_format *f, bool negative, dti_vectors_take *take,
                         void *context)
{
    struct dti_value value;
    uint64_t code = 0, max = 0;
    (void)(negative ? dti_code_lowest(f, &max) : dti_code_max(f, &max));
    if (!dti_code_smallest_subnormal(f, &code) && !dti_code_smallest_normal(f, &code))
        code = 1; /* integers */
    dti_decode(f, code, &value);
    const int32_t first = value.exponent;
    dti_decode(f, max, &value);
    const int32_t last = value.exponent;
    dti_value_set(&value, negative, 0, 0);
    struct dti_outcome zero;
    dti_encode(f, &value, &(struct dti_policy){.round = DTI_ROUND_ZERO}, 0, &zero);
    code = zero.code;
    take(context, f, code);
    if (f->width > NARROW) {
        for (int64_t e = first; e <= last; e++)
            take_binade(f, negative, e, take, context);
        return;
    }
    while (code != max && dti_code_next(f, code, !negative, &code))
        take(context, f, code);
}

/* A number, half-way to the next one, and where the format skips binades, the geometric middle,
 * which is a tie of posits. */
static void take_points(void *context, const struct dti_format *f, uint64_t code)
{
    struct dti_vectors_items *const points = context;
    struct dti_value a, b, value;
    if (!neighbours(f, code, &a, &b))
        return;
    add_both(points, &a, true);
    if (!dti_vectors_between(f, code, UINT64_C(1) << 31, &value))
        return;
    add_both(points, &value, true);
    if (a.kind == DTI_CLASS_FINITE && b.exponent - a.exponent >= 2) {
        power_of_two(&value, (a.exponent + b.exponent) / 2);
        add_both(points, &value, true);
    }
}

/* Beyond the largest and the lowest number, and far beyond. */
static void add_limits(struct dti_vectors_items *points, const struct dti_format *f)
{
    static const unsigned halves[] = {3, 4, 6, 8, 16};
    uint64_t code = 0;
    for (int lowest = 0; lowest < 2; lowest++) {
        struct dti_value limit, next, value;
        (void)(lowest ? dti_code_lowest(f, &code) : dti_code_max(f, &code));
        if (!neighbours(f, code, &limit, &next))
            continue;
        (void)dti_value_subtract(&value, &next, &limit, DTI_ROUND_NEAREST_EVEN);
        sum(&value, &limit, &value, -1);
        add_both(points, &value, true);
        add_both(points, &limit, true);
        add_both(points, &next, true);
        for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
            dti_value_set(&value, false, halves[i], (int64_t)limit.exponent - 1);
            add_both(points, &value, true);
        }
    }
}

static void add_smallest(struct dti_vectors_items *points, const struct dti_format *f)
{
    uint64_t code = 1;
    struct dti_value least, value;
    if (!dti_code_smallest_subnormal(f, &code))
        (void)dti_code_smallest_normal(f, &code);
    dti_decode(f, code, &least);
    for (unsigned quarters = 1; quarters <= 6; quarters++) {
        dti_value_set(&value, false, quarters, (int64_t)least.exponent - 2);
        add_both(points, &value, true);
    }
    power_of_two(&value, (int64_t)least.exponent - 20);
    add_both(points, &value, true);
}

/* The largest numbers of all narrow formats, and where each of them overflows. */
static void add_others(struct dti_vectors_items *points)
{
    for (unsigned id = 0; id < DTI_DTYPE_COUNT; id++) {
        const struct dti_format *const f = dti_format_get((enum dti_dtype)id);
        struct dti_value value, next;
        uint64_t code = 0;
        if (f->kind == DTI_KIND_COMPLEX || f->width > 16)
            continue;
        (void)dti_code_max(f, &code);
        if (!neighbours(f, code, &value, &next))
            continue;
        add_both(points, &value, false);
        if (dti_vectors_between(f, code, UINT64_C(1) << 31, &value))
            add_both(points, &value, false);
    }
}

static void add_integers(struct dti_vectors_items *points, unsigned most)
{
    for (unsigned k = 0; k <= most; k++) {
        for (int offset = -1; offset <= 1; offset++) {
            struct dti_value power, one, value;
            power_of_two(&power, k);
            dti_value_set(&one, offset < 0, 1, 0);
            if (offset == 0)
                value = power;
            else
                sum(&value, &power, &one, 0);
            add_both(points, &value, false);
        }
    }
}

static void add_random(struct dti_vectors_items *points, const struct dti_format *f)
{
    const unsigned count = f->width > NARROW ? RANDOM_MANY : RANDOM_FEW;
    for (unsigned i = 0; i < count; i++) {
        struct dti_value value;
        const uint64_t code = dti_vectors_random(0, i) & dti_low_bits(f->width);
        const uint64_t part = dti_vectors_random(1, i) >> 32;
        if (dti_vectors_between(f, code, part, &value))
            add(points, &value, 0, false);
    }
}

void dti_vectors_points(struct dti_vectors_items *ret, const struct dti_format *target,
                        unsigned integers)
{
    *ret = (struct dti_vectors_items){.at = NULL};
    dti_vectors_numbers(target, false, take_points, ret);
    add_limits(ret, target);
    add_smallest(ret, target);
    add_others(ret);
    add_integers(ret, integers);
    add_random(ret, target);
    dti_vectors_items_sort(ret);
}
