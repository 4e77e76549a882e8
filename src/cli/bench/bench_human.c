/* SPDX-License-Identifier: MIT
 *
 * The answers of `bench` as tables that grow during the measurement: casts; and computations and
 * copies. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_page.h"
#include "cli/shared/human.h"

enum { CELL = 256, SENTENCE = 4 * CELL };

/* Casts. */

/* A row of CAST_LEAST characters fits when the terminal width is unknown; wider parts are shown if
 * there is room. */
enum {
    CAST_LEVEL = 17,
    CAST_LEAST = 79,
    CAST_BAR = CAST_LEAST + BENCH_BAR_GAP + BENCH_BAR_COLUMN,
    CAST_STORES = CAST_BAR + 10,
    CAST_MAD = CAST_STORES + 8,
    CAST_INDENT = 13
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
    struct dti_line line = dti_command_context_line(job->cx);
    dti_line_end(&line);
    dti_line_print(&line, DTI_STYLE_BOLD, "%s -> %s", first->result->request->cast->src.name,
                   first->result->request->cast->dst.name);
    dti_line_end(&line);
    const int bar = job->cx->width >= CAST_BAR ? BENCH_BAR_GAP + BENCH_BAR_COLUMN : 0;
    dti_line_print(&line, DTI_STYLE_DIM, "  %9s  %7s  %-*s%s  %10s  %7s  %7s%*s  %8s%s", "size",
                   "threads", CAST_LEVEL, "level",
                   job->cx->width >= CAST_STORES ? "  stores  " : "", "ns/element", "GB/s",
                   "of copy", bar, "", "of shape", job->cx->width >= CAST_MAD ? "     MAD" : "");
    dti_line_end(&line);
}

/* The rate of a row as a share of the best row with a role; "-" if there is none. */
static const char *share_of(char text[DTI_TEXT_SIZE], const struct bench_shown *done, size_t row,
                            const char *role, enum dti_bench_place place, double *ret_share)
{
    struct dti_bench_figure ratio;
    const bool known = dti_bench_share(&ratio, done->result->table, row, role, place);
    *ret_share = known ? ratio.median : 0;
    return known ? dti_bench_percent(text, ratio.median, 0) : "-";
}

/* Compares a later cast with the first: "1.47 x (1.44 to 1.50)". */
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

/* A CPU level; or a device, with the copies to and from it if they are timed. */
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
    dti_line_print(line, DTI_STYLE_PLAIN, "%-*.40s", CAST_LEVEL, name);
    if (done->job->cx->width >= CAST_STORES)
        dti_line_text(line, row->where != DTI_BENCH_ON_CPU ? "          "
                            : row->stream                  ? "  streamed"
                                                           : "  cached  ");
    dti_line_print(line, DTI_STYLE_PLAIN, "  %10s  %7s  %7s",
                   dti_bench_three(element, time.median * 1e9 / (double)table->elements),
                   dti_bench_fixed(rate, bytes / time.median * 1e-9, 1),
                   share_of(copy, done, at, "copy", place, &share));
    if (done->job->cx->width >= CAST_BAR)
        dti_bench_put_bar(line, share, done->job->cx->ascii);
    dti_line_print(line, DTI_STYLE_PLAIN, "  %8s",
                   share_of(shape, done, at, "shape", place, &unused));
    if (done->job->cx->width >= CAST_MAD)
        dti_line_print(line, DTI_STYLE_PLAIN, "  %6s", dti_bench_mad(mad, &time));
}

