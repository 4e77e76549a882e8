/* SPDX-License-Identifier: MIT
 *
 * Operands and limits of measurements of computations on the CPU. */
#include "bench/workloads/math_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/workloads/cast_buffers.h"
#include "dtinfo/checked.h"
#include "dtinfo/kernel.h"
#include "dtinfo/matmul.h"

enum { OPERANDS = 2, PEAK_INSTRUCTIONS = 20000 };

static size_t width_of(enum dti_dtype dtype)
{
    return dti_format_get(dtype)->width / 8;
}

/* What is asked for, then fp32 where that is needed besides. */
static size_t all_dtypes(const struct dti_bench_request *request,
                         enum dti_dtype dtypes[DTI_MATH_DTYPES_MAX])
{
    size_t count = 0;
    bool scaled = false, has_numbers = false;
    for (; count < request->dtype_count && count < DTI_MATH_DTYPES_MAX; count++) {
        dtypes[count] = request->dtypes[count];
        scaled = scaled || dti_operands_are_scaled(dtypes[count]);
        has_numbers = has_numbers || dtypes[count] == DTI_FP32;
    }
    if (scaled && !has_numbers && count < DTI_MATH_DTYPES_MAX)
        dtypes[count++] = DTI_FP32;
    return count;
}

enum dti_status dti_math_check(const struct dti_bench_request *request, size_t threads,
                               struct dti_error *reterr)
{
    (void)threads;
    if (request->gpu)
        return dti_math_device_check(request, reterr);
    enum dti_dtype dtypes[DTI_MATH_DTYPES_MAX];
    uint64_t all = 0, bytes;
    enum dti_status status = DTI_OK;
    const size_t count = all_dtypes(request, dtypes);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!dti_mul_u64(request->n, width_of(dtypes[i]), &bytes) || !dti_add_u64(all, bytes, &all))
            return dti_fail(reterr, DTI_UNAVAILABLE,
                            "%llu elements are more than there can be here",
                            (unsigned long long)request->n);
        status = dti_bench_memory_check(OPERANDS, bytes, request->cache, reterr);
    }
    return status == DTI_OK ? dti_bench_memory_check(OPERANDS, all, DTI_BENCH_HOT, reterr) : status;
}

size_t dti_math_pool_used(const struct dti_bench_request *request)
{
    return request->n < DTI_MATH_POOL ? (size_t)request->n : DTI_MATH_POOL;
}

struct math_filling {
    const struct dti_math_data *data;
    const unsigned char *pool;
    size_t pool_bytes;
};

static void fill_job(void *context, size_t member, size_t size)
{
    const struct math_filling *const filling = context;
    const struct dti_math_data *const data = filling->data;
    const struct dti_share share =
        dti_share_of((size_t)data->bytes, filling->pool_bytes, member, size);
    for (size_t at = 0; at < dti_bench_memory_sets(data->memory) * OPERANDS; at++) {
        unsigned char *const operand =
            dti_bench_memory_at(data->memory, at / OPERANDS, at % OPERANDS);
        dti_bench_repeat(operand + share.first, share.count, filling->pool, filling->pool_bytes);
    }
}

static enum dti_status open_data(struct dti_math_bench *bench, struct dti_math_data *data,
                                 struct dti_team *team, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = bench->request;
    const enum dti_status status =
        dti_bench_memory_new(&data->memory, OPERANDS, data->bytes, request->cache, team, reterr);
    if (status != DTI_OK)
        return status;
    struct math_filling filling = {.data = data, .pool_bytes = DTI_MATH_POOL * data->width};
    unsigned char *const pool = malloc(filling.pool_bytes);
    if (!pool)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    bench->work->make_pool(pool, data->dtype, dti_math_pool_used(request), request->seed);
    filling.pool = pool;
    dti_in_team(team, fill_job, &filling);
    free(pool);
    return DTI_OK;
}

