/* SPDX-License-Identifier: MIT
 *
 * What `bench` measures, from its options and operands. */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "cli/shared/option_rows.h"
#include "dtinfo/library.h"
#include "dtinfo/nearest.h"
#include "dtinfo/resident.h"

static const char default_pairs[] = "fp32:bf16,fp32:fp16,bf16:fp32,fp16:fp32,fp64:fp32,"
                                    "fp32:fp8_e4m3fn,fp32:fp8_e5m2,fp8_e4m3fn:fp32,"
                                    "fp32:int8,int8:fp32";

/* A run of the default suite takes about a minute. */
static const uint64_t suite_nanoseconds = 42000000000, least_nanoseconds = 1000000000,
                      most_nanoseconds = 5000000000;

static enum dti_status look_up(const struct bench_job *job, const char *text, size_t length,
                               struct dti_format *ret, struct dti_error *reterr)
{
    const struct bench_word word = {.text = text, .length = length};
    if (length == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "a cast is SRC:DST, as in fp32:bf16; a dtype is missing next to the colon");
    const enum dti_status status = dti_bench_look_up(job, &word, ret, reterr);
    if (status != DTI_OK || ret->kind != DTI_KIND_COMPLEX)
        return status;
    return dti_fail_word(reterr, DTI_WRONG_KIND, text, length,
                         "%s is complex; measure its parts, %s", ret->name,
                         dti_format_get(ret->component)->name);
}

static enum dti_status take_pair(struct bench_job *job, const struct bench_word *word,
                                 struct dti_error *reterr)
{
    const char *const colon = memchr(word->text, ':', word->length);
    if (!colon)
        return dti_bench_refuse(DTI_USAGE, "a cast is SRC:DST, as in fp32:bf16", word, reterr);
    if (job->asked.pair_count == DTI_BENCH_PAIRS_MAX)
        return dti_bench_too_many("casts", reterr);
    struct dti_bench_pair *const pair = &job->asked.pairs[job->asked.pair_count++];
    const size_t first = (size_t)(colon - word->text);
    enum dti_status status = look_up(job, word->text, first, &pair->src, reterr);
    if (status == DTI_OK)
        status = look_up(job, colon + 1, word->length - first - 1, &pair->dst, reterr);
    if (status == DTI_OK && job->args->overflow == DTI_OVERFLOW_WRAP &&
        !dti_format_is_integer(&pair->dst))
        status = dti_fail(reterr, DTI_USAGE,
                          "--overflow wrap is for integer dtypes; %s is a float: use saturate",
                          pair->dst.name);
    return status;
}

static void share_time(struct bench_job *job)
{
    const uint64_t subjects =
        job->asked.setup.kind->casts ? job->asked.pair_count : job->asked.cast.level_count;
    const uint64_t measurements =
        subjects * job->asked.thread_count * job->asked.size_count * job->asked.device_count;
    const uint64_t share = suite_nanoseconds / measurements;
    job->asked.setup.nanoseconds = share < least_nanoseconds  ? least_nanoseconds
                                   : share > most_nanoseconds ? most_nanoseconds
                                                              : share;
}

static enum dti_status no_operand(const struct dti_bench_kind *kind, const char *operand,
                                  struct dti_error *reterr)
{
    const size_t length = strlen(operand);
    return dti_fail_word(
        reterr, DTI_USAGE, operand, length, "'bench %s' takes no operands; got %s%s", kind->name,
        DTI_QUOTED(operand, length),
        kind->dtypes[0] != '\0' ? ": name dtypes with --dtype, sizes with --size" : "");
}

static void add_device(struct bench_job *job, const char *id, struct dti_gpu *gpu,
                       struct dti_runner *runner)
{
    struct dti_bench_device *const device = &job->asked.devices[job->asked.device_count++];
    *device = (struct dti_bench_device){.gpu = gpu, .runner = runner};
    (void)snprintf(device->id, sizeof device->id, "%s", id);
}

