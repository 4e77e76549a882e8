/* SPDX-License-Identifier: MIT
 *
 * The answer of `bench cast` as a table that grows while it is measured. */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "cli/shared/choices.h"
#include "dtinfo/clock.h"
#include "dtinfo/table.h"

/* A row of COLUMNS_LEAST characters fits where nothing is known of the terminal; what makes it
 * wider is shown where there is room. */
enum {
    COLUMN_LEVEL = 17,
    COLUMNS_LEAST = 79,
    COLUMNS_STORES = COLUMNS_LEAST + 10,
    COLUMNS_MAD = COLUMNS_STORES + 8,
    COLUMNS_BAR = COLUMNS_MAD + 2 + BENCH_BAR_CELLS + BENCH_BAR_CELLS / 4,
    INDENT = 13,
    CELL = 256
};

static bool has_stores(const struct dti_context *cx)
{
    return cx->width >= COLUMNS_STORES;
}

static bool has_mad(const struct dti_context *cx)
{
    return cx->width >= COLUMNS_MAD;
}

void dti_bench_human_begin(const struct bench_job *job)
{
    char text[CELL];
    const struct bench_args *const args = job->args;
    (void)snprintf(text, sizeof text,
                   "level %s   data %s, seed %llu   caches %s   round %s   "
                   "overflow %s",
                   dti_level_name(job->levels[0]),
                   dti_choice_name(dti_choice_bench_data, args->data),
                   (unsigned long long)dti_bench_seed(job),
                   dti_choice_name(dti_choice_bench_cache, args->cache),
                   dti_choice_name(dti_choice_round, args->round),
                   dti_choice_name(dti_choice_overflow, args->overflow));
    dti_bench_put_words(job->cx, DTI_STYLE_PLAIN, 0, text, "   ");
    if (job->cx->quiet)
        return;
    dti_bench_put_words(
        job->cx, DTI_STYLE_DIM, 0,
        "GB/s: bytes read and written. of copy: rate beside the best copy of as many bytes in "
        "the same rounds. of shape: beside a kernel that reads and writes as much and "
        "computes nothing.",
        " ");
    for (size_t i = 0; i < job->device_count; i++) {
        if (!job->devices[i].runner)
            continue;
        dti_bench_put_words(job->cx, DTI_STYLE_DIM, 0,
                            "On a device: in its memory and by its clock, beside a copy within "
                            "it. + copies: from pinned memory of the host to pinned memory, "
                            "beside copies there and back at the same time.",
                            " ");
        return;
    }
}

void dti_bench_human_pair(const struct bench_job *job, const struct bench_pair *pair)
{
    char text[CELL];
    struct dti_line line = dti_bench_line(job->cx);
    dti_line_end(&line);
    (void)snprintf(text, sizeof text, "%s -> %s", pair->src.name, pair->dst.name);
    line = dti_bench_line(job->cx);
    dti_line_put(&line, DTI_STYLE_BOLD, text);
    dti_line_end(&line);
    (void)snprintf(text, sizeof text, "  %9s  %7s  %-*s%s  %10s  %7s  %7s  %8s%s", "size",
                   "threads", COLUMN_LEVEL, "level", has_stores(job->cx) ? "  stores  " : "",
                   "ns/element", "GB/s", "of copy", "of shape", has_mad(job->cx) ? "     MAD" : "");
    dti_bench_put_line(job->cx, DTI_STYLE_DIM, text);
}

static void put_mad(char text[DTI_TEXT_SIZE], const struct dti_bench_figure *time)
{
    if (time->has_mad)
        dti_bench_percent(text, time->mad, 1);
    else
        memcpy(text, "-", 2);
}

/* The rate of a row beside the best row of a role, "-" when there is none. */
static double put_share(char text[DTI_TEXT_SIZE], const struct dti_bench_cast_result *result,
                        size_t row, enum dti_bench_role role, enum dti_bench_place place)
{
    struct dti_bench_figure ratio = {0};
    const size_t best = dti_bench_cast_best(result, role, result->rows[row].where, place);
    if (best < result->row_count)
        dti_bench_ratio(&ratio, &result->bench, best, row, place);
    if (ratio.samples == 0) {
        memcpy(text, "-", 2);
        return 0;
    }
    dti_bench_percent(text, ratio.median, 0);
    return ratio.median;
}

