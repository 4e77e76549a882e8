/* SPDX-License-Identifier: MIT
 *
 * The requested dtypes, and the options applied to each. Every given option has an effect or is an
 * error. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_args.h"
#include "core/quant_parts.h"

/* Options that exclude or need each other for every dtype. */
static enum dti_status check_options(const struct quant_args *args, struct dti_error *reterr)
{
    const char *const like = dti_quant_given(args, "division symmetry");
    const char *const range = dti_quant_given(args, "min max");
    const char *const one = dti_quant_given(args, "scale min max");
    const bool grouped =
        args->recipe.per_given ? args->recipe.rules.per == DTI_PER_GROUP : args->recipe.block_given;
    const bool channels = args->recipe.per_given ? args->recipe.rules.per == DTI_PER_CHANNEL
                                                 : args->recipe.axis && !args->recipe.block_given;
    if (args->recipe.rules.like == DTI_QUANT_LIKE_VLLM)
        return dti_fail(reterr, DTI_USAGE,
                        "--like vllm is for dequantizing; give --dequant, or leave it out");
    if (args->recipe.quant_like_given && like)
        return dti_fail(reterr, DTI_USAGE, "--like sets all rules; leave out --%s", like);
    if (args->recipe.rules.symmetric && args->recipe.rules.affine)
        return dti_fail(reterr, DTI_USAGE,
                        "--symmetric and --affine exclude each other; give one of them");
    if (args->recipe.symmetry_given && args->recipe.rules.affine)
        return dti_fail(reterr, DTI_USAGE,
                        "--symmetry is for symmetric quantization; leave out --affine");
    if (args->recipe.scale && range)
        return dti_fail(reterr, DTI_USAGE, "--scale and a range exclude each other; leave out --%s",
                        range);
    if (args->recipe.scale && args->recipe.rules.affine)
        return dti_fail(reterr, DTI_USAGE, "with --scale, use --zero-point instead of --affine");
    if (args->recipe.zero_point && !args->recipe.scale)
        return dti_fail(reterr, DTI_USAGE,
                        "--zero-point needs --scale; without it both are computed from the range");
    if (args->recipe.zero_point && (args->recipe.rules.symmetric || args->recipe.symmetry_given))
        return dti_fail(reterr, DTI_USAGE,
                        "the zero point of symmetric quantization is in the middle; leave out "
                        "--zero-point or --symmetric");
    if (args->recipe.per_given && grouped && !args->recipe.block_given)
        return dti_fail(reterr, DTI_USAGE, "--per block needs --block N, as in --block 128");
    if (args->recipe.block_given && !grouped)
        return dti_fail(reterr, DTI_USAGE, "--block makes scales per block; leave out --per %s",
                        channels ? "channel" : "tensor");
    if (args->recipe.per_given && args->recipe.rules.per == DTI_PER_TENSOR && args->recipe.axis)
        return dti_fail(reterr, DTI_USAGE, "a single scale has no axis; leave out --axis or --per");
    if (one && args->recipe.block_given)
        return dti_fail(reterr, DTI_USAGE, "--%s is for the whole tensor; leave out --block", one);
    if (one && channels)
        return dti_fail(reterr, DTI_USAGE, "--%s is for the whole tensor; leave out %s", one,
                        args->recipe.per_given ? "--per channel" : "--axis");
    return DTI_OK;
}

