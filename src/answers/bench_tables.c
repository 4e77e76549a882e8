/* SPDX-License-Identifier: MIT
 *
 * Computations and copies: each at every size with every number of threads, level and device. */
#include <stdlib.h>
#include <string.h>

#include "answers/bench_measure.h"
#include "dtinfo/nearest.h"

static void request_of(struct dti_bench_request *ret, const struct dti_bench_done *done)
{
    const struct dti_bench_job *const job = done->job;
    const uint64_t seed = job->setup.seed;
    *ret = (struct dti_bench_request){
        .dtypes = job->dtypes,
        .dtype_count = job->dtype_count,
        .blocks = job->blocks,
        .block_count = job->block_count,
        .m = done->size->m,
        .n = done->size->n,
        .k = done->size->k,
        .level = done->result.level,
        .cache = job->cache,
        .with_alloc = job->setup.with_alloc,
        .engine = job->setup.engine,
        .seed = seed,
        .gpu = done->device->gpu,
        .options = {.nanoseconds = job->setup.nanoseconds, .seed = seed, .cpus = job->setup.cpus},
    };
}

typedef enum dti_status visit_fn(struct dti_bench_done *done, const struct dti_bench_sink *sink,
                                 struct dti_error *reterr);

/* Calls it for everything that is to be measured. Threads are the CPU's. */
static enum dti_status visit_all(const struct dti_bench_job *job, const struct dti_bench_sink *sink,
                                 visit_fn *visit, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t s = 0; s < job->size_count; s++) {
        for (size_t d = 0; d < job->device_count; d++) {
            const bool gpu = job->devices[d].gpu;
            const size_t levels = gpu ? 1 : job->level_count;
            const size_t counts = gpu ? 1 : job->thread_count;
            for (size_t at = 0; at < levels * counts && status == DTI_OK; at++) {
                const struct dti_bench_size *const size = &job->sizes[s];
                struct dti_bench_done done = {
                    .job = job,
                    .size = size,
                    .device = &job->devices[d],
                    .result = {.setup = &job->setup,
                               .m = size->m,
                               .n = size->n,
                               .k = size->k,
                               .device = job->devices[d].id,
                               .level = job->levels[at / counts],
                               .threads = gpu ? 1 : job->threads[at % counts]}};
                status = visit(&done, sink, reterr);
            }
        }
    }
    return status;
}

/* The usual sizes are left out where there is not the memory. */
static enum dti_status check_one(struct dti_bench_done *done, const struct dti_bench_sink *sink,
                                 struct dti_error *reterr)
{
    struct dti_bench_request request;
    (void)sink;
    request_of(&request, done);
    const enum dti_status status =
        done->job->setup.kind->check(&request, done->result.threads, reterr);
    return status == DTI_UNAVAILABLE && done->job->usual_sizes ? DTI_OK : status;
}

/* An engine that was asked for and is not there. */
static enum dti_status check_engine(const struct dti_bench_done *done, const char *engine,
                                    struct dti_error *reterr)
{
    for (size_t i = 0; i < done->result.table->count; i++) {
        if (!done->result.table->items[i].limit)
            return DTI_OK;
    }
    return dti_fail_word(reterr, DTI_UNAVAILABLE, engine, strlen(engine), "no engine %s here%s%s",
                         DTI_QUOTED(engine, strlen(engine)),
                         done->result.table->note_count > 0 ? ": " : "",
                         done->result.table->note_count > 0 ? done->result.table->notes[0] : "");
}

static enum dti_status measure(struct dti_bench_done *done, struct dti_bench_table *table,
                               const struct dti_bench_sink *sink, struct dti_error *reterr)
{
    struct dti_bench_request request;
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    request_of(&request, done);
    if (done->result.threads > 1)
        status = dti_team_new(&team, done->result.threads, DTI_WAIT_SPIN, true, reterr);
    if (status == DTI_OK)
        status = done->job->setup.kind->run(table, &request, team, reterr);
    dti_team_free(team);
    if (status != DTI_OK)
        return status;
    done->result.table = table;
    done->result.bench = &table->bench;
    if (done->job->setup.engine)
        status = check_engine(done, done->job->setup.engine, reterr);
    if (status == DTI_OK)
        status = sink->done(sink->context, done, reterr);
    dti_bench_table_free(table);
    return status;
}

static enum dti_status measure_one(struct dti_bench_done *done, const struct dti_bench_sink *sink,
                                   struct dti_error *reterr)
{
    struct dti_bench_request request;
    struct dti_error error = {.status = DTI_OK};
    request_of(&request, done);
    if (done->job->usual_sizes &&
        done->job->setup.kind->check(&request, done->result.threads, &error) == DTI_UNAVAILABLE) {
        sink->left_out(sink->context, done->size, &error);
        return DTI_OK;
    }
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!table)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const enum dti_status status = measure(done, table, sink, reterr);
    free(table);
    return status;
}

enum dti_status dti_bench_check_tables(const struct dti_bench_job *job, struct dti_error *reterr)
{
    return visit_all(job, NULL, check_one, reterr);
}

enum dti_status dti_bench_measure_tables(const struct dti_bench_job *job,
                                         const struct dti_bench_sink *sink,
                                         struct dti_error *reterr)
{
    return visit_all(job, sink, measure_one, reterr);
}
