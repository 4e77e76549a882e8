/* SPDX-License-Identifier: MIT
 *
 * New files from files: a command's request, its work, its report as a document. */
#include <stdio.h>
#include <string.h>

#include "io/input.h"
#include "io/output.h"
#include "library/settings.h"
#include "library/text_document.h"
#include "requests/cast/cast_args.h"
#include "requests/quant/quant_args.h"
#include "requests/transcode/transcode_request.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

/* A conversion, and where its report goes. */
struct converting {
    struct dti_rewrite_front front;
    struct dti_context *context;
    const char *input, *what, *output;
    char device[DTI_DEVICE_ID_SIZE]; /* the context's, or "" */
    struct dti_text_document document;
    char *report; /* finished, or NULL */
};

/* A `report` of a front. */
static enum dti_status report(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct converting *const conversion = job->front->context;
    if (!conversion->document.json)
        return dti_inputs_unchanged(reterr);
    job->verb->document(conversion->document.json, &job->answer);
    return dti_text_document_give(&conversion->document, &conversion->report, reterr);
}

static enum dti_status need_dtype(const struct converting *conversion, const char *verb,
                                  struct dti_error *reterr)
{
    if (conversion->what)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "the dtype to %s to is missing", verb);
}

static enum dti_status convert_cast(struct converting *conversion, void *all_args,
                                    struct dti_error *reterr)
{
    struct cast_args *const args = all_args;
    const enum dti_status status = need_dtype(conversion, "cast", reterr);
    if (status != DTI_OK)
        return status;
    args->transfer.output = conversion->output;
    args->policy.device = conversion->device[0] != '\0' ? conversion->device : NULL;
    if (args->transfer.as_given && args->transfer.as == DTI_AS_TEXT)
        return dti_fail(reterr, DTI_UNKNOWN_OPTION,
                        "as text is for the command line; numbers as text come from dti_write()");
    if (args->transfer.from && !dti_transfer_makes_file(&args->transfer))
        return dti_fail(reterr, DTI_USAGE,
                        "raw codes become a file of tensors here; give an output that ends in "
                        ".safetensors, .npy or .npz, or cast them as an array");
    return dti_cast_file_run(args, &conversion->front, conversion->input, conversion->what, reterr);
}

static enum dti_status convert_by_plan(struct converting *conversion, const struct quant_args *args,
                                       struct dti_error *reterr)
{
    struct dti_quant_plan_file plan;
    enum dti_status status = dti_quant_plan_read(&plan, args, conversion->what, reterr);
    if (status == DTI_OK)
        status = dti_quant_file_run(&plan.args, &conversion->front, conversion->input, plan.dtype,
                                    reterr);
    dti_quant_plan_file_free(&plan);
    return status;
}

static enum dti_status convert_quant(struct converting *conversion, void *all_args,
                                     struct dti_error *reterr)
{
    struct quant_args *const args = all_args;
    if (args->plan) {
        args->transfer.output = conversion->output;
        return convert_by_plan(conversion, args, reterr);
    }
    const enum dti_status status =
        need_dtype(conversion, args->recipe.dequant ? "dequantize" : "quantize", reterr);
    if (status != DTI_OK)
        return status;
    args->transfer.output = conversion->output;
    return dti_quant_file_run(args, &conversion->front, conversion->input, conversion->what,
                              reterr);
}

static enum dti_status convert_dequant(struct converting *conversion, void *all_args,
                                       struct dti_error *reterr)
{
    struct quant_args *const args = all_args;
    args->recipe.dequant = true;
    return convert_quant(conversion, args, reterr);
}

static enum dti_status convert_transcode(struct converting *conversion, void *all_args,
                                         struct dti_error *reterr)
{
    struct transcode_args *const args = all_args;
    const struct dti_setting to = {"to", conversion->what};
    if (conversion->what) {
        const enum dti_status status =
            dti_settings_store("transcode", dti_transcode_options, args, &to, 1, reterr);
        if (status != DTI_OK)
            return status;
    }
    args->transfer.output = conversion->output;
    return dti_transcode_file_run(args, &conversion->front, conversion->input, reterr);
}

