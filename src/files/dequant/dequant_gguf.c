/* SPDX-License-Identifier: MIT
 *
 * GGUF block tensors, rows of gguf_types.def, whose blocks contain codes and scales: finds them,
 * and reads their numbers. */
#include "files/dequant/dequant_parts.h"
#include "files/dequant/dequant_piece.h"
#include "files/stored/layouts.h"
#include <assert.h>

bool dti_dequant_is_ggml(const struct dti_container *container, size_t tensor)
{
    return dti_tensor_gguf(&container->tensors[tensor]) != NULL;
}

/* Finds "blk.0.attn_q.weight.scale" or "blk.0.attn_q.scale" for "blk.0.attn_q.weight". */
static bool find_scale(const struct dti_file_dequant *dequant, const struct dti_tensor *tensor,
                       const char *suffix, size_t *ret)
{
    static const char weight[] = ".weight";
    const char *const name = tensor->name;
    const size_t length = tensor->name_length;
    return dti_quant_names_find(&dequant->names, name, length, suffix, ret) ||
           (dti_quant_name_ends(name, length, weight) &&
            dti_quant_names_find(&dequant->names, name, length - (sizeof weight - 1), suffix, ret));
}

/* An NVFP4 tensor has a separate tensor with one scale for the whole tensor, or one for each index
 * of the outermost dimension (experts). */
static enum dti_status find_tensor_scale(struct dti_file_dequant *dequant, size_t at,
                                         struct dti_dequant_found *ret,
                                         struct dti_dequant_part *ret_scale,
                                         struct dti_error *reterr)
{
    struct dti_container *const container = dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    size_t found;
    if (find_scale(dequant, tensor, ".input_scale", &found))
        dequant->states[found] = DTI_DEQUANT_KEPT; /* it is for activations */
    if (!find_scale(dequant, tensor, ".scale", &found))
        return DTI_OK;
    const struct dti_tensor *const scale = &container->tensors[found];
    const bool each = tensor->rank > 2 && scale->elements == tensor->shape[0];
    *ret_scale = (struct dti_dequant_part){.container = container, .tensor = found};
    DTI_SET_PART(&ret->how, scales, *ret_scale);
    if (!scale->format || scale->format->id != DTI_FP32 || (scale->elements != 1 && !each)) {
        char place[DTI_TENSOR_PLACE];
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is the scale of an NVFP4 tensor; expected one F32, or one per matrix",
                        dti_tensor_place(container, found, place));
    }
    ret->how.is->scale_count = scale->elements;
    ret->how.is->scale_plan = dti_dequant_scale_plan(dequant, scale->format, &scale->layout);
    ret->form.is->tensor_scale = true;
    dequant->states[found] = DTI_DEQUANT_PART;
    return ret->how.is->scale_plan ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_dequant_ggml(struct dti_file_dequant *dequant, size_t at,
                                 struct dti_dequant_found *ret, struct dti_error *reterr)
{
    struct dti_container *const container = dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    const struct dti_gguf_type *const type = dti_tensor_gguf(tensor);
    struct dti_dequant_tensor *const how = &ret->how;
    assert(type); /* only such tensors are asked for */
    *ret->shown = *tensor;
    *ret->form.is = (struct dti_form_traits){.dtype = type->word,
                                             .layout = dti_layout_gguf.name,
                                             .per = DTI_PER_GROUP,
                                             .axis = tensor->rank > 0 ? tensor->rank - 1 : 0,
                                             .group = {0, type->group}};
    how->is->block = dti_tensor_block(tensor);
    how->is->gguf = type;
    how->is->affine.code = *dti_format_get(DTI_INT8); /* finite, as in all types */
    how->is->codes_swapped = dti_is_big_endian(&tensor->layout) && type->other_bytes == 2;
    struct dti_dequant_part parts[DTI_PART_COUNT] = {
        [DTI_PART_CODES] = {.container = container, .tensor = at}};
    DTI_SET_PART(how, codes, parts[DTI_PART_CODES]);
    how->is->elements = how->is->columns = tensor->elements;
    how->is->rows = 1;
    how->is->row_bytes = tensor->bytes;
    how->is->slab = how->is->stored_slab = 1;
    how->is->bits = 8;
    how->is->order = DTI_BLOCK_BYTES;
    how->tensor_scale = 1;
    how->is->scale_count = 1;
    const enum dti_status status =
        type->blocks == DTI_GGUF_NVFP4
            ? find_tensor_scale(dequant, at, ret, &parts[DTI_PART_TENSOR_SCALE], reterr)
            : DTI_OK;
    return status == DTI_OK ? dti_dequant_list(dequant, parts, &ret->form, reterr) : status;
}

