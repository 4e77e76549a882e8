/* SPDX-License-Identifier: MIT
 *
 * The measurement engine: candidates take turns in rounds, in a new random order each round, so
 * that disturbances by the rest of the machine affect all of them equally. A sample is discarded
 * for a cause (a thread was preempted, the hypervisor took time), never for its value. Results
 * are medians with intervals, and comparisons are ratios within rounds. This code does not know
 * what it measures. */
#ifndef BENCH_MEASURE_BENCH_H
#define BENCH_MEASURE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/run/parallel.h"

/* One pass of one member of a team of `size`, over buffer set number `set`. Members run at the
 * same time and do not wait for each other between passes. */
typedef void dti_bench_fn(void *context, size_t set, size_t member, size_t size);

struct dti_bench_candidate {
    dti_bench_fn *run;
    void *context;
    size_t sets;    /* passes cycle through buffer sets 0 to sets - 1; at least 1 */
    bool subject;   /* measuring continues until its median is precise enough */
    unsigned group; /* not 0: only the best of this group matters, so a candidate that is far
                     * behind in each of the first rounds is dropped from the later ones */
    /* NULL, or runs all passes of a sample itself, in the calling thread alone, starting with
     * buffer set number `set`. Returns their duration in seconds by the device's clock; a
     * negative value means failure and ends the measurement. Replaces `run`. */
    double (*timed)(void *context, size_t set, uint64_t passes);
};

struct dti_bench_options {
    uint64_t nanoseconds;        /* time limit of the rounds */
    uint64_t sample_nanoseconds; /* minimum duration of a sample; 0: 10 ms, or less if a limit of
                                  * less than 11 rounds of them leaves no more */
    uint64_t seed;               /* for the order of candidates */
    size_t cpus;                 /* dti_cpu_count() before the team was pinned to CPUs; 0: enough */
};

/* Where the threads run, measured by a cache line that bounces between two of them. */
enum dti_bench_place {
    DTI_BENCH_ALONE, /* one thread */
    DTI_BENCH_NEAR,  /* round trip below 200 ns: they share a cache */
    DTI_BENCH_FAR,
    DTI_BENCH_MOVED,   /* changed between near and far during the round, which counts for neither */
    DTI_BENCH_CROWDED, /* more threads than CPUs: they take turns, so near and far do not apply */
    DTI_BENCH_PLACES
};
const char *dti_bench_place_name(size_t place); /* "near"; NULL if out of range */

enum dti_bench_stop {
    DTI_BENCH_CONVERGED, /* the intervals of the subjects' medians are within 1 % */
    DTI_BENCH_STEADY,    /* the intervals no longer get narrower */
    DTI_BENCH_TIME,      /* time limit reached */
    DTI_BENCH_ROUNDS,    /* DTI_BENCH_ROUNDS_MAX */
};
const char *dti_bench_stop_name(size_t stop); /* "converged"; NULL if out of range */

enum { DTI_BENCH_ROUNDS_MAX = 1000 };

/* The samples of a measurement. */
struct dti_bench {
    size_t candidates, rounds;
    double *seconds; /* per pass, [round * candidates + candidate]; negative: disturbed */
    enum dti_bench_place *places; /* of each round */
    uint64_t *passes;    /* passes per sample of each candidate; reduced if other programs interrupt
                          * every long sample */
    uint64_t *discarded; /* discarded samples of each candidate */
    double *round_trips; /* cache line round trip in seconds, probed after each round; 0 with one
                          * thread */
    enum dti_bench_stop stop;
    bool disturbed; /* some candidate had hardly any undisturbed samples: all samples count */
};

/* Runs the measurement. team: NULL for this thread alone. Fails with DTI_NO_MEMORY, or with
 * DTI_DEVICE_FAILED if `timed` failed; its context has the details. */
enum dti_status dti_bench_run(struct dti_bench *ret, const struct dti_bench_candidate *candidates,
                              size_t count, struct dti_team *team,
                              const struct dti_bench_options *options, struct dti_error *reterr);
void dti_bench_free(struct dti_bench *bench);

/* The place of most rounds. */
enum dti_bench_place dti_bench_main_place(const struct dti_bench *bench);

/* Statistics of a set of samples. */
struct dti_bench_figure {
    size_t samples;
    double median, minimum;
    double mad;        /* median absolute deviation from the median, relative to the median; */
    bool has_mad;      /* needs three samples */
    double low, high;  /* the 95 % interval of the median, by order statistics; */
    bool has_interval; /* needs six samples */
};

/* Summarizes `count` numbers, which it sorts in place; all zero if there are none. */
void dti_bench_summarize(struct dti_bench_figure *ret, double *samples, size_t count);

/* Runs differ in page placement, neighbours and clock, which a single process cannot see. To
 * make the intervals of two runs overlap nine times out of ten, the interval of a time is
 * widened by this factor, and by this share of the median on both sides (as measured on a shared
 * machine). */
#define DTI_BENCH_BETWEEN_FACTOR 1.5
#define DTI_BENCH_BETWEEN        0.0125

/* Seconds per pass of a candidate, over the rounds at a place. The interval also covers the
 * medians of the six parts of the measurement, so that it shows drift; or all samples, if
 * disturbed ones count. */
void dti_bench_time(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t candidate,
                    enum dti_bench_place place);
/* time of `over` / time of `under`, over the rounds at a place in which both have a sample, with
 * the same kind of interval. under: SIZE_MAX for one second. */
void dti_bench_ratio(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t over,
                     size_t under, enum dti_bench_place place);

/* The conclusion from a ratio of times. */
enum dti_bench_verdict { DTI_BENCH_LESS, DTI_BENCH_MORE, DTI_BENCH_CANNOT_TELL };
/* CANNOT_TELL if the interval touches 1 +- 1 %, or if there is none. */
enum dti_bench_verdict dti_bench_judge(const struct dti_bench_figure *ratio);

#endif
