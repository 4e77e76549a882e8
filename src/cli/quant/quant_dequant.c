/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE --dequant: numbers out of codes and scales. A view of the file
 * dequantizes the codes; the rest is a cast of that view. */
#include "cli/quant/quant_args.h"
#include "cli/shared/dequant_report.h"

static bool fails(const struct dti_rewrite_job *job)
{
    const struct quant_args *const args = job->args;
    const struct dti_loss *const loss = &job->rewrite->loss;
    const struct dti_dequant_totals *const totals = &job->answer.dequant;
    const unsigned seen = (loss->overflowed > 0 ? DTI_QUANT_CLIPPED : 0U) |
                          (totals->nan > 0 || totals->inf > 0 ? DTI_QUANT_SPECIAL : 0U) |
                          (loss->inexact > 0 ? DTI_QUANT_INEXACT : 0U);
    return ((unsigned)args->fail_on & seen) != 0;
}

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
};

static const struct dti_rewrite_command command = {
    .verb = "dequantized",
    .example = "as in 'dtinfo quant model.gguf bf16 --dequant -o model.safetensors'",
    .no_file = "no file to read",
    .kept = kept,
    .open = dti_dequant_view,
    .document = dti_document_dequant,
    .page = &dti_dequant_page,
    .fails = fails,
};

static enum dti_status check_options(const struct quant_args *args, char **operands, int count,
                                     struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args, "min max scale zero-point tensor-scale axis symmetric affine symmetry division "
              "mx-scale nv-scale per pad nested-absmax");
    const int files = args->transfer.input ? 0 : 1;
    const bool like =
        args->recipe.quant_like_given && args->recipe.rules.like != DTI_QUANT_LIKE_VLLM;
    if (option || like)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for quantizing; --dequant reads it from the file: leave it out",
                        option ? option : "like");
    if (count != files)
        return DTI_OK;
    return dti_rewrite_no_dtype(&command, args->transfer.input ? args->transfer.input : operands[0],
                                reterr);
}

static enum dti_status check_target(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_format *const format = &job->job.targets[0].dtype;
    if (dti_format_is_float(format))
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "--dequant makes floats, and %s is not one; use fp32, fp16 or bf16",
                    format->name);
}

enum dti_status dti_quant_dequant(const struct quant_args *args, const struct dti_context *cx,
                                  char **operands, int count, struct dti_error *reterr)
{
    /* losses are counted */
    const struct dti_policy_args policy = {.fail_on = args->fail_on ? DTI_FLAG_INEXACT : 0};
    struct dti_rewrite_job job;
    const char *dtype = NULL;
    dti_rewrite_job_init(&job, &command, &args->transfer, &args->tensors, cx);
    job.args = args;
    job.request.recipe = DTI_RECIPE_DEQUANTIZE;
    job.view = (struct dti_file_dequant_request){
        .layout_given = args->recipe.layout_given,
        .layout = (enum dti_quant_layout)args->recipe.layout,
        .high = args->recipe.rules.order == DTI_BLOCK_HIGH,
        .bits = (unsigned)args->bits,
        .block = args->recipe.rules.block,
        .reciprocal = args->recipe.quant_like_given,
        .said_by = "--bits or --block",
    };
    enum dti_status status = check_options(args, operands, count, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_operands(&job, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(&job, NULL, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_cast(&job, &policy, dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(&job, reterr);
    if (status == DTI_OK)
        status = check_target(&job, reterr);
    status = dti_rewrite_job_run(&job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_RAW; /* there is no --from */
    return status;
}
