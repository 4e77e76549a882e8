/* SPDX-License-Identifier: MIT
 *
 * bench quant: quantizing and dequantizing arrays of fp32, compared with copies of the same
 * number of bytes. Verification follows the definition in quant.h: scales are checked against
 * all numbers, codes and dequantized numbers in samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/splitmix.h"
#include "bench/workloads/matmul_matrices.h"
#include "bench/workloads/quantizing.h"
#include "kernels/kernel.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum { POISON = 0x5A, PARTS = 40, PART = 64, PAGE = 4096, ROW = 4096 };

static const struct dti_layout packed = {.packing = DTI_PACKING_LOW};

/* A quantization method, and the offsets of its results in each buffer set. */
struct quant_way {
    struct quant_bench *bench;
    struct dti_quant_plan *plan;
    struct dti_quant_sizes sizes;
    const char *name, *words; /* "" or "rows"; "fp32, per row: the ranges, then the codes" */
    bool has_back;            /* also measure dequantizing */
    uint64_t codes_at, scales_at, zeros_at;
    float tensor_scale; /* scale of the last pass */
};

/* A candidate: one direction of a method. */
struct quant_candidate {
    struct quant_way *way;
    bool back;
    size_t item;
};

struct quant_bench {
    struct dti_frame frame;
    uint64_t rows, columns; /* of the array */
    struct quant_way ways[DTI_BENCH_ITEMS_MAX];
    size_t way_count;
    struct quant_candidate measured[DTI_BENCH_ITEMS_MAX];
    size_t measured_count;
    struct dti_bench_memory memory; /* fp32 numbers, dequantized numbers, methods */
    struct dti_bench_memory copied; /* what the limits copy: as many bytes as int8 moves */
    uint64_t bytes, back_at, set_size, copy_bytes; /* bytes of the fp32 numbers, which start at
                                                    * 0; ... */
    enum dti_stores stores;
};

static unsigned char *set_at(const struct quant_bench *bench, size_t set)
{
    return dti_bench_memory_at(&bench->memory, set, 0);
}

/* One pass over buffer set number `set`. It uses the array code's own team, so waking it up
 * counts. */
static enum dti_status run_candidate(void *row_, size_t set, struct dti_error *reterr)
{
    const struct quant_candidate *const row = row_;
    struct quant_way *const way = row->way;
    const struct quant_bench *const bench = way->bench;
    unsigned char *const at = set_at(bench, set);
    struct dti_quantized_array array = {.codes = at + way->codes_at,
                                        .scales = at + way->scales_at,
                                        .tensor_scale = way->tensor_scale};
    const struct dti_quant_request *const request = dti_quant_plan_request(way->plan);
    void *const zeros = at + way->zeros_at;
    if (!request->scheme.block)
        array.zero_points = zeros;
    if (row->back)
        return dti_quant_array_back(way->plan, bench->frame.team, &array, at + bench->back_at,
                                    bench->stores, reterr);
    const enum dti_status status =
        dti_quant_array(way->plan, bench->frame.team, at, &array, bench->stores, NULL, reterr);
    way->tensor_scale = array.tensor_scale;
    return status;
}

/* The arrays of the first set. */
struct arrays {
    const unsigned char *numbers, *codes, *scales, *zeros, *back;
};

static uint32_t word_at(const unsigned char *array, uint64_t i)
{
    uint32_t word;
    memcpy(&word, array + i * sizeof word, sizeof word);
    return word;
}

static float float_at(const unsigned char *array, uint64_t i)
{
    float number;
    memcpy(&number, array + i * sizeof number, sizeof number);
    return number;
}

/* The range of n finite numbers. */
static void range_of(const unsigned char *numbers, uint64_t first, uint64_t n, float *ret_min,
                     float *ret_max)
{
    float min = float_at(numbers, first), max = min;
    for (uint64_t i = 1; i < n; i++) {
        const float number = float_at(numbers, first + i);
        min = number < min ? number : min;
        max = number > max ? number : max;
    }
    *ret_min = min;
    *ret_max = max;
}

