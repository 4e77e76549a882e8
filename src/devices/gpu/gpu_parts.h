/* SPDX-License-Identifier: MIT
 *
 * Internals of a CUDA device: how its functions call the driver. */
#ifndef DEVICES_GPU_GPU_PARTS_H
#define DEVICES_GPU_GPU_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "devices/gpu/cuda_driver.h"
#include "devices/gpu/gpu.h"
#include "devices/gpu/gpu_service.h"

struct dti_gpu {
    const struct dti_cuda *cuda;
    struct dti_gpu_service *service; /* the thread that owns the context */
    struct dti_gpu_facts facts;
    double timeout; /* seconds */
    CUdevice device;
    CUcontext context;
    pthread_mutex_t losing;
    atomic_bool lost; /* never reset */
    char reason[512]; /* why it is lost */
    pthread_mutex_t loading;
    CUmodule module;       /* NULL until loaded */
    CUfunction *functions; /* [DTI_GPU_KERNEL_COUNT] */
};

struct dti_gpu_stream {
    struct dti_gpu *gpu;
    CUstream handle;
};

struct dti_gpu_event {
    struct dti_gpu *gpu;
    CUevent handle;
};

/* The first member of every job's arguments. */
struct dti_gpu_job {
    const struct dti_cuda *cuda;
    struct dti_cuda_failure failure;
};
#define DTI_GPU_FAILED(job, function, ...) \
    DTI_CUDA_FAILED((job)->cuda, &(job)->failure, function, __VA_ARGS__)

/* A job that is a single driver call; args: a struct `type`, named as in the parameters. */
#define DTI_GPU_JOB(name, type, args, function, ...)               \
    static void name(void *context)                                \
    {                                                              \
        struct type *const args = context;                         \
        (void)DTI_GPU_FAILED(&(args)->job, function, __VA_ARGS__); \
    }

/* Runs a job in the device's thread; its arguments start with a struct dti_gpu_job. Fails with
 * DTI_NO_MEMORY if the device is out of memory, else with DTI_DEVICE_FAILED; the device is then
 * lost. */
enum dti_status dti_gpu_do(struct dti_gpu *gpu, void (*job)(void *args), void *args, size_t size,
                           struct dti_error *reterr);
/* The same for releasing resources; also runs if the device is lost, unless its driver hangs. */
void dti_gpu_undo(struct dti_gpu *gpu, void (*job)(void *args), void *args, size_t size);
/* Marks the device as lost; keeps the first reason and fails with it. */
enum dti_status dti_gpu_lose(struct dti_gpu *gpu, const struct dti_error *why,
                             struct dti_error *reterr);

/* "the CUDA driver did not answer within 30 s". Fails with DTI_DEVICE_FAILED. */
enum dti_status dti_gpu_late(const char *what, const char *did_not, double seconds,
                             struct dti_error *reterr);

#endif
