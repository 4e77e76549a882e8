/* SPDX-License-Identifier: MIT
 *
 * What `bench` is to measure, from its options and operands. */
#ifndef DTINFO_CLI_BENCH_JOB_H
#define DTINFO_CLI_BENCH_JOB_H

#include "answers/bench_measure.h"
#include "cli/shell/command.h"

struct bench_args {
    const char *size, *threads, *level, *time, *device, *dtypes, *engine;
    const char *baseline, *max_regression, *compare;
    int data, cache, round, overflow;
    uint64_t seed;
    bool data_given, cache_given, round_given, overflow_given, seed_given;
    bool loss, list, samples, with_alloc;
};

/* bench_choices.c */
extern const struct dti_choice dti_choice_bench_data[];  /* enum dti_bench_data */
extern const struct dti_choice dti_choice_bench_cache[]; /* enum dti_bench_cache */
extern const struct dti_choice dti_choice_bench_engine[];
extern const struct dti_choice dti_choice_bench_threads[], dti_choice_bench_level[],
    dti_choice_bench_device[];

struct bench_job {
    struct dti_bench_job asked;
    char device_reason[640]; /* why --device auto came to the CPU; or empty */
    const struct bench_args *args;
    const struct dti_context *cx;
};

/* dti_bench_job_end() gives devices back. */
enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr);
void dti_bench_job_end(struct bench_job *job);

/* bench_run.c: all of it, measured, compared, and told of. With --baseline DTI_ANSWER_NO when
 * something became slower. */
enum dti_status dti_bench_run_job(const struct bench_job *job, struct dti_error *reterr);

/* bench_earlier.c: reads the document that --baseline or --compare names, and warns where it is of
 * another machine. Fails with DTI_BAD_INPUT. */
enum dti_status dti_bench_earlier_read(struct dti_bench_comparison *ret,
                                       const struct bench_job *job, struct dti_error *reterr);
/* After all was measured. With --baseline DTI_ANSWER_NO when something became slower; DTI_BAD_INPUT
 * when nothing that was measured is in the document. */
enum dti_status dti_bench_earlier_judge(struct dti_bench_comparison *comparison,
                                        const struct bench_job *job, struct dti_error *reterr);

#endif
