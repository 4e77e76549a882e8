/* SPDX-License-Identifier: MIT
 *
 * bench quant: quantizing and dequantizing arrays of fp32, compared with copies of the same number
 * of bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure/operands.h"
#include "bench/workloads/matmul_parts.h"
#include "bench/workloads/quant_bench.h"
#include "dtinfo/checked.h"
#include "dtinfo/kernel.h"

enum { PAGE = 4096, ROW = 4096 };

/* Rows of 4096, unless the user gave their number. */
static void find_shape(struct dti_quant_bench *bench)
{
    const struct dti_bench_request *const request = bench->frame.request;
    bench->rows = request->m > 0 ? request->m : request->n % ROW == 0 ? request->n / ROW : 1;
    bench->columns = bench->rows > 0 ? request->n / bench->rows : 0;
}

static bool place(uint64_t *size, uint64_t bytes, uint64_t *ret_at)
{
    *ret_at = *size;
    return dti_add_u64(*size, bytes, size) && dti_add_u64(*size, PAGE - 1, size) &&
           (*size = *size / PAGE * PAGE, *size <= SIZE_MAX / 8);
}

static enum dti_status add_way(struct dti_quant_bench *bench, const char *name, const char *words,
                               bool has_back, const struct dti_quant_request *request,
                               struct dti_error *reterr)
{
    struct dti_quant_way *const way = &bench->ways[bench->way_count++];
    *way =
        (struct dti_quant_way){.bench = bench, .name = name, .words = words, .has_back = has_back};
    const enum dti_status status =
        dti_quant_plan_new(&way->plan, request, bench->frame.request->level, reterr);
    if (status != DTI_OK)
        return status;
    dti_quant_plan_sizes(way->plan, &way->sizes);
    const uint64_t zeros = way->sizes.scales * sizeof(int32_t);
    if (!place(&bench->set_size, way->sizes.code_bytes, &way->codes_at) ||
        !place(&bench->set_size, way->sizes.scale_bytes, &way->scales_at) ||
        !place(&bench->set_size, zeros, &way->zeros_at))
        bench->set_size = SIZE_MAX;
    return DTI_OK;
}

/* A scale given before the numbers. */
static void fix_scale(struct dti_quant_scheme *scheme)
{
    static const float range = 4; /* hardly any normal number is beyond this */
    dti_affine_choose(&scheme->affine, dti_operand_bits(-range), dti_operand_bits(range),
                      &scheme->scale);
    scheme->fixed = true;
}

static enum dti_status add_affine(struct dti_quant_bench *bench, enum dti_dtype dtype,
                                  struct dti_error *reterr)
{
    const struct dti_format *const format = dti_format_get(dtype);
    struct dti_quant_request request = dti_quantizing_request(1, bench->frame.request->n, 1);
    const enum dti_quant_symmetry symmetry =
        format->kind == DTI_KIND_UINT ? DTI_SYMMETRY_NONE : DTI_SYMMETRY_FULL;
    if (!dti_affine_recipe_init(&request.scheme.affine, format, symmetry))
        return dti_fail(reterr, DTI_WRONG_KIND, "quantizing to %s is not supported", format->name);
    enum dti_status status =
        add_way(bench, "", "fp32, per tensor: the range, then the codes", true, &request, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_request given = request;
    fix_scale(&given.scheme);
    status = add_way(bench, "given", "fp32, per tensor, by a given scale", false, &given, reterr);
    struct dti_quant_request by_rows = dti_quantizing_request(1, bench->rows, bench->columns);
    by_rows.scheme = request.scheme;
    by_rows.scheme.per = DTI_PER_CHANNEL;
    if (status == DTI_OK)
        status = add_way(bench, "rows", "fp32, per row: the ranges, then the codes", true, &by_rows,
                         reterr);
    return status;
}

static enum dti_status add_block(struct dti_quant_bench *bench, enum dti_block block,
                                 struct dti_error *reterr)
{
    static const uint32_t one = UINT32_C(0x3f800000); /* 1 in fp32 */
    const struct dti_block_format *const format = &dti_block_formats[block];
    struct dti_quant_request request = dti_quantizing_request(1, bench->frame.request->n, 1);
    request.scheme.block = format;
    request.scheme.blocks = (struct dti_block_recipe){.format = format, .tensor_scale = one};
    request.scheme.per = DTI_PER_GROUP;
    request.scheme.group = format->length;
    const bool two = format->family == DTI_BLOCKS_NV;
    request.scheme.tensor_scale = two;
    enum dti_status status = add_way(
        bench, "", two ? "fp32, the range of the tensor, then its blocks" : "fp32, in one pass",
        true, &request, reterr);
    request.scheme.tensor_scale = false;
    if (status == DTI_OK && two)
        status = add_way(bench, "alone", "fp32, in one pass, without a scale of the tensor", false,
                         &request, reterr);
    return status;
}

/* How many rows there will be. */
static size_t rows_of(const struct dti_bench_request *request)
{
    size_t rows = 5 * request->dtype_count;
    for (size_t i = 0; i < request->block_count; i++)
        rows += dti_block_formats[request->blocks[i]].family == DTI_BLOCKS_NV ? 3 : 2;
    return rows;
}

/* The requested methods and the layout; no memory for arrays yet. */
static enum dti_status lay_out(struct dti_quant_bench *bench,
                               const struct dti_bench_request *request, struct dti_error *reterr)
{
    uint64_t unused;
    enum dti_status status = DTI_OK;
    bench->frame.request = request;
    find_shape(bench);
    if (!dti_mul_u64(request->n, sizeof(float), &bench->bytes) ||
        !place(&bench->set_size, bench->bytes, &unused) ||
        !place(&bench->set_size, bench->bytes, &bench->back_at))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%llu elements exceed the address space",
                        (unsigned long long)request->n);
    if (rows_of(request) > DTI_BENCH_ITEMS_MAX - DTI_BENCH_LIMITS_MAX)
        return dti_fail(reterr, DTI_USAGE, "too many dtypes for one table; measure them in parts");
    for (size_t i = 0; i < request->dtype_count && status == DTI_OK; i++)
        status = add_affine(bench, request->dtypes[i], reterr);
    for (size_t i = 0; i < request->block_count && status == DTI_OK; i++)
        status = add_block(bench, request->blocks[i], reterr);
    /* in and out together as many bytes as fp32 to 8 bits */
    bench->copy_bytes = bench->bytes / 8 * 5 + 1;
    return status;
}

