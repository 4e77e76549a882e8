/* SPDX-License-Identifier: MIT
 *
 * The requested dtypes, and the options applied to each. Every given option has an effect or is an
 * error. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_args.h"
#include "core/quant_parts.h"
#include "dtinfo/number.h"

/* Options that exclude or need each other for every dtype. */
static enum dti_status check_options(const struct quant_args *args, struct dti_error *reterr)
{
    const char *const like = dti_quant_given(args, "division symmetry");
    const char *const range = dti_quant_given(args, "min max");
    const char *const one = dti_quant_given(args, "scale min max");
    const bool grouped = args->per_given ? args->rules.per == DTI_PER_GROUP : args->block_given;
    const bool channels =
        args->per_given ? args->rules.per == DTI_PER_CHANNEL : args->axis && !args->block_given;
    if (args->rules.like == DTI_QUANT_LIKE_VLLM)
        return dti_fail(reterr, DTI_USAGE,
                        "--like vllm is for dequantizing; give --dequant, or leave it out");
    if (args->like_given && like)
        return dti_fail(reterr, DTI_USAGE, "--like sets all rules; leave out --%s", like);
    if (args->rules.symmetric && args->rules.affine)
        return dti_fail(reterr, DTI_USAGE,
                        "--symmetric and --affine exclude each other; give one of them");
    if (args->symmetry_given && args->rules.affine)
        return dti_fail(reterr, DTI_USAGE,
                        "--symmetry is for symmetric quantization; leave out --affine");
    if (args->scale && range)
        return dti_fail(reterr, DTI_USAGE, "--scale and a range exclude each other; leave out --%s",
                        range);
    if (args->scale && args->rules.affine)
        return dti_fail(reterr, DTI_USAGE, "with --scale, use --zero-point instead of --affine");
    if (args->zero_point && !args->scale)
        return dti_fail(reterr, DTI_USAGE,
                        "--zero-point needs --scale; without it both are computed from the range");
    if (args->zero_point && (args->rules.symmetric || args->symmetry_given))
        return dti_fail(reterr, DTI_USAGE,
                        "the zero point of symmetric quantization is in the middle; leave out "
                        "--zero-point or --symmetric");
    if (args->per_given && grouped && !args->block_given)
        return dti_fail(reterr, DTI_USAGE, "--per block needs --block N, as in --block 128");
    if (args->block_given && !grouped)
        return dti_fail(reterr, DTI_USAGE, "--block makes scales per block; leave out --per %s",
                        channels ? "channel" : "tensor");
    if (args->per_given && args->rules.per == DTI_PER_TENSOR && args->axis)
        return dti_fail(reterr, DTI_USAGE, "a single scale has no axis; leave out --axis or --per");
    if (one && args->block_given)
        return dti_fail(reterr, DTI_USAGE, "--%s is for the whole tensor; leave out --block", one);
    if (one && channels)
        return dti_fail(reterr, DTI_USAGE, "--%s is for the whole tensor; leave out %s", one,
                        args->per_given ? "--per channel" : "--axis");
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
    bool narrow = false, blocks = args->block_given;
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
    if (args->packing_given && !narrow)
        return dti_fail(reterr, DTI_USAGE,
                        "--packing is for codes of less than 8 bits; %s has %u: leave it out",
                        targets[0].name, (unsigned)targets[0].code.width);
    if (args->pad && !blocks)
        return dti_fail(reterr, DTI_USAGE, "--pad is for blocks; give --block N, or leave it out");
    return DTI_OK;
}

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
    return read_fp32("--tensor-scale", text, true, &ret->tensor_scale_number, reterr);
}

