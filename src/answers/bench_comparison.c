/* SPDX-License-Identifier: MIT
 *
 * Comparing times of two runs: see bench_records.h. */
#include "answers/bench_records.h"

#include <string.h>

void dti_bench_compare_times(struct dti_bench_figure *ret, const struct dti_bench_figure *then,
                             const struct dti_bench_figure *now)
{
    *ret = (struct dti_bench_figure){.samples = 1, .median = now->median / then->median};
    ret->minimum = ret->low = ret->high = ret->median;
    ret->has_interval = then->has_interval && now->has_interval;
    if (!ret->has_interval)
        return;
    ret->low = now->low / then->high;
    ret->high = now->high / then->low;
}

bool dti_bench_is_regression(const struct dti_bench_comparison *comparison,
                             const struct dti_bench_figure *ratio)
{
    return comparison->gate && ratio->median > 1 + comparison->allowed &&
           dti_bench_judge(ratio) == DTI_BENCH_MORE;
}

size_t dti_bench_match(struct dti_bench_records *then, struct dti_bench_records *now)
{
    size_t pairs = 0;
    for (size_t i = 0; i < then->count; i++)
        then->rows[i].partner = SIZE_MAX;
    for (size_t i = 0; i < now->count; i++) {
        now->rows[i].partner = SIZE_MAX;
        for (size_t j = 0; j < then->count; j++) {
            if (then->rows[j].partner == SIZE_MAX &&
                strcmp(then->rows[j].label, now->rows[i].label) == 0) {
                now->rows[i].partner = j;
                then->rows[j].partner = i;
                pairs++;
                break;
            }
        }
    }
    return pairs;
}

const struct dti_bench_record *dti_bench_partner(const struct dti_bench_comparison *comparison,
                                                 const struct dti_bench_record *now)
{
    return &comparison->then.rows[now->partner];
}

struct dti_bench_outcome dti_bench_compare(struct dti_bench_comparison *comparison)
{
    struct dti_bench_outcome outcome = {.pairs =
                                            dti_bench_match(&comparison->then, &comparison->now)};
    for (size_t i = 0; comparison->gate && i < comparison->now.count; i++) {
        const struct dti_bench_record *const now = &comparison->now.rows[i];
        struct dti_bench_figure ratio;
        if (now->partner == SIZE_MAX)
            continue;
        dti_bench_compare_times(&ratio, &dti_bench_partner(comparison, now)->time, &now->time);
        outcome.slower = outcome.slower || dti_bench_is_regression(comparison, &ratio);
        outcome.unknown += !ratio.has_interval;
    }
    return outcome;
}
