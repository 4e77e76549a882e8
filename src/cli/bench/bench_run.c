/* SPDX-License-Identifier: MIT
 *
 * Where results of `bench` go: a page for people, one JSON document, or one document per result;
 * and the comparison with another document. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "cli/bench/bench_page.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shell/command.h"
#include "cli/shell/standard.h"
#include "io/input.h"
#include "util/buffer.h"
#include "util/text/escape.h"

/* Casts of one run compared by their bytes: beyond the caches, memory is the limit, so a cast that
 * reads and writes less should not take longer. */

enum { CASTS_MAX = 64 };
struct bench_casts {
    struct bench_cast_seen seen[CASTS_MAX];
    size_t count;
};

static const double clearly = 1.1;

/* Whether a moves fewer bytes than b but is clearly slower. */
static bool is_slower(const struct bench_cast_seen *a, const struct bench_cast_seen *b)
{
    return a->threads == b->threads && a->place == b->place && a->src_width <= b->src_width &&
           a->dst_width <= b->dst_width &&
           a->src_width + a->dst_width < b->src_width + b->dst_width && a->low > b->high &&
           a->seconds > clearly * b->seconds;
}

bool dti_bench_cast_is_slow(const struct bench_cast_seen *seen, size_t count,
                            const struct bench_cast_seen *now, size_t *ret_other, bool *ret_now)
{
    bool found = false;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const bool slow = is_slower(now, &seen[i]);
        if (!slow && !is_slower(&seen[i], now))
            continue;
        const double ratio = slow ? now->seconds / seen[i].seconds : seen[i].seconds / now->seconds;
        if (ratio > most) {
            most = ratio;
            *ret_other = i;
            *ret_now = slow;
            found = true;
        }
    }
    return found;
}

static void tell(const struct dti_command_context *cx, const struct bench_cast_seen *narrow,
                 const struct bench_cast_seen *wide)
{
    char slow[DTI_TEXT_SIZE], fast[DTI_TEXT_SIZE];
    dti_warn(cx, "%s -> %s takes %s an element, more than %s -> %s (%s), which moves more bytes",
             narrow->src, narrow->dst, dti_bench_seconds(slow, narrow->seconds), wide->src,
             wide->dst, dti_bench_seconds(fast, wide->seconds));
}

/* Adds a finished measurement; warns if it reveals a slow cast. */
static void see_cast(struct bench_casts *casts, const struct dti_bench_result *result,
                     const struct dti_command_context *cx)
{
    const struct dti_bench_table *const table = result->table;
    const struct dti_bench_cast *const cast = result->request->cast;
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    const double elements = (double)table->elements;
    struct dti_bench_figure time;
    size_t other;
    bool now_is_slow;
    dti_bench_time(&time, &table->bench, 0, place);
    if (table->items[0].where != DTI_BENCH_ON_CPU || table->in_cache || table->bench.disturbed ||
        !time.has_interval || elements == 0 || casts->count == CASTS_MAX)
        return;
    struct bench_cast_seen *const now = &casts->seen[casts->count];
    *now = (struct bench_cast_seen){.src_width = cast->src.width,
                                    .dst_width = cast->dst.width,
                                    .threads = result->threads,
                                    .place = place,
                                    .seconds = time.median / elements,
                                    .low = time.low / elements,
                                    .high = time.high / elements};
    (void)snprintf(now->src, sizeof now->src, "%s", cast->src.name);
    (void)snprintf(now->dst, sizeof now->dst, "%s", cast->dst.name);
    if (dti_bench_cast_is_slow(casts->seen, casts->count, now, &other, &now_is_slow)) {
        const struct bench_cast_seen *const then = &casts->seen[other];
        tell(cx, now_is_slow ? now : then, now_is_slow ? then : now);
    }
    casts->count++;
}

/* --baseline and --compare: the other document is read before measuring and compared afterwards. */

enum { FILE_MAX = 64 << 20 };

