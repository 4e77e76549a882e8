/* SPDX-License-Identifier: MIT
 *
 * Plans a quantization: the spec becomes a recipe as the command line has it, and is applied to the
 * format; then the array is cut along its axis. */
#include <stdio.h>
#include <string.h>

#include "library/quantizers.h"
#include "util/checked.h"
#include "util/text/nearest.h"

/* The options of a spec, in a recipe that points into the spec. axis: memory for its text. */
enum { AXIS_TEXT = 16 };
static enum dti_status read_spec(const struct dti_quantize_spec *spec, struct dti_recipe *ret,
                                 char axis[AXIS_TEXT], struct dti_error *reterr)
{
    const struct {
        const char *name, *word;
    } words[] = {{"per", spec->per},           {"symmetry", spec->symmetry},
                 {"division", spec->division}, {"like", spec->like},
                 {"mx-scale", spec->mx_scale}, {"nv-scale", spec->nv_scale},
                 {"packing", spec->packing}};
    *ret = (struct dti_recipe){.by = DTI_VERB_QUANT,
                               .dtype = spec->format,
                               .min = spec->min,
                               .max = spec->max,
                               .scale = spec->scale,
                               .zero_point = spec->zero_point,
                               .tensor_scale = spec->tensor_scale,
                               .block_given = spec->block > 0,
                               .pad = spec->pad,
                               .nested = spec->nested};
    ret->rules.block = spec->block;
    ret->rules.symmetric = spec->symmetric;
    ret->rules.affine = spec->affine;
    if (spec->axis_given) {
        (void)snprintf(axis, AXIS_TEXT, "%d", spec->axis);
        ret->axis = axis;
    }
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words && status == DTI_OK; i++)
        if (words[i].word)
            status = dti_recipe_set_word(ret, words[i].name, words[i].word, reterr);
    if (status == DTI_OK && spec->block > DTI_QUANT_GROUP_MAX)
        status = dti_fail(reterr, DTI_USAGE, "block takes an integer from 1 to %d; got %llu",
                          (int)DTI_QUANT_GROUP_MAX, (unsigned long long)spec->block);
    return status;
}

/* What only arrays can refuse. */
static enum dti_status check_spec(const struct dti_quantize_spec *spec, struct dti_error *reterr)
{
    if (!spec->format)
        return dti_fail(reterr, DTI_USAGE, "a quantization needs a format");
    if (spec->rank > DTI_RANK_MAX)
        return dti_fail(reterr, DTI_USAGE, "an array has at most %d dimensions; got %llu",
                        (int)DTI_RANK_MAX, (unsigned long long)spec->rank);
    if (spec->rank > 0 && !spec->shape)
        return dti_fail(reterr, DTI_USAGE, "an array needs a shape");
    return DTI_OK;
}

/* Where an axis cuts an array. */
struct array_cut {
    uint64_t elements, outer, length, inner;
    size_t axis;
    bool whole; /* the axis is the whole array, as if it were flat */
};

static enum dti_status too_large(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE, "the array is too large: its size does not fit 64 bits");
}

static enum dti_status count_elements(const struct dti_quantize_spec *spec, uint64_t *ret,
                                      struct dti_error *reterr)
{
    bool fits = true;
    uint64_t elements = 1;
    for (size_t i = 0; i < spec->rank; i++)
        if (spec->shape[i] == 0)
            elements = 0;
    for (size_t i = 0; i < spec->rank && elements > 0; i++)
        fits = fits && dti_mul_u64(elements, spec->shape[i], &elements);
    *ret = elements;
    return fits ? DTI_OK : too_large(reterr);
}

static enum dti_status find_axis(const struct dti_quantize_spec *spec,
                                 const struct dti_quant_target *target, struct array_cut *ret,
                                 struct dti_error *reterr)
{
    const bool channels = !target->scheme.block && target->scheme.per == DTI_PER_CHANNEL;
    const int64_t rank = (int64_t)spec->rank;
    int64_t axis = channels ? 0 : rank - 1;
    if (target->has_axis)
        axis = target->axis < 0 ? target->axis + rank : target->axis;
    if (axis < 0 || axis >= rank)
        return dti_fail(reterr, DTI_USAGE, "the array has %lld dimensions and no axis %lld",
                        (long long)rank, (long long)(target->has_axis ? target->axis : axis));
    ret->axis = (size_t)axis;
    return DTI_OK;
}

