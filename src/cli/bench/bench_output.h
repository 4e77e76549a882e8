/* SPDX-License-Identifier: MIT
 *
 * The way of results out, and the comparison with those of an earlier run. */
#ifndef DTINFO_CLI_BENCH_OUTPUT_H
#define DTINFO_CLI_BENCH_OUTPUT_H

#include "cli/bench/bench_job.h"

struct bench_comparison;

struct bench_output {
    const struct bench_job *job;
    struct dti_json *json;               /* NULL for people */
    struct bench_comparison *comparison; /* NULL without --baseline and --compare */
};

/* bench_comparison.c. Reads the other document at once; fails with DTI_BAD_INPUT. */
enum dti_status dti_bench_comparison_new(struct bench_comparison **ret, const struct bench_job *job,
                                         struct dti_error *reterr);
void dti_bench_comparison_free(struct bench_comparison *comparison); /* NULL is fine */
enum dti_status dti_bench_comparison_add(struct bench_comparison *comparison,
                                         const struct bench_done *done, struct dti_error *reterr);
/* After all were added. With --baseline DTI_ANSWER_NO when something became slower; DTI_BAD_INPUT
 * when nothing that was measured is in the document. */
enum dti_status dti_bench_comparison_judge(struct bench_comparison *comparison,
                                           struct dti_error *reterr);

/* bench_verdicts.c */
void dti_bench_comparison_human(const struct bench_comparison *comparison,
                                const struct dti_context *cx);
void dti_bench_comparison_json(const struct bench_comparison *comparison, struct dti_json *json);

#endif
