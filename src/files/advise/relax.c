/* SPDX-License-Identifier: MIT
 *
 * Dominance, convex hulls, and steps in the order of their slopes. The steps that fit into a budget
 * are found without sorting all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/wide.h"
#include "files/advise/relax.h"
#include "util/run/allocate.h"

bool dti_relax_above(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t left, right;
    const uint64_t left_low = dti_wide_mul_add(a, b, 0, 0, &left);
    const uint64_t right_low = dti_wide_mul_add(c, d, 0, 0, &right);
    return left > right || (left == right && left_low > right_low);
}

uint64_t dti_relax_to_units(double error, int exponent)
{
    return (uint64_t)ldexp(error, exponent);
}

/* Bytes, then error; in units, different numbers can be the same double. */
static int order_items(const void *left, const void *right)
{
    const struct dti_relax_item *const a = left, *const b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    if (a->error != b->error)
        return a->error < b->error ? -1 : 1;
    if (a->units != b->units)
        return a->units < b->units ? -1 : 1;
    return a->choice < b->choice ? -1 : a->choice > b->choice;
}

/* Whether a step is steeper than another one: 1, equally steep: 0, less so: -1. Doubles decide
 * where they differ by more than their roundings. */
static int compare_slopes(const struct dti_relax_step *a, const struct dti_relax_step *b)
{
    static const double doubtful = 1 - 0x1p-48;
    if (a->rise == 0 || b->rise == 0 || a->slope < b->slope * doubtful ||
        b->slope < a->slope * doubtful)
        return a->slope > b->slope ? 1 : -(a->slope < b->slope);
    return dti_relax_above(a->rise, b->run, b->rise, a->run)
               ? 1
               : -dti_relax_above(b->rise, a->run, a->rise, b->run);
}

static int order_steps(const void *left, const void *right)
{
    const struct dti_relax_step *const a = left, *const b = right;
    const int steeper = compare_slopes(a, b);
    if (steeper != 0)
        return -steeper;
    return a->to < b->to ? -1 : a->to > b->to; /* items are in the order of groups */
}

/* Appends the items of a group that no other one of it beats. */
static void add_items(struct dti_relax *relax, const struct dti_choice_set *set, uint32_t group,
                      double most, const int *exponent)
{
    struct dti_relax_item *const items = relax->items + relax->starts[group];
    uint32_t count = 0, kept = 0;
    for (uint32_t i = set->starts[group]; i < set->starts[group + 1]; i++) {
        const struct dti_format_choice *const choice = &set->choices[i];
        if (choice->error > most)
            continue;
        const uint64_t units = exponent ? dti_relax_to_units(choice->error, *exponent) : 0;
        items[count++] = (struct dti_relax_item){.bytes = choice->bytes,
                                                 .units = units,
                                                 .error = exponent ? (double)units : choice->error,
                                                 .choice = i};
    }
    qsort(items, count, sizeof *items, order_items);
    for (uint32_t i = 0; i < count; i++) {
        const struct dti_relax_item *const last = &items[kept > 0 ? kept - 1 : 0];
        if (kept == 0 || items[i].error < last->error || items[i].units < last->units)
            items[kept++] = items[i];
    }
    relax->starts[group + 1] = relax->starts[group] + kept;
}

static struct dti_relax_step step_between(const struct dti_relax *relax, uint32_t group,
                                          uint32_t from, uint32_t to)
{
    const struct dti_relax_item *const a = &relax->items[from], *const b = &relax->items[to];
    const uint64_t rise = a->units - b->units, run = b->bytes - a->bytes;
    const double fall = rise > 0 ? (double)rise : a->error - b->error;
    return (struct dti_relax_step){.slope = fall / (double)run,
                                   .rise = rise,
                                   .run = run,
                                   .group = group,
                                   .from = from,
                                   .to = to};
}

/* Appends the hull of a group: a step that is less steep than the next one is no part of it. */
static void add_steps(struct dti_relax *relax, uint32_t group)
{
    const uint32_t first = relax->n_steps;
    for (uint32_t i = relax->starts[group] + 1; i < relax->starts[group + 1]; i++) {
        struct dti_relax_step step = step_between(relax, group, i - 1, i);
        while (relax->n_steps > first &&
               compare_slopes(&relax->steps[relax->n_steps - 1], &step) < 0)
            step = step_between(relax, group, relax->steps[--relax->n_steps].from, i);
        relax->steps[relax->n_steps++] = step;
    }
}

