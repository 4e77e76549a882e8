/* SPDX-License-Identifier: MIT
 *
 * A rewrite from start to end: choose, plan, lay out; open; and, in rewrite_run.c, the work. */
#include "files/rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "files/rewrite/rewrite_parts.h"
#include "files/rewrite/rewrite_shards.h"
#include "util/run/allocate.h"

static const struct dti_recipe_ops *const recipes[] = {
    [DTI_RECIPE_CAST] = &dti_recipe_cast,         [DTI_RECIPE_DEQUANTIZE] = &dti_recipe_dequantize,
    [DTI_RECIPE_QUANTIZE] = &dti_recipe_quantize, [DTI_RECIPE_TRANSCODE] = &dti_recipe_transcode,
    [DTI_RECIPE_ENCODE] = &dti_recipe_encode,
};

static enum dti_status decide(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_recipe_ops *const ops = rewrite->ops;
    enum dti_status status = ops->begin(rewrite, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_choose(rewrite, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_check_headers(rewrite, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_plan(rewrite, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_layout(rewrite, reterr);
    return status == DTI_OK && ops->laid_out ? ops->laid_out(rewrite, reterr) : status;
}

enum dti_status dti_rewrite_new(struct dti_rewrite **ret, struct dti_container *container,
                                const struct dti_rewrite_request *request, struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = dti_calloc(1, sizeof *rewrite);
    if (!rewrite)
        return dti_no_memory(reterr);
    rewrite->request = *request;
    rewrite->ops = recipes[request->recipe];
    rewrite->container = container;
    rewrite->counts = request->counted;
    dti_loss_init(&rewrite->loss);
    dti_buffer_init(&rewrite->list.names);
    dti_new_files_init(&rewrite->files, container, request->kind, request->path);
    if (request->model)
        rewrite->files.model = request->model;
    const enum dti_status status = decide(rewrite, reterr);
    if (status == DTI_OK)
        *ret = rewrite;
    else
        dti_rewrite_free(rewrite);
    return status;
}

enum dti_status dti_rewrite_open(struct dti_rewrite *rewrite, bool force, struct dti_error *reterr)
{
    const struct dti_recipe_ops *const ops = rewrite->ops;
    enum dti_status status = ops->opens ? ops->opens(rewrite, reterr) : DTI_OK;
    if (status == DTI_OK)
        status = dti_new_files_open(&rewrite->files, force, reterr);
    for (size_t i = 0; i < rewrite->files.count && status == DTI_OK && !ops->elementwise; i++) {
        const struct dti_new_file *const file = &rewrite->files.list[i];
        char label[DTI_QUOTE_SIZE];
        if (!dti_output_seekable(file->output))
            return dti_fail_remedy(
                reterr, DTI_USAGE, DTI_REMEDY_OUTPUT_FILE,
                "%s is not a regular file; codes and scales are written to files side by side",
                dti_quote(label, file->path, strlen(file->path)));
    }
    return status;
}

void dti_rewrite_add_loss(struct dti_rewrite *rewrite, size_t at, const struct dti_loss *loss)
{
    dti_loss_summarize(loss, &dti_rewrite_outcome(rewrite, at)->loss);
    if (loss->max_absolute > rewrite->loss.max_absolute)
        rewrite->max_tensor = at;
    dti_loss_merge(&rewrite->loss, loss);
}

void dti_rewrite_loss(const struct dti_rewrite *rewrite, struct dti_loss_summary *ret)
{
    dti_loss_summarize(&rewrite->loss, ret);
    if (rewrite->tensor_count > 0)
        ret->max_index = dti_rewrite_outcome(rewrite, rewrite->max_tensor)->loss.max_index;
}

void dti_rewrite_free(struct dti_rewrite *rewrite)
{
    if (!rewrite)
        return;
    dti_new_files_free(&rewrite->files);
    if (rewrite->ops->free)
        rewrite->ops->free(rewrite);
    for (size_t i = 0; i < rewrite->plan_count; i++)
        dti_plan_free(rewrite->plans[i]);
    for (size_t i = 0; i < rewrite->quant_plan_count; i++)
        dti_quant_plan_free(rewrite->quant_plans[i]);
    dti_pool_free(&rewrite->ways);
    dti_free(rewrite->plans);
    if (rewrite->fused != rewrite->request.fused)
        dti_fused_ranges_free(rewrite->fused);
    dti_free(rewrite->quant_plans);
    dti_free(rewrite->quant_firsts);
    dti_rewrite_list_free(rewrite);
    dti_free(rewrite->parts);
    dti_free(rewrite->part_files);
    dti_free(rewrite->outcomes);
    dti_free(rewrite->tensors);
    dti_free(rewrite);
}
