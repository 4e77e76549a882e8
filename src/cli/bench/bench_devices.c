/* SPDX-License-Identifier: MIT
 *
 * The devices that `bench` measures. A driver is loaded only where --device asks for it. */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_job.h"
#include "dtinfo/device.h"
#include "dtinfo/library.h"
#include "dtinfo/resident.h"

static void add(struct bench_job *job, const char *id, struct dti_gpu *gpu,
                struct dti_runner *runner)
{
    struct dti_bench_device *const device = &job->asked.devices[job->asked.device_count++];
    *device = (struct dti_bench_device){.gpu = gpu, .runner = runner};
    (void)snprintf(device->id, sizeof device->id, "%s", id);
}

/* Plans of casts want a runner, which has its device. */
static enum dti_status add_gpu(struct bench_job *job, unsigned number, struct dti_error *reterr)
{
    const struct dti_device_wish wish = {.kind = DTI_DEVICE_CUDA, .number = number};
    struct dti_gpu *gpu;
    struct dti_runner *runner;
    const bool casts = job->asked.setup.kind->casts;
    const enum dti_status status =
        casts ? dti_runner_open(&runner, &wish, reterr) : dti_gpu_open(&gpu, number, reterr);
    if (status == DTI_OK && casts)
        add(job, dti_runner_device(runner), dti_runner_gpu(runner), runner);
    else if (status == DTI_OK)
        add(job, dti_gpu_facts(gpu)->id, gpu, NULL);
    return status;
}

/* A loader that hangs would hold up the CPU's threads too. */
static enum dti_status check_loader(const char *why, struct dti_error *reterr)
{
    if (dti_library_is_opening())
        return dti_fail(reterr, DTI_DEVICE_FAILED, "%s; use --device cpu", why);
    return DTI_OK;
}

/* Every device that works; those that do not are told about. */
static enum dti_status add_all(struct bench_job *job, struct dti_error *reterr)
{
    struct dti_gpu_list list;
    add(job, "cpu", NULL, NULL);
    const enum dti_status status = dti_gpu_probe(&list, reterr);
    if (status != DTI_OK)
        return status;
    if (list.count == 0)
        (void)snprintf(job->device_reason, sizeof job->device_reason, "no CUDA device: %s",
                       list.why_not);
    for (size_t i = 0; i < list.count && job->asked.device_count < DTI_BENCH_DEVICES_MAX; i++) {
        struct dti_error error = {.status = DTI_OK};
        if (add_gpu(job, list.gpus[i].number, &error) != DTI_OK)
            dti_warn(job->cx, "cuda:%u is left out: %s", list.gpus[i].number, error.text);
    }
    const enum dti_status loader = check_loader(list.why_not, reterr);
    dti_gpu_list_free(&list);
    return loader;
}

enum dti_status dti_bench_devices_open(struct bench_job *job, const char *text,
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
    add(job, "cpu", NULL, NULL);
    return DTI_OK;
}

void dti_bench_devices_close(struct bench_job *job)
{
    for (size_t i = 0; i < job->asked.device_count; i++)
        if (job->asked.devices[i].runner)
            dti_runner_close(job->asked.devices[i].runner);
        else
            dti_gpu_close(job->asked.devices[i].gpu);
    job->asked.device_count = 0;
}