static enum dti_status read_then(struct dti_bench_comparison *comparison,
                                 const struct dti_bench_setup *setup, struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    enum dti_status status = dti_input_open(&input, comparison->path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    dti_input_label(&input, label);
    status = dti_input_read_all(&input, FILE_MAX, "a document of 'bench'", &text, reterr);
    dti_input_close(&input);
    if (status == DTI_OK)
        status = dti_bench_records_read(&comparison->then, text.data, text.length,
                                        dti_bench_schema(setup), setup->kind->name, label, reterr);
    dti_buffer_free(&text);
    if (status == DTI_OK && comparison->then.count == 0)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s has no results", label);
    return status;
}

/* Comparing with another machine is allowed, but causes a warning. */
static bool is_other_machine(const struct dti_bench_records *then, const struct bench_job *job)
{
    struct dti_bench_host host;
    char model[DTI_QUOTE_SIZE], level[DTI_QUOTE_SIZE];
    const char *const here = dti_level_name(job->asked.setup.level);
    dti_bench_host_read(&host);
    host.model[DTI_BENCH_WORD - 1] = '\0'; /* truncated as in records */
    const bool other_model = then->model[0] != '\0' && strcmp(then->model, host.model) != 0;
    const bool other_level = then->level[0] != '\0' && strcmp(then->level, here) != 0;
    if (other_model)
        dti_warn(job->cx, "the other figures are from another machine, %s",
                 dti_quote(model, then->model, strlen(then->model)));
    if (other_level)
        dti_warn(job->cx, "the other figures are from CPU level %s, these from %s",
                 dti_quote(level, then->level, strlen(then->level)), here);
    return other_model || other_level;
}

/* Fails with DTI_BAD_INPUT; warns if the document is from another machine. */
static enum dti_status earlier_read(struct dti_bench_comparison *ret, const struct bench_job *job,
                                    struct dti_error *reterr)
{
    const struct bench_args *const args = job->args;
    ret->gate = args->baseline;
    ret->path = args->baseline ? args->baseline : args->compare;
    enum dti_status status = dti_bench_parse_regression(
        args->max_regression ? args->max_regression : "10%", &ret->allowed, reterr);
    if (status == DTI_OK)
        status = read_then(ret, &job->asked.setup, reterr);
    if (status == DTI_OK)
        ret->other_machine = is_other_machine(&ret->then, job);
    return status;
}

/* After measuring. With --baseline, DTI_ANSWER_NO if something became slower; DTI_BAD_INPUT if the
 * document has none of the measurements. */
static enum dti_status earlier_judge(struct dti_bench_comparison *comparison,
                                     const struct bench_job *job, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], first[DTI_QUOTE_SIZE];
    const struct dti_bench_outcome outcome = dti_bench_compare(comparison);
    const char *const label = comparison->then.rows[0].label;
    if (outcome.pairs == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s and this run have no measurement in common: its first result is %s",
                        dti_quote(quoted, comparison->path, strlen(comparison->path)),
                        dti_quote(first, label, strlen(label)));
    if (outcome.unknown > 0)
        dti_warn(job->cx,
                 "%zu of %zu results cannot be compared, because one of the runs has too few "
                 "samples; measure longer with --time",
                 outcome.unknown, outcome.pairs);
    return outcome.slower ? DTI_ANSWER_NO : DTI_OK;
}

static void put_verdict(struct dti_table *table, const struct dti_bench_comparison *comparison,
                        const struct dti_bench_figure *ratio)
{
    static const struct {
        const char *word;
        enum dti_style style;
    } verdicts[] = {[DTI_BENCH_LESS] = {"faster", DTI_STYLE_GOOD},
                    [DTI_BENCH_MORE] = {"slower", DTI_STYLE_WARN},
                    [DTI_BENCH_CANNOT_TELL] = {"cannot tell", DTI_STYLE_DIM}};
    const enum dti_bench_verdict verdict = dti_bench_judge(ratio);
    if (dti_bench_is_regression(comparison, ratio))
        dti_table_cell(table, DTI_STYLE_BAD, "too slow");
    else
        dti_table_cell(table, verdicts[verdict].style, verdicts[verdict].word);
}

