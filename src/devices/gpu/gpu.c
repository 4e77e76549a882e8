/* SPDX-License-Identifier: MIT
 *
 * Opens and closes CUDA devices, and handles lost devices. */
#include "devices/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/gpu_parts.h"
#include "util/run/allocate.h"
#include "util/run/process_environment.h"

enum dti_status dti_gpu_lose(struct dti_gpu *gpu, const struct dti_error *why,
                             struct dti_error *reterr)
{
    pthread_mutex_lock(&gpu->losing);
    if (!atomic_load(&gpu->lost)) {
        memcpy(gpu->reason, why->text, sizeof gpu->reason);
        atomic_store(&gpu->lost, true);
    }
    pthread_mutex_unlock(&gpu->losing);
    return dti_fail(reterr, DTI_DEVICE_FAILED, "%s", gpu->reason);
}

bool dti_gpu_is_lost(struct dti_gpu *gpu)
{
    return atomic_load(&gpu->lost);
}

static enum dti_status lose_late(struct dti_gpu *gpu, struct dti_error *reterr)
{
    char what[64];
    struct dti_error error;
    snprintf(what, sizeof what, "%s: the driver", gpu->facts.id);
    (void)dti_gpu_late(what, "did not answer", gpu->timeout, &error);
    return dti_gpu_lose(gpu, &error, reterr);
}

enum dti_status dti_gpu_do(struct dti_gpu *gpu, void (*job)(void *args), void *args, size_t size,
                           struct dti_error *reterr)
{
    struct dti_gpu_job head = {.cuda = gpu->cuda};
    if (atomic_load(&gpu->lost))
        return dti_fail(reterr, DTI_DEVICE_FAILED, "%s", gpu->reason);
    memcpy(args, &head, sizeof head);
    switch (dti_gpu_service_call(gpu->service, job, args, size)) {
    case DTI_SERVICE_DONE:
        break;
    case DTI_SERVICE_HANGS:
        return lose_late(gpu, reterr);
    case DTI_SERVICE_NO_MEMORY:
        return dti_no_memory(reterr);
    }
    memcpy(&head, args, sizeof head);
    if (head.failure.code == CUDA_SUCCESS)
        return DTI_OK;
    char words[DTI_CUDA_WORDS_SIZE];
    struct dti_error error;
    dti_cuda_words(words, &head.failure);
    (void)dti_fail(&error, DTI_NO_MEMORY, "%s: %s", gpu->facts.id, words);
    if (head.failure.code == CUDA_ERROR_OUT_OF_MEMORY)
        return dti_fail(reterr, DTI_NO_MEMORY, "%s", error.text);
    return dti_gpu_lose(gpu, &error, reterr);
}

void dti_gpu_undo(struct dti_gpu *gpu, void (*job)(void *args), void *args, size_t size)
{
    const struct dti_gpu_job head = {.cuda = gpu->cuda};
    memcpy(args, &head, sizeof head);
    if (dti_gpu_hangs())
        return;
    if (dti_gpu_service_call(gpu->service, job, args, size) == DTI_SERVICE_HANGS)
        (void)lose_late(gpu, NULL);
}

struct open_args {
    unsigned number;
    const struct dti_cuda *cuda;
    CUdevice device;
    CUcontext context;
    struct dti_gpu_facts facts;
    enum dti_status status;
    struct dti_error error;
};

static enum dti_status explain_open(const struct open_args *open,
                                    const struct dti_cuda_failure *failure,
                                    struct dti_error *reterr)
{
    char words[DTI_CUDA_WORDS_SIZE];
    const unsigned version = open->cuda->version;
    dti_cuda_words(words, failure);
    switch (failure->code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return dti_fail(reterr, DTI_NO_MEMORY, "cuda:%u: not enough memory to start: %s",
                        open->number, words);
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "cuda:%u: busy, or reserved by another process: %s", open->number, words);
    default:
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "cuda:%u: cannot be used: %s (driver for CUDA "
                        "%u.%u)",
                        open->number, words, version / 1000, version % 1000 / 10);
    }
}

static enum dti_status not_there(const struct open_args *open, struct dti_error *reterr)
{
    if (open->cuda->devices == 1)
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "cuda:%u does not exist; the only device is cuda:0", open->number);
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "cuda:%u does not exist; there are %u devices, cuda:0 to cuda:%u", open->number,
                    open->cuda->devices, open->cuda->devices - 1);
}

