/* SPDX-License-Identifier: MIT
 *
 * Runs a rewrite: writes headers, then tensors in groups, so that memory does not grow with their
 * number. The tensors of a group that are cast or copied form a batch; then the others are
 * quantized. */
#include <stdio.h>
#include <stdlib.h>

#include "dtinfo/rewrite.h"
#include "dtinfo/scan.h"
#include "files/rewrite/rewrite_parts.h"

enum { GROUP = 1024 }; /* tensors of a batch */

struct group {
    struct dti_rewrite_run run;
    struct dti_quantizer *quantizer; /* or NULL: nothing is quantized */
    size_t next;                     /* tensor */
    size_t count;                    /* of those that are a batch */
    uint64_t bytes;                  /* their input */
    size_t places[GROUP];            /* of the rewrite's tensors */
    struct dti_batch_part parts[GROUP];
    struct dti_loss losses[GROUP];
    struct dti_rewrite_input input; /* of the last part */
};

/* Fills the next part of the batch. */
static enum dti_status add_part(struct group *group, size_t at, bool *ret_last,
                                struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = group->run.rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    struct dti_batch_part *const part = &group->parts[group->count];
    struct dti_loss *const loss = &group->losses[group->count];
    const bool complex = source->format->kind == DTI_KIND_COMPLEX;
    *part = (struct dti_batch_part){
        .plan = tensor->plan,
        .elements =
            !tensor->plan ? dti_rewrite_work(rewrite, at) : (complex ? 2 : 1) * source->elements,
        .output = rewrite->files.list[tensor->part->file].output,
        .output_offset = tensor->part->offset,
        .loss = tensor->fate == DTI_FATE_CHANGED && rewrite->counts ? loss : NULL,
    };
    dti_loss_init(loss);
    const enum dti_status status =
        dti_rewrite_input_open(rewrite, at, group->run.options->max_memory, &group->input, reterr);
    if (status != DTI_OK)
        return status;
    part->source = group->input.source;
    part->input = part->source ? NULL : group->input.input;
    part->input_offset = part->source ? 0 : group->input.offset;
    if (tensor->type)
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
    return dti_quantizer_has_room(group->quantizer,
                                  dti_rewrite_source(rewrite, group->next)->bytes);
}

/* Where no files were opened, only what is lost matters. */
static bool is_written(const struct dti_rewrite *rewrite)
{
    return dti_new_files_are_open(&rewrite->files);
}

/* A group ends after a tensor that had to be brought into another order, which takes disk space. */
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
            status = dti_quantizer_add(group->quantizer, group->next, &last, reterr);
        else if (tensor->fate == DTI_FATE_CHANGED || is_written(rewrite))
            status = add_part(group, group->next, &last, reterr);
        else
            group->bytes += dti_rewrite_work(rewrite, group->next);
    }
    return status;
}

/* The losses of the batch become figures, and part of the whole. */
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
    dti_tensor_blame(rewrite->container, rewrite->tensors[group->places[part]].source, reterr);
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
        status = dti_quantizer_run(group->quantizer, reterr);
    return status;
}

enum dti_status dti_rewrite_run(struct dti_rewrite *rewrite,
                                const struct dti_rewrite_options *options, struct dti_error *reterr)
{
    struct group *const group = malloc(sizeof *group);
    if (!group)
        return dti_no_memory(reterr);
    group->run = (struct dti_rewrite_run){.rewrite = rewrite, .options = options};
    group->quantizer = NULL;
    group->next = 0;
    enum dti_status status =
        is_written(rewrite) ? dti_new_files_write_heads(&rewrite->files, reterr) : DTI_OK;
    if (status == DTI_OK && rewrite->quant_plan_count > 0)
        status = dti_quantizer_new(&group->quantizer, &group->run, reterr);
    while (status == DTI_OK && group->next < rewrite->tensor_count)
        status = run_group(group, reterr);
    dti_quantizer_free(group->quantizer);
    free(group);
    return status;
}

/* Finds tensors that a cast turns mostly into zeros. A loss does not count the zeros that were
 * there before, and weights may have many: candidates are read once more. */

enum { TOLD = 3 };

/* Whether more than half of `elements` became zero. */
static bool is_most(const struct dti_loss_summary *loss, uint64_t elements)
{
    return loss->to_zero > elements / 2;
}

static enum dti_status count_nonzero(struct dti_container *container, size_t tensor,
                                     const struct dti_scan_options *options, uint64_t *ret,
                                     struct dti_error *reterr)
{
    struct dti_tensor_stats scanned = {.tensor = tensor};
    const enum dti_status status = dti_scan_stats(container, &scanned, 1, options, reterr);
    if (status == DTI_OK)
        *ret = scanned.stats.elements - scanned.stats.zeros;
    return status;
}

static void tell(const struct dti_rewrite *rewrite, const char *text)
{
    const struct dti_note note = {.code = "mostly_zero", .text = text};
    rewrite->request.warn(rewrite->request.warn_context, &note);
}

/* "all", "99.87 %" */
static const char *spell_share(char text[32], uint64_t part, uint64_t all)
{
    const uint64_t share = all > UINT64_MAX / 10000 ? part / (all / 10000) : 10000 * part / all;
    if (part == all)
        return "all";
    (void)snprintf(text, 32, "%llu.%02llu %%", (unsigned long long)share / 100,
                   (unsigned long long)share % 100);
    return text;
}

/* tensor 'a.weight': 99.87 % of its nonzero elements become 0 in int8 */
static void tell_tensor(const struct dti_rewrite *rewrite, size_t at, uint64_t nonzero)
{
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    char name[DTI_QUOTE_SIZE], share[32], text[DTI_QUOTE_SIZE + 96];
    (void)snprintf(text, sizeof text, "tensor %s: %s of its nonzero elements become 0 in %s",
                   dti_quote(name, source->name, source->name_length),
                   spell_share(share, rewrite->tensors[at].outcome->loss.to_zero, nonzero),
                   rewrite->tensors[at].format->name);
    tell(rewrite, text);
}

enum dti_status dti_rewrite_warn_of_zeros(const struct dti_rewrite *rewrite,
                                          const struct dti_rewrite_options *options,
                                          struct dti_error *reterr)
{
    const struct dti_scan_options how = {
        .team = options->team, .level = rewrite->request.level, .max_memory = options->max_memory};
    enum dti_status status = DTI_OK;
    size_t found = 0;
    if (rewrite->request.recipe != DTI_RECIPE_CAST || !rewrite->counts || !rewrite->request.warn)
        return DTI_OK;
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[i];
        const struct dti_loss_summary *const loss = &tensor->outcome->loss;
        uint64_t nonzero = loss->elements;
        /* whatever is inexact was not zero */
        if (tensor->fate != DTI_FATE_CHANGED || !is_most(loss, loss->inexact))
            continue;
        if (found < TOLD || !is_most(loss, nonzero))
            status = count_nonzero(rewrite->container, tensor->source, &how, &nonzero, reterr);
        if (status == DTI_OK && is_most(loss, nonzero) && found++ < TOLD)
            tell_tensor(rewrite, i, nonzero);
    }
    if (status == DTI_OK && found > TOLD) {
        char text[96];
        (void)snprintf(text, sizeof text, "%zu more tensor%s more than half of %s nonzero elements",
                       found - TOLD, found - TOLD == 1 ? " loses" : "s lose",
                       found - TOLD == 1 ? "its" : "their");
        tell(rewrite, text);
    }
    return status;
}
