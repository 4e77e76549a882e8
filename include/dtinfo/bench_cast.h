/* SPDX-License-Identifier: MIT
 *
 * Measuring a cast of an array beside what this machine can do at all: copies of as many bytes, and
 * kernels without arithmetic that read and write as much as the cast does. */
#ifndef DTINFO_BENCH_CAST_H
#define DTINFO_BENCH_CAST_H

#include "dtinfo/bench.h"
#include "dtinfo/copy.h"
#include "dtinfo/plan.h"
#include "dtinfo/runner.h"

/* What the source holds: a pool of random elements, repeated. */
enum dti_bench_data {
    DTI_BENCH_NORMAL,  /* near to normal (sum of twelve uniforms), mean 0; the deviation is 1, or a
                        * quarter of the range where an integer dtype takes part */
    DTI_BENCH_UNIFORM, /* uniform in [1, 2); integers: in their range */
    DTI_BENCH_BITS,    /* any code */
    DTI_BENCH_SUBNORMAL, /* uniform below the smallest normal of the destination (of the source,
                          * where the destination has none or the source cannot hold that) */
    DTI_BENCH_NAN1,      /* normal, one of a hundred is NaN or an infinity */
};

/* Fills an array of n elements, a multiple of DTI_TILE, with codes of src for a cast to dst. */
void dti_bench_data_fill(void *array, size_t n, const struct dti_format *src,
                         const struct dti_format *dst, enum dti_bench_data data, uint64_t seed);

enum dti_bench_cache {
    DTI_BENCH_HOT,  /* the same buffers again and again */
    DTI_BENCH_COLD, /* buffers take turns, twice the last cache or more of them */
};

enum { DTI_BENCH_LEVELS_MAX = DTI_LEVEL_COUNT, DTI_BENCH_ROWS_MAX = 24 };

struct dti_bench_cast {
    struct dti_format src, dst;
    struct dti_policy policy;
    bool round_given;
    uint64_t bytes; /* of the source; cut to whole elements */
    enum dti_level levels[DTI_BENCH_LEVELS_MAX];
    size_t level_count; /* at least 1; levels that come to the same kernels give one row */
    bool loss;          /* the cast with its loss report as well */
    enum dti_bench_cache cache;
    enum dti_bench_data data;
    uint64_t seed;
    struct dti_runner *runner; /* NULL: the CPU; else on the device that it is on, by one thread */
    struct dti_bench_options options;
};

/* Where the arrays of a candidate are. */
enum dti_bench_where {
    DTI_BENCH_ON_CPU,
    DTI_BENCH_RESIDENT, /* in the device's memory, timed by the device; a copy is one within it */
    DTI_BENCH_WHOLE,    /* the host's pinned memory, from there to there, timed by the host; a copy
                         * is one of the source there and, at the same time, the result back */
};

enum dti_bench_role { DTI_BENCH_CAST, DTI_BENCH_COPY, DTI_BENCH_SHAPE };

/* One candidate. */
struct dti_bench_row {
    enum dti_bench_role role;
    enum dti_bench_where where;
    enum dti_level level;            /* the highest of its kernels */
    bool loss;                       /* casts */
    bool stream;                     /* results go past the caches */
    char kernel[DTI_PLAN_TEXT_SIZE]; /* the plan in words, or the function's name */
    uint64_t bytes_read, bytes_written;
};

struct dti_bench_cast_result {
    struct dti_bench bench;
    struct dti_bench_row rows[DTI_BENCH_ROWS_MAX]; /* the casts first, the most demanding level and
                                                    * no loss report foremost */
    size_t row_count, cast_count;
    uint64_t elements, bytes_read, bytes_written;
    size_t sets;                     /* of buffers */
    uint64_t memory;                 /* bytes that were taken */
    uint64_t huge_page_bytes;        /* of them on huge pages */
    bool in_cache;                   /* source and result together are within the last cache */
    char device[DTI_DEVICE_ID_SIZE]; /* "cpu", "cuda:0" */
};

/* Fails where dti_bench_cast_run() would for want of elements or of memory: before many are run. */
enum dti_status dti_bench_cast_check(const struct dti_bench_cast *request,
                                     struct dti_error *reterr);

/* Measures, then verifies what each cast wrote. Fails with DTI_UNAVAILABLE when there is not the
 * memory (asked before it is taken), DTI_NO_MEMORY, DTI_USAGE when bytes hold no element, DTI_BUG
 * when a result is wrong. */
enum dti_status dti_bench_cast_run(struct dti_bench_cast_result *ret,
                                   const struct dti_bench_cast *request, struct dti_team *team,
                                   struct dti_error *reterr);
void dti_bench_cast_free(struct dti_bench_cast_result *result);

/* The row of a role with the smallest median at a place; row_count when there is none. */
size_t dti_bench_cast_best(const struct dti_bench_cast_result *result, enum dti_bench_role role,
                           enum dti_bench_where where, enum dti_bench_place place);

#endif
