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

/* bench_choices.c */
extern const struct dti_choice dti_choice_bench_data[];  /* enum dti_bench_data */
extern const struct dti_choice dti_choice_bench_cache[]; /* enum dti_bench_cache */
extern const struct dti_choice dti_choice_bench_engine[];
extern const struct dti_choice dti_choice_bench_threads[], dti_choice_bench_level[],
    dti_choice_bench_device[];

enum {
    BENCH_PAIRS_MAX = 64,
    BENCH_SIZES_MAX = 16,
    BENCH_THREADS_MAX = 16,
    BENCH_DTYPES_MAX = 16,
    BENCH_DEVICES_MAX = 17,
    BENCH_LABEL_SIZE = 96
};

struct bench_pair {
    struct dti_format src, dst;
};

/* n alone: bytes or elements, which may lie in m rows; the three: a product of matrices. */
struct bench_size {
    uint64_t m, n, k;
    char label[BENCH_LABEL_SIZE]; /* "64 MiB", "2000x2000" */
};

struct bench_device {
    char id[DTI_DEVICE_ID_SIZE];
    struct dti_gpu *gpu;       /* NULL: the CPU */
    struct dti_runner *runner; /* instead, for casts */
};

/* Everything is measured with every number of threads, on every device, at every size. */
struct bench_job {
    struct dti_bench_setup setup;
    struct bench_pair pairs[BENCH_PAIRS_MAX]; /* casts, */
    enum dti_dtype dtypes[BENCH_DTYPES_MAX];  /* all others, */
    enum dti_block blocks[BENCH_DTYPES_MAX];  /* and block formats */
    struct bench_size sizes[BENCH_SIZES_MAX];
    size_t threads[BENCH_THREADS_MAX];
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* the most demanding first */
    struct bench_device devices[BENCH_DEVICES_MAX];
    size_t pair_count, dtype_count, block_count, size_count, thread_count, level_count,
        device_count;
    char device_reason[640]; /* why --device auto came to the CPU; or empty */
    const struct bench_args *args;
    const struct dti_context *cx;
};

/* kind: NULL for casts. dti_bench_job_end() gives devices back. */
enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr);
void dti_bench_job_end(struct bench_job *job);

#endif
