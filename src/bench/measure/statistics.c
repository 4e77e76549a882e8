/* SPDX-License-Identifier: MIT
 *
 * Medians, their intervals, and ratios within rounds. The interval uses order statistics, which
 * assume nothing about the distribution of times. But they treat samples as independent, which
 * is wrong on a machine whose clock, caches and neighbours change from second to second: if the
 * medians of the parts of a measurement differ by more, their spread is the interval. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/bench.h"

enum { MAD_SAMPLES = 3, PARTS = 6 };

static int compare_doubles(const void *a_, const void *b_)
{
    const double *const a = a_, *const b = b_;
    return (*a > *b) - (*a < *b);
}

static double median_of_sorted(const double *sorted, size_t count)
{
    const size_t half = count / 2;
    return count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/* The largest rank r, counted from 1, such that the median lies below the r-th smallest of n
 * samples with a probability of at most 2.5 %: with B of n samples below it, binomial with p = 1/2,
 * P(B < r) <= 0.025. 0 if there is none. */
static size_t interval_rank(size_t n)
{
    double term = ldexp(1, -(int)n), sum = 0;
    size_t rank = 0;
    for (size_t k = 0; k < n; k++) {
        sum += term;
        if (sum > 0.025)
            break;
        rank = k + 1;
        term = term * (double)(n - k) / (double)(k + 1);
    }
    return rank;
}

void dti_bench_summarize(struct dti_bench_figure *ret, double *samples, size_t count)
{
    *ret = (struct dti_bench_figure){.samples = count};
    if (count == 0)
        return;
    qsort(samples, count, sizeof *samples, compare_doubles);
    ret->median = median_of_sorted(samples, count);
    ret->minimum = samples[0];
    const size_t rank = interval_rank(count);
    ret->has_interval = rank > 0;
    ret->low = samples[rank > 0 ? rank - 1 : 0];
    ret->high = samples[rank > 0 ? count - rank : count - 1];
    for (size_t i = 0; i < count; i++)
        samples[i] = fabs(samples[i] - ret->median);
    qsort(samples, count, sizeof *samples, compare_doubles);
    ret->has_mad = count >= MAD_SAMPLES;
    ret->mad = ret->median > 0 ? median_of_sorted(samples, count) / ret->median : 0;
}

/* A candidate's sample in a round; 0 if it has no valid one. */
static double sample_of(const struct dti_bench *bench, size_t round, size_t candidate,
                        enum dti_bench_place place)
{
    const double seconds = bench->seconds[round * bench->candidates + candidate];
    if (bench->places[round] != place || seconds == 0)
        return 0;
    if (seconds < 0)
        return bench->disturbed ? -seconds : 0;
    return seconds;
}

/* Summarizes samples in order of time. Split into PARTS consecutive parts, the medians of which
 * are independent, the true median lies between the smallest and largest part median with a
 * probability of 97 %. If disturbed samples count, each sample is its own part. */
static void summarize_in_order(struct dti_bench_figure *ret, double *samples, size_t count,
                               size_t parts)
{
    double part[DTI_BENCH_ROUNDS_MAX / PARTS + 1], low = 0, high = 0;
    for (size_t i = 0; i < parts && count >= parts; i++) {
        const size_t first = count * i / parts, size = count * (i + 1) / parts - first;
        memcpy(part, samples + first, size * sizeof *part);
        qsort(part, size, sizeof *part, compare_doubles);
        const double median = median_of_sorted(part, size);
        low = i == 0 || median < low ? median : low;
        high = i == 0 || median > high ? median : high;
    }
    dti_bench_summarize(ret, samples, count);
    if (!ret->has_interval)
        return;
    ret->low = low < ret->low ? low : ret->low;
    ret->high = high > ret->high ? high : ret->high;
}

static void find_ratio(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t over,
                       size_t under, enum dti_bench_place place, bool is_whole)
{
    double samples[DTI_BENCH_ROUNDS_MAX];
    size_t count = 0;
    for (size_t round = 0; round < bench->rounds; round++) {
        const double a = sample_of(bench, round, over, place);
        const double b = under == SIZE_MAX ? 1 : sample_of(bench, round, under, place);
        if (a > 0 && b > 0)
            samples[count++] = a / b;
    }
    summarize_in_order(ret, samples, count, is_whole ? count : PARTS);
}

void dti_bench_ratio(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t over,
                     size_t under, enum dti_bench_place place)
{
    find_ratio(ret, bench, over, under, place, false);
}

void dti_bench_time(struct dti_bench_figure *ret, const struct dti_bench *bench, size_t candidate,
                    enum dti_bench_place place)
{
    /* the share that other programs take will differ in the next run */
    find_ratio(ret, bench, candidate, SIZE_MAX, place, bench->disturbed);
    if (!ret->has_interval)
        return;
    const double more = DTI_BENCH_BETWEEN_FACTOR - 1, floor = DTI_BENCH_BETWEEN * ret->median;
    ret->low -= more * (ret->median - ret->low) + floor;
    ret->high += more * (ret->high - ret->median) + floor;
    ret->low = ret->low > 0 ? ret->low : 0;
}

enum dti_bench_verdict dti_bench_judge(const struct dti_bench_figure *ratio)
{
    if (ratio->has_interval && ratio->high < 0.99)
        return DTI_BENCH_LESS;
    if (ratio->has_interval && ratio->low > 1.01)
        return DTI_BENCH_MORE;
    return DTI_BENCH_CANNOT_TELL;
}

enum dti_bench_place dti_bench_main_place(const struct dti_bench *bench)
{
    size_t rounds[DTI_BENCH_PLACES] = {0};
    enum dti_bench_place most = DTI_BENCH_ALONE;
    for (size_t round = 0; round < bench->rounds; round++)
        rounds[bench->places[round]]++;
    for (unsigned place = 0; place < DTI_BENCH_PLACES; place++) {
        if (rounds[place] > rounds[most])
            most = (enum dti_bench_place)place;
    }
    return most;
}

const char *dti_bench_place_name(size_t place)
{
    static const char *const names[] = {
        [DTI_BENCH_ALONE] = "alone", [DTI_BENCH_NEAR] = "near",       [DTI_BENCH_FAR] = "far",
        [DTI_BENCH_MOVED] = "moved", [DTI_BENCH_CROWDED] = "crowded",
    };
    return place < sizeof names / sizeof *names ? names[place] : NULL;
}

const char *dti_bench_stop_name(size_t stop)
{
    static const char *const names[] = {
        [DTI_BENCH_CONVERGED] = "converged",
        [DTI_BENCH_STEADY] = "steady",
        [DTI_BENCH_TIME] = "time",
        [DTI_BENCH_ROUNDS] = "rounds",
    };
    return stop < sizeof names / sizeof *names ? names[stop] : NULL;
}
