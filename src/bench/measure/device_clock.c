/* SPDX-License-Identifier: MIT
 *
 * Passes between two events of a stream, and the memory that they go over. */
#include "bench/measure/device_clock.h"

#include "dtinfo/checked.h"
#include "dtinfo/clock.h"

enum { ALIGNMENT = 256, SETS_MAX = 64 };
#define CACHE_BYTES_IF_UNKNOWN (UINT64_C(64) << 20)

enum dti_status dti_device_clock_open(struct dti_device_clock *clock, struct dti_gpu *gpu,
                                      struct dti_gpu_stream *stream, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (!stream)
        status = dti_gpu_stream_new(gpu, &clock->own, reterr);
    clock->stream = stream ? stream : clock->own;
    if (status == DTI_OK)
        status = dti_gpu_event_new(gpu, &clock->begin, reterr);
    return status == DTI_OK ? dti_gpu_event_new(gpu, &clock->end, reterr) : status;
}

void dti_device_clock_close(struct dti_device_clock *clock)
{
    dti_gpu_event_free(clock->begin);
    dti_gpu_event_free(clock->end);
    dti_gpu_stream_free(clock->own);
}

struct dti_bench_item *dti_device_add(struct dti_device_clock *clock, struct dti_bench_table *table,
                                      const char *role, struct dti_gpu *gpu,
                                      const struct dti_device_work *work, bool limit)
{
    const size_t at = table->count;
    struct dti_bench_item *const item = dti_bench_add_item(table, role, dti_gpu_facts(gpu)->id);
    if (!item)
        return NULL;
    item->limit = limit;
    item->from_events = !work->host_works;
    clock->work[at] = *work;
    clock->work[at].clock = clock;
    clock->candidates[at] = (struct dti_bench_candidate){.timed = dti_device_time,
                                                         .context = &clock->work[at],
                                                         .sets = work->sets,
                                                         .subject = !limit};
    return item;
}

double dti_device_time(void *context, size_t set, uint64_t passes)
{
    const struct dti_device_work *const work = context;
    struct dti_device_clock *const clock = work->clock;
    struct dti_error *const error = &clock->error;
    double seconds = -1;
    const uint64_t start = dti_clock_now();
    enum dti_status status = DTI_OK;
    if (!work->host_works)
        status = dti_gpu_record(clock->stream, clock->begin, error);
    for (uint64_t i = 0; i < passes && status == DTI_OK; i++)
        status = work->pass(work->context, (size_t)((set + i) % work->sets), error);
    if (status == DTI_OK && !work->host_works)
        status = dti_gpu_record(clock->stream, clock->end, error);
    if (status == DTI_OK)
        status = dti_gpu_finish(clock->stream, error);
    if (status == DTI_OK && work->host_works)
        return (double)(dti_clock_now() - start) * 1e-9;
    if (status == DTI_OK)
        status = dti_gpu_elapsed(clock->begin, clock->end, &seconds, error);
    return status == DTI_OK ? seconds : -1;
}

enum dti_status dti_device_bench_run(struct dti_device_clock *clock, struct dti_bench_table *table,
                                     const struct dti_bench_options *options,
                                     struct dti_error *reterr)
{
    const enum dti_status status =
        dti_bench_run(&table->bench, clock->candidates, table->count, NULL, options, reterr);
    if (status != DTI_DEVICE_FAILED)
        return status;
    if (reterr)
        *reterr = clock->error;
    return clock->error.status;
}

uint64_t dti_device_cache_bytes(struct dti_gpu *gpu)
{
    const uint64_t bytes = dti_gpu_facts(gpu)->l2_bytes;
    return bytes == DTI_UNKNOWN ? CACHE_BYTES_IF_UNKNOWN : bytes;
}

bool dti_device_lay_out(const struct dti_bench_request *request, uint64_t bytes,
                        uint64_t *ret_stride, size_t *ret_sets)
{
    uint64_t padded, both, sets = 1;
    if (!dti_add_u64(bytes, ALIGNMENT - 1, &padded) ||
        !dti_mul_u64(padded / ALIGNMENT * ALIGNMENT, 2, &both) || both > SIZE_MAX / 2 / SETS_MAX)
        return false;
    if (request->cache == DTI_BENCH_COLD)
        sets = 2 * (dti_device_cache_bytes(request->gpu) / (both > 0 ? both : 1)) + 2;
    *ret_stride = both / 2;
    *ret_sets = sets < SETS_MAX ? (size_t)sets : SETS_MAX;
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
