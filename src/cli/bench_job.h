/* SPDX-License-Identifier: MIT
 *
 * The parts of `bench`: what is to be measured, and the two forms of the answer. */
#ifndef DTINFO_CLI_BENCH_JOB_H
#define DTINFO_CLI_BENCH_JOB_H

#include "cli/command.h"
#include "dtinfo/bench_cast.h"
#include "dtinfo/spell.h"

struct bench_args {
    const char *size, *threads, *level, *time;
    int data, cache, round, overflow;
    uint64_t seed;
    bool data_given, cache_given, round_given, overflow_given, seed_given;
    bool loss, list, samples;
};

extern const struct dti_choice dti_choice_bench_data[];  /* enum dti_bench_data */
extern const struct dti_choice dti_choice_bench_cache[]; /* enum dti_bench_cache */

enum { BENCH_PAIRS_MAX = 64, BENCH_SIZES_MAX = 16, BENCH_THREADS_MAX = 16 };

struct bench_pair {
    struct dti_format src, dst;
};

/* Every pair is measured with every number of threads at every size. */
struct bench_job {
    struct bench_pair pairs[BENCH_PAIRS_MAX];
    uint64_t sizes[BENCH_SIZES_MAX];
    size_t threads[BENCH_THREADS_MAX];
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* the most demanding first */
    size_t pair_count, size_count, thread_count, level_count;
    uint64_t nanoseconds; /* for each measurement */
    size_t cpus;          /* asked before threads are tied to any */
    const struct bench_args *args;
    const struct dti_context *cx;
};

/* bench_job.c: from the options and the operands after the subcommand. */
enum dti_status dti_bench_job_init(struct bench_job *ret, const struct bench_args *args,
                                   char **operands, int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr);

/* One measurement that is done. */
struct bench_done {
    const struct bench_job *job;
    const struct bench_pair *pair;
    size_t threads;
    const struct dti_bench_cast_result *result;
};

/* Places with so many rounds are told apart; the main one is always told. */
enum { BENCH_PLACE_ROUNDS = 5 };
bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place);

/* bench_human.c */
void dti_bench_human_begin(const struct bench_job *job);
void dti_bench_human_pair(const struct bench_job *job, const struct bench_pair *pair);
void dti_bench_human_result(const struct bench_done *done);

/* bench_json.c: a document is begun, gets results, and is written. */
void dti_bench_json_begin(struct dti_json *json, const struct bench_job *job);
void dti_bench_json_result(struct dti_json *json, const struct bench_done *done);
enum dti_status dti_bench_json_end(struct dti_json *json, const struct dti_context *cx,
                                   struct dti_error *reterr);

/* bench_list.c: the kernels there are. */
enum dti_status dti_bench_list(const struct dti_context *cx, struct dti_error *reterr);

/* bench_words.c: "1 MiB", "1000 bytes"; "0.0477" with so many decimals. */
const char *dti_bench_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes);
const char *dti_bench_fixed(char buffer[DTI_TEXT_SIZE], double number, unsigned decimals);
/* With three significant digits and no exponent: "0.0477", "12.3", "1230". */
const char *dti_bench_three(char buffer[DTI_TEXT_SIZE], double number);
/* A bar of `cells` characters for a share of 1, longer beyond that up to a quarter more. */
enum { BENCH_BAR_SIZE = 128, BENCH_BAR_CELLS = 20 };
const char *dti_bench_bar(char buffer[BENCH_BAR_SIZE], double share, bool utf8);
/* Whether the locale's characters are UTF-8, as the environment tells. */
bool dti_bench_utf8(void);

#endif
