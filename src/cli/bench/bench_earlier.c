/* SPDX-License-Identifier: MIT
 *
 * --baseline and --compare: the other document is read before anything is measured. */
#include <string.h>

#include "cli/bench/bench_job.h"
#include "dtinfo/buffer.h"
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

/* Figures of another machine may be compared, but that is to be known. */
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
        dti_warn(job->cx, "the other figures are of another machine, %s",
                 dti_quote(model, then->model, strlen(then->model)));
    if (other_level)
        dti_warn(job->cx, "the other figures are of CPU level %s, these of %s",
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
                        "%s has nothing that was measured now: its first result is %s",
                        dti_quote(quoted, comparison->path, strlen(comparison->path)),
                        dti_quote(first, label, strlen(label)));
    if (outcome.unknown > 0)
        dti_warn(job->cx,
                 "%zu of %zu results cannot be judged, one of the runs has too few samples; "
                 "measure longer with --time",
                 outcome.unknown, outcome.pairs);
    return outcome.slower ? DTI_ANSWER_NO : DTI_OK;
}
