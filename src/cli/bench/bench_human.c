/* SPDX-License-Identifier: MIT
 *
 * The answer of `bench cast` as a table that grows during the measurement. */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_page.h"

/* A row of COLUMNS_LEAST characters fits where nothing is known of the terminal; what makes it
 * wider is shown where there is room. */
enum {
    COLUMN_LEVEL = 17,
    COLUMNS_LEAST = 79,
    COLUMNS_BAR = COLUMNS_LEAST + BENCH_BAR_GAP + BENCH_BAR_COLUMN,
    COLUMNS_STORES = COLUMNS_BAR + 10,
    COLUMNS_MAD = COLUMNS_STORES + 8,
    INDENT = 13,
    CELL = 256
};

void dti_bench_human_begin(const struct bench_job *job)
{
    char text[CELL];
    const struct dti_bench_setup *const setup = &job->asked.setup;
    (void)snprintf(text, sizeof text,
                   "level %s   data %s, seed %llu   caches %s   round %s   overflow %s",
                   dti_level_name(setup->level), setup->data, (unsigned long long)setup->seed,
                   setup->cache, setup->round, setup->overflow);
    dti_bench_put_words(job->cx, DTI_STYLE_PLAIN, 0, text, "   ");
    if (job->cx->quiet)
        return;
    dti_bench_put_words(job->cx, DTI_STYLE_DIM, 0,
                        "GB/s: bytes read and written. of copy: share of the rate of the best copy "
                        "of the same number of bytes. of shape: share of the rate of a kernel with "
                        "the same reads and writes and no arithmetic.",
                        " ");
    for (size_t i = 0; i < job->asked.device_count; i++) {
        if (!job->asked.devices[i].runner)
            continue;
        dti_bench_put_words(job->cx, DTI_STYLE_DIM, 0,
                            "On a device: in device memory, timed by its clock, compared with a "
                            "copy within it. + copies: from pinned host memory and back to it, "
                            "compared with simultaneous copies in both directions.",
                            " ");
        return;
    }
}

void dti_bench_human_pair(const struct bench_shown *first)
{
    const struct bench_job *const job = first->job;
    struct dti_line line = dti_context_line(job->cx);
    dti_line_end(&line);
    dti_line_print(&line, DTI_STYLE_BOLD, "%s -> %s", first->result->request->cast->src.name,
                   first->result->request->cast->dst.name);
    dti_line_end(&line);
    const int bar = job->cx->width >= COLUMNS_BAR ? BENCH_BAR_GAP + BENCH_BAR_COLUMN : 0;
    dti_line_print(&line, DTI_STYLE_DIM, "  %9s  %7s  %-*s%s  %10s  %7s  %7s%*s  %8s%s", "size",
                   "threads", COLUMN_LEVEL, "level",
                   job->cx->width >= COLUMNS_STORES ? "  stores  " : "", "ns/element", "GB/s",
                   "of copy", bar, "", "of shape", job->cx->width >= COLUMNS_MAD ? "     MAD" : "");
    dti_line_end(&line);
}

/* The rate of a row as a share of the best row of a role, "-" if there is none. */
static const char *share_of(char text[DTI_TEXT_SIZE], const struct bench_shown *done, size_t row,
                            const char *role, enum dti_bench_place place, double *ret_share)
{
    struct dti_bench_figure ratio;
    const bool known = dti_bench_share(&ratio, done->result->table, row, role, place);
    *ret_share = known ? ratio.median : 0;
    return known ? dti_bench_percent(text, ratio.median, 0) : "-";
}

/* How a further cast compares with the first: "1.47 x (1.44 to 1.50)". */
static enum dti_style compare(char text[CELL], const struct dti_bench_table *table, size_t row,
                              enum dti_bench_place place)
{
    char median[DTI_TEXT_SIZE], low[DTI_TEXT_SIZE], high[DTI_TEXT_SIZE];
    struct dti_bench_figure ratio;
    dti_bench_ratio(&ratio, &table->bench, row, 0, place);
    const bool sure = ratio.has_interval && dti_bench_judge(&ratio) != DTI_BENCH_CANNOT_TELL;
    (void)dti_bench_fixed(median, ratio.median, 3);
    if (ratio.has_interval)
        (void)snprintf(text, CELL, "%s x the time (%s to %s)%s", median,
                       dti_bench_fixed(low, ratio.low, 3), dti_bench_fixed(high, ratio.high, 3),
                       sure ? "" : ", cannot tell");
    else
        (void)snprintf(text, CELL, "%s x the time, in too few rounds to tell", median);
    return sure ? DTI_STYLE_PLAIN : DTI_STYLE_WARN;
}

/* A level of the CPU; or a device, with the copies to and from it where they count. */
static void row_name(char text[CELL], const struct bench_shown *done,
                     const struct dti_bench_item *row)
{
    const bool own = row->where == DTI_BENCH_ON_CPU, whole = row->where == DTI_BENCH_WHOLE;
    const char *const name = own ? dti_level_name(row->level) : done->result->device;
    if (whole && row->loss)
        (void)snprintf(text, CELL, "  + copies, loss");
    else
        (void)snprintf(text, CELL, "%s%s%s", name, whole ? " + copies" : "",
                       row->loss ? " + loss" : "");
}

