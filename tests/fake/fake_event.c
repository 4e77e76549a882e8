/* SPDX-License-Identifier: MIT
 *
 * Events of the fake CUDA driver. */
#include <stdlib.h>

#include "fake_work.h"

static CUresult event_result(CUevent event)
{
    for (CUevent other = fake_events; other; other = other->next) {
        if (other == event && other->device == fake_current())
            return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventCreate(CUevent *ret, unsigned flags)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS && flags != CU_EVENT_DEFAULT)
        result = CUDA_ERROR_INVALID_VALUE;
    CUevent event = result == CUDA_SUCCESS ? calloc(1, sizeof *event) : NULL;
    if (!event)
        return fake_leave(result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY);
    event->device = fake_current();
    event->next = fake_events;
    fake_events = event;
    *ret = event;
    return fake_leave(CUDA_SUCCESS);
}

/* Runs pending work that uses the event first. The real driver keeps the event until then. */
CUresult cuEventDestroy_v2(CUevent event)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS)
        result = event_result(event);
    if (result == CUDA_SUCCESS)
        fake_streams_run_all(fake_current());
    CUevent *at = &fake_events;
    while (result == CUDA_SUCCESS && *at != event)
        at = &(*at)->next;
    if (result == CUDA_SUCCESS) {
        *at = event->next;
        free(event);
    }
    return fake_leave(result);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS)
        result = event_result(event);
    if (result == CUDA_SUCCESS) {
        struct work *const work = fake_work_new(WORK_RECORD, NULL, 0);
        work->event = event;
        event->stream = stream;
        event->queued = work->number;
        fake_work_queue(stream, work);
    }
    return fake_leave(result);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = flags != 0 ? CUDA_ERROR_INVALID_VALUE : fake_stream_result(stream);
    if (result == CUDA_SUCCESS)
        result = event_result(event);
    if (result == CUDA_SUCCESS && event->passed < event->queued) {
        struct work *const work = fake_work_new(WORK_WAIT, NULL, 0);
        work->event = event;
        work->awaited = event->queued;
        fake_work_queue(stream, work);
    }
    return fake_leave(result);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS)
        result = event_result(start);
    if (result == CUDA_SUCCESS)
        result = event_result(end);
    if (result == CUDA_SUCCESS && (start->queued == 0 || end->queued == 0))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS && (start->passed < start->queued || end->passed < end->queued))
        result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS)
        *milliseconds = (float)((double)end->nanoseconds - (double)start->nanoseconds) / 1e6f;
    return fake_leave(result);
}
