/* SPDX-License-Identifier: MIT
 *
 * The recipe that quantizes tensors to codes and scales: chooses the tensors and the axis of the
 * scales. quantize_plan.c makes the plans, quantize_run.c does the work. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/config/tied_output.h"
#include "files/dequant/dequant_layouts.h"
#include "files/rewrite/rewrite_parts.h"
#include "files/stored/quant_marks.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

static enum dti_status find_row(const struct dti_rewrite *rewrite, struct dti_quantize_form *form,
                                struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const recipe = form->recipe;
    const char *const layout = dti_quant_layout_name(recipe->layout);
    form->row = dti_quant_row_find(recipe->layout, recipe->dtype);
    const bool named = dti_container_has(rewrite->request.kind, DTI_TRAIT_SEVERAL);
    const bool texts = dti_holds_texts(rewrite->request.kind);
    if (form->row && dti_quant_layout_has_stems(recipe->layout) && !(named && texts))
        return dti_fail(reterr, DTI_USAGE,
                        "the layout %s needs names of tensors and metadata, which %s files do not "
                        "have; write safetensors",
                        layout, dti_container_name(rewrite->request.kind));
    if (form->row && dti_quant_layout_has_state(recipe->layout) && !named)
        return dti_fail(reterr, DTI_USAGE,
                        "the layout %s needs names of tensors, which %s files do not have; write "
                        "safetensors",
                        layout, dti_container_name(rewrite->request.kind));
    if (form->row) {
        if (!form->zero_points || dti_quant_suffix(form->row, DTI_PART_ZERO_POINT))
            return DTI_OK;
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_LAYOUT_WITH_ZEROS,
                               "%s does not support zero points", layout);
    }
    if (dti_quant_layout_has_stems(recipe->layout))
        return dti_fail(reterr, DTI_USAGE,
                        "%s does not support %s; it has uint2, uint3, uint4, uint5, uint6, uint8, "
                        "mxfp4, mxfp8_e4m3 and nvfp4",
                        layout, recipe->dtype);
    if (dti_quant_row_find(DTI_LAYOUT_COMPRESSED_TENSORS, recipe->dtype))
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_LAYOUT_WITH_NAMES,
                               "%s does not support %s", layout, recipe->dtype);
    if (dti_quant_row_find(DTI_LAYOUT_MLX, recipe->dtype))
        return dti_fail(reterr, DTI_USAGE, "%s does not support %s; the layout mlx does", layout,
                        recipe->dtype);
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "no file layout supports %s with scales; use an fp8 dtype, an integer of 2, "
                    "4, 8 or 16 bits or a block format",
                    recipe->dtype);
}

static bool shares_scales(const struct dti_quantize_recipe *recipe)
{
    return recipe->fused && recipe->scheme.tensor_scale;
}

static enum dti_status find_fused(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    bool any = shares_scales(&request->quantize);
    for (size_t i = 0; i < request->quantize_rule_count; i++)
        any = any || shares_scales(&request->quantize_rules[i].recipe);
    if (!any)
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
    const struct dti_rewrite_request *const request = &rewrite->request;
    const size_t rules = request->quantize_rule_count;
    enum dti_status status = DTI_OK;
    rewrite->forms = dti_calloc(rules + 1, sizeof *rewrite->forms);
    if (!rewrite->forms)
        return dti_no_memory(reterr);
    for (size_t i = 0; i <= rules && status == DTI_OK; i++) {
        struct dti_quantize_form *const form = &rewrite->forms[i];
        form->recipe = i < rules ? &request->quantize_rules[i].recipe : &rewrite->request.quantize;
        form->zero_points = dti_quant_has_zero_points(&form->recipe->scheme);
        status = find_row(rewrite, form, reterr);
    }
    if (status == DTI_OK)
        status = dti_tied_output_stays(request->whole ? request->whole : rewrite->container,
                                       request->quantize.layout, request->keep,
                                       &rewrite->output_stays, reterr);
    return status == DTI_OK ? find_fused(rewrite, reterr) : status;
}

static void free_forms(struct dti_rewrite *rewrite)
{
    dti_free(rewrite->forms);
}

/* Whether it stays although the request, or its plan, would quantize it. */
static bool is_tied_output(const struct dti_rewrite *rewrite, const struct dti_tensor *tensor)
{
    const struct dti_named_types *const named = rewrite->request.quantize_named;
    return rewrite->output_stays && dti_is_output_layer(tensor) &&
           (!named || dti_named_type_of(named, tensor));
}

static enum dti_fate choose(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t at)
{
    const struct dti_tensor *const tensor = &rewrite->container->tensors[at];
    const struct dti_named_types *const named = rewrite->request.quantize_named;
    const enum dti_fate fate = dti_quantize_fate(names, tensor, at);
    if (fate == DTI_FATE_CHANGED && named && !dti_named_type_of(named, tensor))
        return DTI_FATE_KEEP;
    if (fate == DTI_FATE_CHANGED && is_tied_output(rewrite, tensor))
        return DTI_FATE_KEEP;
    const enum dti_quant_layout layout = rewrite->request.quantize.layout;
    if (fate == DTI_FATE_CHANGED &&
        (dti_quant_layout_marks(layout) || dti_quant_layout_has_stems(layout)) &&
        !dti_quant_can_mark(tensor->name, tensor->name_length, tensor->rank))
        return DTI_FATE_UNNAMED;
    return fate;
}

