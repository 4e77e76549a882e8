/* SPDX-License-Identifier: MIT
 *
 * The steps of every workload: prepare, measure, verify, end; and timing of passes on a device,
 * between two events in a stream. */
#include "bench/measure/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"

enum { ALIGNMENT = 256, SETS_MAX = 64, MEMORY_NANOSECONDS = 200000000 };
#define CACHE_BYTES_IF_UNKNOWN (UINT64_C(64) << 20)

struct dti_share dti_share_of(size_t n, size_t grain, size_t member, size_t size)
{
    const size_t grains = n / grain + (n % grain > 0);
    const size_t each = grains / size, more = grains % size;
    const size_t first = (each * member + (member < more ? member : more)) * grain;
    const size_t count = (each + (member < more)) * grain;
    if (first >= n)
        return (struct dti_share){.first = n, .count = 0};
    return (struct dti_share){.first = first, .count = count < n - first ? count : n - first};
}

void dti_in_team(struct dti_team *team, void (*job)(void *, size_t, size_t), void *context)
{
    if (team)
        dti_team_run(team, job, context);
    else
        job(context, 0, 1);
}

static const struct dti_bench_workload *workload_of(const struct dti_bench_kind *kind,
                                                    const struct dti_bench_request *request)
{
    return request->gpu || request->runner ? kind->device : kind->cpu;
}

/* Measures with a generous time limit, before anything is timed, how much stays in the caches. What
 * is timed still chooses its stores by a short measurement, as it does outside of a benchmark. */
static void know_memory(const struct dti_bench_request *request)
{
    if (!request->gpu && !request->runner)
        dti_usable_cache_measure(MEMORY_NANOSECONDS);
}

enum dti_status dti_bench_check(const struct dti_bench_kind *kind,
                                const struct dti_bench_request *request, struct dti_error *reterr)
{
    const struct dti_bench_workload *const workload = workload_of(kind, request);
    know_memory(request);
    return workload->check ? workload->check(request, reterr) : DTI_OK;
}

static enum dti_status measure(struct dti_frame *frame, const struct dti_bench_workload *workload,
                               struct dti_error *reterr)
{
    struct dti_bench_table *const table = frame->table;
    enum dti_status status = workload->prepare(frame, reterr);
    if (status != DTI_OK || table->count == 0)
        return status;
    status = dti_bench_run(&table->bench, frame->candidates, table->count, frame->team,
                           &frame->request->options, reterr);
    if (status == DTI_DEVICE_FAILED) { /* the failed pass has the details */
        if (reterr)
            *reterr = frame->error;
        return frame->error.status;
    }
    if (status == DTI_OK)
        status = workload->verify(frame, reterr);
    if (status == DTI_OK)
        dti_bench_warn_narrow(table);
    return status;
}

static void close_streams(struct dti_frame *frame)
{
    dti_gpu_event_free(frame->begin);
    dti_gpu_event_free(frame->end);
    dti_gpu_stream_free(frame->streams[1]);
    if (!frame->lent)
        dti_gpu_stream_free(frame->streams[0]);
}

enum dti_status dti_bench_measure(struct dti_bench_table *ret, const struct dti_bench_kind *kind,
                                  const struct dti_bench_request *request, struct dti_team *team,
                                  struct dti_error *reterr)
{
    enum { LINE = 64 }; /* aligned, so that equal candidates cost the same */
    const struct dti_bench_workload *const workload = workload_of(kind, request);
    const size_t size = (workload->size + LINE - 1) / LINE * LINE;
    struct dti_frame *const frame = dti_malloc_aligned(LINE, size);
    if (!frame)
        return dti_no_memory(reterr);
    know_memory(request);
    memset(frame, 0, size);
    memset(ret, 0, sizeof *ret);
    frame->workload = workload;
    frame->request = request;
    frame->table = ret;
    frame->team = team;
    frame->threads = team ? dti_team_size(team) : 1;
    frame->gpu = request->gpu;
    atomic_init(&frame->failed, false);
    const enum dti_status status = measure(frame, workload, reterr);
    if (workload->end)
        workload->end(frame);
    close_streams(frame);
    dti_free(frame);
    if (status != DTI_OK)
        dti_bench_table_free(ret);
    return status;
}

static void put(char *ret, size_t size, const char *text)
{
    (void)snprintf(ret, size, "%s", text ? text : "");
}

static enum dti_status finish(struct dti_frame *frame)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < 2 && frame->streams[i] && status == DTI_OK; i++)
        status = dti_gpu_finish(frame->streams[i], &frame->error);
    return status;
}

/* Passes on a device are queued back to back. Passes that a thread runs with the team are timed
 * from the first to the last; earlier measurements may have evicted the caches. */
static double time_passes(void *context, size_t set, uint64_t passes)
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

/* The number, counted from 1, of the first limit with the same work; 0: not a limit. */
static unsigned group_of(const struct dti_bench_table *table, const struct dti_bench_entry *entry)
{
    for (size_t i = 0; i < table->count && entry->limit; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        if (item->limit && entry->operations == 0 && item->bytes_read == entry->bytes_read &&
            item->bytes_written == entry->bytes_written && strcmp(item->role, entry->role) == 0)
            return (unsigned)i + 1;
    }
    return entry->limit ? (unsigned)table->count + 1 : 0;
}

struct dti_bench_item *dti_frame_add(struct dti_frame *frame, const struct dti_bench_entry *entry)
{
    const size_t at = frame->table->count;
    const unsigned group = group_of(frame->table, entry);
    struct dti_bench_item *const item = dti_bench_add_item(
        frame->table, entry->role, frame->gpu ? dti_gpu_facts(frame->gpu)->id : "cpu");
    if (!item)
        return NULL;
    put(item->dtype, sizeof item->dtype, entry->dtype);
    put(item->engine, sizeof item->engine, entry->engine);
    put(item->kernel, sizeof item->kernel, entry->kernel);
    put(item->arithmetic, sizeof item->arithmetic, entry->arithmetic);
    item->bytes_read = entry->bytes_read;
    item->bytes_written = entry->bytes_written;
    item->operations = entry->operations;
    item->limit = entry->limit;
    item->from_events = entry->by_events;
    frame->candidates[at] = (struct dti_bench_candidate){.run = entry->run,
                                                         .context = entry->context,
                                                         .sets = entry->sets,
                                                         .subject = !entry->limit,
                                                         .group = group};
    if (entry->pass) {
        frame->contexts[at].work = (struct dti_bench_work){frame, entry->pass, entry->context,
                                                           entry->sets, entry->by_events};
        frame->candidates[at].timed = time_passes;
        frame->candidates[at].context = &frame->contexts[at].work;
    }
    return item;
}

static void again_job(void *candidate_, size_t member, size_t size)
{
    const struct dti_bench_candidate *const candidate = candidate_;
    candidate->run(candidate->context, 0, member, size);
}

void dti_frame_again(struct dti_frame *frame, size_t at)
{
    dti_in_team(frame->team, again_job, &frame->candidates[at]);
}

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
