/* SPDX-License-Identifier: MIT
 *
 * bench cast: every pair with every number of threads on every device at every size. */
#include <string.h>

#include "cli/bench/bench_job.h"

static void request_of(struct dti_bench_cast *ret, const struct bench_job *job,
                       const struct bench_pair *pair, const struct bench_device *device,
                       uint64_t bytes)
{
    const struct bench_args *const args = job->args;
    const uint64_t seed = dti_bench_seed(job);
    *ret = (struct dti_bench_cast){
        .src = pair->src,
        .dst = pair->dst,
        .policy = {.round = (enum dti_round)args->round,
                   .overflow = (enum dti_overflow)args->overflow,
                   .seed = seed},
        .round_given = true,
        .bytes = bytes,
        .level_count = job->level_count,
        .loss = args->loss,
        .runner = device->runner,
        .cache = (enum dti_bench_cache)args->cache,
        .data = (enum dti_bench_data)args->data,
        .seed = seed,
        .options = {.nanoseconds = job->nanoseconds, .seed = seed, .cpus = job->cpus},
    };
    memcpy(ret->levels, job->levels, sizeof job->levels);
}

enum dti_status dti_bench_check_casts(const struct bench_job *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->pair_count && status == DTI_OK; i++) {
        for (size_t j = 0; j < job->size_count * job->device_count && status == DTI_OK; j++) {
            const struct bench_device *const device = &job->devices[j / job->size_count];
            struct dti_bench_cast request;
            request_of(&request, job, &job->pairs[i], device, job->sizes[j % job->size_count].n);
            status = dti_bench_cast_check(&request, reterr);
        }
    }
    return status;
}

static enum dti_status measure_one(struct bench_done *done, struct dti_team *team,
                                   struct bench_output *output, struct dti_error *reterr)
{
    struct dti_bench_cast request;
    struct dti_bench_cast_result result;
    const uint64_t bytes = done->size->n;
    request_of(&request, done->job, done->pair, done->device, bytes);
    enum dti_status status = dti_bench_cast_run(&result, &request, team, reterr);
    if (status != DTI_OK)
        return status;
    if (result.bytes_read != bytes)
        dti_warn(done->job->cx,
                 "--size %llu is not a whole number of elements of %s; %llu bytes are used",
                 (unsigned long long)bytes, done->pair->src.name,
                 (unsigned long long)result.bytes_read);
    done->result = &result;
    done->bench = &result.bench;
    status = dti_bench_put(output, done, reterr);
    dti_bench_cast_free(&result);
    return status;
}

/* A thread alone is not tied to a CPU: the system finds it a quiet one. */
static enum dti_status measure_with(struct bench_done *done, struct bench_output *output,
                                    struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    if (done->threads > 1)
        status = dti_team_new(&team, done->threads, DTI_WAIT_SPIN, true, reterr);
    for (size_t i = 0; i < done->job->size_count && status == DTI_OK; i++) {
        done->size = &done->job->sizes[i];
        status = measure_one(done, team, output, reterr);
    }
    dti_team_free(team);
    return status;
}

static enum dti_status measure_pair(const struct bench_job *job, const struct bench_pair *pair,
                                    struct bench_output *output, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->device_count; i++) {
        const struct bench_device *const device = &job->devices[i];
        const size_t counts = device->runner ? 1 : job->thread_count;
        for (size_t j = 0; j < counts && status == DTI_OK; j++) {
            struct bench_done done = {.job = job,
                                      .pair = pair,
                                      .device = device,
                                      .level = job->levels[0],
                                      .threads = device->runner ? 1 : job->threads[j]};
            status = measure_with(&done, output, reterr);
        }
    }
    return status;
}

enum dti_status dti_bench_measure_casts(const struct bench_job *job, struct bench_output *output,
                                        struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->pair_count && status == DTI_OK; i++) {
        status = dti_bench_put_heading(output, job, &job->pairs[i], reterr);
        if (status == DTI_OK)
            status = measure_pair(job, &job->pairs[i], output, reterr);
    }
    return status;
}
