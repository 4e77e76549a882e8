/* SPDX-License-Identifier: MIT
 *
 * Turns a recipe into a rewrite request, and applies its rules, with numbers as the command line
 * spells them, to one dtype. */
#include "answers/rewrite/recipe.h"

#include <string.h>

#include "core/block/quant_parts.h"

/* Parses the value of an option, rounded to fp32: a finite number or, with `scale`, a positive
 * one. */
static enum dti_status read_fp32(const char *option, const char *text, bool scale,
                                 uint32_t *ret_code, struct dti_error *reterr)
{
    struct dti_value value;
    struct dti_error error;
    if (dti_value_parse(&value, text, strlen(text), &error) != DTI_OK) {
        (void)dti_fail(reterr, error.status, "%s: %s", option, error.text);
        memcpy(reterr->argument, error.argument, sizeof error.argument);
        return error.status;
    }
    *ret_code = dti_fp32_round(&value); /* may become infinity */
    dti_fp32_value(*ret_code, &value);
    if (scale ? value.kind == DTI_CLASS_FINITE && !value.negative : value.kind <= DTI_CLASS_FINITE)
        return DTI_OK;
    return dti_fail_word(
        reterr, DTI_BAD_VALUE, text, strlen(text),
        scale ? "%s %s is not a scale; give a positive number within the range of fp32"
              : "%s %s is not a finite fp32 number; the largest is 3.4028235e+38",
        option, DTI_QUOTED(text, strlen(text)));
}

static enum dti_status read_integer(const char *option, const char *text, int64_t lowest,
                                    int64_t highest, int64_t *ret_number, struct dti_error *reterr)
{
    const bool negative = text[0] == '-';
    const char *digit = text + (negative || text[0] == '+');
    int64_t number = 0;
    bool good = *digit != '\0';
    for (; *digit >= '0' && *digit <= '9' && good; digit++) {
        number = number * 10 + (*digit - '0');
        good = number <= INT32_MAX;
    }
    number = negative ? -number : number;
    if (!good || *digit != '\0' || number < lowest || number > highest) {
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "%s takes an integer from %lld to %lld; got %s", option,
                             (long long)lowest, (long long)highest, DTI_QUOTED(text, strlen(text)));
    }
    *ret_number = number;
    return DTI_OK;
}

static enum dti_status read_tensor_scale(const char *text, struct dti_quant_rules *ret,
                                         struct dti_error *reterr)
{
    if (!text || strcmp(text, "auto") == 0)
        return DTI_OK;
    ret->tensor_scale = strcmp(text, "none") == 0  ? DTI_TENSOR_SCALE_NONE
                        : strcmp(text, "own") == 0 ? DTI_TENSOR_SCALE_OWN
                                                   : DTI_TENSOR_SCALE_GIVEN;
    if (ret->tensor_scale != DTI_TENSOR_SCALE_GIVEN)
        return DTI_OK;
    return read_fp32("tensor-scale", text, true, &ret->tensor_scale_number, reterr);
}

static enum dti_status read_scale(const struct dti_recipe *recipe,
                                  const struct dti_quant_target *target,
                                  struct dti_quant_rules *ret, struct dti_error *reterr)
{
    const char *const text = recipe->zero_point;
    struct dti_affine_recipe affine;
    struct dti_error error;
    int64_t zero;
    enum dti_status status = read_fp32("scale", recipe->scale, true, &ret->scale, reterr);
    if (status != DTI_OK || !text)
        return status;
    ret->has_zero_point = true;
    (void)dti_affine_recipe_init(&affine, &target->code, DTI_SYMMETRY_NONE);
    status = read_integer("zero-point", text, affine.affine.low, affine.affine.high, &zero, &error);
    if (status != DTI_OK) {
        return dti_fail_word(reterr, status, text, strlen(text), "%s (the codes of %s)", error.text,
                             target->name);
    }
    ret->zero_point = (int32_t)zero;
    return DTI_OK;
}

static enum dti_status read_range(const struct dti_recipe *recipe, struct dti_quant_rules *ret,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (recipe->min)
        status = read_fp32("min", recipe->min, false, &ret->min, reterr);
    if (status == DTI_OK && recipe->max)
        status = read_fp32("max", recipe->max, false, &ret->max, reterr);
    return status;
}

