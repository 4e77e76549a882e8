/* SPDX-License-Identifier: MIT
 *
 * The pages of `bench`, which grow while it measures. */
#ifndef DTINFO_CLI_BENCH_PAGE_H
#define DTINFO_CLI_BENCH_PAGE_H

#include "cli/bench/bench_job.h"
#include "cli/bench/bench_words.h"

/* One measurement that is done. */
struct bench_shown {
    const struct bench_job *job;
    const struct dti_bench_size *size;
    const struct dti_bench_device *device;
    struct dti_bench_result result;
};

/* bench_human.c, bench_table_human.c: the head; what is measured next; a measurement that is done.
 */
void dti_bench_human_begin(const struct bench_job *job);
void dti_bench_human_pair(const struct bench_shown *first);
void dti_bench_human_result(const struct bench_shown *done);
void dti_bench_human_table_begin(const struct bench_job *job);
void dti_bench_human_table(const struct bench_shown *done);
/* bench_verdicts.c */
void dti_bench_human_comparison(const struct dti_bench_comparison *comparison,
                                const struct dti_context *cx);

/* bench_errors.c: what a candidate computed in, and how well; nothing where nothing is known. */
void dti_bench_put_errors(const struct bench_shown *done, const struct dti_bench_item *item,
                          size_t indent);

/* bench_doubts.c: below figures, each in a line of its own: where the threads were, what disturbed
 * them, how well the median of candidate `at` is known; and at the end, what makes figures of this
 * machine doubtful. */
void dti_bench_put_notes(const struct bench_shown *done, size_t at, size_t indent,
                         enum dti_bench_place place);
void dti_bench_put_doubts(const struct bench_job *job);

#endif
