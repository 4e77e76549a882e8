/* SPDX-License-Identifier: MIT
 *
 * What follows from a rewrite that is done or planned: see rewritten.h. */
#include "answers/rewritten.h"

static const struct dti_dequant_form *form_of(const struct dti_rewrite *rewrite, size_t at)
{
    return dti_file_dequant_form(rewrite->request.dequant,
                                 dti_rewrite_place(rewrite, rewrite->tensors[at].source));
}

struct dti_rewrite_origin dti_rewrite_origin(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const enum dti_rewrite_kind recipe = rewrite->request.recipe;
    if (recipe == DTI_RECIPE_ENCODE || recipe == DTI_RECIPE_DEQUANTIZE) {
        const struct dti_dequant_form *const form = form_of(rewrite, at);
        if (form->dtype)
            return (struct dti_rewrite_origin){form->dtype, form->stored_bytes};
    }
    return (struct dti_rewrite_origin){source->format->name, source->bytes};
}

struct dti_dequantized dti_dequantized(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_dequant_form *const form = form_of(rewrite, at);
    struct dti_dequantized ret = {.form = form->dtype ? form : NULL};
    ret.changed = ret.form || tensor->fate == DTI_FATE_CHANGED;
    dti_file_dequant_specials(rewrite->request.dequant, dti_rewrite_place(rewrite, tensor->source),
                              &ret.nan, &ret.inf);
    return ret;
}

struct dti_translated dti_translated_of(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_file_transcode *const transcode = rewrite->request.transcode;
    struct dti_file_dequant *const dequant = rewrite->request.dequant;
    const size_t place = rewrite->tensors[at].source;
    const size_t origin = dti_file_transcode_origin(transcode, place);
    const struct dti_transcode_verdict *const verdict =
        dti_file_transcode_verdict(transcode, origin);
    return (struct dti_translated){
        .numbers = &dti_file_dequant_container(dequant)->tensors[origin],
        .form = dti_file_dequant_form(dequant, origin),
        .verdict = verdict,
        .first = verdict->first == place,
        .lossless = verdict->lossless == verdict->blocks,
    };
}

static void sum_dequantized(struct dti_dequant_totals *ret, const struct dti_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_dequantized one = dti_dequantized(rewrite, i);
        ret->dequantized += one.form != NULL;
        ret->cast += !one.form && one.changed;
        ret->kept += !one.changed;
        ret->nan += one.nan;
        ret->inf += one.inf;
    }
}

static void sum_translated(struct dti_transcode_totals *ret, const struct dti_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const struct dti_translated one = dti_translated_of(rewrite, i);
        const struct dti_transcode_verdict *const verdict = one.verdict;
        if (!one.first)
            continue;
        if (!verdict->changed) {
            ret->kept++;
            ret->stored_bytes += dti_rewrite_source(rewrite, i)->bytes;
            continue;
        }
        ret->stored_bytes += one.form->stored_bytes;
        ret->translated++;
        ret->lossless += one.lossless;
        ret->blocks += verdict->blocks;
        ret->lossless_blocks += verdict->lossless;
        ret->worst = verdict->worst > ret->worst ? verdict->worst : ret->worst;
    }
    ret->lossy = ret->lossless < ret->translated;
}

static const char *layout_of(const struct dti_rewrite_request *request)
{
    switch (request->recipe) {
    case DTI_RECIPE_QUANTIZE:
        return dti_quant_layout_name(request->quantize.layout);
    case DTI_RECIPE_ENCODE:
        return "gguf";
    case DTI_RECIPE_TRANSCODE:
        return dti_transcode_layout_name(dti_file_transcode_request(request->transcode)->layout);
    default:
        return NULL;
    }
}

/* Bytes that are read of dequantized tensors are those of their parts. */
static void sum_bytes(struct dti_rewrite_answer *answer)
{
    const struct dti_rewrite *const rewrite = answer->rewrite;
    const enum dti_rewrite_kind recipe = rewrite->request.recipe;
    answer->input.data_bytes = rewrite->input_bytes;
    answer->changed_bytes = rewrite->changed_input;
    if (recipe == DTI_RECIPE_TRANSCODE)
        answer->input.data_bytes = answer->transcode.stored_bytes;
    if (recipe != DTI_RECIPE_ENCODE && recipe != DTI_RECIPE_DEQUANTIZE)
        return;
    answer->input.data_bytes = answer->changed_bytes = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        const uint64_t bytes = dti_rewrite_origin(rewrite, i).bytes;
        answer->input.data_bytes += bytes;
        answer->changed_bytes += rewrite->tensors[i].fate == DTI_FATE_CHANGED ? bytes : 0;
    }
}

struct dti_quant_figures dti_quant_figures_of(const struct dti_rewrite_answer *answer,
                                              const struct dti_quant_count *count,
                                              const struct dti_loss_summary *loss)
{
    return (struct dti_quant_figures){
        .counted = loss && answer->rewrite->request.recipe != DTI_RECIPE_ENCODE,
        .in_blocks = loss && answer->target->scheme.block,
        .count = count,
        .loss = loss,
    };
}

void dti_rewrite_answer_fill(struct dti_rewrite_answer *answer)
{
    const struct dti_rewrite *const rewrite = answer->rewrite;
    const struct dti_rewrite_request *const request = &rewrite->request;
    const bool dequantizes = request->recipe == DTI_RECIPE_DEQUANTIZE;
    const bool translates = request->recipe == DTI_RECIPE_TRANSCODE;
    if (dequantizes)
        sum_dequantized(&answer->dequant, rewrite);
    if (translates)
        sum_translated(&answer->transcode, rewrite);
    answer->input.path = answer->path;
    answer->input.container = rewrite->container;
    sum_bytes(answer);
    answer->kind = answer->text ? "text" : dti_container_name(request->kind);
    answer->layout = layout_of(request);
    answer->config = dequantizes || translates ? dti_file_dequant_config(request->dequant) : NULL;
    answer->sized = !answer->text || !answer->dry_run;
    answer->data_bytes = answer->text ? answer->text_bytes : rewrite->output_bytes;
    answer->kept = rewrite->tensor_count - rewrite->changed_count;
    answer->fused = dti_rewrite_fused_count(rewrite);
    dti_rewrite_loss(rewrite, &answer->loss_sum);
    if (answer->losses && (!dequantizes || rewrite->changed_count > 0))
        answer->loss = &answer->loss_sum;
    answer->located = answer->loss && answer->loss->max_absolute > 0;
    if (answer->target)
        answer->figures = dti_quant_figures_of(answer, &rewrite->count, answer->loss);
    if (rewrite->quant_plan_count > 0)
        answer->kernels =
            dti_quant_plan_describe(rewrite->quant_plans[0], false, answer->kernel_room);
}
