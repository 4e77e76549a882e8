/* SPDX-License-Identifier: MIT
 *
 * bench dot: the dot product of an array of uniform numbers with itself, which reading memory
 * limits; what each dtype makes of the same numbers, beside the exact sum of what it holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/splitmix.h"
#include "bench/workloads/cast_buffers.h"
#include "bench/workloads/math_bench.h"
#include "bench/workloads/math_device.h"
#include "bench/workloads/quantizing.h"
#include "dtinfo/spell.h"
#include "kernels/fp64.h"

/* One after the other, sums in a dtype of 11 bits or less no longer change long before that. */
enum { LINE = 64, IN_TURN_MAX = 1 << 16, SUMS_LEAST = 16 };

static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};

static uint64_t code_of(const struct dti_format *format, double number)
{
    struct dti_value value;
    struct dti_outcome outcome;
    dti_fp64_to_value(number, &value);
    dti_encode(format, &value, &nearest, 0, &outcome);
    return outcome.code;
}

static double number_of(const struct dti_format *format, uint64_t code)
{
    struct dti_value value;
    dti_decode(format, code, &value);
    return dti_fp64_from_value(&value);
}

/* Uniform in [0, 1), multiples of 2^-24: the same numbers for each dtype, rounded to it, or
 * quantized by the largest of those that are used. */
static float next_number(uint64_t *random)
{
    return (float)(dti_splitmix(random) >> 40) * 0x1p-24F;
}

static float scale_of(enum dti_dtype dtype, size_t n, uint64_t seed)
{
    float amax = 0;
    for (size_t i = 0; i < n; i++) {
        const float number = next_number(&seed);
        amax = number > amax ? number : amax;
    }
    return dti_operand_scale(dtype, amax);
}

static void make_pool(void *pool, enum dti_dtype dtype, size_t n, uint64_t seed)
{
    enum { AT_ONCE = 256 };
    float numbers[AT_ONCE];
    const float scale = scale_of(dtype, n, seed);
    unsigned char *at = pool;
    for (size_t i = 0; i < DTI_MATH_POOL; i += AT_ONCE) {
        for (size_t j = 0; j < AT_ONCE; j++)
            numbers[j] = next_number(&seed);
        dti_operand_codes(at, dtype, scale, numbers, AT_ONCE);
        at += AT_ONCE * (dti_format_get(dtype)->width / 8u);
    }
}

/* The exact dot product of the fp32 numbers: of the pool as often as it is repeated, and of the
 * rest. */
static double exact_of_numbers(uint64_t n, uint64_t seed)
{
    struct dti_exact_sum whole, sum;
    dti_exact_sum_init(&whole);
    dti_exact_sum_init(&sum);
    for (uint64_t i = 0; i < DTI_MATH_POOL; i++) {
        const float number = next_number(&seed);
        const double square = (double)number * (double)number;
        dti_exact_sum_add(&whole, square);
        if (i < n % DTI_MATH_POOL)
            dti_exact_sum_add(&sum, square);
    }
    for (uint64_t i = 0; i < n / DTI_MATH_POOL; i++)
        dti_exact_sum_merge(&sum, &whole);
    return dti_exact_sum_value(&sum);
}

/* What came out beside what the fp32 numbers come to. */
static void judge_in_all(struct dti_bench_item *item, enum dti_dtype dtype,
                         const struct dti_bench_request *request)
{
    struct dti_total_error error;
    double factor = 1;
    if (dti_operands_are_scaled(dtype)) {
        const float scale = scale_of(dtype, dti_math_pool_used(request), request->seed);
        item->scales[0] = item->scales[1] = scale;
        factor = (double)scale * (double)scale;
    }
    dti_total_error_init(&error);
    dti_total_error_add(&error, item->sum * factor, exact_of_numbers(request->n, request->seed));
    dti_total_error_end(&error, &item->total);
}

static void dot_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_math_row *const row = context;
    const struct dti_math_data *const data = row->data;
    const struct dti_share share = dti_share_of((size_t)row->bench->request->n, LINE, member, size);
    const unsigned char *const a = dti_bench_memory_at(data->memory, set, 0);
    const unsigned char *const b = dti_bench_memory_at(data->memory, set, 1);
    row->sums[member * DTI_MATH_STRIDE] =
        row->dot->run(a + share.first * data->width, b + share.first * data->width, share.count);
}

/* The exact sum, by all members. */
struct exact_job {
    const struct dti_math_row *row;
    struct dti_exact_sum *sums;
};

static void exact_pass(void *context, size_t member, size_t size)
{
    const struct exact_job *const job = context;
    const struct dti_math_data *const data = job->row->data;
    const struct dti_share share =
        dti_share_of((size_t)job->row->bench->request->n, LINE, member, size);
    const unsigned char *const a = dti_bench_memory_at(data->memory, 0, 0);
    const unsigned char *const b = dti_bench_memory_at(data->memory, 0, 1);
    dti_exact_sum_init(&job->sums[member]);
    dti_dot_exact(&job->sums[member], data->dtype, a + share.first * data->width,
                  b + share.first * data->width, share.count);
}

