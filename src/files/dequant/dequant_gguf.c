/* SPDX-License-Identifier: MIT
 *
 * Tensors of GGUF that hold blocks: rows of gguf_types.def. */
#include "files/dequant/dequant_parts.h"

bool dti_dequant_is_ggml(const struct dti_container *container, size_t tensor)
{
    return container->tensors[tensor].gguf != NULL;
}

/* "blk.0.attn_q.weight.scale", or "blk.0.attn_q.scale", of "blk.0.attn_q.weight". */
static bool find_scale(const struct dti_file_dequant *dequant, const struct dti_tensor *tensor,
                       size_t *ret)
{
    static const char suffix[] = ".scale", weight[] = ".weight";
    const char *const name = tensor->name;
    const size_t length = tensor->name_length;
    return dti_quant_names_find(&dequant->names, name, length, suffix, ret) ||
           (dti_quant_name_ends(name, length, weight) &&
            dti_quant_names_find(&dequant->names, name, length - (sizeof weight - 1), suffix, ret));
}

/* The scale of a whole tensor of NVFP4, or one for each of the outermost dimension (experts), is a
 * tensor of its own. */
static enum dti_status find_tensor_scale(struct dti_file_dequant *dequant, size_t at,
                                         struct dti_dequant_found *ret, struct dti_error *reterr)
{
    struct dti_container *const container = dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    size_t found;
    if (!find_scale(dequant, tensor, &found))
        return DTI_OK;
    const struct dti_tensor *const scale = &container->tensors[found];
    const bool each = tensor->rank > 2 && scale->elements == tensor->shape[0];
    ret->how.scales = (struct dti_dequant_part){.container = container, .tensor = found};
    if (!scale->format || scale->format->id != DTI_FP32 || (scale->elements != 1 && !each)) {
        char place[DTI_TENSOR_PLACE];
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is the scale of an NVFP4 tensor; expected one F32, or one per matrix",
                        dti_tensor_place(container, found, place));
    }
    ret->how.scale_count = scale->elements;
    ret->how.scale_plan = dti_dequant_scale_plan(dequant, scale->format, &scale->layout);
    ret->form.tensor_scale = true;
    ret->form.stored_bytes += scale->bytes;
    ret->form.parts[DTI_PART_TENSOR_SCALE] = scale;
    ret->form.part_count++;
    dequant->states[found] = DTI_DEQUANT_PART;
    return ret->how.scale_plan ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_dequant_ggml(struct dti_file_dequant *dequant, size_t at,
                                 struct dti_dequant_found *ret, struct dti_error *reterr)
{
    struct dti_container *const container = dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    struct dti_dequant_tensor *const how = &ret->how;
    ret->shown = *tensor;
    ret->form = (struct dti_dequant_form){.dtype = tensor->gguf->word,
                                          .layout = "gguf",
                                          .per = DTI_PER_GROUP,
                                          .axis = tensor->rank > 0 ? tensor->rank - 1 : 0,
                                          .group = {0, tensor->gguf->group},
                                          .stored_bytes = tensor->bytes,
                                          .part_count = 1,
                                          .parts[DTI_PART_CODES] = tensor};
    how->block = tensor->block;
    how->gguf = tensor->gguf;
    how->affine.code = *dti_format_get(DTI_INT8); /* as finite as those of all types */
    how->codes_swapped = dti_is_big_endian(&tensor->layout) && tensor->gguf->other_bytes == 2;
    how->codes = (struct dti_dequant_part){.container = container, .tensor = at};
    how->elements = how->columns = tensor->elements;
    how->rows = 1;
    how->row_bytes = tensor->bytes;
    how->slab = how->stored_slab = 1;
    how->bits = 8;
    how->order = DTI_BLOCK_BYTES;
    how->tensor_scale = 1;
    how->scale_count = 1;
    return tensor->gguf->blocks == DTI_GGUF_NVFP4 ? find_tensor_scale(dequant, at, ret, reterr)
                                                  : DTI_OK;
}
