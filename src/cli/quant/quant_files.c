/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE: the request and the answer. */
#include "cli/quant/quant_files.h"

#include <stdlib.h>
#include <string.h>

/* Options that a flattening layout leaves no choice about, or that only such a layout has. */
static enum dti_status check_layout(const struct quant_args *args, struct dti_error *reterr)
{
    const bool flat = dti_quant_layout_is_flat((enum dti_quant_layout)args->recipe.layout);
    const char *const option = dti_quant_given(args, "packing axis pad");
    if (args->recipe.nested && !flat)
        return dti_fail(reterr, DTI_USAGE,
                        "--nested-absmax is for --layout bitsandbytes; give that, or leave it out");
    if (flat && option)
        return dti_fail(reterr, DTI_USAGE,
                        "--layout bitsandbytes flattens tensors, and packs the first code in the "
                        "highest bits; leave out --%s",
                        option);
    return DTI_OK;
}

static enum dti_status read_target(struct quant_file *file, const char *dtype,
                                   struct dti_error *reterr)
{
    const struct quant_args *const args = file->args;
    size_t count = 0;
    const enum dti_status status =
        dti_quant_targets_read(args, file->job.cx, dtype, &file->target, &count, reterr);
    char quoted[DTI_QUOTE_SIZE];
    if (status != DTI_OK)
        return status;
    if (count != 1)
        return dti_fail(reterr, DTI_USAGE, "a file goes to one dtype; got %s",
                        dti_quote(quoted, dtype, strlen(dtype)));
    if (!args->recipe.min != !args->recipe.max)
        return dti_fail(reterr, DTI_USAGE, "for a file %s needs %s too",
                        args->recipe.min ? "--min" : "--max", args->recipe.min ? "--max" : "--min");
    const struct dti_quant_row *const row =
        dti_quant_row_find((enum dti_quant_layout)args->recipe.layout, file->target->name);
    if (args->recipe.order_given && row && row->packing == DTI_QUANT_WORDS)
        return dti_fail(reterr, DTI_USAGE,
                        "%s packs %s into words of 32 bits, the first in the lowest; leave out "
                        "--packing",
                        dti_quant_layout_name(row->layout), file->target->name);
    const struct dti_quant_target *const target = file->target;
    if (target->note)
        dti_warnings_add(&file->job.job.warnings, "dtype_name", target->name, 0, target->note);
    file->rules = dti_recipe_rules(&args->recipe);
    dti_recipe_request_quant(&file->job.request, &args->recipe, target);
    return DTI_OK;
}

void dti_quant_file_describe(struct dti_rewrite_job *job)
{
    const struct quant_file *const file = job->args;
    job->answer.target = file->target;
    job->answer.rules = &file->rules;
}

bool dti_quant_file_fails(const struct dti_rewrite_job *job)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const unsigned seen = (rewrite->count.clipped > 0 ? DTI_QUANT_CLIPPED : 0U) |
                          (rewrite->count.special > 0 ? DTI_QUANT_SPECIAL : 0U) |
                          (rewrite->loss.inexact > 0 ? DTI_QUANT_INEXACT : 0U);
    return (job->fail_on & seen) != 0;
}

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_KEEP] = "kept: --keep",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_NARROW] = "kept: 8 bits or less already",
    [DTI_FATE_SCALAR] = "kept: a single number",
    [DTI_FATE_PART] = "kept: part of an already quantized tensor",
};

static const struct dti_rewrite_command command = {
    .verb = "quantized",
    .example = "as in 'dtinfo quant model.safetensors mxfp4 -o model.mxfp4.safetensors'",
    .no_file = "no file to quantize",
    .regular = true,
    .kept = kept,
    .describe = dti_quant_file_describe,
    .document = dti_document_quant_file,
    .page = &dti_quant_page,
    .fails = dti_quant_file_fails,
};

enum dti_status dti_quant_file(const struct quant_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct quant_file file = {.args = args};
    struct dti_rewrite_job *const job = &file.job;
    const char *dtype = NULL;
    dti_rewrite_job_init(job, &command, &args->transfer, &args->tensors, cx);
    job->args = &file;
    job->fail_on = (unsigned)args->fail_on;
    enum dti_status status = dti_rewrite_operands(job, operands, count, &dtype, reterr);
    if (status == DTI_OK && args->bits_given)
        status = dti_fail(reterr, DTI_USAGE,
                          "--bits is for --dequant; the dtype determines the bits of a code");
    if (status == DTI_OK)
        status = dti_rewrite_options(job, NULL, reterr);
    if (status == DTI_OK)
        status = check_layout(args, reterr);
    if (status == DTI_OK)
        status = read_target(&file, dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(job, reterr);
    status = dti_rewrite_job_run(job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_FIRST; /* there is no --from */
    free(file.target);
    return status;
}