struct dti_quant_rules dti_recipe_rules(const struct dti_recipe *recipe)
{
    struct dti_quant_rules rules = recipe->rules;
    dti_quant_rules_settle(&rules, (enum dti_quant_layout)recipe->layout,
                           recipe->division_given || recipe->quant_like_given);
    return rules;
}

bool dti_recipe_rotates(const struct dti_recipe *recipe, const struct dti_quant_target *target)
{
    const bool integers = strcmp(target->name, "int8") == 0 || strcmp(target->name, "int4") == 0;
    return recipe->convrot > 0 && integers;
}

/* ComfyUI has a scale for each row then, and its least ones: comfy-kitchen 0.2.40. */
static void settle_rotation(struct dti_quant_target *target, const struct dti_recipe *recipe)
{
    const float least = strcmp(target->name, "int8") == 0 ? 1e-30F : 1e-10F / 7;
    if (!dti_recipe_rotates(recipe, target))
        return;
    if (!recipe->per_given)
        target->scheme.per = DTI_PER_CHANNEL;
    memcpy(&target->scheme.affine.least, &least, sizeof least);
}

/* MLX has a scale and a bias for each group of integers, 64 of them unless stated otherwise, and
 * one rule for scales of blocks. mlx-lm 0.32.2 reads no scale of a whole matrix. */
static void settle_stems(struct dti_quant_target *target, const struct dti_recipe *recipe)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    if (!dti_quant_layout_has_stems((enum dti_quant_layout)recipe->layout))
        return;
    if (scheme->block) {
        target->tensor_scale = DTI_TENSOR_SCALE_NONE;
        scheme->tensor_scale = false;
        if (!recipe->mx_scale_given)
            scheme->blocks.mx = DTI_MX_RCEIL;
        return;
    }
    scheme->biased = target->code.kind == DTI_KIND_UINT && target->code.width <= 8;
    scheme->per = DTI_PER_GROUP;
    scheme->group = recipe->block_given ? (uint32_t)recipe->rules.block : DTI_RECIPE_MLX_GROUP;
}

enum dti_status dti_recipe_settle(struct dti_quant_target *target, const struct dti_recipe *recipe,
                                  struct dti_error *reterr)
{
    struct dti_quant_rules rules = dti_recipe_rules(recipe);
    enum dti_status status = DTI_OK;
    rules.has_min = recipe->min;
    rules.has_max = recipe->max;
    rules.has_scale = recipe->scale;
    rules.has_axis = recipe->axis;
    if (recipe->fused)
        status = dti_fused_own_read(&target->own, recipe->fused, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_quant_family(target) == DTI_FAMILY_NV)
        status = read_tensor_scale(recipe->tensor_scale, &rules, reterr);
    else if (!target->scheme.block)
        status = recipe->scale ? read_scale(recipe, target, &rules, reterr)
                               : read_range(recipe, &rules, reterr);
    if (status == DTI_OK && recipe->fused && rules.tensor_scale != DTI_TENSOR_SCALE_AUTO)
        status = dti_fail(reterr, DTI_USAGE,
                          "fused is for tensor scales that are shared, and tensor-scale says that "
                          "none is; leave out one of them");
    if (status == DTI_OK && recipe->axis)
        status = read_integer("axis", recipe->axis, -64, 63, &rules.axis, reterr);
    if (status == DTI_OK)
        dti_quant_target_settle(target, &rules);
    if (status == DTI_OK) {
        settle_rotation(target, recipe);
        settle_stems(target, recipe);
    } else if (reterr)
        reterr->remedy = DTI_REMEDY_CORRECT_OPTION; /* each error text begins with an option */
    return status;
}

void dti_recipe_request_cast(struct dti_rewrite_request *ret, const struct dti_recipe *recipe,
                             const struct dti_cast *cast, const struct dti_stack_rule *rule)
{
    ret->cast = (struct dti_cast_recipe){
        .cast = *cast,
        .rule = rule,
        .ints = recipe->ints,
        .packing_given = recipe->packing_given,
        .from_packing_given = recipe->from_packing_given,
        .packing = (enum dti_packing)recipe->packing,
        .from_packing = (enum dti_packing)recipe->from_packing,
    };
}

