/* SPDX-License-Identifier: MIT
 *
 * Runs a rewrite: writes headers, then tensors in groups, so that memory does not grow with their
 * number. The tensors of a group that are cast or copied form a batch; then the others are
 * quantized. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/rewrite_parts.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum { GROUP = 1024 }; /* tensors of a batch */

struct group {
    struct dti_rewrite_run run;
    struct dti_quantize_job *quantizer; /* or NULL: nothing is quantized */
    size_t next;                        /* tensor */
    size_t count;                       /* tensors in the batch */
    uint64_t bytes;                     /* their input */
    size_t places[GROUP];               /* indices of the rewrite's tensors */
    struct dti_batch_part parts[GROUP];
    struct dti_loss losses[GROUP];
    struct dti_rewrite_input input; /* of the last part */
};

/* Adds the next part to the batch. */
static enum dti_status add_part(struct group *group, size_t at, bool *ret_last,
                                struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = group->run.rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_alike(rewrite, at);
    const struct dti_rewrite_part *const place = &rewrite->parts[tensor->part];
    struct dti_batch_part *const part = &group->parts[group->count];
    struct dti_loss *const loss = &group->losses[group->count];
    const bool complex = source->format->kind == DTI_KIND_COMPLEX;
    *part = (struct dti_batch_part){
        .plan = tensor->way->plan,
        .elements = !tensor->way->plan ? dti_rewrite_work(rewrite, at)
                                       : (complex ? 2 : 1) * source->elements,
        .output = rewrite->files.list[dti_rewrite_file(rewrite, place)].output,
        .output_offset = place->offset,
        .loss = tensor->fate == DTI_FATE_CHANGED && rewrite->counts ? loss : NULL,
    };
    if (part->loss)
        dti_loss_init(loss);
    const enum dti_status status =
        dti_rewrite_input_open(rewrite, at, group->run.options->max_memory, &group->input, reterr);
    if (status != DTI_OK)
        return status;
    part->source = group->input.source;
    part->input = part->source.read ? NULL : group->input.input;
    part->input_offset = part->source.read ? 0 : group->input.offset;
    if (tensor->way->type)
        rewrite->ops->counts(rewrite, at, part->loss);
    group->places[group->count++] = at;
    group->bytes += dti_rewrite_work(rewrite, at);
    *ret_last = group->input.is_reordered;
    return DTI_OK;
}

static bool has_room(const struct group *group)
{
    const struct dti_rewrite *const rewrite = group->run.rewrite;
    if (group->next == rewrite->tensor_count)
        return false;
    if (!dti_is_quantized(&rewrite->tensors[group->next]))
        return group->count < GROUP;
    return dti_quantize_job_has_room(group->quantizer,
                                     dti_rewrite_source(rewrite, group->next)->bytes);
}

/* If no files were opened, only losses matter. */
static bool is_written(const struct dti_rewrite *rewrite)
{
    return dti_new_files_are_open(&rewrite->files);
}

/* Fills a group. It ends after a tensor that had to be reordered, which takes disk space. */
static enum dti_status fill(struct group *group, struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = group->run.rewrite;
    enum dti_status status = DTI_OK;
    bool last = false;
    group->count = 0;
    group->bytes = 0;
    for (; status == DTI_OK && !last && has_room(group); group->next++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[group->next];
        if (dti_is_quantized(tensor))
            status = dti_quantize_job_add(group->quantizer, group->next, &last, reterr);
        else if (tensor->fate == DTI_FATE_CHANGED || is_written(rewrite))
            status = add_part(group, group->next, &last, reterr);
        else
            group->bytes += dti_rewrite_work(rewrite, group->next);
    }
    return status;
}

/* Turns the losses of the batch into figures, and adds them to the total. */
static enum dti_status add_up(struct group *group, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < group->count && status == DTI_OK; i++) {
        if (group->parts[i].loss)
            status = dti_rewrite_add_cast(group->run.rewrite, group->places[i], &group->losses[i],
                                          reterr);
    }
    return status;
}

static void add_place(void *context, size_t part, struct dti_error *reterr)
{
    const struct group *const group = context;
    const struct dti_rewrite *const rewrite = group->run.rewrite;
    dti_error_of_tensor(rewrite->container, rewrite->tensors[group->places[part]].source, reterr);
}

/* Scales of whole tensors, which the encoder found before it read their blocks. */
static enum dti_status write_scales(const struct group *group, struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = group->run.rewrite;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < group->count && status == DTI_OK && is_written(rewrite); i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[group->places[i]];
        unsigned char bytes[4];
        float scale;
        if (!tensor->way->type ||
            !dti_gguf_encoder_scale(rewrite->encoder, dti_rewrite_place(rewrite, tensor->source),
                                    &scale))
            continue;
        const struct dti_rewrite_part *const part =
            dti_rewrite_part(rewrite, group->places[i], DTI_PART_TENSOR_SCALE);
        uint32_t bits;
        memcpy(&bits, &scale, sizeof bits);
        dti_little_put(bytes, sizeof bytes, bits);
        status = dti_output_write_at(rewrite->files.list[dti_rewrite_file(rewrite, part)].output,
                                     bytes, sizeof bytes, part->offset, reterr);
    }
    return status;
}

static enum dti_status run_batch(struct group *group, struct dti_error *reterr)
{
    const struct dti_rewrite_options *const options = group->run.options;
    const struct dti_batch_options how = {.max_memory = options->max_memory,
                                          .progress = dti_rewrite_progress,
                                          .progress_context = &group->run,
                                          .place = add_place,
                                          .place_context = group};
    enum dti_status status = dti_batch_run(group->parts, group->count, options->team, &how, reterr);
    if (status == DTI_OK)
        status = write_scales(group, reterr);
    if (status == DTI_OK)
        status = add_up(group, reterr);
    group->run.done += group->bytes;
    return status;
}

static enum dti_status run_group(struct group *group, struct dti_error *reterr)
{
    group->input.is_reordered = false;
    enum dti_status status = fill(group, reterr);
    if (status == DTI_OK && group->count > 0)
        status = run_batch(group, reterr);
    dti_rewrite_input_close(&group->input);
    if (status == DTI_OK && group->quantizer)
        status = dti_quantize_job_run(group->quantizer, reterr);
    return status;
}

enum dti_status dti_rewrite_run(struct dti_rewrite *rewrite,
                                const struct dti_rewrite_options *options, struct dti_error *reterr)
{
    struct group *const group = dti_malloc(sizeof *group);
    if (!group)
        return dti_no_memory(reterr);
    group->run = (struct dti_rewrite_run){.rewrite = rewrite, .options = options};
    group->quantizer = NULL;
    group->next = 0;
    enum dti_status status =
        is_written(rewrite) ? dti_new_files_write_heads(&rewrite->files, reterr) : DTI_OK;
    dti_rewrite_list_free(rewrite);
    if (status == DTI_OK && rewrite->quant_plan_count > 0)
        status = dti_quantize_job_new(&group->quantizer, &group->run, reterr);
    while (status == DTI_OK && group->next < rewrite->tensor_count)
        status = run_group(group, reterr);
    dti_quantize_job_free(group->quantizer);
    dti_free(group);
    return status;
}