/* How a further cast compares with the first: "1.47 x (1.44 to 1.50)". */
static void compare(char text[CELL], enum dti_style *ret_style,
                    const struct dti_bench_cast_result *result, size_t row,
                    enum dti_bench_place place)
{
    char median[DTI_TEXT_SIZE], low[DTI_TEXT_SIZE], high[DTI_TEXT_SIZE];
    struct dti_bench_figure ratio;
    dti_bench_ratio(&ratio, &result->bench, row, 0, place);
    (void)dti_bench_fixed(median, ratio.median, 3);
    (void)dti_bench_fixed(low, ratio.low, 3);
    (void)dti_bench_fixed(high, ratio.high, 3);
    if (!ratio.has_interval) {
        (void)snprintf(text, CELL, "%s x the time, in too few rounds to tell", median);
        *ret_style = DTI_STYLE_WARN;
        return;
    }
    const bool sure = dti_bench_judge(&ratio) != DTI_BENCH_CANNOT_TELL;
    (void)snprintf(text, CELL, "%s x the time (%s to %s)%s", median, low, high,
                   sure ? "" : ", cannot tell");
    *ret_style = sure ? DTI_STYLE_PLAIN : DTI_STYLE_WARN;
}

/* At the end of its row, or below. */
static void put_comparison(struct dti_line *line, const struct bench_done *done, size_t row,
                           enum dti_bench_place place)
{
    char text[CELL];
    enum dti_style style;
    compare(text, &style, done->result, row, place);
    if (line->column + 2 + strlen(text) > (size_t)done->job->cx->width) {
        dti_line_end(line);
        *line = dti_bench_line(done->job->cx);
        dti_line_to(line, INDENT + 9);
    } else {
        dti_line_put(line, DTI_STYLE_PLAIN, "  ");
    }
    dti_line_put(line, style, text);
}

/* A level of the CPU; or a device, with the copies to and from it where they count. */
static void row_name(char text[CELL], const struct bench_done *done,
                     const struct dti_bench_row *row)
{
    const bool own = row->where == DTI_BENCH_ON_CPU, whole = row->where == DTI_BENCH_WHOLE;
    const char *const name = own ? dti_level_name(row->level) : done->result->device;
    if (whole && row->loss)
        (void)snprintf(text, CELL, "  + copies, loss");
    else
        (void)snprintf(text, CELL, "%s%s%s", name, whole ? " + copies" : "",
                       row->loss ? " + loss" : "");
}

