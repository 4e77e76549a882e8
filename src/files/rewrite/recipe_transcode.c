/* SPDX-License-Identifier: MIT
 *
 * The recipe that copies the tensors of a view in another layout: see file_transcode.h. */
#include <stdio.h>

#include "files/dequant/dequant_parts.h"
#include "files/rewrite/rewrite_parts.h"

static bool is_part(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_file_transcode *const transcode = rewrite->request.transcode;
    const size_t origin = dti_file_transcode_origin(transcode, dti_rewrite_place(rewrite, tensor));
    return dti_file_transcode_verdict(transcode, origin)->changed;
}

static bool reconciles(const struct dti_rewrite *rewrite)
{
    return dti_file_transcode_request(rewrite->request.transcode)->reconcile;
}

/* Codes and scales need names and dtypes, and are written next to each other. */
static enum dti_status begin(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    rewrite->counts = false; /* the loss is already known */
    const enum dti_container_kind kind = rewrite->request.kind;
    const enum dti_transcode_layout layout =
        dti_file_transcode_request(rewrite->request.transcode)->layout;
    const bool gguf = layout == DTI_TRANSCODE_GGUF;
    if (gguf ? dti_is_gguf(kind) : dti_holds_texts(kind))
        return DTI_OK;
    if (gguf)
        return dti_fail(reterr, DTI_USAGE, "blocks of %s have no place in %s files; write gguf",
                        dti_transcode_layout_name(layout), dti_container_name(kind));
    if (dti_container_has(kind, DTI_TRAIT_SEVERAL))
        return dti_fail(reterr, DTI_USAGE,
                        "programs that read layouts do not read %s files; write safetensors",
                        dti_container_name(kind));
    return dti_fail(reterr, DTI_USAGE,
                    "layouts need names of tensors, which %s files do not have; write safetensors",
                    dti_container_name(kind));
}

/* Quantized tensors were chosen when the view was created, unless they keep their layout. */
static bool selects(const struct dti_rewrite *rewrite, size_t tensor)
{
    return reconciles(rewrite) ? dti_file_transcode_names_whole(rewrite->request.transcode,
                                                                rewrite->request.select, tensor)
                               : is_part(rewrite, tensor);
}

static bool keeps(const struct dti_rewrite *rewrite, size_t tensor, enum dti_fate *ret_fate)
{
    const size_t origin =
        dti_file_transcode_origin(rewrite->request.transcode, dti_rewrite_place(rewrite, tensor));
    const bool part = is_part(rewrite, tensor);
    const enum dti_dequant_state state =
        reconciles(rewrite) ? DTI_DEQUANT_PLAIN
                            : dti_dequant_state_of(rewrite->request.dequant, origin);
    *ret_fate = part ? DTI_FATE_CHANGED : state == DTI_DEQUANT_ONLY ? DTI_FATE_ONLY : DTI_FATE_KEEP;
    return part || state == DTI_DEQUANT_ONLY || state == DTI_DEQUANT_KEPT;
}

static enum dti_fate choose(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t tensor)
{
    const struct dti_format *const format = dti_container_alike(rewrite->container, tensor)->format;
    (void)names;
    const enum dti_dtype cast =
        dti_file_transcode_cast(rewrite->request.transcode, dti_rewrite_place(rewrite, tensor));
    if (cast != DTI_NONE && format->id != cast)
        return DTI_FATE_CHANGED;
    return dti_rewrite_is_fp32(rewrite, tensor) && format->id != DTI_FP32 ? DTI_FATE_CHANGED
                                                                          : DTI_FATE_SAME;
}

static bool fits(const struct dti_rewrite *rewrite, const char *pattern, size_t length)
{
    return dti_file_transcode_fits(rewrite->request.transcode, pattern, length);
}

