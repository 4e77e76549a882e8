/* SPDX-License-Identifier: MIT
 *
 * Quantizes the values: ranges and scales of their groups, codes, dequantized numbers, and losses.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/rewrite/quantized.h"
#include "core/block/quant_parts.h"
#include "core/dtype/storage.h"
#include "util/run/allocate.h"

/* Whether a < b, both finite fp32 codes; -0 and 0 are equal. */
static bool is_less(uint32_t a, uint32_t b)
{
    struct dti_value first, second;
    dti_fp32_value(a, &first);
    dti_fp32_value(b, &second);
    return dti_value_compare(&first, &second) < 0;
}

/* The smallest and largest finite number, 0 if there are none; returns how many there are. */
static size_t find_range(const struct dti_quant_inputs *numbers, size_t first, size_t count,
                         uint32_t *ret_min, uint32_t *ret_max)
{
    uint32_t min = 0, max = 0;
    size_t finite = 0;
    for (size_t i = first; i < first + count; i++) {
        const uint32_t x = numbers->list[i].x;
        if (!dti_fp32_is_finite(x))
            continue;
        min = finite == 0 || is_less(x, min) ? x : min;
        max = finite == 0 || is_less(max, x) ? x : max;
        finite++;
    }
    *ret_min = min;
    *ret_max = max;
    return finite;
}

bool dti_quant_range_is_empty(const struct dti_quant_target *target,
                              const struct dti_quant_inputs *numbers, uint32_t *ret_end)
{
    uint32_t min, max;
    if (target->has_min == target->has_max)
        return false;
    (void)find_range(numbers, 0, numbers->count, &min, &max);
    if (target->has_min ? !is_less(max, target->min) : !is_less(target->max, min))
        return false;
    *ret_end = target->has_min ? max : min;
    return true;
}

static void quantize_affine(struct dti_quant_result *result, struct dti_quant_group *group)
{
    const struct dti_affine *const affine = &result->target->scheme.affine.affine;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        struct dti_quant_element *const element = &result->elements[i];
        struct dti_quantized_number quantized;
        dti_affine_quantize(affine, &group->affine, result->numbers->list[i].x, &quantized);
        element->code = quantized.code;
        element->clipped = quantized.clipped;
        element->special = quantized.special;
        element->back = dti_affine_dequantize(affine, &group->affine, quantized.code);
    }
}

static void make_affine(struct dti_quant_result *result, struct dti_quant_group *group)
{
    const struct dti_quant_target *const target = result->target;
    const struct dti_affine_recipe *const recipe = &target->scheme.affine;
    group->affine = target->scheme.scale;
    group->has_range = !dti_quant_scale_given(target);
    if (group->has_range) {
        group->finite =
            find_range(result->numbers, group->first, group->count, &group->min, &group->max);
        group->min = target->has_min ? target->min : group->min;
        group->max = target->has_max ? target->max : group->max;
        group->seen_min = group->min;
        group->seen_max = group->max;
        if (recipe->symmetry == DTI_SYMMETRY_NONE && dti_format_is_integer(&target->code)) {
            group->min = is_less(0, group->min) ? 0 : group->min;
            group->max = is_less(group->max, 0) ? 0 : group->max;
        }
        dti_affine_choose(recipe, group->min, group->max, &group->affine);
    }
    quantize_affine(result, group);
}

static void make_block(struct dti_quant_result *result, struct dti_quant_group *group)
{
    uint32_t x[DTI_BLOCK_LENGTH_MAX];
    struct dti_quantized_block block;
    const size_t count = group->count;
    for (size_t i = 0; i < count; i++)
        x[i] = result->numbers->list[group->first + i].x;
    dti_block_quantize(&result->recipe, x, count, &block);
    group->amax = block.amax;
    group->scale = block.scale;
    for (size_t i = 0; i < count; i++) {
        struct dti_quant_element *const element = &result->elements[group->first + i];
        element->code = block.code[i];
        element->clipped = block.clipped_at >> i & 1;
        element->special = !dti_fp32_is_finite(x[i]);
        element->back = dti_block_dequantize(&result->recipe, block.scale, block.code[i]);
    }
}

