/* SPDX-License-Identifier: MIT
 *
 * Measurements of matrix products on a fake device, with a fake cuBLASLt (tests/fake). */
#define _DEFAULT_SOURCE /* setenv() */
#include <math.h>
#include <stdlib.h>

#include "bench/measure/bench_table.h"
#include "unit.h"

static const enum dti_dtype all_dtypes[] = {DTI_FP32, DTI_BF16, DTI_INT8,      DTI_FP64,
                                            DTI_FP16, DTI_TF32, DTI_FP8_E4M3FN};
static struct dti_error error;
static struct dti_bench_table *table;

static struct dti_bench_request request_of(uint64_t m, uint64_t n, uint64_t k)
{
    return (struct dti_bench_request){
        .dtypes = all_dtypes,
        .dtype_count = sizeof all_dtypes / sizeof *all_dtypes,
        .m = m,
        .n = n,
        .k = k,
        .cache = DTI_BENCH_COLD,
        .seed = 7,
        .options = {.nanoseconds = 20000000, .sample_nanoseconds = 100000, .seed = 7},
    };
}

/* Runs the measurement on a device with this script. */
static enum dti_status run_on(unsigned device, struct dti_bench_request *request,
                              const char *script)
{
    struct dti_gpu *gpu;
    if (script)
        setenv("FAKE_CUBLASLT", script, 1);
    else
        unsetenv("FAKE_CUBLASLT");
    if (!table)
        table = calloc(1, sizeof *table);
    if (!CHECK(table && dti_gpu_open(&gpu, device, &error) == DTI_OK))
        return DTI_BUG;
    request->gpu = gpu;
    enum dti_status status = dti_bench_check(&dti_bench_kind_matmul, request, &error);
    if (CHECK(status == DTI_OK))
        status = dti_bench_measure(table, &dti_bench_kind_matmul, request, NULL, &error);
    dti_gpu_close(gpu);
    return status;
}

static enum dti_status run(struct dti_bench_request *request, const char *script)
{
    return run_on(0, request, script);
}

/* The total error includes the rounding of the operands: fp32 has 24 bits, bf16 8, fp8 4; int8 has
 * 127 steps up to the largest operand. */
static void check_total(const struct dti_bench_item *item)
{
    static const struct {
        const char *dtype;
        double least, most;
    } rows[] = {{"fp32", 1e-9, 1e-6}, {"bf16", 5e-4, 5e-3}, {"fp16", 5e-5, 6e-4},
                {"tf32", 5e-5, 6e-4}, {"int8", 3e-3, 3e-2}, {"fp8_e4m3fn", 1e-2, 8e-2},
                {"fp64", NAN, NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(item->dtype, rows[i].dtype) != 0)
            continue;
        const struct dti_bench_total *const total = &item->total;
        CHECK(isnan(rows[i].least) ? total->elements == 0
                                   : total->relative > rows[i].least &&
                                         total->relative < rows[i].most && total->largest > 0);
        CHECK((item->scales[0] > 0 && item->scales[1] > 0) == (strchr(item->dtype, '8') != NULL));
    }
}

static void products_of_every_dtype_are_right(void)
{
    static const uint64_t shapes[][3] = {{24, 32, 48}, {1, 64, 80}, {7, 16, 16}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct dti_bench_request request = request_of(shapes[s][0], shapes[s][1], shapes[s][2]);
        if (!CHECK(run(&request, NULL) == DTI_OK)) {
            printf("  %s\n", error.text);
            return;
        }
        size_t products = 0;
        for (size_t i = 0; i < table->count; i++) {
            const struct dti_bench_item *const item = &table->items[i];
            CHECK_STR(item->device, "cuda:0");
            CHECK(item->from_events);
            if (item->limit)
                continue;
            products++;
            CHECK_STR(item->engine, "cublaslt 13.1.2");
            CHECK_STR(item->kernel, "cublasLtMatmul, algorithm 66, tile 20");
            CHECK(item->has_sum && item->relative_error < 1e-6);
            CHECK(strcmp(item->dtype, "int8") != 0 || item->error == 0);
            check_total(item);
        }
        CHECK_SIZE(products, request.dtype_count);
        dti_bench_table_free(table);
    }
}

