/* SPDX-License-Identifier: MIT
 *
 * Reading all pairs, in groups so that memory does not grow with their number, and the verdict on
 * each of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"

enum { GROUP = 1024 };

struct run {
    struct compare_job *job;
    struct dti_tensor_pair *pairs;
    size_t *results; /* whose pair it is */
    size_t count;
    uint64_t bytes, done; /* of this group; of those before */
    struct dti_comparison total;
};

static struct compare_figures figures_of(const struct dti_comparison *comparison, bool has_ulp)
{
    return (struct compare_figures){
        .elements = comparison->elements,
        .differing = comparison->differing,
        .unmatched = comparison->unmatched,
        .exceeding = comparison->exceeding,
        .compared = comparison->compared,
        .max_absolute = comparison->max_absolute,
        .mean_absolute = dti_comparison_mean_absolute(comparison),
        .root_mean_square = dti_comparison_root_mean_square(comparison),
        .max_relative = comparison->max_relative,
        .cosine = dti_comparison_cosine(comparison),
        .max_ulp = has_ulp ? comparison->max_ulp : (double)NAN,
        .max_index = comparison->max_absolute > 0 ? comparison->max_index : UINT64_MAX,
        .first_differing = comparison->first_differing,
        .first_unmatched = comparison->first_unmatched,
    };
}

/* Integers have no ulp: with --max-ulp alone they must be equal. */
static enum compare_outcome judge(const struct compare_job *job,
                                  const struct compare_figures *figures)
{
    const bool ulps = job->args->max_ulp != NULL;
    if (job->args->bitwise)
        return figures->identical ? COMPARE_EQUAL : COMPARE_DIFFERS;
    if (figures->differing == 0)
        return COMPARE_EQUAL;
    if ((!job->tolerant && !ulps) || (job->tolerant && figures->exceeding > 0))
        return COMPARE_DIFFERS;
    if (ulps && (figures->unmatched > 0 || !(figures->max_ulp <= job->max_ulp)))
        return COMPARE_DIFFERS;
    return COMPARE_WITHIN;
}

/* Keeps what a pair came to. */
static void settle(struct run *run, size_t at)
{
    struct compare_job *const job = run->job;
    const struct dti_tensor_pair *const pair = &run->pairs[at];
    struct compare_result *const result = &job->results[run->results[at]];
    result->figures = figures_of(&pair->comparison, pair->rule.ulp.width > 0);
    result->figures.identical = pair->identical;
    result->outcome = judge(job, &result->figures);

    const struct compare_figures *const total = &job->total;
    if (job->max_result == SIZE_MAX ? result->figures.max_absolute > 0
                                    : result->figures.max_absolute > total->max_absolute) {
        job->max_result = run->results[at];
        job->total.max_absolute = result->figures.max_absolute;
        job->total.max_index = result->figures.max_index;
    }
    if (job->ulp_result == SIZE_MAX ? !isnan(result->figures.max_ulp)
                                    : result->figures.max_ulp > total->max_ulp) {
        job->ulp_result = run->results[at];
        job->total.max_ulp = result->figures.max_ulp;
    }
    job->total.identical = job->total.identical && pair->identical;
    dti_comparison_merge(&run->total, &pair->comparison);
    job->total_count++;
}

static void show_progress(void *context, uint64_t done)
{
    const struct run *const run = context;
    dti_reading_show(&run->job->reading, run->done + done);
}

static enum dti_status scan_group(struct run *run, struct dti_error *reterr)
{
    struct compare_job *const job = run->job;
    struct dti_scan_options options = job->reading.options;
    options.progress = show_progress;
    options.progress_context = run;
    const enum dti_status status = dti_scan_comparison(job->a, job->b, run->pairs, run->count,
                                                       job->atol, job->rtol, &options, reterr);
    for (size_t i = 0; i < run->count && status == DTI_OK; i++)
        settle(run, i);
    run->count = 0;
    run->done += run->bytes;
    run->bytes = 0;
    return status;
}

static uint64_t bytes_of(const struct compare_job *job, const struct compare_result *result)
{
    return job->a->tensors[result->a].bytes + job->b->tensors[result->b].bytes;
}

/* One of them takes disk space to be brought into the order of the other. */
static bool is_turned(const struct compare_job *job, const struct compare_result *result)
{
    return job->a->tensors[result->a].fortran != job->b->tensors[result->b].fortran;
}

static enum dti_status scan(struct run *run, struct dti_error *reterr)
{
    struct compare_job *const job = run->job;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->result_count && status == DTI_OK; i++) {
        struct compare_result *const result = &job->results[i];
        if (result->way == COMPARE_BYTES) {
            status = dti_compare_bytes(job->a, result->a, job->b, result->b, &result->first_byte,
                                       reterr);
            result->outcome = result->first_byte == UINT64_MAX ? COMPARE_EQUAL : COMPARE_DIFFERS;
            run->done += bytes_of(job, result);
        } else if (result->way == COMPARE_NUMBERS) {
            run->pairs[run->count].a = result->a;
            run->pairs[run->count].b = result->b;
            run->results[run->count++] = i;
            run->bytes += bytes_of(job, result);
            if (run->count == GROUP || is_turned(job, result))
                status = scan_group(run, reterr);
        } else {
            result->outcome = result->way != COMPARE_NEVER && job->args->ignore_missing
                                  ? COMPARE_IGNORED
                                  : COMPARE_DIFFERS;
        }
    }
    return status == DTI_OK && run->count > 0 ? scan_group(run, reterr) : status;
}

static uint64_t all_bytes(const struct compare_job *job)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < job->result_count; i++) {
        if (job->results[i].way <= COMPARE_BYTES)
            bytes += bytes_of(job, &job->results[i]);
    }
    return bytes;
}

/* The totals whose tensor is not to be told. */
static void finish(struct run *run)
{
    struct compare_job *const job = run->job;
    const struct compare_figures kept = job->total;
    job->total = figures_of(&run->total, false);
    job->total.max_absolute = kept.max_absolute;
    job->total.max_index = kept.max_index;
    job->total.max_ulp = job->ulp_result == SIZE_MAX ? (double)NAN : kept.max_ulp;
    job->total.identical = kept.identical;
    for (size_t i = 0; i < job->result_count; i++)
        job->tensors[job->results[i].outcome]++;
}

enum dti_status dti_compare_run(struct compare_job *job, struct dti_error *reterr)
{
    struct run run = {.job = job};
    run.pairs = calloc(GROUP, sizeof *run.pairs);
    run.results = calloc(GROUP, sizeof *run.results);
    dti_comparison_init(&run.total);
    job->max_result = job->ulp_result = SIZE_MAX;
    job->total.identical = true;
    enum dti_status status = run.pairs && run.results
                                 ? dti_reading_start(&job->reading, all_bytes(job), reterr)
                                 : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK) {
        status = scan(&run, reterr);
        dti_reading_end(&job->reading);
    }
    if (status == DTI_OK)
        finish(&run);
    free(run.pairs);
    free(run.results);
    return status;
}
