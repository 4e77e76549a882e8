/* SPDX-License-Identifier: MIT
 *
 * dtinfo advise: the format of each group of tensors with which a checkpoint fits a size. */
#include <string.h>

#include "cli/advise/advise_page.h"
#include "cli/advise/advise_picture.h"
#include "cli/shared/progress.h"
#include "cli/shell/command.h"
#include "io/output.h"
#include "io/output_leftovers.h"
#include "requests/advise/advise_args.h"
#include "requests/rewrite/leftover_words.h"
#include "util/run/allocate.h"

/* As in a rewrite, with a bar for each format. */
static enum dti_status pass(struct dti_rewrite_job *job, struct dti_rewrite_options *options,
                            struct dti_error *reterr)
{
    const struct dti_command_context *const cx = job->front->cx;
    struct dti_progress progress;
    const bool bar =
        dti_progress_wanted((enum dti_progress_when)job->transfer->progress, cx, false);
    dti_progress_start(&progress, bar ? cx->err : NULL, job->rewrite->work_bytes, "bytes");
    options->progress = dti_progress_show;
    options->progress_context = &progress;
    const enum dti_status status = dti_rewrite_job_pass(job, options, NULL, reterr);
    dti_progress_end(&progress);
    return status;
}

static void warn(void *cx, const struct dti_note *note)
{
    char words[DTI_REMEDY_WORDS];
    dti_warn(cx, "%s", dti_note_words(words, note));
}

/* Opens a file to write, and names what killed runs left of it. */
static enum dti_status open_file(struct dti_command_context *cx, const char *path, bool force,
                                 struct dti_output_file **ret, struct dti_error *reterr)
{
    struct dti_output_leftovers leftovers = {.count = {0}};
    dti_output_guard_signals();
    const enum dti_status status =
        dti_output_leftovers_find(&leftovers, path, false, force, reterr);
    if (status != DTI_OK)
        return status;
    dti_output_warn_leftovers(&leftovers, path, warn, cx);
    return dti_output_open(ret, path, force, 0, reterr);
}

/* Writes a text, of which `status` says whether it is there, and frees it. */
static enum dti_status write_text(struct dti_buffer *text, enum dti_status status,
                                  struct dti_output_file *file, struct dti_error *reterr)
{
    if (status == DTI_OK && text->failed)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_output_write(file, text->data, text->length, reterr);
    dti_buffer_free(text);
    if (status == DTI_OK)
        return dti_output_commit(file, reterr);
    dti_output_discard(file);
    return status;
}

/* Writes the document that is in cx->json. */
static enum dti_status write_document(const struct dti_command_context *cx,
                                      struct dti_output_file *file, struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    const enum dti_status status = dti_json_append(cx->json, &text, reterr);
    return write_text(&text, status, file, reterr);
}

static enum dti_status write_plan(const struct dti_command_context *cx,
                                  const struct dti_advise *advise, struct dti_output_file *file,
                                  struct dti_error *reterr)
{
    struct dti_buffer text;
    if (advise->form == DTI_ADVISE_AS_PLAN) {
        dti_document_advise_plan(cx->json, advise);
        return write_document(cx, file, reterr);
    }
    dti_buffer_init(&text);
    if (advise->form != DTI_ADVISE_AS_TENSOR_TYPES) {
        dti_buffer_append(&text, advise->document.data, advise->document.length);
        return write_text(&text, DTI_OK, file, reterr);
    }
    const enum dti_status status = dti_advise_tensor_types(advise, &text, reterr);
    return write_text(&text, status, file, reterr);
}

static enum dti_status save(const struct dti_advise_work *work, const struct dti_measured *measured,
                            struct dti_error *reterr)
{
    struct dti_output_file *file;
    const char *const path = work->args->measurements;
    enum dti_status status = dti_inputs_unchanged(reterr);
    if (status == DTI_OK)
        status = open_file(work->cx, path, false, &file, reterr);
    if (status != DTI_OK)
        return status;
    dti_document_advise_measurements(work->cx->json, measured);
    return write_document(work->cx, file, reterr);
}

/* Before anything is measured, as the plan. */
static enum dti_status open_picture(const struct advise_args *args, struct dti_command_context *cx,
                                    struct dti_output_file **ret, struct dti_error *reterr)
{
    if (!args->svg)
        return DTI_OK;
    if (dti_output_is_standard(args->svg) ||
        (args->transfer.output && strcmp(args->svg, args->transfer.output) == 0))
        return dti_fail(reterr, DTI_USAGE, "--svg writes a file of its own; give another name");
    return open_file(cx, args->svg, args->transfer.force, ret, reterr);
}

static enum dti_status write_picture(const struct dti_advise *advise, struct dti_output_file *file,
                                     struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    const enum dti_status status = dti_advise_svg(advise, &text, reterr);
    return write_text(&text, status, file, reterr);
}

