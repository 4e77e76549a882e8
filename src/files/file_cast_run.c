/* SPDX-License-Identifier: MIT
 *
 * Doing a file's cast: heads are written, then tensors in groups, so that what a loss takes while
 * it is counted does not grow with their number. */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/batch.h"
#include "files/file_cast_parts.h"

enum { GROUP = 1024 }; /* tensors */

struct group {
    struct dti_file_cast *cast;
    const struct dti_file_cast_options *options;
    size_t first, count; /* of the cast's tensors */
    uint64_t done;       /* bytes of input of the groups before it */
    struct dti_batch_part parts[GROUP];
    struct dti_loss losses[GROUP];
    struct dti_file_cast_source source; /* of the last part */
};

/* Fills the next part of the group. */
static enum dti_status add_part(struct group *group, struct dti_error *reterr)
{
    struct dti_file_cast *const cast = group->cast;
    const size_t at = group->first + group->count;
    const struct dti_file_cast_tensor *const tensor = &cast->tensors[at];
    const struct dti_tensor *const source = dti_file_cast_source(cast, at);
    struct dti_batch_part *const part = &group->parts[group->count];
    struct dti_loss *const loss = &group->losses[group->count];
    const bool complex = source->format->kind == DTI_KIND_COMPLEX;
    *part = (struct dti_batch_part){
        .plan = tensor->plan,
        .elements = !tensor->plan ? source->bytes : (complex ? 2 : 1) * source->elements,
        .output = cast->files.list[tensor->file].output,
        .output_offset = tensor->offset,
        .loss = tensor->fate == DTI_FATE_CAST && cast->counts ? loss : NULL,
    };
    dti_loss_init(loss);
    const enum dti_status status =
        dti_file_cast_source_open(cast, at, group->options->max_memory, &group->source, reterr);
    part->source = group->source.source;
    part->input = part->source ? NULL : group->source.input;
    part->input_offset = part->source ? 0 : group->source.offset;
    group->count += status == DTI_OK;
    return status;
}

/* The losses of the group's tensors become figures, and part of the whole. */
static enum dti_status add_up(struct group *group, struct dti_error *reterr)
{
    struct dti_file_cast *const cast = group->cast;
    for (size_t i = 0; i < group->count; i++) {
        const size_t at = group->first + i;
        const struct dti_loss *const loss = &group->losses[i];
        if (cast->tensors[at].fate != DTI_FATE_CAST || !cast->counts)
            continue;
        const enum dti_status status = dti_file_cast_add_loss(cast, at, loss, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

static void show_progress(void *context, uint64_t done)
{
    const struct group *const group = context;
    if (group->options->progress)
        group->options->progress(group->options->progress_context, group->done + done);
}

static void add_place(void *context, size_t part, struct dti_error *reterr)
{
    const struct group *const group = context;
    dti_tensor_blame(group->cast->container, group->cast->tensors[group->first + part].source,
                     reterr);
}

/* A group ends after a tensor that had to be brought into another order, which takes disk space. */
static enum dti_status run_group(struct group *group, struct dti_error *reterr)
{
    struct dti_file_cast *const cast = group->cast;
    const struct dti_batch_options options = {.max_memory = group->options->max_memory,
                                              .progress = show_progress,
                                              .progress_context = group,
                                              .place = add_place,
                                              .place_context = group};
    enum dti_status status = DTI_OK;
    group->count = 0;
    group->source.is_reordered = false;
    while (status == DTI_OK && group->count < GROUP && !group->source.is_reordered &&
           group->first + group->count < cast->tensor_count)
        status = add_part(group, reterr);
    if (status == DTI_OK)
        status = dti_batch_run(group->parts, group->count, group->options->team, &options, reterr);
    dti_file_cast_source_close(&group->source);
    if (status == DTI_OK)
        status = add_up(group, reterr);
    for (size_t i = 0; i < group->count; i++)
        group->done += dti_file_cast_source(cast, group->first + i)->bytes;
    group->first += group->count;
    return status;
}

enum dti_status dti_file_cast_run(struct dti_file_cast *cast,
                                  const struct dti_file_cast_options *options,
                                  struct dti_error *reterr)
{
    struct group *const group = malloc(sizeof *group);
    if (!group)
        return dti_file_cast_no_memory(reterr);
    group->cast = cast;
    group->options = options;
    group->first = 0;
    group->done = 0;
    enum dti_status status = dti_new_files_write_heads(&cast->files, reterr);
    while (status == DTI_OK && group->first < cast->tensor_count)
        status = run_group(group, reterr);
    free(group);
    return status;
}
