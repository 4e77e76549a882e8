/* SPDX-License-Identifier: MIT
 *
 * Passes the codes of a cast to a callback instead of writing them to a file. */
#include <stdlib.h>

#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"

enum { BLOCK = 16 * DTI_TILE };

struct rewrite_chunk {
    struct dti_rewrite_input input;
    struct dti_loss loss;
    uint64_t from[BLOCK], to[BLOCK]; /* elements of at most 8 bytes */
};

static enum dti_status each(struct dti_rewrite *rewrite, struct rewrite_chunk *block,
                            const struct dti_rewrite_options *options, dti_rewrite_take *take,
                            void *context, struct dti_error *reterr)
{
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[0];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, 0);
    const struct dti_plan *const plan = tensor->way->plan;
    const struct dti_layout *const layout =
        plan ? &dti_plan_request(plan)->dst_layout : &source->layout;
    const bool counts = rewrite->counts && tensor->fate == DTI_FATE_CHANGED;
    enum dti_status status = DTI_OK;
    uint64_t offset = block->input.offset;
    for (uint64_t done = 0; done < source->elements && status == DTI_OK;) {
        const uint64_t left = source->elements - done;
        const size_t n = left < BLOCK ? (size_t)left : BLOCK;
        uint64_t bytes = 0;
        (void)dti_format_bytes(source->format, &source->layout, n, &bytes);
        status = dti_input_read_at(block->input.input, block->from, (size_t)bytes, offset, reterr);
        if (status == DTI_OK && plan) {
            status = dti_plan_run(plan, block->to, block->from, n, done, DTI_STORES_CACHED,
                                  counts ? &block->loss : NULL, reterr);
            if (status != DTI_OK)
                dti_error_of_tensor(rewrite->container, tensor->source, reterr);
        }
        if (status == DTI_OK)
            status = take(context, tensor->way->format, layout, plan ? block->to : block->from, n,
                          reterr);
        done += n;
        offset += bytes;
        if (options->progress)
            options->progress(options->progress_context, offset - block->input.offset);
    }
    if (status == DTI_OK && counts)
        status = dti_rewrite_add_cast(rewrite, 0, &block->loss, reterr);
    return status;
}

enum dti_status dti_rewrite_each(struct dti_rewrite *rewrite,
                                 const struct dti_rewrite_options *options, dti_rewrite_take *take,
                                 void *context, struct dti_error *reterr)
{
    struct rewrite_chunk *const block = dti_malloc(sizeof *block);
    if (!block)
        return dti_no_memory(reterr);
    dti_loss_init(&block->loss);
    enum dti_status status =
        dti_rewrite_input_open(rewrite, 0, options->max_memory, &block->input, reterr);
    if (status == DTI_OK)
        status = each(rewrite, block, options, take, context, reterr);
    dti_rewrite_input_close(&block->input);
    dti_free(block);
    return status;
}
