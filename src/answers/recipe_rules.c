/* SPDX-License-Identifier: MIT
 *
 * The rules of a recipe, with numbers as the command line spells them, applied to one dtype. */
#include <string.h>

#include "answers/recipe.h"
#include "core/quant_parts.h"

/* The value of an option, rounded to fp32: a finite number or, with `scale`, a positive one. */
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
    *ret_code = dti_fp32_round(&value); /* also to infinity */
    dti_fp32_value(*ret_code, &value);
    if (scale ? value.class == DTI_CLASS_FINITE && !value.negative
              : value.class <= DTI_CLASS_FINITE)
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

enum dti_status dti_recipe_settle(struct dti_quant_target *target, const struct dti_recipe *recipe,
                                  struct dti_error *reterr)
{
    struct dti_quant_rules rules = dti_recipe_rules(recipe);
    enum dti_status status = DTI_OK;
    rules.has_min = recipe->min;
    rules.has_max = recipe->max;
    rules.has_scale = recipe->scale;
    rules.has_axis = recipe->axis;
    if (dti_quant_family(target) == DTI_FAMILY_NV)
        status = read_tensor_scale(recipe->tensor_scale, &rules, reterr);
    else if (!target->scheme.block)
        status = recipe->scale ? read_scale(recipe, target, &rules, reterr)
                               : read_range(recipe, &rules, reterr);
    if (status == DTI_OK && recipe->axis)
        status = read_integer("axis", recipe->axis, -64, 63, &rules.axis, reterr);
    if (status == DTI_OK)
        dti_quant_target_settle(target, &rules);
    else if (reterr)
        reterr->remedy = DTI_REMEDY_CORRECT_OPTION; /* each text begins with one */
    return status;
}