/* Warns of an output layer that the recipe, and no pattern, keeps. */
static void warn_output(const struct dti_rewrite *rewrite)
{
    char text[DTI_TIED_NOTE];
    size_t at = 0;
    while (at < rewrite->tensor_count &&
           !(rewrite->tensors[at].fate == DTI_FATE_KEEP &&
             is_tied_output(rewrite, dti_rewrite_source(rewrite, at)) &&
             !dti_tensor_fits(rewrite->request.keep, dti_rewrite_source(rewrite, at))))
        at++;
    if (at == rewrite->tensor_count)
        return;
    const struct dti_note note = dti_tied_output_note(dti_rewrite_source(rewrite, at), text);
    rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* Warns once; otherwise it would look as if nothing had happened. */
static enum dti_status warn(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_note note = {
        .code = "nothing_quantized",
        .text = "nothing is quantized: all tensors keep their dtypes",
    };
    (void)reterr;
    warn_output(rewrite);
    if (rewrite->tensor_count > 0 && rewrite->changed_count == 0)
        rewrite->request.warn(rewrite->request.warn_context, &note);
    return DTI_OK;
}

static enum dti_status find_axis(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr)
{
    const struct dti_quantize_recipe *const recipe = rewrite->tensors[at].way->by->recipe;
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
    rewrite->tensors[at].axis = (uint8_t)axis;
    return DTI_OK;
}

/* The suggested remedy for a tensor whose shape does not fit. */
static enum dti_remedy remedy_of(const struct dti_quant_stored *stored)
{
    const bool pads = dti_quant_suffix(stored->row, DTI_PART_SHAPE) ||
                      (dti_quant_mark(stored->row) && stored->row->block && stored->rank == 2);
    return pads && !stored->pad ? DTI_REMEDY_PAD_OR_KEEP : DTI_REMEDY_KEEP;
}

static const struct dti_quantize_form *form_of(const struct dti_rewrite *rewrite,
                                               const struct dti_tensor *tensor)
{
    const struct dti_rewrite_request *const request = &rewrite->request;
    const struct dti_named_types *const named = request->quantize_named;
    size_t i = 0;
    if (named)
        return &rewrite->forms[dti_named_type_of(named, tensor)->type];
    while (i < request->quantize_rule_count &&
           !dti_glob_match(request->quantize_rules[i].pattern, request->quantize_rules[i].length,
                           tensor->name, tensor->name_length))
        i++;
    return &rewrite->forms[i];
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
    const struct dti_rewrite_way way = {.by = form_of(rewrite, dti_rewrite_source(rewrite, at))};
    enum dti_status status = dti_rewrite_go(rewrite, at, &way, reterr);
    if (status == DTI_OK)
        status = find_axis(rewrite, at, reterr);
    if (status != DTI_OK)
        return status;
    dti_rewrite_stored(rewrite, at, &stored);
    status = dti_quant_parts(&stored, parts, &why);
    if (status != DTI_OK && rewrite->request.skips_unfit)
        return dti_rewrite_skip(rewrite, at, reterr);
    if (status != DTI_OK)
        return dti_fail_remedy(reterr, status, remedy_of(&stored), "%s %s",
                               dti_tensor_place(rewrite->container, tensor->source, place),
                               why.text);
    for (unsigned i = 0; i < DTI_PART_COUNT; i++)
        tensor->parts = (uint16_t)(tensor->parts | (unsigned)parts[i].there << i);
    return DTI_OK;
}

/* numpy files have no metadata. */
static enum dti_status check_groups(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const enum dti_container_kind kind = rewrite->request.kind;
    for (size_t i = 0; i < rewrite->tensor_count && dti_is_numpy(kind); i++) {
        struct dti_quant_stored stored;
        if (rewrite->tensors[i].fate != DTI_FATE_CHANGED)
            continue;
        dti_rewrite_stored(rewrite, i, &stored);
        if (dti_quant_hides_groups(&stored))
            return dti_fail(
                reterr, DTI_USAGE,
                "%s files cannot store the group length of %s with padded rows; write safetensors",
                dti_container_name(kind), dti_rewrite_dtype(rewrite, i));
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
        if (dti_quant_layout_is_read_elsewhere((enum dti_quant_layout)layout))
            continue;
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT && status == DTI_OK; part++) {
            const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
            if (suffix)
                status = check_sibling(rewrite, suffix, reterr);
        }
    }
    return status;
}

/* Warns once about matrices that the recipe rotates, but whose rows are not whole groups. */
static void warn_rotation(const struct dti_rewrite *rewrite)
{
    char text[DTI_TENSOR_PLACE + 160], place[DTI_TENSOR_PLACE];
    size_t count = 0, first = 0;
    for (size_t i = rewrite->tensor_count; i-- > 0;) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const bool plain = tensor->fate == DTI_FATE_CHANGED &&
                           tensor->way->by->recipe->rotation > 0 &&
                           dti_rewrite_rotation(rewrite, i) == 0;
        count += plain;
        first = plain ? i : first;
    }
    if (count == 0 || !rewrite->request.warn)
        return;
    (void)snprintf(text, sizeof text,
                   "%zu %s quantized without a rotation: no rows of whole groups; the first: %s",
                   count, count == 1 ? "matrix is" : "matrices are",
                   dti_tensor_place(rewrite->container, rewrite->tensors[first].source, place));
    rewrite->request.warn(rewrite->request.warn_context,
                          &(struct dti_note){.code = "not_rotated", .text = text});
}

static enum dti_status planned(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    warn_rotation(rewrite);
    return dti_quantize_plan(rewrite, reterr);
}

const struct dti_recipe_ops dti_recipe_quantize = {
    .names = true,
    .unnamed = DTI_REMEDY_LEAVE_OUT,
    .begin = begin,
    .choose = choose,
    .warn = warn,
    .plan = check_quantized,
    .planned = planned,
    .laid_out = check_groups,
    .opens = check_siblings,
    .free = free_forms,
};