/* An option that none of the targets takes. */
static enum dti_status fit_options(const struct quant_args *args,
                                   const struct dti_quant_target *targets, size_t count,
                                   struct dti_error *reterr)
{
    static const struct {
        const char *options;
        unsigned families; /* kinds of dtypes that the options are for */
        const char *takers, *remedy;
    } fits[] = {
        {"min max scale block per", DTI_FAMILY_AFFINE, "integers and scaled floats",
         "its blocks have their own scales"},
        {"zero-point", DTI_FAMILY_INTEGER, "integers", "its zero point is always 0"},
        {"symmetric symmetry affine", DTI_FAMILY_INTEGER, "integers", "leave it out"},
        {"division", DTI_FAMILY_AFFINE | DTI_FAMILY_NV | DTI_FAMILY_NF,
         "integers, scaled floats, nvfp4, nf4 and bnb_fp4", "the format defines the division"},
        {"like", DTI_FAMILY_AFFINE | DTI_FAMILY_NV | DTI_FAMILY_NF,
         "integers, scaled floats, nvfp4, nf4 and bnb_fp4", "leave it out"},
        {"mx-scale", DTI_FAMILY_MX, "the MX formats", "leave it out"},
        {"nv-scale", DTI_FAMILY_NV, "nvfp4", "leave it out"},
        {"tensor-scale", DTI_FAMILY_NV, "nvfp4", "leave it out"},
    };
    unsigned families = 0;
    bool narrow = false, blocks = args->recipe.block_given;
    for (size_t i = 0; i < count; i++) {
        families |= dti_quant_family(&targets[i]);
        narrow = narrow || targets[i].code.width < 8;
        blocks = blocks || targets[i].scheme.block;
    }
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        const char *const option = dti_quant_given(args, fits[i].options);
        if (option && !(families & fits[i].families))
            return dti_fail(reterr, DTI_USAGE, "--%s is for %s, not for %s; %s", option,
                            fits[i].takers, targets[0].name, fits[i].remedy);
    }
    if (args->recipe.order_given && !narrow)
        return dti_fail(reterr, DTI_USAGE,
                        "--packing is for codes of less than 8 bits; %s has %u: leave it out",
                        targets[0].name, (unsigned)targets[0].code.width);
    if (args->recipe.pad && !blocks)
        return dti_fail(reterr, DTI_USAGE, "--pad is for blocks; give --block N, or leave it out");
    return DTI_OK;
}

/* Ends of a range in the wrong order; those that are no numbers are found where they are read. */
static enum dti_status check_range(const struct dti_recipe *recipe, struct dti_error *reterr)
{
    const char *const texts[] = {recipe->min, recipe->max};
    struct dti_value ends[2];
    struct dti_error ignored;
    for (size_t i = 0; i < 2; i++) {
        if (!texts[i] || dti_value_parse(&ends[i], texts[i], strlen(texts[i]), &ignored) != DTI_OK)
            return DTI_OK;
        dti_fp32_value(dti_fp32_round(&ends[i]), &ends[i]);
        if (ends[i].class > DTI_CLASS_FINITE)
            return DTI_OK;
    }
    if (dti_value_compare(&ends[0], &ends[1]) <= 0)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "--min %s is greater than --max %s; swap them",
                    DTI_QUOTED(texts[0], strlen(texts[0])), DTI_QUOTED(texts[1], strlen(texts[1])));
}

struct targets {
    const struct dti_context *cx;
    struct dti_quant_target *list;
    size_t count;
};

static enum dti_status add(void *context, const char *name, struct dti_error *reterr)
{
    struct targets *const targets = context;
    struct dti_quant_target *const target = &targets->list[targets->count];
    if (targets->count == QUANT_TARGETS_MAX)
        return dti_fail(reterr, DTI_USAGE, "at most %d dtypes at once", QUANT_TARGETS_MAX);
    const enum dti_status status = dti_quant_target_find(target, name, reterr);
    targets->count += status == DTI_OK;
    if (status == DTI_OK && target->note)
        dti_warn(targets->cx, "%s", target->note);
    return status;
}

enum dti_status dti_quant_targets_read(const struct quant_args *args, const struct dti_context *cx,
                                       const char *names, struct dti_quant_target **ret_list,
                                       size_t *ret_count, struct dti_error *reterr)
{
    enum dti_status status = check_options(args, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_target *const list = calloc(QUANT_TARGETS_MAX, sizeof *list);
    struct targets targets = {.cx = cx, .list = list};
    if (!list)
        return dti_no_memory(reterr);
    status = dti_each_dtype(names, add, &targets, reterr);
    if (status == DTI_OK)
        status = fit_options(args, list, targets.count, reterr);
    if (status == DTI_OK)
        status = check_range(&args->recipe, reterr);
    for (size_t i = 0; i < targets.count && status == DTI_OK; i++)
        status = dti_recipe_settle(&list[i], &args->recipe, reterr);
    if (status != DTI_OK) {
        free(list);
        return status;
    }
    *ret_list = list;
    *ret_count = targets.count;
    return DTI_OK;
}
