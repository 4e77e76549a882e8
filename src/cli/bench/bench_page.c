/* SPDX-License-Identifier: MIT
 *
 * Shared by the pages of `bench`: sizes, figures and bars as people read them; footnotes of tables
 * (a row starts with a letter and its note is printed below, so that columns hold only numbers);
 * caveats on figures. */
#include "cli/bench/bench_page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu.h"
#include "kernels/streaming.h"
#include "report/picture.h"
#include "util/run/clock.h"

enum { CELL = 256 };

const char *dti_bench_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof *units && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu %s", (unsigned long long)bytes,
                   bytes == 1 && unit == 0 ? "byte" : units[unit]);
    return buffer;
}

const char *dti_bench_fixed(char buffer[DTI_TEXT_SIZE], double number, unsigned decimals)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    const double scaled = number * (double)power;
    if (!(scaled >= 0 && scaled < 1e18)) {
        (void)snprintf(buffer, DTI_TEXT_SIZE, "-");
        return buffer;
    }
    const uint64_t below = (uint64_t)scaled, units = below + (scaled - (double)below >= 0.5);
    if (decimals == 0)
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu", (unsigned long long)units);
    else
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu.%0*llu", (unsigned long long)(units / power),
                       (int)decimals, (unsigned long long)(units % power));
    return buffer;
}

const char *dti_bench_three(char buffer[DTI_TEXT_SIZE], double number)
{
    unsigned decimals = 2;
    double least = 0.9995, most = 9.995; /* of three digits with so many decimals */
    for (; decimals > 0 && number >= most; decimals--)
        most *= 10;
    for (; decimals < 9 && number > 0 && number < least; decimals++)
        least /= 10;
    return dti_bench_fixed(buffer, number, decimals);
}

const char *dti_bench_seconds(char buffer[DTI_TEXT_SIZE], double seconds)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
    size_t at = 0;
    while (at + 1 < sizeof units / sizeof *units && seconds >= 999.5 * units[at].unit)
        at++;
    (void)dti_bench_three(buffer, seconds / units[at].unit);
    (void)snprintf(buffer + strlen(buffer), DTI_TEXT_SIZE - strlen(buffer), " %s", units[at].name);
    return buffer;
}

const char *dti_bench_percent(char buffer[DTI_TEXT_SIZE], double share, unsigned decimals)
{
    (void)dti_bench_fixed(buffer, share * 100, decimals);
    (void)snprintf(buffer + strlen(buffer), DTI_TEXT_SIZE - strlen(buffer), " %%");
    return buffer;
}

const char *dti_bench_mad(char buffer[DTI_TEXT_SIZE], const struct dti_bench_figure *time)
{
    return time->has_mad ? dti_bench_percent(buffer, time->mad, 1) : "-";
}

const char *dti_bench_samples(char buffer[BENCH_SAMPLES_SIZE], const struct dti_bench *bench,
                              size_t at, size_t samples)
{
    (void)snprintf(buffer, BENCH_SAMPLES_SIZE, "%zu sample%s of %llu pass%s, %llu discarded",
                   samples, samples == 1 ? "" : "s", (unsigned long long)bench->passes[at],
                   bench->passes[at] == 1 ? "" : "es", (unsigned long long)bench->discarded[at]);
    return buffer;
}

void dti_bench_put_bar(struct dti_line *line, double share, bool ascii)
{
    const double most = (double)BENCH_BAR_COLUMN / BENCH_BAR_CELLS;
    const size_t end = line->column + line->owed + BENCH_BAR_GAP + BENCH_BAR_COLUMN;
    char bar[DTI_BAR_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%*s", BENCH_BAR_GAP, "");
    dti_line_put(line, share >= 0.8 ? DTI_STYLE_GOOD : DTI_STYLE_PLAIN,
                 dti_picture_bar(bar, share < most ? share : most, BENCH_BAR_CELLS, ascii));
    line->owed += end - line->column - line->owed;
}

void dti_bench_put_words(const struct dti_command_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between)
{
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
        dti_put_line(cx, style, indent, "%.*s", used < CELL ? (int)used : CELL - 1, text);
        text += used;
        text += text[0] != '\0' ? gap : 0;
    }
}