enum dti_status dti_math_open(struct dti_math_bench *bench, struct dti_team *team,
                              struct dti_error *reterr)
{
    const struct dti_bench_request *const request = bench->request;
    enum dti_dtype dtypes[DTI_MATH_DTYPES_MAX];
    enum dti_status status = dti_math_check(request, 1, reterr);
    const size_t count = all_dtypes(request, dtypes);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        struct dti_math_data *const data = &bench->data[bench->data_count++];
        *data = (struct dti_math_data){.dtype = dtypes[i],
                                       .width = width_of(dtypes[i]),
                                       .bytes = request->n * width_of(dtypes[i]),
                                       .source = i >= request->dtype_count};
        status = open_data(bench, data, team, reterr);
    }
    return status;
}

void dti_math_close(struct dti_math_bench *bench)
{
    for (size_t i = 0; i < bench->row_count; i++)
        free(bench->rows[i].sums);
    for (size_t i = 0; i < bench->data_count; i++)
        dti_bench_memory_free(bench->data[i].memory);
}

struct dti_bench_item *dti_math_add_row(struct dti_math_bench *bench,
                                        const struct dti_math_data *data, const char *kernel,
                                        const char *arithmetic, dti_bench_fn *run)
{
    const size_t at = bench->table->count;
    if (bench->row_count == DTI_MATH_ROWS_MAX)
        return NULL;
    struct dti_bench_item *const item = dti_bench_add_item(bench->table, bench->work->role, "cpu");
    if (!item)
        return NULL;
    struct dti_math_row *const row = &bench->rows[bench->row_count++];
    *row = (struct dti_math_row){.bench = bench, .data = data, .item = at};
    (void)snprintf(item->dtype, sizeof item->dtype, "%s", dti_format_get(data->dtype)->name);
    (void)snprintf(item->engine, sizeof item->engine, "dtinfo");
    (void)snprintf(item->kernel, sizeof item->kernel, "%s", dti_kernel_title(kernel));
    (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%s", arithmetic);
    bench->candidates[at] = (struct dti_bench_candidate){
        .run = run, .context = row, .sets = dti_bench_memory_sets(data->memory), .subject = true};
    return item;
}

static void peak_pass(void *context, size_t set, size_t member, size_t size)
{
    struct dti_math_peak *const peak = context;
    (void)set;
    (void)member;
    (void)size;
    atomic_store_explicit(&peak->sink, peak->run(peak->count), memory_order_relaxed);
}

/* What is computed in: fp64 and int8 in themselves, all others in fp32. */
static enum dti_dtype arithmetic_of(enum dti_dtype dtype)
{
    return dtype == DTI_FP64 || dtype == DTI_INT8 ? dtype : DTI_FP32;
}

static void add_peak(struct dti_math_bench *bench, struct dti_math_peak *peak, enum dti_dtype dtype,
                     size_t threads)
{
    const char *why_not = NULL;
    const size_t at = bench->table->count;
    const struct dti_matmul_kernel *const kernel =
        dti_matmul_find(dtype, bench->request->level, &why_not);
    bool wanted = false;
    for (size_t i = 0; i < bench->data_count; i++)
        wanted = wanted || (!bench->data[i].source && arithmetic_of(bench->data[i].dtype) == dtype);
    if (!wanted || !kernel || !kernel->peak)
        return;
    struct dti_bench_item *const item = dti_bench_add_item(bench->table, "peak", "cpu");
    if (!item)
        return;
    peak->run = kernel->peak;
    peak->count = PEAK_INSTRUCTIONS;
    atomic_init(&peak->sink, 0);
    item->limit = true;
    item->operations = PEAK_INSTRUCTIONS * kernel->per_instruction * (double)threads;
    (void)snprintf(item->dtype, sizeof item->dtype, "%s", dti_format_get(dtype)->name);
    (void)snprintf(item->engine, sizeof item->engine, "dtinfo");
    (void)snprintf(item->kernel, sizeof item->kernel, "%s", kernel->instruction);
    bench->candidates[at] =
        (struct dti_bench_candidate){.run = peak_pass, .context = peak, .sets = 1};
}

/* All operands together: it is in the cache what all of each dtype are. */
static void describe(const struct dti_math_bench *bench)
{
    struct dti_bench_table *const table = bench->table;
    uint64_t memory = 0, huge_page_bytes = 0;
    size_t sets = 0;
    bool in_cache = true;
    for (size_t i = 0; i < bench->data_count; i++) {
        dti_bench_memory_describe(bench->data[i].memory, table);
        memory += table->memory;
        huge_page_bytes += table->huge_page_bytes;
        sets = table->sets > sets ? table->sets : sets;
        in_cache = in_cache && table->in_cache;
    }
    table->memory = memory;
    table->huge_page_bytes = huge_page_bytes;
    table->sets = sets;
    table->in_cache = in_cache;
}

void dti_math_add_limits(struct dti_math_bench *bench, struct dti_team *team)
{
    const bool copy = strcmp(bench->work->limit, "copy") == 0;
    const size_t threads = team ? dti_team_size(team) : 1;
    for (size_t i = 0; i < bench->data_count; i++) {
        const struct dti_math_data *const data = &bench->data[i];
        bool first = true; /* of its width */
        for (size_t j = 0; j < i; j++)
            first = first && bench->data[j].width != data->width;
        first = first && !data->source;
        size_t count = bench->table->count, before = count;
        if (first)
            dti_bench_add_limits(bench->table, bench->candidates, &count, bench->limits[i],
                                 data->memory, OPERANDS, data->bytes, copy, bench->request->level);
        for (; before < count; before++) /* which tells them from those of another width */
            (void)snprintf(bench->table->items[before].dtype,
                           sizeof bench->table->items[before].dtype, "%s",
                           dti_format_get(data->dtype)->name);
    }
    describe(bench);
    add_peak(bench, &bench->peaks[0], DTI_FP32, threads);
    add_peak(bench, &bench->peaks[1], DTI_FP64, threads);
    add_peak(bench, &bench->peaks[2], DTI_INT8, threads);
}

/* Whether an item is a limit of a row: of memory for as many bytes, or of its arithmetic. */
static bool limits(const struct dti_math_bench *bench, const struct dti_bench_item *item,
                   const struct dti_math_row *row)
{
    const struct dti_bench_item *const own = &bench->table->items[row->item];
    if (!item->limit)
        return false;
    if (strcmp(item->role, "peak") == 0)
        return strcmp(item->dtype, dti_format_get(arithmetic_of(row->data->dtype))->name) == 0;
    return item->bytes_read == own->bytes_read && item->bytes_written == own->bytes_written;
}

void dti_math_set_beside(struct dti_math_bench *bench)
{
    struct dti_bench_table *const table = bench->table;
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    for (size_t i = 0; i < bench->row_count; i++) {
        struct dti_bench_item *const item = &table->items[bench->rows[i].item];
        size_t best[2] = {SIZE_MAX, SIZE_MAX}; /* of memory, of arithmetic */
        double share[2] = {0, 0};
        for (size_t j = 0; j < table->count; j++) {
            struct dti_bench_figure figure;
            if (!limits(bench, &table->items[j], &bench->rows[i]))
                continue;
            item->beside = j;
            const size_t sort = table->items[j].operations > 0 ? 1 : 0;
            /* the fastest limit is that of which the row is the smallest share */
            if (dti_bench_of_limit(&figure, table, bench->rows[i].item, place) &&
                (best[sort] == SIZE_MAX || figure.median < share[sort])) {
                best[sort] = j;
                share[sort] = figure.median;
            }
        }
        item->beside = share[1] > share[0] ? best[1] : best[0];
    }
}

enum dti_status dti_math_run(struct dti_bench_table *ret, const struct dti_math_work *work,
                             const struct dti_bench_request *request, struct dti_team *team,
                             struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    if (request->gpu)
        return dti_math_device_run(ret, request, work->kernel, work->make_pool, reterr);
    struct dti_math_bench *const bench = calloc(1, sizeof *bench);
    if (!bench)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    bench->request = request;
    bench->table = ret;
    bench->work = work;
    atomic_init(&bench->failed, false);
    const enum dti_status status = work->measure(bench, team, reterr);
    if (status != DTI_OK)
        dti_bench_table_free(ret);
    dti_math_close(bench);
    free(bench);
    return status;
}