static enum dti_status read_scale(const struct quant_args *args,
                                  const struct dti_quant_target *target,
                                  struct dti_quant_rules *ret, struct dti_error *reterr)
{
    const char *const text = args->zero_point;
    struct dti_affine_recipe recipe;
    struct dti_error error;
    int64_t zero;
    enum dti_status status = read_fp32("--scale", args->scale, true, &ret->scale, reterr);
    if (status != DTI_OK || !text)
        return status;
    ret->has_zero_point = true;
    (void)dti_affine_recipe_init(&recipe, &target->code, DTI_SYMMETRY_NONE);
    status =
        read_integer("--zero-point", text, recipe.affine.low, recipe.affine.high, &zero, &error);
    if (status != DTI_OK) {
        return dti_fail_word(reterr, status, text, strlen(text), "%s (the codes of %s)", error.text,
                             target->name);
    }
    ret->zero_point = (int32_t)zero;
    return DTI_OK;
}

static enum dti_status read_range(const struct quant_args *args, struct dti_quant_rules *ret,
                                  struct dti_error *reterr)
{
    struct dti_value min, max;
    enum dti_status status = DTI_OK;
    if (args->min)
        status = read_fp32("--min", args->min, false, &ret->min, reterr);
    if (status == DTI_OK && args->max)
        status = read_fp32("--max", args->max, false, &ret->max, reterr);
    if (status != DTI_OK || !args->min || !args->max)
        return status;
    dti_fp32_value(ret->min, &min);
    dti_fp32_value(ret->max, &max);
    if (dti_value_compare(&min, &max) <= 0)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "--min %s is greater than --max %s; swap them",
                    DTI_QUOTED(args->min, strlen(args->min)),
                    DTI_QUOTED(args->max, strlen(args->max)));
}

/* Adds the numeric options that the target takes to its rules. */
static enum dti_status settle(const struct quant_args *args, struct dti_quant_target *target,
                              struct dti_error *reterr)
{
    struct dti_quant_rules rules = args->rules;
    enum dti_status status = DTI_OK;
    rules.has_min = args->min;
    rules.has_max = args->max;
    rules.has_scale = args->scale;
    rules.has_axis = args->axis;
    if (dti_quant_family(target) == DTI_FAMILY_NV)
        status = read_tensor_scale(args->tensor_scale, &rules, reterr);
    else if (!target->scheme.block)
        status = args->scale ? read_scale(args, target, &rules, reterr)
                             : read_range(args, &rules, reterr);
    if (status == DTI_OK && args->axis)
        status = read_integer("--axis", args->axis, -64, 63, &rules.axis, reterr);
    if (status == DTI_OK)
        dti_quant_target_settle(target, &rules);
    return status;
}

/* Looks up one name of a comma-separated list, length bytes long. */
static enum dti_status find(const struct dti_context *cx, const char *names, const char *at,
                            size_t length, bool full, struct dti_quant_target *ret,
                            struct dti_error *reterr)
{
    char name[128];
    if (length == 0 || length >= sizeof name) {
        const char *const what = length == 0 ? names : at;
        const size_t size = length == 0 ? strlen(names) : length;
        return dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, what, size,
                             length == 0 ? "%s has a comma without a dtype next to it"
                                         : "unknown dtype %s",
                             DTI_QUOTED(what, size));
    }
    if (full)
        return dti_fail(reterr, DTI_USAGE, "at most %d dtypes at once", QUANT_TARGETS_MAX);
    memcpy(name, at, length);
    name[length] = '\0';
    const enum dti_status status = dti_quant_target_find(ret, name, reterr);
    if (status == DTI_OK && ret->note)
        dti_warn(cx, "%s", ret->note);
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
    if (!list)
        return dti_no_memory(reterr);
    size_t count = 0;
    for (const char *at = names; status == DTI_OK; at++) {
        const size_t length = strcspn(at, ",");
        status = find(cx, names, at, length, count == QUANT_TARGETS_MAX, &list[count], reterr);
        count += status == DTI_OK;
        at += length;
        if (*at == '\0')
            break;
    }
    if (status == DTI_OK)
        status = fit_options(args, list, count, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = settle(args, &list[i], reterr);
    if (status != DTI_OK) {
        free(list);
        return status;
    }
    *ret_list = list;
    *ret_count = count;
    return DTI_OK;
}
