/* SPDX-License-Identifier: MIT
 *
 * A thread that calls the driver for others, which wait for it only for a limited time: a driver
 * call may never return. Then the thread is left alone with what it was working on. */
#ifndef DEVICES_GPU_GPU_SERVICE_H
#define DEVICES_GPU_GPU_SERVICE_H

#include <stddef.h>

#include "dtinfo/error.h"

struct dti_gpu_service;

enum { DTI_SERVICE_ARGS_MAX = 2048 };

enum dti_service_answer {
    DTI_SERVICE_DONE,
    DTI_SERVICE_HANGS, /* the job, or one before it, took longer than `seconds` */
    DTI_SERVICE_NO_MEMORY,
};

/* seconds: that a job may take. Fails with DTI_UNAVAILABLE or DTI_NO_MEMORY. */
enum dti_status dti_gpu_service_new(struct dti_gpu_service **ret, double seconds,
                                    struct dti_error *reterr);
/* One that hangs is left as it is. NULL is fine; no call may be under way. */
void dti_gpu_service_free(struct dti_gpu_service *service);

/* Runs job(copy of args) in the service's thread, in the order of the calls, and copies back what
 * it left there. Memory that args point to may be used by the job for ever when the answer is
 * DTI_SERVICE_HANGS. May be called by several threads. */
enum dti_service_answer dti_gpu_service_call(struct dti_gpu_service *service,
                                             void (*job)(void *args), void *args, size_t size);

/* Makes dti_gpu_hangs() true from now on: a kernel does not end, or a job does not. */
void dti_gpu_set_hanging(void);

#endif
