/* SPDX-License-Identifier: MIT
 *
 * Where results of `bench` go: a page for people, one JSON document, or one document per result;
 * and the comparison with another document. */
#include "cli/bench/bench_narrow.h"
#include "cli/bench/bench_page.h"
#include "cli/shell/command.h"
#include "cli/shell/standard.h"

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
        dti_bench_casts_see(&run->casts, done, job->cx);
    if (job->cx->output == DTI_OUTPUT_HUMAN)
        (casts ? dti_bench_human_result : dti_bench_human_table)(&shown);
    if (job->cx->output == DTI_OUTPUT_JSONL)
        begin_document(job);
    enum dti_status status = put_places(run, done, reterr);
    if (status == DTI_OK && job->cx->output == DTI_OUTPUT_JSONL)
        status = end_document(job, NULL, reterr);
    return status == DTI_OK ? dti_context_flush(job->cx, reterr) : status;
}

static enum dti_status put_pair(void *run_, const struct dti_bench_result *done,
                                struct dti_error *reterr)
{
    struct bench_job_run *const run = run_;
    if (run->job->cx->output == DTI_OUTPUT_HUMAN) {
        dti_bench_notes_put(&run->notes, run->job->cx);
        dti_bench_human_pair(&(struct bench_shown){run->job, done, &run->notes});
    }
    return dti_context_flush(run->job->cx, reterr);
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
            dti_bench_human_comparison(&run->comparison, job->cx);
        dti_bench_put_doubts(job);
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
        status = dti_bench_earlier_judge(&run->comparison, job, reterr);
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
        status = dti_bench_earlier_read(&run.comparison, job, reterr);
    if (status == DTI_OK)
        status = measure(&run, reterr);
    dti_bench_records_free(&run.comparison.then);
    dti_bench_records_free(&run.comparison.now);
    dti_buffer_free(&run.notes.text);
    return status;
}
