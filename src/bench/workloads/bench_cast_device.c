/* SPDX-License-Identifier: MIT
 *
 * Measuring a cast on a device: in its memory beside copies within it, and from the host's memory
 * to the host's memory beside the way there and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/bench_cast_device.h"
#include "dtinfo/checked.h"

enum { POOL_ELEMENTS = 32 * DTI_TILE };

static struct dti_request wanted(const struct dti_bench_cast *request)
{
    return (struct dti_request){
        .src = request->src,
        .cast = {.dst = request->dst,
                 .policy = request->policy,
                 .round_given = request->round_given},
    };
}

/* Both plans; the one on the device says so when there is none. */
static enum dti_status make_plans(struct dti_device_measurement *m, struct dti_error *reterr)
{
    const struct dti_request request = wanted(m->request);
    const char *why = NULL;
    enum dti_status status = dti_plan_new(&m->judge, &request, m->request->levels[0], reterr);
    if (status == DTI_OK)
        status = dti_plan_new(&m->plan, &request, m->request->levels[0], reterr);
    if (status == DTI_OK)
        status = dti_plan_set_runner(m->plan, m->request->runner, &why, reterr);
    if (status == DTI_OK && why)
        status = dti_fail(reterr, DTI_UNAVAILABLE, "%s", why);
    return status;
}

/* Sizes, and how many sets take turns so that the device's cache does not help. */
static enum dti_status find_sizes(struct dti_device_measurement *m, struct dti_error *reterr)
{
    const struct dti_gpu_facts *const facts = dti_gpu_facts(m->gpu);
    const uint64_t l2 = facts->l2_bytes == DTI_UNKNOWN ? UINT64_C(128) << 20 : facts->l2_bytes;
    struct dti_cast_buffers sizes = {0};
    const enum dti_status status = dti_cast_buffers_sizes(&sizes, m->request, m->plan, reterr);
    if (status != DTI_OK)
        return status;
    m->elements = sizes.elements;
    m->src_bytes = sizes.src_bytes;
    m->dst_bytes = sizes.dst_bytes;
    m->sets = 1;
    if (m->request->cache == DTI_BENCH_COLD)
        m->sets = (size_t)(2 * l2 / ((uint64_t)m->src_bytes + m->dst_bytes)) + 1;
    return DTI_OK;
}

static enum dti_status check_memory(const struct dti_device_measurement *m,
                                    struct dti_error *reterr)
{
    uint64_t bytes = dti_resident_bytes(m->plan, m->elements, m->sets, m->request->loss), there;
    if (!dti_add_u64(bytes, (uint64_t)m->src_bytes + m->dst_bytes, &bytes))
        bytes = UINT64_MAX;
    enum dti_status status = dti_gpu_free_bytes(m->gpu, &there, reterr);
    if (status != DTI_OK)
        return status;
    if (bytes > there)
        return dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_CAST_LESS,
                               "%s has %llu bytes of memory left, and %llu are needed",
                               dti_gpu_facts(m->gpu)->id, (unsigned long long)there,
                               (unsigned long long)bytes);
    return dti_arena_check((uint64_t)m->src_bytes + m->dst_bytes, reterr);
}

static enum dti_status begin(struct dti_device_measurement *m, struct dti_error *reterr)
{
    m->gpu = dti_runner_gpu(m->request->runner);
    if (!m->gpu)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s", dti_runner_reason(m->request->runner));
    enum dti_status status = make_plans(m, reterr);
    if (status == DTI_OK)
        status = find_sizes(m, reterr);
    return status == DTI_OK ? check_memory(m, reterr) : status;
}

static void end(struct dti_device_measurement *m)
{
    struct dti_runner *const runner = m->request->runner;
    dti_resident_free(m->resident);
    for (size_t i = 0; i < 2; i++)
        dti_gpu_stream_free(m->streams[i]);
    dti_device_clock_close(&m->clock);
    dti_gpu_free(m->gpu, m->there);
    dti_gpu_free(m->gpu, m->back);
    dti_runner_free(runner, m->src);
    dti_runner_free(runner, m->dst);
    dti_plan_free(m->plan);
    dti_plan_free(m->judge);
}

/* A pool of random elements, repeated. */
static enum dti_status fill_source(struct dti_device_measurement *m, struct dti_error *reterr)
{
    const struct dti_bench_cast *const request = m->request;
    uint64_t bytes = 0;
    (void)dti_plan_src_bytes(m->plan, POOL_ELEMENTS, &bytes);
    unsigned char *const pool = calloc((size_t)bytes, 1);
    if (!pool)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_bench_data_fill(pool, POOL_ELEMENTS, &request->src, &request->dst, request->data,
                        request->seed);
    dti_bench_repeat(m->src, m->src_bytes, pool, (size_t)bytes);
    free(pool);
    return DTI_OK;
}

