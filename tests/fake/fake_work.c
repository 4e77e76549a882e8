/* SPDX-License-Identifier: MIT
 *
 * Queued work of the fake driver's streams. Work runs only when a caller asks about its stream;
 * each query runs one item. */
#define _POSIX_C_SOURCE 200809L
#include "fake_work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct CUstream_st *fake_streams;
struct CUevent_st *fake_events;
static uint64_t last_number;

struct work *fake_work_new(enum work_kind kind, const void *held, size_t held_size)
{
    struct work *const work = calloc(1, sizeof *work + held_size);
    if (!work)
        fake_mistake("out of memory", "work");
    work->kind = kind;
    work->number = ++last_number;
    if (held_size > 0)
        memcpy(work->held, held, held_size);
    return work;
}

void fake_work_queue(CUstream stream, struct work *work)
{
    uint64_t busy = 0;
    if (stream->last)
        stream->last->next = work;
    else
        stream->first = work;
    stream->last = work;
    for (CUstream other = fake_streams; other; other = other->next)
        busy += other->first != NULL;
    if (busy > fake_totals.most_busy_streams)
        fake_totals.most_busy_streams = busy;
}

void fake_work_drop(CUstream stream)
{
    struct work *const work = stream->first;
    stream->first = work->next;
    if (!stream->first)
        stream->last = NULL;
    free(work);
}

static CUresult move_bytes(struct fake_device *device, const struct work *work)
{
    unsigned char *const dst = work->kind == WORK_DOWNLOAD
                                   ? work->host_dst
                                   : fake_memory_at(device, work->dst, work->size);
    const unsigned char *src;
    if (work->kind == WORK_UPLOAD)
        src = work->host_src ? work->host_src : (const unsigned char *)work->held;
    else
        src = fake_memory_at(device, work->src, work->size);
    if (!dst || !src)
        return CUDA_ERROR_ILLEGAL_ADDRESS; /* freed in the meantime */
    memmove(dst, src, work->size);
    fake_totals.copied_bytes += work->size;
    return CUDA_SUCCESS;
}

static CUresult do_work(CUstream stream, struct work *work)
{
    struct timespec now;
    CUresult result = CUDA_SUCCESS;
    unsigned char *dst;
    switch (work->kind) {
    case WORK_UPLOAD:
    case WORK_DOWNLOAD:
    case WORK_COPY:
        (void)fake_event_hangs("copy"); /* counts the copy */
        result = fake_event_result("copy");
        return result != CUDA_SUCCESS ? result : move_bytes(stream->device, work);
    case WORK_FILL:
        dst = fake_memory_at(stream->device, work->dst, work->size);
        if (!dst)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        memset(dst, work->byte, work->size);
        return CUDA_SUCCESS;
    case WORK_KERNEL:
        result = fake_event_result("kernel");
        return result != CUDA_SUCCESS
                   ? result
                   : fake_kernel_run(stream->device, work->kernel, work->held, work->threads);
    case WORK_RECORD:
        clock_gettime(CLOCK_MONOTONIC, &now);
        work->event->passed = work->number;
        work->event->nanoseconds =
            (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
        return CUDA_SUCCESS;
    case WORK_WAIT:
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_UNKNOWN;
}

/* Runs the first item of a stream; false if it cannot run because a kernel hangs. A wait first runs
 * the other stream up to the event. That work was queued earlier, so this recursion ends. */
bool fake_work_run(CUstream stream)
{
    struct work *const work = stream->first;
    if (stream->device->fault != CUDA_SUCCESS) {
        fake_work_drop(stream);
        return true;
    }
    if (work->kind == WORK_KERNEL && !work->hangs)
        work->hangs = fake_event_hangs("kernel");
    if (work->hangs)
        return false;
    if (work->kind == WORK_WAIT && work->event) {
        while (work->event->passed < work->awaited && work->event->stream &&
               work->event->stream->first) {
            if (!fake_work_run(work->event->stream))
                return false;
        }
    }
    const CUresult result = do_work(stream, work);
    if (result != CUDA_SUCCESS)
        stream->device->fault = result; /* a fault of queued work is always sticky */
    fake_work_drop(stream);
    return true;
}

bool fake_work_run_all(CUstream stream)
{
    while (stream->first) {
        if (!fake_work_run(stream))
            return false;
    }
    return true;
}

void fake_streams_run_all(struct fake_device *device)
{
    for (CUstream stream = fake_streams; stream; stream = stream->next) {
        if (stream->device == device && !fake_work_run_all(stream))
            fake_wait_for_ever();
    }
}