static void put_row(struct dti_table *table, const struct dti_bench_comparison *comparison,
                    const struct dti_bench_record *now)
{
    char text[DTI_TEXT_SIZE], low[DTI_TEXT_SIZE];
    struct dti_bench_figure ratio;
    const struct dti_bench_record *const then = dti_bench_partner(comparison, now);
    dti_bench_compare_times(&ratio, &then->time, &now->time);
    dti_text_cell(table, dti_bench_seconds(text, then->time.median));
    dti_text_cell(table, dti_bench_seconds(text, now->time.median));
    dti_text_cell(table, dti_bench_fixed(text, ratio.median, 3));
    if (ratio.has_interval)
        dti_table_print(table, DTI_STYLE_PLAIN, "%s to %s", dti_bench_fixed(low, ratio.low, 3),
                        dti_bench_fixed(text, ratio.high, 3));
    else
        dti_text_cell(table, "-");
    put_verdict(table, comparison, &ratio);
    dti_text_cell(table, now->label);
}

enum { ALONE_MAX = 20 }; /* a document may have thousands of them */

static void put_alone(const struct dti_bench_records *records, const char *what,
                      const struct dti_command_context *cx)
{
    size_t alone = 0;
    struct dti_line line = dti_command_context_line(cx);
    for (size_t i = 0; i < records->count; i++) {
        if (records->rows[i].partner != SIZE_MAX || ++alone > ALONE_MAX)
            continue;
        struct dti_buffer text;
        dti_buffer_init(&text);
        dti_escape(&text, records->rows[i].label, strlen(records->rows[i].label));
        dti_line_put(&line, DTI_STYLE_DIM, what);
        dti_line_put(&line, DTI_STYLE_DIM, text.data);
        dti_line_end(&line);
        dti_buffer_free(&text);
    }
    if (alone > ALONE_MAX)
        dti_put_line(cx, DTI_STYLE_DIM, 0, "%s%zu more", what, alone - ALONE_MAX);
}

static void put_comparison(const struct dti_bench_comparison *comparison,
                           const struct dti_command_context *cx)
{
    dti_put_line(cx, DTI_STYLE_PLAIN, 0, "%s", "");
    struct dti_table *const table =
        dti_table_titled("before>|now>|ratio>|interval|verdict|measurement", "779589");
    for (size_t i = 0; i < comparison->now.count; i++) {
        if (comparison->now.rows[i].partner != SIZE_MAX)
            put_row(table, comparison, &comparison->now.rows[i]);
    }
    if (dti_put_table(cx, table, 0, NULL) != DTI_OK)
        dti_put_line(cx, DTI_STYLE_WARN, 0, "out of memory for the comparison");
    if (cx->quiet)
        return;
    put_alone(&comparison->now, "only in this run: ", cx);
    put_alone(&comparison->then, "only in the earlier run: ", cx);
}

/* The destinations of results. */
struct bench_job_run {
    const struct bench_job *job;
    bool compares; /* --baseline or --compare */
    struct bench_notes notes;
    struct bench_casts casts;
    struct dti_bench_comparison comparison;
};

static void begin_document(const struct bench_job *job)
{
    struct dti_bench_setup setup = job->asked.setup;
    dti_bench_host_read(&setup.host);
    dti_bench_begin(job->cx->json, &setup);
}

static enum dti_status end_document(const struct bench_job *job,
                                    const struct dti_bench_comparison *comparison,
                                    struct dti_error *reterr)
{
    dti_bench_end(job->cx->json, &job->asked.setup, comparison);
    return dti_document_write(job->cx->json, job->cx->out, reterr);
}

/* Adds its result at each reported place to the document and to the comparison. */
static enum dti_status put_places(struct bench_job_run *run, const struct dti_bench_result *done,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    struct dti_bench_result result = *done;
    for (unsigned i = 0; i < DTI_BENCH_PLACES && status == DTI_OK; i++) {
        result.place = (enum dti_bench_place)i;
        if (!dti_bench_tells(&result.table->bench, result.place))
            continue;
        if (run->job->cx->output != DTI_OUTPUT_HUMAN)
            dti_bench_put(run->job->cx->json, &result);
        if (run->compares)
            status = dti_bench_records_add(&run->comparison.now, &result, reterr);
    }
    return status;
}

