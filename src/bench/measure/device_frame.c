/* SPDX-License-Identifier: MIT
 *
 * Passes between two events of a stream, and the memory that they go over. */
#include "bench/measure/frame.h"

#include "dtinfo/checked.h"
#include "dtinfo/clock.h"

enum { ALIGNMENT = 256, SETS_MAX = 64 };
#define CACHE_BYTES_IF_UNKNOWN (UINT64_C(64) << 20)

enum dti_status dti_frame_open(struct dti_frame *frame, size_t streams, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    frame->lent = frame->streams[0];
    for (size_t i = frame->lent ? 1 : 0; i < streams && status == DTI_OK; i++)
        status = dti_gpu_stream_new(frame->gpu, &frame->streams[i], reterr);
    if (status == DTI_OK)
        status = dti_gpu_event_new(frame->gpu, &frame->begin, reterr);
    return status == DTI_OK ? dti_gpu_event_new(frame->gpu, &frame->end, reterr) : status;
}

void dti_frame_close(struct dti_frame *frame)
{
    dti_gpu_event_free(frame->begin);
    dti_gpu_event_free(frame->end);
    dti_gpu_stream_free(frame->streams[1]);
    if (!frame->lent)
        dti_gpu_stream_free(frame->streams[0]);
}

static enum dti_status finish(struct dti_frame *frame)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < 2 && frame->streams[i] && status == DTI_OK; i++)
        status = dti_gpu_finish(frame->streams[i], &frame->error);
    return status;
}

/* Passes on a device are queued without a pause. Those that a thread does with the team are timed
 * from the first to the last; what was measured before may have emptied the caches. */
double dti_frame_time(void *context, size_t set, uint64_t passes)
{
    const struct dti_bench_work *const work = context;
    struct dti_frame *const frame = work->frame;
    struct dti_error *const error = &frame->error;
    enum dti_status status = DTI_OK;
    double seconds = -1;
    if (!frame->gpu && work->sets == 1 && passes > 1)
        status = work->pass(work->context, set, error);
    const uint64_t start = dti_clock_now();
    if (work->by_events)
        status = dti_gpu_record(frame->streams[0], frame->begin, error);
    for (uint64_t i = 0; i < passes && status == DTI_OK; i++)
        status = work->pass(work->context, (size_t)((set + i) % work->sets), error);
    if (status == DTI_OK && work->by_events)
        status = dti_gpu_record(frame->streams[0], frame->end, error);
    if (status == DTI_OK)
        status = finish(frame);
    if (!work->by_events)
        seconds = (double)(dti_clock_now() - start) * 1e-9;
    else if (status == DTI_OK)
        status = dti_gpu_elapsed(frame->begin, frame->end, &seconds, error);
    return status == DTI_OK ? seconds : -1;
}

uint64_t dti_device_cache_bytes(struct dti_gpu *gpu)
{
    const uint64_t bytes = dti_gpu_facts(gpu)->l2_bytes;
    return bytes == DTI_UNKNOWN ? CACHE_BYTES_IF_UNKNOWN : bytes;
}

bool dti_device_pairs_lay_out(struct dti_device_pairs *ret, const struct dti_bench_request *request,
                              uint64_t bytes, uint64_t *ret_size)
{
    uint64_t padded, both, sets = 1;
    if (!dti_add_u64(bytes, ALIGNMENT - 1, &padded) ||
        !dti_mul_u64(padded / ALIGNMENT * ALIGNMENT, 2, &both) || both > SIZE_MAX / 2 / SETS_MAX)
        return false;
    if (request->cache == DTI_BENCH_COLD)
        sets = 2 * (dti_device_cache_bytes(request->gpu) / (both > 0 ? both : 1)) + 2;
    *ret = (struct dti_device_pairs){.stride = both / 2,
                                     .sets = sets < SETS_MAX ? (size_t)sets : SETS_MAX};
    *ret_size = ret->sets * both;
    return true;
}

enum dti_status dti_device_has_memory(struct dti_gpu *gpu, uint64_t bytes, struct dti_error *reterr)
{
    uint64_t there;
    const enum dti_status status = dti_gpu_free_bytes(gpu, &there, reterr);
    if (status != DTI_OK || bytes <= there - there / 16)
        return status;
    return dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_MEASURE_LESS,
                           "%s has %llu MiB free and %llu MiB are needed", dti_gpu_facts(gpu)->id,
                           (unsigned long long)(there >> 20), (unsigned long long)(bytes >> 20));
}
