/* SPDX-License-Identifier: MIT
 *
 * Measurements of exp(sin x) and of dot products: the rows, the verdicts on their results, and
 * refused requests. Times are not checked. Runs on a device, too, if DTINFO_LIBCUDA names a driver.
 */
#include <math.h>
#include <stdlib.h>

#include "bench/measure/bench_table.h"
#include "unit.h"

static const enum dti_dtype all[] = {DTI_FP32, DTI_FP64, DTI_FP16, DTI_BF16, DTI_INT8};

static enum dti_level highest(void)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    (void)dti_level_choose(NULL, &level, NULL);
    return level;
}

static struct dti_bench_request request_of(uint64_t n, enum dti_level level)
{
    return (struct dti_bench_request){
        .dtypes = all,
        .dtype_count = 4,
        .n = n,
        .level = level,
        .cache = DTI_BENCH_HOT,
        .seed = 1,
        .options = {.nanoseconds = 1000000, .sample_nanoseconds = 1000, .seed = 1},
    };
}

/* The subjects of a table. */
static size_t subjects(const struct dti_bench_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++)
        count += !table->items[i].limit;
    return count;
}

static void check_expsin(const struct dti_bench_table *table, uint64_t n)
{
    static const unsigned width[] = {4, 8, 2, 2};
    static const double ulp[] = {3, 3, 0.51, 0.51};
    CHECK_SIZE(subjects(table), 4);
    for (size_t i = 0; i < 4 && i < table->count; i++) {
        const struct dti_bench_item *const item =
            &table->items[table->items[0].from_events ? 2 * i : i];
        CHECK_STR(item->role, "expsin");
        CHECK_STR(item->dtype, dti_format_get(all[i])->name);
        CHECK(item->kernel[0] != '\0' && item->arithmetic[0] != '\0');
        CHECK_U64(item->bytes_read, n * width[i]);
        CHECK_U64(item->bytes_written, n * width[i]);
        CHECK(item->operations >= (double)n);
        CHECK(!item->has_ulp || (item->max_ulp > 0 && item->max_ulp <= ulp[i]));
        CHECK(item->has_ulp || all[i] == DTI_FP64);
        if (CHECK(item->limit_item < table->count))
            CHECK(table->items[item->limit_item].limit);
    }
}

static void every_level_is_measured_and_judged(void)
{
    for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
        struct dti_bench_table table;
        const struct dti_bench_request request = request_of(5003, level);
        if (!dti_level_present(level))
            continue;
        if (CHECK(dti_bench_measure(&table, &dti_bench_kind_expsin, &request, NULL, NULL) ==
                  DTI_OK)) {
            check_expsin(&table, request.n);
            dti_bench_table_free(&table);
        }
    }
}

static void threads_share_the_elements(void)
{
    struct dti_team *team;
    struct dti_bench_table table;
    struct dti_bench_request request = request_of(70001, highest());
    if (!CHECK(dti_team_new(&team, 3, DTI_WAIT_SLEEP, false, NULL) == DTI_OK))
        return;
    request.cache = DTI_BENCH_COLD;
    request.with_alloc = true;
    if (CHECK(dti_bench_measure(&table, &dti_bench_kind_expsin, &request, team, NULL) == DTI_OK)) {
        check_expsin(&table, request.n);
        CHECK(table.sets > 1);
        dti_bench_table_free(&table);
    }
    request.n = 3; /* too few elements for a cache line per thread */
    if (CHECK(dti_bench_measure(&table, &dti_bench_kind_dot, &request, team, NULL) == DTI_OK))
        dti_bench_table_free(&table);
    dti_team_free(team);
}

static const struct dti_bench_item *row_of(const struct dti_bench_table *table, const char *dtype)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table->items[i].limit && strcmp(table->items[i].dtype, dtype) == 0)
            return &table->items[i];
    }
    return NULL;
}

static bool has_note(const struct dti_bench_table *table, const char *words)
{
    for (size_t i = 0; i < table->note_count; i++) {
        if (strstr(table->notes[i], words))
            return true;
    }
    return false;
}

/* The sum of squares of 1000 uniform numbers is about a third of 1000. The error of a bf16 result
 * is reported separately from the error of bf16 arguments. */
static void check_dot(const struct dti_bench_table *table, uint64_t n)
{
    for (size_t i = 0; i < 4; i++) {
        const struct dti_bench_item *const item = row_of(table, dti_format_get(all[i])->name);
        if (!CHECK(item != NULL))
            return;
        CHECK_STR(item->role, "dot");
        CHECK(item->has_sum && item->exact > 0.28 * (double)n && item->exact < 0.39 * (double)n);
        CHECK(item->error == fabs(item->sum - item->exact));
        CHECK(item->relative_error < (all[i] == DTI_FP64 ? 1e-14 : 1e-5));
        CHECK_U64(item->bytes_written, 0);
        CHECK(item->operations == 2 * (double)n);
        if (CHECK(item->limit_item < table->count))
            CHECK(table->items[item->limit_item].limit);
    }
    /* fp32 products are exact in fp64 */
    CHECK(row_of(table, "fp32")->exact == row_of(table, "fp64")->exact);
    CHECK(row_of(table, "fp16")->exact != row_of(table, "fp32")->exact);
    CHECK(has_note(table, "bf16: ") && has_note(table, "where the result, too, is bf16"));
}