/* -v: every candidate with its own time and its discarded samples. */
static void put_candidates(const struct bench_shown *done, enum dti_bench_place place)
{
    const struct dti_bench_table *const table = done->result->table;
    const struct dti_bench *const bench = &table->bench;
    struct dti_line line = dti_command_context_line(done->job->cx);
    char rate[DTI_TEXT_SIZE], mad[DTI_TEXT_SIZE], pages[DTI_TEXT_SIZE];
    char samples[BENCH_SAMPLES_SIZE];
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const row = &table->items[i];
        struct dti_bench_figure time;
        dti_bench_time(&time, bench, i, place);
        const double bytes = (double)(row->bytes_read + row->bytes_written);
        dti_line_to(&line, CAST_INDENT);
        dti_line_print(&line, DTI_STYLE_DIM, "%-5s %s%s", row->role, row->kernel,
                       row->loss ? " with its loss report" : "");
        dti_line_end(&line);
        dti_line_to(&line, CAST_INDENT + 6);
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
static char cast_mark(const struct bench_shown *done, size_t row, enum dti_bench_place place)
{
    const struct dti_bench_item *const item = &done->result->table->items[row];
    char text[BENCH_NOTE_SIZE] = "";
    enum dti_style style = DTI_STYLE_PLAIN;
    if (row > 0 && (item->where != DTI_BENCH_WHOLE || item->loss))
        style = compare(text, done->result->table, row, place);
    else if (row == 0 && !done->job->cx->quiet)
        style = dti_bench_caveats_of(text, done, row, place);
    return dti_bench_note(done->notes, style, text);
}

static void put_rows(const struct bench_shown *done, enum dti_bench_place place)
{
    char size[DTI_TEXT_SIZE];
    const struct dti_bench_table *const table = done->result->table;
    for (size_t i = 0; i < table->count && !table->items[i].limit; i++) {
        struct dti_line line = dti_command_context_line(done->job->cx);
        dti_line_print(&line, DTI_STYLE_PLAIN, "%c %9s  %7zu  ", cast_mark(done, i, place),
                       dti_bench_bytes(size, table->items[0].bytes_read), done->result->threads);
        put_figures(&line, done, i, place);
        dti_line_end(&line);
    }
    if (done->job->cx->verbose)
        put_candidates(done, place);
}

void dti_bench_human_result(const struct bench_shown *done)
{
    for (unsigned place = 0; place < DTI_BENCH_PLACES; place++) {
        if (dti_bench_tells(&done->result->table->bench, (enum dti_bench_place)place))
            put_rows(done, (enum dti_bench_place)place);
    }
}

/* Computations and copies. */

/* A row of COLUMNS_LEAST characters fits when the terminal width is unknown. */
enum {
    COLUMN_NAME = 13, /* of a dtype, or of a limit */
    COLUMN_ROLE = 16, /* of a copy, which has no operations */
    COLUMN_BOTH = 25, /* dtype and role, which leave less room for */
    COLUMN_ENGINE_SHORT = 14,
    COLUMN_ENGINE = 15, /* next to operations */
    COLUMN_ENGINE_LONG = 17,
    COLUMN_OPERATIONS = 10,
    COLUMNS_LEAST = 78,
    COLUMNS_BAR = COLUMNS_LEAST + BENCH_BAR_GAP + BENCH_BAR_COLUMN,
    COLUMNS_MAD = COLUMNS_BAR + 9,
    INDENT = 4
};

void dti_bench_human_table_begin(const struct bench_job *job)
{
    char text[2 * CELL], quoted[DTI_QUOTE_SIZE] = "";
    const struct dti_bench_setup *const setup = &job->asked.setup;
    if (setup->engine)
        (void)dti_quote(quoted, setup->engine, strlen(setup->engine));
    (void)snprintf(text, sizeof text, "bench %s   seed %llu   caches %s%s%s%s%s", setup->kind->name,
                   (unsigned long long)setup->seed, setup->cache,
                   setup->with_alloc ? "   including allocation of results" : "",
                   setup->engine ? "   engine " : "", quoted,
                   setup->a ? "   operands from files" : "");
    dti_bench_put_words(job->cx, DTI_STYLE_PLAIN, 0, text, "   ");
    if (job->cx->quiet)
        return;
    dti_bench_put_words(job->cx, DTI_STYLE_DIM, 0,
                        "GB/s: bytes read and written. of limit: share of the best rate measured "
                        "on this device, in operations or in bytes.",
                        " ");
    if (job->device_reason[0] != '\0')
        dti_bench_put_words(job->cx, DTI_STYLE_DIM, 0, job->device_reason, " ");
}

static bool per_element(const struct bench_shown *done)
{
    return done->result->setup->kind->size_is == DTI_BENCH_ELEMENTS;
}

struct columns {
    int name, engine, operations;
};

/* Copies have no operations; their column shows the kind of copy. */
static struct columns columns_of(const struct bench_shown *done)
{
    const struct dti_bench_table *const table = done->result->table;
    bool some = table->count == 0;
    for (size_t i = 0; i < table->count && !some; i++)
        some = table->items[i].operations > 0;
    if (some && done->result->setup->kind->size_is != DTI_BENCH_BYTES)
        return (struct columns){COLUMN_NAME, COLUMN_ENGINE, COLUMN_OPERATIONS};
    return per_element(done) ? (struct columns){COLUMN_BOTH, COLUMN_ENGINE_SHORT, 0}
                             : (struct columns){COLUMN_ROLE, COLUMN_ENGINE_LONG, 0};
}

/* "fp32", where nothing else is measured; "int8 quantize"; of limits "read fp32" */
static void put_name(char name[CELL], const struct bench_shown *done,
                     const struct dti_bench_item *item)
{
    const bool own = !item->limit && item->dtype[0] != '\0';
    const bool alone = own && strcmp(item->role, done->result->setup->kind->name) == 0;
    const char *const first = own ? item->dtype : item->role;
    const char *const second = alone ? "" : own ? item->role : item->dtype;
    (void)snprintf(name, CELL, "%s%s%s", first, second[0] == '\0' ? "" : " ", second);
}

static void put_heading(const struct bench_shown *done)
{
    const struct dti_command_context *const cx = done->job->cx;
    const struct columns columns = columns_of(done);
    struct dti_line line = dti_command_context_line(cx);
    dti_line_end(&line);
    if (done->result->request->gpu)
        dti_line_print(&line, DTI_STYLE_BOLD, "%s   %s", done->result->size, done->result->device);
    else
        dti_line_print(&line, DTI_STYLE_BOLD, "%s   %s   %zu thread%s   level %s",
                       done->result->size, done->result->device, done->result->threads,
                       done->result->threads == 1 ? "" : "s",
                       dti_level_name(done->result->request->level));
    dti_line_end(&line);
    const int bar = cx->width >= COLUMNS_BAR ? BENCH_BAR_GAP + BENCH_BAR_COLUMN : 0;
    dti_line_print(&line, DTI_STYLE_DIM, "  %-*s %-*s %10s %9s%*s  %-13s%*s%s", columns.name, "",
                   columns.engine, "engine", per_element(done) ? "ns/element" : "time", "GB/s",
                   columns.operations, columns.operations > 0 ? "GFLOP/s" : "", "of limit", bar, "",
                   cx->width >= COLUMNS_MAD ? "     MAD" : "");
    dti_line_end(&line);
}

/* "64 % of read" */
static double put_share(char text[CELL], const struct bench_shown *done, size_t at,
                        enum dti_bench_place place)
{
    char share[DTI_TEXT_SIZE];
    struct dti_bench_figure ratio;
    if (!dti_bench_of_limit(&ratio, done->result->table, at, place)) {
        memcpy(text, "-", 2);
        return 0;
    }
    dti_bench_percent(share, ratio.median, 0);
    (void)snprintf(text, CELL, "%5s %s", share,
                   done->result->table->items[done->result->table->items[at].limit_item].role);
    return ratio.median;
}

static void put_rate(char text[DTI_TEXT_SIZE], double amount, double seconds)
{
    if (amount > 0 && seconds > 0)
        (void)dti_bench_three(text, amount / seconds * 1e-9);
    else
        memcpy(text, "-", 2);
}

static void put_row(const struct bench_shown *done, size_t at, enum dti_bench_place place,
                    char mark)
{
    char share[CELL], name[CELL];
    char seconds[DTI_TEXT_SIZE], mad[DTI_TEXT_SIZE];
    char bytes[DTI_TEXT_SIZE], operations[DTI_TEXT_SIZE];
    const struct dti_command_context *const cx = done->job->cx;
    const struct dti_bench_item *const item = &done->result->table->items[at];
    const struct columns columns = columns_of(done);
    struct dti_bench_figure time;
    dti_bench_time(&time, &done->result->table->bench, at, place);
    const bool no_bytes = item->bytes_read + item->bytes_written == 0;
    if (time.samples == 0 || (per_element(done) && no_bytes))
        memcpy(seconds, "-", 2);
    else if (per_element(done))
        (void)dti_bench_three(seconds, time.median * 1e9 / (double)done->result->request->n);
    else
        (void)dti_bench_seconds(seconds, time.median);
    put_rate(bytes, (double)item->bytes_read + (double)item->bytes_written, time.median);
    put_rate(operations, item->operations, time.median);
    const double of_limit = put_share(share, done, at, place);
    put_name(name, done, item);
    /* for "vfmadd231ps zmm, registers alone" the instruction */
    const bool by_kernel = item->limit && item->kernel[0] != '\0' &&
                           (item->operations > 0 || done->result->request->gpu);
    const char *const engine = by_kernel ? item->kernel : item->engine;
    const int engine_length = by_kernel ? (int)strcspn(engine, ",") : 40;
    struct dti_line line = dti_command_context_line(cx);
    dti_line_print(&line, item->limit ? DTI_STYLE_DIM : DTI_STYLE_PLAIN,
                   "%c %-*.40s %-*.*s %10s %9s%*s  %-13s", mark, columns.name, name, columns.engine,
                   engine_length, engine, seconds, bytes, columns.operations,
                   columns.operations > 0 ? operations : "", share);
    if (cx->width >= COLUMNS_BAR)
        dti_bench_put_bar(&line, item->limit ? 0 : of_limit, cx->ascii);
    if (cx->width >= COLUMNS_MAD)
        dti_line_print(&line, DTI_STYLE_PLAIN, "  %6s", dti_bench_mad(mad, &time));
    dti_line_end(&line);
}

/* -v: the function, the interval, the samples and how many were discarded. */
static void put_details(const struct bench_shown *done, size_t at, enum dti_bench_place place)
{
    char text[SENTENCE], low[DTI_TEXT_SIZE], high[DTI_TEXT_SIZE], samples[BENCH_SAMPLES_SIZE];
    const struct dti_bench_item *const item = &done->result->table->items[at];
    struct dti_bench_figure time;
    dti_bench_time(&time, &done->result->table->bench, at, place);
    const bool sure = time.has_interval;
    (void)snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", item->kernel,
                   item->kernel[0] == '\0' ? "" : "   ",
                   dti_bench_samples(samples, &done->result->table->bench, at, time.samples),
                   sure ? "   " : "", sure ? dti_bench_seconds(low, time.low) : "",
                   sure ? " to " : "", sure ? dti_bench_seconds(high, time.high) : "",
                   item->from_events ? "   by the device's clock" : "");
    dti_bench_put_words(done->job->cx, DTI_STYLE_DIM, INDENT, text, "   ");
}

