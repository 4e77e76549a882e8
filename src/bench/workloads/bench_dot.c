/* SPDX-License-Identifier: MIT
 *
 * bench dot: the dot product of an array of uniform numbers with itself, which is limited by
 * reading memory; computed in each dtype from the same numbers and compared with the exact sum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/splitmix.h"
#include "bench/workloads/math.h"
#include "core/number/spell.h"
#include "kernels/fp64.h"
#include "kernels/fused.h"
#include "util/run/allocate.h"

/* Added sequentially, sums in a dtype of 11 bits or fewer stop changing long before this many
 * terms. */
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
 * quantized by the largest of the used ones. */
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
        at += (size_t)AT_ONCE * (dti_format_get(dtype)->width / 8u);
    }
}

/* The exact dot product of the fp32 numbers: the pool's, times its repetitions, plus the rest. */
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

/* The same for operands from files, of any dtype; or the sum of the terms' magnitudes. */
static double exact_of_operands(const struct dti_bench_request *request, bool magnitudes)
{
    struct dti_exact_sum sum;
    dti_exact_sum_init(&sum);
    for (uint64_t i = 0; i < request->n; i++) {
        const double x = dti_operand_at(&request->operands[0], i);
        const double y = dti_operand_at(&request->operands[1], i), product = x * y;
        dti_exact_sum_add(&sum, magnitudes ? fabs(product) : product);
        if (!magnitudes)
            dti_exact_sum_add(&sum, dti_fma(x, y, -product));
    }
    return dti_exact_sum_value(&sum);
}

/* Compares the result with the exact one for the fp32 numbers. */
static void judge_in_all(struct dti_bench_item *item, enum dti_dtype dtype,
                         const struct dti_bench_request *request)
{
    struct dti_total_error error = {.squares = 0};
    double factor = 1;
    if (dti_operands_are_scaled(dtype)) {
        for (size_t i = 0; i < 2; i++)
            item->scales[i] = request->operands
                                  ? dti_math_scale(&request->operands[i], dtype)
                                  : scale_of(dtype, dti_math_pool_used(request), request->seed);
        factor = (double)item->scales[0] * (double)item->scales[1];
    }
    dti_total_error_add(&error, item->sum * factor,
                        request->operands ? exact_of_operands(request, false)
                                          : exact_of_numbers(request->n, request->seed));
    dti_total_error_end(&error, &item->total);
}

static void dot_pass(void *context, size_t set, size_t member, size_t size)
{
    const struct dti_math_row *const row = context;
    const struct dti_math_data *const data = row->data;
    const struct dti_share share =
        dti_share_of((size_t)row->math->frame.request->n, LINE, member, size);
    const unsigned char *const a = dti_bench_memory_at(&data->memory, set, 0);
    const unsigned char *const b = dti_bench_memory_at(&data->memory, set, 1);
    row->sums[member * DTI_MATH_STRIDE] =
        row->dot->run(a + share.first * data->width, b + share.first * data->width, share.count);
}

/* The exact sum, computed by all members. */
struct exact_job {
    const struct dti_math_row *row;
    struct dti_exact_sum *sums;
};

static void exact_pass(void *context, size_t member, size_t size)
{
    const struct exact_job *const job = context;
    const struct dti_math_data *const data = job->row->data;
    const struct dti_share share =
        dti_share_of((size_t)job->row->math->frame.request->n, LINE, member, size);
    const unsigned char *const a = dti_bench_memory_at(&data->memory, 0, 0);
    const unsigned char *const b = dti_bench_memory_at(&data->memory, 0, 1);
    dti_exact_sum_init(&job->sums[member]);
    dti_dot_exact(&job->sums[member], data->dtype, a + share.first * data->width,
                  b + share.first * data->width, share.count);
}

/* The magnitude that the error is relative to. Random numbers are not negative, so it is the
 * result. For files, magnitudes of the terms are at most four times those before rounding;
 * underflow takes at most `lost` from them. */
static double size_of_terms(const struct dti_bench_request *request, double exact, double *ret_lost)
{
    const struct dti_bench_operand *const given = request->operands;
    *ret_lost = given ? (double)request->n * 0x1p-126 * (1 + given[0].amax + given[1].amax) : 0;
    return given ? 4 * exact_of_operands(request, true) : exact;
}