/* Whether the code or the dequantized number of element i is correct. */
static bool element_is_right(const struct quant_candidate *row, const struct arrays *arrays,
                             const struct dti_format *format, uint64_t i, uint64_t code,
                             uint32_t number)
{
    return row->back ? word_at(arrays->back, i) == number
                     : dti_storage_get(format, &packed, arrays->codes, i) == code;
}

static bool affine_part_is_right(const struct quant_candidate *row, const struct arrays *arrays,
                                 uint64_t first, uint64_t n, const struct dti_affine_scale *scale)
{
    const struct dti_affine *const affine =
        &dti_quant_plan_request(row->way->plan)->scheme.affine.affine;
    for (uint64_t i = first; i < first + n; i++) {
        struct dti_quantized_number want;
        dti_affine_quantize(affine, scale, word_at(arrays->numbers, i), &want);
        if (!element_is_right(row, arrays, &affine->code, i, want.code,
                              dti_affine_dequantize(affine, scale, want.code)))
            return false;
    }
    return true;
}

/* Checks a tensor, or one of its rows. */
static bool affine_is_right(const struct quant_candidate *row, const struct arrays *arrays,
                            uint64_t at, uint64_t first, uint64_t n, uint64_t *random)
{
    const struct dti_quant_scheme *const scheme = &dti_quant_plan_request(row->way->plan)->scheme;
    struct dti_affine_scale scale = scheme->scale;
    if (!scheme->fixed) {
        float min, max;
        range_of(arrays->numbers, first, n, &min, &max);
        dti_affine_choose(&scheme->affine, dti_operand_bits(min), dti_operand_bits(max), &scale);
    }
    if (word_at(arrays->scales, at) != scale.scale ||
        word_at(arrays->zeros, at) != (uint32_t)scale.zero_point)
        return false;
    const uint64_t part = n < PART ? n : PART;
    return affine_part_is_right(row, arrays, first, part, &scale) &&
           affine_part_is_right(row, arrays, first + n - part, part, &scale) &&
           affine_part_is_right(row, arrays, first + dti_splitmix(random) % (n - part + 1), part,
                                &scale);
}

static bool affine_arrays_are_right(const struct quant_candidate *row, const struct arrays *arrays,
                                    uint64_t *random)
{
    const struct quant_bench *const bench = row->way->bench;
    bool right = true;
    if (dti_quant_plan_request(row->way->plan)->scheme.per != DTI_PER_CHANNEL)
        return affine_is_right(row, arrays, 0, 0, bench->frame.request->n, random);
    for (uint64_t i = 0; i < PARTS && right; i++) {
        const uint64_t at = i == 0 ? bench->rows - 1 : dti_splitmix(random) % bench->rows;
        right = affine_is_right(row, arrays, at, at * bench->columns, bench->columns, random);
    }
    return right;
}

static uint32_t scale_at(const unsigned char *scales, const struct dti_block_format *format,
                         uint64_t i)
{
    return (uint32_t)dti_storage_get(dti_format_get(format->scale), &packed, scales, i);
}

static bool block_is_right(const struct quant_candidate *row, const struct arrays *arrays,
                           const struct dti_block_recipe *recipe, uint64_t block)
{
    const struct dti_block_format *const format = recipe->format;
    const uint64_t first = block * format->length, left = row->way->bench->frame.request->n - first;
    const size_t n = left < format->length ? (size_t)left : format->length;
    uint32_t numbers[DTI_BLOCK_LENGTH_MAX];
    struct dti_quantized_block want;
    memcpy(numbers, arrays->numbers + first * sizeof *numbers, n * sizeof *numbers);
    dti_block_quantize(recipe, numbers, n, &want);
    bool right = scale_at(arrays->scales, format, block) == want.scale;
    for (size_t i = 0; i < n && right; i++)
        right = element_is_right(row, arrays, dti_format_get(format->code), first + i, want.code[i],
                                 dti_block_dequantize(recipe, want.scale, want.code[i]));
    return right;
}

