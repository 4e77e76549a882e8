/* SPDX-License-Identifier: MIT
 *
 * The measurement of quantization: which rows exist, how many bytes they move, and that they are
 * right. Times are not checked. */
#include <stdlib.h>

#include "bench/measure/bench_table.h"
#include "unit.h"

static const enum dti_dtype dtypes[] = {DTI_INT8, DTI_UINT8, DTI_INT4, DTI_INT16, DTI_FP8_E4M3FN};
static const enum dti_block blocks[] = {DTI_BLOCK_MXFP8_E4M3, DTI_BLOCK_MXFP4, DTI_BLOCK_NVFP4,
                                        DTI_BLOCK_MXFP6_E2M3, DTI_BLOCK_NF4,   DTI_BLOCK_Q8_0};
static struct dti_error error;
static struct dti_bench_table *table;

static struct dti_bench_request request_of(uint64_t n, enum dti_level level)
{
    return (struct dti_bench_request){
        .dtypes = dtypes,
        .dtype_count = sizeof dtypes / sizeof *dtypes,
        .blocks = blocks,
        .block_count = sizeof blocks / sizeof *blocks,
        .n = n,
        .level = level,
        .seed = 3,
        .options = {.nanoseconds = 1000000, .sample_nanoseconds = 1000, .seed = 3},
    };
}

static enum dti_level highest(void)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    (void)dti_level_choose(NULL, &level, NULL);
    return level;
}

static const struct dti_bench_item *row_of(const char *dtype, const char *role)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        if (!item->limit && strcmp(item->dtype, dtype) == 0 && strcmp(item->role, role) == 0)
            return item;
    }
    CHECK_STR("there is no row of", role);
    return NULL;
}

static bool measure(const struct dti_bench_request *request, struct dti_team *team)
{
    if (!table)
        table = calloc(1, sizeof *table);
    if (CHECK(table && dti_bench_check(&dti_bench_kind_quant, request, &error) == DTI_OK &&
              dti_bench_measure(table, &dti_bench_kind_quant, request, team, &error) == DTI_OK))
        return true;
    printf("  %s\n", error.text);
    return false;
}

static void check_bytes(const char *dtype, const char *role, uint64_t read, uint64_t written)
{
    const struct dti_bench_item *const item = row_of(dtype, role);
    if (!item)
        return;
    CHECK_U64(item->bytes_read, read);
    CHECK_U64(item->bytes_written, written);
}

/* A scale and a zero point have 4 bytes each. Numbers are read twice, first for their range. */
static void rows_count_what_they_move(void)
{
    struct dti_bench_request request = request_of(64 * 48, highest());
    const uint64_t n = request.n;
    request.m = 48;
    if (!measure(&request, NULL))
        return;
    check_bytes("int8", "quantize", 8 * n, n + 8);
    check_bytes("int8", "quantize given", 4 * n, n + 8);
    check_bytes("int8", "quantize rows", 8 * n, n + 48 * 8);
    check_bytes("int8", "dequantize", n + 8, 4 * n);
    check_bytes("int8", "dequantize rows", n + 48 * 8, 4 * n);
    check_bytes("int4", "quantize", 8 * n, n / 2 + 8);
    check_bytes("int16", "quantize", 8 * n, 2 * n + 8);
    check_bytes("mxfp8_e4m3", "quantize", 4 * n, n + n / 32);
    check_bytes("mxfp8_e4m3", "dequantize", n + n / 32, 4 * n);
    check_bytes("mxfp4", "quantize", 4 * n, n / 2 + n / 32);
    check_bytes("nvfp4", "quantize", 8 * n, n / 2 + n / 16);
    check_bytes("nvfp4", "quantize alone", 4 * n, n / 2 + n / 16);
    check_bytes("nf4", "quantize", 4 * n, n / 2 + n / 16);
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        CHECK_STR(item->device, "cpu");
        CHECK(item->kernel[0] != '\0' && item->operations == 0);
        if (item->limit)
            CHECK_STR(item->role, "copy");
        else
            CHECK(item->limit_item < table->count && table->items[item->limit_item].limit);
    }
    dti_bench_table_free(table);
}

static void every_level_and_size_is_right(void)
{
    static const uint64_t sizes[] = {1, 31, 1000, 4096, 70001};
    for (enum dti_level level = 0; level < DTI_LEVEL_COUNT; level++) {
        for (size_t i = 0; dti_level_present(level) && i < sizeof sizes / sizeof *sizes; i++) {
            const struct dti_bench_request request = request_of(sizes[i], level);
            if (sizes[i] > 5000 && level != highest())
                continue;
            if (measure(&request, NULL))
                dti_bench_table_free(table);
        }
    }
}

static void members_share_an_array(void)
{
    struct dti_team *team;
    struct dti_bench_request request = request_of(300 * 1000, highest());
    request.m = 300;
    request.block_count = 3;
    request.dtype_count = 1;
    if (!CHECK(dti_team_new(&team, 3, DTI_WAIT_SLEEP, false, NULL) == DTI_OK))
        return;
    if (measure(&request, team))
        dti_bench_table_free(table);
    request.cache = DTI_BENCH_COLD;
    if (measure(&request, team)) {
        CHECK(table->sets > 1);
        dti_bench_table_free(table);
    }
    dti_team_free(team);
}

static void what_cannot_be_measured_is_said_at_once(void)
{
    static const enum dti_dtype many[] = {DTI_INT8,       DTI_UINT8,   DTI_INT4,  DTI_UINT4,
                                          DTI_INT2,       DTI_UINT2,   DTI_INT16, DTI_UINT16,
                                          DTI_FP8_E4M3FN, DTI_FP8_E5M2};
    struct dti_bench_request request = request_of(UINT64_C(1) << 61, highest());
    CHECK(dti_bench_check(&dti_bench_kind_quant, &request, &error) == DTI_UNAVAILABLE);
    request.n = UINT64_C(1) << 45;
    CHECK(dti_bench_check(&dti_bench_kind_quant, &request, &error) == DTI_UNAVAILABLE);
    request = request_of(1000, highest());
    request.dtypes = many;
    request.dtype_count = sizeof many / sizeof *many;
    CHECK(dti_bench_check(&dti_bench_kind_quant, &request, &error) == DTI_USAGE);
    CHECK_STR(error.text, "too many dtypes for one table; measure them in parts");
    free(table);
}

UNIT_MAIN(rows_count_what_they_move, every_level_and_size_is_right, members_share_an_array,
          what_cannot_be_measured_is_said_at_once)
