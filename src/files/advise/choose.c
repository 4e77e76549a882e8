/* SPDX-License-Identifier: MIT
 *
 * The best choice for a size: limits and scales, a first choice, and the search. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "files/advise/choose.h"
#include "files/advise/choose_set.h"
#include "files/advise/core_search.h"
#include "files/advise/relax.h"
#include "kernels/exact_sum.h"
#include "util/run/allocate.h"

enum dti_status dti_choice_set_look(const struct dti_choice_set *set, uint64_t *ret_least,
                                    struct dti_error *reterr)
{
    uint64_t least = 0, most = 0;
    double worst = 0;
    for (uint32_t group = 0; group < set->n_groups; group++) {
        uint64_t smallest = UINT64_MAX, largest = 0;
        double error = 0;
        for (uint32_t i = set->starts[group]; i < set->starts[group + 1]; i++) {
            const struct dti_format_choice *const choice = &set->choices[i];
            if (!isfinite(choice->error) || choice->error < 0)
                return dti_fail(reterr, DTI_BAD_INPUT,
                                "an error of group %" PRIu32 " is negative or not finite", group);
            smallest = choice->bytes < smallest ? choice->bytes : smallest;
            largest = choice->bytes > largest ? choice->bytes : largest;
            error = choice->error > error ? choice->error : error;
        }
        if (set->starts[group] >= set->starts[group + 1])
            return dti_fail(reterr, DTI_BAD_INPUT, "group %" PRIu32 " has no choice", group);
        if (largest > INT64_MAX - most)
            return dti_fail(reterr, DTI_BAD_INPUT, "the groups together exceed 2^63 bytes");
        least += smallest;
        most += largest;
        worst += error;
    }
    if (!isfinite(worst))
        return dti_fail(reterr, DTI_BAD_INPUT, "the sum of all errors is too large");
    *ret_least = least;
    return DTI_OK;
}

/* Bytes and error of picks. */
static void add_up(const struct dti_choice_set *set, const uint32_t *picks, struct dti_chosen *ret)
{
    struct dti_exact_sum error;
    dti_exact_sum_init(&error);
    ret->bytes = 0;
    for (uint32_t group = 0; group < set->n_groups; group++) {
        ret->bytes += set->choices[picks[group]].bytes;
        dti_exact_sum_add(&error, set->choices[picks[group]].error);
    }
    ret->error = dti_exact_sum_value(&error);
}

static void pick(const struct dti_relax *relax, const uint32_t *items, uint32_t *ret_picks)
{
    for (uint32_t group = 0; group < relax->n_groups; group++)
        ret_picks[group] = relax->items[items[group]].choice;
}

/* A first choice, whose error is a limit for each single one. *ret_best: nothing is better. */
static enum dti_status choose_first(const struct dti_choice_set *set, uint64_t budget,
                                    uint32_t *items, uint32_t *ret_picks, struct dti_chosen *ret,
                                    bool *ret_best, struct dti_error *reterr)
{
    struct dti_relax relax;
    const enum dti_status status = dti_relax_new(set, INFINITY, NULL, &relax, reterr);
    if (status != DTI_OK)
        return status;
    const uint32_t step = dti_relax_fill(&relax, budget, items);
    dti_relax_fill_up(&relax, budget, step, items);
    pick(&relax, items, ret_picks);
    add_up(set, ret_picks, ret);
    *ret_best = step == relax.n_steps || ret->error == 0;
    dti_relax_free(&relax);
    return DTI_OK;
}

/* The largest budget up to this one that choices can use whole: all their bytes are those of the
 * smallest choices and a multiple of the greatest common divisor of the others'. */
