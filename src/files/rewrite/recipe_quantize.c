/* SPDX-License-Identifier: MIT
 *
 * The recipe that quantizes tensors to codes and scales: chooses the tensors and the axis of the
 * scales. quantize_plan.c makes the plans, quantize_run.c does the work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "files/rewrite/rewrite_parts.h"
#include "util/checked.h"
#include "util/run/allocate.h"

/* Symmetric signed codes have no zero point, nor do floats. */
static bool has_zero_points(const struct dti_quant_scheme *scheme)
{
    if (scheme->block)
        return false;
    const struct dti_affine_recipe *const recipe = &scheme->affine;
    const enum dti_kind kind = recipe->affine.code.kind;
    return kind == DTI_KIND_UINT || (kind == DTI_KIND_INT && recipe->symmetry == DTI_SYMMETRY_NONE);
}

static enum dti_status find_row(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const recipe = &rewrite->request.quantize;
    const char *const layout = dti_quant_layout_name(recipe->layout);
    rewrite->row = dti_quant_row_find(recipe->layout, recipe->dtype);
    const bool named = dti_container_has(rewrite->request.kind, DTI_TRAIT_SEVERAL);
    if (rewrite->row && dti_quant_is_flat(rewrite->row) && !named)
        return dti_fail(reterr, DTI_USAGE,
                        "the layout %s needs names of tensors, which %s files do not have; write "
                        "safetensors",
                        layout, dti_container_name(rewrite->request.kind));
    if (rewrite->row) {
        if (!rewrite->zero_points || dti_quant_suffix(rewrite->row, DTI_PART_ZERO_POINT))
            return DTI_OK;
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_LAYOUT_WITH_ZEROS,
                               "%s does not support zero points", layout);
    }
    if (dti_quant_row_find(DTI_LAYOUT_COMPRESSED_TENSORS, recipe->dtype))
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_LAYOUT_WITH_NAMES,
                               "%s does not support %s", layout, recipe->dtype);
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "no file layout supports %s with scales; use an fp8 dtype, an integer of 2, "
                    "4, 8 or 16 bits or a block format",
                    recipe->dtype);
}

static enum dti_status find_fused(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    if (!request->quantize.fused || !request->quantize.scheme.tensor_scale)
        return DTI_OK;
    rewrite->fused = request->fused;
    if (rewrite->fused)
        return DTI_OK;
    return dti_fused_ranges_new(&rewrite->fused,
                                request->whole ? request->whole : rewrite->container,
                                request->quantize.own, reterr);
}

static enum dti_status begin(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    rewrite->zero_points = has_zero_points(&rewrite->request.quantize.scheme);
    const enum dti_status status = find_row(rewrite, reterr);
    return status == DTI_OK ? find_fused(rewrite, reterr) : status;
}

static enum dti_fate choose(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t at)
{
    return dti_quantize_fate(names, &rewrite->container->tensors[at], at);
}

/* Warns once; otherwise it would look as if nothing had happened. */
static enum dti_status warn(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_note note = {
        .code = "nothing_quantized",
        .text = "nothing is quantized: all tensors keep their dtypes",
    };
    (void)reterr;
    if (rewrite->tensor_count > 0 && rewrite->changed_count == 0)
        rewrite->request.warn(rewrite->request.warn_context, &note);
    return DTI_OK;
}

static enum dti_status find_axis(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const recipe = &rewrite->request.quantize;
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const bool channels = !recipe->scheme.block && recipe->scheme.per == DTI_PER_CHANNEL;
    const int64_t rank = source->rank;
    char place[DTI_TENSOR_PLACE];
    int64_t axis = channels ? 0 : rank - 1;
    if (recipe->has_axis)
        axis = recipe->axis < 0 ? recipe->axis + rank : recipe->axis;
    if (axis < 0 || axis >= rank)
        return dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_KEEP_INSTEAD, "%s has %u dimensions and no axis %lld",
            dti_tensor_place(rewrite->container, rewrite->tensors[at].source, place), source->rank,
            (long long)recipe->axis);
    rewrite->tensors[at].axis = (unsigned)axis;
    return DTI_OK;
}

