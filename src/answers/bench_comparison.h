/* SPDX-License-Identifier: MIT
 *
 * Two runs of `bench` side by side: what was measured in both, by how much it differs, and whether
 * that is more than the intervals allow for. */
#ifndef DTINFO_ANSWERS_BENCH_COMPARISON_H
#define DTINFO_ANSWERS_BENCH_COMPARISON_H

#include "answers/bench_records.h"

struct dti_bench_comparison {
    const char *path; /* of the other document */
    bool gate;        /* what became too slow is an answer of its own */
    double allowed;   /* so much longer than before is not too slow: 0.1 */
    struct dti_bench_records then, now;
    bool other_machine;
};

/* Finds each record's partner of the same label in the other run; SIZE_MAX where there is none.
 * Returns the number of pairs. */
size_t dti_bench_match(struct dti_bench_records *then, struct dti_bench_records *now);
/* That of a record of now which has one. */
const struct dti_bench_record *dti_bench_partner(const struct dti_bench_comparison *comparison,
                                                 const struct dti_bench_record *now);

/* How times compare: now / then, with the interval that both intervals give. */
void dti_bench_compare_times(struct dti_bench_figure *ret, const struct dti_bench_figure *then,
                             const struct dti_bench_figure *now);
/* Slower by more than is allowed, and surely slower; never without a gate. */
bool dti_bench_is_regression(const struct dti_bench_comparison *comparison,
                             const struct dti_bench_figure *ratio);

/* After all was measured: matches both runs. */
struct dti_bench_outcome {
    size_t pairs;
    size_t unknown; /* of them, where one run has too few samples to tell; only with a gate */
    bool slower;    /* with a gate */
};
struct dti_bench_outcome dti_bench_compare(struct dti_bench_comparison *comparison);

#endif