static void what_the_engine_does_not_do_is_noted(void)
{
    struct dti_bench_request request = request_of(6, 10, 9); /* int8 sizes are multiples of 4 */
    if (CHECK(run(&request, NULL) == DTI_OK)) {
        CHECK_SIZE(table->note_count, 2);
        CHECK_STR(table->notes[0], "int8: cublaslt 13.1.2 has no product of this size");
        CHECK_STR(table->notes[1], "fp8_e4m3fn: cublaslt 13.1.2 has no product of this size");
        dti_bench_table_free(table);
    }
    if (CHECK(run(&request, "nothing") == DTI_OK)) {
        CHECK_SIZE(table->note_count, request.dtype_count);
        CHECK_SIZE(table->count, 0);
        dti_bench_table_free(table);
    }
    if (CHECK(run(&request, "absent") == DTI_OK)) {
        CHECK_STR(table->notes[0], "cublaslt: libcublasLt.so.13: cublasLtCreate() returned 1");
        dti_bench_table_free(table);
    }
    request.engine = "openblas";
    if (CHECK(run(&request, NULL) == DTI_OK)) {
        CHECK_STR(table->notes[0], "openblas: not for CUDA devices");
        dti_bench_table_free(table);
    }
}

static void fp8_is_for_devices_that_have_it(void)
{
    struct dti_bench_request request = request_of(16, 16, 16);
    if (CHECK(run_on(1, &request, NULL) == DTI_OK)) {
        CHECK_SIZE(table->note_count, 1);
        CHECK_STR(table->notes[0], "fp8_e4m3fn: needs compute capability 8.9");
        dti_bench_table_free(table);
    }
}

static void a_large_product_is_the_limit(void)
{
    static const enum dti_dtype one[] = {DTI_INT8};
    struct dti_bench_request request = request_of(64, 64, 64);
    request.dtypes = one;
    request.dtype_count = 1;
    if (CHECK(run(&request, "large") == DTI_OK)) {
        CHECK_SIZE(table->count, 3);
        CHECK_STR(table->items[1].role, "peak");
        CHECK(strstr(table->items[1].kernel, "4096x4096x4096"));
        CHECK(table->items[1].operations == 2.0 * 4096 * 4096 * 4096);
        CHECK_STR(table->items[2].role, "copy");
        CHECK(table->items[0].limit_item == 1 || table->items[0].limit_item == 2);
        dti_bench_table_free(table);
    }
}

static void failures_are_told(void)
{
    struct dti_bench_request request = request_of(8, 8, 8);
    CHECK(run(&request, "fail=3") == DTI_DEVICE_FAILED);
    CHECK_STR(error.text, "cublaslt 13.1.2: cublasLtMatmul() returned 13");
    CHECK(run(&request, "wrong") == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "the product of fp32 matrices by cublaslt 13.1.2 is wrong at 0,0");
}

static void what_does_not_fit_is_refused(void)
{
    struct dti_bench_request request = request_of(UINT64_C(1) << 22, UINT64_C(1) << 18, 64);
    if (CHECK(dti_gpu_open(&request.gpu, 0, &error) == DTI_OK)) {
        CHECK(dti_bench_check(&dti_bench_kind_matmul, &request, &error) == DTI_UNAVAILABLE);
        CHECK(strstr(error.text, "cuda:0 has "));
        dti_gpu_close(request.gpu);
    }
    free(table);
}

UNIT_MAIN(products_of_every_dtype_are_right, what_the_engine_does_not_do_is_noted,
          fp8_is_for_devices_that_have_it, a_large_product_is_the_limit, failures_are_told,
          what_does_not_fit_is_refused)
