/* SPDX-License-Identifier: MIT
 *
 * dtinfo bench: trustworthy timings beside what the machine can do at all. */
#include <string.h>

#include "cli/bench_job.h"
#include "cli/choices.h"
#include "cli/standard.h"
#include "dtinfo/nearest.h"

const struct dti_choice dti_choice_bench_data[] = {
    {.name = "normal", .value = DTI_BENCH_NORMAL, .help = "normal; integers: over their range"},
    {.name = "uniform", .value = DTI_BENCH_UNIFORM, .help = "uniform in [1, 2); integers: any"},
    {.name = "bits", .value = DTI_BENCH_BITS, .help = "any code"},
    {.name = "subnormal",
     .value = DTI_BENCH_SUBNORMAL,
     .help = "below the smallest normal of the destination"},
    {.name = "nan1", .value = DTI_BENCH_NAN1, .help = "normal, 1 % NaN and infinities"},
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_cache[] = {
    {.name = "hot", .value = DTI_BENCH_HOT, .help = "the same buffers again and again"},
    {.name = "cold", .value = DTI_BENCH_COLD, .help = "buffers by turns, beyond the caches"},
    {.name = NULL},
};

static const struct dti_choice some_threads[] = {
    {.name = "1", .help = "a thread alone"},
    {.name = "all", .help = "one on each CPU"},
    {.name = NULL},
};

static const struct dti_choice some_levels[] = {
    {.name = "all", .help = "every level of this CPU"},
#define LEVEL(id, level_name, architecture, what) {.name = level_name, .help = what},
#include "dtinfo/levels.def"
#undef LEVEL
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_TEXT(0, "size", struct bench_args, size, "BYTES[,BYTES...]",
             "sizes of the source: 4096, 64KiB, 1GiB (default 4KiB,1MiB,64MiB)"),
    OPT_LIST(0, "threads", struct bench_args, threads, "N[,N...]", some_threads,
             "numbers of threads, or all for one on each CPU (default 1)"),
    OPT_LIST(0, "level", struct bench_args, level, "LEVEL[,LEVEL...]", some_levels,
             "CPU levels to compare, or all (default the highest there is)"),
    OPT_FLAG(0, "loss", struct bench_args, loss, "also the cast that counts what it loses"),
    OPT_CHOICE(0, "data", struct bench_args, data, data_given, "DATA", dti_choice_bench_data,
               "what the source holds"),
    OPT_UINT(0, "seed", struct bench_args, seed, seed_given, 0, UINT64_MAX, "N",
             "seed of the data and of the order of measuring (default 1)"),
    OPT_CHOICE(0, "cache", struct bench_args, cache, cache_given, "STATE", dti_choice_bench_cache,
               "state of the caches (default hot)"),
    OPT_CHOICE('r', "round", struct bench_args, round, round_given, "MODE", dti_choice_round,
               "how to round, integers too"),
    OPT_CHOICE(0, "overflow", struct bench_args, overflow, overflow_given, "POLICY",
               dti_choice_overflow, "what to do beyond the range"),
    OPT_TEXT(0, "time", struct bench_args, time, "SECONDS",
             "limit for each measurement (default 5, less when there are many)"),
    OPT_FLAG(0, "samples", struct bench_args, samples, "every sample in the JSON document"),
    OPT_FLAG(0, "list", struct bench_args, list, "the kernels there are, without measuring"),
    OPT_END,
};

bool dti_bench_tells(const struct dti_bench *bench, enum dti_bench_place place)
{
    size_t rounds = 0;
    for (size_t i = 0; i < bench->rounds; i++)
        rounds += bench->places[i] == place;
    return place == dti_bench_main_place(bench) ||
           (place != DTI_BENCH_MOVED && rounds >= BENCH_PLACE_ROUNDS);
}

static void request_of(struct dti_bench_cast *ret, const struct bench_job *job,
                       const struct bench_pair *pair, uint64_t bytes)
{
    const struct bench_args *const args = job->args;
    const uint64_t seed = args->seed_given ? args->seed : 1;
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
        .cache = (enum dti_bench_cache)args->cache,
        .data = (enum dti_bench_data)args->data,
        .seed = seed,
        .options = {.nanoseconds = job->nanoseconds, .seed = seed, .cpus = job->cpus},
    };
    memcpy(ret->levels, job->levels, sizeof job->levels);
}

/* What cannot be measured is said before anything is. */
static enum dti_status check_all(const struct bench_job *job, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < job->pair_count && status == DTI_OK; i++) {
        for (size_t j = 0; j < job->size_count && status == DTI_OK; j++) {
            struct dti_bench_cast request;
            request_of(&request, job, &job->pairs[i], job->sizes[j]);
            status = dti_bench_cast_check(&request, reterr);
        }
    }
    return status;
}