/* The finite values' largest magnitude. */
static uint32_t find_amax(const struct dti_quant_inputs *numbers)
{
    uint32_t amax = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        const uint32_t x = numbers->list[i].x;
        if (dti_fp32_is_finite(x) && dti_fp32_magnitude(x) > amax)
            amax = dti_fp32_magnitude(x);
    }
    return amax;
}

static void count_loss(struct dti_quant_result *result)
{
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    const struct dti_quant_inputs *const numbers = result->numbers;
    struct dti_loss_rule rule;
    struct dti_loss loss;
    dti_loss_rule_init(&rule, fp32, fp32, &(struct dti_policy){0});
    dti_loss_init(&loss);
    for (size_t first = 0; first < numbers->count; first += DTI_TILE) {
        struct dti_value source[DTI_TILE];
        uint64_t stored[DTI_TILE];
        const size_t left = numbers->count - first;
        const size_t n = left < DTI_TILE ? left : DTI_TILE;
        for (size_t i = 0; i < n; i++) {
            dti_fp32_value(numbers->list[first + i].x, &source[i]);
            stored[i] = result->elements[first + i].back;
        }
        dti_loss_add_values(&rule, source, stored, n, first, &loss);
    }
    dti_loss_summarize(&loss, &result->loss);
}

static void count(struct dti_quant_result *result)
{
    const struct dti_quant_target *const target = result->target;
    const uint64_t length = target->scheme.block ? target->scheme.block->length : 0;
    for (size_t at = 0; at < result->group_count; at++) {
        struct dti_quant_group *const group = &result->groups[at];
        for (size_t i = group->first; i < group->first + group->count; i++) {
            group->clipped += result->elements[i].clipped;
            group->special += result->elements[i].special;
        }
        result->clipped += group->clipped;
        result->special += group->special;
    }
    const uint64_t codes = length > 0 ? length * result->group_count : result->numbers->count;
    const struct dti_layout packed = {.packing = DTI_PACKING_LOW};
    result->code_bytes = (codes * dti_format_stored_bits(&target->code, &packed) + 7) / 8;
    result->scale_bytes =
        result->group_count *
        (length > 0 ? dti_format_get(target->scheme.block->scale)->width / 8U : sizeof(float));
    count_loss(result);
}

bool dti_quant_result_make(struct dti_quant_result *ret, const struct dti_quant_target *target,
                           const struct dti_quant_inputs *numbers)
{
    const struct dti_quant_scheme *const scheme = &target->scheme;
    const size_t total = numbers->count;
    const size_t length =
        scheme->per == DTI_PER_GROUP && scheme->group < total ? scheme->group : total;
    memset(ret, 0, sizeof *ret);
    ret->target = target;
    ret->numbers = numbers;
    ret->recipe = scheme->blocks;
    if (scheme->tensor_scale)
        ret->recipe.tensor_scale = dti_nv_tensor_scale(scheme->blocks.nv, find_amax(numbers));
    ret->group_count = (total - 1) / length + 1;
    ret->groups = dti_calloc(ret->group_count, sizeof *ret->groups);
    ret->elements = dti_calloc(total, sizeof *ret->elements);
    if (!ret->groups || !ret->elements) {
        dti_quant_result_free(ret);
        return false;
    }
    for (size_t at = 0; at < ret->group_count; at++) {
        struct dti_quant_group *const group = &ret->groups[at];
        group->first = at * length;
        group->count = total - group->first < length ? total - group->first : length;
        if (scheme->block)
            make_block(ret, group);
        else
            make_affine(ret, group);
    }
    count(ret);
    return true;
}

void dti_quant_result_free(struct dti_quant_result *result)
{
    dti_free(result->groups);
    dti_free(result->elements);
    memset(result, 0, sizeof *result);
}

unsigned dti_quant_events(const struct dti_quant_result *result)
{
    return (result->clipped > 0 ? DTI_QUANT_CLIPPED : 0U) |
           (result->special > 0 ? DTI_QUANT_SPECIAL : 0U) |
           (result->loss.inexact > 0 ? DTI_QUANT_INEXACT : 0U);
}
