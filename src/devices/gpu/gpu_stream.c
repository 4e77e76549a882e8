/* SPDX-License-Identifier: MIT
 *
 * Streams: copies, and waiting for all queued work. */
#include <stdlib.h>
#include <time.h>

#include "devices/gpu/gpu_parts.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"

enum {
    PATIENCE_NANOSECONDS = 100000, /* polls without pausing at first */
    REST_SHORTEST = 10000,
    REST_LONGEST = 500000,
    REST_PART = 16, /* a pause is this fraction of the time waited so far */
    SLICES = 16,    /* of the time limit; the time between two polls counts as at most one slice */
};

struct stream_args {
    struct dti_gpu_job job;
    CUstream stream;
    CUdeviceptr dst, src;
    const void *host_src;
    void *host_dst;
    size_t size;
    uint8_t byte;
    bool running;
};

DTI_GPU_JOB(create, stream_args, stream, cuStreamCreate, &stream->stream, CU_STREAM_NON_BLOCKING)

enum dti_status dti_gpu_stream_new(struct dti_gpu *gpu, struct dti_gpu_stream **ret,
                                   struct dti_error *reterr)
{
    struct stream_args args = {.stream = NULL};
    struct dti_gpu_stream *const stream = dti_process_calloc(1, sizeof *stream);
    if (!stream)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_gpu_do(gpu, create, &args, sizeof args, reterr);
    if (status != DTI_OK) {
        dti_process_free(stream);
        return status;
    }
    stream->gpu = gpu;
    stream->handle = args.stream;
    *ret = stream;
    return DTI_OK;
}

static void destroy(void *args)
{
    const struct stream_args *const stream = args;
    (void)stream->job.cuda->cuStreamDestroy_v2(stream->stream);
}

void dti_gpu_stream_free(struct dti_gpu_stream *stream)
{
    if (!stream)
        return;
    struct stream_args args = {.stream = stream->handle};
    dti_gpu_undo(stream->gpu, destroy, &args, sizeof args);
    dti_process_free(stream);
}

void *dti_gpu_stream_handle(struct dti_gpu_stream *stream)
{
    return stream->handle;
}

/* Queues a job for `size` bytes; does nothing for 0 bytes. */
static enum dti_status queue(struct dti_gpu_stream *stream, void (*job)(void *args),
                             const struct stream_args *what, size_t size, struct dti_error *reterr)
{
    struct stream_args args = *what;
    args.stream = stream->handle;
    args.size = size;
    return size > 0 ? dti_gpu_do(stream->gpu, job, &args, sizeof args, reterr) : DTI_OK;
}

DTI_GPU_JOB(upload, stream_args, stream, cuMemcpyHtoDAsync_v2, stream->dst, stream->host_src,
            stream->size, stream->stream)

enum dti_status dti_gpu_upload(struct dti_gpu_stream *stream, dti_gpu_address dst, const void *src,
                               size_t size, struct dti_error *reterr)
{
    const struct stream_args args = {.dst = dst, .host_src = src};
    return queue(stream, upload, &args, size, reterr);
}

DTI_GPU_JOB(download, stream_args, stream, cuMemcpyDtoHAsync_v2, stream->host_dst, stream->src,
            stream->size, stream->stream)

enum dti_status dti_gpu_download(struct dti_gpu_stream *stream, void *dst, dti_gpu_address src,
                                 size_t size, struct dti_error *reterr)
{
    const struct stream_args args = {.host_dst = dst, .src = src};
    return queue(stream, download, &args, size, reterr);
}

DTI_GPU_JOB(copy, stream_args, stream, cuMemcpyDtoDAsync_v2, stream->dst, stream->src, stream->size,
            stream->stream)

enum dti_status dti_gpu_copy(struct dti_gpu_stream *stream, dti_gpu_address dst,
                             dti_gpu_address src, size_t size, struct dti_error *reterr)
{
    const struct stream_args args = {.dst = dst, .src = src};
    return queue(stream, copy, &args, size, reterr);
}

DTI_GPU_JOB(fill, stream_args, stream, cuMemsetD8Async, stream->dst, stream->byte, stream->size,
            stream->stream)

enum dti_status dti_gpu_fill(struct dti_gpu_stream *stream, dti_gpu_address dst, uint8_t byte,
                             size_t size, struct dti_error *reterr)
{
    const struct stream_args args = {.dst = dst, .byte = byte};
    return queue(stream, fill, &args, size, reterr);
}

static void query(void *args)
{
    struct stream_args *const stream = args;
    const CUresult result = stream->job.cuda->cuStreamQuery(stream->stream);
    stream->running = result == CUDA_ERROR_NOT_READY;
    if (!stream->running)
        (void)dti_cuda_failed(stream->job.cuda, &stream->job.failure, "cuStreamQuery", result);
}

static enum dti_status lose_late(struct dti_gpu *gpu, struct dti_error *reterr)
{
    struct dti_error error;
    dti_gpu_set_hanging();
    (void)dti_gpu_late(gpu->facts.id, "did not finish its work", gpu->timeout, &error);
    return dti_gpu_lose(gpu, &error, reterr);
}

static void rest(uint64_t waited)
{
    uint64_t nanoseconds = waited / REST_PART;
    if (nanoseconds < REST_SHORTEST)
        nanoseconds = REST_SHORTEST;
    if (nanoseconds > REST_LONGEST)
        nanoseconds = REST_LONGEST;
    const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)nanoseconds};
    (void)nanosleep(&time, NULL);
}

/* Polls instead of calling cuStreamSynchronize(), which would never return for a kernel that
 * does not end, and would block other threads' calls. */
enum dti_status dti_gpu_finish(struct dti_gpu_stream *stream, struct dti_error *reterr)
{
    struct dti_gpu *const gpu = stream->gpu;
    const uint64_t limit = (uint64_t)(gpu->timeout * 1e9);
    uint64_t waited = 0, last = dti_clock_now();
    for (;;) {
        struct stream_args args = {.stream = stream->handle};
        const enum dti_status status = dti_gpu_do(gpu, query, &args, sizeof args, reterr);
        if (status != DTI_OK || !args.running)
            return status;
        const uint64_t now = dti_clock_now(), slice = now - last;
        waited += slice < limit / SLICES ? slice : limit / SLICES; /* the process may be stopped */
        last = now;
        if (waited >= limit)
            return lose_late(gpu, reterr);
        if (waited > PATIENCE_NANOSECONDS)
            rest(waited);
    }
}