/* Runs in the device's thread, where the context stays current. */
static void open_device(void *args)
{
    struct open_args *const open = args;
    struct dti_cuda_failure failure = {.code = CUDA_SUCCESS};
    unsigned version;
    size_t free_bytes, total;
    open->status = dti_cuda_load(&open->cuda, &version, &open->error);
    if (open->status != DTI_OK)
        return;
    const struct dti_cuda *const cuda = open->cuda;
    if (open->number >= cuda->devices) {
        open->status = not_there(open, &open->error);
        return;
    }
    if (DTI_CUDA_FAILED(cuda, &failure, cuDeviceGet, &open->device, (int)open->number) ||
        DTI_CUDA_FAILED(cuda, &failure, cuDevicePrimaryCtxRetain, &open->context, open->device)) {
        open->status = explain_open(open, &failure, &open->error);
        return;
    }
    if (DTI_CUDA_FAILED(cuda, &failure, cuCtxSetCurrent, open->context) ||
        DTI_CUDA_FAILED(cuda, &failure, cuMemGetInfo_v2, &free_bytes, &total)) {
        open->status = explain_open(open, &failure, &open->error);
        (void)cuda->cuDevicePrimaryCtxRelease(open->device);
        return;
    }
    dti_cuda_facts(cuda, open->device, open->number, &open->facts);
    open->facts.free_bytes = free_bytes;
}

struct close_args {
    struct dti_gpu_job job;
    CUmodule module;
    CUdevice device;
};

static void close_device(void *args)
{
    const struct close_args *const close = args;
    if (close->module)
        (void)close->job.cuda->cuModuleUnload(close->module);
    (void)close->job.cuda->cuDevicePrimaryCtxRelease(close->device);
}

enum dti_status dti_gpu_open(struct dti_gpu **ret, unsigned number, struct dti_error *reterr)
{
    double timeout = dti_gpu_timeout();
    const char *const text = dti_environment("DTINFO_CUDA_TIMEOUT");
    if (text && dti_gpu_timeout_parse(text, &timeout, reterr) != DTI_OK)
        return DTI_BAD_ENVIRONMENT;
    struct dti_gpu *const gpu = dti_process_calloc(1, sizeof *gpu);
    struct open_args args;
    memset(&args, 0, sizeof args);
    args.number = number;
    if (!gpu)
        return dti_no_memory(reterr);
    gpu->timeout = timeout;
    enum dti_status status = dti_gpu_service_new(&gpu->service, timeout, reterr);
    if (status != DTI_OK) {
        dti_process_free(gpu);
        return status;
    }
    switch (dti_gpu_service_call(gpu->service, open_device, &args, sizeof args)) {
    case DTI_SERVICE_DONE:
        if (args.status != DTI_OK) {
            status = args.status;
            if (reterr)
                *reterr = args.error;
        }
        break;
    case DTI_SERVICE_HANGS:
        status = dti_gpu_late("the CUDA driver", "did not answer", timeout, reterr);
        break;
    case DTI_SERVICE_NO_MEMORY:
        status = dti_no_memory(reterr);
        break;
    }
    if (status != DTI_OK) {
        dti_gpu_service_free(gpu->service);
        dti_process_free(gpu);
        return status;
    }
    gpu->cuda = args.cuda;
    gpu->device = args.device;
    gpu->context = args.context;
    gpu->facts = args.facts;
    pthread_mutex_init(&gpu->losing, NULL);
    pthread_mutex_init(&gpu->loading, NULL);
    atomic_init(&gpu->lost, false);
    *ret = gpu;
    return DTI_OK;
}

void dti_gpu_close(struct dti_gpu *gpu)
{
    if (!gpu)
        return;
    struct close_args args = {.module = gpu->module, .device = gpu->device};
    dti_gpu_undo(gpu, close_device, &args, sizeof args);
    dti_gpu_service_free(gpu->service);
    pthread_mutex_destroy(&gpu->losing);
    pthread_mutex_destroy(&gpu->loading);
    dti_process_free(gpu->functions);
    dti_process_free(gpu);
}

const struct dti_gpu_facts *dti_gpu_facts(const struct dti_gpu *gpu)
{
    return &gpu->facts;
}

enum dti_status dti_gpu_enter(struct dti_gpu *gpu, struct dti_error *reterr)
{
    struct dti_gpu_job job = {.cuda = gpu->cuda};
    if (atomic_load(&gpu->lost))
        return dti_fail(reterr, DTI_DEVICE_FAILED, "%s", gpu->reason);
    if (!DTI_GPU_FAILED(&job, cuCtxSetCurrent, gpu->context))
        return DTI_OK;
    char words[DTI_CUDA_WORDS_SIZE];
    return dti_fail(reterr, DTI_DEVICE_FAILED, "%s: %s", gpu->facts.id,
                    dti_cuda_words(words, &job.failure));
}