static const struct verb {
    const char *name, *command;
    const struct dti_option *options;
    size_t args_size;
    enum dti_status (*convert)(struct converting *conversion, void *args, struct dti_error *reterr);
} verbs[] = {
    {"cast", "cast", dti_cast_options, sizeof(struct cast_args), convert_cast},
    {"quant", "quant", dti_quant_options, sizeof(struct quant_args), convert_quant},
    {"dequant", "quant", dti_quant_options, sizeof(struct quant_args), convert_dequant},
    {"transcode", "transcode", dti_transcode_options, sizeof(struct transcode_args),
     convert_transcode},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static const char *verb_name(size_t i)
{
    return i < VERBS ? verbs[i].name : NULL;
}

static enum dti_status find_verb(const struct verb **ret, const char *name,
                                 struct dti_error *reterr)
{
    struct dti_nearest nearest;
    size_t at;
    dti_nearest_init(&nearest, name, strlen(name));
    if (dti_nearest_find(&nearest, verb_name, &at)) {
        *ret = &verbs[at];
        return DTI_OK;
    }
    (void)dti_fail_word(reterr, DTI_UNKNOWN_OPTION, name, strlen(name),
                        "the verbs are cast, quant, dequant and transcode; got %s",
                        DTI_QUOTED(name, strlen(name)));
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_OPTION;
}

/* The library leaves the standard streams alone. */
static enum dti_status check_paths(const struct converting *conversion, struct dti_error *reterr)
{
    if (!conversion->input || strcmp(conversion->input, "-") == 0)
        return dti_fail(reterr, DTI_USAGE, "the input is a file; give a path");
    if (conversion->output && dti_output_is_standard(conversion->output))
        return dti_fail(reterr, DTI_USAGE, "the output is a file; give a path");
    return DTI_OK;
}

static void name_device(const struct dti_device_choice *choice, char ret[DTI_DEVICE_ID_SIZE])
{
    ret[0] = '\0';
    if (choice->kind == DTI_DEVICE_AUTO)
        (void)snprintf(ret, DTI_DEVICE_ID_SIZE, "auto");
    else if (choice->kind == DTI_DEVICE_CUDA)
        (void)snprintf(ret, DTI_DEVICE_ID_SIZE, "cuda:%u", choice->number);
}

static enum dti_status convert(struct converting *conversion, const struct verb *verb,
                               const struct dti_setting *settings, size_t setting_count,
                               bool document, struct dti_error *reterr)
{
    const struct dti_asker asker = dti_settings_asker(conversion->context, verb->command, document);
    void *const args = dti_calloc(1, verb->args_size);
    if (!args)
        return dti_no_memory(reterr);
    name_device(&conversion->context->device, conversion->device);
    enum dti_status status =
        dti_settings_store(verb->name, verb->options, args, settings, setting_count, reterr);
    if (status == DTI_OK && document)
        status = dti_text_document_open(&conversion->document, reterr);
    conversion->front = (struct dti_rewrite_front){
        .asker = &asker,
        .stream = &conversion->document.sink,
        .context = conversion,
        .report = report,
    };
    if (status == DTI_OK)
        status = verb->convert(conversion, args, reterr);
    dti_text_document_end(&conversion->document);
    dti_free(args);
    if (status == DTI_ANSWER_NO && reterr && reterr->text[0] == '\0')
        (void)dti_fail(reterr, DTI_ANSWER_NO, "an event of fail-on happened");
    return status;
}

enum dti_status dti_file_convert(struct dti_context *context, const char *verb, const char *input,
                                 const char *what, const char *output,
                                 const struct dti_setting *settings, size_t setting_count,
                                 char **ret_report, struct dti_error *reterr)
{
    struct dti_error unwanted; /* the layers below need one */
    struct converting conversion = {
        .context = context, .input = input, .what = what, .output = output};
    struct dti_caller caller = dti_context_caller(context);
    struct dti_call call;
    const struct verb *row = NULL;
    dti_call_begin(&call, &caller);
    reterr = reterr ? reterr : &unwanted;
    enum dti_status status = find_verb(&row, verb ? verb : "", reterr);
    if (status == DTI_OK)
        status = check_paths(&conversion, reterr);
    if (status == DTI_OK)
        status = convert(&conversion, row, settings, setting_count, ret_report != NULL, reterr);
    if (ret_report)
        *ret_report = conversion.report;
    status = dti_settings_fail(reterr, status);
    dti_call_end(&call);
    dti_caller_end(&caller);
    return status;
}