static enum dti_status take_memory(struct dti_device_measurement *m, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    m->src = dti_runner_alloc(m->request->runner, m->src_bytes);
    m->dst = dti_runner_alloc(m->request->runner, m->dst_bytes);
    if (!m->src || !m->dst)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    status = fill_source(m, reterr);
    if (status == DTI_OK)
        status =
            dti_resident_new(&m->resident, m->plan, m->elements, m->sets, m->request->loss, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(m->gpu, m->src_bytes, &m->there, reterr);
    if (status == DTI_OK)
        status = dti_gpu_alloc(m->gpu, m->dst_bytes, &m->back, reterr);
    for (size_t i = 0; i < 2 && status == DTI_OK; i++)
        status = dti_gpu_stream_new(m->gpu, &m->streams[i], reterr);
    if (status == DTI_OK)
        status = dti_gpu_fill(m->streams[0], m->back, 0, m->dst_bytes, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(m->streams[0], reterr);
    if (status == DTI_OK)
        status = dti_device_clock_open(&m->clock, m->gpu, dti_resident_stream(m->resident), reterr);
    for (size_t set = 0; set < m->sets && status == DTI_OK; set++) {
        status = dti_resident_put(m->resident, set, m->src, reterr);
        for (int i = 0; i < 2 && status == DTI_OK; i++) /* all of the memory is written once */
            status = dti_resident_copy(m->resident, set, reterr);
    }
    if (status == DTI_OK)
        status = dti_gpu_finish(dti_resident_stream(m->resident), reterr);
    return status;
}

struct candidates {
    struct dti_bench_candidate candidate[DTI_DEVICE_ROWS];
    struct dti_device_pass pass[DTI_DEVICE_ROWS];
};

static void add(struct candidates *all, struct dti_device_measurement *m,
                struct dti_bench_cast_result *result, enum dti_bench_role role,
                enum dti_bench_where where, bool loss)
{
    static double (*const timed[2][2])(void *, size_t,
                                       uint64_t) = {{dti_device_time_copy, dti_device_time_link},
                                                    {dti_device_time_cast, dti_device_time_whole}};
    const bool cast = role == DTI_BENCH_CAST, whole = where == DTI_BENCH_WHOLE;
    const size_t at = result->row_count++;
    struct dti_bench_row *const row = &result->rows[at];
    all->pass[at] = (struct dti_device_pass){.m = m, .loss = loss};
    all->candidate[at] = (struct dti_bench_candidate){.timed = timed[cast][whole],
                                                      .context = &all->pass[at],
                                                      .sets = whole ? 1 : m->sets,
                                                      .subject = cast};
    const uint64_t half = ((uint64_t)m->src_bytes + m->dst_bytes) / 2;
    *row = (struct dti_bench_row){
        .role = role,
        .where = where,
        .loss = loss,
        .bytes_read = cast || whole ? m->src_bytes : half,
        .bytes_written = cast || whole ? m->dst_bytes : half,
    };
    if (cast)
        (void)dti_plan_describe_device(m->plan, row->kernel);
    else
        (void)snprintf(row->kernel, sizeof row->kernel, "%s",
                       whole ? "there and back at once" : "within the device");
    result->cast_count += cast;
}

static enum dti_status measure(struct dti_device_measurement *m,
                               struct dti_bench_cast_result *result, struct dti_error *reterr)
{
    struct candidates all;
    const bool loss = m->request->loss;
    memset(&all, 0, sizeof all);
    add(&all, m, result, DTI_BENCH_CAST, DTI_BENCH_RESIDENT, false);
    add(&all, m, result, DTI_BENCH_CAST, DTI_BENCH_WHOLE, false);
    if (loss && dti_resident_counts(m->plan))
        add(&all, m, result, DTI_BENCH_CAST, DTI_BENCH_RESIDENT, true);
    if (loss)
        add(&all, m, result, DTI_BENCH_CAST, DTI_BENCH_WHOLE, true);
    add(&all, m, result, DTI_BENCH_COPY, DTI_BENCH_RESIDENT, false);
    add(&all, m, result, DTI_BENCH_COPY, DTI_BENCH_WHOLE, false);
    const struct dti_gpu_facts *const facts = dti_gpu_facts(m->gpu);
    (void)snprintf(result->device, sizeof result->device, "%s", facts->id);
    result->elements = m->elements;
    result->bytes_read = m->src_bytes;
    result->bytes_written = m->dst_bytes;
    result->sets = m->sets;
    result->memory = dti_resident_bytes(m->plan, m->elements, m->sets, loss) +
                     2 * (result->bytes_read + result->bytes_written);
    result->in_cache = facts->l2_bytes != DTI_UNKNOWN &&
                       result->bytes_read + result->bytes_written <= facts->l2_bytes;
    const enum dti_status status = dti_bench_run(&result->bench, all.candidate, result->row_count,
                                                 NULL, &m->request->options, reterr);
    if (status == DTI_DEVICE_FAILED && reterr) /* the candidate knows more */
        *reterr = m->clock.error;
    return status == DTI_OK ? dti_device_verify(m, reterr) : status;
}

enum dti_status dti_bench_cast_device(struct dti_bench_cast_result *result,
                                      const struct dti_bench_cast *request,
                                      struct dti_error *reterr)
{
    struct dti_device_measurement m = {.request = request};
    enum dti_status status = begin(&m, reterr);
    if (status == DTI_OK)
        status = take_memory(&m, reterr);
    if (status == DTI_OK)
        status = measure(&m, result, reterr);
    end(&m);
    return status;
}

enum dti_status dti_bench_cast_device_check(const struct dti_bench_cast *request,
                                            struct dti_error *reterr)
{
    struct dti_device_measurement m = {.request = request};
    const enum dti_status status = begin(&m, reterr);
    end(&m);
    return status;
}