static void tell(const struct dti_rewrite *rewrite, const char *code, const char *text)
{
    const struct dti_note note = {.code = code, .text = text};
    rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* Scales of layer inputs are described in the configuration; others, such as those of a key-value
 * cache, are not. */
static bool is_undescribed(const struct dti_rewrite *rewrite, size_t origin)
{
    const struct dti_tensor *const tensor =
        &dti_file_dequant_container(rewrite->request.dequant)->tensors[origin];
    const char *const name = tensor->name;
    return dti_dequant_state_of(rewrite->request.dequant, origin) == DTI_DEQUANT_KEPT &&
           !dti_tensor_fits(rewrite->request.keep, tensor) &&
           (dti_quant_name_ends(name, tensor->name_length, ".k_scale") ||
            dti_quant_name_ends(name, tensor->name_length, ".v_scale") ||
            dti_quant_name_ends(name, tensor->name_length, ".q_scale") ||
            dti_quant_name_ends(name, tensor->name_length, ".kv_scale"));
}

static void warn_of_caches(const struct dti_rewrite *rewrite)
{
    const struct dti_container *const numbers =
        dti_file_dequant_container(rewrite->request.dequant);
    char name[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 128];
    size_t count = 0, first = 0;
    for (size_t i = 0; i < numbers->tensor_count; i++) {
        if (is_undescribed(rewrite, i) && count++ == 0)
            first = i;
    }
    (void)snprintf(text, sizeof text,
                   "%zu scale%s of attention %s copied, and config.json does not describe %s: the "
                   "first is %s",
                   count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
                   count == 1 ? "it" : "them",
                   count > 0 ? dti_quote(name, numbers->tensors[first].name,
                                         numbers->tensors[first].name_length)
                             : "");
    if (count > 0)
        tell(rewrite, "scales_of_attention", text);
}

/* Number of parts of this name, and the first one. */
static size_t count_parts(const struct dti_rewrite *rewrite, const char *ending, size_t *ret_first)
{
    const struct dti_container *const view =
        dti_file_transcode_container(rewrite->request.transcode);
    size_t count = 0;
    for (size_t i = 0; i < view->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_container_tensor(view, i);
        if (tensor->rank == 0 && is_part(rewrite, i) &&
            dti_quant_name_ends(tensor->name, tensor->name_length, ending) && count++ == 0)
            *ret_first = i;
    }
    return count;
}

/* What MLX's loaders cannot read, and what they have no use for. */
static void warn_of_mlx(const struct dti_rewrite *rewrite)
{
    struct dti_file_transcode *const transcode = rewrite->request.transcode;
    const size_t dropped = dti_file_transcode_inputs_left_out(transcode);
    char name[DTI_QUOTE_SIZE], text[DTI_QUOTE_SIZE + 160];
    size_t first = 0;
    if (dti_file_transcode_request(transcode)->layout != DTI_TRANSCODE_MLX)
        return;
    const size_t count = count_parts(rewrite, ".global_scale", &first);
    if (count > 0) {
        const struct dti_tensor *const tensor =
            dti_container_tensor(dti_file_transcode_container(transcode), first);
        (void)snprintf(text, sizeof text,
                       "%zu matri%s a global_scale, which MLX reads and mlx-lm 0.32 does not, "
                       "except for stacks of experts: the first is %s",
                       count, count == 1 ? "x has" : "ces have",
                       dti_quote(name, tensor->name, tensor->name_length));
        tell(rewrite, "global_scale", text);
    }
    if (dropped > 0) {
        (void)snprintf(text, sizeof text, "%zu scale%s of activations %s left out: mlx has none",
                       dropped, dropped == 1 ? "" : "s", dropped == 1 ? "is" : "are");
        tell(rewrite, "scales_of_activations", text);
    }
}

static enum dti_status warn(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    (void)reterr;
    if (reconciles(rewrite))
        return DTI_OK;
    warn_of_caches(rewrite);
    warn_of_mlx(rewrite);
    return DTI_OK;
}

/* Its bytes are copied to the new file unchanged. */
static enum dti_status plan(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr)
{
    struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const enum dti_dtype cast = dti_file_transcode_cast(rewrite->request.transcode,
                                                        dti_rewrite_place(rewrite, tensor->source));
    if (cast != DTI_NONE)
        return dti_rewrite_plan_elements(rewrite, at, dti_format_get(cast), reterr);
    if (!is_part(rewrite, tensor->source)) /* by a convention of GGUF */
        return dti_rewrite_plan_elements(rewrite, at, dti_format_get(DTI_FP32), reterr);
    rewrite->files.encodes =
        rewrite->files.encodes || dti_tensor_gguf(dti_rewrite_alike(rewrite, at));
    struct dti_rewrite_way way = {.format = dti_rewrite_alike(rewrite, at)->format};
    tensor->parts = 1u << DTI_PART_CODES;
    if (dti_container_stores(rewrite->request.kind, way.format, &way.layout))
        return dti_rewrite_go(rewrite, at, &way, reterr);
    return dti_fail(reterr, DTI_WRONG_KIND, "%s files have no name for %s",
                    dti_container_name(rewrite->request.kind), way.format->name);
}

static enum dti_status data(const struct dti_rewrite *rewrite, size_t tensor,
                            struct dti_batch_source *ret_source, const struct dti_input **ret_input,
                            uint64_t *ret_offset, struct dti_error *reterr)
{
    return dti_file_transcode_data(rewrite->request.transcode, tensor, ret_source, ret_input,
                                   ret_offset, reterr);
}

const struct dti_recipe_ops dti_recipe_transcode = {
    .elementwise = true,
    .unnamed = DTI_REMEDY_LEAVE_OUT,
    .begin = begin,
    .selects = selects,
    .keeps = keeps,
    .choose = choose,
    .fits = fits,
    .warn = warn,
    .plan = plan,
    .data = data,
};
