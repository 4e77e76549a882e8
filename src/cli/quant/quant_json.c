/* SPDX-License-Identifier: MIT
 *
 * Quantized values as JSON: schema dtinfo.quant/1. */
#include <string.h>

#include "cli/quant/quant_options.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/choices.h"
#include "cli/shared/loss_json.h"
#include "cli/shared/number_json.h"

static void put_choice(struct dti_json *json, const char *key, bool there,
                       const struct dti_choice *table, int value)
{
    dti_json_string(json, key, there ? dti_choice_name(table, value) : NULL);
}

static enum dti_status put_fp32(struct dti_json *json, const char *key, bool there, uint32_t code,
                                struct dti_error *reterr)
{
    return dti_json_code(json, key, dti_format_get(DTI_FP32), there, code, reterr);
}

/* A figure that fp64 may only come near to; null for what it does not hold. */
static void put_rounded(struct dti_json *json, const char *key, bool there,
                        const struct dti_value *value)
{
    char text[DTI_TEXT_SIZE];
    const size_t length =
        there && value->class <= DTI_CLASS_FINITE ? dti_spell_rounded(text, value) : 0;
    dti_json_number(json, key, length > 0 ? text : NULL, length);
}

static const char *family_name(const struct quant_target *target)
{
    switch (dti_quant_family(target)) {
    case QUANT_INTEGER:
        return "integer";
    case QUANT_FLOAT:
        return "float";
    case QUANT_MX:
        return "mx";
    case QUANT_NV:
        return "nv";
    case QUANT_NF:
        return "nf";
    default:
        return target->scheme.block->family == DTI_BLOCKS_Q8 ? "q8" : "q4";
    }
}

void dti_quant_json_recipe(struct dti_json *json, const struct quant_target *target)
{
    static const char *const symmetries[] = {"none", "full", "half"};
    static const char *const zeros[] = {"onnx", "torch"};
    const struct dti_quant_scheme *const scheme = &target->scheme;
    const struct dti_affine *const affine = &scheme->affine.affine;
    const unsigned family = dti_quant_family(target);
    const bool integer = family == QUANT_INTEGER;
    const enum dti_quant_division division =
        scheme->block ? scheme->blocks.division : affine->division;
    dti_json_object(json, "recipe");
    dti_json_string(json, "family", family_name(target));
    put_choice(json, "per", true, dti_choice_per, (int)scheme->per);
    if (scheme->per == DTI_PER_GROUP)
        dti_json_uint(json, "block", scheme->group);
    else
        dti_json_null(json, "block");
    dti_json_string(json, "symmetry", integer ? symmetries[scheme->affine.symmetry] : NULL);
    dti_json_string(json, "zero_point_rule", integer ? zeros[scheme->affine.zero] : NULL);
    put_choice(json, "division", !(family & (QUANT_MX | QUANT_GGML)), dti_choice_division,
               (int)division);
    dti_json_string(json, "specials",
                    !integer                              ? NULL
                    : affine->specials == DTI_QUANT_CLAMP ? "clamp"
                                                          : "torch");
    put_choice(json, "mx_scale", family == QUANT_MX, dti_choice_mx_scale, (int)scheme->blocks.mx);
    if (integer) {
        dti_json_int(json, "low", affine->low);
        dti_json_int(json, "high", affine->high);
    } else {
        dti_json_null(json, "low");
        dti_json_null(json, "high");
    }
    dti_json_end(json);
}

static enum dti_status put_error(struct dti_json *json, uint32_t x, uint32_t back,
                                 struct dti_error *reterr)
{
    struct dti_difference difference;
    struct dti_buffer exact;
    bool failed;
    dti_buffer_init(&exact);
    if (dti_quant_error(x, back, &difference, &exact, &failed)) {
        dti_json_object(json, "error");
        put_rounded(json, "absolute", true, &difference.absolute);
        dti_json_text(json, "absolute_exact", exact.data, exact.length);
        put_rounded(json, "relative", true, &difference.relative);
        dti_json_end(json);
    } else {
        dti_json_null(json, "error");
    }
    dti_buffer_free(&exact);
    return failed ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory") : DTI_OK;
}

