/* SPDX-License-Identifier: MIT
 *
 * Reading all pairs, in groups so that memory does not grow with their number, and the verdict on
 * each of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/compare.h"

enum { GROUP = 1024 };

struct comparison_run {
    struct dti_compare *compare;
    struct dti_tensor_pair *pairs;
    size_t *results; /* whose pair it is */
    size_t count;
    uint64_t bytes; /* of the group */
    struct dti_comparison total;
};

static struct dti_compare_figures figures_of(const struct dti_comparison *comparison, bool has_ulp)
{
    return (struct dti_compare_figures){
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
static enum dti_compare_outcome judge(const struct dti_compare *compare,
                                      const struct dti_compare_figures *figures)
{
    const bool ulps = compare->max_ulp.given;
    const bool tolerant = compare->atol.given || compare->rtol.given;
    if (compare->bitwise)
        return figures->identical ? DTI_COMPARE_EQUAL : DTI_COMPARE_DIFFERS;
    if (figures->differing == 0)
        return DTI_COMPARE_EQUAL;
    if ((!tolerant && !ulps) || (tolerant && figures->exceeding > 0))
        return DTI_COMPARE_DIFFERS;
    if (ulps && (figures->unmatched > 0 || !(figures->max_ulp <= compare->max_ulp.most)))
        return DTI_COMPARE_DIFFERS;
    return DTI_COMPARE_WITHIN;
}

/* Keeps what a pair came to. */
static void settle(struct comparison_run *run, size_t at)
{
    struct dti_compare *const compare = run->compare;
    const struct dti_tensor_pair *const pair = &run->pairs[at];
    struct dti_compare_result *const result = &compare->results[run->results[at]];
    result->figures = figures_of(&pair->comparison, pair->rule.ulp.width > 0);
    result->figures.identical = pair->identical;
    result->outcome = judge(compare, &result->figures);

    const struct dti_compare_figures *const total = &compare->total;
    if (compare->max_result == SIZE_MAX ? result->figures.max_absolute > 0
                                        : result->figures.max_absolute > total->max_absolute) {
        compare->max_result = run->results[at];
        compare->total.max_absolute = result->figures.max_absolute;
        compare->total.max_index = result->figures.max_index;
    }
    if (compare->ulp_result == SIZE_MAX ? !isnan(result->figures.max_ulp)
                                        : result->figures.max_ulp > total->max_ulp) {
        compare->ulp_result = run->results[at];
        compare->total.max_ulp = result->figures.max_ulp;
    }
    compare->total.identical = compare->total.identical && pair->identical;
    dti_comparison_merge(&run->total, &pair->comparison);
    compare->total_count++;
}

static enum dti_status scan_group(struct comparison_run *run, struct dti_error *reterr)
{
    struct dti_compare *const compare = run->compare;
    const enum dti_status status =
        dti_scan_comparison(compare->a, compare->b, run->pairs, run->count, compare->atol.most,
                            compare->rtol.most, &compare->reading.options, reterr);
    for (size_t i = 0; i < run->count && status == DTI_OK; i++)
        settle(run, i);
    run->count = 0;
    compare->reading.done += run->bytes;
    run->bytes = 0;
    return status;
}

static uint64_t bytes_of(const struct dti_compare *compare, const struct dti_compare_result *result)
{
    return compare->a->tensors[result->a].bytes + compare->b->tensors[result->b].bytes;
}

/* One of them takes disk space to be brought into the order of the other. */
static bool is_reordered(const struct dti_compare *compare, const struct dti_compare_result *result)
{
    return compare->a->tensors[result->a].fortran != compare->b->tensors[result->b].fortran;
}

static enum dti_status scan(struct comparison_run *run, struct dti_error *reterr)
{
    struct dti_compare *const compare = run->compare;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < compare->result_count && status == DTI_OK; i++) {
        struct dti_compare_result *const result = &compare->results[i];
        if (result->way == DTI_COMPARE_BYTES) {
            status = dti_compare_bytes(compare->a, result->a, compare->b, result->b,
                                       &result->first_byte, reterr);
            result->outcome =
                result->first_byte == UINT64_MAX ? DTI_COMPARE_EQUAL : DTI_COMPARE_DIFFERS;
            compare->reading.done += bytes_of(compare, result);
        } else if (result->way == DTI_COMPARE_NUMBERS) {
            run->pairs[run->count].a = result->a;
            run->pairs[run->count].b = result->b;
            run->results[run->count++] = i;
            run->bytes += bytes_of(compare, result);
            if (run->count == GROUP || is_reordered(compare, result))
                status = scan_group(run, reterr);
        } else {
            result->outcome = result->way != DTI_COMPARE_NEVER && compare->ignore_missing
                                  ? DTI_COMPARE_IGNORED
                                  : DTI_COMPARE_DIFFERS;
        }
    }
    return status == DTI_OK && run->count > 0 ? scan_group(run, reterr) : status;
}

static uint64_t all_bytes(const struct dti_compare *compare)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < compare->result_count; i++) {
        if (compare->results[i].way <= DTI_COMPARE_BYTES)
            bytes += bytes_of(compare, &compare->results[i]);
    }
    return bytes;
}

/* The totals whose tensor is not to be told. */
static void finish(struct comparison_run *run)
{
    struct dti_compare *const compare = run->compare;
    const struct dti_compare_figures kept = compare->total;
    compare->total = figures_of(&run->total, false);
    compare->total.max_absolute = kept.max_absolute;
    compare->total.max_index = kept.max_index;
    compare->total.max_ulp = compare->ulp_result == SIZE_MAX ? (double)NAN : kept.max_ulp;
    compare->total.identical = kept.identical;
    for (size_t i = 0; i < compare->result_count; i++)
        compare->tensors[compare->results[i].outcome]++;
}

enum dti_status dti_compare_run(struct dti_compare *compare, struct dti_error *reterr)
{
    struct comparison_run run = {.compare = compare};
    run.pairs = calloc(GROUP, sizeof *run.pairs);
    run.results = calloc(GROUP, sizeof *run.results);
    dti_comparison_init(&run.total);
    compare->max_result = compare->ulp_result = SIZE_MAX;
    compare->total.identical = true;
    enum dti_status status = run.pairs && run.results
                                 ? dti_reading_start(&compare->reading, all_bytes(compare), reterr)
                                 : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK) {
        status = scan(&run, reterr);
        dti_reading_end(&compare->reading);
    }
    if (status == DTI_OK)
        finish(&run);
    free(run.pairs);
    free(run.results);
    return status;
}