static const char *digits(char text[DTI_TEXT_SIZE], double number, unsigned count)
{
    struct dti_value value;
    dti_double_value(number, &value);
    (void)dti_spell_digits(text, &value, count);
    return text;
}

/* The error of a sum compared with the exact sum rounded to fp64. */
static void sum_words(char text[SENTENCE], const struct bench_shown *done,
                      const struct dti_bench_item *item)
{
    char got[DTI_TEXT_SIZE], exact[DTI_TEXT_SIZE], error[DTI_TEXT_SIZE], relative[DTI_TEXT_SIZE];
    enum { DIGITS = 10 };
    const bool product = done->result->setup->kind->size_is == DTI_BENCH_PRODUCT;
    const char *const which = product ? "at worst " : "";
    (void)digits(got, item->sum, DIGITS);
    if (item->error == 0 && strcmp(item->dtype, "int8") == 0) {
        (void)snprintf(text, SENTENCE, "all checked elements are exact");
        return;
    }
    if (item->error == 0) {
        (void)snprintf(text, SENTENCE, "%s%s, exact to the last place of fp64", which, got);
        return;
    }
    (void)digits(exact, item->exact, DIGITS);
    const bool alike = strcmp(got, exact) == 0;
    (void)snprintf(text, SENTENCE, "%s%s%s%s%s off by %s (%s of %s)", which, got,
                   alike ? "" : " instead of ", alike ? "" : exact, alike ? "," : ":",
                   digits(error, item->error, 3), digits(relative, item->relative_error, 3),
                   product ? "the sum of magnitudes" : "it");
}

