/* SPDX-License-Identifier: MIT
 *
 * Many small tensors that no recipe has explained so far: each recipe is tried on all of them at
 * once, since a rewrite for each would take much longer than the tensors do. */
#include <stdlib.h>

#include "answers/explain_search.h"

enum { SMALL = 64 << 10 }; /* bytes that are made whole for each recipe */

struct together_one {
    struct dti_explain_result *result;
    size_t recipe; /* the best so far; SIZE_MAX: none */
    double alike;
    struct dti_verdict verdict;
    bool found;
};

struct together {
    struct explain_search *search;
    struct together_one *list;
    size_t count;
    size_t *places;                 /* in the list, of those that are tried */
    const struct dti_recipe **made; /* of the space, where it was kept */
};

static bool is_small(const struct explain_search *search, const struct dti_explain_result *result)
{
    return search->files.a->tensors[result->pair.a].elements <= SMALL / 8;
}

static void take(struct explain_search *search, size_t recipe, struct together_one *one,
                 const struct dti_verdict *verdict)
{
    if (verdict->kind == DTI_VERDICT_SAME) {
        one->found = true;
        one->recipe = recipe;
        search->explains[recipe] = true;
    } else if (verdict->kind != DTI_VERDICT_BYTES) {
        if (!one->result->tried)
            one->result->verdict = *verdict;
        one->result->tried = true;
    } else {
        const double alike = verdict->part != DTI_PART_CODES || verdict->elements == 0
                                 ? 1
                                 : 1 - (double)verdict->differing / (double)verdict->elements;
        if (one->recipe != SIZE_MAX &&
            !(alike > one->alike ||
              (alike == one->alike && search->explains[recipe] && !search->explains[one->recipe])))
            return;
        one->recipe = recipe;
        one->alike = alike;
        one->verdict = *verdict;
    }
}

/* A number that a recipe cannot make refuses all that are made with it. */
static enum dti_status try_each(struct together *job, size_t recipe, size_t count,
                                struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        struct together_one *const one = &job->list[job->places[i]];
        struct dti_verdict verdict = {.kind = DTI_VERDICT_SAME};
        bool refused = false;
        status = dti_explain_try(job->search, recipe, &one->result->pair, false, &verdict, &refused,
                                 reterr);
        if (status == DTI_OK && !refused)
            take(job->search, recipe, one, &verdict);
    }
    return status;
}

static enum dti_status try_recipe(struct together *job, size_t recipe, struct dti_error *reterr)
{
    struct explain_search *const search = job->search;
    const struct dti_scan_options *const options = &search->explain->reading.options;
    const struct dti_judge_options how = {.team = options->team, .max_memory = options->max_memory};
    struct dti_error error = {.status = DTI_OK};
    bool refused = false;
    size_t n = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->list[i].found)
            continue;
        search->pairs[n] = job->list[i].result->pair;
        job->places[n++] = i;
    }
    if (n == 0)
        return DTI_OK;
    const enum dti_status status =
        dti_made_judge(&search->files, &search->space.list[recipe], search->pairs, n, &how,
                       search->verdicts, &refused, &error);
    if (status != DTI_OK)
        *reterr = error;
    else if (refused)
        return error.status == DTI_NOT_REPRESENTABLE ? try_each(job, recipe, n, reterr) : DTI_OK;
    for (size_t i = 0; i < n && status == DTI_OK; i++)
        take(search, recipe, &job->list[job->places[i]], &search->verdicts[i]);
    return status;
}

static enum dti_status settle(struct together *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->count && status == DTI_OK; i++) {
        const struct together_one *const one = &job->list[i];
        if (one->recipe == SIZE_MAX)
            continue;
        if (!job->made[one->recipe])
            status = dti_explain_keep(job->search, one->recipe, &job->made[one->recipe], reterr);
        one->result->outcome = one->found ? DTI_EXPLAIN_FOUND : DTI_EXPLAIN_DIFFERS;
        one->result->made = job->made[one->recipe];
        if (!one->found)
            one->result->verdict = one->verdict;
    }
    return status;
}

static enum dti_status run(struct together *job, const struct explain_work *work, size_t count,
                           struct dti_error *reterr)
{
    struct explain_search *const search = job->search;
    enum dti_status status = DTI_OK;
    for (size_t next = 0; next < count && status == DTI_OK;) {
        for (job->count = 0; next < count && job->count < search->room; next++) {
            struct dti_explain_result *const result = dti_explain_result_of(search, &work[next]);
            if (result->outcome == DTI_EXPLAIN_NONE && is_small(search, result))
                job->list[job->count++] =
                    (struct together_one){.result = result, .recipe = SIZE_MAX};
        }
        for (size_t i = 0; i < search->space.count && status == DTI_OK; i++)
            status = try_recipe(job, i, reterr);
        if (status == DTI_OK)
            status = settle(job, reterr);
    }
    return status;
}

enum dti_status dti_explain_together(struct explain_search *search, const struct explain_work *work,
                                     size_t count, struct dti_error *reterr)
{
    struct together job = {.search = search};
    job.list = calloc(search->room + 1, sizeof *job.list);
    job.places = calloc(search->room + 1, sizeof *job.places);
    job.made = calloc(search->space.count + 1, sizeof(const struct dti_recipe *));
    const enum dti_status status =
        job.list && job.places && job.made ? run(&job, work, count, reterr) : dti_no_memory(reterr);
    free(job.list);
    free(job.places);
    free((void *)job.made);
    return status;
}