enum dti_status dti_dot_judge(struct dti_frame *frame, size_t at, enum dti_dtype dtype, double sum,
                              double exact, struct dti_error *reterr)
{
    struct dti_bench_table *const table = frame->table;
    struct dti_bench_item *const item = &table->items[at];
    const struct dti_format *const format = dti_format_get(dtype);
    const double eps = dtype == DTI_INT8 ? 0 : dtype == DTI_FP64 ? 0x1p-53 : 0x1p-24;
    item->has_sum = true;
    item->sum = sum;
    item->exact = exact;
    item->error = fabs(sum - exact);
    item->relative_error = exact != 0 ? item->error / fabs(exact) : 0;
    judge_in_all(item, dtype, frame->request);
    bool is_first = format->width == 16; /* first item of its dtype */
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
    /* each addition errs by at most half a unit in the last place of the running sum */
    double lost;
    const double terms = size_of_terms(frame->request, exact, &lost);
    const uint64_t additions = frame->request->n / SUMS_LEAST + SUMS_LEAST;
    if (item->error <= (double)additions * eps * terms + lost)
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG,
                    "%s is further from the exact sum than rounding explains; "
                    "please report it",
                    item->kernel);
}

/* Adds a note with the result of a loop that keeps its sum in the dtype. */
static void note_in_turn(struct dti_bench_table *table, const struct dti_math_data *data,
                         uint64_t n)
{
    const struct dti_format *const format = dti_format_get(data->dtype);
    const unsigned char *const a = dti_bench_memory_at(&data->memory, 0, 0);
    const unsigned char *const b = dti_bench_memory_at(&data->memory, 0, 1);
    char text[DTI_TEXT_SIZE];
    double sum = 0;
    struct dti_value value;
    if (format->width != 16 || n > IN_TURN_MAX)
        return;
    for (uint64_t i = 0; i < n; i++) {
        const double product =
            dti_operand_number(format->id, a, i) * dti_operand_number(format->id, b, i);
        sum = number_of(format, code_of(format, sum + product)); /* exact in fp64 before rounding */
    }
    dti_fp64_to_value(sum, &value);
    (void)dti_spell_text(text, &value);
    dti_bench_add_note(table, "%s: a sum kept in %s, one element after another, is %s",
                       format->name, format->name, text);
}

static enum dti_status verify_row(struct dti_frame *frame, const struct dti_math_row *row,
                                  struct dti_error *reterr)
{
    struct exact_job job = {.row = row, .sums = dti_calloc(frame->threads, sizeof *job.sums)};
    if (!job.sums)
        return dti_no_memory(reterr);
    dti_in_team(frame->team, exact_pass, &job);
    dti_frame_again(frame, row->item);
    double sum = 0;
    for (size_t i = 0; i < frame->threads; i++) {
        sum = dti_fp64_add(sum, row->sums[i * DTI_MATH_STRIDE]);
        if (i > 0)
            dti_exact_sum_merge(&job.sums[0], &job.sums[i]);
    }
    const enum dti_status status = dti_dot_judge(frame, row->item, row->data->dtype, sum,
                                                 dti_exact_sum_value(&job.sums[0]), reterr);
    dti_free(job.sums);
    return status;
}

static enum dti_status add_row(struct dti_math *math, const struct dti_math_data *data,
                               const struct dti_dot_kernel *kernel, struct dti_error *reterr)
{
    struct dti_math_row *const row = dti_math_add_row(
        math, data, kernel->name, kernel->accumulation, kernel->operations, dot_pass);
    if (!row)
        return DTI_OK;
    row->dot = kernel;
    row->sums = dti_calloc(math->frame.threads * DTI_MATH_STRIDE, sizeof *row->sums);
    return row->sums ? DTI_OK : dti_no_memory(reterr);
}

/* bf16 has two rows: the kernel with the dedicated instruction and the one that keeps
 * subnormals. */