static enum dti_status put_element(struct dti_json *json, const struct quant_result *result,
                                   const struct quant_group *group, size_t at,
                                   struct dti_error *reterr)
{
    const struct quant_target *const target = result->target;
    const struct quant_number *const number = &result->numbers->list[at];
    const struct quant_element *const element = &result->elements[at];
    const bool is_signed = target->code.kind == DTI_KIND_INT;
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_json_object(json, NULL);
    dti_json_uint(json, "index", at);
    dti_json_text(json, "input", result->numbers->texts.data + number->text, number->length);
    dti_json_bool(json, "rounded", number->rounded);
    enum dti_status status = put_fp32(json, "x", true, number->x, reterr);
    put_rounded(json, "scaled", dti_quant_scaled(result, group, number->x, &value), &value);
    const uint32_t sign = (uint32_t)dti_format_sign_bit(&target->code);
    if (is_signed)
        dti_json_int(json, "code", (int64_t)(element->code ^ sign) - (int64_t)sign);
    else
        dti_json_uint(json, "code", element->code);
    dti_json_text(json, "bits", text, dti_spell_code(text, element->code, target->code.width));
    dti_quant_code_number(target, element->code, &value);
    dti_json_object(json, "element");
    dti_json_number_text(json, NULL, 0, &value);
    dti_json_end(json);
    if (status == DTI_OK)
        status = put_fp32(json, "back", true, element->back, reterr);
    if (status == DTI_OK)
        status = put_error(json, number->x, element->back, reterr);
    dti_json_bool(json, "clipped", element->clipped);
    dti_json_bool(json, "special", element->special);
    dti_json_end(json);
    return status;
}