/* The figures in every row. */
static void put_figures(struct dti_line *line, const struct bench_shown *done, size_t at,
                        enum dti_bench_place place)
{
    const struct dti_bench_table *const table = done->result->table;
    const struct dti_bench_item *const row = &table->items[at];
    char name[CELL], copy[DTI_TEXT_SIZE], shape[DTI_TEXT_SIZE];
    char element[DTI_TEXT_SIZE], rate[DTI_TEXT_SIZE], mad[DTI_TEXT_SIZE];
    double share, unused;
    struct dti_bench_figure time;
    dti_bench_time(&time, &table->bench, at, place);
    const double bytes = (double)(row->bytes_read + row->bytes_written);
    row_name(name, done, row);
    dti_line_print(line, DTI_STYLE_PLAIN, "%-*.40s", COLUMN_LEVEL, name);
    if (done->job->cx->width >= COLUMNS_STORES)
        dti_line_text(line, row->where != DTI_BENCH_ON_CPU ? "          "
                            : row->stream                  ? "  streamed"
                                                           : "  cached  ");
    dti_line_print(line, DTI_STYLE_PLAIN, "  %10s  %7s  %7s",
                   dti_bench_three(element, time.median * 1e9 / (double)table->elements),
                   dti_bench_fixed(rate, bytes / time.median * 1e-9, 1),
                   share_of(copy, done, at, "copy", place, &share));
    if (done->job->cx->width >= COLUMNS_BAR)
        dti_bench_put_bar(line, share, done->job->cx->ascii);
    dti_line_print(line, DTI_STYLE_PLAIN, "  %8s",
                   share_of(shape, done, at, "shape", place, &unused));
    if (done->job->cx->width >= COLUMNS_MAD)
        dti_line_print(line, DTI_STYLE_PLAIN, "  %6s", dti_bench_mad(mad, &time));
}

/* -v: every candidate with its own time and its discarded samples. */
static void put_details(const struct bench_shown *done, enum dti_bench_place place)
{
    const struct dti_bench_table *const table = done->result->table;
    const struct dti_bench *const bench = &table->bench;
    struct dti_line line = dti_context_line(done->job->cx);
    char rate[DTI_TEXT_SIZE], mad[DTI_TEXT_SIZE], pages[DTI_TEXT_SIZE];
    char samples[BENCH_SAMPLES_SIZE];
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const row = &table->items[i];
        struct dti_bench_figure time;
        dti_bench_time(&time, bench, i, place);
        const double bytes = (double)(row->bytes_read + row->bytes_written);
        dti_line_to(&line, INDENT);
        dti_line_print(&line, DTI_STYLE_DIM, "%-5s %s%s", row->role, row->kernel,
                       row->loss ? " with its loss report" : "");
        dti_line_end(&line);
        dti_line_to(&line, INDENT + 6);
        dti_line_print(&line, DTI_STYLE_DIM, "%8s GB/s   MAD %s   %s",
                       dti_bench_fixed(rate, time.median > 0 ? bytes / time.median * 1e-9 : 0, 1),
                       dti_bench_mad(mad, &time),
                       dti_bench_samples(samples, bench, i, time.samples));
        dti_line_end(&line);
    }
    dti_line_print(
        &line, DTI_STYLE_DIM,
        "             %llu elements, %zu set%s of buffers, %s on huge pages, verified",
        (unsigned long long)table->elements, table->sets, table->sets == 1 ? "" : "s",
        table->items[0].where != DTI_BENCH_ON_CPU
            ? "none"
            : dti_bench_percent(pages, (double)table->huge_page_bytes / (double)table->memory, 0));
    dti_line_end(&line);
}

/* The mark of a row's footnote, which is printed below the table. */
static char mark_of(const struct bench_shown *done, size_t row, enum dti_bench_place place)
{
    const struct dti_bench_item *const item = &done->result->table->items[row];
    char text[BENCH_NOTE_SIZE] = "";
    enum dti_style style = DTI_STYLE_PLAIN;
    if (row > 0 && (item->where != DTI_BENCH_WHOLE || item->loss))
        style = compare(text, done->result->table, row, place);
    else if (row == 0 && !done->job->cx->quiet)
        style = dti_bench_doubts_of(text, done, row, place);
    return dti_bench_note(done->notes, style, text);
}

static void put_rows(const struct bench_shown *done, enum dti_bench_place place)
{
    char size[DTI_TEXT_SIZE];
    const struct dti_bench_table *const table = done->result->table;
    for (size_t i = 0; i < table->count && !table->items[i].limit; i++) {
        struct dti_line line = dti_context_line(done->job->cx);
        dti_line_print(&line, DTI_STYLE_PLAIN, "%c %9s  %7zu  ", mark_of(done, i, place),
                       dti_bench_bytes(size, table->items[0].bytes_read), done->result->threads);
        put_figures(&line, done, i, place);
        dti_line_end(&line);
    }
    if (done->job->cx->verbose)
        put_details(done, place);
}

void dti_bench_human_result(const struct bench_shown *done)
{
    for (unsigned place = 0; place < DTI_BENCH_PLACES; place++) {
        if (dti_bench_tells(&done->result->table->bench, (enum dti_bench_place)place))
            put_rows(done, (enum dti_bench_place)place);
    }
}
