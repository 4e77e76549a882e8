/* SPDX-License-Identifier: MIT
 *
 * What the options of quant ask of one dtype. */
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_args.h"
#include "cli/quant/quant_options.h"
#include "core/quant_parts.h"
#include "dtinfo/ascii.h"
#include "dtinfo/nearest.h"
#include "dtinfo/scalar.h"

/* Names that leave the element open. */
static const struct {
    const char *name, *members;
} families[] = {
    {.name = "mxfp8", .members = "mxfp8_e4m3 or mxfp8_e5m2"},
    {.name = "mxfp6", .members = "mxfp6_e3m2 or mxfp6_e2m3"},
};

static enum dti_status not_quantized(const struct dti_format *format, struct dti_error *reterr)
{
    const bool scaled = format->width > 16 && dti_format_is_integer(format);
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "%s is %s; quant takes int2 to int16, uint2 to uint16, floats of 8 bits or "
                    "less and block formats, and 'dtinfo cast' stores numbers in %s",
                    format->name, scaled ? "too wide" : "no dtype with a scale", format->name);
}

/* A block format whose name is not all there, or nearly right. */
static enum dti_status unknown(const char *name, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_nearest nearest;
    const char *family = NULL;
    dti_quote(quoted, name, strlen(name));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        family = dti_ascii_equal(name, families[i].name) ? families[i].members : family;
    dti_nearest_init(&nearest, name, strlen(name));
    for (size_t i = 0; i < dti_block_format_count; i++)
        dti_nearest_offer(&nearest, dti_block_formats[i].name);
    if (family) {
        (void)dti_fail(reterr, DTI_AMBIGUOUS_DTYPE, "%s names several formats; say %s", quoted,
                       family);
    } else if (nearest.count > 0 && reterr->suggestions[0][0] == '\0') {
        (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE, "unknown dtype %s", quoted);
        dti_nearest_suggest(&nearest, reterr);
    }
    dti_error_argument(reterr, name, strlen(name));
    return reterr->status;
}

/* Blocks are no dtypes to the rest of the program: their names are tried first, and they are among
 * the suggestions. */
static enum dti_status look_up(struct quant_target *target, const struct dti_context *cx,
                               const char *name, struct dti_error *reterr)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    scheme->block = dti_block_lookup(name);
    if (scheme->block) {
        target->name = scheme->block->name;
        target->code = *dti_format_get(scheme->block->code);
        return DTI_OK;
    }
    enum dti_status status = dti_format_lookup(name, &target->code, &target->note, reterr);
    if (status == DTI_UNKNOWN_DTYPE)
        return unknown(name, reterr);
    if (status != DTI_OK)
        return status;
    target->name = target->code.name;
    struct dti_affine_recipe recipe;
    if (!dti_affine_recipe_init(&recipe, &target->code, DTI_SYMMETRY_NONE)) {
        status = not_quantized(&target->code, reterr);
        dti_error_argument(reterr, name, strlen(name));
        return status;
    }
    if (target->note)
        dti_warn(cx, "%s", target->note);
    return DTI_OK;
}

unsigned dti_quant_family(const struct quant_target *target)
{
    if (!target->scheme.block)
        return dti_format_is_integer(&target->code) ? QUANT_INTEGER : QUANT_FLOAT;
    switch (target->scheme.block->family) {
    case DTI_BLOCKS_MX:
        return QUANT_MX;
    case DTI_BLOCKS_NV:
        return QUANT_NV;
    case DTI_BLOCKS_NF:
        return QUANT_NF;
    case DTI_BLOCKS_Q8:
    case DTI_BLOCKS_Q4:
        break;
    }
    return QUANT_GGML;
}

