/* SPDX-License-Identifier: MIT
 *
 * The input of quantization: the numbers, converted from text to fp32 before any computation,
 * because the scale depends on all of them; and the rules applied to one dtype. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/rewrite/quantized.h"
#include "core/block/quant_parts.h"
#include "core/code/scalar.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/ascii.h"
#include "util/text/nearest.h"

void dti_quant_inputs_init(struct dti_quant_inputs *ret)
{
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->texts);
}

void dti_quant_inputs_free(struct dti_quant_inputs *numbers)
{
    dti_buffer_free(&numbers->texts);
    dti_free(numbers->list);
}

enum dti_status dti_quant_inputs_add(struct dti_quant_inputs *numbers, const char *text,
                                     size_t length, struct dti_error *reterr)
{
    struct dti_value value, rounded;
    const enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK)
        return status;
    const size_t place = numbers->texts.length;
    dti_buffer_append(&numbers->texts, text, length);
    dti_buffer_append(&numbers->texts, "", 1);
    struct dti_quant_input *const list =
        dti_grown(numbers->list, numbers->count, &numbers->capacity, sizeof *list);
    if (list)
        numbers->list = list;
    if (!list || numbers->texts.failed)
        return dti_no_memory(reterr);
    struct dti_quant_input *const number = &numbers->list[numbers->count++];
    *number = (struct dti_quant_input){.text = place, .x = dti_fp32_round(&value)};
    dti_fp32_value(number->x, &rounded);
    number->rounded = value.kind <= DTI_CLASS_FINITE &&
                      (rounded.kind > DTI_CLASS_FINITE || dti_value_compare(&value, &rounded) != 0);
    numbers->rounded += number->rounded;
    return DTI_OK;
}

static enum dti_status not_quantized(const struct dti_format *format, struct dti_error *reterr)
{
    const bool scaled = format->width > 16 && dti_format_is_integer(format);
    return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_STORE_NUMBERS,
                           "%s is %s; the dtypes with scales are int2 to int16, uint2 to uint16, "
                           "floats of 8 bits or less and block formats",
                           format->name, scaled ? "too wide" : "not a dtype with a scale");
}

/* Suggests a block format with a similar name. */
static enum dti_status unknown(const char *name, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_nearest nearest;
    dti_quote(quoted, name, strlen(name));
    dti_nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < dti_block_format_count; i++)
        dti_nearest_offer(&nearest, dti_block_formats[i].name);
    if (nearest.count > 0 && reterr->suggestions[0][0] == '\0') {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s", quoted);
        dti_nearest_suggest(&nearest, reterr);
    }
    dti_error_argument(reterr, name, strlen(name));
    return reterr->status;
}

/* An ambiguous dtype name may also be the suffix of a block format: fp4 of bnb_fp4. Adds these. */
static void add_blocks(const char *name, struct dti_error *reterr)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < dti_block_format_count; i++) {
        const char *const block = dti_block_formats[i].name;
        const size_t used = strlen(reterr->text), before = strlen(block) - length;
        if (strlen(block) <= length || block[before - 1] != '_' ||
            !dti_ascii_equal(block + before, name))
            continue;
        (void)snprintf(reterr->text + used, sizeof reterr->text - used, ", or %s", block);
        dti_error_suggest(reterr, block);
    }
}

/* Block formats are not dtypes elsewhere in the program, so their names are tried first and added
 * to the suggestions. */
enum dti_status dti_quant_target_find(struct dti_quant_target *ret, const char *name,
                                      struct dti_error *reterr)
{
    struct dti_affine_recipe recipe;
    memset(ret, 0, sizeof *ret);
    ret->scheme.block = dti_block_lookup(name);
    if (ret->scheme.block) {
        ret->name = ret->scheme.block->name;
        ret->code = *dti_format_get(ret->scheme.block->code);
        return DTI_OK;
    }
    const enum dti_status status = dti_format_lookup(name, &ret->code, &ret->note, reterr);
    if (status == DTI_UNKNOWN_DTYPE)
        return unknown(name, reterr);
    if (status == DTI_AMBIGUOUS_DTYPE)
        add_blocks(name, reterr);
    if (status != DTI_OK)
        return status;
    ret->name = ret->code.name;
    if (dti_affine_recipe_init(&recipe, &ret->code, DTI_SYMMETRY_NONE))
        return DTI_OK;
    (void)not_quantized(&ret->code, reterr);
    dti_error_argument(reterr, name, strlen(name));
    return DTI_WRONG_KIND;
}

enum dti_quant_family dti_quant_family(const struct dti_quant_target *target)
{
    if (target->gguf)
        return DTI_FAMILY_GGML;
    if (!target->scheme.block)
        return dti_format_is_integer(&target->code) ? DTI_FAMILY_INTEGER : DTI_FAMILY_FLOAT;
    switch (target->scheme.block->family) {
    case DTI_BLOCKS_MX:
        return DTI_FAMILY_MX;
    case DTI_BLOCKS_NV:
        return DTI_FAMILY_NV;
    case DTI_BLOCKS_NF:
        return DTI_FAMILY_NF;
    case DTI_BLOCKS_Q8:
    case DTI_BLOCKS_Q4:
        break;
    }
    return DTI_FAMILY_GGML;
}

