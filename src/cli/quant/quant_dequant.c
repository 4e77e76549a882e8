/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE --dequant: numbers out of codes and scales. What is quantized is made
 * floats by a view of the file; the rest is a cast of that view. */
#include <string.h>

#include "cli/quant/quant_files.h"

#define EXAMPLE "as in 'dtinfo quant model.gguf bf16 --dequant -o model.safetensors'"

struct quant_dequant {
    const struct quant_args *args;
    struct dti_cast_file_args cast_args; /* what the cast of a file is asked by */
    struct dti_cast_file file;
    struct dti_file_dequant *dequant;
    struct dti_dequant_answer answer;
};

static enum dti_status check_options(const struct quant_args *args, char **operands, int count,
                                     struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args, "min max scale zero-point tensor-scale axis symmetric affine symmetry division like "
              "mx-scale per pad");
    const int files = args->transfer.input ? 0 : 1;
    char quoted[DTI_QUOTE_SIZE];
    if (option)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s says how to quantize, and --dequant takes what the file says; leave "
                        "it out",
                        option);
    if (count < files)
        return dti_fail(reterr, DTI_USAGE, "no file to read; give one, " EXAMPLE);
    const char *const path = args->transfer.input ? args->transfer.input : operands[0];
    if (count == files)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has no dtype to be dequantized to; give one, " EXAMPLE,
                        dti_quote(quoted, path, strlen(path)));
    return DTI_OK;
}

static struct dti_cast_file_args cast_args_of(const struct quant_args *args)
{
    return (struct dti_cast_file_args){
        .policy = {.fail_on = args->fail_on ? DTI_FLAG_INEXACT : 0}, /* losses are counted */
        .transfer = args->transfer,
        .tensors = args->tensors,
    };
}

static enum dti_status check_target(const struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_format *const format = &file->job.targets[0].dtype;
    if (dti_format_is_float(format))
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "--dequant makes floats, and %s is none; say fp32, fp16 or bf16", format->name);
}

static enum dti_status make_view(struct quant_dequant *job, struct dti_error *reterr)
{
    const struct quant_args *const args = job->args;
    struct dti_cast_file *const file = &job->file;
    char quoted[DTI_QUOTE_SIZE];
    const struct dti_file_dequant_request request = {
        .layout_given = args->layout_given,
        .layout = (enum dti_quant_layout)args->layout,
        .high = args->rules.order == DTI_BLOCK_HIGH,
        .bits = (unsigned)args->bits,
        .block = args->rules.block,
        .said_by = "--bits or --block",
        .only = args->tensors.only,
        .keep = args->tensors.keep,
        .select = args->tensors.select,
        .level = file->level,
        .open = file->source.options,
    };
    const enum dti_status status =
        dti_file_dequant_new(&job->dequant, file->container, &request, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_file_dequant_count(job->dequant) == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: nothing that is quantized was found%s; 'dtinfo cast' makes other "
                        "dtypes of floats",
                        dti_quote(quoted, file->path, strlen(file->path)),
                        args->tensors.only || args->tensors.keep || args->tensors.select
                            ? " among the chosen tensors"
                        : args->layout_given ? " in that layout"
                                             : "");
    file->viewed = dti_file_dequant_container(job->dequant);
    file->view = dti_file_dequant_view(job->dequant);
    return DTI_OK;
}

static void make_answer(struct quant_dequant *job)
{
    const struct dti_cast_file *const file = &job->file;
    job->answer = (struct dti_dequant_answer){
        .path = file->path,
        .out_path = file->out_path,
        .cast = file->cast,
        .dequant = job->dequant,
        .dry_run = job->args->tensors.dry_run,
        .bits = job->args->bits,
        .block = job->args->rules.block,
        .level = file->level,
        .threads = file->threads,
        .warnings = &file->job.warnings,
        .stream = file->cx->out,
    };
}

static bool is_fatal(const struct quant_dequant *job)
{
    const struct dti_loss *const loss = &job->file.cast->loss;
    struct dti_dequant_totals totals;
    dti_dequant_sum(&job->answer, &totals);
    const unsigned seen = (loss->overflowed > 0 ? DTI_QUANT_CLIPPED : 0U) |
                          (totals.nan > 0 || totals.inf > 0 ? DTI_QUANT_SPECIAL : 0U) |
                          (loss->inexact > 0 ? DTI_QUANT_INEXACT : 0U);
    return ((unsigned)job->args->fail_on & seen) != 0;
}

static enum dti_status run(struct quant_dequant *job, struct dti_error *reterr)
{
    struct dti_cast_file *const file = &job->file;
    enum dti_status status =
        dti_container_open(&file->container, file->path, &file->source.options, reterr);
    if (status == DTI_OK)
        status = dti_cast_device_open(&file->job.device, reterr);
    if (status == DTI_OK)
        status = make_view(job, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_plan(file, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_work(file, reterr);
    if (status != DTI_OK)
        return status;
    make_answer(job);
    if (file->cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(file->cx, dequant, &job->answer, reterr);
    else if (file->shown)
        status = dti_quant_dequant_human(file, &job->answer, reterr);
    return dti_cast_file_report_end(file, status, reterr);
}

enum dti_status dti_quant_dequant(const struct quant_args *args, const struct dti_context *cx,
                                  char **operands, int count, struct dti_error *reterr)
{
    struct quant_dequant job = {.args = args, .cast_args = cast_args_of(args)};
    enum dti_status status = check_options(args, operands, count, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_init(&job.file, &job.cast_args, cx, operands, count, reterr);
    if (status != DTI_OK)
        return status;
    status = check_target(&job.file, reterr);
    if (status == DTI_OK)
        status = run(&job, reterr);
    const bool fatal = status == DTI_OK && is_fatal(&job);
    dti_file_cast_free(job.file.cast); /* before what it reads */
    job.file.cast = NULL;
    dti_file_dequant_free(job.dequant);
    dti_cast_file_end(&job.file);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
