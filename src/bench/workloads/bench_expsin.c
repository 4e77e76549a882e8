/* SPDX-License-Identifier: MIT
 *
 * bench expsin: exp(sin x) of normal numbers, limited by arithmetic as well as by memory. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/workloads/math.h"
#include "util/run/allocate.h"
#include "util/run/mathematics.h"

/* JUDGED: the maximum number of elements checked, evenly spaced. */
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
    struct dti_frame *const frame = &row->math->frame;
    const size_t width = row->data->width;
    const struct dti_share share = dti_share_of((size_t)frame->request->n, LINE, member, size);
    const unsigned char *const src = dti_bench_memory_at(&row->data->memory, set, 0);
    unsigned char *const dst = dti_bench_memory_at(&row->data->memory, set, 1);
    if (share.count == 0)
        return;
    if (!row->math->with_alloc) {
        row->expsin->run(dst + share.first * width, src + share.first * width, share.count);
        return;
    }
    void *const fresh = dti_malloc(share.count * width);
    if (fresh)
        row->expsin->run(fresh, src + share.first * width, share.count);
    else
        atomic_store(&frame->failed, true);
    dti_free(fresh);
}

/* The error of a result in units in the last place of the dtype. The reference is the C library
 * in higher precision: fp64, or for fp64 itself long double. */
static double error_of(const struct dti_mathematics *library, enum dti_dtype dtype, double x,
                       double got)
{
    const int digits = dti_format_get(dtype)->man_bits + 1;
    int exponent;
    if (dtype == DTI_FP64) {
        const long double want = library->expl(library->sinl((long double)x));
        (void)frexpl(want, &exponent);
        return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - digits));
    }
    const double want = library->exp(library->sin(x));
    (void)frexp(want, &exponent);
    return fabs(got - want) / ldexp(1, exponent - digits);
}

static double largest_error(const struct dti_mathematics *library, enum dti_dtype dtype,
                            const unsigned char *arguments, const unsigned char *results,
                            uint64_t n)
{
    const uint64_t step = n / JUDGED + 1;
    double largest = 0;
    for (uint64_t i = 0; i < n; i += step) {
        const double error = error_of(library, dtype, dti_operand_number(dtype, arguments, i),
                                      dti_operand_number(dtype, results, i));
        if (isnan(error))
            return error;
        if (error > largest)
            largest = error;
    }
    return largest;
}

enum dti_status dti_expsin_judge(struct dti_bench_item *item, const struct dti_math_data *data,
                                 const struct dti_expsin_kernel *promise, const char *name,
                                 const char *where, const unsigned char *arguments,
                                 const unsigned char *results, struct dti_error *reterr)
{
    if (data->dtype == DTI_FP64 && LDBL_MANT_DIG < 64)
        return DTI_OK;
    const struct dti_mathematics *library;
    const enum dti_status status = dti_mathematics_get(&library, reterr);
    if (status != DTI_OK)
        return status;
    item->has_ulp = true;
    item->max_ulp =
        largest_error(library, data->dtype, arguments, results, data->bytes / data->width);
    if (item->max_ulp <= promise->max_ulp)
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG, "%s is less accurate%s than documented; please report it",
                    name, where);
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_math *const math = (struct dti_math *)frame;
    bool small = false;
    const enum dti_status status = dti_math_open(math, &dti_expsin_work, reterr);
    if (status != DTI_OK)
        return status;
    math->with_alloc = frame->request->with_alloc;
    for (size_t i = 0; i < math->data_count; i++) {
        const struct dti_math_data *const data = &math->data[i];
        const struct dti_expsin_kernel *const kernel =
            dti_expsin_find(data->dtype, frame->request->level);
        struct dti_math_row *const row = dti_math_add_row(
            math, data, kernel->name, kernel->arithmetic, kernel->operations, expsin_pass);
        if (!row)
            break;
        row->expsin = kernel;
        small = small || data->width == 2;
    }
    if (math->with_alloc)
        dti_bench_add_note(
            frame->table,
            "memory of results: malloc() and free(), which may return the same pages every time");
    if (small)
        dti_bench_add_note(
            frame->table,
            "16-bit dtypes are computed in fp32: the same operations as fp32, half the bytes");
    dti_math_add_limits(math);
    return DTI_OK;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_math *const math = (struct dti_math *)frame;
    enum dti_status status = DTI_OK;
    if (atomic_load(&frame->failed))
        return dti_no_memory(reterr);
    math->with_alloc = false;
    for (size_t i = 0; i < math->row_count && status == DTI_OK; i++) {
        const struct dti_math_row *const row = &math->rows[i];
        unsigned char *const results = dti_bench_memory_at(&row->data->memory, 0, 1);
        memset(results, 0xff, (size_t)row->data->bytes);
        dti_frame_again(frame, row->item);
        status = dti_expsin_judge(&frame->table->items[row->item], row->data, row->expsin,
                                  row->expsin->name, "",
                                  dti_bench_memory_at(&row->data->memory, 0, 0), results, reterr);
    }
    if (status == DTI_OK)
        dti_math_set_limit(math);
    return status;
}

const struct dti_math_work dti_expsin_work = {
    .role = "expsin", .kernel = DTI_GPU_EXPSIN, .make_pool = make_pool};
static const struct dti_bench_workload on_cpu =
    DTI_WORKLOAD(NULL, struct dti_math, dti_math_check, prepare, verify, dti_math_end);

const struct dti_bench_kind dti_bench_kind_expsin = {
    .name = "expsin",
    .summary = "exp(sin x) of arrays, and the error of each dtype",
    .sizes = "2000x2000,16777216",
    .dtypes = "fp32,fp64,fp16,bf16",
    .size_is = DTI_BENCH_ELEMENTS,
    .cpu = &on_cpu,
    .device = &dti_expsin_on_device,
};