/* Plans of casts need a runner, which owns its device. */
static enum dti_status add_gpu(struct bench_job *job, unsigned number, struct dti_error *reterr)
{
    const struct dti_device_wish wish = {.kind = DTI_DEVICE_CUDA, .number = number};
    struct dti_gpu *gpu;
    struct dti_runner *runner;
    const bool casts = job->asked.setup.kind->casts;
    const enum dti_status status =
        casts ? dti_runner_open(&runner, &wish, reterr) : dti_gpu_open(&gpu, number, reterr);
    if (status == DTI_OK && casts)
        add_device(job, dti_runner_device(runner), dti_runner_gpu(runner), runner);
    else if (status == DTI_OK)
        add_device(job, dti_gpu_facts(gpu)->id, gpu, NULL);
    return status;
}

/* A loader that hangs would block the CPU's threads too. */
static enum dti_status check_loader(const char *why, struct dti_error *reterr)
{
    if (dti_library_is_opening())
        return dti_fail(reterr, DTI_DEVICE_FAILED, "%s; use --device cpu", why);
    return DTI_OK;
}

/* Adds every device that works and warns about the others. */
static enum dti_status add_all(struct bench_job *job, struct dti_error *reterr)
{
    struct dti_gpu_list list;
    add_device(job, "cpu", NULL, NULL);
    const enum dti_status status = dti_gpu_probe(&list, reterr);
    if (status != DTI_OK)
        return status;
    if (list.count == 0)
        (void)snprintf(job->device_reason, sizeof job->device_reason, "no CUDA device: %s",
                       list.why_not);
    for (size_t i = 0; i < list.count && job->asked.device_count < DTI_BENCH_DEVICES_MAX; i++) {
        struct dti_error error = {.status = DTI_OK};
        if (add_gpu(job, list.gpus[i].number, &error) != DTI_OK)
            dti_warn(job->cx, "cuda:%u is skipped: %s", list.gpus[i].number, error.text);
    }
    const enum dti_status loader = check_loader(list.why_not, reterr);
    dti_gpu_list_free(&list);
    return loader;
}

/* The devices of --device. A driver is loaded only if --device asks for one. */
static enum dti_status open_devices(struct bench_job *job, const char *text,
                                    struct dti_error *reterr)
{
    struct dti_device_wish wish;
    enum dti_status status = dti_device_wish_parse(&wish, text, reterr);
    if (status != DTI_OK)
        return status;
    if (wish.kind == DTI_DEVICE_ALL)
        return add_all(job, reterr);
    if (wish.kind == DTI_DEVICE_CUDA)
        return add_gpu(job, wish.number, reterr);
    if (wish.kind == DTI_DEVICE_AUTO) {
        struct dti_error error = {.status = DTI_OK};
        if (add_gpu(job, 0, &error) == DTI_OK)
            return DTI_OK;
        status = check_loader(error.text, reterr);
        if (status != DTI_OK)
            return status;
        (void)snprintf(job->device_reason, sizeof job->device_reason, "cpu: %s", error.text);
    }
    add_device(job, "cpu", NULL, NULL);
    return DTI_OK;
}

/* --a and --b: the size is theirs, and dtypes in which they overflow are left out. */
static enum dti_status take_operands(struct bench_job *job, struct dti_error *reterr)
{
    struct dti_bench_job *const asked = &job->asked;
    const char *overflow[DTI_BENCH_DTYPES_MAX];
    size_t kept = 0;
    const enum dti_status status = dti_bench_operands_read(
        &job->operands, asked->setup.kind, job->args->a, job->args->b, &asked->sizes[0], reterr);
    if (status != DTI_OK)
        return status;
    asked->size_count = 1;
    asked->request.operands = job->operands.list;
    for (size_t i = 0; i < asked->request.dtype_count; i++) {
        overflow[i] = dti_bench_operands_overflow(job->operands.list, asked->dtypes[i]);
        kept += !overflow[i];
    }
    if (kept == 0)
        return dti_fail(reterr, DTI_BAD_VALUE, "nothing can be measured in %s: %s",
                        dti_format_get(asked->dtypes[0])->name, overflow[0]);
    kept = 0;
    for (size_t i = 0; i < asked->request.dtype_count; i++) {
        if (overflow[i])
            dti_warn(job->cx, "%s is left out: %s", dti_format_get(asked->dtypes[i])->name,
                     overflow[i]);
        else
            asked->dtypes[kept++] = asked->dtypes[i];
    }
    asked->request.dtype_count = kept;
    return DTI_OK;
}

