/* SPDX-License-Identifier: MIT
 *
 * The recipe that encodes tensors as GGUF blocks: chooses the tensors and their types.
 * gguf_encoder.c does the work. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_parts.h"
#include "files/rewrite/rewrite_parts.h"
#include "kernels/gguf/gguf_kernel.h"
#include "util/text/glob.h"

/* Tensors that llama-quantize leaves unchanged, in addition to those with fewer than two dimensions
 * and those not named "...weight": norms, expert routers, small or sensitive ones. Source:
 * tensor_allows_quantization() in llama.cpp's llama-quant.cpp. */
static const char *const kept_names =
    "*_norm.weight*,*ffn_gate_inp.weight*,*ffn_gate_tid2eid.weight*,*altup*,*laurel*,"
    "*per_layer_model_proj*,position_embd.weight,token_types.weight,*ssm_conv1d*,"
    "*shortconv.conv.weight*,*indexer.[kq]_proj.weight*,*time_mix_first.weight*,"
    "*time_mix_[wvag][012].weight*,*time_mix_decay_w[12].weight*,*time_mix_lerp_fused.weight*,"
    "*attn_rel_b.weight*,*.position_embd*,*sam.pos_embd*,*sam.neck.*,*sam.net_*,*.rel_pos*,"
    "*.patch_embd*,*.patch_merger*,*a.rvq.codebook*,*mm.a.code_embd*";

static bool is_quantized_usually(const struct dti_tensor *tensor)
{
    return dti_glob_match("*weight", 7, tensor->name, tensor->name_length) &&
           !dti_glob_list_match(kept_names, tensor->name, tensor->name_length);
}

/* The type that a tensor gets; NULL: it stays unchanged. plain: no block type unless a rule says
 * so. */
static const struct dti_gguf_type *type_of(const struct dti_encode_recipe *recipe,
                                           const struct dti_tensor *tensor, bool plain)
{
    const struct dti_named_type *const named =
        recipe->named ? dti_named_type_of(recipe->named, tensor) : NULL;
    if (recipe->named && !named)
        return NULL;
    const struct dti_type_rule *const rule =
        named ? &recipe->rules[named->type]
              : dti_type_rule_of(recipe->rules, recipe->count, tensor);
    if (rule)
        return rule->type->dtype == DTI_NONE && tensor->rank < 2 ? NULL : rule->type;
    return !plain && tensor->rank >= 2 && is_quantized_usually(tensor) ? recipe->type : NULL;
}

/* The type of a tensor of the container; fp32 where a convention says so. */
static const struct dti_gguf_type *chosen(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_gguf_type *const type =
        type_of(&rewrite->request.encode, &rewrite->container->tensors[at],
                dti_rewrite_is_plain(rewrite, at));
    return !type && dti_rewrite_is_fp32(rewrite, at) ? dti_gguf_type_storing(DTI_FP32) : type;
}

const struct dti_gguf_type *dti_encode_type(size_t index)
{
    const struct dti_gguf_type *const nvfp4 = dti_gguf_type_of(DTI_GGUF_NVFP4);
    const struct dti_gguf_type *const type = dti_gguf_encoded(index);
    return type || (index > 0 && !dti_gguf_encoded(index - 1)) ? type : nvfp4;
}

bool dti_encode_keeps(const struct dti_encode_recipe *recipe, const char *keep, const char *only,
                      const struct dti_tensor *tensor)
{
    const struct dti_gguf_type *const type = type_of(recipe, tensor, false);
    const struct dti_gguf_type *const own = dti_tensor_gguf(tensor);
    assert(own); /* it is one of blocks */
    return !type || type == dti_gguf_type_of(own->blocks) || dti_tensor_fits(keep, tensor) ||
           (only && !dti_tensor_fits(only, tensor));
}

static enum dti_status begin(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    return dti_gguf_encoder_new(&rewrite->encoder, rewrite, reterr);
}

static bool keeps(const struct dti_rewrite *rewrite, size_t tensor, enum dti_fate *ret_fate)
{
    return dti_recipe_dequantize.keeps(rewrite, tensor, ret_fate);
}

static bool fits(const struct dti_rewrite *rewrite, const char *pattern, size_t length)
{
    return dti_recipe_dequantize.fits(rewrite, pattern, length);
}

/* Blocks that the view did not decode stay; numbers decoded from codes are never left as fp32 by
 * accident. */
static enum dti_fate choose(const struct dti_rewrite *rewrite, const struct dti_quant_names *names,
                            size_t at)
{
    const struct dti_tensor *const tensor = &rewrite->container->tensors[at];
    const struct dti_gguf_type *const type = chosen(rewrite, at);
    const struct dti_dequant_form *const form =
        dti_file_dequant_form(rewrite->request.dequant, dti_rewrite_place(rewrite, at));
    (void)names;
    if (dti_tensor_refusal(tensor) && type)
        return DTI_FATE_BLOCKS;
    if (!dti_tensor_refusal(tensor) && dti_format_is_integer(tensor->format))
        return DTI_FATE_INTEGER;
    if (!type)
        return tensor->rank == 0 ? DTI_FATE_SCALAR : DTI_FATE_CONVENTION;
    if (tensor->format->width < 8)
        return DTI_FATE_NARROW;
    return type->dtype == tensor->format->id && !form->is->dtype ? DTI_FATE_SAME : DTI_FATE_CHANGED;
}