static bool block_arrays_are_right(const struct quant_candidate *row, const struct arrays *arrays,
                                   uint64_t *random)
{
    const struct quant_way *const way = row->way;
    const struct dti_quant_scheme *const scheme = &dti_quant_plan_request(way->plan)->scheme;
    struct dti_block_recipe recipe = scheme->blocks;
    const uint64_t n = way->bench->frame.request->n;
    const uint64_t blocks = (n + recipe.format->length - 1) / recipe.format->length;
    bool right = true;
    if (scheme->tensor_scale) {
        float min, max;
        range_of(arrays->numbers, 0, n, &min, &max);
        recipe.tensor_scale =
            dti_nv_tensor_scale(recipe.nv, dti_operand_bits(-min > max ? -min : max));
        right = dti_operand_bits(way->tensor_scale) == recipe.tensor_scale;
    }
    for (uint64_t i = 0; i < PARTS && right; i++)
        right = block_is_right(row, arrays, &recipe,
                               i == 0 ? blocks - 1 : dti_splitmix(random) % blocks);
    return right;
}

/* Repeats a candidate and compares part of the result with the definition, element by element.
 * DTI_BUG if they differ. */
static enum dti_status verify_candidate(struct quant_candidate *row, struct dti_error *reterr)
{
    struct quant_way *const way = row->way;
    const struct quant_bench *const bench = way->bench;
    const struct dti_bench_item *const item = &bench->frame.table->items[row->item];
    unsigned char *const set = set_at(bench, 0);
    const struct arrays arrays = {.numbers = set,
                                  .codes = set + way->codes_at,
                                  .scales = set + way->scales_at,
                                  .zeros = set + way->zeros_at,
                                  .back = set + bench->back_at};
    uint64_t random = bench->frame.request->seed;
    if (row->back) {
        memset(set + bench->back_at, POISON, (size_t)bench->bytes);
    } else {
        memset(set + way->codes_at, POISON, (size_t)way->sizes.code_bytes);
        memset(set + way->scales_at, POISON, (size_t)way->sizes.scale_bytes);
    }
    const enum dti_status status = run_candidate(row, 0, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_quant_plan_request(way->plan)->scheme.block
            ? block_arrays_are_right(row, &arrays, &random)
            : affine_arrays_are_right(row, &arrays, &random))
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG, "the result of %s %s by %s is wrong; please report it",
                    item->dtype, item->role, item->kernel);
}

/* Rows of 4096 elements, unless the user set the number of rows. */
static void find_shape(struct quant_bench *bench)
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

