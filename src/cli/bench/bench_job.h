/* SPDX-License-Identifier: MIT
 *
 * What `bench` measures, from its options and operands. */
#ifndef DTINFO_CLI_BENCH_JOB_H
#define DTINFO_CLI_BENCH_JOB_H

#include "answers/bench_operands.h"
#include "cli/shell/command.h"

struct bench_args {
    const char *size, *threads, *level, *time, *device, *dtypes, *engine;
    const char *a, *b;
    const char *baseline, *max_regression, *compare;
    int data, cache, round, overflow;
    uint64_t seed;
    bool data_given, cache_given, round_given, overflow_given, seed_given;
    bool loss, list, samples, with_alloc;
};

extern const struct dti_choice dti_choice_bench_data[], dti_choice_bench_cache[];

struct bench_job {
    struct dti_bench_job asked;
    struct dti_bench_operands operands; /* --a, --b */
    char device_reason[640];            /* why --device auto chose the CPU; or empty */
    const struct bench_args *args;
    const struct dti_context *cx;
};

/* Call dti_bench_job_end() in any case; it closes devices. */
enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr);

void dti_bench_job_end(struct bench_job *job);

/* bench_run.c: measures, compares and reports everything. With --baseline, DTI_ANSWER_NO if
 * something became slower. */
enum dti_status dti_bench_run_job(const struct bench_job *job, struct dti_error *reterr);

/* bench_earlier.c: reads the document that --baseline or --compare names, and warns if it is from
 * another machine. Fails with DTI_BAD_INPUT. */
enum dti_status dti_bench_earlier_read(struct dti_bench_comparison *ret,
                                       const struct bench_job *job, struct dti_error *reterr);
/* After measuring. With --baseline, DTI_ANSWER_NO if something became slower; DTI_BAD_INPUT if the
 * document has none of the measurements. */
enum dti_status dti_bench_earlier_judge(struct dti_bench_comparison *comparison,
                                        const struct bench_job *job, struct dti_error *reterr);

/* Read options, words between commas, into a job. */
struct bench_word {
    const char *text;
    size_t length;
};

/* "what; got 'word'", and "too many ... for one run". */
enum dti_status dti_bench_refuse(enum dti_status code, const char *what,
                                 const struct bench_word *word, struct dti_error *reterr);
enum dti_status dti_bench_too_many(const char *what, struct dti_error *reterr);

/* Takes each word of a list. */
typedef enum dti_status bench_take_fn(struct bench_job *job, const struct bench_word *word,
                                      struct dti_error *reterr);
enum dti_status dti_bench_each_word(struct bench_job *job, const char *list, bench_take_fn *take,
                                    struct dti_error *reterr);
/* Some of the kind's dtypes; sizes in the kind's form. */
bench_take_fn dti_bench_take_threads, dti_bench_take_size, dti_bench_take_dtype;
/* A dtype by its name, with a warning if the name has two meanings. */
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
