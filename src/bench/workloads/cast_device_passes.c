/* SPDX-License-Identifier: MIT
 *
 * What the candidates on a device do in a sample, and the proof that they did it. Kernels and
 * copies within the device are timed by its own events around all passes, which are queued without
 * a pause; what the host takes part in is timed by the host's clock. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/bench_cast_device.h"
#include "dtinfo/clock.h"

enum { POISON = 0x5A };

static double failed(void)
{
    return -1;
}

static enum dti_status queue_cast(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_device_pass *const pass = context;
    return dti_resident_cast(pass->m->resident, set, pass->loss, reterr);
}

static enum dti_status queue_copy(void *context, size_t set, struct dti_error *reterr)
{
    return dti_resident_copy(((struct dti_device_pass *)context)->m->resident, set, reterr);
}

static double time_passes(dti_device_pass_fn *pass, void *context, size_t set, uint64_t passes)
{
    struct dti_device_measurement *const m = ((struct dti_device_pass *)context)->m;
    struct dti_device_work work = {&m->clock, pass, context, m->sets, false};
    return dti_device_time(&work, set, passes);
}

double dti_device_time_cast(void *context, size_t set, uint64_t passes)
{
    return time_passes(queue_cast, context, set, passes);
}

double dti_device_time_copy(void *context, size_t set, uint64_t passes)
{
    return time_passes(queue_copy, context, set, passes);
}

static double since(uint64_t start)
{
    return (double)(dti_clock_now() - start) * 1e-9;
}

double dti_device_time_whole(void *context, size_t set, uint64_t passes)
{
    struct dti_device_pass *const pass = context;
    struct dti_device_measurement *const m = pass->m;
    const uint64_t start = dti_clock_now();
    (void)set;
    for (uint64_t i = 0; i < passes; i++) {
        struct dti_loss loss;
        dti_loss_init(&loss);
        if (dti_plan_run(m->plan, m->dst, m->src, m->elements, 0, DTI_STORES_CACHED,
                         pass->loss ? &loss : NULL, &m->clock.error) != DTI_OK)
            return failed();
    }
    return since(start);
}

/* There and back at the same time, as far as the device can. */
double dti_device_time_link(void *context, size_t set, uint64_t passes)
{
    struct dti_device_measurement *const m = ((struct dti_device_pass *)context)->m;
    enum dti_status status = DTI_OK;
    const uint64_t start = dti_clock_now();
    (void)set;
    for (uint64_t i = 0; i < passes && status == DTI_OK; i++) {
        status = dti_gpu_upload(m->streams[0], m->there, m->src, m->src_bytes, &m->clock.error);
        if (status == DTI_OK)
            status =
                dti_gpu_download(m->streams[1], m->dst, m->back, m->dst_bytes, &m->clock.error);
    }
    for (size_t i = 0; i < 2 && status == DTI_OK; i++)
        status = dti_gpu_finish(m->streams[i], &m->clock.error);
    return status == DTI_OK ? since(start) : failed();
}

/* All of dst, a piece at a time. */
static enum dti_status compare(const struct dti_device_measurement *m, const char *how,
                               struct dti_error *reterr)
{
    enum { PIECE = 256 * DTI_TILE };
    unsigned char *const want = malloc((size_t)PIECE * 8);
    enum dti_status status = DTI_OK;
    if (!want)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t at = 0; at < m->elements && status == DTI_OK; at += PIECE) {
        const size_t n = m->elements - at < PIECE ? m->elements - at : PIECE;
        uint64_t from = 0, to = 0, bytes = 0;
        (void)(dti_plan_src_bytes(m->judge, at, &from) && dti_plan_dst_bytes(m->judge, at, &to) &&
               dti_plan_dst_bytes(m->judge, n, &bytes));
        status =
            dti_plan_run(m->judge, want, m->src + from, n, at, DTI_STORES_CACHED, NULL, reterr);
        if (status == DTI_OK && memcmp(want, m->dst + to, (size_t)bytes) != 0) {
            char text[DTI_PLAN_TEXT_SIZE];
            status = dti_fail(reterr, DTI_BUG,
                              "%s (%s) is wrong within elements %llu to %llu; please report it",
                              dti_plan_describe_device(m->plan, text), how, (unsigned long long)at,
                              (unsigned long long)(at + n - 1));
        }
    }
    free(want);
    return status;
}

/* The last set, as a measurement leaves it, cast once more. */
static enum dti_status verify_resident(struct dti_device_measurement *m, struct dti_error *reterr)
{
    const size_t set = m->sets - 1;
    enum dti_status status = dti_resident_poison(m->resident, set, POISON, reterr);
    if (status == DTI_OK)
        status = dti_resident_cast(m->resident, set, false, reterr);
    if (status == DTI_OK)
        status = dti_resident_get(m->resident, set, m->dst, reterr);
    if (status == DTI_OK)
        status = dti_gpu_finish(dti_resident_stream(m->resident), reterr);
    return status == DTI_OK ? compare(m, "in the device's memory", reterr) : status;
}

enum dti_status dti_device_verify(struct dti_device_measurement *m, struct dti_error *reterr)
{
    memset(m->dst, POISON, m->dst_bytes);
    enum dti_status status = verify_resident(m, reterr);
    if (status != DTI_OK)
        return status;
    memset(m->dst, POISON, m->dst_bytes);
    status = dti_plan_run(m->plan, m->dst, m->src, m->elements, 0, DTI_STORES_CACHED, NULL, reterr);
    return status == DTI_OK ? compare(m, "there and back", reterr) : status;
}
