/* SPDX-License-Identifier: MIT
 *
 * The codes of a cast handed over in memory instead of written to a file. */
#include <stdlib.h>

#include "files/file_cast_parts.h"

enum { BLOCK = 16 * DTI_TILE };

struct file_cast_chunk {
    struct dti_file_cast_source source;
    struct dti_loss loss;
    uint64_t from[BLOCK], to[BLOCK]; /* elements of at most 8 bytes */
};

static enum dti_status each(struct dti_file_cast *cast, struct file_cast_chunk *block,
                            const struct dti_file_cast_options *options, dti_file_cast_take *take,
                            void *context, struct dti_error *reterr)
{
    const struct dti_file_cast_tensor *const tensor = &cast->tensors[0];
    const struct dti_tensor *const source = dti_file_cast_source(cast, 0);
    const struct dti_plan *const plan = tensor->plan;
    const struct dti_layout *const layout =
        plan ? &dti_plan_request(plan)->dst_layout : &source->layout;
    const bool counts = cast->counts && tensor->fate == DTI_FATE_CAST;
    enum dti_status status = DTI_OK;
    uint64_t offset = block->source.offset;
    for (uint64_t done = 0; done < source->elements && status == DTI_OK;) {
        const uint64_t left = source->elements - done;
        const size_t n = left < BLOCK ? (size_t)left : BLOCK;
        uint64_t bytes = 0;
        (void)dti_format_bytes(source->format, &source->layout, n, &bytes);
        status = dti_input_read_at(block->source.input, block->from, (size_t)bytes, offset, reterr);
        if (status == DTI_OK && plan) {
            status = dti_plan_run(plan, block->to, block->from, n, done, DTI_STORES_CACHED,
                                  counts ? &block->loss : NULL, reterr);
            if (status != DTI_OK)
                dti_tensor_blame(cast->container, tensor->source, reterr);
        }
        if (status == DTI_OK)
            status =
                take(context, tensor->format, layout, plan ? block->to : block->from, n, reterr);
        done += n;
        offset += bytes;
        if (options->progress)
            options->progress(options->progress_context, offset - block->source.offset);
    }
    if (status == DTI_OK && counts)
        status = dti_file_cast_add_loss(cast, 0, &block->loss, reterr);
    return status;
}

enum dti_status dti_file_cast_each(struct dti_file_cast *cast,
                                   const struct dti_file_cast_options *options,
                                   dti_file_cast_take *take, void *context,
                                   struct dti_error *reterr)
{
    struct file_cast_chunk *const block = malloc(sizeof *block);
    if (!block)
        return dti_file_cast_no_memory(reterr);
    dti_loss_init(&block->loss);
    enum dti_status status =
        dti_file_cast_source_open(cast, 0, options->max_memory, &block->source, reterr);
    if (status == DTI_OK)
        status = each(cast, block, options, take, context, reterr);
    dti_file_cast_source_close(&block->source);
    free(block);
    return status;
}
