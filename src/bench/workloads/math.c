/* SPDX-License-Identifier: MIT
 *
 * Operands and limits for measurements of computations on the CPU. */
#include "bench/workloads/math.h"

#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "kernels/kernel.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum { OPERANDS = 2, PEAK_INSTRUCTIONS = 20000 };

static size_t width_of(enum dti_dtype dtype)
{
    return dti_format_get(dtype)->width / 8;
}

/* The requested dtypes, then fp32 if it is also needed. */
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

enum dti_status dti_math_check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    enum dti_dtype dtypes[DTI_MATH_DTYPES_MAX];
    uint64_t all = 0, bytes;
    enum dti_status status = DTI_OK;
    const size_t count = all_dtypes(request, dtypes);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        if (!dti_mul_u64(request->n, width_of(dtypes[i]), &bytes) || !dti_add_u64(all, bytes, &all))
            return dti_fail(reterr, DTI_UNAVAILABLE, "%llu elements exceed the address space",
                            (unsigned long long)request->n);
        status = dti_bench_memory_check(dti_bench_alike(OPERANDS, bytes, request->cache), reterr);
    }
    return status == DTI_OK
               ? dti_bench_memory_check(dti_bench_alike(OPERANDS, all, DTI_BENCH_HOT), reterr)
               : status;
}

size_t dti_math_pool_used(const struct dti_bench_request *request)
{
    return request->n < DTI_MATH_POOL ? (size_t)request->n : DTI_MATH_POOL;
}

float dti_math_scale(const struct dti_bench_operand *operand, enum dti_dtype dtype)
{
    return dti_operands_are_scaled(dtype) ? dti_operand_scale(dtype, dti_operand_amax(operand)) : 1;
}

enum dti_status dti_math_operand(unsigned char **ret, size_t *ret_bytes,
                                 const struct dti_math_work *work,
                                 const struct dti_bench_request *request, enum dti_dtype dtype,
                                 size_t operand, struct dti_error *reterr)
{
    const struct dti_bench_operand *const given = request->operands;
    const size_t bytes = (given ? (size_t)request->n : DTI_MATH_POOL) * width_of(dtype);
    unsigned char *const memory = dti_malloc(bytes);
    if (!memory)
        return dti_no_memory(reterr);
    if (given)
        dti_operand_load(memory, dtype, dti_math_scale(&given[operand], dtype), &given[operand]);
    else
        work->make_pool(memory, dtype, dti_math_pool_used(request), request->seed);
    *ret = memory;
    *ret_bytes = bytes;
    return DTI_OK;
}

static enum dti_status open_data(struct dti_math *math, enum dti_dtype dtype,
                                 struct dti_error *reterr)
{
    const struct dti_bench_request *const request = math->frame.request;
    struct dti_math_data *const data = &math->data[math->data_count];
    *data = (struct dti_math_data){.dtype = dtype,
                                   .width = width_of(dtype),
                                   .bytes = request->n * width_of(dtype),
                                   .source = math->data_count++ >= request->dtype_count};
    enum dti_status status =
        dti_bench_memory_new(&data->memory, dti_bench_alike(OPERANDS, data->bytes, request->cache),
                             math->frame.team, reterr);
    if (status != DTI_OK)
        return status;
    dti_bench_memory_describe(&data->memory, math->frame.table);
    for (size_t i = 0; i < OPERANDS && status == DTI_OK; i++) {
        unsigned char *pool;
        size_t bytes;
        status = dti_math_operand(&pool, &bytes, math->work, request, dtype, i, reterr);
        if (status != DTI_OK)
            break;
        dti_bench_memory_fill(&data->memory, i, data->bytes, pool, bytes, math->frame.team);
        dti_free(pool);
    }
    return status;
}

enum dti_status dti_math_open(struct dti_math *math, const struct dti_math_work *work,
                              struct dti_error *reterr)
{
    enum dti_dtype dtypes[DTI_MATH_DTYPES_MAX];
    enum dti_status status = dti_math_check(math->frame.request, reterr);
    const size_t count = all_dtypes(math->frame.request, dtypes);
    math->work = work;
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = open_data(math, dtypes[i], reterr);
    return status;
}

void dti_math_end(struct dti_frame *frame)
{
    struct dti_math *const math = (struct dti_math *)frame;
    for (size_t i = 0; i < math->row_count; i++)
        dti_free(math->rows[i].sums);
    for (size_t i = 0; i < math->data_count; i++)
        dti_bench_memory_free(&math->data[i].memory);
    dti_quantizing_end(&math->quantizing);
}

