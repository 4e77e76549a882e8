/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE from beginning to end: read headers, decide, open the output, quantize,
 * give it its name, report. */
#include <string.h>
#include <unistd.h>

#include "cli/quant/quant_files.h"
#include "cli/shared/amount.h"
#include "cli/shared/progress.h"
#include "dtinfo/parallel.h"

/* On stderr, and among the warnings of JSON. */
static void warn(void *context, const struct dti_note *note)
{
    struct quant_file *const file = context;
    char buffer[DTI_REMEDY_WORDS];
    const char *const text = dti_note_words(buffer, note);
    dti_warn(file->cx, "%s", text);
    if (file->answer.warning_count == QUANT_WARNINGS_MAX)
        return;
    const size_t at = file->answer.warning_count++;
    (void)snprintf(file->warning_texts[at], sizeof file->warning_texts[at], "%s", text);
    file->warnings[at] =
        (struct dti_warning_answer){.code = note->code, .message = file->warning_texts[at]};
}

static enum dti_status choose_output(struct quant_file *file, struct dti_error *reterr)
{
    const enum dti_status status =
        dti_file_target_choose(file->answer.container, file->answer.out_path,
                               dti_transfer_form(&file->args->transfer), &file->output, reterr);
    file->answer.kind = status == DTI_OK ? file->output.kind : DTI_CONTAINER_COUNT;
    if (file->answer.kind != DTI_CONTAINER_RAW)
        return status;
    return dti_fail(reterr, DTI_USAGE,
                    "codes and scales are written as safetensors or npy; give a name that ends in "
                    ".safetensors or .npy, or say --as");
}

/* Decides what becomes of each tensor and what the new files are. */
static enum dti_status plan(struct quant_file *file, struct dti_error *reterr)
{
    const struct quant_args *const args = file->args;
    const struct dti_quant_target *const target = file->target;
    const enum dti_status status = choose_output(file, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_file_quant_request request = {
        .scheme = target->scheme,
        .dtype = target->name,
        .layout = (enum dti_quant_layout)args->layout,
        .has_axis = target->has_axis,
        .axis = target->axis,
        .pad = args->pad,
        .high = target->order == DTI_BLOCK_HIGH,
        .level = file->answer.level,
        .only = args->tensors.only,
        .keep = args->tensors.keep,
        .select = args->tensors.select,
        .counted = file->shown || args->fail_on != 0,
        .kind = file->output.kind,
        .path = dti_file_target_path(&file->output, file->answer.out_path),
        .index = file->output.index,
        .warn = warn,
        .warn_context = file,
    };
    for (size_t i = 0; i < file->answer.container->note_count; i++)
        warn(file, &file->answer.container->notes[i]);
    return dti_file_quant_new(&file->answer.quant, file->answer.container, &request, reterr);
}

static enum dti_status run(struct quant_file *file, struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    struct dti_progress progress;
    if (file->answer.threads == 0)
        file->answer.threads = dti_amount_useful_threads(file->answer.quant->input_bytes);
    enum dti_status status = DTI_OK;
    if (file->answer.threads > 1)
        status = dti_team_new(&team, file->answer.threads, DTI_WAIT_SLEEP, false, reterr);
    if (status != DTI_OK)
        return status;
    const bool bar =
        dti_progress_wanted((enum dti_progress_when)file->args->transfer.progress, file->cx, false);
    dti_progress_start(&progress, bar ? file->cx->err : NULL, file->answer.quant->work_bytes,
                       "bytes");
    const struct dti_file_quant_options options = {.team = team,
                                                   .max_memory = file->max_memory,
                                                   .progress = dti_progress_show,
                                                   .progress_context = &progress};
    status = dti_file_quant_run(file->answer.quant, &options, reterr);
    dti_progress_end(&progress);
    dti_team_free(team);
    return status;
}

static enum dti_status work(struct quant_file *file, struct dti_error *reterr)
{
    const bool force = file->args->transfer.force;
    if (file->args->tensors.dry_run)
        return file->answer.out_path
                   ? dti_new_files_check(&file->answer.quant->files, force, reterr)
                   : DTI_OK;
    dti_output_guard_signals();
    enum dti_status status = dti_new_files_clear(&file->answer.quant->files, force,
                                                 file->answer.out_path, warn, file, reterr);
    if (status == DTI_OK)
        status = dti_file_quant_open(file->answer.quant, force, reterr);
    if (status == DTI_OK)
        status = run(file, reterr);
    if (status == DTI_OK)
        status = dti_new_files_commit(&file->answer.quant->files, reterr);
    file->complete = status == DTI_OK;
    if (file->complete)
        dti_output_is_complete(file->answer.out_path);
    return status;
}

static enum dti_status report(const struct quant_file *file, struct dti_error *reterr)
{
    if (file->cx->output != DTI_OUTPUT_HUMAN)
        return DTI_ANSWER(file->cx, quant_file, &file->answer, reterr);
    return file->shown ? dti_quant_file_human(file->cx, &file->answer, reterr) : DTI_OK;
}

/* The events of --fail-on. */
static unsigned events(const struct dti_file_quant *quant)
{
    return (quant->count.clipped > 0 ? DTI_QUANT_CLIPPED : 0U) |
           (quant->count.special > 0 ? DTI_QUANT_SPECIAL : 0U) |
           (quant->loss.inexact > 0 ? DTI_QUANT_INEXACT : 0U);
}

enum dti_status dti_quant_file(const struct quant_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct quant_file file;
    if (args->dequant)
        return dti_quant_dequant(args, cx, operands, count, reterr);
    enum dti_status status = dti_quant_file_init(&file, args, cx, operands, count, reterr);
    if (status != DTI_OK)
        return status;
    status =
        dti_container_open(&file.answer.container, file.answer.path, &file.source.options, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_FIRST; /* there is no --from */
    if (status == DTI_OK)
        status = plan(&file, reterr);
    if (status == DTI_OK)
        status = work(&file, reterr);
    if (status == DTI_OK)
        status = report(&file, reterr);
    if (file.complete)
        status = dti_output_report_end(cx, file.answer.out_path, status, reterr);
    const unsigned fatal =
        status == DTI_OK ? (unsigned)args->fail_on & events(file.answer.quant) : 0;
    dti_quant_file_end(&file);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