enum dti_status dti_dot_judge(struct dti_bench_table *table, struct dti_bench_item *item,
                              enum dti_dtype dtype, double sum, double exact,
                              const struct dti_bench_request *request, struct dti_error *reterr)
{
    const struct dti_format *const format = dti_format_get(dtype);
    const double eps = dtype == DTI_INT8 ? 0 : dtype == DTI_FP64 ? 0x1p-53 : 0x1p-24;
    item->has_sum = true;
    item->sum = sum;
    item->exact = exact;
    item->error = fabs(sum - exact);
    item->relative_error = exact > 0 ? item->error / exact : 0;
    judge_in_all(item, dtype, request);
    bool is_first = format->width == 16; /* of its dtype */
    for (const struct dti_bench_item *other = table->items; other < item; other++)
        is_first = is_first && (other->limit || strcmp(other->dtype, item->dtype) != 0);
    if (is_first) {
        char whole[DTI_TEXT_SIZE], rounded[DTI_TEXT_SIZE];
        struct dti_value value;
        dti_fp64_to_value(sum, &value);
        (void)dti_spell_digits(whole, &value, 7);
        dti_decode(format, code_of(format, sum), &value);
        (void)dti_spell_text(rounded, &value);
        dti_bench_add_note(table, "%s: %s is %s where the result, too, is %s", format->name, whole,
                           rounded, format->name);
    }
    /* nothing is negative: every addition errs by half a place of what there is so far */
    if (item->error <= ((double)(request->n / SUMS_LEAST) + SUMS_LEAST) * eps * exact)
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG,
                    "%s is further from the exact sum than rounding explains; "
                    "please report it",
                    item->kernel);
}

/* What a loop comes to that keeps its sum in the dtype. */
static void note_in_turn(struct dti_bench_table *table, const struct dti_math_data *data,
                         uint64_t n)
{
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    const struct dti_format *const format = dti_format_get(data->dtype);
    const unsigned char *const a = dti_bench_memory_at(data->memory, 0, 0);
    char text[DTI_TEXT_SIZE];
    double sum = 0;
    struct dti_value value;
    if (format->width != 16 || n > IN_TURN_MAX)
        return;
    for (uint64_t i = 0; i < n; i++) {
        const double x = number_of(format, dti_storage_get(format, &layout, a, i));
        sum = number_of(format, code_of(format, sum + x * x)); /* exact in fp64 before */
    }
    dti_fp64_to_value(sum, &value);
    (void)dti_spell_text(text, &value);
    dti_bench_add_note(table, "%s: a sum kept in %s, one element after another, is %s",
                       format->name, format->name, text);
}

static void again_job(void *row, size_t member, size_t size)
{
    dot_pass(row, 0, member, size);
}

static enum dti_status verify(struct dti_math_row *row, struct dti_team *team,
                              struct dti_error *reterr)
{
    struct dti_bench_table *const table = row->bench->table;
    const size_t members = team ? dti_team_size(team) : 1;
    struct exact_job job = {.row = row, .sums = calloc(members, sizeof *job.sums)};
    if (!job.sums)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_in_team(team, exact_pass, &job);
    dti_in_team(team, again_job, row);
    double sum = 0;
    for (size_t i = 0; i < members; i++) {
        sum = dti_fp64_add(sum, row->sums[i * DTI_MATH_STRIDE]);
        if (i > 0)
            dti_exact_sum_merge(&job.sums[0], &job.sums[i]);
    }
    const enum dti_status status =
        dti_dot_judge(table, &table->items[row->item], row->data->dtype, sum,
                      dti_exact_sum_value(&job.sums[0]), row->bench->request, reterr);
    free(job.sums);
    return status;
}

static enum dti_status add_row(struct dti_math_bench *bench, const struct dti_math_data *data,
                               const struct dti_dot_kernel *kernel, size_t members,
                               struct dti_error *reterr)
{
    struct dti_bench_item *const item =
        dti_math_add_row(bench, data, kernel->name, kernel->accumulation, dot_pass);
    if (!item)
        return DTI_OK;
    struct dti_math_row *const row = &bench->rows[bench->row_count - 1];
    row->dot = kernel;
    row->sums = calloc(members * DTI_MATH_STRIDE, sizeof *row->sums);
    item->bytes_read = 2 * data->bytes;
    item->operations = kernel->operations * (double)bench->request->n;
    return row->sums ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* Of bf16, the kernel by the instruction for it and that which loses no subnormals. */
static enum dti_status add_rows(struct dti_math_bench *bench, size_t members,
                                struct dti_error *reterr)
{
    const enum dti_level level = bench->request->level;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < bench->data_count && status == DTI_OK; i++) {
        const struct dti_math_data *const data = &bench->data[i];
        if (data->source)
            continue;
        const struct dti_dot_kernel *const kernel = dti_dot_find(data->dtype, level);
        status = add_row(bench, data, kernel, members, reterr);
        if (status == DTI_OK && kernel->level == DTI_LEVEL_AVX512BF16)
            status =
                add_row(bench, data, dti_dot_find(data->dtype, DTI_LEVEL_AVX512), members, reterr);
    }
    return status;
}

