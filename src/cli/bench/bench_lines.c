/* SPDX-License-Identifier: MIT
 *
 * Lines of `bench` for people, and the doubts that stand below figures. */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_job.h"

enum { CELL = 256 };

struct dti_line dti_bench_line(const struct dti_context *cx)
{
    return (struct dti_line){.out = cx->out, .colour = cx->colour};
}

void dti_bench_put_line(const struct dti_context *cx, enum dti_style style, const char *text)
{
    struct dti_line line = dti_bench_line(cx);
    dti_line_put(&line, style, text);
    dti_line_end(&line);
}

static void put_indented(const struct dti_context *cx, enum dti_style style, size_t indent,
                         const char *text)
{
    struct dti_line line = dti_bench_line(cx);
    if (indent > 0)
        dti_line_to(&line, indent);
    dti_line_put(&line, style, text);
    dti_line_end(&line);
}

void dti_bench_put_words(const struct dti_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between)
{
    char line[CELL];
    const size_t gap = strlen(between), wide = cx->width < CELL ? (size_t)cx->width : CELL - 1;
    const size_t width = wide > indent ? wide - indent : 1;
    while (text[0] != '\0') {
        size_t used = 0;
        do {
            const char *const end = strstr(text + used + (used > 0 ? gap : 0), between);
            const size_t next = end ? (size_t)(end - text) : strlen(text);
            if (next > width && used > 0)
                break;
            used = next;
        } while (text[used] != '\0');
        (void)snprintf(line, sizeof line, "%.*s", (int)used, text);
        put_indented(cx, style, indent, line);
        text += used;
        text += text[0] != '\0' ? gap : 0;
    }
}

void dti_bench_percent(char text[DTI_TEXT_SIZE], double share, unsigned decimals)
{
    (void)dti_bench_fixed(text, share * 100, decimals);
    (void)snprintf(text + strlen(text), DTI_TEXT_SIZE - strlen(text), " %%");
}

static void put_place(const struct bench_done *done, size_t indent, enum dti_bench_place place)
{
    char text[CELL];
    const struct dti_bench *const bench = done->bench;
    if (place == DTI_BENCH_CROWDED)
        put_indented(done->job->cx, DTI_STYLE_WARN, indent,
                     "more threads than CPUs, which take turns");
    if (place == DTI_BENCH_CROWDED || place == DTI_BENCH_ALONE)
        return;
    size_t rounds = 0;
    for (size_t i = 0; i < bench->rounds; i++)
        rounds += bench->places[i] == place;
    (void)snprintf(text, sizeof text, "threads %s in %zu of %zu rounds",
                   place == DTI_BENCH_NEAR  ? "near each other (one cache)"
                   : place == DTI_BENCH_FAR ? "far from each other"
                                            : "moved",
                   rounds, bench->rounds);
    put_indented(done->job->cx, DTI_STYLE_DIM, indent, text);
}

/* Samples that were dropped, of all that were taken. */
static double discarded_share(const struct dti_bench *bench)
{
    double discarded = 0;
    for (size_t i = 0; i < bench->candidates; i++)
        discarded += (double)bench->discarded[i];
    const double kept = (double)bench->rounds * (double)bench->candidates;
    return kept > 0 ? discarded / (kept + discarded) : 0;
}

void dti_bench_put_notes(const struct bench_done *done, size_t at, size_t indent,
                         enum dti_bench_place place)
{
    static const double noisy = 0.25;
    char text[CELL], width[DTI_TEXT_SIZE];
    const struct dti_bench *const bench = done->bench;
    struct dti_bench_figure time;
    dti_bench_time(&time, bench, at, place);
    put_place(done, indent, place);
    const double discarded = discarded_share(bench);
    if (bench->disturbed) {
        put_indented(done->job->cx, DTI_STYLE_WARN, indent,
                     "disturbed: other programs took the CPU in nearly every sample");
    } else if (discarded > noisy) {
        dti_bench_percent(width, discarded, 0);
        (void)snprintf(text, sizeof text,
                       "noisy machine: %s of the samples were disturbed and dropped", width);
        put_indented(done->job->cx, DTI_STYLE_WARN, indent, text);
    }
    const double half = time.high - time.median > time.median - time.low ? time.high - time.median
                                                                         : time.median - time.low;
    if (bench->stop != DTI_BENCH_CONVERGED && time.median > 0) {
        dti_bench_percent(width, half / time.median, 1);
        (void)snprintf(text, sizeof text, "%s after %zu round%s%s%s",
                       bench->stop == DTI_BENCH_TIME     ? "time limit"
                       : bench->stop == DTI_BENCH_STEADY ? "no longer converging"
                                                         : "stopped",
                       bench->rounds, bench->rounds == 1 ? "" : "s",
                       time.has_interval ? "; the median is known to +- " : "",
                       time.has_interval ? width : ", too few for an interval");
        put_indented(done->job->cx, DTI_STYLE_DIM, indent, text);
    }
}