static enum dti_status add_via(void *context, const char *name, struct dti_error *reterr)
{
    struct dti_cast *const cast = context;
    const char *note;
    if (cast->via_count == DTI_VIA_MAX)
        return dti_fail(reterr, DTI_USAGE, "a route has at most %d dtypes", DTI_VIA_MAX);
    return dti_format_lookup(name, &cast->via[cast->via_count++], &note, reterr);
}

static enum dti_status prepare_cast(struct dti_rewrite_request *ret,
                                    const struct dti_recipe *recipe, struct dti_error *reterr)
{
    const char *note;
    const struct dti_stack_rule *rule = NULL;
    struct dti_cast cast = {.policy = dti_recipe_policy(recipe),
                            .round_given = recipe->round_given};
    enum dti_status status = dti_format_lookup(recipe->dtype, &cast.dst, &note, reterr);
    if (status == DTI_OK && cast.dst.kind == DTI_KIND_COMPLEX)
        status = dti_fail(reterr, DTI_WRONG_KIND, "tensors are not cast to %s", cast.dst.name);
    if (status == DTI_OK && recipe->via)
        status = dti_each_dtype(recipe->via, add_via, &cast, reterr);
    if (status != DTI_OK)
        return status;
    if (recipe->like_given &&
        (recipe->round_given || recipe->overflow_given || recipe->nan_given || recipe->via))
        return dti_fail(reterr, DTI_USAGE, "like sets round, overflow, nan and via");
    if (recipe->like_given) {
        rule = dti_stack_find((enum dti_stack)recipe->like, &cast.dst);
        if (!rule)
            return dti_fail(reterr, DTI_WRONG_KIND, "%s has no %s",
                            dti_stack_name((enum dti_stack)recipe->like), cast.dst.name);
    }
    dti_recipe_request_cast(ret, recipe, &cast, rule);
    return DTI_OK;
}

void dti_recipe_request_quant(struct dti_rewrite_request *ret, const struct dti_recipe *recipe,
                              const struct dti_quant_target *target)
{
    ret->recipe = DTI_RECIPE_QUANTIZE;
    ret->quantize = (struct dti_quantize_recipe){
        .scheme = target->scheme,
        .dtype = target->name,
        .layout = (enum dti_quant_layout)recipe->layout,
        .has_axis = target->has_axis,
        .axis = target->axis,
        .pad = recipe->pad,
        .high = target->order == DTI_BLOCK_HIGH,
        .fused = target->tensor_scale == DTI_TENSOR_SCALE_AUTO,
        .own = target->own.count > 0 ? &target->own : NULL,
    };
    ret->quantize.scheme.nested = recipe->nested;
    if (dti_recipe_rotates(recipe, target)) {
        ret->quantize.rotation = (unsigned)recipe->convrot;
        ret->quantize.high = false; /* in this layout, the first of two int4 is in the low bits */
    }
}

static enum dti_status prepare_quant(struct dti_rewrite_request *ret,
                                     struct dti_quant_target *target,
                                     const struct dti_recipe *recipe, struct dti_error *reterr)
{
    enum dti_status status = dti_quant_target_find(target, recipe->dtype, reterr);
    if (status != DTI_OK)
        return status;
    if (recipe->quant_like_given && (recipe->symmetry_given || recipe->division_given))
        return dti_fail(reterr, DTI_USAGE, "like sets symmetry and division");
    status = dti_recipe_settle(target, recipe, reterr);
    if (status == DTI_OK)
        dti_recipe_request_quant(ret, recipe, target);
    return status;
}

enum dti_status dti_recipe_prepare(struct dti_rewrite_request *ret, struct dti_quant_target *target,
                                   const struct dti_recipe *recipe, struct dti_error *reterr)
{
    if (recipe->rules.like == DTI_QUANT_LIKE_VLLM)
        return dti_fail(reterr, DTI_USAGE, "like vllm is how a file is read, not how it is made");
    ret->recipe = recipe->by == DTI_VERB_DEQUANT ? DTI_RECIPE_DEQUANTIZE : DTI_RECIPE_CAST;
    return recipe->by == DTI_VERB_QUANT ? prepare_quant(ret, target, recipe, reterr)
                                        : prepare_cast(ret, recipe, reterr);
}