/* fp32 and 8-bit arrays count together. */
static struct dti_bench_shape shape_of(const struct dti_quant_bench *bench)
{
    return (struct dti_bench_shape){.operands = 1,
                                    .bytes = {bench->set_size},
                                    .counted = bench->bytes / 4 * 5 + 1,
                                    .cache = bench->frame.request->cache};
}

static void end(struct dti_frame *frame)
{
    struct dti_quant_bench *const bench = (struct dti_quant_bench *)frame;
    for (size_t i = 0; i < bench->way_count; i++)
        dti_quant_plan_free(bench->ways[i].plan);
    dti_bench_memory_free(&bench->copied);
    dti_bench_memory_free(&bench->memory);
}

/* Bytes of all allocations; UINT64_MAX on overflow. */
static uint64_t bytes_of(const struct dti_quant_bench *bench)
{
    const struct dti_bench_shape shape = shape_of(bench);
    uint64_t set, bytes;
    if (!dti_add_u64(bench->set_size, 2 * bench->copy_bytes, &set) ||
        !dti_mul_u64(set, dti_bench_sets(shape.cache, shape.counted), &bytes))
        return UINT64_MAX;
    return bytes;
}

static enum dti_status fill(struct dti_quant_bench *bench, struct dti_error *reterr)
{
    const struct dti_bench_request *const request = bench->frame.request;
    struct dti_team *const team = bench->frame.team;
    float *pool;
    enum dti_status status = dti_bench_memory_new(&bench->memory, shape_of(bench), team, reterr);
    if (status == DTI_OK)
        status = dti_matrix_pool_new(&pool, request->seed, reterr);
    if (status != DTI_OK)
        return status;
    dti_bench_memory_fill(&bench->memory, 0, bench->bytes, pool, DTI_MATRIX_POOL * sizeof *pool,
                          team);
    free(pool);
    return dti_bench_memory_new(
        &bench->copied, dti_bench_alike(2, bench->copy_bytes, request->cache), team, reterr);
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    struct dti_quant_bench *const bench = calloc(1, sizeof *bench);
    if (!bench)
        return dti_no_memory(reterr);
    enum dti_status status = lay_out(bench, request, reterr);
    if (status == DTI_OK)
        status = dti_host_has_memory(bytes_of(bench), reterr);
    end(&bench->frame);
    free(bench);
    return status;
}

/* If the scale depends on the whole array, the numbers are read twice. */
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
    enum dti_status status = lay_out(bench, frame->request, reterr);
    if (status == DTI_OK)
        status = fill(bench, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t both = bench->bytes / 4 * 5;
    table->in_cache = both <= dti_usable_cache_bytes();
    table->sets = bench->memory.sets;
    table->memory = bytes_of(bench);
    table->huge_page_bytes = bench->memory.huge_page_bytes + bench->copied.huge_page_bytes;
    bench->stores = table->sets > 1 || dti_stores_stream(DTI_STORES_AUTO, both)
                        ? DTI_STORES_STREAMED
                        : DTI_STORES_CACHED;
    for (size_t i = 0; i < bench->way_count; i++) {
        add_row(&bench->ways[i], false);
        if (bench->ways[i].has_back)
            add_row(&bench->ways[i], true);
    }
    dti_frame_add_limits(frame, &bench->copied, 2, bench->copy_bytes, true, NULL);
    /* dequantizing needs the codes */
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

static enum dti_status prepare_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    (void)reterr;
    dti_bench_add_note(frame->table, "no quantization kernels for CUDA devices");
    return DTI_OK;
}

static const struct dti_bench_workload on_cpu = DTI_WORKLOAD(NULL, struct dti_quant_bench, check,
                                                             prepare, verify, end),
                                       on_device = DTI_WORKLOAD(NULL, struct dti_frame, NULL,
                                                                prepare_on_device, NULL, NULL);

const struct dti_bench_kind dti_bench_kind_quant = {
    .name = "quant",
    .summary = "quantizing and dequantizing arrays of fp32",
    .sizes = "2048x1024,16777216",
    .dtypes = "int8,mxfp8_e4m3,mxfp4,nvfp4",
    .more = "uint8,int4,uint4,int2,uint2,int16,uint16,fp8_e4m3fn,fp8_e5m2,mxfp8_e5m2,mxfp6_e3m2,"
            "mxfp6_e2m3,mxint8,nf4,bnb_fp4,q8_0,q4_0",
    .size_is = DTI_BENCH_ELEMENTS,
    .keeps_memory = true,
    .cpu = &on_cpu,
    .device = &on_device,
};