struct dti_math_row *dti_math_add_row(struct dti_math *math, const struct dti_math_data *data,
                                      const char *kernel, const char *arithmetic, double operations,
                                      dti_bench_fn *run)
{
    const bool dot = math->work->dot;
    if (math->row_count == DTI_MATH_ROWS_MAX)
        return NULL;
    struct dti_math_row *const row = &math->rows[math->row_count];
    *row = (struct dti_math_row){.math = math, .data = data, .item = math->frame.table->count};
    if (!dti_frame_add(&math->frame, &(struct dti_bench_entry){
                                         .role = math->work->role,
                                         .dtype = dti_format_get(data->dtype)->name,
                                         .engine = "dtinfo",
                                         .kernel = dti_kernel_title(kernel),
                                         .arithmetic = arithmetic,
                                         .bytes_read = dot ? 2 * data->bytes : data->bytes,
                                         .bytes_written = dot ? 0 : data->bytes,
                                         .operations = operations * (double)math->frame.request->n,
                                         .run = run,
                                         .context = row,
                                         .sets = data->memory.sets,
                                     }))
        return NULL;
    math->row_count++;
    return row;
}

/* The dtype that computes: fp64 and int8 use themselves, all others fp32. */
static enum dti_dtype arithmetic_of(enum dti_dtype dtype)
{
    return dtype == DTI_FP64 || dtype == DTI_INT8 ? dtype : DTI_FP32;
}

/* Adds a peak; units that can only multiply matrices are excluded. */
static void add_peak(struct dti_math *math, enum dti_dtype dtype)
{
    const char *why_not = NULL;
    const enum dti_level level = math->frame.request->level;
    const struct dti_matmul_kernel *const kernel = dti_matmul_find(
        dtype, dti_level_includes(level, DTI_LEVEL_AMX) ? DTI_LEVEL_AVX512BF16 : level, &why_not);
    bool wanted = false;
    for (size_t i = 0; i < math->data_count; i++)
        wanted = wanted || (!math->data[i].source && arithmetic_of(math->data[i].dtype) == dtype);
    if (wanted && kernel && kernel->peak)
        (void)dti_frame_add_peak(&math->frame, kernel, dti_format_get(dtype)->name, "",
                                 PEAK_INSTRUCTIONS);
}

void dti_math_add_limits(struct dti_math *math)
{
    for (size_t i = 0; i < math->data_count; i++) {
        const struct dti_math_data *const data = &math->data[i];
        bool first = !data->source; /* first dtype of its width; limits are labelled with that
                                     * dtype */
        for (size_t j = 0; j < i; j++)
            first = first && math->data[j].width != data->width;
        if (first)
            dti_frame_add_limits(&math->frame, &data->memory, OPERANDS, data->bytes,
                                 !math->work->dot, dti_format_get(data->dtype)->name);
    }
    add_peak(math, DTI_FP32);
    add_peak(math, DTI_FP64);
    add_peak(math, DTI_INT8);
}

/* Whether an item is a limit for a row: a memory limit for as many bytes, or the peak of its
 * arithmetic. */
static bool limits(const struct dti_math *math, const struct dti_bench_item *item,
                   const struct dti_math_row *row)
{
    const struct dti_bench_item *const own = &math->frame.table->items[row->item];
    if (!item->limit)
        return false;
    if (strcmp(item->role, "peak") == 0)
        return strcmp(item->dtype, dti_format_get(arithmetic_of(row->data->dtype))->name) == 0;
    return item->bytes_read == own->bytes_read && item->bytes_written == own->bytes_written;
}

void dti_math_set_limit(struct dti_math *math)
{
    struct dti_bench_table *const table = math->frame.table;
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    for (size_t i = 0; i < math->row_count; i++) {
        struct dti_bench_item *const item = &table->items[math->rows[i].item];
        size_t best[2] = {SIZE_MAX, SIZE_MAX}; /* memory, arithmetic */
        double share[2] = {0, 0};
        for (size_t j = 0; j < table->count; j++) {
            struct dti_bench_figure figure;
            if (!limits(math, &table->items[j], &math->rows[i]))
                continue;
            item->limit_item = j;
            const size_t sort = table->items[j].operations > 0 ? 1 : 0;
            /* the fastest limit is the one of which the row has the smallest share */
            if (dti_bench_of_limit(&figure, table, math->rows[i].item, place) &&
                (best[sort] == SIZE_MAX || figure.median < share[sort])) {
                best[sort] = j;
                share[sort] = figure.median;
            }
        }
        item->limit_item = share[1] > share[0] ? best[1] : best[0];
    }
}
