/* SPDX-License-Identifier: MIT
 *
 * Streams and copies of the fake CUDA driver. Unpinned host memory is copied at once: a real driver
 * stages it in buffers of its own. Pinned memory is read or written only when the stream runs. */
#include <stdlib.h>
#include <string.h>

#include "fake_work.h"

enum { NOT_YET = 0x5a }; /* filler of pinned memory until a download arrives */

CUresult fake_stream_result(CUstream stream)
{
    const CUresult result = fake_context_result();
    if (result != CUDA_SUCCESS)
        return result;
    for (CUstream other = fake_streams; other; other = other->next) {
        if (other == stream && other->device == fake_current())
            return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamCreate(CUstream *ret, unsigned flags)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS && flags != CU_STREAM_NON_BLOCKING)
        result = CUDA_ERROR_INVALID_VALUE;
    CUstream stream = result == CUDA_SUCCESS ? calloc(1, sizeof *stream) : NULL;
    if (!stream)
        return fake_leave(result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY);
    stream->device = fake_current();
    stream->next = fake_streams;
    fake_streams = stream;
    *ret = stream;
    return fake_leave(CUDA_SUCCESS);
}

static void remove_stream(CUstream *at)
{
    const CUstream stream = *at;
    while (stream->first)
        fake_work_drop(stream);
    *at = stream->next;
    for (CUevent event = fake_events; event; event = event->next) {
        if (event->stream == stream)
            event->stream = NULL;
    }
    free(stream);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS && !fake_work_run_all(stream))
        fake_mistake("destroyed", "a stream whose kernel hangs");
    CUstream *at = &fake_streams;
    while (result == CUDA_SUCCESS && *at != stream)
        at = &(*at)->next;
    if (result == CUDA_SUCCESS)
        remove_stream(at);
    return fake_leave(result);
}

CUresult cuStreamQuery(CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS && stream->first) {
        (void)fake_work_run(stream);
        result = stream->device->fault;
        if (result == CUDA_SUCCESS && stream->first)
            result = CUDA_ERROR_NOT_READY;
    }
    return fake_leave(result);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS && !fake_memory_at(fake_current(), dst, size))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        const bool pinned = fake_is_pinned(src, size);
        struct work *const work = fake_work_new(WORK_UPLOAD, src, pinned ? 0 : size);
        work->dst = dst;
        work->host_src = pinned ? src : NULL;
        work->size = size;
        fake_work_queue(stream, work);
    }
    return fake_leave(result);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS && !fake_memory_at(fake_current(), src, size))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        const bool pinned = fake_is_pinned(dst, size);
        struct work *const work = fake_work_new(WORK_DOWNLOAD, NULL, 0);
        work->host_dst = dst;
        work->src = src;
        work->size = size;
        if (pinned)
            memset(dst, NOT_YET, size);
        fake_work_queue(stream, work);
        if (!pinned && !fake_work_run_all(stream))
            fake_wait_for_ever();
        result = fake_current()->fault;
    }
    return fake_leave(result);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS &&
        (!fake_memory_at(fake_current(), src, size) || !fake_memory_at(fake_current(), dst, size)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        struct work *const work = fake_work_new(WORK_COPY, NULL, 0);
        work->dst = dst;
        work->src = src;
        work->size = size;
        fake_work_queue(stream, work);
    }
    return fake_leave(result);
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char byte, size_t size, CUstream stream)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS && !fake_memory_at(fake_current(), dst, size))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        struct work *const work = fake_work_new(WORK_FILL, NULL, 0);
        work->dst = dst;
        work->byte = byte;
        work->size = size;
        fake_work_queue(stream, work);
    }
    return fake_leave(result);
}

CUresult fake_launch_queue(CUstream stream, const struct fake_kernel *kernel, const void *args,
                           uint64_t threads)
{
    const CUresult result = fake_stream_result(stream);
    if (result == CUDA_SUCCESS) {
        struct work *const work = fake_work_new(WORK_KERNEL, args, kernel->args_size);
        work->kernel = kernel;
        work->threads = threads;
        fake_work_queue(stream, work);
    }
    return result;
}

void fake_streams_discard(struct fake_device *device)
{
    for (CUstream *at = &fake_streams; *at;) {
        if ((*at)->device == device) {
            fake_totals.leaked_streams++;
            remove_stream(at);
        } else {
            at = &(*at)->next;
        }
    }
    for (CUevent *at = &fake_events; *at;) {
        const CUevent event = *at;
        if (event->device == device) {
            fake_totals.leaked_events++;
            *at = event->next;
            free(event);
        } else {
            at = &event->next;
        }
    }
}
