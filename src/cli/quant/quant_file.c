/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE from beginning to end: read headers, decide, open the output, quantize,
 * give it its name, report. */
#include <string.h>
#include <unistd.h>

#include "cli/cast/cast_array.h"
#include "cli/quant/quant_files.h"
#include "cli/shared/amount.h"
#include "cli/shell/output_words.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/parallel.h"

/* On stderr, and among the warnings of JSON. */
static void warn(void *context, const struct dti_note *note)
{
    struct quant_file *const file = context;
    char buffer[DTI_REMEDY_WORDS];
    const char *const text = dti_note_words(buffer, note);
    dti_warn(file->cx, "%s", text);
    if (file->warning_count == QUANT_WARNINGS_MAX)
        return;
    struct quant_warning *const warning = &file->warnings[file->warning_count++];
    warning->code = note->code;
    (void)snprintf(warning->text, sizeof warning->text, "%s", text);
}

static enum dti_status choose_output(struct quant_file *file, struct dti_error *reterr)
{
    const struct quant_args *const args = file->args;
    const enum dti_container_kind form = !args->as_given ? DTI_CONTAINER_COUNT
                                         : (enum quant_as)args->as == QUANT_AS_NPY
                                             ? DTI_CONTAINER_NPY
                                             : DTI_CONTAINER_SAFETENSORS;
    const enum dti_status status =
        dti_file_target_choose(file->container, file->out_path, form, &file->output, reterr);
    if (status != DTI_OK || file->output.kind != DTI_CONTAINER_RAW)
        return status;
    return dti_fail(reterr, DTI_USAGE,
                    "codes and scales are written as safetensors or npy; give a name that ends in "
                    ".safetensors or .npy, or say --as");
}

/* Decides what becomes of each tensor and what the new files are. */
static enum dti_status plan(struct quant_file *file, struct dti_error *reterr)
{
    const struct quant_args *const args = file->args;
    const struct quant_target *const target = file->target;
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
        .level = file->level,
        .only = args->only,
        .keep = args->keep,
        .select = args->select,
        .counted = file->shown || args->fail_on != 0,
        .kind = file->output.kind,
        .path = dti_file_target_path(&file->output, file->out_path),
        .index = file->output.index,
        .warn = warn,
        .warn_context = file,
    };
    for (size_t i = 0; i < file->container->note_count; i++)
        warn(file, &file->container->notes[i]);
    return dti_file_quant_new(&file->quant, file->container, &request, reterr);
}

static bool has_bar(const struct quant_file *file)
{
    switch ((enum cast_progress)file->args->progress) {
    case CAST_PROGRESS_ALWAYS:
        return true;
    case CAST_PROGRESS_NEVER:
        return false;
    default:
        return !file->cx->quiet && isatty(STDERR_FILENO);
    }
}

static void show_progress(void *context, uint64_t done)
{
    dti_progress_show(context, done);
}

static enum dti_status run(struct quant_file *file, struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    struct dti_progress progress;
    if (file->threads == 0)
        file->threads = dti_amount_useful_threads(file->quant->input_bytes);
    enum dti_status status = DTI_OK;
    if (file->threads > 1)
        status = dti_team_new(&team, file->threads, DTI_WAIT_SLEEP, false, reterr);
    if (status != DTI_OK)
        return status;
    dti_progress_start(&progress, has_bar(file) ? file->cx->err : NULL, file->quant->work_bytes,
                       "bytes");
    const struct dti_file_quant_options options = {.team = team,
                                                   .max_memory = file->max_memory,
                                                   .progress = show_progress,
                                                   .progress_context = &progress};
    status = dti_file_quant_run(file->quant, &options, reterr);
    dti_progress_end(&progress);
    dti_team_free(team);
    return status;
}

/* Tells of what killed runs have left, and with --force removes it. */
static enum dti_status clear(struct quant_file *file, struct dti_error *reterr)
{
    struct dti_output_leftovers leftovers = {.count = {0}};
    const enum dti_status status =
        dti_new_files_leftovers(&file->quant->files, file->args->force, &leftovers, reterr);
    if (status == DTI_OK)
        dti_output_warn_leftovers(&leftovers, file->out_path, warn, file);
    return status;
}

static enum dti_status work(struct quant_file *file, struct dti_error *reterr)
{
    const bool force = file->args->force;
    if (file->args->dry_run)
        return file->out_path ? dti_new_files_check(&file->quant->files, force, reterr) : DTI_OK;
    dti_output_guard_signals();
    enum dti_status status = clear(file, reterr);
    if (status == DTI_OK)
        status = dti_file_quant_open(file->quant, force, reterr);
    if (status == DTI_OK)
        status = run(file, reterr);
    if (status == DTI_OK)
        status = dti_new_files_commit(&file->quant->files, reterr);
    file->complete = status == DTI_OK;
    if (file->complete)
        dti_output_is_complete(file->out_path);
    return status;
}

static enum dti_status report(const struct quant_file *file, struct dti_error *reterr)
{
    if (file->cx->output != DTI_OUTPUT_HUMAN)
        return dti_quant_file_json(file, reterr);
    return file->shown ? dti_quant_file_human(file, reterr) : DTI_OK;
}

/* The events of --fail-on. */
static unsigned events(const struct dti_file_quant *quant)
{
    return (quant->count.clipped > 0 ? QUANT_CLIPPED : 0U) |
           (quant->count.special > 0 ? QUANT_SPECIAL : 0U) |
           (quant->loss.inexact > 0 ? QUANT_INEXACT : 0U);
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
    status = dti_container_open(&file.container, file.path, &file.source.options, reterr);
    if (status == DTI_OK)
        status = plan(&file, reterr);
    if (status == DTI_OK)
        status = work(&file, reterr);
    if (status == DTI_OK)
        status = report(&file, reterr);
    if (file.complete)
        status = dti_output_report_end(cx, file.out_path, status, reterr);
    const unsigned fatal = status == DTI_OK ? (unsigned)args->fail_on & events(file.quant) : 0;
    dti_quant_file_end(&file);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