enum dti_status dti_bench_job_init(struct bench_job *ret, const struct dti_bench_kind *kind,
                                   const struct bench_args *args, char **operands,
                                   int operand_count, const struct dti_context *cx,
                                   struct dti_error *reterr)
{
    const uint64_t seed = args->seed_given ? args->seed : 1;
    *ret = (struct bench_job){
        .asked = {.setup = {.kind = kind,
                            .data = dti_choice_name(dti_choice_bench_data, args->data),
                            .cache = dti_choice_name(dti_choice_bench_cache, args->cache),
                            .round = dti_choice_name(dti_choice_round, args->round),
                            .overflow = dti_choice_name(dti_choice_overflow, args->overflow),
                            .engine = args->engine,
                            .a = args->a,
                            .b = args->b,
                            .seed = seed,
                            .loss = args->loss,
                            .with_alloc = args->with_alloc,
                            .samples = args->samples,
                            .cpus = dti_cpu_count()},
                  .request = {.cache = (enum dti_bench_cache)args->cache,
                              .with_alloc = args->with_alloc,
                              .engine = args->engine,
                              .seed = seed,
                              .options = {.seed = seed, .cpus = dti_cpu_count()}},
                  .cast = {.policy = {.round = (enum dti_round)args->round,
                                      .overflow = (enum dti_overflow)args->overflow,
                                      .seed = seed},
                           .loss = args->loss,
                           .data = (enum dti_bench_data)args->data},
                  .usual_sizes = !args->size && !args->a},
        .args = args,
        .cx = cx,
    };
    enum dti_status status = dti_bench_parse_levels(ret, args->level, reterr);
    if (status == DTI_OK && !args->a)
        status = dti_bench_each_word(ret, args->size ? args->size : kind->sizes,
                                     dti_bench_take_size, reterr);
    if (status == DTI_OK)
        status = dti_bench_each_word(ret, args->threads ? args->threads : "all",
                                     dti_bench_take_threads, reterr);
    if (status == DTI_OK && !kind->casts && operand_count > 0)
        status = no_operand(kind, operands[0], reterr);
    for (int i = 0; i < operand_count && status == DTI_OK; i++)
        status = dti_bench_each_word(ret, operands[i], take_pair, reterr);
    if (status == DTI_OK && kind->casts && operand_count == 0)
        status = dti_bench_each_word(ret, default_pairs, take_pair, reterr);
    if (status == DTI_OK && (args->dtypes || kind->dtypes[0] != '\0'))
        status = dti_bench_each_word(ret, args->dtypes ? args->dtypes : kind->dtypes,
                                     dti_bench_take_dtype, reterr);
    if (status == DTI_OK && args->a)
        status = take_operands(ret, reterr);
    if (status == DTI_OK && args->time)
        status = dti_bench_parse_time(ret, args->time, reterr);
    if (status == DTI_OK)
        status = open_devices(ret, args->device, reterr);
    if (status == DTI_OK && !args->time)
        share_time(ret);
    return status;
}

void dti_bench_job_end(struct bench_job *job)
{
    for (size_t i = 0; i < job->asked.device_count; i++)
        if (job->asked.devices[i].runner)
            dti_runner_close(job->asked.devices[i].runner);
        else
            dti_gpu_close(job->asked.devices[i].gpu);
    job->asked.device_count = 0;
    dti_bench_operands_free(&job->operands);
}
