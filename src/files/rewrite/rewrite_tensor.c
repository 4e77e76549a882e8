/* SPDX-License-Identifier: MIT
 *
 * A tensor of a rewrite: where its elements come from, and how quantized ones are stored. */
#include "convert/transpose.h"
#include "files/rewrite/rewrite_parts.h"

enum dti_status dti_rewrite_input_open(struct dti_rewrite *rewrite, size_t at, uint64_t max_memory,
                                       struct dti_rewrite_input *ret, struct dti_error *reterr)
{
    const struct dti_recipe_ops *const ops = rewrite->ops;
    const struct dti_tensor *const tensor = dti_rewrite_alike(rewrite, at);
    const size_t place = dti_rewrite_place(rewrite, rewrite->tensors[at].source);
    struct dti_container *const whole = rewrite->request.whole;
    ret->source = (struct dti_batch_source){.read = NULL};
    ret->is_reordered = false;
    enum dti_status status =
        ops->data ? ops->data(rewrite, place, &ret->source, &ret->input, &ret->offset, reterr)
                  : dti_container_data(whole ? whole : rewrite->container, place, &ret->input,
                                       &ret->offset, reterr);
    if (status == DTI_OK && !ret->source.read)
        ret->offset += rewrite->request.skip;
    if (status == DTI_OK && !ret->source.read && tensor->fortran &&
        !dti_rewrite_is_fortran(rewrite, tensor)) {
        status =
            dti_transpose(ret->input, ret->offset, tensor->rank, tensor->shape,
                          dti_format_item(tensor->format), max_memory, &ret->reordered, reterr);
        ret->is_reordered = status == DTI_OK;
        ret->input = &ret->reordered;
        ret->offset = 0;
    }
    if (status == DTI_OK &&
        !rewrite->tensors[at].way->type) /* the encoder's have been changed before */
        status = dti_rewrite_model_data(rewrite, rewrite->tensors[at].source, &ret->source,
                                        &ret->input, &ret->offset, reterr);
    if (status != DTI_OK)
        dti_rewrite_input_close(ret);
    return status;
}

void dti_rewrite_input_close(struct dti_rewrite_input *input)
{
    if (input->is_reordered)
        dti_input_close(&input->reordered);
    input->is_reordered = false;
}

void dti_rewrite_progress(void *context, uint64_t done)
{
    const struct dti_rewrite_run *const run = context;
    if (run->options->progress)
        run->options->progress(run->options->progress_context, run->done + done);
}

unsigned dti_rewrite_rotation(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_quantize_form *const form = rewrite->tensors[tensor].way->by;
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, tensor);
    const unsigned rotation = form->recipe->rotation;
    const bool whole =
        source->rank == 2 && rotation > 0 && source->shape[source->rank - 1] % rotation == 0;
    return whole || dti_quant_is_rotated(form->row) ? rotation : 0;
}

void dti_rewrite_stored(const struct dti_rewrite *rewrite, size_t tensor,
                        struct dti_quant_stored *ret)
{
    const struct dti_quantize_form *const form = rewrite->tensors[tensor].way->by;
    const struct dti_quantize_recipe *const recipe = form->recipe;
    const struct dti_quant_scheme *const scheme = &recipe->scheme;
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, tensor);
    *ret = (struct dti_quant_stored){
        .row = form->row,
        .per = scheme->block ? DTI_PER_GROUP : scheme->per,
        .group = scheme->block ? scheme->block->length : scheme->group,
        .zero_points = form->zero_points,
        .pad = recipe->pad,
        .high = recipe->high || dti_quant_is_flat(form->row) ||
                (form->row->flags & DTI_QUANT_HIGH) != 0,
        .tensor_scale = scheme->block && scheme->block->family == DTI_BLOCKS_NV &&
                        dti_quant_suffix(form->row, DTI_PART_TENSOR_SCALE),
        .biases = scheme->biased,
        .nested = scheme->nested,
        .number = source->format,
        .rank = source->rank,
        .axis = rewrite->tensors[tensor].axis,
        .rotation = dti_rewrite_rotation(rewrite, tensor),
        .shape = source->shape,
    };
}

struct dti_fused_set *dti_rewrite_fused(const struct dti_rewrite *rewrite, size_t tensor)
{
    const struct dti_rewrite_tensor *const own = &rewrite->tensors[tensor];
    if (!rewrite->fused || !dti_is_quantized(own) || !own->way->by->recipe->fused ||
        !own->way->by->recipe->scheme.tensor_scale)
        return NULL;
    return dti_fused_set_of(rewrite->fused, dti_rewrite_place(rewrite, own->source));
}

size_t dti_rewrite_fused_count(const struct dti_rewrite *rewrite)
{
    size_t count = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        count += dti_rewrite_fused(rewrite, i) != NULL;
    return count;
}
