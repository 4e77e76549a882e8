/* SPDX-License-Identifier: MIT
 *
 * Two runs of `bench` side by side: what was measured in both, by how much it differs, and whether
 * that is more than the intervals allow for. */
#ifndef DTINFO_CLI_BENCH_COMPARISON_H
#define DTINFO_CLI_BENCH_COMPARISON_H

#include "cli/bench/bench_output.h"
#include "cli/bench/bench_records.h"

struct bench_comparison {
    const struct bench_job *job;
    const char *path; /* of the other document */
    bool gate;        /* --baseline: what became too slow is an answer of its own */
    double allowed;   /* so much longer than before is not too slow: 0.1 */
    struct bench_records then, now;
    bool other_machine;
    struct dti_json *shadow; /* documents of single results, by which both sides get their labels
                              * in the same way */
};

/* How times compare: now / then, with the interval that both intervals give. */
void dti_bench_compare_times(struct dti_bench_figure *ret, const struct dti_bench_figure *then,
                             const struct dti_bench_figure *now);
/* Slower by more than is allowed, and surely slower. */
bool dti_bench_is_regression(const struct dti_bench_figure *ratio, double allowed);
/* Finds each record's partner of the same label in the other list; SIZE_MAX where there is none.
 * Returns the number of pairs. */
size_t dti_bench_match(struct bench_records *then, struct bench_records *now);

/* "10%", "2.5%": 0.1, 0.025. */
enum dti_status dti_bench_parse_regression(const char *text, double *ret_share,
                                           struct dti_error *reterr);

#endif
