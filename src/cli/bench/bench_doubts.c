/* SPDX-License-Identifier: MIT
 *
 * The caveats printed below the figures of `bench`. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_page.h"
#include "dtinfo/clock.h"
#include "dtinfo/cpu.h"
#include "dtinfo/streaming.h"

enum { CELL = 256 };

void dti_bench_note_add(char text[BENCH_NOTE_SIZE], const char *format, ...)
{
    const size_t length = strlen(text);
    const char *const between = length > 0 && length + 2 < BENCH_NOTE_SIZE ? "; " : "";
    va_list args;
    va_start(args, format);
    memcpy(text + length, between, strlen(between) + 1);
    (void)vsnprintf(text + length + strlen(between), BENCH_NOTE_SIZE - length - strlen(between),
                    format, args);
    va_end(args);
}

static void add_place(char text[BENCH_NOTE_SIZE], const struct bench_shown *done,
                      enum dti_bench_place place)
{
    const struct dti_bench *const bench = &done->result->table->bench;
    if (place == DTI_BENCH_CROWDED)
        dti_bench_note_add(text, "more threads than CPUs, so threads share CPUs");
    if (place == DTI_BENCH_CROWDED || place == DTI_BENCH_ALONE)
        return;
    size_t rounds = 0;
    for (size_t i = 0; i < bench->rounds; i++)
        rounds += bench->places[i] == place;
    dti_bench_note_add(text, "threads %s in %zu of %zu rounds",
                       place == DTI_BENCH_NEAR  ? "near each other (one cache)"
                       : place == DTI_BENCH_FAR ? "far from each other"
                                                : "moved",
                       rounds, bench->rounds);
}

/* The share of dropped samples. */
static double discarded_share(const struct dti_bench *bench)
{
    double discarded = 0;
    for (size_t i = 0; i < bench->candidates; i++)
        discarded += (double)bench->discarded[i];
    const double kept = (double)bench->rounds * (double)bench->candidates;
    return kept > 0 ? discarded / (kept + discarded) : 0;
}

enum dti_style dti_bench_doubts_of(char text[BENCH_NOTE_SIZE], const struct bench_shown *done,
                                   size_t at, enum dti_bench_place place)
{
    static const double noisy = 0.25;
    char width[DTI_TEXT_SIZE];
    const struct dti_bench *const bench = &done->result->table->bench;
    struct dti_bench_figure time;
    dti_bench_time(&time, bench, at, place);
    add_place(text, done, place);
    const double discarded = discarded_share(bench);
    if (bench->disturbed)
        dti_bench_note_add(text, "disturbed: other programs took the CPU in nearly every sample");
    else if (discarded > noisy)
        dti_bench_note_add(text, "noisy machine: %s of the samples were disturbed and dropped",
                           dti_bench_percent(width, discarded, 0));
    const double half = time.high - time.median > time.median - time.low ? time.high - time.median
                                                                         : time.median - time.low;
    if (bench->stop != DTI_BENCH_CONVERGED && time.median > 0)
        dti_bench_note_add(
            text, "%s after %zu round%s%s%s",
            bench->stop == DTI_BENCH_TIME     ? "time limit"
            : bench->stop == DTI_BENCH_STEADY ? "no longer converging"
                                              : "stopped",
            bench->rounds, bench->rounds == 1 ? "" : "s",
            time.has_interval ? "; the median is accurate to +- " : ", too few for an interval",
            time.has_interval ? dti_bench_percent(width, half / time.median, 1) : "");
    return bench->disturbed || discarded > noisy || place == DTI_BENCH_CROWDED ? DTI_STYLE_WARN
                                                                               : DTI_STYLE_DIM;
}

static void put_doubt(const struct bench_job *job, enum dti_style style, const char *text)
{
    dti_put_line(job->cx, DTI_STYLE_PLAIN, 0, "%s", "");
    dti_bench_put_words(job->cx, style, 0, text, " ");
}

void dti_bench_put_doubts(const struct bench_job *job)
{
    static const double own_share = 1.5; /* of the load: this program's threads, and some more */
    char text[CELL], quoted[DTI_QUOTE_SIZE], load[DTI_TEXT_SIZE];
    struct dti_bench_host host;
    const size_t cpus = job->asked.setup.cpus;
    size_t threads = 1;
    if (job->cx->verbose) {
        (void)snprintf(text, sizeof text, "clock: steps of %llu ns, including the time to read it",
                       (unsigned long long)dti_clock_resolution());
        put_doubt(job, DTI_STYLE_DIM, text);
        (void)snprintf(text, sizeof text,
                       "cache: %zu of %zu KiB usable, measured; larger results: %s",
                       dti_usable_cache_bytes() >> 10, dti_last_cache_bytes() >> 10,
                       dti_streaming_for(UINT64_MAX)->words);
        put_doubt(job, DTI_STYLE_DIM, text);
    }
    if (job->cx->quiet)
        return;
    dti_bench_host_read(&host);
    for (size_t i = 0; i < job->asked.thread_count; i++)
        threads = job->asked.threads[i] > threads ? job->asked.threads[i] : threads;
    if (host.governor[0] != '\0' && strcmp(host.governor, "performance") != 0) {
        (void)snprintf(text, sizeof text,
                       "the frequency governor is %s: clock rates may change during a measurement; "
                       "'performance' keeps them high",
                       dti_quote(quoted, host.governor, strlen(host.governor)));
        put_doubt(job, DTI_STYLE_WARN, text);
    }
    if (host.load > (double)cpus * 0.5 && host.load > own_share * (double)threads) {
        (void)snprintf(text, sizeof text,
                       "the load average is %s on %zu CPU%s: other programs are running",
                       dti_bench_fixed(load, host.load, 2), cpus, cpus == 1 ? "" : "s");
        put_doubt(job, DTI_STYLE_WARN, text);
    }
}
