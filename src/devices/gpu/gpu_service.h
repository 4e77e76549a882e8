/* SPDX-License-Identifier: MIT
 *
 * A thread that calls the driver on behalf of others, which wait only for a limited time,
 * because a driver call may never return. The thread is then abandoned with its data. */
#ifndef DEVICES_GPU_GPU_SERVICE_H
#define DEVICES_GPU_GPU_SERVICE_H

#include <stddef.h>

#include "util/error.h"

struct dti_gpu_service;

enum { DTI_SERVICE_ARGS_MAX = 2048 };

enum dti_service_answer {
    DTI_SERVICE_DONE,
    DTI_SERVICE_HANGS, /* the job, or an earlier one, exceeded `seconds` */
    DTI_SERVICE_NO_MEMORY,
};

/* seconds: time limit of a job. Fails with DTI_UNAVAILABLE or DTI_NO_MEMORY. */
enum dti_status dti_gpu_service_new(struct dti_gpu_service **ret, double seconds,
                                    struct dti_error *reterr);
/* A hanging service is abandoned, not freed. NULL is fine; no call may be in progress. */
void dti_gpu_service_free(struct dti_gpu_service *service);

/* Runs job(copy of args) in the service's thread, in call order, and copies the arguments back.
 * If the answer is DTI_SERVICE_HANGS, the job may use memory that args point to indefinitely.
 * Thread-safe. */
enum dti_service_answer dti_gpu_service_call(struct dti_gpu_service *service,
                                             void (*job)(void *args), void *args, size_t size);

/* Makes dti_gpu_hangs() true from now on: a kernel or a job does not end. */
void dti_gpu_set_hanging(void);

#endif