static uint64_t usable(const struct dti_relax *relax, uint64_t budget)
{
    uint64_t least = 0, divisor = 0;
    for (uint32_t group = 0; group < relax->n_groups; group++) {
        const uint32_t first = relax->starts[group];
        least += relax->items[first].bytes;
        for (uint32_t i = first + 1; i < relax->starts[group + 1]; i++) {
            uint64_t rest = relax->items[i].bytes - relax->items[first].bytes;
            while (rest > 0) {
                const uint64_t next = divisor % rest;
                divisor = rest;
                rest = next;
            }
        }
    }
    return divisor > 0 ? budget - (budget - least) % divisor : budget;
}

/* The search begins with the better of two choices: that in picks, and that of the linear program
 * in units. */
static enum dti_status choose_best(struct dti_relax *relax, uint64_t budget, uint32_t *base,
                                   uint32_t *items, uint64_t units, uint32_t *picks,
                                   struct dti_core_result *ret, struct dti_error *reterr)
{
    budget = usable(relax, budget);
    const uint32_t step = dti_relax_fill(relax, budget, base);
    memcpy(items, base, relax->n_groups * sizeof *items);
    dti_relax_fill_up(relax, budget, step, items);
    const uint64_t found = dti_relax_units(relax, items);
    *ret = (struct dti_core_result){
        .units = found < units ? found : units, .bound = found, .proved = true};
    bool better = found < units;
    if (step < relax->n_steps) {
        const enum dti_status status =
            dti_core_search(relax, budget, step, base, items, ret, reterr);
        if (status != DTI_OK)
            return status;
        better = better || ret->units < units;
    }
    if (better)
        pick(relax, items, picks);
    return DTI_OK;
}

static enum dti_status choose(const struct dti_choice_set *set, uint64_t budget, uint32_t *base,
                              uint32_t *items, uint32_t *ret_picks, struct dti_chosen *ret,
                              struct dti_error *reterr)
{
    struct dti_core_result result;
    struct dti_relax relax;
    bool best;
    int exponent;
    uint64_t units = 0;
    enum dti_status status = choose_first(set, budget, items, ret_picks, ret, &best, reterr);
    if (status != DTI_OK)
        return status;
    ret->bound = ret->error;
    ret->proved = true;
    if (best)
        return DTI_OK;
    (void)frexp(ret->error, &exponent);
    exponent = DTI_RELAX_BITS - exponent; /* 2^60 units are more than the error */
    for (uint32_t group = 0; group < set->n_groups; group++)
        units += dti_relax_to_units(set->choices[ret_picks[group]].error, exponent);
    status = dti_relax_new(set, ret->error, &exponent, &relax, reterr);
    if (status != DTI_OK)
        return status;
    status = choose_best(&relax, budget, base, items, units, ret_picks, &result, reterr);
    dti_relax_free(&relax);
    if (status != DTI_OK)
        return status;
    add_up(set, ret_picks, ret);
    ret->proved = result.proved;
    ret->bound = ret->error;
    if (!result.proved) /* rounded down */
        ret->bound = ldexp((double)(result.bound & ~UINT64_C(1023)), -exponent);
    return DTI_OK;
}

enum dti_status dti_choose(const struct dti_choice_set *set, uint64_t budget, uint32_t *ret_picks,
                           struct dti_chosen *ret, struct dti_error *reterr)
{
    uint64_t least;
    enum dti_status status = dti_choice_set_look(set, &least, reterr);
    if (status != DTI_OK)
        return status;
    if (least > budget) {
        *ret = (struct dti_chosen){.bytes = least};
        return dti_fail(reterr, DTI_ANSWER_NO,
                        "the smallest choices take %" PRIu64 " bytes, %" PRIu64
                        " more than %" PRIu64,
                        least, least - budget, budget);
    }
    uint32_t *const base = dti_calloc(set->n_groups, sizeof *base);
    uint32_t *const items = dti_calloc(set->n_groups, sizeof *items);
    budget = budget < INT64_MAX ? budget : INT64_MAX;
    status = base && items ? choose(set, budget, base, items, ret_picks, ret, reterr)
                           : dti_no_memory(reterr);
    dti_free(base);
    dti_free(items);
    return status;
}
