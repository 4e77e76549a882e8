/* SPDX-License-Identifier: MIT
 *
 * What `bench` is to measure, from its options and operands. */
#ifndef DTINFO_CLI_BENCH_JOB_H
#define DTINFO_CLI_BENCH_JOB_H

#include "answers/bench_answer.h"
#include "cli/shell/command.h"

struct bench_args {
    const char *size, *threads, *level, *time, *device, *dtypes, *engine;
    const char *baseline, *max_regression, *compare;
    int data, cache, round, overflow;
    uint64_t seed;
    bool data_given, cache_given, round_given, overflow_given, seed_given;
    bool loss, list, samples, with_alloc;
};

extern const struct dti_choice dti_choice_bench_data[], dti_choice_bench_cache[];

struct bench_job {
    struct dti_bench_job asked;
    char device_reason[640]; /* why --device auto came to the CPU; or empty */
    const struct bench_args *args;
    const struct dti_context *cx;
};

/* dti_bench_job_end() in any case, which closes devices. */
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

/* What options say, into a job: words between commas. */
struct bench_word {
    const char *text;
    size_t length;
};

/* "what; 'word' is not", and "too many ... for one run". */
enum dti_status dti_bench_refuse(enum dti_status code, const char *what,
                                 const struct bench_word *word, struct dti_error *reterr);
enum dti_status dti_bench_too_many(const char *what, struct dti_error *reterr);

/* Each word of a list, as an option or operand takes it. */
typedef enum dti_status bench_take_fn(struct bench_job *job, const struct bench_word *word,
                                      struct dti_error *reterr);
enum dti_status dti_bench_each_word(struct bench_job *job, const char *list, bench_take_fn *take,
                                    struct dti_error *reterr);
/* Some of the dtypes that the kind offers; sizes as it takes them. */
bench_take_fn dti_bench_take_threads, dti_bench_take_size, dti_bench_take_dtype;
/* A dtype by its name, with a warning where that has two meanings. */
enum dti_status dti_bench_look_up(const struct bench_job *job, const struct bench_word *word,
                                  struct dti_format *ret, struct dti_error *reterr);
enum dti_status dti_bench_parse_levels(struct bench_job *job, const char *list,
                                       struct dti_error *reterr);
enum dti_status dti_bench_parse_time(struct bench_job *job, const char *text,
                                     struct dti_error *reterr);
/* "10%", "2.5%": 0.1, 0.025. */
enum dti_status dti_bench_parse_regression(const char *text, double *ret_share,
                                           struct dti_error *reterr);

#endif
