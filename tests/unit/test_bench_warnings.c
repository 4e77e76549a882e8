/* SPDX-License-Identifier: MIT
 *
 * Warnings about results below the CPU's capabilities, with synthetic CPUs and times. */
#include "bench/measure/frame.h"

#include <stdlib.h>

#include "unit.h"

static void a_faster_unit_without_a_kernel_is_named(void)
{
    bool has[DTI_INSTRUCTION_COUNT] = {false};
    CHECK(!dti_unit_unused(has, DTI_BF16, "vdpbf16ps zmm"));
    CHECK(!dti_unit_unused(has, DTI_FP16, NULL));
    has[DTI_HAS_AMX_BF16] = has[DTI_HAS_AMX_INT8] = has[DTI_HAS_AVX512_FP16] = true;
    has[DTI_HAS_AVX512_BF16] = has[DTI_HAS_AVX512_VNNI] = has[DTI_HAS_AVX_VNNI] = true;
    CHECK_STR(dti_unit_unused(has, DTI_BF16, "vdpbf16ps zmm"), "amx_bf16");
    CHECK_STR(dti_unit_unused(has, DTI_INT8, "vpdpbusd zmm"), "amx_int8");
    CHECK_STR(dti_unit_unused(has, DTI_FP16, NULL), "avx512_fp16");
    CHECK(!dti_unit_unused(has, DTI_BF16, "tdpbf16ps"));
    CHECK(!dti_unit_unused(has, DTI_FP32, "vfmadd231ps zmm"));
    /* slower units do not matter */
    has[DTI_HAS_AMX_INT8] = false;
    CHECK(!dti_unit_unused(has, DTI_INT8, "vpdpbusd zmm"));
    has[DTI_HAS_AVX512_VNNI] = false;
    CHECK_STR(dti_unit_unused(has, DTI_INT8, "vpmaddwd and vpaddd ymm"), "avx_vnni");
    CHECK(!dti_unit_unused(has, DTI_INT8, "vpdpbusd ymm"));
    has[DTI_HAS_AVX_VNNI_INT8] = true; /* the same rate per instruction */
    CHECK(!dti_unit_unused(has, DTI_INT8, "vpdpbusd ymm"));
}

/* fp32, bf16 and int8 of dtinfo, bf16 of another engine, and a peak; milliseconds in eight rounds.
 */
static void a_narrower_dtype_that_is_slower_is_told(void)
{
    enum { ITEMS = 5, ROUNDS = 8 };
    static const char *const dtypes[ITEMS] = {"fp32", "bf16", "int8", "bf16", "bf16"};
    static const double times[ITEMS] = {10, 17, 10.5, 90, 90};
    double seconds[ITEMS * ROUNDS];
    enum dti_bench_place places[ROUNDS];
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!CHECK(table))
        return;
    for (size_t i = 0; i < ITEMS * ROUNDS; i++)
        seconds[i] = times[i % ITEMS] * 1e-3;
    for (size_t i = 0; i < ROUNDS; i++)
        places[i] = DTI_BENCH_ALONE;
    table->bench = (struct dti_bench){
        .candidates = ITEMS, .rounds = ROUNDS, .seconds = seconds, .places = places};
    for (size_t i = 0; i < ITEMS; i++) {
        struct dti_bench_item *const item =
            dti_bench_add_item(table, i == 4 ? "peak" : "matmul", "cpu");
        snprintf(item->dtype, sizeof item->dtype, "%s", dtypes[i]);
        snprintf(item->engine, sizeof item->engine, "%s", i == 3 ? "onednn" : "dtinfo");
        item->operations = 1000;
        item->limit = i == 4;
    }
    dti_bench_warn_narrow(table);
    if (CHECK_SIZE(table->note_count, 1))
        CHECK_STR(table->notes[0], "bf16: takes 170 % of the time of fp32, which is wider");
    free(table);
}

UNIT_MAIN(a_faster_unit_without_a_kernel_is_named, a_narrower_dtype_that_is_slower_is_told)
