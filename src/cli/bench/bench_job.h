/* SPDX-License-Identifier: MIT
 *
 * What `bench` measures, from its options and operands. */
#ifndef CLI_BENCH_BENCH_JOB_H
#define CLI_BENCH_BENCH_JOB_H

#include "answers/bench/bench_answer.h"
#include "answers/bench/bench_operands.h"
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
    const struct dti_command_context *cx;
};

/* Call dti_bench_job_end() in any case; it closes devices. */
enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_command_context *cx,
                                   struct dti_error *reterr);

void dti_bench_job_end(struct bench_job *job);

/* bench_run.c: measures, compares and reports everything. With --baseline, DTI_ANSWER_NO if
 * something became slower. */
enum dti_status dti_bench_run_job(const struct bench_job *job, struct dti_error *reterr);

/* A cast measured beyond the caches; times are per element. */
enum { BENCH_CAST_NAME = 48 };
struct bench_cast_seen {
    char src[BENCH_CAST_NAME], dst[BENCH_CAST_NAME];
    unsigned src_width, dst_width;
    size_t threads;
    enum dti_bench_place place;
    double seconds, low, high; /* the median and its interval */
};

/* Whether the narrower of `now` and an earlier cast with the same threads is clearly slower. If so:
 * the earlier cast with the largest difference, and whether `now` is the slow one. */
bool dti_bench_cast_is_slow(const struct bench_cast_seen *seen, size_t count,
                            const struct bench_cast_seen *now, size_t *ret_other, bool *ret_now);

/* "10%", "2.5%": 0.1, 0.025. */
enum dti_status dti_bench_parse_regression(const char *text, double *ret_share,
                                           struct dti_error *reterr);

#endif
