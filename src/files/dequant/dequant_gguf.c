/* SPDX-License-Identifier: MIT
 *
 * Tensors of GGUF that hold blocks, as ggml lays them out: the scales of a piece first, then its
 * codes, element j of a block of n in the low half of byte j and j + n / 2 in the high one. Codes
 * and scales mean what they mean to ggml: recipe.ggml. */
#include <stdlib.h>
#include <string.h>

#include "files/dequant/dequant_parts.h"

static const struct ggml_blocks {
    enum dti_block block;
    struct dti_interleaved how;
} blocks[] = {
    {DTI_BLOCK_Q8_0, {.elements = 32, .bytes = 34, .blocks = 1, .scale_bytes = 2}},
    {DTI_BLOCK_Q4_0, {.elements = 32, .bytes = 18, .blocks = 1, .scale_bytes = 2}},
    {DTI_BLOCK_MXFP4, {.elements = 32, .bytes = 17, .blocks = 1, .scale_bytes = 1}},
    {DTI_BLOCK_NVFP4, {.elements = 64, .bytes = 36, .blocks = 4, .scale_bytes = 1}},
};

static const struct ggml_blocks *find(enum dti_block block)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (blocks[i].block == block)
            return &blocks[i];
    }
    return NULL;
}

bool dti_dequant_is_ggml(const struct dti_container *container, size_t tensor)
{
    const struct dti_block_format *const block = container->tensors[tensor].block;
    return container->kind == DTI_CONTAINER_GGUF && block && find(block->id);
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
    const struct dti_block_format *const block = tensor->block;
    struct dti_dequant_tensor *const how = &ret->how;
    ret->shown = *tensor;
    ret->form = (struct dti_dequant_form){.dtype = block->name,
                                          .layout = "gguf",
                                          .per = DTI_PER_GROUP,
                                          .axis = tensor->rank > 0 ? tensor->rank - 1 : 0,
                                          .group = {0, block->length},
                                          .stored_bytes = tensor->bytes,
                                          .part_count = 1,
                                          .parts[DTI_PART_CODES] = tensor};
    how->block = block;
    how->interleaved = find(block->id)->how;
    how->interleaved.swapped = dti_is_big_endian(&tensor->layout);
    how->codes = (struct dti_dequant_part){.container = container, .tensor = at};
    how->elements = how->columns = tensor->elements;
    how->rows = 1;
    how->row_bytes = tensor->bytes;
    how->slab = how->stored_slab = 1;
    how->bits = dti_format_get(block->code)->width;
    how->order = how->bits == 4 ? DTI_BLOCK_HALVES : DTI_BLOCK_BYTES;
    how->tensor_scale = 1;
    how->scale_count = 1;
    how->parts = dti_dequant_block_parts(dequant, block);
    if (!how->parts)
        return dti_no_memory(reterr);
    return block->family == DTI_BLOCKS_NV ? find_tensor_scale(dequant, at, ret, reterr) : DTI_OK;
}