static enum dti_status put_packed(struct dti_json *json, const char *key,
                                  const struct quant_result *result,
                                  const struct quant_group *group, bool ggml,
                                  struct dti_error *reterr)
{
    struct dti_buffer hex;
    dti_buffer_init(&hex);
    const bool done = dti_quant_packed(result, group, ggml, &hex);
    dti_json_text(json, key, hex.data, hex.length);
    dti_buffer_free(&hex);
    return done ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* The scale, and what it was made of. */
static enum dti_status put_scale(struct dti_json *json, const struct quant_result *result,
                                 const struct quant_group *group, struct dti_error *reterr)
{
    const struct quant_target *const target = result->target;
    const struct dti_block_format *const block = target->scheme.block;
    const struct dti_affine *const affine = &target->scheme.affine.affine;
    const bool integer = dti_quant_family(target) == QUANT_INTEGER;
    const uint32_t mask = (uint32_t)dti_low_bits(target->code.width);
    uint64_t low = (uint32_t)affine->low & mask, high = (uint32_t)affine->high & mask;
    if (!block && !integer) {
        (void)dti_code_lowest(&target->code, &low);
        (void)dti_code_max(&target->code, &high);
    }
    dti_json_string(json, "scale_dtype", dti_format_get(block ? block->scale : DTI_FP32)->name);
    enum dti_status status = put_fp32(json, "min", group->has_range, group->min, reterr);
    if (status == DTI_OK)
        status = put_fp32(json, "max", group->has_range, group->max, reterr);
    if (status == DTI_OK)
        status = put_fp32(json, "amax", block, group->amax, reterr);
    if (status == DTI_OK)
        status = dti_json_code(json, "scale", dti_format_get(block ? block->scale : DTI_FP32), true,
                               block ? group->scale : group->affine.scale, reterr);
    if (status == DTI_OK)
        status = put_fp32(json, "multiplier", true, dti_quant_multiplier(result, group), reterr);
    if (integer)
        dti_json_int(json, "zero_point", group->affine.zero_point);
    else
        dti_json_null(json, "zero_point");
    if (status == DTI_OK)
        status = put_fp32(json, "lowest", !block,
                          block ? 0 : dti_affine_dequantize(affine, &group->affine, (uint32_t)low),
                          reterr);
    if (status == DTI_OK)
        status = put_fp32(json, "highest", !block,
                          block ? 0 : dti_affine_dequantize(affine, &group->affine, (uint32_t)high),
                          reterr);
    return status;
}

static enum dti_status put_group(struct dti_json *json, const struct dti_context *cx,
                                 const struct quant_result *result, const struct quant_group *group,
                                 struct dti_error *reterr)
{
    dti_json_object(json, NULL);
    dti_json_uint(json, "first", group->first);
    dti_json_uint(json, "values", group->count);
    dti_json_uint(json, "clipped", group->clipped);
    dti_json_uint(json, "special", group->special);
    enum dti_status status = put_scale(json, result, group, reterr);
    if (status == DTI_OK)
        status = put_packed(json, "packed", result, group, false, reterr);
    if (status == DTI_OK && dti_quant_has_ggml(result->target))
        status = put_packed(json, "ggml", result, group, true, reterr);
    else
        dti_json_null(json, "ggml");
    dti_json_array(json, "elements");
    if (cx->output == DTI_OUTPUT_JSON)
        dti_json_stream(json, cx->out);
    for (size_t at = group->first; at < group->first + group->count && status == DTI_OK; at++)
        status = put_element(json, result, group, at, reterr);
    dti_json_end(json);
    dti_json_end(json);
    return status;
}

static enum dti_status put_result(struct dti_json *json, const struct dti_context *cx,
                                  const struct quant_result *result, struct dti_error *reterr)
{
    const struct quant_target *const target = result->target;
    const struct dti_block_format *const block = target->scheme.block;
    const bool nv = block && block->family == DTI_BLOCKS_NV;
    static const char *const origins[] = {"auto", "none", "given"};
    dti_json_object(json, NULL);
    dti_json_string(json, "dtype", target->name);
    dti_json_string(json, "code_dtype", target->code.name);
    dti_quant_json_recipe(json, target);
    dti_json_string(json, "tensor_scale_from", nv ? origins[target->tensor_scale] : NULL);
    enum dti_status status =
        put_fp32(json, "tensor_scale", nv, nv ? result->recipe.tensor_scale : 0, reterr);
    dti_json_uint(json, "values", result->numbers->count);
    dti_json_uint(json, "rounded", result->numbers->rounded);
    dti_json_uint(json, "clipped", result->clipped);
    dti_json_uint(json, "special", result->special);
    dti_json_uint(json, "code_bytes", result->code_bytes);
    dti_json_uint(json, "scale_bytes", result->scale_bytes);
    if (status == DTI_OK)
        status = dti_loss_json(json, "loss", &result->loss, reterr);
    dti_json_array(json, "groups");
    for (size_t at = 0; at < result->group_count && status == DTI_OK; at++)
        status = put_group(json, cx, result, &result->groups[at], reterr);
    dti_json_end(json);
    dti_json_end(json);
    return status;
}

void dti_quant_json_begin(struct dti_json *json, const struct quant_args *args)
{
    dti_json_begin(json, "dtinfo.quant/1");
    dti_json_object(json, "options");
    put_choice(json, "like", args->like_given, dti_choice_quant_like, args->like);
    put_choice(json, "nibble", true, dti_choice_nibble,
               args->nibble_given ? args->nibble : (int)DTI_BLOCK_LOW);
    dti_json_end(json);
    dti_json_array(json, "results");
}

enum dti_status dti_quant_json_end(struct dti_json *json, const struct dti_context *cx,
                                   const struct quant_target *targets, size_t count,
                                   struct dti_error *reterr)
{
    dti_json_end(json);
    dti_json_array(json, "warnings");
    for (size_t i = 0; i < count; i++) {
        if (targets[i].note)
            dti_json_warning(json, "dtype_name", targets[i].name, 0, targets[i].note);
    }
    dti_json_end(json);
    return dti_json_write(json, cx->out, reterr);
}

enum dti_status dti_quant_json_result(struct dti_json *json, const struct quant_args *args,
                                      const struct dti_context *cx,
                                      const struct quant_result *result, struct dti_error *reterr)
{
    const bool lines = cx->output == DTI_OUTPUT_JSONL;
    if (lines)
        dti_quant_json_begin(json, args);
    const enum dti_status status = put_result(json, cx, result, reterr);
    if (status != DTI_OK || !lines)
        return status;
    return dti_quant_json_end(json, cx, result->target, 1, reterr);
}
