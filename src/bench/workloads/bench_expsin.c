/* SPDX-License-Identifier: MIT
 *
 * bench expsin: exp(sin x) of normal numbers, where arithmetic counts and not only memory. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/cast_buffers.h"
#include "bench/workloads/math_bench.h"
#include "bench/workloads/math_device.h"
#include "kernels/fp64.h"

/* Every so many elements are judged that there are no more than these. */
enum { JUDGED = 1 << 20, LINE = 64 };

static void make_pool(void *pool, enum dti_dtype dtype, size_t n, uint64_t seed)
{
    (void)n;
    const struct dti_format *const format = dti_format_get(dtype);
    dti_bench_data_fill(pool, DTI_MATH_POOL, format, format, DTI_BENCH_NORMAL, seed);
}

static void expsin_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_math_row *const row = context;
    struct dti_math_bench *const bench = row->bench;
    const size_t width = row->data->width;
    const struct dti_share share = dti_share_of((size_t)bench->request->n, LINE, member, size);
    const unsigned char *const src = dti_bench_memory_at(row->data->memory, set, 0);
    unsigned char *const dst = dti_bench_memory_at(row->data->memory, set, 1);
    if (share.count == 0)
        return;
    if (!bench->request->with_alloc) {
        row->expsin->run(dst + share.first * width, src + share.first * width, share.count);
        return;
    }
    void *const fresh = malloc(share.count * width);
    if (fresh)
        row->expsin->run(fresh, src + share.first * width, share.count);
    else
        atomic_store(&bench->failed, true);
    free(fresh);
}

static double number_at(enum dti_dtype dtype, const unsigned char *array, uint64_t i)
{
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    const struct dti_format *const format = dti_format_get(dtype);
    struct dti_value value;
    dti_decode(format, dti_storage_get(format, &layout, array, i), &value);
    return dti_fp64_from_value(&value);
}

/* Units in the last place of the dtype between a result and that of the C library, which computes
 * in more precision: fp64, and for fp64 itself the largest type there is. */
static double error_of(enum dti_dtype dtype, double x, double got)
{
    const int digits = dti_format_get(dtype)->man_bits + 1;
    int exponent;
    if (dtype == DTI_FP64) {
        const long double want = expl(sinl((long double)x));
        (void)frexpl(want, &exponent);
        return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - digits));
    }
    const double want = exp(sin(x));
    (void)frexp(want, &exponent);
    return fabs(got - want) / ldexp(1, exponent - digits);
}

bool dti_expsin_can_judge(enum dti_dtype dtype)
{
    return dtype != DTI_FP64 || LDBL_MANT_DIG >= 64;
}

double dti_expsin_largest_error(enum dti_dtype dtype, const unsigned char *arguments,
                                const unsigned char *results, uint64_t n)
{
    const uint64_t step = n / JUDGED + 1;
    double largest = 0;
    for (uint64_t i = 0; i < n; i += step) {
        const double error =
            error_of(dtype, number_at(dtype, arguments, i), number_at(dtype, results, i));
        if (isnan(error))
            return error;
        if (error > largest)
            largest = error;
    }
    return largest;
}

static void again_job(void *row, size_t member, size_t size)
{
    expsin_pass(row, 0, member, size);
}

static enum dti_status verify(struct dti_math_row *row, struct dti_team *team,
                              struct dti_error *reterr)
{
    const struct dti_math_data *const data = row->data;
    struct dti_bench_item *const item = &row->bench->table->items[row->item];
    struct dti_bench_request request = *row->bench->request;
    const struct dti_bench_request *const measured = row->bench->request;
    unsigned char *const results = dti_bench_memory_at(data->memory, 0, 1);
    if (!dti_expsin_can_judge(data->dtype))
        return DTI_OK;
    request.with_alloc = false;
    memset(results, 0xff, (size_t)data->bytes);
    row->bench->request = &request;
    dti_in_team(team, again_job, row);
    row->bench->request = measured;
    item->has_ulp = true;
    item->max_ulp = dti_expsin_largest_error(data->dtype, dti_bench_memory_at(data->memory, 0, 0),
                                             results, request.n);
    if (item->max_ulp <= row->expsin->max_ulp)
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG, "%s is less accurate than it promises; please report it",
                    row->expsin->name);
}

static void add_rows(struct dti_math_bench *bench)
{
    const struct dti_bench_request *const request = bench->request;
    bool small = false;
    for (size_t i = 0; i < bench->data_count; i++) {
        const struct dti_math_data *const data = &bench->data[i];
        const struct dti_expsin_kernel *const kernel = dti_expsin_find(data->dtype, request->level);
        struct dti_bench_item *const item =
            dti_math_add_row(bench, data, kernel->name, kernel->arithmetic, expsin_pass);
        if (!item)
            return;
        bench->rows[bench->row_count - 1].expsin = kernel;
        item->bytes_read = item->bytes_written = data->bytes;
        item->operations = kernel->operations * (double)request->n;
        small = small || data->width == 2;
    }
    if (request->with_alloc)
        dti_bench_add_note(bench->table,
                           "memory of results: by malloc() and free(), which may hand "
                           "out the same pages again and again");
    if (small)
        dti_bench_add_note(bench->table, "dtypes of 16 bits are computed in fp32: with as many "
                                         "operations as fp32, on half the bytes");
}

static enum dti_status measure(struct dti_math_bench *bench, struct dti_team *team,
                               struct dti_error *reterr)
{
    struct dti_bench_table *const table = bench->table;
    enum dti_status status = dti_math_open(bench, team, reterr);
    if (status != DTI_OK)
        return status;
    add_rows(bench);
    dti_math_add_limits(bench, team);
    status = dti_bench_run(&table->bench, bench->candidates, table->count, team,
                           &bench->request->options, reterr);
    if (status == DTI_OK && atomic_load(&bench->failed))
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < bench->row_count && status == DTI_OK; i++)
        status = verify(&bench->rows[i], team, reterr);
    if (status == DTI_OK)
        dti_math_set_beside(bench);
    return status;
}

static enum dti_status run(struct dti_bench_table *ret, const struct dti_bench_request *request,
                           struct dti_team *team, struct dti_error *reterr)
{
    static const struct dti_math_work work = {.role = "expsin",
                                              .limit = "copy",
                                              .kernel = DTI_GPU_EXPSIN,
                                              .make_pool = make_pool,
                                              .measure = measure};
    return dti_math_run(ret, &work, request, team, reterr);
}

const struct dti_bench_kind dti_bench_kind_expsin = {
    .name = "expsin",
    .summary = "exp(sin x) of arrays, and the error of each dtype",
    .sizes = "2000x2000,16777216",
    .dtypes = "fp32,fp64,fp16,bf16",
    .size_is = DTI_BENCH_ELEMENTS,
    .check = dti_math_check,
    .run = run,
};