static enum dti_status warn(const struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    bool usual = true;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        usual = usual && (rewrite->tensors[i].fate == DTI_FATE_CONVENTION ||
                          rewrite->tensors[i].fate == DTI_FATE_SCALAR);
    const struct dti_note note = {
        .code = "nothing_quantized",
        .text = usual ? "nothing is quantized: no tensor has a name and dimensions that "
                        "llama-quantize quantizes"
                      : "nothing is quantized: all tensors keep their types",
        .remedy = usual ? DTI_REMEDY_NAME_TYPES : DTI_REMEDY_NONE,
    };
    (void)reterr;
    if (rewrite->tensor_count > 0 && rewrite->changed_count == 0)
        rewrite->request.warn(rewrite->request.warn_context, &note);
    return DTI_OK;
}

/* Plans a tensor as rows of blocks. */
static enum dti_status plan_blocks(struct dti_rewrite *rewrite, size_t at,
                                   const struct dti_gguf_type *type, struct dti_error *reterr)
{
    struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const uint64_t row = source->shape[source->rank - 1];
    char place[DTI_TENSOR_PLACE];
    if (row % type->elements != 0 && rewrite->request.skips_unfit)
        return dti_rewrite_skip(rewrite, at, reterr);
    if (row % type->elements != 0)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND,
                               row % 32 == 0 && type->elements > 32 ? DTI_REMEDY_OTHER_TYPE
                                                                    : DTI_REMEDY_TYPE_OR_KEEP,
                               "%s has rows of %llu elements, and %s needs whole blocks of %u",
                               dti_tensor_place(rewrite->container, tensor->source, place),
                               (unsigned long long)row, type->word, type->elements);
    if (source->fortran)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_KEEP,
                               "%s is in column-major order, and blocks are made of rows",
                               dti_tensor_place(rewrite->container, tensor->source, place));
    const struct dti_rewrite_way way = {
        .type = type, .format = dti_container_blocks(rewrite->request.kind, type)};
    tensor->parts = 1u << DTI_PART_CODES;
    if (type->blocks == DTI_GGUF_NVFP4)
        tensor->parts |= (uint16_t)(1u << DTI_PART_TENSOR_SCALE);
    rewrite->files.encodes = true;
    const enum dti_status status = dti_rewrite_go(rewrite, at, &way, reterr);
    return status == DTI_OK ? dti_gguf_encoder_add(rewrite->encoder, at, reterr) : status;
}

static enum dti_status plan(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr)
{
    const struct dti_gguf_type *const type = chosen(rewrite, rewrite->tensors[at].source);
    assert(type); /* or the recipe does not apply */
    return type->dtype == DTI_NONE
               ? plan_blocks(rewrite, at, type, reterr)
               : dti_rewrite_plan_elements(rewrite, at, dti_format_get(type->dtype), reterr);
}

/* An importance matrix without any of the tensors is one of another model. */
static enum dti_status check_weights(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    enum { TEXT = DTI_QUOTE_SIZE + 160 };
    const struct dti_rewrite_weights *const weights = &rewrite->weights;
    char text[TEXT], name[DTI_QUOTE_SIZE];
    if (weights->missing == 0)
        return DTI_OK;
    const struct dti_tensor *const first = dti_rewrite_source(rewrite, weights->first_missing);
    dti_quote(name, first->name, first->name_length);
    if (weights->used == 0) {
        const char *const path = dti_importance_path(rewrite->request.encode.importance);
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has no entry for any tensor that takes weights: %zu, the first is %s",
                        DTI_QUOTED(path, strlen(path)), weights->missing, name);
    }
    if (weights->missing == 1)
        (void)snprintf(text, sizeof text,
                       "the importance matrix has no entry for tensor %s, which is encoded "
                       "without weights",
                       name);
    else
        (void)snprintf(text, sizeof text,
                       "the importance matrix has no entry for %zu tensors, which are encoded "
                       "without weights; the first is %s",
                       weights->missing, name);
    const struct dti_note note = {.code = "no_weights", .text = text};
    if (rewrite->request.warn)
        rewrite->request.warn(rewrite->request.warn_context, &note);
    return DTI_OK;
}

static enum dti_status data(const struct dti_rewrite *rewrite, size_t tensor,
                            struct dti_batch_source *ret_source, const struct dti_input **ret_input,
                            uint64_t *ret_offset, struct dti_error *reterr)
{
    const enum dti_status status =
        dti_gguf_encoder_open(rewrite->encoder, tensor, ret_source, reterr);
    if (status != DTI_OK || ret_source->read)
        return status;
    return dti_file_dequant_data(rewrite->request.dequant, tensor, ret_source, ret_input,
                                 ret_offset, reterr);
}

static void counts(struct dti_rewrite *rewrite, size_t at, struct dti_loss *loss)
{
    dti_gguf_encoder_count(rewrite->encoder,
                           dti_rewrite_place(rewrite, rewrite->tensors[at].source), loss);
}

static void free_encoder(struct dti_rewrite *rewrite)
{
    dti_gguf_encoder_free(rewrite->encoder);
}

const struct dti_recipe_ops dti_recipe_encode = {
    .elementwise = true,
    .unnamed = DTI_REMEDY_LEAVE_OUT,
    .begin = begin,
    .keeps = keeps,
    .choose = choose,
    .fits = fits,
    .warn = warn,
    .plan = plan,
    .planned = check_weights,
    .data = data,
    .counts = counts,
    .free = free_encoder,
};