/* The error including that of rounding or quantizing the operands. False if it is the same. */
static bool total_words(char text[SENTENCE], const struct dti_bench_item *item)
{
    const struct dti_bench_total *const total = &item->total;
    char a[DTI_TEXT_SIZE], b[DTI_TEXT_SIZE], c[DTI_TEXT_SIZE], d[DTI_TEXT_SIZE];
    size_t length = 0;
    enum { DIGITS = 10 };
    if (total->elements == 0 || (total->elements == 1 && total->exact == item->exact))
        return false;
    if (item->scales[0] > 0)
        length = (size_t)snprintf(text, SENTENCE, "scales %s and %s; ",
                                  digits(a, (double)item->scales[0], 3),
                                  digits(b, (double)item->scales[1], 3));
    if (total->elements == 1)
        (void)snprintf(text + length, SENTENCE - length,
                       "overall %s instead of %s, relative error %s", digits(a, total->got, DIGITS),
                       digits(b, total->exact, DIGITS), digits(c, total->relative, 3));
    else
        (void)snprintf(text + length, SENTENCE - length,
                       "overall relative error %s, SQNR %s dB, mean abs error %s, max abs error %s",
                       digits(a, total->relative, 3),
                       isfinite(total->sqnr) ? digits(b, total->sqnr, 4) : "-",
                       digits(c, total->mean, 3), digits(d, total->largest, 3));
    return true;
}