static uint64_t random64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Compares the total error with one computed here: for int8 with its scale, for other dtypes
 * directly. */
static void check_total(const struct dti_bench_table *table, uint64_t n)
{
    uint64_t state = 1;
    float numbers[1000], amax = 0;
    double exact = 0, codes = 0;
    for (size_t i = 0; i < 1000 && i < n; i++) {
        numbers[i] = (float)(random64(&state) >> 40) * 0x1p-24F;
        amax = fmaxf(amax, numbers[i]);
        exact += (double)numbers[i] * (double)numbers[i];
    }
    const float scale = amax / 127;
    for (size_t i = 0; i < 1000 && i < n; i++)
        codes += (double)rintf(numbers[i] / scale) * (double)rintf(numbers[i] / scale);
    const struct dti_bench_item *const int8 = row_of(table, "int8");
    const struct dti_bench_item *const bf16 = row_of(table, "bf16");
    CHECK(int8->scales[0] == scale && int8->scales[1] == scale && bf16->scales[0] == 0);
    CHECK(int8->sum == codes && int8->exact == codes && int8->error == 0);
    CHECK(fabs(int8->total.exact / exact - 1) < 1e-12);
    CHECK(fabs(int8->total.got / (codes * (double)scale * (double)scale) - 1) < 1e-12);
    CHECK(int8->total.elements == 1 && int8->total.relative > 1e-6 && int8->total.relative < 1e-2);
    CHECK(bf16->total.got == bf16->sum && bf16->total.exact == int8->total.exact);
    CHECK(bf16->total.relative > 10 * bf16->relative_error);
}

static void dot_products_are_beside_the_exact_sum(void)
{
    for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
        struct dti_bench_table table;
        struct dti_bench_request request = request_of(1000, level);
        request.dtype_count = 5;
        if (!dti_level_present(level))
            continue;
        if (CHECK(dti_bench_measure(&table, &dti_bench_kind_dot, &request, NULL, NULL) == DTI_OK)) {
            check_dot(&table, request.n);
            check_total(&table, request.n);
            CHECK(has_note(&table, "bf16: a sum kept in bf16"));
            dti_bench_table_free(&table);
        }
    }
}

static void what_cannot_be_measured_is_said_at_once(void)
{
    struct dti_error error;
    struct dti_bench_request request = request_of(UINT64_C(1) << 62, highest());
    CHECK(dti_bench_check(&dti_bench_kind_expsin, &request, &error) == DTI_UNAVAILABLE);
    CHECK(dti_bench_check(&dti_bench_kind_dot, &request, &error) == DTI_UNAVAILABLE);
    request.n = UINT64_C(1) << 45;
    CHECK(dti_bench_check(&dti_bench_kind_dot, &request, &error) == DTI_UNAVAILABLE);
    request.n = 1;
    CHECK(dti_bench_check(&dti_bench_kind_expsin, &request, &error) == DTI_OK);
}

static void a_device_is_measured_alike(void)
{
    struct dti_gpu *gpu;
    struct dti_error error;
    struct dti_bench_table table;
    struct dti_bench_request request = request_of(1000, highest());
    if (!getenv("DTINFO_LIBCUDA") || dti_gpu_open(&gpu, 0, &error) != DTI_OK)
        return;
    request.gpu = gpu;
    CHECK(dti_bench_check(&dti_bench_kind_expsin, &request, &error) == DTI_OK);
    if (CHECK(dti_bench_measure(&table, &dti_bench_kind_expsin, &request, NULL, &error) ==
              DTI_OK)) {
        check_expsin(&table, request.n);
        CHECK_STR(table.items[0].device, "cuda:0");
        dti_bench_table_free(&table);
    }
    if (CHECK(dti_bench_measure(&table, &dti_bench_kind_dot, &request, NULL, &error) == DTI_OK)) {
        check_dot(&table, request.n);
        dti_bench_table_free(&table);
    }
    request.dtype_count = 5;
    if (CHECK(dti_bench_measure(&table, &dti_bench_kind_dot, &request, NULL, &error) == DTI_OK)) {
        CHECK(!row_of(&table, "int8") && has_note(&table, "int8: no kernel for this device"));
        dti_bench_table_free(&table);
    }
    request.n = UINT64_C(1) << 40;
    CHECK(dti_bench_check(&dti_bench_kind_dot, &request, &error) == DTI_UNAVAILABLE);
    dti_gpu_close(gpu);
}

UNIT_MAIN(every_level_is_measured_and_judged, threads_share_the_elements,
          dot_products_are_beside_the_exact_sum, what_cannot_be_measured_is_said_at_once,
          a_device_is_measured_alike)