static enum dti_status add_rows(struct dti_math *math, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < math->data_count && status == DTI_OK; i++) {
        const struct dti_math_data *const data = &math->data[i];
        if (data->source)
            continue;
        const struct dti_dot_kernel *const kernel =
            dti_dot_find(data->dtype, math->frame.request->level);
        status = add_row(math, data, kernel, reterr);
        if (status == DTI_OK && kernel->level == DTI_LEVEL_AVX512BF16)
            status = add_row(math, data, dti_dot_find(data->dtype, DTI_LEVEL_AVX512), reterr);
    }
    return status;
}

static const struct dti_math_data *data_of(const struct dti_math *math, enum dti_dtype dtype)
{
    for (size_t i = 0; i < math->data_count; i++) {
        if (math->data[i].dtype == dtype)
            return &math->data[i];
    }
    return NULL;
}

/* Adds the cost that int8 has before the product: quantizing both operands. */
static enum dti_status add_quantizing(struct dti_math *math, struct dti_error *reterr)
{
    const struct dti_math_data *const codes = data_of(math, DTI_INT8);
    const struct dti_math_data *const numbers = data_of(math, DTI_FP32);
    if (!codes || !numbers)
        return DTI_OK;
    struct dti_quantizing *const quantizing = &math->quantizing;
    for (size_t i = 0; i < 2; i++) {
        quantizing->numbers[i] = (struct dti_quantizing_place){&numbers->memory, i, 0};
        quantizing->codes[i] = (struct dti_quantizing_place){&codes->memory, i, 0};
        quantizing->elements[i] = math->frame.request->n;
    }
    return dti_quantizing_add(quantizing, DTI_INT8, &math->frame, reterr);
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_math *const math = (struct dti_math *)frame;
    enum dti_status status = dti_math_open(math, &dti_dot_work, reterr);
    if (status == DTI_OK)
        status = add_rows(math, reterr);
    if (status == DTI_OK)
        status = add_quantizing(math, reterr);
    if (status == DTI_OK)
        dti_math_add_limits(math);
    return status;
}

/* Compares the quantized codes with the original ones. */
static enum dti_status verify_quantizing(const struct dti_math *math, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = math->frame.request;
    const struct dti_math_data *const data = data_of(math, DTI_INT8);
    if (!data)
        return DTI_OK;
    for (size_t i = 0; i < 2; i++) {
        unsigned char *pool;
        size_t bytes;
        const enum dti_status status =
            dti_math_operand(&pool, &bytes, &dti_dot_work, request, DTI_INT8, i, reterr);
        if (status != DTI_OK)
            return status;
        const bool same = memcmp(pool, dti_bench_memory_at(&data->memory, 0, i),
                                 bytes < request->n ? bytes : (size_t)request->n) == 0;
        dti_free(pool);
        if (!same)
            return dti_fail(reterr, DTI_BUG,
                            "operands were quantized incorrectly; please report it");
    }
    return DTI_OK;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_math *const math = (struct dti_math *)frame;
    enum dti_status status = verify_quantizing(math, reterr);
    for (size_t i = 0; i < math->row_count && status == DTI_OK; i++)
        status = verify_row(frame, &math->rows[i], reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < math->data_count; i++)
        note_in_turn(frame->table, &math->data[i], frame->request->n);
    if (frame->threads > 1)
        dti_bench_add_note(frame->table, "the sums of the threads are added in fp64");
    dti_math_set_limit(math);
    return DTI_OK;
}

const struct dti_math_work dti_dot_work = {
    .role = "dot", .dot = true, .kernel = DTI_GPU_DOT, .make_pool = make_pool};
static const struct dti_bench_workload on_cpu =
    DTI_WORKLOAD(NULL, struct dti_math, dti_math_check, prepare, verify, dti_math_end);

const struct dti_bench_kind dti_bench_kind_dot = {
    .name = "dot",
    .summary = "dot products, and their error in each dtype",
    .sizes = "1000,33554432",
    .dtypes = "fp32,fp64,fp16,bf16,int8",
    .size_is = DTI_BENCH_ELEMENTS,
    .has_operands = true,
    .keeps_memory = true,
    .cpu = &on_cpu,
    .device = &dti_dot_on_device,
};