static enum dti_status settle_blocks(struct quant_target *target, const struct quant_args *args,
                                     struct dti_error *reterr)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    const struct dti_value one = {.class = DTI_CLASS_FINITE, .hi = UINT64_C(1) << 63};
    const char *const text = args->tensor_scale;
    scheme->per = DTI_PER_GROUP;
    scheme->group = scheme->block->length;
    scheme->blocks.format = scheme->block;
    scheme->blocks.mx = (enum dti_mx_scale)args->mx_scale;
    scheme->blocks.division = (enum dti_quant_division)args->division;
    if (args->like_given && args->like == QUANT_LIKE_TORCH)
        scheme->blocks.division = DTI_DIVIDE_RECIPROCAL;
    scheme->blocks.tensor_scale = dti_fp32_round(&one);
    target->tensor_scale = QUANT_TENSOR_SCALE_NONE;
    if (scheme->block->family != DTI_BLOCKS_NV)
        return DTI_OK;
    if (!text || strcmp(text, "auto") == 0)
        target->tensor_scale = QUANT_TENSOR_SCALE_AUTO;
    else if (strcmp(text, "none") != 0)
        target->tensor_scale = QUANT_TENSOR_SCALE_GIVEN;
    scheme->tensor_scale = target->tensor_scale == QUANT_TENSOR_SCALE_AUTO;
    if (target->tensor_scale != QUANT_TENSOR_SCALE_GIVEN)
        return DTI_OK;
    return dti_quant_option_scale("--tensor-scale", text, &scheme->blocks.tensor_scale, reterr);
}

/* Integers: int dtypes are symmetric and uint dtypes affine, as weights and activations commonly
 * are; with --scale all codes are used. */
static enum dti_quant_symmetry choose_symmetry(const struct quant_target *target,
                                               const struct quant_args *args)
{
    const bool symmetric = args->symmetric || args->symmetry_given ||
                           (!args->affine && !args->scale && target->code.kind == DTI_KIND_INT);
    if (!symmetric || !dti_format_is_integer(&target->code))
        return DTI_SYMMETRY_NONE;
    if (args->symmetry_given)
        return (enum dti_quant_symmetry)args->symmetry;
    return args->like_given && args->like == QUANT_LIKE_TORCH ? DTI_SYMMETRY_HALF
                                                              : DTI_SYMMETRY_FULL;
}

static enum dti_status fix_scale(struct quant_target *target, const struct quant_args *args,
                                 struct dti_error *reterr)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    const struct dti_affine *const affine = &scheme->affine.affine;
    int64_t zero = 0;
    enum dti_status status =
        dti_quant_option_scale("--scale", args->scale, &scheme->scale.scale, reterr);
    if (status != DTI_OK)
        return status;
    if (scheme->affine.symmetry != DTI_SYMMETRY_NONE && target->code.kind == DTI_KIND_UINT)
        zero = INT64_C(1) << (target->code.width - 1);
    if (args->zero_point) {
        struct dti_error error;
        status = dti_quant_option_integer("--zero-point", args->zero_point, affine->low,
                                          affine->high, &zero, &error);
        if (status != DTI_OK) {
            (void)dti_fail(reterr, status, "%s (the codes of %s)", error.text, target->name);
            dti_error_argument(reterr, args->zero_point, strlen(args->zero_point));
            return status;
        }
    }
    scheme->scale.zero_point = (int32_t)zero;
    scheme->fixed = true;
    return DTI_OK;
}

static enum dti_status read_range(struct quant_target *target, const struct quant_args *args,
                                  struct dti_error *reterr)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    struct dti_value min, max;
    enum dti_status status = DTI_OK;
    target->has_min = args->min != NULL;
    target->has_max = args->max != NULL;
    if (args->min)
        status = dti_quant_option_finite("--min", args->min, &target->min, reterr);
    if (status == DTI_OK && args->max)
        status = dti_quant_option_finite("--max", args->max, &target->max, reterr);
    if (status != DTI_OK || !args->min || !args->max)
        return status;
    dti_fp32_value(target->min, &min);
    dti_fp32_value(target->max, &max);
    if (dti_value_compare(&min, &max) > 0) {
        char low[DTI_QUOTE_SIZE], high[DTI_QUOTE_SIZE];
        return dti_fail(reterr, DTI_USAGE, "--min %s is greater than --max %s; exchange them",
                        dti_quote(low, args->min, strlen(args->min)),
                        dti_quote(high, args->max, strlen(args->max)));
    }
    dti_affine_choose(&scheme->affine, target->min, target->max, &scheme->scale);
    scheme->fixed = true;
    return DTI_OK;
}