static enum dti_status cut_array(const struct dti_quantize_spec *spec,
                                 const struct dti_quant_target *target, struct array_cut *ret,
                                 struct dti_error *reterr)
{
    enum dti_status status = count_elements(spec, &ret->elements, reterr);
    ret->whole =
        target->scheme.nested || (!target->scheme.block && target->scheme.per == DTI_PER_TENSOR);
    ret->outer = ret->inner = 1;
    ret->length = ret->elements;
    if (status == DTI_OK && !ret->whole)
        status = find_axis(spec, target, ret, reterr);
    if (status != DTI_OK || ret->whole)
        return status;
    ret->length = spec->shape[ret->axis];
    for (size_t i = 0; i < spec->rank && ret->elements > 0; i++) {
        if (i < ret->axis)
            ret->outer *= spec->shape[i]; /* divides the number of elements */
        else if (i > ret->axis)
            ret->inner *= spec->shape[i];
    }
    if (ret->elements == 0) /* the other products may be anything */
        ret->outer = ret->inner = 0;
    return DTI_OK;
}

/* The shapes of codes and scales. */
static void find_shapes(const struct dti_quantize_spec *spec, const struct array_cut *cut,
                        const struct dti_quant_target *target,
                        const struct dti_quant_sizes *planned, struct dti_quantized_sizes *ret)
{
    const struct dti_quant_scheme *const scheme = &target->scheme;
    const bool grouped = scheme->per == DTI_PER_GROUP;
    const uint64_t group = scheme->block ? scheme->block->length : scheme->group;
    if (scheme->nested) {
        ret->code_rank = ret->scale_rank = 1;
        ret->code_shape[0] = planned->codes;
        ret->scale_shape[0] = planned->scales;
        return;
    }
    ret->code_rank = spec->rank;
    for (size_t i = 0; i < spec->rank; i++)
        ret->code_shape[i] = spec->shape[i];
    if (cut->whole)
        return;
    if (!grouped) {
        ret->scale_rank = 1;
        ret->scale_shape[0] = cut->length;
        return;
    }
    ret->scale_rank = spec->rank;
    memcpy(ret->scale_shape, ret->code_shape, sizeof ret->scale_shape);
    ret->scale_shape[cut->axis] = planned->groups;
    if (spec->pad)
        ret->code_shape[cut->axis] = planned->groups * group; /* no overflow: it was planned */
}

static enum dti_status find_sizes(struct dti_quantizer *quantizer,
                                  const struct dti_quantize_spec *spec, const struct array_cut *cut,
                                  struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &quantizer->target.scheme;
    struct dti_quantized_sizes *const sizes = &quantizer->sizes;
    const struct dti_format *scale =
        dti_format_get(scheme->block ? scheme->block->scale : DTI_FP32);
    struct dti_quant_sizes planned;
    dti_quant_plan_sizes(quantizer->plan, &planned);
    find_shapes(spec, cut, &quantizer->target, &planned, sizes);
    quantizer->scales = planned.scales;
    quantizer->scale_bytes = scale->width / 8u;
    quantizer->code_bytes = (size_t)dti_format_container(&quantizer->target.code);
    sizes->elements = planned.elements;
    sizes->codes = (size_t)planned.code_bytes;
    sizes->scales = (size_t)planned.scale_bytes;
    if (dti_quant_has_zero_points(scheme))
        sizes->zero_points = (size_t)planned.scales * sizeof(int32_t);
    if (scheme->nested) {
        sizes->scales = (size_t)planned.scales;
        sizes->nested_scales =
            (sizes->scales + DTI_NESTED_BLOCK - 1) / DTI_NESTED_BLOCK * sizeof(float);
        sizes->nested_map = DTI_NESTED_CODES * sizeof(float);
        scale = dti_format_get(DTI_UINT8);
    }
    sizes->scale_format = scale;
    sizes->has_tensor_scale = scheme->nested || (scheme->block && quantizer->target.tensor_scale !=
                                                                      DTI_TENSOR_SCALE_NONE);
    return dti_context_format(quantizer->context, &quantizer->target.code, &sizes->code_format,
                              reterr);
}

/* Suggests types of GGUF if they are nearer than what the error suggests. */
static enum dti_status suggest_types(const char *name, struct dti_error *reterr)
{
    struct dti_nearest nearest;
    const size_t length = strlen(name);
    const char *const suggested = reterr->suggestions[0];
    dti_nearest_init(&nearest, name, length);
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++)
        dti_nearest_offer(&nearest, dti_gguf_type_of((enum dti_gguf_blocks)i)->word);
    if (nearest.count == 0 ||
        (suggested[0] != '\0' && dti_edit_distance(name, length, suggested, strlen(suggested),
                                                   SIZE_MAX) <= nearest.distances[0]))
        return reterr->status;
    if (suggested[0] != '\0')
        (void)dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, name, length, "unknown dtype %s",
                            DTI_QUOTED(name, length));
    dti_nearest_suggest(&nearest, reterr);
    return reterr->status;
}

