/* SPDX-License-Identifier: MIT
 *
 * A pass of a candidate, and whether its results are those of the definition in quant.h: scales
 * from all numbers, codes and dequantized numbers of a part. */
#include <string.h>

#include "bench/measure/operands.h"
#include "bench/measure/splitmix.h"
#include "bench/workloads/quant_bench.h"

enum { POISON = 0x5A, PARTS = 40, PART = 64 };

static const struct dti_layout packed = {.packing = DTI_PACKING_LOW};

enum dti_status dti_quant_candidate_run(void *row_, size_t set, struct dti_error *reterr)
{
    const struct dti_quant_candidate *const row = row_;
    struct dti_quant_way *const way = row->way;
    const struct dti_quant_bench *const bench = way->bench;
    unsigned char *const at = dti_quant_set(bench, set);
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

/* Of n numbers, which are finite. */
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

/* Whether the code, or the dequantized number, of element i is right. */
static bool element_is_right(const struct dti_quant_candidate *row, const struct arrays *arrays,
                             const struct dti_format *format, uint64_t i, uint64_t code,
                             uint32_t number)
{
    return row->back ? word_at(arrays->back, i) == number
                     : dti_storage_get(format, &packed, arrays->codes, i) == code;
}

static bool affine_part_is_right(const struct dti_quant_candidate *row, const struct arrays *arrays,
                                 uint64_t first, uint64_t n, const struct dti_affine_scale *scale)
{
    const struct dti_affine *const affine =
        &dti_quant_plan_request(row->way->plan)->scheme.affine.affine;
    for (uint64_t i = first; i < first + n; i++) {
        struct dti_quantized want;
        dti_affine_quantize(affine, scale, word_at(arrays->numbers, i), &want);
        if (!element_is_right(row, arrays, &affine->code, i, want.code,
                              dti_affine_dequantize(affine, scale, want.code)))
            return false;
    }
    return true;
}

/* A tensor, or one of its rows. */
static bool affine_is_right(const struct dti_quant_candidate *row, const struct arrays *arrays,
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

static bool affine_arrays_are_right(const struct dti_quant_candidate *row,
                                    const struct arrays *arrays, uint64_t *random)
{
    const struct dti_quant_bench *const bench = row->way->bench;
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

static bool block_is_right(const struct dti_quant_candidate *row, const struct arrays *arrays,
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

static bool block_arrays_are_right(const struct dti_quant_candidate *row,
                                   const struct arrays *arrays, uint64_t *random)
{
    const struct dti_quant_way *const way = row->way;
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

enum dti_status dti_quant_candidate_verify(struct dti_quant_candidate *row,
                                           struct dti_error *reterr)
{
    struct dti_quant_way *const way = row->way;
    const struct dti_quant_bench *const bench = way->bench;
    const struct dti_bench_item *const item = &bench->frame.table->items[row->item];
    unsigned char *const set = dti_quant_set(bench, 0);
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
    const enum dti_status status = dti_quant_candidate_run(row, 0, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_quant_plan_request(way->plan)->scheme.block
            ? block_arrays_are_right(row, &arrays, &random)
            : affine_arrays_are_right(row, &arrays, &random))
        return DTI_OK;
    return dti_fail(reterr, DTI_BUG, "the result of %s %s by %s is wrong; please report it",
                    item->dtype, item->role, item->kernel);
}
