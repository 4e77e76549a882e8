/* SPDX-License-Identifier: MIT
 *
 * Measuring casts on the fake device: which rows are compared, and that results are verified. */
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/cast_parts.h"
#include "unit.h"

static struct dti_error error;

static struct dti_runner *open_runner(void)
{
    const struct dti_device_choice choice = {.kind = DTI_DEVICE_CUDA};
    struct dti_runner *runner = NULL;
    if (!CHECK(dti_runner_open(&runner, &choice, &error) == DTI_OK)) {
        printf("  %s\n", error.text);
        exit(1);
    }
    return runner;
}

static struct dti_bench_cast cast;

static struct dti_bench_request request_of(enum dti_dtype src, enum dti_dtype dst, uint64_t bytes,
                                           struct dti_runner *runner)
{
    cast = (struct dti_bench_cast){.src = *dti_format_get(src),
                                   .dst = *dti_format_get(dst),
                                   .levels = {DTI_LEVEL_SCALAR},
                                   .level_count = 1};
    return (struct dti_bench_request){
        .cast = &cast,
        .n = bytes,
        .runner = runner,
        .seed = 1,
        .options = {.nanoseconds = 1000000, .sample_nanoseconds = 100000, .seed = 1},
    };
}

static void check_rows(const struct dti_bench_request *request, size_t casts)
{
    struct dti_bench_table table;
    CHECK(dti_bench_check(&dti_bench_kind_cast, request, &error) == DTI_OK);
    if (!CHECK(dti_bench_measure(&table, &dti_bench_kind_cast, request, NULL, &error) == DTI_OK)) {
        printf("  %s\n", error.text);
        return;
    }
    const enum dti_bench_place place = dti_bench_main_place(&table.bench);
    const struct dti_bench_item *const first = &table.items[0];
    CHECK_SIZE(table.count, casts + 2);
    for (size_t i = 0; i < table.count; i++) {
        const struct dti_bench_item *const item = &table.items[i];
        const uint64_t both = item->bytes_read + item->bytes_written;
        CHECK_STR(item->device, "cuda:0");
        CHECK_STR(item->role, i < casts ? "cast" : "copy");
        CHECK(item->limit == (i >= casts) && item->where != DTI_BENCH_ON_CPU);
        CHECK(item->from_events == (item->where == DTI_BENCH_RESIDENT));
        CHECK(both / 2 == (first->bytes_read + first->bytes_written) / 2);
        CHECK(dti_bench_fastest(&table, "copy", item->where, place) >= casts);
        CHECK(dti_bench_fastest(&table, "copy", item->where, place) < casts + 2);
    }
    CHECK(first->where == DTI_BENCH_RESIDENT && !first->loss);
    dti_bench_table_free(&table);
}

static void casts_are_measured_there_and_with_the_way(void)
{
    struct dti_runner *const runner = open_runner();
    struct dti_bench_request request = request_of(DTI_FP32, DTI_BF16, 4099, runner);
    check_rows(&request, 2);
    cast.loss = true;
    check_rows(&request, 4);
    request = request_of(DTI_INT4, DTI_FP64, 1000, runner);
    check_rows(&request, 2);
    dti_runner_close(runner);
}

static void what_the_device_cannot_do_is_not_measured(void)
{
    struct dti_runner *const runner = open_runner();
    struct dti_bench_table table;
    struct dti_bench_request request = request_of(DTI_FP64, DTI_BF16, 4096, runner);
    CHECK(dti_format_lookup("e15m48", &cast.dst, NULL, &error) == DTI_OK);
    CHECK(dti_bench_check(&dti_bench_kind_cast, &request, &error) == DTI_UNAVAILABLE);
    CHECK(dti_bench_measure(&table, &dti_bench_kind_cast, &request, NULL, &error) ==
          DTI_UNAVAILABLE);
    request = request_of(DTI_FP32, DTI_BF16, UINT64_C(1) << 40, runner);
    CHECK(dti_bench_check(&dti_bench_kind_cast, &request, &error) == DTI_UNAVAILABLE);
    CHECK(strstr(error.text, "cuda:0") && strstr(error.text, " are needed"));
    dti_runner_close(runner);
}

/* The reference plan gets a different source than the device. */
static void a_wrong_result_is_found(void)
{
    enum { N = 3 * DTI_TILE };
    struct dti_runner *const runner = open_runner();
    struct dti_bench_request request = request_of(DTI_FP32, DTI_BF16, 4 * N, runner);
    const struct dti_request wanted = {.src = cast.src, .cast = {.dst = cast.dst}};
    struct dti_bench_cast_device m = {
        .frame = {.request = &request}, .sizes = {N, 4 * N, 2 * N}, .sets = 1};
    const char *why = NULL;
    m.src = calloc(N, 4);
    m.dst = calloc(N, 2);
    CHECK(m.src && m.dst);
    CHECK(dti_plan_new(&m.judge, &wanted, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_plan_new(&m.plan, &wanted, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_plan_set_runner(m.plan, runner, &why, &error) == DTI_OK && !why);
    CHECK(dti_resident_new(&m.resident, m.plan, N, 1, false, &error) == DTI_OK);
    CHECK(dti_resident_put(m.resident, 0, m.src, &error) == DTI_OK);
    CHECK(dti_bench_cast_device_verify(&m.frame, &error) == DTI_OK);
    m.src[4 * (N - 1) + 3] = 0x40; /* 2.0, which the device does not have */
    CHECK(dti_bench_cast_device_verify(&m.frame, &error) == DTI_BUG);
    CHECK(strstr(error.text, "in the device's memory") != NULL);
    dti_resident_free(m.resident);
    dti_plan_free(m.plan);
    dti_plan_free(m.judge);
    free(m.src);
    free(m.dst);
    dti_runner_close(runner);
}

UNIT_MAIN(casts_are_measured_there_and_with_the_way, what_the_device_cannot_do_is_not_measured,
          a_wrong_result_is_found)
