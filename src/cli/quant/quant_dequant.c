/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE --dequant: numbers out of codes and scales. What is quantized is made
 * floats by a view of the file; the rest is a cast of that view. */
#include "cli/quant/quant_dequant.h"

#include <string.h>

#include "cli/shared/file_json.h"

#define EXAMPLE "as in 'dtinfo quant model.gguf bf16 --dequant -o model.safetensors'"

/* Options of the way there; the way back takes what the file says. */
static const char *surplus_option(const struct quant_args *args)
{
    return args->min              ? "--min"
           : args->max            ? "--max"
           : args->scale          ? "--scale"
           : args->zero_point     ? "--zero-point"
           : args->tensor_scale   ? "--tensor-scale"
           : args->axis           ? "--axis"
           : args->symmetric      ? "--symmetric"
           : args->affine         ? "--affine"
           : args->symmetry_given ? "--symmetry"
           : args->division_given ? "--division"
           : args->like_given     ? "--like"
           : args->mx_scale_given ? "--mx-scale"
           : args->per_given      ? "--per"
           : args->pad            ? "--pad"
                                  : NULL;
}

static enum dti_status check_options(const struct quant_args *args, char **operands, int count,
                                     struct dti_error *reterr)
{
    const char *const option = surplus_option(args);
    const int files = args->input ? 0 : 1;
    char quoted[DTI_QUOTE_SIZE];
    if (option)
        return dti_fail(reterr, DTI_USAGE,
                        "%s says how to quantize, and --dequant takes what the file says; leave "
                        "it out",
                        option);
    if (count < files)
        return dti_fail(reterr, DTI_USAGE, "no file to read; give one, " EXAMPLE);
    const char *const path = args->input ? args->input : operands[0];
    if (count == files)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has no dtype to be dequantized to; give one, " EXAMPLE,
                        dti_quote(quoted, path, strlen(path)));
    return DTI_OK;
}

static struct cast_args cast_args_of(const struct quant_args *args)
{
    return (struct cast_args){
        .input = args->input,
        .output = args->output,
        .as = args->as == QUANT_AS_NPY ? CAST_AS_NPY : CAST_AS_SAFETENSORS,
        .as_given = args->as_given,
        .fail_on = args->fail_on ? DTI_FLAG_INEXACT : 0, /* losses are counted */
        .force = args->force,
        .only = args->only,
        .keep = args->keep,
        .select = args->select,
        .assume = args->assume,
        .lenient = args->lenient,
        .dry_run = args->dry_run,
        .threads = args->threads,
        .max_memory = args->max_memory,
        .progress = args->progress,
        .progress_given = args->progress_given,
    };
}

static enum dti_status check_target(const struct cast_file *file, struct dti_error *reterr)
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
    struct cast_file *const file = &job->file;
    char quoted[DTI_QUOTE_SIZE];
    const struct dti_file_dequant_request request = {
        .layout_given = args->layout_given,
        .layout = (enum dti_quant_layout)args->layout,
        .high = args->nibble_given && args->nibble == DTI_BLOCK_HIGH,
        .bits = (unsigned)args->bits,
        .block = args->block_given ? args->block : 0,
        .said_by = "--bits or --block",
        .only = args->only,
        .keep = args->keep,
        .select = args->select,
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
                        args->only || args->keep || args->select ? " among the chosen tensors"
                        : args->layout_given                     ? " in that layout"
                                                                 : "");
    file->viewed = dti_file_dequant_container(job->dequant);
    file->view = dti_file_dequant_view(job->dequant);
    return DTI_OK;
}

/* What was read, and what came of it. */
static void add_up(struct quant_dequant *job)
{
    for (size_t i = 0; i < job->file.cast->tensor_count; i++) {
        const size_t source = job->file.cast->tensors[i].source;
        const struct dti_dequant_form *const form = dti_quant_form(job, i);
        uint64_t nan, inf;
        dti_file_dequant_specials(job->dequant, source, &nan, &inf);
        job->nan += nan;
        job->inf += inf;
        job->stored_bytes +=
            form->dtype ? form->stored_bytes : job->file.viewed->tensors[source].bytes;
    }
}

static bool is_fatal(const struct quant_dequant *job)
{
    const struct dti_loss *const loss = &job->file.cast->loss;
    const unsigned asked = (unsigned)job->args->fail_on;
    return ((asked & QUANT_CLIPPED) != 0 && loss->overflowed > 0) ||
           ((asked & QUANT_SPECIAL) != 0 && (job->nan > 0 || job->inf > 0)) ||
           ((asked & QUANT_INEXACT) != 0 && loss->inexact > 0);
}

static enum dti_status run(struct quant_dequant *job, struct dti_error *reterr)
{
    struct cast_file *const file = &job->file;
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
    add_up(job);
    if (file->cx->output != DTI_OUTPUT_HUMAN)
        status = dti_quant_dequant_json(job, reterr);
    else if (file->shown)
        status = dti_quant_dequant_human(job, reterr);
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