bool dti_quant_scale_given(const struct dti_quant_target *target)
{
    return target->scheme.fixed && !(target->has_min && target->has_max);
}

static void settle_blocks(struct dti_quant_target *target, const struct dti_quant_rules *rules)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    const bool torch = rules->like == DTI_QUANT_LIKE_TORCH;
    const bool nv = scheme->block->family == DTI_BLOCKS_NV;
    scheme->per = DTI_PER_GROUP;
    scheme->group = scheme->block->length;
    scheme->blocks.format = scheme->block;
    scheme->blocks.mx = (enum dti_mx_scale)rules->mx_scale;
    scheme->blocks.nv = (enum dti_nv_scale)rules->nv_scale;
    scheme->blocks.division =
        torch ? DTI_DIVIDE_RECIPROCAL : (enum dti_quant_division)rules->division;
    target->tensor_scale = nv ? (enum dti_tensor_scale)rules->tensor_scale : DTI_TENSOR_SCALE_NONE;
    scheme->tensor_scale = target->tensor_scale == DTI_TENSOR_SCALE_AUTO ||
                           target->tensor_scale == DTI_TENSOR_SCALE_OWN;
    scheme->blocks.tensor_scale =
        target->tensor_scale == DTI_TENSOR_SCALE_GIVEN ? rules->tensor_scale_number : DTI_FP32_ONE;
}

/* Integers: int dtypes are symmetric and uint dtypes affine, as is usual for weights and
 * activations; with a given scale all codes are used. */
static enum dti_quant_symmetry choose_symmetry(const struct dti_quant_target *target,
                                               const struct dti_quant_rules *rules)
{
    const bool given = rules->symmetry != DTI_SYMMETRY_NONE;
    const bool symmetric =
        rules->symmetric || given ||
        (!rules->affine && !rules->has_scale && target->code.kind == DTI_KIND_INT);
    if (!symmetric || !dti_format_is_integer(&target->code))
        return DTI_SYMMETRY_NONE;
    if (given)
        return (enum dti_quant_symmetry)rules->symmetry;
    return rules->like == DTI_QUANT_LIKE_TORCH ? DTI_SYMMETRY_HALF : DTI_SYMMETRY_FULL;
}

static void settle_range(struct dti_quant_target *target, const struct dti_quant_rules *rules)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    const bool middle =
        scheme->affine.symmetry != DTI_SYMMETRY_NONE && target->code.kind == DTI_KIND_UINT;
    if (rules->has_scale) {
        scheme->scale.scale = rules->scale;
        scheme->scale.zero_point = rules->has_zero_point ? rules->zero_point
                                   : middle              ? INT32_C(1) << (target->code.width - 1)
                                                         : 0;
        scheme->fixed = true;
        return;
    }
    target->has_min = rules->has_min;
    target->has_max = rules->has_max;
    target->min = rules->min;
    target->max = rules->max;
    scheme->fixed = rules->has_min && rules->has_max;
    if (scheme->fixed)
        dti_affine_choose(&scheme->affine, rules->min, rules->max, &scheme->scale);
}

static void settle_affine(struct dti_quant_target *target, const struct dti_quant_rules *rules)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    struct dti_affine_recipe *const recipe = &scheme->affine;
    (void)dti_affine_recipe_init(recipe, &target->code, choose_symmetry(target, rules));
    scheme->per = rules->per != DTI_PER_TENSOR ? (enum dti_quant_per)rules->per
                  : rules->block > 0           ? DTI_PER_GROUP
                  : rules->has_axis            ? DTI_PER_CHANNEL
                                               : DTI_PER_TENSOR;
    scheme->group = scheme->per == DTI_PER_GROUP ? (uint32_t)rules->block : 0;
    recipe->affine.division = (enum dti_quant_division)rules->division;
    recipe->affine.specials = DTI_QUANT_CLAMP;
    recipe->zero = DTI_ZERO_ONNX;
    if (rules->like == DTI_QUANT_LIKE_TORCH) {
        recipe->affine.division = DTI_DIVIDE_RECIPROCAL;
        recipe->affine.specials =
            scheme->per == DTI_PER_TENSOR ? DTI_QUANT_AS_TORCH : DTI_QUANT_AS_TORCH_CHANNEL;
        recipe->zero = DTI_ZERO_TORCH;
    }
    settle_range(target, rules);
}

void dti_quant_rules_settle(struct dti_quant_rules *rules, enum dti_quant_layout layout,
                            bool arithmetic_given)
{
    if (!dti_quant_layout_has_state(layout))
        return;
    if (!arithmetic_given && dti_quant_layout_is_flat(layout))
        rules->division = DTI_DIVIDE_RECIPROCAL;
    rules->order = DTI_BLOCK_HIGH;
}

void dti_quant_target_settle(struct dti_quant_target *target, const struct dti_quant_rules *rules)
{
    if (target->scheme.block)
        settle_blocks(target, rules);
    else
        settle_affine(target, rules);
    target->order = (enum dti_block_order)rules->order;
    target->has_axis = rules->has_axis;
    target->axis = rules->axis;
}
