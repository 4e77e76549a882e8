/* SPDX-License-Identifier: MIT
 *
 * --baseline and --compare: the other document is read before anything is measured. */
#include "cli/bench/bench_comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/input.h"

enum { FILE_MAX = 64 << 20 };
static const char usual_regression[] = "10%";

static const char *schema_of(const struct bench_job *job)
{
    return job->kind ? "dtinfo.bench_table/1" : "dtinfo.bench/1";
}

static enum dti_status read_then(struct bench_comparison *comparison, struct dti_error *reterr)
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
                                        schema_of(comparison->job), dti_bench_name(comparison->job),
                                        label, reterr);
    dti_buffer_free(&text);
    if (status == DTI_OK && comparison->then.count == 0)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s has no results", label);
    return status;
}

/* Figures of another machine may be compared, but that is to be known. */
static void warn_of_machine(struct bench_comparison *comparison)
{
    struct bench_host host;
    char model[DTI_QUOTE_SIZE], level[DTI_QUOTE_SIZE];
    const struct bench_records *const then = &comparison->then;
    const char *const here = dti_level_name(comparison->job->levels[0]);
    dti_bench_host_read(&host);
    host.model[BENCH_FIELD - 1] = '\0'; /* as long as documents keep it */
    const bool other_model = then->model[0] != '\0' && strcmp(then->model, host.model) != 0;
    const bool other_level = then->level[0] != '\0' && strcmp(then->level, here) != 0;
    comparison->other_machine = other_model || other_level;
    if (other_model)
        dti_warn(comparison->job->cx, "the other figures are of another machine, %s",
                 dti_quote(model, then->model, strlen(then->model)));
    if (other_level)
        dti_warn(comparison->job->cx, "the other figures are of CPU level %s, these of %s",
                 dti_quote(level, then->level, strlen(then->level)), here);
}

enum dti_status dti_bench_comparison_new(struct bench_comparison **ret, const struct bench_job *job,
                                         struct dti_error *reterr)
{
    const struct bench_args *const args = job->args;
    struct bench_comparison *const comparison = calloc(1, sizeof *comparison);
    if (!comparison)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    comparison->job = job;
    comparison->gate = args->baseline;
    comparison->path = args->baseline ? args->baseline : args->compare;
    enum dti_status status =
        dti_bench_parse_regression(args->max_regression ? args->max_regression : usual_regression,
                                   &comparison->allowed, reterr);
    if (status == DTI_OK)
        status = read_then(comparison, reterr);
    if (status == DTI_OK) {
        comparison->shadow = dti_json_new();
        if (!comparison->shadow)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status != DTI_OK) {
        dti_bench_comparison_free(comparison);
        return status;
    }
    warn_of_machine(comparison);
    *ret = comparison;
    return DTI_OK;
}

void dti_bench_comparison_free(struct bench_comparison *comparison)
{
    if (!comparison)
        return;
    dti_bench_records_free(&comparison->then);
    dti_bench_records_free(&comparison->now);
    dti_json_free(comparison->shadow);
    free(comparison);
}

enum dti_status dti_bench_comparison_add(struct bench_comparison *comparison,
                                         const struct bench_done *done, struct dti_error *reterr)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const file = open_memstream(&text, &length);
    if (!file)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_bench_json_begin(comparison->shadow, done->job);
    dti_bench_json_result(comparison->shadow, done);
    dti_json_end(comparison->shadow);
    enum dti_status status = dti_json_write(comparison->shadow, file, reterr);
    if (fclose(file) != 0 && status == DTI_OK)
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK)
        status = dti_bench_records_read(&comparison->now, text, length, schema_of(done->job),
                                        dti_bench_name(done->job), "this run", reterr);
    free(text);
    return status;
}

enum dti_status dti_bench_comparison_judge(struct bench_comparison *comparison,
                                           struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], first[DTI_QUOTE_SIZE];
    struct bench_records *const then = &comparison->then, *const now = &comparison->now;
    const size_t pairs = dti_bench_match(then, now);
    if (pairs == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has nothing that was measured now: its first result is %s",
                        dti_quote(quoted, comparison->path, strlen(comparison->path)),
                        dti_quote(first, then->rows[0].label, strlen(then->rows[0].label)));
    size_t unknown = 0;
    bool slower = false;
    for (size_t i = 0; comparison->gate && i < now->count; i++) {
        struct dti_bench_figure ratio;
        const size_t partner = now->rows[i].partner;
        if (partner == SIZE_MAX)
            continue;
        dti_bench_compare_times(&ratio, &then->rows[partner].time, &now->rows[i].time);
        slower = slower || dti_bench_is_regression(&ratio, comparison->allowed);
        unknown += !ratio.has_interval;
    }
    if (unknown > 0)
        dti_warn(comparison->job->cx,
                 "%zu of %zu results cannot be judged, one of the runs has too few samples; "
                 "measure longer with --time",
                 unknown, pairs);
    return slower ? DTI_ANSWER_NO : DTI_OK;
}