static enum dti_status plan_parts(struct dti_quantizer *quantizer,
                                  const struct dti_quantize_spec *spec,
                                  const struct dti_recipe *recipe, struct dti_error *reterr)
{
    struct dti_quant_target *const target = &quantizer->target;
    struct array_cut cut = {.elements = 0};
    enum dti_status status = dti_quant_target_find(target, spec->format, reterr);
    if (status == DTI_UNKNOWN_DTYPE)
        return suggest_types(spec->format, reterr);
    if (status == DTI_OK)
        status = dti_recipe_fit(recipe, target, 1, "", reterr);
    if (status == DTI_OK)
        status = dti_recipe_fit_array(recipe, "an array", "", reterr);
    if (status == DTI_OK && recipe->nested && (recipe->axis || recipe->pad))
        status = dti_fail(reterr, DTI_USAGE, "nested-absmax flattens the array; leave out %s",
                          recipe->axis ? "axis" : "pad");
    if (status == DTI_OK)
        status = dti_recipe_settle(target, recipe, reterr);
    if (status == DTI_OK) {
        target->scheme.nested = recipe->nested;
        status = cut_array(spec, target, &cut, reterr);
    }
    if (status != DTI_OK)
        return status;
    const struct dti_quant_request request = {
        .scheme = target->scheme,
        .number = quantizer->number,
        .layout = {.packing = DTI_PACKING_BYTES},
        .order = target->code.width < 8 ? target->order : DTI_BLOCK_BYTES,
        .outer = cut.outer,
        .length = cut.length,
        .inner = cut.inner,
        .pad = recipe->pad,
    };
    status = dti_quant_plan_new(&quantizer->plan, &request, quantizer->context->level, reterr);
    return status == DTI_OK ? find_sizes(quantizer, spec, &cut, reterr) : status;
}

static enum dti_status plan_gguf(struct dti_quantizer *quantizer,
                                 const struct dti_quantize_spec *spec,
                                 const struct dti_recipe *recipe, struct dti_error *reterr)
{
    struct dti_quantized_sizes *const sizes = &quantizer->sizes;
    const struct dti_gguf_type *const type = quantizer->type;
    const uint64_t row = spec->rank > 0 ? spec->shape[spec->rank - 1] : 1;
    uint64_t bytes;
    enum dti_status status = dti_recipe_fit_gguf(recipe, true, "", reterr);
    if (status == DTI_OK)
        status = count_elements(spec, &sizes->elements, reterr);
    if (status != DTI_OK)
        return status;
    if (row % type->elements != 0)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_OTHER_TYPE,
                               "the array has rows of %llu elements, and %s needs whole blocks of "
                               "%u",
                               (unsigned long long)row, type->word, type->elements);
    if (!dti_mul_u64(sizes->elements / type->elements, type->bytes, &bytes) ||
        !dti_mul_u64(sizes->elements, sizeof(double), &(uint64_t){0}))
        return too_large(reterr);
    sizes->codes = (size_t)bytes;
    sizes->code_rank = spec->rank;
    memcpy(sizes->code_shape, spec->shape, spec->rank * sizeof *spec->shape);
    sizes->code_shape[spec->rank - 1] = row / type->elements * type->bytes;
    sizes->has_tensor_scale = type->blocks == DTI_GGUF_NVFP4;
    return dti_quantized_gguf_plan(quantizer, reterr);
}

enum dti_status dti_quantizer_plan(struct dti_quantizer *quantizer,
                                   const struct dti_quantize_spec *spec, struct dti_error *reterr)
{
    char axis[AXIS_TEXT];
    struct dti_recipe recipe;
    enum dti_status status = check_spec(spec, reterr);
    if (status == DTI_OK)
        status = read_spec(spec, &recipe, axis, reterr);
    if (status == DTI_OK)
        status = dti_recipe_check(&recipe, "", reterr);
    if (status != DTI_OK)
        return status;
    quantizer->number = spec->number ? *spec->number : *dti_format_get(DTI_FP32);
    if (spec->gguf || !dti_block_lookup(spec->format))
        quantizer->type = dti_gguf_type_named(spec->format);
    if (quantizer->type)
        return plan_gguf(quantizer, spec, &recipe, reterr);
    if (!spec->gguf)
        return plan_parts(quantizer, spec, &recipe, reterr);
    (void)dti_fail_word(reterr, DTI_UNKNOWN_DTYPE, spec->format, strlen(spec->format),
                        "%s is no type of gguf files",
                        DTI_QUOTED(spec->format, strlen(spec->format)));
    return suggest_types(spec->format, reterr);
}
