/* SPDX-License-Identifier: MIT
 *
 * Quantizes the values: ranges and scales of their groups, codes, what comes back, and what was
 * lost. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_values.h"
#include "core/quant_parts.h"

/* Whether a < b, both finite fp32 codes; -0 and 0 are equal. */
static bool is_less(uint32_t a, uint32_t b)
{
    struct dti_value first, second;
    dti_fp32_value(a, &first);
    dti_fp32_value(b, &second);
    return dti_value_compare(&first, &second) < 0;
}

static enum dti_status find_range(struct quant_group *group, const struct quant_result *result,
                                  struct dti_error *reterr)
{
    const struct quant_target *const target = result->target;
    const struct quant_number *const numbers = result->numbers->list;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        const uint32_t x = numbers[i].x;
        if (!dti_fp32_is_finite(x))
            continue;
        group->min = group->finite == 0 || is_less(x, group->min) ? x : group->min;
        group->max = group->finite == 0 || is_less(group->max, x) ? x : group->max;
        group->finite++;
    }
    group->has_range = true;
    if (target->has_min)
        group->min = target->min;
    if (target->has_max)
        group->max = target->max;
    group->seen_min = group->min;
    group->seen_max = group->max;
    if (is_less(group->max, group->min)) {
        char text[DTI_TEXT_SIZE];
        const char *const given = target->has_min ? "--min" : "--max";
        const char *const other = target->has_min ? "--max" : "--min";
        dti_quant_spell(text, target->has_min ? group->max : group->min);
        return dti_fail(reterr, DTI_USAGE, "%s lies beyond all values, whose %s is %s; give %s too",
                        given, target->has_min ? "largest" : "least", text, other);
    }
    return DTI_OK;
}

static void quantize_affine(struct quant_result *result, struct quant_group *group)
{
    const struct dti_affine *const affine = &result->target->scheme.affine.affine;
    for (size_t i = group->first; i < group->first + group->count; i++) {
        struct quant_element *const element = &result->elements[i];
        struct dti_quantized quantized;
        dti_affine_quantize(affine, &group->affine, result->numbers->list[i].x, &quantized);
        element->code = quantized.code;
        element->clipped = quantized.clipped;
        element->special = quantized.special;
        element->back = dti_affine_dequantize(affine, &group->affine, quantized.code);
    }
}

static enum dti_status make_affine(struct quant_result *result, struct quant_group *group,
                                   struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &result->target->scheme;
    const bool given = scheme->fixed && !(result->target->has_min && result->target->has_max);
    if (!given) {
        const enum dti_status status = find_range(group, result, reterr);
        if (status != DTI_OK)
            return status;
        if (scheme->affine.symmetry == DTI_SYMMETRY_NONE &&
            dti_format_is_integer(&result->target->code)) {
            group->min = is_less(0, group->min) ? 0 : group->min;
            group->max = is_less(group->max, 0) ? 0 : group->max;
        }
        dti_affine_choose(&scheme->affine, group->min, group->max, &group->affine);
    } else {
        group->affine = scheme->scale;
    }
    quantize_affine(result, group);
    return DTI_OK;
}

static void make_block(struct quant_result *result, struct quant_group *group)
{
    uint32_t x[DTI_BLOCK_LENGTH_MAX];
    struct dti_quantized_block block;
    for (size_t i = 0; i < group->count; i++)
        x[i] = result->numbers->list[group->first + i].x;
    dti_block_quantize(&result->recipe, x, group->count, &block);
    group->amax = block.amax;
    group->scale = block.scale;
    for (size_t i = 0; i < group->count; i++) {
        struct quant_element *const element = &result->elements[group->first + i];
        element->code = block.code[i];
        element->clipped = block.clipped_at >> i & 1;
        element->special = !dti_fp32_is_finite(x[i]);
        element->back = dti_block_dequantize(&result->recipe, block.scale, block.code[i]);
    }
}

/* The finite values' largest magnitude. */
static uint32_t find_amax(const struct quant_numbers *numbers)
{
    uint32_t amax = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        const uint32_t x = numbers->list[i].x;
        if (dti_fp32_is_finite(x) && dti_fp32_magnitude(x) > amax)
            amax = dti_fp32_magnitude(x);
    }
    return amax;
}

static void count_loss(struct quant_result *result)
{
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    const struct quant_numbers *const numbers = result->numbers;
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

static void count(struct quant_result *result)
{
    const struct quant_target *const target = result->target;
    const uint64_t length = target->scheme.block ? target->scheme.block->length : 0;
    for (size_t at = 0; at < result->group_count; at++) {
        struct quant_group *const group = &result->groups[at];
        for (size_t i = group->first; i < group->first + group->count; i++) {
            group->clipped += result->elements[i].clipped;
            group->special += result->elements[i].special;
        }
        result->clipped += group->clipped;
        result->special += group->special;
    }
    const uint64_t codes = length > 0 ? length * result->group_count : result->numbers->count;
    result->code_bytes = (codes * target->code.width + 7) / 8;
    result->scale_bytes =
        result->group_count *
        (length > 0 ? dti_format_get(target->scheme.block->scale)->width / 8U : sizeof(float));
    count_loss(result);
    result->inexact = (size_t)result->loss.inexact;
}

static enum dti_status make_groups(struct quant_result *result, size_t length,
                                   struct dti_error *reterr)
{
    const size_t total = result->numbers->count;
    enum dti_status status = DTI_OK;
    for (size_t at = 0; at < result->group_count && status == DTI_OK; at++) {
        struct quant_group *const group = &result->groups[at];
        group->first = at * length;
        group->count = total - group->first < length ? total - group->first : length;
        if (result->target->scheme.block)
            make_block(result, group);
        else
            status = make_affine(result, group, reterr);
    }
    return status;
}

enum dti_status dti_quant_result_make(struct quant_result *ret, const struct quant_target *target,
                                      const struct quant_numbers *numbers, struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &target->scheme;
    const size_t total = numbers->count;
    const size_t length =
        scheme->per == DTI_PER_GROUP && scheme->group < total ? scheme->group : total;
    memset(ret, 0, sizeof *ret);
    ret->target = target;
    ret->numbers = numbers;
    ret->recipe = scheme->blocks;
    ret->amax = find_amax(numbers);
    if (scheme->tensor_scale)
        ret->recipe.tensor_scale = dti_nv_tensor_scale(ret->amax);
    ret->group_count = (total - 1) / length + 1;
    ret->groups = calloc(ret->group_count, sizeof *ret->groups);
    ret->elements = calloc(total, sizeof *ret->elements);
    enum dti_status status = ret->groups && ret->elements
                                 ? make_groups(ret, length, reterr)
                                 : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK)
        count(ret);
    else
        dti_quant_result_free(ret);
    return status;
}

void dti_quant_result_free(struct quant_result *result)
{
    free(result->groups);
    free(result->elements);
    memset(result, 0, sizeof *result);
}
