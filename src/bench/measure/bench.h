/* SPDX-License-Identifier: MIT
 *
 * Measuring: candidates take turns in rounds, in a new random order for each round, so that
 * whatever else the machine does meets all of them alike. A sample is dropped for a cause (a thread
 * was preempted, the hypervisor took time), never for its value. Results are medians with
 * intervals, and comparisons are ratios within rounds. What is measured is not known here. */
#ifndef BENCH_MEASURE_BENCH_H
#define BENCH_MEASURE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"
#include "util/run/parallel.h"

/* One pass of one member of a team of `size`, over the buffers number `set`. Members run at the
 * same time, and do not wait for each other between passes. */
typedef void dti_bench_fn(void *context, size_t set, size_t member, size_t size);

struct dti_bench_candidate {
    dti_bench_fn *run;
    void *context;
    size_t sets;    /* passes take the buffers 0 to sets - 1 in turn; at least 1 */
    bool subject;   /* measuring goes on until its median is known well enough */
    unsigned group; /* not 0: the best of this group is looked for, so that one that is far from it
                     * in each of the first rounds is left out of the others */
    /* NULL, or does the passes of a sample by itself, in the calling thread alone, beginning with
     * the buffers number `set`; returns their seconds by the clock of the device that did them,
     * less than 0 when that failed: the measurement ends. run is not used then. */
    double (*timed)(void *context, size_t set, uint64_t passes);
};

struct dti_bench_options {
    uint64_t nanoseconds;        /* time limit of the rounds */
    uint64_t sample_nanoseconds; /* a sample lasts that long at least; 0: 10 ms */
    uint64_t seed;               /* of the order of candidates */
    size_t cpus; /* dti_cpu_count() from before a team was tied to CPUs; 0: enough */
};

/* Where the threads are, measured by a cache line that goes back and forth between two of them. */
enum dti_bench_place {
    DTI_BENCH_ALONE, /* one thread */
    DTI_BENCH_NEAR,  /* a round trip takes less than 200 ns: they share a cache */
    DTI_BENCH_FAR,
    DTI_BENCH_MOVED,   /* from near to far or back during the round, which counts for neither */
    DTI_BENCH_CROWDED, /* more threads than CPUs: they take turns, and there is no near and far */
    DTI_BENCH_PLACES
};
const char *dti_bench_place_name(size_t place); /* "near"; NULL: there is no such */

enum dti_bench_stop {
    DTI_BENCH_CONVERGED, /* the intervals of the subjects' medians are within 1 % */
    DTI_BENCH_STEADY,    /* they no longer become narrower */
    DTI_BENCH_TIME,      /* the time limit came */
    DTI_BENCH_ROUNDS,    /* DTI_BENCH_ROUNDS_MAX */
};
const char *dti_bench_stop_name(size_t stop); /* "converged"; NULL: there is no such */

enum { DTI_BENCH_ROUNDS_MAX = 1000 };

/* What was measured. */
struct dti_bench {
    size_t candidates, rounds;
    double *seconds; /* of one pass, [round * candidates + candidate]; negative: disturbed */
    enum dti_bench_place *places; /* of each round */
    uint64_t *passes; /* in one sample, of each candidate; fewer in later ones where other programs
                       * interrupt every long one */
    uint64_t *discarded; /* samples, of each candidate */
    double *round_trips; /* seconds of the probe after each round; 0 with one thread */
    enum dti_bench_stop stop;
    bool disturbed; /* hardly a sample of some candidate was undisturbed: all were taken */
};

/* Measures. team: NULL for this thread alone. Fails with DTI_NO_MEMORY, and DTI_DEVICE_FAILED when
 * `timed` did; its context knows more. */
enum dti_status dti_bench_run(struct dti_bench *ret, const struct dti_bench_candidate *candidates,
                              size_t count, struct dti_team *team,
                              const struct dti_bench_options *options, struct dti_error *reterr);
void dti_bench_free(struct dti_bench *bench);

/* The place that most rounds had. */
enum dti_bench_place dti_bench_main_place(const struct dti_bench *bench);

/* What is known about a number from its samples. */
struct dti_bench_figure {
    size_t samples;
    double median, minimum;
    double mad;        /* median absolute deviation from the median, divided by the median, */
    bool has_mad;      /* which needs three samples */
    double low, high;  /* the 95 % interval of the median by order statistics, */
    bool has_interval; /* which needs six samples */
};

/* From `count` numbers, which are sorted on the way; all zero when there are none. */
void dti_bench_summarize(struct dti_bench_figure *ret, double *samples, size_t count);

/* Two processes find other pages, other neighbours and another clock. So that the intervals of two
 * runs overlap nine times of ten, that of a time is wider than what one process can know by a half,
 * and by this share of the median to both sides (as measured on a machine shared with others). */
#define DTI_BENCH_BETWEEN_FACTOR 1.5
#define DTI_BENCH_BETWEEN        0.0125

/* Seconds of a pass of a candidate, over the rounds at a place. The interval holds the medians of
 * the six parts of the measurement as well, so that it shows drift; all samples if disturbed ones
 * count. */
void dti_bench_time(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t candidate,
                    enum dti_bench_place place);
/* time of `over` / time of `under`, over the rounds at a place in which both have a sample; the
 * interval likewise. under: SIZE_MAX for one second. */
void dti_bench_ratio(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t over,
                     size_t under, enum dti_bench_place place);

/* What a ratio of times says. */
enum dti_bench_verdict { DTI_BENCH_LESS, DTI_BENCH_MORE, DTI_BENCH_CANNOT_TELL };
/* Cannot tell when the interval touches 1 +- 1 %, or there is none. */
enum dti_bench_verdict dti_bench_judge(const struct dti_bench_figure *ratio);

#endif