/* The suggested remedy for a tensor whose shape does not fit. */
static enum dti_remedy remedy_of(const struct dti_rewrite *rewrite)
{
    const bool pads = dti_quant_suffix(rewrite->row, DTI_PART_SHAPE) != NULL;
    return pads && !rewrite->request.quantize.pad ? DTI_REMEDY_PAD_OR_KEEP : DTI_REMEDY_KEEP;
}

/* Checks a tensor that will be quantized. */
static enum dti_status check_quantized(struct dti_rewrite *rewrite, size_t at,
                                       struct dti_error *reterr)
{
    struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    struct dti_quant_part_shape parts[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    struct dti_error why;
    char place[DTI_TENSOR_PLACE];
    enum dti_status status = find_axis(rewrite, at, reterr);
    if (status != DTI_OK)
        return status;
    dti_rewrite_stored(rewrite, at, &stored);
    status = dti_quant_parts(&stored, parts, &why);
    if (status != DTI_OK)
        return dti_fail_remedy(reterr, status, remedy_of(rewrite), "%s %s",
                               dti_tensor_place(rewrite->container, tensor->source, place),
                               why.text);
    for (unsigned i = 0; i < DTI_PART_COUNT; i++)
        tensor->parts |= (unsigned)parts[i].there << i;
    return DTI_OK;
}

/* numpy files have no metadata. */
static enum dti_status check_groups(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const enum dti_container_kind kind = rewrite->request.kind;
    for (size_t i = 0; i < rewrite->tensor_count && dti_is_numpy(kind); i++) {
        struct dti_quant_stored stored;
        dti_rewrite_stored(rewrite, i, &stored);
        if (rewrite->tensors[i].fate == DTI_FATE_CHANGED && dti_quant_hides_groups(&stored))
            return dti_fail(
                reterr, DTI_USAGE,
                "%s files cannot store the group length of %s with padded rows; write safetensors",
                dti_container_name(kind), rewrite->request.quantize.dtype);
    }
    return DTI_OK;
}

/* Refuses if a file exists where a part of OUT.npy would be and will not be replaced. */
static enum dti_status check_sibling(const struct dti_rewrite *rewrite, const char *suffix,
                                     struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    bool named;
    char *const name = dti_path_sibling(rewrite->files.path, rewrite->request.kind, suffix, &named);
    if (!name)
        return dti_no_memory(reterr);
    const int there = dti_input_there(name);
    bool replaced = !named || there == ENOENT;
    for (size_t i = 0; i < rewrite->files.count && !replaced; i++)
        replaced = strcmp(rewrite->files.list[i].path, name) == 0;
    enum dti_status status = DTI_OK;
    if (!replaced && there != 0)
        status = dti_input_fail(&(struct dti_input){.name = name}, there, reterr);
    else if (!replaced)
        status = dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_REMOVE_FILE,
                                 "%s exists and would be mistaken for a part of the output",
                                 dti_quote(label, name, strlen(name)));
    dti_free(name);
    return status;
}

/* Parts of an npy file are found by name only, so those of an older one must not remain. */
static enum dti_status check_siblings(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (!dti_is_array(rewrite->request.kind) || rewrite->changed_count == 0)
        return DTI_OK;
    for (size_t layout = 0; layout < DTI_LAYOUT_COUNT; layout++) {
        const struct dti_quant_row *const row =
            dti_quant_row_find((enum dti_quant_layout)layout, "int8");
        if (dti_quant_layout_is_flat((enum dti_quant_layout)layout))
            continue;
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT && status == DTI_OK; part++) {
            const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
            if (suffix)
                status = check_sibling(rewrite, suffix, reterr);
        }
    }
    return status;
}

const struct dti_recipe_ops dti_recipe_quantize = {
    .names = true,
    .unnamed = DTI_REMEDY_LEAVE_OUT,
    .begin = begin,
    .choose = choose,
    .warn = warn,
    .plan = check_quantized,
    .planned = dti_quantize_plan,
    .laid_out = check_groups,
    .opens = check_siblings,
};
