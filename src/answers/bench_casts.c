/* SPDX-License-Identifier: MIT
 *
 * bench cast: every pair with every number of threads on every device at every size. */
#include <string.h>

#include "answers/bench_measure.h"

static void request_of(struct dti_bench_cast *ret, const struct dti_bench_job *job,
                       const struct dti_format *src, const struct dti_format *dst,
                       const struct dti_bench_device *device, uint64_t bytes)
{
    const uint64_t seed = job->setup.seed;
    *ret = (struct dti_bench_cast){
        .src = *src,
        .dst = *dst,
        .policy = job->policy,
        .round_given = true,
        .bytes = bytes,
        .level_count = job->level_count,
        .loss = job->setup.loss,
        .runner = device->runner,
        .cache = job->cache,
        .data = job->data,
        .seed = seed,
        .options = {.nanoseconds = job->setup.nanoseconds, .seed = seed, .cpus = job->setup.cpus},
    };
    memcpy(ret->levels, job->levels, sizeof job->levels);
}

enum dti_status dti_bench_check_casts(const struct dti_bench_job *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->pair_count && status == DTI_OK; i++) {
        for (size_t j = 0; j < job->size_count * job->device_count && status == DTI_OK; j++) {
            const struct dti_bench_device *const device = &job->devices[j / job->size_count];
            struct dti_bench_cast request;
            request_of(&request, job, &job->pairs[i].src, &job->pairs[i].dst, device,
                       job->sizes[j % job->size_count].n);
            status = dti_bench_cast_check(&request, reterr);
        }
    }
    return status;
}

static enum dti_status measure_one(struct dti_bench_done *done, struct dti_team *team,
                                   const struct dti_bench_sink *sink, struct dti_error *reterr)
{
    struct dti_bench_cast request;
    struct dti_bench_cast_result cast;
    struct dti_bench_result *const result = &done->result;
    request_of(&request, done->job, result->src, result->dst, done->device, done->size->n);
    enum dti_status status = dti_bench_cast_run(&cast, &request, team, reterr);
    if (status != DTI_OK)
        return status;
    result->cast = &cast;
    result->bench = &cast.bench;
    status = sink->done(sink->context, done, reterr);
    dti_bench_cast_free(&cast);
    return status;
}

/* A thread alone is not tied to a CPU: the system finds it a quiet one. */
static enum dti_status measure_with(struct dti_bench_done *done, const struct dti_bench_sink *sink,
                                    struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    if (done->result.threads > 1)
        status = dti_team_new(&team, done->result.threads, DTI_WAIT_SPIN, true, reterr);
    for (size_t i = 0; i < done->job->size_count && status == DTI_OK; i++) {
        done->size = &done->job->sizes[i];
        status = measure_one(done, team, sink, reterr);
    }
    dti_team_free(team);
    return status;
}

static enum dti_status measure_pair(const struct dti_bench_job *job,
                                    const struct dti_bench_pair *pair,
                                    const struct dti_bench_sink *sink, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->device_count; i++) {
        const struct dti_bench_device *const device = &job->devices[i];
        const size_t counts = device->runner ? 1 : job->thread_count;
        for (size_t j = 0; j < counts && status == DTI_OK; j++) {
            struct dti_bench_done done = {
                .job = job,
                .device = device,
                .result = {.setup = &job->setup,
                           .src = &pair->src,
                           .dst = &pair->dst,
                           .device = device->id,
                           .level = job->levels[0],
                           .threads = device->runner ? 1 : job->threads[j]}};
            status = measure_with(&done, sink, reterr);
        }
    }
    return status;
}

enum dti_status dti_bench_measure_casts(const struct dti_bench_job *job,
                                        const struct dti_bench_sink *sink, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->pair_count && status == DTI_OK; i++) {
        status = sink->begin(sink->context, &job->pairs[i], reterr);
        if (status == DTI_OK)
            status = measure_pair(job, &job->pairs[i], sink, reterr);
    }
    return status;
}
