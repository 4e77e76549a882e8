/* SPDX-License-Identifier: MIT
 *
 * Measuring all that a job asks for: what is done is handed on at once. */
#ifndef DTINFO_ANSWERS_BENCH_MEASURE_H
#define DTINFO_ANSWERS_BENCH_MEASURE_H

#include "answers/bench_answer.h"

enum {
    DTI_BENCH_PAIRS_MAX = 64,
    DTI_BENCH_SIZES_MAX = 16,
    DTI_BENCH_THREADS_MAX = 16,
    DTI_BENCH_DTYPES_MAX = 16,
    DTI_BENCH_DEVICES_MAX = 17,
    DTI_BENCH_SIZE_LABEL = 96
};

struct dti_bench_pair {
    struct dti_format src, dst;
};

/* n alone: bytes or elements, which may lie in m rows; the three: a product of matrices. */
struct dti_bench_size {
    uint64_t m, n, k;
    char label[DTI_BENCH_SIZE_LABEL]; /* "64 MiB", "2000x2000" */
};

struct dti_bench_device {
    char id[DTI_DEVICE_ID_SIZE];
    struct dti_gpu *gpu;       /* NULL: the CPU */
    struct dti_runner *runner; /* of casts on a device */
};

/* Everything is measured with every number of threads, on every device, at every size. */
struct dti_bench_job {
    struct dti_bench_setup setup;
    enum dti_bench_data data;
    enum dti_bench_cache cache;
    struct dti_policy policy;                         /* of casts */
    struct dti_bench_pair pairs[DTI_BENCH_PAIRS_MAX]; /* casts, */
    enum dti_dtype dtypes[DTI_BENCH_DTYPES_MAX];      /* all others, */
    enum dti_block blocks[DTI_BENCH_DTYPES_MAX];      /* and block formats */
    struct dti_bench_size sizes[DTI_BENCH_SIZES_MAX];
    bool usual_sizes; /* those that there is no memory for may be left out, but of casts */
    size_t threads[DTI_BENCH_THREADS_MAX];
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* the most demanding first */
    struct dti_bench_device devices[DTI_BENCH_DEVICES_MAX];
    size_t pair_count, dtype_count, block_count, size_count, thread_count, level_count,
        device_count;
};

/* Where measurements go; the place of a result is not set. */
struct dti_bench_sink {
    void *context;
    /* The measurements of a cast begin: there is no table yet. */
    enum dti_status (*begin)(void *context, const struct dti_bench_result *first,
                             struct dti_error *reterr);
    enum dti_status (*done)(void *context, const struct dti_bench_result *result,
                            struct dti_error *reterr);
    void (*left_out)(void *context, const struct dti_bench_result *what,
                     const struct dti_error *why);
};

/* Says what cannot be measured before anything is; measures it all. */
enum dti_status dti_bench_check_job(const struct dti_bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_measure_job(const struct dti_bench_job *job,
                                      const struct dti_bench_sink *sink, struct dti_error *reterr);

#endif
