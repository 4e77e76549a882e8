/* SPDX-License-Identifier: MIT
 *
 * Measuring what a job asks for: what is done is handed on at once. */
#ifndef DTINFO_CLI_BENCH_MEASURE_H
#define DTINFO_CLI_BENCH_MEASURE_H

#include "cli/bench/bench_job.h"

/* One measurement that is done. */
struct bench_done {
    const struct bench_job *job;
    const struct bench_size *size;
    const struct bench_device *device;
    struct dti_bench_result result; /* but for its place */
};

/* Where that goes. */
struct bench_sink {
    void *context;
    /* The measurements of a cast begin. */
    enum dti_status (*begin)(void *context, const struct bench_pair *pair,
                             struct dti_error *reterr);
    enum dti_status (*done)(void *context, const struct bench_done *done, struct dti_error *reterr);
};

/* bench_casts.c, bench_tables.c: say what cannot be measured before anything is; measure it all. */
enum dti_status dti_bench_check_casts(const struct bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_check_tables(const struct bench_job *job, struct dti_error *reterr);
enum dti_status dti_bench_measure_casts(const struct bench_job *job, const struct bench_sink *sink,
                                        struct dti_error *reterr);
enum dti_status dti_bench_measure_tables(const struct bench_job *job, const struct bench_sink *sink,
                                         struct dti_error *reterr);

#endif
