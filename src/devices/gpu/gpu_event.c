/* SPDX-License-Identifier: MIT
 *
 * Events: timestamps on a stream. */
#include <stdlib.h>

#include "devices/gpu/gpu_parts.h"
#include "util/run/allocate.h"

struct event_args {
    struct dti_gpu_job job;
    CUstream stream;
    CUevent event, to;
    float milliseconds;
};

DTI_GPU_JOB(create, event_args, event, cuEventCreate, &event->event, CU_EVENT_DEFAULT)

enum dti_status dti_gpu_event_new(struct dti_gpu *gpu, struct dti_gpu_event **ret,
                                  struct dti_error *reterr)
{
    struct event_args args = {.event = NULL};
    struct dti_gpu_event *const event = dti_process_calloc(1, sizeof *event);
    if (!event)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_gpu_do(gpu, create, &args, sizeof args, reterr);
    if (status != DTI_OK) {
        dti_process_free(event);
        return status;
    }
    event->gpu = gpu;
    event->handle = args.event;
    *ret = event;
    return DTI_OK;
}

static void destroy(void *args)
{
    const struct event_args *const event = args;
    (void)event->job.cuda->cuEventDestroy_v2(event->event);
}

void dti_gpu_event_free(struct dti_gpu_event *event)
{
    if (!event)
        return;
    struct event_args args = {.event = event->handle};
    dti_gpu_undo(event->gpu, destroy, &args, sizeof args);
    dti_process_free(event);
}

DTI_GPU_JOB(record, event_args, event, cuEventRecord, event->event, event->stream)

enum dti_status dti_gpu_record(struct dti_gpu_stream *stream, struct dti_gpu_event *event,
                               struct dti_error *reterr)
{
    struct event_args args = {.stream = stream->handle, .event = event->handle};
    return dti_gpu_do(stream->gpu, record, &args, sizeof args, reterr);
}

DTI_GPU_JOB(wait_for, event_args, event, cuStreamWaitEvent, event->stream, event->event, 0)

enum dti_status dti_gpu_wait(struct dti_gpu_stream *stream, struct dti_gpu_event *event,
                             struct dti_error *reterr)
{
    struct event_args args = {.stream = stream->handle, .event = event->handle};
    return dti_gpu_do(stream->gpu, wait_for, &args, sizeof args, reterr);
}

DTI_GPU_JOB(elapsed, event_args, event, cuEventElapsedTime, &event->milliseconds, event->event,
            event->to)

enum dti_status dti_gpu_elapsed(struct dti_gpu_event *from, struct dti_gpu_event *to,
                                double *ret_seconds, struct dti_error *reterr)
{
    struct event_args args = {.event = from->handle, .to = to->handle};
    const enum dti_status status = dti_gpu_do(from->gpu, elapsed, &args, sizeof args, reterr);
    if (status == DTI_OK)
        *ret_seconds = (double)args.milliseconds / 1e3;
    return status;
}