/* The picture, then the plan. */
static enum dti_status write_files(const struct advise_args *args, struct dti_command_context *cx,
                                   const struct dti_advise *advise, struct dti_output_file *plan,
                                   struct dti_output_file *picture, struct dti_error *reterr)
{
    char reason[DTI_ERROR_TEXT];
    enum dti_status status = picture ? write_picture(advise, picture, reterr) : DTI_OK;
    if (status != DTI_OK || !plan) {
        dti_output_discard(plan);
        return status;
    }
    status = write_plan(cx, advise, plan, reterr);
    if (status == DTI_OK || !picture)
        return status;
    const struct dti_error error = *reterr;
    return dti_fail(reterr, status, "%s; %s is complete", dti_error_words(reason, &error),
                    DTI_QUOTED(args->svg, strlen(args->svg)));
}

static enum dti_status report(const struct advise_args *args, struct dti_command_context *cx,
                              const struct dti_advise *advise, struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return DTI_ANSWER(cx, advise, advise, reterr);
    if (!cx->quiet)
        return dti_advise_page(cx, advise, reterr);
    return args->transfer.output ? DTI_OK : dti_advise_lines(cx, advise, reterr);
}

/* The plan and the picture appear only if the answer is there, and stand if its report fails. */
static enum dti_status answer(const struct advise_args *args, struct dti_command_context *cx,
                              const struct dti_advise *advise, struct dti_output_file *plan,
                              struct dti_output_file *picture, struct dti_error *reterr)
{
    const char *const written = plan ? args->transfer.output : args->svg;
    enum dti_status status = dti_inputs_unchanged(reterr);
    if (status != DTI_OK) {
        dti_output_discard(plan);
        dti_output_discard(picture);
        return status;
    }
    status = write_files(args, cx, advise, plan, picture, reterr);
    if (status != DTI_OK)
        return status;
    if (written)
        dti_output_is_complete(written);
    status = report(args, cx, advise, reterr);
    return written ? dti_output_report_end(cx, written, status, reterr) : status;
}

/* Opened before anything is measured. */
static enum dti_status open_plan(const struct advise_args *args, struct dti_command_context *cx,
                                 struct dti_output_file **ret, struct dti_error *reterr)
{
    const char *const path = args->transfer.output;
    if (!path)
        return DTI_OK;
    if (dti_output_is_standard(path))
        return dti_fail(
            reterr, DTI_USAGE,
            "-o writes the plan, and standard output has the answer; give the name of a file");
    return open_file(cx, path, args->transfer.force, ret, reterr);
}

static enum dti_status run_advise(const void *all_args, char **operands, int count,
                                  struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct advise_args *const args = all_args;
    struct dti_advise_work work = {
        .args = args, .asker = &cx->asker, .cx = cx, .pass = pass, .save = save};
    struct dti_output_file *plan = NULL, *picture = NULL;
    if (count != 1)
        return dti_fail(reterr, DTI_USAGE,
                        "advise takes one model, as in 'dtinfo advise model/ --fit 24GB'");
    enum dti_status status = open_plan(args, cx, &plan, reterr);
    if (status == DTI_OK)
        status = open_picture(args, cx, &picture, reterr);
    struct dti_advise *const advise = status == DTI_OK ? dti_calloc(1, sizeof *advise) : NULL;
    if (status == DTI_OK)
        status =
            advise ? dti_advise_run(advise, &work, operands[0], reterr) : dti_no_memory(reterr);
    if (status == DTI_OK) {
        status = answer(args, cx, advise, plan, picture, reterr);
    } else {
        dti_output_discard(plan);
        dti_output_discard(picture);
    }
    if (advise)
        dti_advise_free(advise);
    dti_free(advise);
    return status;
}

const struct dti_command dti_command_advise = {
    .name = "advise",
    .group = "files",
    .summary = "choose formats of tensors that fit a size with the least error",
    .reads = true,
    .synopsis = "MODEL --fit SIZE",
    .details = "Quantizes MODEL in every format of a menu without writing it, and chooses one\n"
               "for each group of tensors that must share a format, so that all tensors fit\n"
               "into SIZE and the weighted sum of their relative squared errors is the least.\n"
               "With -o PLAN the choice is written to a file that 'dtinfo quant' executes. If\n"
               "nothing fits, the exit code is 1.",
    .examples = NULL,
    .schema = "dtinfo.advise/1",
    .other_schemas = {"dtinfo.advise_plan/1", "dtinfo.advise_measurements/1"},
    .operands = DTI_OPERANDS_FILES,
    .options = dti_advise_options,
    .args_size = sizeof(struct advise_args),
    .run = run_advise,
};
