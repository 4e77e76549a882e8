/* SPDX-License-Identifier: MIT
 *
 * Computations and copies: each at every size with every number of threads, level and device. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "cli/shell/remedy_words.h"

static void request_of(struct dti_bench_request *ret, const struct bench_done *done)
{
    const struct bench_job *const job = done->job;
    const uint64_t seed = dti_bench_seed(job);
    *ret = (struct dti_bench_request){
        .dtypes = job->dtypes,
        .dtype_count = job->dtype_count,
        .blocks = job->blocks,
        .block_count = job->block_count,
        .m = done->size->m,
        .n = done->size->n,
        .k = done->size->k,
        .level = done->level,
        .cache = (enum dti_bench_cache)job->args->cache,
        .with_alloc = job->args->with_alloc,
        .engine = job->args->engine,
        .seed = seed,
        .gpu = done->device->gpu,
        .options = {.nanoseconds = job->nanoseconds, .seed = seed, .cpus = job->cpus},
    };
}

typedef enum dti_status visit_fn(struct bench_done *done, struct bench_output *output,
                                 struct dti_error *reterr);

/* Calls it for everything that is to be measured. Threads are the CPU's. */
static enum dti_status visit_all(const struct bench_job *job, struct bench_output *output,
                                 visit_fn *visit, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t s = 0; s < job->size_count; s++) {
        for (size_t d = 0; d < job->device_count; d++) {
            const bool gpu = job->devices[d].gpu;
            const size_t levels = gpu ? 1 : job->level_count;
            const size_t counts = gpu ? 1 : job->thread_count;
            for (size_t at = 0; at < levels * counts && status == DTI_OK; at++) {
                struct bench_done done = {.job = job,
                                          .size = &job->sizes[s],
                                          .device = &job->devices[d],
                                          .level = job->levels[at / counts],
                                          .threads = gpu ? 1 : job->threads[at % counts]};
                status = visit(&done, output, reterr);
            }
        }
    }
    return status;
}

/* The usual sizes are left out where there is not the memory. */
static enum dti_status check_one(struct bench_done *done, struct bench_output *output,
                                 struct dti_error *reterr)
{
    struct dti_bench_request request;
    (void)output;
    request_of(&request, done);
    const enum dti_status status = done->job->kind->check(&request, done->threads, reterr);
    return status == DTI_UNAVAILABLE && !done->job->args->size ? DTI_OK : status;
}

/* An engine that was asked for and is not there. */
static enum dti_status check_engine(const struct bench_done *done, const char *engine,
                                    struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    for (size_t i = 0; i < done->table->count; i++) {
        if (!done->table->items[i].limit)
            return DTI_OK;
    }
    (void)dti_fail(reterr, DTI_UNAVAILABLE, "no engine %s here%s%s",
                   dti_quote(quoted, engine, strlen(engine)),
                   done->table->note_count > 0 ? ": " : "",
                   done->table->note_count > 0 ? done->table->notes[0] : "");
    dti_error_argument(reterr, engine, strlen(engine));
    return DTI_UNAVAILABLE;
}

static enum dti_status measure(struct bench_done *done, struct dti_bench_table *table,
                               struct bench_output *output, struct dti_error *reterr)
{
    struct dti_bench_request request;
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    request_of(&request, done);
    if (done->threads > 1)
        status = dti_team_new(&team, done->threads, DTI_WAIT_SPIN, true, reterr);
    if (status == DTI_OK)
        status = done->job->kind->run(table, &request, team, reterr);
    dti_team_free(team);
    if (status != DTI_OK)
        return status;
    done->table = table;
    done->bench = &table->bench;
    if (done->job->args->engine)
        status = check_engine(done, done->job->args->engine, reterr);
    if (status == DTI_OK)
        status = dti_bench_put(output, done, reterr);
    dti_bench_table_free(table);
    return status;
}

static enum dti_status measure_one(struct bench_done *done, struct bench_output *output,
                                   struct dti_error *reterr)
{
    struct dti_bench_request request;
    struct dti_error error = {.status = DTI_OK};
    char words[DTI_ERROR_TEXT];
    request_of(&request, done);
    if (!done->job->args->size &&
        done->job->kind->check(&request, done->threads, &error) == DTI_UNAVAILABLE) {
        dti_warn(done->job->cx, "%s is left out: %s", done->size->label,
                 dti_error_words(words, &error));
        return DTI_OK;
    }
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!table)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    const enum dti_status status = measure(done, table, output, reterr);
    free(table);
    return status;
}

enum dti_status dti_bench_check_tables(const struct bench_job *job, struct dti_error *reterr)
{
    return visit_all(job, NULL, check_one, reterr);
}

enum dti_status dti_bench_measure_tables(const struct bench_job *job, struct bench_output *output,
                                         struct dti_error *reterr)
{
    return visit_all(job, output, measure_one, reterr);
}
