/* SPDX-License-Identifier: MIT
 *
 * A recipe becomes the request of a rewrite. */
#include "answers/recipe.h"

#include <string.h>

enum dti_status dti_each_dtype(const char *list, dti_add_dtype_fn *add, void *context,
                               struct dti_error *reterr)
{
    char name[128];
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0)
            return dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, list, strlen(list),
                                 "%s has a comma without a dtype next to it",
                                 DTI_QUOTED(list, strlen(list)));
        if (length >= sizeof name)
            return dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, at, length, "unknown dtype %s",
                                 DTI_QUOTED(at, length));
        memcpy(name, at, length);
        name[length] = '\0';
        const enum dti_status status = add(context, name, reterr);
        at += length;
        if (status != DTI_OK || *at == '\0')
            return status;
    }
}

struct dti_policy dti_recipe_policy(const struct dti_recipe *recipe)
{
    return (struct dti_policy){.round = (enum dti_round)recipe->round,
                               .overflow = (enum dti_overflow)recipe->overflow,
                               .nan = (enum dti_nan)recipe->nan,
                               .seed = recipe->seed};
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
    };
    ret->quantize.scheme.nested = recipe->nested;
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
    ret->recipe = recipe->by == DTI_MADE_DEQUANT ? DTI_RECIPE_DEQUANTIZE : DTI_RECIPE_CAST;
    return recipe->by == DTI_MADE_QUANT ? prepare_quant(ret, target, recipe, reterr)
                                        : prepare_cast(ret, recipe, reterr);
}