/* The arithmetic and its error. */
static void add_errors(char text[BENCH_NOTE_SIZE], const struct bench_shown *done,
                       const struct dti_bench_item *item)
{
    char sum[SENTENCE], ulp[DTI_TEXT_SIZE];
    if (item->arithmetic[0] != '\0')
        dti_bench_note_add(text, "computed in %s", item->arithmetic);
    if (item->has_ulp)
        dti_bench_note_add(text, "max error %s ulp", dti_bench_three(ulp, item->max_ulp));
    if (item->has_sum) {
        sum_words(sum, done, item);
        dti_bench_note_add(text, "%s", sum);
    }
    if (total_words(sum, item))
        dti_bench_note_add(text, "%s", sum);
}

/* Whether some row uses a limit. */
static bool is_shown(const struct bench_shown *done, size_t at)
{
    const struct dti_bench_table *const table = done->result->table;
    bool limit_item = !table->items[at].limit || done->job->cx->verbose;
    for (size_t i = 0; i < table->count && !limit_item; i++)
        limit_item = table->items[i].limit_item == at;
    return limit_item;
}

/* Whether something is faster than a limit. */
static bool is_exceeded(const struct bench_shown *done, enum dti_bench_place place)
{
    static const double beyond_rounding = 1.05;
    struct dti_bench_figure ratio;
    bool exceeded = false;
    for (size_t i = 0; i < done->result->table->count && !exceeded; i++)
        exceeded = dti_bench_of_limit(&ratio, done->result->table, i, place) &&
                   ratio.median > beyond_rounding;
    return exceeded;
}

/* The mark of a row's footnote, which is printed below the table. */
static char mark_of(const struct bench_shown *done, size_t row, bool first,
                    enum dti_bench_place place)
{
    char text[BENCH_NOTE_SIZE] = "";
    enum dti_style style = DTI_STYLE_DIM;
    if (done->job->cx->quiet)
        return ' ';
    add_errors(text, done, &done->result->table->items[row]);
    if (first)
        style = dti_bench_caveats_of(text, done, row, place);
    if (first && is_exceeded(done, place)) {
        style = DTI_STYLE_WARN;
        dti_bench_note_add(text, "more than 100 %%: other programs or the clock slowed down the "
                                 "limit");
    }
    return dti_bench_note(done->notes, style, text);
}

static void put_place(const struct bench_shown *done, enum dti_bench_place place)
{
    const struct dti_bench_table *const table = done->result->table;
    bool first = true;
    for (size_t limits = 0; limits < 2; limits++) {
        for (size_t i = 0; i < table->count; i++) {
            if (table->items[i].limit != (limits == 1) || !is_shown(done, i))
                continue;
            put_row(done, i, place, mark_of(done, i, first, place));
            first = false;
            if (done->job->cx->verbose)
                put_details(done, i, place);
        }
    }
}

void dti_bench_human_table(const struct bench_shown *done)
{
    char text[CELL], pages[DTI_TEXT_SIZE] = "no";
    const struct dti_bench_table *const table = done->result->table;
    const struct dti_command_context *const cx = done->job->cx;
    put_heading(done);
    for (unsigned i = 0; i < DTI_BENCH_PLACES && table->count > 0; i++) {
        if (dti_bench_tells(&done->result->table->bench, (enum dti_bench_place)i))
            put_place(done, (enum dti_bench_place)i);
    }
    dti_bench_notes_put(done->notes, cx);
    for (size_t i = 0; i < table->note_count; i++)
        dti_bench_put_words(cx, DTI_STYLE_DIM, 2, table->notes[i], " ");
    if (!cx->verbose || table->memory == 0 || done->result->request->gpu)
        return;
    dti_bench_percent(pages, (double)table->huge_page_bytes / (double)table->memory, 0);
    (void)snprintf(text, sizeof text, "%zu set%s of buffers, %s on huge pages, verified",
                   table->sets, table->sets == 1 ? "" : "s", pages);
    dti_bench_put_words(cx, DTI_STYLE_DIM, 2, text, " ");
}
