/* SPDX-License-Identifier: MIT
 *
 * Runners: which device, whether it is still used, and why not. */
#include "dtinfo/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/runner_parts.h"
#include "dtinfo/library.h"

enum { THREADS_MAX = 16 };

/* Opens a device and makes its kernels ready, so that anything missing is reported before work
 * starts. */
static enum dti_status open_gpu(struct dti_runner *runner, unsigned number,
                                struct dti_error *reterr)
{
    struct dti_gpu *gpu;
    double seconds;
    enum dti_status status = dti_gpu_open(&gpu, number, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_gpu_load(gpu, &seconds, reterr);
    if (status != DTI_OK) {
        dti_gpu_close(gpu);
        return status;
    }
    runner->gpu = gpu;
    memcpy(runner->id, dti_gpu_facts(gpu)->id, sizeof runner->id);
    atomic_store(&runner->on_device, true);
    return DTI_OK;
}

/* The first device that works; the error is that of the first. */
static enum dti_status open_any(struct dti_runner *runner, struct dti_error *reterr)
{
    struct dti_gpu_list list;
    enum dti_status status = open_gpu(runner, 0, reterr);
    if (status == DTI_OK || dti_gpu_hangs() || dti_gpu_probe(&list, NULL) != DTI_OK)
        return status;
    for (size_t i = 0; i < list.count && status != DTI_OK && !dti_gpu_hangs(); i++) {
        if (list.gpus[i].number != 0)
            status = open_gpu(runner, list.gpus[i].number, NULL);
    }
    dti_gpu_list_free(&list);
    return status;
}

enum dti_status dti_runner_open(struct dti_runner **ret, const struct dti_device_wish *wish,
                                struct dti_error *reterr)
{
    struct dti_error error;
    if (wish->kind == DTI_DEVICE_CPU) {
        *ret = NULL;
        return DTI_OK;
    }
    if (wish->kind == DTI_DEVICE_ALL)
        return dti_fail(reterr, DTI_USAGE,
                        "a cast has one device, not 'all'; use cpu, cuda, cuda:N or auto");
    struct dti_runner *const runner = calloc(1, sizeof *runner);
    if (!runner)
        return dti_no_memory(reterr);
    runner->demanded = wish->kind == DTI_DEVICE_CUDA;
    runner->lane_max = DTI_RUNNER_LANES;
    runner->slot_size = UINT64_MAX;
    atomic_init(&runner->on_device, false);
    pthread_mutex_init(&runner->lock, NULL);
    pthread_cond_init(&runner->freed, NULL);
    const enum dti_status status =
        runner->demanded ? open_gpu(runner, wish->number, &error) : open_any(runner, &error);
    /* without a loader the CPU's threads could not be started either */
    const bool stuck = status != DTI_OK && dti_library_is_opening();
    if (status != DTI_OK && (runner->demanded || status == DTI_BAD_ENVIRONMENT || stuck)) {
        if (reterr)
            *reterr = error;
        dti_runner_close(runner);
        return status;
    }
    if (status != DTI_OK)
        (void)snprintf(runner->reason, sizeof runner->reason, "%s", error.text);
    *ret = runner;
    return DTI_OK;
}

void dti_runner_close(struct dti_runner *runner)
{
    if (!runner)
        return;
    dti_lanes_free(runner);
    dti_gpu_close(runner->gpu);
    pthread_cond_destroy(&runner->freed);
    pthread_mutex_destroy(&runner->lock);
    free(runner);
}

void dti_runner_leave(struct dti_runner *runner, const struct dti_error *error)
{
    pthread_mutex_lock(&runner->lock);
    if (atomic_load(&runner->on_device)) {
        (void)snprintf(runner->reason, sizeof runner->reason, "%s; the rest was cast on the CPU",
                       error->text);
        atomic_store(&runner->on_device, false);
    }
    pthread_mutex_unlock(&runner->lock);
}

const char *dti_runner_device(const struct dti_runner *runner)
{
    return dti_runner_is_on(runner) ? runner->id : "cpu";
}

const char *dti_runner_reason(const struct dti_runner *runner)
{
    return runner && !dti_runner_is_on(runner) ? runner->reason : "";
}

size_t dti_runner_threads(const struct dti_runner *runner, size_t cpus)
{
    if (!dti_runner_is_on(runner))
        return cpus;
    return cpus < THREADS_MAX ? cpus + 1 : THREADS_MAX;
}
