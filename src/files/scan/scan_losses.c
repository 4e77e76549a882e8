/* SPDX-License-Identifier: MIT
 *
 * What casts of tensors would lose: they are cast, but nothing is written. Computes the figures of
 * a loss, and whether a NaN was lost that must be kept. */
#include <stdlib.h>
#include <string.h>

#include "convert/batch.h"
#include "files/dequant/dequant_parts.h"
#include "files/scan/loss_summary.h"
#include "files/scan/scan_side.h"
#include "util/run/allocate.h"

struct loss_scan {
    struct dti_container *container;
    const struct dti_format *to;
    enum dti_level level;
    struct dti_plan **plans; /* one per dtype and layout */
    size_t plan_count;
    struct dti_batch_part *parts;
};

static enum dti_status find_plan(struct loss_scan *scan, const struct dti_tensor *tensor,
                                 const struct dti_plan **ret, struct dti_error *reterr)
{
    const struct dti_request request = {
        .src = *dti_scan_format(tensor),
        .src_layout = tensor->layout,
        .dst_layout = {.packing = DTI_PACKING_BYTES},
        .cast = {.dst = *scan->to, .policy = {.round = DTI_ROUND_NEAREST_EVEN}},
    };
    for (size_t i = 0; i < scan->plan_count; i++) {
        const struct dti_request *const made = dti_plan_request(scan->plans[i]);
        if (strcmp(made->src.name, request.src.name) == 0 &&
            made->src_layout.packing == request.src_layout.packing &&
            made->src_layout.swapped == request.src_layout.swapped) {
            *ret = scan->plans[i];
            return DTI_OK;
        }
    }
    struct dti_plan **const more =
        dti_realloc(scan->plans, (scan->plan_count + 1) * sizeof *scan->plans);
    if (!more)
        return dti_no_memory(reterr);
    scan->plans = more;
    const enum dti_status status =
        dti_plan_new(&more[scan->plan_count], &request, scan->level, reterr);
    if (status == DTI_OK)
        *ret = more[scan->plan_count++];
    return status;
}

static enum dti_status add_part(struct loss_scan *scan, size_t at, struct dti_tensor_loss *tensor,
                                struct dti_error *reterr)
{
    const struct dti_tensor *const source = &scan->container->tensors[tensor->tensor];
    const bool complex = source->format->kind == DTI_KIND_COMPLEX;
    struct dti_batch_part *const part = &scan->parts[at];
    *part = (struct dti_batch_part){.elements = (complex ? 2 : 1) * source->elements,
                                    .loss = &tensor->loss};
    dti_loss_init(&tensor->loss);
    enum dti_status status;
    if (dti_tensor_form(source)) {
        struct dti_dequant_tensor *const how = dti_form_how(dti_tensor_form(source));
        part->source = dti_dequant_source(how);
        status = dti_dequant_open(how, reterr);
    } else {
        status = dti_container_data(scan->container, tensor->tensor, &part->input,
                                    &part->input_offset, reterr);
    }
    if (status == DTI_OK)
        status = find_plan(scan, source, &part->plan, reterr);
    return status;
}

enum dti_status dti_scan_losses(struct dti_container *container, struct dti_tensor_loss *tensors,
                                size_t count, const struct dti_format *to,
                                const struct dti_scan_options *options, struct dti_error *reterr)
{
    const struct dti_batch_options how = {.max_memory = options->max_memory,
                                          .progress = options->progress,
                                          .progress_context = options->progress_context};
    struct loss_scan scan = {.container = container,
                             .to = to,
                             .level = options->level,
                             .parts = dti_calloc(count + 1, sizeof *scan.parts)};
    enum dti_status status = scan.parts ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        status = add_part(&scan, i, &tensors[i], reterr);
    if (status == DTI_OK && count > 0)
        status = dti_batch_run(scan.parts, count, options->team, &how, reterr);
    for (size_t i = 0; i < scan.plan_count; i++)
        dti_plan_free(scan.plans[i]);
    dti_free(scan.plans);
    dti_free(scan.parts);
    return status;
}

void dti_loss_summarize(const struct dti_loss *loss, struct dti_loss_summary *ret)
{
    *ret = (struct dti_loss_summary){
        .elements = loss->elements,
        .inexact = loss->inexact,
        .overflowed = loss->overflowed,
        .to_zero = loss->to_zero,
        .to_subnormal = loss->to_subnormal,
        .nan_in = loss->nan_in,
        .inf_in = loss->inf_in,
        .no_code = loss->no_code,
        .stray = loss->stray,
        .compared = loss->compared,
        .max_absolute = loss->max_absolute,
        .max_index = loss->max_index,
        .max_relative = loss->max_relative,
        .mean_absolute = dti_loss_mean_absolute(loss),
        .root_mean_square = dti_loss_root_mean_square(loss),
        .sqnr_db = dti_loss_sqnr_db(loss),
    };
}

/* An integer dtype turns a NaN into a number, so later stages do not matter. */
unsigned dti_loss_flags(const struct dti_loss *loss)
{
    unsigned flags = loss->flags;
    flags |= loss->inexact > 0 ? DTI_FLAG_INEXACT : 0;
    flags |= loss->overflowed > 0 ? DTI_FLAG_OVERFLOW : 0;
    flags |= loss->no_code > 0 ? DTI_FLAG_INVALID : 0;
    return flags;
}

const struct dti_format *dti_loss_without_nan(const struct dti_loss *loss,
                                              const struct dti_cast *cast,
                                              const struct dti_stack_rule *rule)
{
    if (rule || loss->no_code == 0 || cast->policy.overflow != DTI_OVERFLOW_NATIVE)
        return NULL;
    for (size_t i = 0; i <= cast->via_count; i++) {
        const struct dti_format *const stage = dti_cast_stage(cast, i);
        if (dti_format_is_integer(stage))
            return NULL;
        if (!dti_format_has_nan(stage))
            return stage;
    }
    return NULL;
}
