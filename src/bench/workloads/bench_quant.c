/* SPDX-License-Identifier: MIT
 *
 * bench quant: quantizing arrays of fp32 and the way back, beside copies of as many bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/quant_bench.h"
#include "dtinfo/clock.h"
#include "dtinfo/kernel.h"

static enum dti_status check(const struct dti_bench_request *request, size_t threads,
                             struct dti_error *reterr)
{
    (void)threads;
    if (request->gpu)
        return DTI_OK;
    struct dti_quant_bench *const bench = calloc(1, sizeof *bench);
    if (!bench)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    enum dti_status status = dti_quant_bench_open(bench, request, reterr);
    if (status == DTI_OK)
        status = dti_arena_check(dti_quant_bench_bytes(bench), reterr);
    dti_quant_bench_close(bench);
    free(bench);
    return status;
}

/* The team is the array's: what it takes to bring it together is part of the time. */
static double timed(void *context, size_t set, uint64_t passes)
{
    const struct dti_quant_candidate *const row = context;
    struct dti_quant_bench *const bench = row->way->bench;
    enum dti_status status = DTI_OK;
    if (bench->sets == 1 && passes > 1) /* what was measured before may have emptied the caches */
        status = dti_quant_candidate_run(row, set, &bench->error);
    const uint64_t start = dti_clock_now();
    for (uint64_t pass = 0; pass < passes && status == DTI_OK; pass++)
        status = dti_quant_candidate_run(row, (size_t)((set + pass) % bench->sets), &bench->error);
    const uint64_t end = dti_clock_now();
    return status == DTI_OK ? (double)(end - start) * 1e-9 : -1;
}

/* Where scales come from the whole array, the numbers are read twice. */
static void count_bytes(struct dti_bench_item *item, const struct dti_quant_way *way, bool back)
{
    const uint64_t numbers = way->bench->bytes;
    uint64_t codes = way->sizes.code_bytes + way->sizes.scale_bytes;
    if (!dti_quant_plan_request(way->plan)->scheme.block)
        codes += way->sizes.scales * sizeof(int32_t);
    item->bytes_read = back ? codes : dti_quant_plan_needs_range(way->plan) ? 2 * numbers : numbers;
    item->bytes_written = back ? numbers : codes;
}

static const char *name_of(const struct dti_quant_way *way)
{
    const struct dti_quant_scheme *const scheme = &dti_quant_plan_request(way->plan)->scheme;
    return scheme->block ? scheme->block->name : scheme->affine.affine.code.name;
}

static void add_row(struct dti_quant_way *way, bool back)
{
    struct dti_quant_bench *const bench = way->bench;
    char role[sizeof bench->table->items[0].role], text[DTI_PLAN_TEXT_SIZE];
    const size_t at = bench->table->count;
    (void)snprintf(role, sizeof role, "%s%s%s", back ? "dequantize" : "quantize",
                   way->name[0] != '\0' ? " " : "", way->name);
    struct dti_bench_item *const item = dti_bench_add_item(bench->table, role, "cpu");
    if (!item)
        return;
    struct dti_quant_candidate *const row = &bench->measured[bench->measured_count++];
    *row = (struct dti_quant_candidate){.way = way, .back = back, .item = at};
    (void)snprintf(item->dtype, sizeof item->dtype, "%s", name_of(way));
    (void)snprintf(item->engine, sizeof item->engine, "dtinfo");
    (void)snprintf(item->kernel, sizeof item->kernel, "%s",
                   dti_quant_plan_describe(way->plan, back, text));
    if (!back)
        (void)snprintf(item->arithmetic, sizeof item->arithmetic, "%s", way->words);
    count_bytes(item, way, back);
    bench->candidates[at] = (struct dti_bench_candidate){
        .timed = timed, .context = row, .sets = bench->sets, .subject = true};
}

static void describe(const struct dti_quant_bench *bench)
{
    struct dti_bench_table *const table = bench->table;
    table->in_cache = bench->bytes / 4 * 5 <= dti_last_cache_bytes();
    table->sets = bench->sets;
    table->memory = dti_quant_bench_bytes(bench);
    table->huge_page_bytes = bench->huge_page_bytes;
}

static enum dti_status measure(struct dti_quant_bench *bench, struct dti_error *reterr)
{
    struct dti_bench_table *const table = bench->table;
    const struct dti_bench_request *const request = bench->request;
    enum dti_status status = dti_quant_bench_open(bench, request, reterr);
    if (status == DTI_OK)
        status = dti_quant_bench_fill(bench, reterr);
    if (status != DTI_OK)
        return status;
    describe(bench);
    bench->stores = table->in_cache && bench->sets == 1 ? DTI_STORES_CACHED : DTI_STORES_STREAMED;
    for (size_t i = 0; i < bench->way_count; i++) {
        add_row(&bench->ways[i], false);
        if (bench->ways[i].has_back)
            add_row(&bench->ways[i], true);
    }
    size_t count = table->count;
    dti_bench_add_limits(table, bench->candidates, &count, bench->limits, bench->copied, 2,
                         bench->copy_bytes, true, request->level);
    describe(bench);
    /* what is measured on the way back must be there */
    for (size_t set = 0; set < bench->sets; set++) {
        for (size_t i = 0; i < bench->measured_count && status == DTI_OK; i++)
            status = dti_quant_candidate_run(&bench->measured[i], set, reterr);
    }
    if (status == DTI_OK)
        status = dti_bench_run(&table->bench, bench->candidates, table->count, bench->team,
                               &request->options, reterr);
    if (status == DTI_DEVICE_FAILED) {
        if (reterr)
            *reterr = bench->error;
        return bench->error.status;
    }
    for (size_t i = 0; i < bench->measured_count && status == DTI_OK; i++) {
        const struct dti_quant_candidate *const row = &bench->measured[i];
        status = dti_quant_candidate_verify(row, reterr);
        if (status == DTI_OK)
            table->items[row->item].beside = dti_bench_best_limit(table, "copy", "cpu");
    }
    return status;
}

static enum dti_status run(struct dti_bench_table *ret, const struct dti_bench_request *request,
                           struct dti_team *team, struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    if (request->gpu) {
        dti_bench_add_note(ret, "no kernels of quantization for CUDA devices");
        return DTI_OK;
    }
    struct dti_quant_bench *const bench = calloc(1, sizeof *bench);
    if (!bench)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    bench->table = ret;
    bench->team = team;
    bench->request = request;
    const enum dti_status status = measure(bench, reterr);
    if (status != DTI_OK)
        dti_bench_table_free(ret);
    dti_quant_bench_close(bench);
    free(bench);
    return status;
}

const struct dti_bench_kind dti_bench_kind_quant = {
    .name = "quant",
    .summary = "quantizing arrays of fp32, and the way back",
    .sizes = "2048x1024,16777216",
    .dtypes = "int8,mxfp8_e4m3,mxfp4,nvfp4",
    .more = "uint8,int4,uint4,int2,uint2,int16,uint16,fp8_e4m3fn,fp8_e5m2,mxfp8_e5m2,mxfp6_e3m2,"
            "mxfp6_e2m3,mxint8,nf4,q8_0,q4_0",
    .size_is = DTI_BENCH_ELEMENTS,
    .keeps_memory = true,
    .check = check,
    .run = run,
};
