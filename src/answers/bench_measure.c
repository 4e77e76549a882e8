/* SPDX-License-Identifier: MIT
 *
 * Runs everything a job asks for, one measurement after another. */
#include "answers/bench_answer.h"

#include <stdlib.h>
#include <string.h>

#include "dtinfo/nearest.h"

/* One measurement. */
struct bench_step {
    const struct dti_bench_job *job;
    const struct dti_bench_sink *sink;
    struct dti_bench_cast cast;
    struct dti_bench_request request;
    struct dti_bench_result result;
    bool first; /* of its pair */
};

/* Threads are the CPU's; levels of casts are compared within a measurement. */
static void step_init(struct bench_step *ret, const struct dti_bench_job *job, size_t pair,
                      size_t size_at, size_t device_at, size_t level, size_t threads)
{
    const struct dti_bench_device *const device = &job->devices[device_at];
    const struct dti_bench_size *const size = &job->sizes[size_at];
    const struct dti_bench_setup *const setup = &job->setup;
    *ret = (struct bench_step){
        .job = job,
        .cast = job->cast,
        .request = job->request,
        .result = {.setup = setup,
                   .request = &ret->request,
                   .size = size->label,
                   .device = device->id,
                   .threads = device->gpu || device->runner ? 1 : job->threads[threads]},
        .first = size_at + device_at + threads == 0,
    };
    ret->cast.src = job->pairs[pair].src;
    ret->cast.dst = job->pairs[pair].dst;
    ret->request.cast = setup->kind->casts ? &ret->cast : NULL;
    ret->request.dtypes = job->dtypes;
    ret->request.blocks = job->blocks;
    ret->request.m = size->m;
    ret->request.n = size->n;
    ret->request.k = size->k;
    ret->request.level = job->cast.levels[level];
    ret->request.gpu = device->runner ? NULL : device->gpu;
    ret->request.runner = device->runner;
    ret->request.options.nanoseconds = setup->nanoseconds;
}

typedef enum dti_status visit_fn(struct bench_step *step, struct dti_error *reterr);

/* Calls a function for every measurement: casts by pair, device, threads and size; others by size,
 * device, level and threads. */
static enum dti_status visit_all(const struct dti_bench_job *job, const struct dti_bench_sink *sink,
                                 visit_fn *visit, struct dti_error *reterr)
{
    const bool casts = job->setup.kind->casts;
    const size_t last = casts ? job->size_count : 1, levels = casts ? 1 : job->cast.level_count;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < (casts ? job->pair_count : job->size_count); i++) {
        for (size_t d = 0; d < job->device_count; d++) {
            const bool gpu = job->devices[d].gpu || job->devices[d].runner;
            const size_t each = gpu ? 1 : levels * job->thread_count;
            for (size_t at = 0; at < each * last && status == DTI_OK; at++) {
                const size_t by_threads = at / last, size = casts ? at % last : i;
                struct bench_step step;
                step_init(&step, job, casts ? i : 0, size, d, by_threads / job->thread_count,
                          by_threads % job->thread_count);
                step.sink = sink;
                status = visit(&step, reterr);
            }
        }
    }
    return status;
}

/* The default sizes are skipped if there is too little memory, except for casts. */
static bool may_be_left_out(const struct bench_step *step)
{
    return step->job->usual_sizes && !step->job->setup.kind->casts;
}

static enum dti_status check_one(struct bench_step *step, struct dti_error *reterr)
{
    const enum dti_status status = dti_bench_check(step->job->setup.kind, &step->request, reterr);
    return status == DTI_UNAVAILABLE && may_be_left_out(step) ? DTI_OK : status;
}

/* A requested engine that is missing. */
static enum dti_status check_engine(const struct dti_bench_table *table, const char *engine,
                                    struct dti_error *reterr)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table->items[i].limit)
            return DTI_OK;
    }
    return dti_fail_word(reterr, DTI_UNAVAILABLE, engine, strlen(engine),
                         "engine %s is not available%s%s", DTI_QUOTED(engine, strlen(engine)),
                         table->note_count > 0 ? ": " : "",
                         table->note_count > 0 ? table->notes[0] : "");
}

/* A single thread is not pinned to a CPU: the system finds an idle one. */
static enum dti_status measure(struct bench_step *step, struct dti_bench_table *table,
                               struct dti_error *reterr)
{
    struct dti_bench_result *const result = &step->result;
    const struct dti_bench_setup *const setup = &step->job->setup;
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    if (result->threads > 1)
        status = dti_team_new(&team, result->threads, DTI_WAIT_SPIN, true, reterr);
    if (status == DTI_OK)
        status = dti_bench_measure(table, setup->kind, &step->request, team, reterr);
    dti_team_free(team);
    if (status != DTI_OK)
        return status;
    result->table = table;
    if (setup->engine)
        status = check_engine(table, setup->engine, reterr);
    if (status == DTI_OK)
        status = step->sink->done(step->sink->context, result, reterr);
    dti_bench_table_free(table);
    return status;
}

static enum dti_status measure_one(struct bench_step *step, struct dti_error *reterr)
{
    const struct dti_bench_sink *const sink = step->sink;
    const struct dti_bench_kind *const kind = step->job->setup.kind;
    struct dti_error error = {.status = DTI_OK};
    enum dti_status status = DTI_OK;
    if (kind->casts && step->first)
        status = sink->begin(sink->context, &step->result, reterr);
    if (status != DTI_OK)
        return status;
    if (may_be_left_out(step) && dti_bench_check(kind, &step->request, &error) == DTI_UNAVAILABLE) {
        sink->left_out(sink->context, &step->result, &error);
        return DTI_OK;
    }
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!table)
        return dti_no_memory(reterr);
    status = measure(step, table, reterr);
    free(table);
    return status;
}

enum dti_status dti_bench_check_job(const struct dti_bench_job *job, struct dti_error *reterr)
{
    return visit_all(job, NULL, check_one, reterr);
}

enum dti_status dti_bench_measure_job(const struct dti_bench_job *job,
                                      const struct dti_bench_sink *sink, struct dti_error *reterr)
{
    return visit_all(job, sink, measure_one, reterr);
}
