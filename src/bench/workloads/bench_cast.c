/* SPDX-License-Identifier: MIT
 *
 * The candidates of a measurement of a cast: the cast at each level that was asked for, the copies
 * and the shapes. */
#include "dtinfo/bench_cast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/bench_cast_device.h"
#include "bench/workloads/cast_buffers.h"
#include "bench/workloads/copy_choice.h"

struct measurement {
    const struct dti_bench_cast *request;
    struct dti_bench_cast_result *result;
    struct dti_plan *plans[DTI_BENCH_LEVELS_MAX];
    struct dti_cast_buffers buffers;
    struct dti_bench_candidate candidates[DTI_BENCH_ROWS_MAX];
    struct dti_cast_pass casts[2 * DTI_BENCH_LEVELS_MAX];
    struct dti_copy_pass copies[DTI_BENCH_ROWS_MAX];
};

static enum dti_status make_plan(struct dti_plan **ret, const struct dti_bench_cast *request,
                                 enum dti_level level, struct dti_error *reterr)
{
    const struct dti_request wanted = {
        .src = request->src,
        .cast = {.dst = request->dst,
                 .policy = request->policy,
                 .round_given = request->round_given},
    };
    return dti_plan_new(ret, &wanted, level, reterr);
}

enum dti_status dti_bench_cast_check(const struct dti_bench_cast *request, struct dti_error *reterr)
{
    struct dti_plan *plan;
    if (request->runner)
        return dti_bench_cast_device_check(request, reterr);
    enum dti_status status = make_plan(&plan, request, request->levels[0], reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_buffers_check(request, plan, reterr);
    dti_plan_free(plan);
    return status;
}

static struct dti_bench_row *add_row(struct measurement *m, dti_bench_fn *run, void *context,
                                     bool subject)
{
    const size_t at = m->result->row_count++;
    m->candidates[at] = (struct dti_bench_candidate){
        .run = run, .context = context, .sets = m->buffers.sets, .subject = subject};
    return &m->result->rows[at];
}

/* Levels of different names may come to the same kernels, which need measuring once. A level that
 * was asked for twice is there to be compared with itself. */
static bool is_new(const struct measurement *m, size_t level, bool loss)
{
    for (size_t i = 0; i < level; i++) {
        if (m->request->levels[i] != m->request->levels[level] &&
            dti_plan_same(m->plans[i], m->plans[level], loss))
            return false;
    }
    return true;
}

static void add_cast(struct measurement *m, size_t level, bool loss)
{
    if (!is_new(m, level, loss))
        return;
    const struct dti_bench_cast_result *const result = m->result;
    struct dti_cast_pass *const pass = &m->casts[result->cast_count];
    *pass = (struct dti_cast_pass){
        .plan = m->plans[level],
        .buffers = &m->buffers,
        .stores = result->in_cache ? DTI_STORES_CACHED : DTI_STORES_STREAMED,
        .loss = loss,
    };
    atomic_init(&pass->failed, false);
    struct dti_bench_row *const row = add_row(m, dti_cast_pass_run, pass, true);
    row->role = DTI_BENCH_CAST;
    row->level = dti_plan_level(pass->plan, loss);
    row->loss = loss;
    row->stream = !result->in_cache;
    row->bytes_read = m->buffers.src_bytes;
    row->bytes_written = m->buffers.dst_bytes;
    (void)dti_plan_describe(pass->plan, row->kernel);
    m->result->cast_count++;
}

static void add_copy(struct measurement *m, const struct dti_copy *copy, enum dti_bench_role role,
                     size_t n)
{
    if (m->result->row_count == DTI_BENCH_ROWS_MAX || n == 0)
        return;
    struct dti_copy_pass *const pass = &m->copies[m->result->row_count];
    *pass = (struct dti_copy_pass){.copy = copy, .buffers = &m->buffers, .n = n};
    struct dti_bench_row *const row = add_row(m, dti_copy_pass_run, pass, false);
    row->role = role;
    row->level = copy->level;
    row->stream = copy->stream;
    row->bytes_read = (uint64_t)n * copy->in;
    row->bytes_written = (uint64_t)n * copy->out;
    (void)snprintf(row->kernel, sizeof row->kernel, "%s", dti_kernel_title(copy->name));
}

static void add_copies(struct measurement *m)
{
    const enum dti_level allowed = m->request->levels[0];
    const size_t bytes = m->buffers.src_bytes + m->buffers.dst_bytes;
    const size_t n = m->buffers.elements;
    /* sets that take turns are in no cache, however small each of them is */
    const bool in_cache = m->result->in_cache && m->buffers.sets == 1;
    for (size_t i = 0; i < dti_copy_count; i++) {
        const struct dti_copy *const copy = &dti_copies[i];
        if (!dti_copy_competes(copy, allowed, in_cache))
            continue;
        if (copy->exact)
            add_copy(m, copy, DTI_BENCH_COPY, bytes / (copy->in + copy->out));
        else if ((uint64_t)copy->in * n == m->buffers.src_bytes &&
                 (uint64_t)copy->out * n == m->buffers.dst_bytes)
            add_copy(m, copy, DTI_BENCH_SHAPE, n);
    }
}

static enum dti_status measure(struct measurement *m, struct dti_team *team,
                               struct dti_error *reterr)
{
    const struct dti_bench_cast *const request = m->request;
    struct dti_bench_cast_result *const result = m->result;
    const uint64_t huge = dti_huge_page_bytes();
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < request->level_count && status == DTI_OK; i++) {
        if (i > 0 && request->levels[i] == request->levels[i - 1])
            m->plans[i] = m->plans[i - 1];
        else
            status = make_plan(&m->plans[i], request, request->levels[i], reterr);
    }
    if (status == DTI_OK)
        status = dti_cast_buffers_new(&m->buffers, request, m->plans[0], team, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t huge_now = dti_huge_page_bytes();
    result->huge_page_bytes = huge_now > huge ? huge_now - huge : 0;
    result->memory = m->buffers.arena.size;
    result->sets = m->buffers.sets;
    result->elements = m->buffers.elements;
    result->bytes_read = m->buffers.src_bytes;
    result->bytes_written = m->buffers.dst_bytes;
    result->in_cache = result->bytes_read + result->bytes_written <= dti_last_cache_bytes();
    for (size_t i = 0; i < request->level_count; i++)
        add_cast(m, i, false);
    for (size_t i = 0; request->loss && i < request->level_count; i++)
        add_cast(m, i, true);
    add_copies(m);
    status = dti_bench_run(&result->bench, m->candidates, result->row_count, team,
                           &request->options, reterr);
    for (size_t i = 0; i < result->cast_count && status == DTI_OK; i++)
        status = dti_cast_pass_verify(&m->casts[i], team, request->seed, reterr);
    return status;
}

enum dti_status dti_bench_cast_run(struct dti_bench_cast_result *ret,
                                   const struct dti_bench_cast *request, struct dti_team *team,
                                   struct dti_error *reterr)
{
    struct measurement *const m = aligned_alloc(_Alignof(struct measurement), sizeof *m);
    if (!m)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    memset(m, 0, sizeof *m);
    *ret = (struct dti_bench_cast_result){.device = "cpu"};
    m->request = request;
    m->result = ret;
    const enum dti_status status =
        request->runner ? dti_bench_cast_device(ret, request, reterr) : measure(m, team, reterr);
    if (status != DTI_OK)
        dti_bench_cast_free(ret);
    dti_cast_buffers_free(&m->buffers);
    for (size_t i = 0; i < DTI_BENCH_LEVELS_MAX; i++) {
        if (i == 0 || m->plans[i] != m->plans[i - 1])
            dti_plan_free(m->plans[i]);
    }
    free(m);
    return status;
}

void dti_bench_cast_free(struct dti_bench_cast_result *result)
{
    dti_bench_free(&result->bench);
}

size_t dti_bench_cast_best(const struct dti_bench_cast_result *result, enum dti_bench_role role,
                           enum dti_bench_where where, enum dti_bench_place place)
{
    size_t best = result->row_count;
    double least = 0;
    for (size_t i = 0; i < result->row_count; i++) {
        struct dti_bench_figure figure;
        if (result->rows[i].role != role || result->rows[i].where != where)
            continue;
        dti_bench_time(&figure, &result->bench, i, place);
        if (figure.samples > 0 && (best == result->row_count || figure.median < least)) {
            best = i;
            least = figure.median;
        }
    }
    return best;
}