static enum dti_status put_done(void *run_, const struct dti_bench_result *done,
                                struct dti_error *reterr)
{
    struct bench_job_run *const run = run_;
    const struct bench_job *const job = run->job;
    const struct bench_shown shown = {job, done, &run->notes};
    const struct dti_bench_table *const table = done->table;
    const uint64_t wanted = done->request->n;
    const bool casts = job->asked.setup.kind->casts;
    const uint64_t used = casts ? table->items[0].bytes_read : wanted;
    if (used != wanted)
        dti_warn(
            job->cx, "--size %llu is not a whole number of elements of %s; %llu bytes are used",
            (unsigned long long)wanted, done->request->cast->src.name, (unsigned long long)used);
    if (casts)
        see_cast(&run->casts, done, job->cx);
    if (job->cx->output == DTI_OUTPUT_HUMAN)
        (casts ? dti_bench_human_result : dti_bench_human_table)(&shown);
    if (job->cx->output == DTI_OUTPUT_JSONL)
        begin_document(job);
    enum dti_status status = put_places(run, done, reterr);
    if (status == DTI_OK && job->cx->output == DTI_OUTPUT_JSONL)
        status = end_document(job, NULL, reterr);
    return status == DTI_OK ? dti_command_context_flush(job->cx, reterr) : status;
}

static enum dti_status put_pair(void *run_, const struct dti_bench_result *done,
                                struct dti_error *reterr)
{
    struct bench_job_run *const run = run_;
    if (run->job->cx->output == DTI_OUTPUT_HUMAN) {
        dti_bench_notes_put(&run->notes, run->job->cx);
        dti_bench_human_pair(&(struct bench_shown){run->job, done, &run->notes});
    }
    return dti_command_context_flush(run->job->cx, reterr);
}

static void tell_left_out(void *run_, const struct dti_bench_result *what,
                          const struct dti_error *why)
{
    char words[DTI_ERROR_TEXT];
    const struct bench_job_run *const run = run_;
    dti_warn(run->job->cx, "%s is skipped: %s", what->size, dti_error_words(words, why));
}

static void begin(const struct bench_job *job)
{
    if (job->cx->output == DTI_OUTPUT_JSON)
        begin_document(job);
    else if (job->cx->output == DTI_OUTPUT_HUMAN)
        (job->asked.setup.kind->casts ? dti_bench_human_begin : dti_bench_human_table_begin)(job);
}

/* A stream of documents ends with one that holds only the comparison. */
static enum dti_status end(const struct bench_job_run *run, struct dti_error *reterr)
{
    const struct bench_job *const job = run->job;
    if (job->cx->output == DTI_OUTPUT_HUMAN) {
        if (run->compares)
            put_comparison(&run->comparison, job->cx);
        dti_bench_put_caveats(job);
        return DTI_OK;
    }
    if (job->cx->output == DTI_OUTPUT_JSONL && !run->compares)
        return DTI_OK;
    if (job->cx->output == DTI_OUTPUT_JSONL)
        begin_document(job);
    return end_document(job, run->compares ? &run->comparison : NULL, reterr);
}

static enum dti_status measure(struct bench_job_run *run, struct dti_error *reterr)
{
    const struct bench_job *const job = run->job;
    const struct dti_bench_sink sink = {
        .context = run, .begin = put_pair, .done = put_done, .left_out = tell_left_out};
    begin(job);
    enum dti_status status = dti_bench_measure_job(&job->asked, &sink, reterr);
    dti_bench_notes_put(&run->notes, job->cx);
    if (status == DTI_OK && run->compares)
        status = earlier_judge(&run->comparison, job, reterr);
    if (status != DTI_OK && status != DTI_ANSWER_NO)
        return status;
    const enum dti_status written = end(run, reterr);
    return written == DTI_OK ? status : written;
}

enum dti_status dti_bench_run_job(const struct bench_job *job, struct dti_error *reterr)
{
    struct bench_job_run run = {.job = job, .compares = job->args->baseline || job->args->compare};
    dti_buffer_init(&run.notes.text);
    enum dti_status status = dti_bench_check_job(&job->asked, reterr);
    if (status == DTI_OK && run.compares)
        status = earlier_read(&run.comparison, job, reterr);
    if (status == DTI_OK)
        status = measure(&run, reterr);
    dti_bench_records_free(&run.comparison.then);
    dti_bench_records_free(&run.comparison.now);
    dti_buffer_free(&run.notes.text);
    return status;
}