/* The bytes of `count` blocks, little-endian. */
static enum dti_status look_at_blocks(const struct dti_dequant_tensor *tensor, uint64_t first,
                                      size_t count, struct dti_dequant_scratch *scratch,
                                      const void **ret, struct dti_error *reterr)
{
    const size_t each = tensor->is->gguf->bytes, size = count * each;
    const struct dti_dequant_part *const codes = DTI_PART_OF(tensor, codes);
    if (!tensor->is->codes_swapped)
        return dti_dequant_look(codes, scratch->view, scratch->raw, size, first * each, ret,
                                reterr);
    const enum dti_status status =
        dti_dequant_read_part(codes, scratch->raw, size, first * each, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        dti_dequant_reverse(scratch->raw + i * each, 1, 2);
    *ret = scratch->raw;
    return status;
}

/* The tensor scale of an element, and the number of elements left that share it. */
static enum dti_status find_part(const struct dti_dequant_tensor *tensor, uint64_t first,
                                 struct dti_dequant_window *window, float *ret_scale,
                                 uint64_t *ret_left, struct dti_error *reterr)
{
    const uint64_t part = tensor->is->elements / tensor->is->scale_count, at = first / part;
    *ret_scale = 1;
    *ret_left = part - first % part;
    if (!tensor->is->from.scales)
        return DTI_OK;
    const enum dti_status status = dti_dequant_load(tensor, window, at, 1, reterr);
    if (status == DTI_OK)
        *ret_scale = window->scale[at - window->first];
    return status;
}

/* Decodes elements first to first + n - 1; blocks: from the block of `first` on. The first and last
 * block may be used only in part. */
static void decode(const struct dti_dequant_tensor *tensor, const unsigned char *blocks,
                   uint64_t first, size_t n, float scale, float *numbers,
                   struct dti_dequant_scratch *scratch)
{
    const size_t elements = tensor->is->gguf->elements, bytes = tensor->is->gguf->bytes;
    dti_gguf_decode_fn *const run = tensor->method->decode;
    for (size_t skip = (size_t)(first % elements), taken; n > 0; skip = 0, n -= taken) {
        const bool whole = skip == 0 && n >= elements;
        const size_t count = whole ? n / elements : 1, left = elements - skip;
        taken = whole ? count * elements : n < left ? n : left;
        run(whole ? numbers : scratch->head, blocks, count, scale);
        if (!whole)
            memcpy(numbers, scratch->head + skip, taken * sizeof *numbers);
        numbers += taken;
        blocks += count * bytes;
    }
}

enum dti_status dti_dequant_gguf_read(const struct dti_dequant_tensor *tensor,
                                      const struct dti_dequant_segment *segment,
                                      struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t elements = tensor->is->gguf->elements, first = segment->column / elements;
    const uint64_t last = (segment->column + segment->n - 1) / elements;
    const void *raw;
    enum dti_status status =
        look_at_blocks(tensor, first, (size_t)(last - first + 1), scratch, &raw, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t done = 0; done < segment->n && status == DTI_OK;) {
        const uint64_t at = segment->column + done;
        float scale;
        uint64_t left;
        status = find_part(tensor, at, &scratch->window, &scale, &left, reterr);
        const size_t n = left < segment->n - done ? (size_t)left : segment->n - done;
        if (status == DTI_OK)
            decode(tensor,
                   (const unsigned char *)raw + (at / elements - first) * tensor->is->gguf->bytes,
                   at, n, scale, segment->numbers + done, scratch);
        done += n;
    }
    return dti_window_done(scratch->view, status, reterr);
}