static enum dti_status add_way(struct quant_bench *bench, const char *name, const char *words,
                               bool has_back, const struct dti_quant_request *request,
                               struct dti_error *reterr)
{
    struct quant_way *const way = &bench->ways[bench->way_count++];
    *way = (struct quant_way){.bench = bench, .name = name, .words = words, .has_back = has_back};
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

/* Sets a scale that does not depend on the data. */
static void fix_scale(struct dti_quant_scheme *scheme)
{
    static const float range = 4; /* few normal numbers exceed this */
    dti_affine_choose(&scheme->affine, dti_operand_bits(-range), dti_operand_bits(range),
                      &scheme->scale);
    scheme->fixed = true;
}

static enum dti_status add_affine(struct quant_bench *bench, enum dti_dtype dtype,
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

static enum dti_status add_block(struct quant_bench *bench, enum dti_block block,
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

/* The number of candidate rows to expect. */
static size_t rows_of(const struct dti_bench_request *request)
{
    size_t rows = 5 * request->dtype_count;
    for (size_t i = 0; i < request->block_count; i++)
        rows += dti_block_formats[request->blocks[i]].family == DTI_BLOCKS_NV ? 3 : 2;
    return rows;
}

/* Sets the requested methods and the layout; allocates no array memory yet. */
static enum dti_status lay_out(struct quant_bench *bench, const struct dti_bench_request *request,
                               struct dti_error *reterr)
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
    /* read and written together: as many bytes as fp32 to 8 bits */
    bench->copy_bytes = bench->bytes / 8 * 5 + 1;
    return status;
}

/* One layout covers the fp32 and the 8-bit arrays. */
static struct dti_bench_shape shape_of(const struct quant_bench *bench)
{
    return (struct dti_bench_shape){.operands = 1,
                                    .bytes = {bench->set_size},
                                    .counted = bench->bytes / 4 * 5 + 1,
                                    .cache = bench->frame.request->cache};
}

static void end(struct dti_frame *frame)
{
    struct quant_bench *const bench = (struct quant_bench *)frame;
    for (size_t i = 0; i < bench->way_count; i++)
        dti_quant_plan_free(bench->ways[i].plan);
    dti_bench_memory_free(&bench->copied);
    dti_bench_memory_free(&bench->memory);
}

/* Bytes of all allocations; UINT64_MAX on overflow. */
static uint64_t bytes_of(const struct quant_bench *bench)
{
    const struct dti_bench_shape shape = shape_of(bench);
    uint64_t set, bytes;
    if (!dti_add_u64(bench->set_size, 2 * bench->copy_bytes, &set) ||
        !dti_mul_u64(set, dti_bench_sets(shape.cache, shape.counted), &bytes))
        return UINT64_MAX;
    return bytes;
}

static enum dti_status fill(struct quant_bench *bench, struct dti_error *reterr)
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
    dti_free(pool);
    return dti_bench_memory_new(
        &bench->copied, dti_bench_alike(2, bench->copy_bytes, request->cache), team, reterr);
}

static enum dti_status check(const struct dti_bench_request *request, struct dti_error *reterr)
{
    struct quant_bench *const bench = dti_calloc(1, sizeof *bench);
    if (!bench)
        return dti_no_memory(reterr);
    enum dti_status status = lay_out(bench, request, reterr);
    if (status == DTI_OK)
        status = dti_host_has_memory(bytes_of(bench), reterr);
    end(&bench->frame);
    dti_free(bench);
    return status;
}

/* If the scale depends on the whole array, the numbers are read twice. */
static void count_bytes(struct dti_bench_item *item, const struct quant_way *way, bool back)
{
    const uint64_t numbers = way->bench->bytes;
    uint64_t codes = way->sizes.code_bytes + way->sizes.scale_bytes;
    if (!dti_quant_plan_request(way->plan)->scheme.block)
        codes += way->sizes.scales * sizeof(int32_t);
    item->bytes_read = back ? codes : dti_quant_plan_needs_range(way->plan) ? 2 * numbers : numbers;
    item->bytes_written = back ? numbers : codes;
}

static const char *name_of(const struct quant_way *way)
{
    const struct dti_quant_scheme *const scheme = &dti_quant_plan_request(way->plan)->scheme;
    return scheme->block ? scheme->block->name : scheme->affine.affine.code.name;
}

static void add_row(struct quant_way *way, bool back)
{
    struct quant_bench *const bench = way->bench;
    struct dti_frame *const frame = &bench->frame;
    char role[sizeof frame->table->items[0].role], text[DTI_PLAN_TEXT_SIZE];
    struct quant_candidate *const row = &bench->measured[bench->measured_count];
    *row = (struct quant_candidate){.way = way, .back = back, .item = frame->table->count};
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
                                                       .pass = run_candidate,
                                                       .context = row,
                                                       .sets = bench->memory.sets});
    if (!item)
        return;
    count_bytes(item, way, back);
    bench->measured_count++;
}

static enum dti_status prepare(struct dti_frame *frame, struct dti_error *reterr)
{
    struct quant_bench *const bench = (struct quant_bench *)frame;
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
    /* dequantizing needs the codes in all sets */
    for (size_t set = 0; set < table->sets; set++) {
        for (size_t i = 0; i < bench->measured_count && status == DTI_OK; i++)
            status = run_candidate(&bench->measured[i], set, reterr);
    }
    return status;
}

static enum dti_status verify(struct dti_frame *frame, struct dti_error *reterr)
{
    struct quant_bench *const bench = (struct quant_bench *)frame;
    enum dti_status status = DTI_OK;
    const size_t limit = dti_bench_best_limit(frame->table, "copy", "cpu");
    for (size_t i = 0; i < bench->measured_count && status == DTI_OK; i++) {
        status = verify_candidate(&bench->measured[i], reterr);
        frame->table->items[bench->measured[i].item].limit_item = limit;
    }
    return status;
}

static enum dti_status prepare_on_device(struct dti_frame *frame, struct dti_error *reterr)
{
    (void)reterr;
    dti_bench_add_note(frame->table, "no quantization kernels for CUDA devices");
    return DTI_OK;
}

static const struct dti_bench_workload on_cpu = DTI_WORKLOAD(NULL, struct quant_bench, check,
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
