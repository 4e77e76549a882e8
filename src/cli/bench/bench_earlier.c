/* SPDX-License-Identifier: MIT
 *
 * --baseline and --compare: the other document is read before measuring and compared afterwards. */
#include <string.h>

#include "cli/bench/bench_page.h"
#include "dtinfo/buffer.h"
#include "dtinfo/escape.h"
#include "dtinfo/input.h"

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

/* Figures of another machine may be compared, but the user is told. */
static bool is_other_machine(const struct dti_bench_records *then, const struct bench_job *job)
{
    struct dti_bench_host host;
    char model[DTI_QUOTE_SIZE], level[DTI_QUOTE_SIZE];
    const char *const here = dti_level_name(job->asked.setup.level);
    dti_bench_host_read(&host);
    host.model[DTI_BENCH_WORD - 1] = '\0'; /* as long as records keep it */
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

enum dti_status dti_bench_earlier_read(struct dti_bench_comparison *ret,
                                       const struct bench_job *job, struct dti_error *reterr)
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

enum dti_status dti_bench_earlier_judge(struct dti_bench_comparison *comparison,
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
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_seconds(text, then->time.median));
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_seconds(text, now->time.median));
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_fixed(text, ratio.median, 3));
    if (ratio.has_interval)
        dti_table_print(table, DTI_STYLE_PLAIN, "%s to %s", dti_bench_fixed(low, ratio.low, 3),
                        dti_bench_fixed(text, ratio.high, 3));
    else
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    put_verdict(table, comparison, &ratio);
    dti_table_cell(table, DTI_STYLE_PLAIN, now->label);
}

enum { ALONE_MAX = 20 }; /* a document may have thousands */

static void put_alone(const struct dti_bench_records *records, const char *what,
                      const struct dti_context *cx)
{
    size_t alone = 0;
    struct dti_line line = dti_context_line(cx);
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

void dti_bench_human_comparison(const struct dti_bench_comparison *comparison,
                                const struct dti_context *cx)
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
