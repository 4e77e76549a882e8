/* SPDX-License-Identifier: MIT
 *
 * The dtypes of quant, and what the options ask of each. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_args.h"
#include "core/quant_parts.h"
#include "dtinfo/number.h"

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
    return dti_fail_word(reterr, DTI_BAD_VALUE, text, strlen(text),
                         scale
                             ? "%s %s is no scale; give a positive number within the range of fp32"
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
                             "%s takes an integer from %lld to %lld, not %s", option,
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
    ret->tensor_scale = strcmp(text, "none") == 0 ? DTI_TENSOR_SCALE_NONE : DTI_TENSOR_SCALE_GIVEN;
    if (ret->tensor_scale == DTI_TENSOR_SCALE_NONE)
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
    return dti_fail(reterr, DTI_USAGE, "--min %s is greater than --max %s; exchange them",
                    DTI_QUOTED(args->min, strlen(args->min)),
                    DTI_QUOTED(args->max, strlen(args->max)));
}

/* Adds those numbers to the rules that the target takes. */
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

/* Looks up the next of names that are joined by commas, which is length bytes long. */
static enum dti_status find(const struct dti_context *cx, const char *names, const char *at,
                            size_t length, bool full, struct dti_quant_target *ret,
                            struct dti_error *reterr)
{
    char name[128];
    if (length == 0 || length >= sizeof name) {
        const char *const what = length == 0 ? names : at;
        const size_t size = length == 0 ? strlen(names) : length;
        return dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, what, size,
                             length == 0 ? "%s has a comma without a dtype beside it"
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
    enum dti_status status = dti_quant_options_check(args, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_target *const list = calloc(QUANT_TARGETS_MAX, sizeof *list);
    if (!list)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
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
        status = dti_quant_options_fit(args, list, count, reterr);
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