enum dti_status dti_relax_new(const struct dti_choice_set *set, double most, const int *exponent,
                              struct dti_relax *ret, struct dti_error *reterr)
{
    const uint32_t count = set->starts[set->n_groups] - set->starts[0];
    struct dti_relax relax = {.n_groups = set->n_groups};
    relax.items = dti_calloc(count, sizeof *relax.items);
    relax.starts = dti_calloc((size_t)set->n_groups + 1, sizeof *relax.starts);
    relax.steps = dti_calloc(count, sizeof *relax.steps);
    if (!relax.items || !relax.starts || !relax.steps) {
        dti_relax_free(&relax);
        return dti_no_memory(reterr);
    }
    for (uint32_t group = 0; group < set->n_groups; group++) {
        add_items(&relax, set, group, most, exponent);
        add_steps(&relax, group);
    }
    *ret = relax;
    return DTI_OK;
}

void dti_relax_free(struct dti_relax *relax)
{
    dti_free(relax->items);
    dti_free(relax->starts);
    dti_free(relax->steps);
}

uint64_t dti_relax_bytes(const struct dti_relax *relax, const uint32_t *items)
{
    uint64_t bytes = 0;
    for (uint32_t group = 0; group < relax->n_groups; group++)
        bytes += relax->items[items[group]].bytes;
    return bytes;
}

uint64_t dti_relax_units(const struct dti_relax *relax, const uint32_t *items)
{
    uint64_t units = 0;
    for (uint32_t group = 0; group < relax->n_groups; group++)
        units += relax->items[items[group]].units;
    return units;
}

void dti_relax_sort(struct dti_relax *relax)
{
    qsort(relax->steps, relax->n_steps, sizeof *relax->steps, order_steps);
}

static void exchange(struct dti_relax_step *a, struct dti_relax_step *b)
{
    const struct dti_relax_step kept = *a;
    *a = *b;
    *b = kept;
}

/* Orders the steps from low up to, not including, high around one of them, whose place is
 * returned. *ret_bytes: of those before it. */
static uint32_t divide(struct dti_relax_step *steps, uint32_t low, uint32_t high, uint64_t *random,
                       uint64_t *ret_bytes)
{
    uint32_t place = low;
    *ret_bytes = 0;
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    exchange(&steps[low + (uint32_t)(*random >> 33) % (high - low)], &steps[high - 1]);
    for (uint32_t i = low; i + 1 < high; i++) {
        if (order_steps(&steps[i], &steps[high - 1]) > 0)
            continue;
        *ret_bytes += steps[i].run;
        exchange(&steps[i], &steps[place++]);
    }
    exchange(&steps[place], &steps[high - 1]);
    return place;
}

uint32_t dti_relax_fill(struct dti_relax *relax, uint64_t budget, uint32_t *ret_items)
{
    uint32_t low = 0, high = relax->n_steps;
    uint64_t random = 1, bytes;
    memcpy(ret_items, relax->starts, relax->n_groups * sizeof *ret_items);
    uint64_t left = budget - dti_relax_bytes(relax, ret_items);
    while (low < high) {
        const uint32_t place = divide(relax->steps, low, high, &random, &bytes);
        if (bytes > left) {
            high = place;
            continue;
        }
        left -= bytes;
        low = place;
        if (relax->steps[place].run > left)
            break;
        left -= relax->steps[place].run;
        low = place + 1;
    }
    for (uint32_t i = 0; i < low; i++) {
        const struct dti_relax_step *const step = &relax->steps[i];
        if (ret_items[step->group] < step->to)
            ret_items[step->group] = step->to;
    }
    return low;
}

void dti_relax_fill_up(const struct dti_relax *relax, uint64_t budget, uint32_t step,
                       uint32_t *items)
{
    uint64_t left = budget - dti_relax_bytes(relax, items);
    for (; step < relax->n_steps; step++) {
        const struct dti_relax_step *const next = &relax->steps[step];
        if (next->run > left || items[next->group] != next->from)
            continue;
        left -= next->run;
        items[next->group] = next->to;
    }
}
