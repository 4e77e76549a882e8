/* SPDX-License-Identifier: MIT
 *
 * Where results of `bench` go: a table for people, a JSON document, or one for each result; and
 * beside them the comparison with another document. */
#include "cli/bench/bench_output.h"

#include "cli/shell/standard.h"

static enum dti_status end_document(struct bench_output *output, struct dti_error *reterr)
{
    dti_json_end(output->json); /* results */
    dti_json_null(output->json, "comparison");
    return dti_json_write(output->json, output->job->cx->out, reterr);
}

enum dti_status dti_bench_put(struct bench_output *output, const struct bench_done *done,
                              struct dti_error *reterr)
{
    const struct bench_job *const job = done->job;
    enum dti_status status = DTI_OK;
    if (job->cx->output == DTI_OUTPUT_HUMAN) {
        if (done->table)
            dti_bench_human_table(done);
        else
            dti_bench_human_result(done);
    } else {
        if (job->cx->output == DTI_OUTPUT_JSONL)
            dti_bench_json_begin(output->json, job);
        dti_bench_json_result(output->json, done);
        if (job->cx->output == DTI_OUTPUT_JSONL)
            status = end_document(output, reterr);
    }
    if (status == DTI_OK && output->comparison)
        status = dti_bench_comparison_add(output->comparison, done, reterr);
    return status == DTI_OK ? dti_standard_flush(job->cx->out, reterr) : status;
}

enum dti_status dti_bench_put_heading(struct bench_output *output, const struct bench_job *job,
                                      const struct bench_pair *pair, struct dti_error *reterr)
{
    (void)output;
    if (job->cx->output == DTI_OUTPUT_HUMAN)
        dti_bench_human_pair(job, pair);
    return dti_standard_flush(job->cx->out, reterr);
}

static void begin(struct bench_output *output)
{
    const struct bench_job *const job = output->job;
    if (job->cx->output == DTI_OUTPUT_JSON)
        dti_bench_json_begin(output->json, job);
    else if (job->cx->output == DTI_OUTPUT_HUMAN && job->kind)
        dti_bench_human_table_begin(job);
    else if (job->cx->output == DTI_OUTPUT_HUMAN)
        dti_bench_human_begin(job);
}

/* A document that has the comparison alone closes a stream of them. */
static enum dti_status end(struct bench_output *output, struct dti_error *reterr)
{
    const struct bench_job *const job = output->job;
    if (job->cx->output == DTI_OUTPUT_HUMAN) {
        if (output->comparison)
            dti_bench_comparison_human(output->comparison, job->cx);
        dti_bench_human_end(job);
        return DTI_OK;
    }
    if (job->cx->output == DTI_OUTPUT_JSON && !output->comparison)
        return end_document(output, reterr);
    if (!output->comparison)
        return DTI_OK;
    if (job->cx->output == DTI_OUTPUT_JSONL)
        dti_bench_json_begin(output->json, job);
    dti_json_end(output->json);
    dti_bench_comparison_json(output->comparison, output->json);
    return dti_json_write(output->json, job->cx->out, reterr);
}

static enum dti_status measure(struct bench_output *output, struct dti_error *reterr)
{
    const struct bench_job *const job = output->job;
    begin(output);
    enum dti_status status = job->kind ? dti_bench_measure_tables(job, output, reterr)
                                       : dti_bench_measure_casts(job, output, reterr);
    if (status == DTI_OK && output->comparison)
        status = dti_bench_comparison_judge(output->comparison, reterr);
    if (status != DTI_OK && status != DTI_ANSWER_NO)
        return status;
    const enum dti_status written = end(output, reterr);
    return written == DTI_OK ? status : written;
}

enum dti_status dti_bench_all(const struct bench_job *job, struct dti_error *reterr)
{
    struct bench_output output = {.job = job};
    enum dti_status status =
        job->kind ? dti_bench_check_tables(job, reterr) : dti_bench_check_casts(job, reterr);
    if (status == DTI_OK && (job->args->baseline || job->args->compare))
        status = dti_bench_comparison_new(&output.comparison, job, reterr);
    if (status == DTI_OK && job->cx->output != DTI_OUTPUT_HUMAN) {
        output.json = dti_json_new();
        if (!output.json)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status == DTI_OK)
        status = measure(&output, reterr);
    dti_json_free(output.json);
    dti_bench_comparison_free(output.comparison);
    return status;
}