/* The figures that every row has. */
static void put_figures(struct dti_line *line, const struct bench_done *done, size_t at,
                        enum dti_bench_place place, double *ret_share)
{
    const struct dti_bench_cast_result *const result = done->result;
    const struct dti_bench_row *const row = &result->rows[at];
    char text[2 * CELL], name[CELL], copy[DTI_TEXT_SIZE], shape[DTI_TEXT_SIZE];
    char element[DTI_TEXT_SIZE], rate[DTI_TEXT_SIZE], mad[DTI_TEXT_SIZE];
    struct dti_bench_figure time;
    dti_bench_time(&time, &result->bench, at, place);
    const double bytes = (double)(row->bytes_read + row->bytes_written);
    row_name(name, done, row);
    *ret_share = put_share(copy, result, at, DTI_BENCH_COPY, place);
    (void)put_share(shape, result, at, DTI_BENCH_SHAPE, place);
    (void)dti_bench_three(element, time.median * 1e9 / (double)result->elements);
    (void)dti_bench_fixed(rate, bytes / time.median * 1e-9, 1);
    (void)snprintf(text, sizeof text, "%-*.40s", COLUMN_LEVEL, name);
    dti_line_put(line, DTI_STYLE_PLAIN, text);
    if (has_stores(done->job->cx))
        dti_line_put(line, DTI_STYLE_PLAIN,
                     row->where != DTI_BENCH_ON_CPU ? "          "
                     : row->stream                  ? "  streamed"
                                                    : "  cached  ");
    (void)snprintf(text, sizeof text, "  %10s  %7s  %7s  %8s", element, rate, copy, shape);
    dti_line_put(line, DTI_STYLE_PLAIN, text);
    put_mad(mad, &time);
    (void)snprintf(text, sizeof text, "  %6s", mad);
    if (has_mad(done->job->cx))
        dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static void put_bar(const struct dti_context *cx, struct dti_line *line, double share)
{
    char bar[BENCH_BAR_SIZE];
    if (share <= 0 || cx->width < COLUMNS_BAR)
        return;
    dti_line_put(line, DTI_STYLE_PLAIN, "  ");
    dti_line_put(line, share >= 0.8 ? DTI_STYLE_GOOD : DTI_STYLE_PLAIN,
                 dti_bench_bar(bar, share, dti_bench_utf8()));
}

/* -v: every candidate with its own time, and what was thrown away. */
static void put_details(const struct bench_done *done, enum dti_bench_place place)
{
    static const char *const roles[] = {
        [DTI_BENCH_CAST] = "cast", [DTI_BENCH_COPY] = "copy", [DTI_BENCH_SHAPE] = "shape"};
    const struct dti_bench_cast_result *const result = done->result;
    for (size_t i = 0; i < result->row_count; i++) {
        const struct dti_bench_row *const row = &result->rows[i];
        char text[CELL], kernel[DTI_PLAN_TEXT_SIZE + CELL], rate[DTI_TEXT_SIZE], mad[DTI_TEXT_SIZE];
        struct dti_bench_figure time;
        dti_bench_time(&time, &result->bench, i, place);
        const double bytes = (double)(row->bytes_read + row->bytes_written);
        (void)dti_bench_fixed(rate, time.median > 0 ? bytes / time.median * 1e-9 : 0, 1);
        put_mad(mad, &time);
        (void)snprintf(kernel, sizeof kernel, "%-5s %s%s", roles[row->role], row->kernel,
                       row->loss ? " with its loss report" : "");
        (void)snprintf(
            text, sizeof text, "%8s GB/s   MAD %s   %zu sample%s of %llu pass%s, %llu discarded",
            rate, mad, time.samples, time.samples == 1 ? "" : "s",
            (unsigned long long)result->bench.passes[i], result->bench.passes[i] == 1 ? "" : "es",
            (unsigned long long)result->bench.discarded[i]);
        struct dti_line line = dti_bench_line(done->job->cx);
        dti_line_to(&line, INDENT);
        dti_line_put(&line, DTI_STYLE_DIM, kernel);
        dti_line_end(&line);
        line = dti_bench_line(done->job->cx);
        dti_line_to(&line, INDENT + 6);
        dti_line_put(&line, DTI_STYLE_DIM, text);
        dti_line_end(&line);
    }
    char text[CELL], pages[DTI_TEXT_SIZE];
    dti_bench_percent(pages, (double)result->huge_page_bytes / (double)result->memory, 0);
    if (result->rows[0].where != DTI_BENCH_ON_CPU)
        (void)snprintf(pages, sizeof pages, "none");
    (void)snprintf(text, sizeof text,
                   "             %llu elements, %zu set%s of buffers, %s on huge pages, verified",
                   (unsigned long long)result->elements, result->sets, result->sets == 1 ? "" : "s",
                   pages);
    dti_bench_put_line(done->job->cx, DTI_STYLE_DIM, text);
}

static void put_rows(const struct bench_done *done, enum dti_bench_place place)
{
    char text[CELL], size[DTI_TEXT_SIZE];
    for (size_t i = 0; i < done->result->cast_count; i++) {
        double share;
        struct dti_line line = dti_bench_line(done->job->cx);
        (void)snprintf(text, sizeof text, "  %9s  %7zu  ",
                       dti_bench_bytes(size, done->result->bytes_read), done->threads);
        dti_line_put(&line, DTI_STYLE_PLAIN, text);
        put_figures(&line, done, i, place, &share);
        const struct dti_bench_row *const row = &done->result->rows[i];
        if (i == 0 || (row->where == DTI_BENCH_WHOLE && !row->loss))
            put_bar(done->job->cx, &line, share);
        else
            put_comparison(&line, done, i, place);
        dti_line_end(&line);
    }
    if (!done->job->cx->quiet)
        dti_bench_put_notes(done, 0, INDENT, place);
    if (done->job->cx->verbose)
        put_details(done, place);
}

void dti_bench_human_result(const struct bench_done *done)
{
    for (unsigned place = 0; place < DTI_BENCH_PLACES; place++) {
        if (dti_bench_tells(&done->result->bench, (enum dti_bench_place)place))
            put_rows(done, (enum dti_bench_place)place);
    }
}

void dti_bench_human_end(const struct bench_job *job)
{
    char doubts[BENCH_DOUBTS][BENCH_DOUBT_SIZE];
    const size_t count = job->cx->quiet ? 0 : dti_bench_host_doubts(doubts, job);
    if (job->cx->verbose) {
        char text[CELL];
        (void)snprintf(text, sizeof text, "clock: steps of %llu ns, its reading included",
                       (unsigned long long)dti_clock_resolution());
        dti_bench_put_line(job->cx, DTI_STYLE_PLAIN, "");
        dti_bench_put_words(job->cx, DTI_STYLE_DIM, 0, text, " ");
    }
    for (size_t i = 0; i < count; i++) {
        dti_bench_put_line(job->cx, DTI_STYLE_PLAIN, "");
        dti_bench_put_words(job->cx, DTI_STYLE_WARN, 0, doubts[i], " ");
    }
}