static enum dti_status measure_one(const struct bench_job *job, const struct bench_pair *pair,
                                   struct dti_team *team, size_t threads, uint64_t bytes,
                                   struct dti_json *json, struct dti_error *reterr)
{
    struct dti_bench_cast request;
    struct dti_bench_cast_result result;
    request_of(&request, job, pair, bytes);
    enum dti_status status = dti_bench_cast_run(&result, &request, team, reterr);
    if (status != DTI_OK)
        return status;
    if (result.bytes_read != bytes)
        dti_warn(job->cx,
                 "--size %llu is not a whole number of elements of %s; %llu bytes are used",
                 (unsigned long long)bytes, pair->src.name, (unsigned long long)result.bytes_read);
    const struct bench_done done = {
        .job = job, .pair = pair, .threads = threads, .result = &result};
    if (job->cx->output == DTI_OUTPUT_HUMAN) {
        dti_bench_human_result(&done);
    } else {
        if (job->cx->output == DTI_OUTPUT_JSONL)
            dti_bench_json_begin(json, job);
        dti_bench_json_result(json, &done);
        if (job->cx->output == DTI_OUTPUT_JSONL)
            status = dti_bench_json_end(json, job->cx, reterr);
    }
    dti_bench_cast_free(&result);
    return status == DTI_OK ? dti_standard_flush(reterr) : status;
}

/* A thread alone is not tied to a CPU: the system finds it a quiet one. */
static enum dti_status measure_with(const struct bench_job *job, const struct bench_pair *pair,
                                    size_t threads, struct dti_json *json, struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    enum dti_status status = DTI_OK;
    if (threads > 1)
        status = dti_team_new(&team, threads, DTI_WAIT_SPIN, true, reterr);
    for (size_t i = 0; i < job->size_count && status == DTI_OK; i++)
        status = measure_one(job, pair, team, threads, job->sizes[i], json, reterr);
    dti_team_free(team);
    return status;
}

static enum dti_status measure_all(const struct bench_job *job, struct dti_json *json,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (!json)
        dti_bench_human_begin(job);
    for (size_t i = 0; i < job->pair_count && status == DTI_OK; i++) {
        if (!json)
            dti_bench_human_pair(job, &job->pairs[i]);
        status = dti_standard_flush(reterr);
        for (size_t j = 0; j < job->thread_count && status == DTI_OK; j++)
            status = measure_with(job, &job->pairs[i], job->threads[j], json, reterr);
    }
    return status;
}

static enum dti_status bench_cast(const struct bench_args *args, char **operands, int count,
                                  struct dti_context *cx, struct dti_error *reterr)
{
    struct bench_job job;
    enum dti_status status = dti_bench_job_init(&job, args, operands, count, cx, reterr);
    if (status == DTI_OK)
        status = check_all(&job, reterr);
    if (status != DTI_OK)
        return status;
    if (cx->output == DTI_OUTPUT_HUMAN)
        return measure_all(&job, NULL, reterr);
    struct dti_json *const json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (cx->output == DTI_OUTPUT_JSON)
        dti_bench_json_begin(json, &job);
    status = measure_all(&job, json, reterr);
    if (status == DTI_OK && cx->output == DTI_OUTPUT_JSON)
        status = dti_bench_json_end(json, cx, reterr);
    dti_json_free(json);
    return status;
}

/* Whether an option was given that says how to measure. */
static bool takes_effect(const struct bench_args *args)
{
    return args->size || args->threads || args->level || args->time || args->loss ||
           args->samples || args->data_given || args->seed_given || args->cache_given ||
           args->round_given || args->overflow_given;
}

static enum dti_status run(const void *args_, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    const struct bench_args *const args = args_;
    if (args->samples && cx->output == DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "--samples is for JSON documents; give --json or --jsonl with it");
    if (args->list && (operand_count > 1 || takes_effect(args)))
        return dti_fail(reterr, DTI_USAGE, "--list measures nothing; give it alone");
    if (args->list && operand_count == 0)
        return dti_bench_list(cx, reterr);
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE, "nothing to measure was named; try 'dtinfo bench cast'");
    if (strcmp(operands[0], "cast") != 0) {
        char quoted[DTI_QUOTE_SIZE];
        const size_t length = strlen(operands[0]);
        (void)dti_fail(reterr, DTI_USAGE, "what to measure is 'cast'; %s is not known%s",
                       dti_quote(quoted, operands[0], length),
                       strchr(operands[0], ':') ? ", it belongs behind the word cast" : "");
        dti_error_argument(reterr, operands[0], length);
        return DTI_USAGE;
    }
    if (args->list)
        return dti_bench_list(cx, reterr);
    return bench_cast(args, operands + 1, operand_count - 1, cx, reterr);
}

const struct dti_command dti_command_bench = {
    .name = "bench",
    .group = "machine",
    .summary = "timings next to this machine's own limit",
    .synopsis = "cast [SRC:DST[,SRC:DST...]]",
    .details = "Casts of arrays beside copies of as many bytes, in the same rounds. Without a pair:"
               "\nthe usual ones, in about a minute. GB/s count bytes read and bytes written.",
    .examples = "dtinfo bench cast fp32:bf16 --size 64KiB --time 0.1\n"
                "dtinfo bench cast fp32:fp8_e4m3fn --size 4KiB --level all --time 0.1\n"
                "dtinfo bench cast fp32:fp16 --size 64KiB --loss --time 0.1 --json\n"
                "dtinfo bench cast --list",
    .schema = "dtinfo.bench/1",
    .operands = DTI_OPERANDS_BENCH,
    .options = options,
    .args_size = sizeof(struct bench_args),
    .run = run,
};
