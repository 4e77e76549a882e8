/* SPDX-License-Identifier: MIT
 *
 * bench quant: quantizing arrays of fp32 and the way back, beside copies of as many bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/workloads/quant_bench.h"
#include "dtinfo/kernel.h"

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    struct dti_quant_bench *const bench = calloc(1, sizeof *bench);
    if (!bench)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    enum dti_status status = dti_quant_bench_open(bench, request, reterr);
    if (status == DTI_OK)
        status = dti_host_has_memory(dti_quant_bench_bytes(bench), reterr);
    dti_quant_bench_close(bench);
    free(bench);
    return status;
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
    struct dti_frame *const frame = &bench->frame;
    char role[sizeof frame->table->items[0].role], text[DTI_PLAN_TEXT_SIZE];
    struct dti_quant_candidate *const row = &bench->measured[bench->measured_count];
    *row = (struct dti_quant_candidate){.way = way, .back = back, .item = frame->table->count};
    (void)snprintf(role, sizeof role, "%s%s%s", back ? "dequantize" : "quantize",
                   way->name[0] != '\0' ? " " : "", way->name);
    (void)dti_quant_plan_describe(way->plan, back, text);
    text[DTI_BENCH_WORDS - 1] = '\0';
    struct dti_bench_item *const item =
        dti_frame_add(frame, &(struct dti_bench_entry){.role = role,
                                                       .dtype = name_of(way),
                                                       .engine = "dtinfo",
                                                       .kernel = text,
                                                       .arithmetic = back ? NULL : way->words,
                                                       .pass = dti_quant_candidate_run,
                                                       .context = row,
                                                       .sets = bench->memory.sets});
    if (!item)
        return;
    count_bytes(item, way, back);
    bench->measured_count++;
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_quant_bench *const bench = (struct dti_quant_bench *)frame;
    struct dti_bench_table *const table = frame->table;
    enum dti_status status = dti_quant_bench_open(bench, frame->request, reterr);
    if (status == DTI_OK)
        status = dti_quant_bench_fill(bench, reterr);
    if (status != DTI_OK)
        return status;
    table->in_cache = bench->bytes / 4 * 5 <= dti_last_cache_bytes();
    table->sets = bench->memory.sets;
    table->memory = dti_quant_bench_bytes(bench);
    table->huge_page_bytes = bench->memory.huge_page_bytes + bench->copied.huge_page_bytes;
    bench->stores = table->in_cache && table->sets == 1 ? DTI_STORES_CACHED : DTI_STORES_STREAMED;
    for (size_t i = 0; i < bench->way_count; i++) {
        add_row(&bench->ways[i], false);
        if (bench->ways[i].has_back)
            add_row(&bench->ways[i], true);
    }
    dti_frame_add_limits(frame, &bench->copied, 2, bench->copy_bytes, true, NULL);
    /* what is measured on the way back must be there */
    for (size_t set = 0; set < table->sets; set++) {
        for (size_t i = 0; i < bench->measured_count && status == DTI_OK; i++)
            status = dti_quant_candidate_run(&bench->measured[i], set, reterr);
    }
    return status;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct dti_quant_bench *const bench = (struct dti_quant_bench *)frame;
    enum dti_status status = DTI_OK;
    const size_t limit = dti_bench_best_limit(frame->table, "copy", "cpu");
    for (size_t i = 0; i < bench->measured_count && status == DTI_OK; i++) {
        status = dti_quant_candidate_verify(&bench->measured[i], reterr);
        frame->table->items[bench->measured[i].item].beside = limit;
    }
    return status;
}

static void end(struct dti_frame *frame)
{
    dti_quant_bench_close((struct dti_quant_bench *)frame);
}

static enum dti_status prepare_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    (void)reterr;
    dti_bench_add_note(frame->table, "no kernels of quantization for CUDA devices");
    return DTI_OK;
}

static const struct dti_bench_workload on_cpu = {.size = sizeof(struct dti_quant_bench),
                                                 .check = check,
                                                 .prepare = prepare,
                                                 .verify = verify,
                                                 .end = end},
                                       on_device = {.size = sizeof(struct dti_frame),
                                                    .prepare = prepare_on_device};

const struct dti_bench_kind dti_bench_kind_quant = {
    .name = "quant",
    .summary = "quantizing arrays of fp32, and the way back",
    .sizes = "2048x1024,16777216",
    .dtypes = "int8,mxfp8_e4m3,mxfp4,nvfp4",
    .more = "uint8,int4,uint4,int2,uint2,int16,uint16,fp8_e4m3fn,fp8_e5m2,mxfp8_e5m2,mxfp6_e3m2,"
            "mxfp6_e2m3,mxint8,nf4,q8_0,q4_0",
    .size_is = DTI_BENCH_ELEMENTS,
    .keeps_memory = true,
    .cpu = &on_cpu,
    .device = &on_device,
};