static char mark_at(size_t note)
{
    static const char marks[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return note < sizeof marks - 1 ? marks[note] : '*';
}

char dti_bench_note(struct bench_notes *notes, enum dti_style style, const char *text)
{
    const char first[] = {(char)style, '\0'};
    const char *at = notes->text.data;
    if (text[0] == '\0')
        return ' ';
    for (size_t i = 0; i < notes->count; i++) {
        if (strcmp(at + 1, text) == 0)
            return mark_at(i);
        at += strlen(at + 1) + 2;
    }
    dti_buffer_append(&notes->text, first, 1);
    dti_buffer_append(&notes->text, text, strlen(text) + 1);
    return notes->text.failed ? '*' : mark_at(notes->count++);
}

/* Wraps the note to the right of its mark. */
static void put_note(const struct dti_command_context *cx, char mark, const char *note)
{
    char *page = NULL;
    size_t length;
    FILE *const out = open_memstream(&page, &length);
    struct dti_line line = {.out = out, .colour = cx->colour};
    if (!out)
        return;
    dti_line_print(&line, DTI_STYLE_PLAIN, "%c ", mark);
    dti_line_put(&line, (enum dti_style)note[0], note + 1);
    dti_line_end(&line);
    if (fclose(out) == 0)
        (void)dti_fit_lines(cx->out, page, length, (size_t)cx->width);
    free(page);
}

void dti_bench_notes_put(struct bench_notes *notes, const struct dti_command_context *cx)
{
    const char *at = notes->text.data;
    for (size_t i = 0; i < notes->count; i++) {
        put_note(cx, mark_at(i), at);
        at += strlen(at + 1) + 2;
    }
    dti_buffer_clear(&notes->text);
    notes->count = 0;
}

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

enum dti_style dti_bench_caveats_of(char text[BENCH_NOTE_SIZE], const struct bench_shown *done,
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

static void put_caveat(const struct bench_job *job, enum dti_style style, const char *text)
{
    dti_put_line(job->cx, DTI_STYLE_PLAIN, 0, "%s", "");
    dti_bench_put_words(job->cx, style, 0, text, " ");
}

void dti_bench_put_caveats(const struct bench_job *job)
{
    static const double own_share =
        1.5; /* load attributed to this program's threads, with some margin */
    char text[CELL], quoted[DTI_QUOTE_SIZE], load[DTI_TEXT_SIZE];
    struct dti_bench_host host;
    const size_t cpus = job->asked.setup.cpus;
    size_t threads = 1;
    if (job->cx->verbose) {
        (void)snprintf(text, sizeof text, "clock: steps of %llu ns, including the time to read it",
                       (unsigned long long)dti_clock_resolution());
        put_caveat(job, DTI_STYLE_DIM, text);
        (void)snprintf(text, sizeof text,
                       "cache: %zu of %zu KiB usable, measured; larger results: %s",
                       dti_usable_cache_bytes() >> 10, dti_last_cache_bytes() >> 10,
                       dti_streaming_for(UINT64_MAX)->words);
        put_caveat(job, DTI_STYLE_DIM, text);
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
        put_caveat(job, DTI_STYLE_WARN, text);
    }
    if (host.load > (double)cpus * 0.5 && host.load > own_share * (double)threads) {
        (void)snprintf(text, sizeof text,
                       "the load average is %s on %zu CPU%s: other programs are running",
                       dti_bench_fixed(load, host.load, 2), cpus, cpus == 1 ? "" : "s");
        put_caveat(job, DTI_STYLE_WARN, text);
    }
}