static const struct dti_math_data *data_of(const struct dti_math_bench *bench, enum dti_dtype dtype)
{
    for (size_t i = 0; i < bench->data_count; i++) {
        if (bench->data[i].dtype == dtype)
            return &bench->data[i];
    }
    return NULL;
}

/* What int8 costs before: both operands are quantized, where they are. */
static enum dti_status add_quantizing(struct dti_math_bench *bench, struct dti_quantizing *ret,
                                      struct dti_team *team, struct dti_error *reterr)
{
    const struct dti_math_data *const codes = data_of(bench, DTI_INT8);
    const struct dti_math_data *const numbers = data_of(bench, DTI_FP32);
    const uint64_t n = bench->request->n;
    if (!codes || !numbers)
        return DTI_OK;
    const struct dti_quantizing_place from[2] = {{numbers->memory, 0, 0}, {numbers->memory, 1, 0}};
    const struct dti_quantizing_place to[2] = {{codes->memory, 0, 0}, {codes->memory, 1, 0}};
    const enum dti_status status = dti_quantizing_init(ret, DTI_INT8, from, to, (uint64_t[]){n, n},
                                                       bench->request->level, team, reterr);
    if (status == DTI_OK)
        dti_quantizing_add(ret, bench->table, bench->candidates);
    return status;
}

/* The codes that quantizing left, beside those that were there before. */
static enum dti_status verify_quantizing(const struct dti_math_bench *bench,
                                         struct dti_error *reterr)
{
    const struct dti_math_data *const data = data_of(bench, DTI_INT8);
    if (!data)
        return DTI_OK;
    unsigned char *const pool = malloc(DTI_MATH_POOL);
    if (!pool)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    make_pool(pool, DTI_INT8, dti_math_pool_used(bench->request), bench->request->seed);
    const bool same = memcmp(pool, dti_bench_memory_at(data->memory, 0, 1),
                             dti_math_pool_used(bench->request)) == 0;
    free(pool);
    return same ? DTI_OK
                : dti_fail(reterr, DTI_BUG,
                           "operands were not quantized as it is defined; please report it");
}

static enum dti_status measure_rows(struct dti_math_bench *bench, struct dti_team *team,
                                    struct dti_quantizing *quantizing, struct dti_error *reterr)
{
    struct dti_bench_table *const table = bench->table;
    const size_t members = team ? dti_team_size(team) : 1;
    enum dti_status status = dti_math_open(bench, team, reterr);
    if (status == DTI_OK)
        status = add_rows(bench, members, reterr);
    if (status == DTI_OK)
        status = add_quantizing(bench, quantizing, team, reterr);
    if (status != DTI_OK)
        return status;
    dti_math_add_limits(bench, team);
    status = dti_bench_run(&table->bench, bench->candidates, table->count, team,
                           &bench->request->options, reterr);
    status = dti_quantizing_status(quantizing, status, reterr);
    if (status == DTI_OK)
        status = verify_quantizing(bench, reterr);
    for (size_t i = 0; i < bench->row_count && status == DTI_OK; i++)
        status = verify(&bench->rows[i], team, reterr);
    for (size_t i = 0; i < bench->data_count && status == DTI_OK; i++)
        note_in_turn(table, &bench->data[i], bench->request->n);
    if (status == DTI_OK && members > 1)
        dti_bench_add_note(table, "the sums of the threads are added in fp64");
    if (status == DTI_OK)
        dti_math_set_beside(bench);
    return status;
}

static enum dti_status measure(struct dti_math_bench *bench, struct dti_team *team,
                               struct dti_error *reterr)
{
    struct dti_quantizing quantizing = {.team = team};
    const enum dti_status status = measure_rows(bench, team, &quantizing, reterr);
    dti_quantizing_end(&quantizing);
    return status;
}

static enum dti_status run(struct dti_bench_table *ret, const struct dti_bench_request *request,
                           struct dti_team *team, struct dti_error *reterr)
{
    static const struct dti_math_work work = {.role = "dot",
                                              .limit = "read",
                                              .kernel = DTI_GPU_DOT,
                                              .make_pool = make_pool,
                                              .measure = measure};
    return dti_math_run(ret, &work, request, team, reterr);
}

const struct dti_bench_kind dti_bench_kind_dot = {
    .name = "dot",
    .summary = "dot products, and how far each dtype's is from the exact one",
    .sizes = "1000,33554432",
    .dtypes = "fp32,fp64,fp16,bf16,int8",
    .size_is = DTI_BENCH_ELEMENTS,
    .keeps_memory = true,
    .check = dti_math_check,
    .run = run,
};