static enum dti_status settle_affine(struct quant_target *target, const struct quant_args *args,
                                     struct dti_error *reterr)
{
    struct dti_quant_scheme *const scheme = &target->scheme;
    struct dti_affine_recipe *const recipe = &scheme->affine;
    (void)dti_affine_recipe_init(recipe, &target->code, choose_symmetry(target, args));
    recipe->affine.division = (enum dti_quant_division)args->division;
    scheme->per = args->per_given     ? (enum dti_quant_per)args->per
                  : args->block_given ? DTI_PER_GROUP
                  : args->axis        ? DTI_PER_CHANNEL
                                      : DTI_PER_TENSOR;
    recipe->affine.specials = DTI_QUANT_CLAMP;
    recipe->zero = DTI_ZERO_ONNX;
    if (args->like_given && args->like == QUANT_LIKE_TORCH) {
        recipe->affine.division = DTI_DIVIDE_RECIPROCAL;
        recipe->affine.specials =
            scheme->per == DTI_PER_TENSOR ? DTI_QUANT_AS_TORCH : DTI_QUANT_AS_TORCH_CHANNEL;
        recipe->zero = DTI_ZERO_TORCH;
    }
    scheme->group = scheme->per == DTI_PER_GROUP ? (uint32_t)args->block : 0;
    return args->scale ? fix_scale(target, args, reterr) : read_range(target, args, reterr);
}

static enum dti_status settle(struct quant_target *target, const struct quant_args *args,
                              struct dti_error *reterr)
{
    const enum dti_status status = target->scheme.block ? settle_blocks(target, args, reterr)
                                                        : settle_affine(target, args, reterr);
    if (status != DTI_OK)
        return status;
    target->order = args->nibble_given ? (enum dti_block_order)args->nibble : DTI_BLOCK_LOW;
    target->has_axis = args->axis != NULL;
    if (!args->axis)
        return DTI_OK;
    return dti_quant_option_integer("--axis", args->axis, -64, 63, &target->axis, reterr);
}

enum dti_status dti_quant_targets_read(const struct quant_args *args, const struct dti_context *cx,
                                       const char *names, struct quant_target **ret_list,
                                       size_t *ret_count, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], name[128];
    enum dti_status status = dti_quant_options_check(args, reterr);
    if (status != DTI_OK)
        return status;
    struct quant_target *const list = calloc(QUANT_TARGETS_MAX, sizeof *list);
    if (!list)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    size_t count = 0;
    for (const char *at = names; status == DTI_OK; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof name) {
            const char *const what = length == 0 ? names : at;
            const size_t size = length == 0 ? strlen(names) : length;
            (void)dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                           length == 0 ? "%s has a comma without a dtype beside it"
                                       : "unknown dtype %s",
                           dti_quote(quoted, what, size));
            dti_error_argument(reterr, what, size);
            status = DTI_UNKNOWN_DTYPE;
        } else if (count == QUANT_TARGETS_MAX) {
            status = dti_fail(reterr, DTI_USAGE, "at most %d dtypes at once", QUANT_TARGETS_MAX);
        } else {
            memcpy(name, at, length);
            name[length] = '\0';
            status = look_up(&list[count++], cx, name, reterr);
        }
        at += length;
        if (*at == '\0')
            break;
    }
    if (status == DTI_OK)
        status = dti_quant_options_fit(args, list, count, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = settle(&list[i], args, reterr);
    if (status != DTI_OK) {
        free(list);
        return status;
    }
    *ret_list = list;
    *ret_count = count;
    return DTI_OK;
}
