/* SPDX-License-Identifier: MIT
 *
 * A cast of a file of tensors from beginning to end: read headers, decide, open the output, cast,
 * give it its name, report. */
#include "cli/cast/cast_file.h"

#include <string.h>
#include <unistd.h>

#include "cli/shared/amount.h"
#include "cli/shell/output_words.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/parallel.h"

bool dti_cast_has_bar(const struct cast_args *args, const struct dti_context *cx, bool to_stdout)
{
    switch ((enum cast_progress)args->progress) {
    case CAST_PROGRESS_ALWAYS:
        return true;
    case CAST_PROGRESS_NEVER:
        return false;
    default:
        return !cx->quiet && isatty(STDERR_FILENO) && !(to_stdout && isatty(STDOUT_FILENO));
    }
}

/* On stderr, and among the warnings of JSON. */
static void warn(void *context, const struct dti_note *note)
{
    struct cast_file *const file = context;
    char buffer[DTI_REMEDY_WORDS];
    const char *const text = dti_note_words(buffer, note);
    dti_warn(file->cx, "%s", text);
    dti_cast_json_warn(&file->job, note->code, NULL, 0, text);
}

enum dti_status dti_cast_file_plan(struct cast_file *file, struct dti_error *reterr)
{
    const struct cast_args *const args = file->args;
    const struct cast_target *const target = &file->job.targets[0];
    enum dti_status status = dti_cast_file_target(file, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_file_cast_request request = {
        .cast = target->cast,
        .rule = target->rule,
        .level = file->level,
        .ints = args->ints,
        .only = args->only,
        .keep = args->keep,
        .select = args->select,
        .counted = file->shown,
        .flags = args->fail_on != 0,
        .packing_given = args->packing_given,
        .from_packing_given = args->from_packing_given,
        .packing = (enum dti_packing)args->packing,
        .from_packing = (enum dti_packing)args->from_packing,
        .view = file->view,
        .kind = file->target.kind,
        .path = dti_file_target_path(&file->target, file->out_path),
        .index = file->target.index,
        .runner = file->job.device.runner,
        .warn = warn,
        .warn_context = file,
    };
    for (size_t i = 0; i < file->container->note_count; i++)
        warn(file, &file->container->notes[i]);
    status = dti_file_cast_new(&file->cast, file->viewed ? file->viewed : file->container, &request,
                               reterr);
    if (status == DTI_OK)
        dti_cast_device_plans(&file->job.device, file->cast);
    if (status != DTI_OK || !file->to_text)
        return status;
    file->cast->files.list[0].size = file->cast->files.bytes = 0; /* not known */
    if (file->cast->tensors[0].format->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "complex numbers are not written as text; --as npy keeps them");
    return DTI_OK;
}

static void show_progress(void *context, uint64_t done)
{
    dti_progress_show(context, done);
}

static enum dti_status run(struct cast_file *file, struct dti_error *reterr)
{
    struct dti_team *team = NULL;
    struct dti_progress progress;
    if (file->to_text)
        file->threads = 1;
    else if (file->threads == 0)
        file->threads = dti_cast_device_threads(&file->job.device, 0);
    if (file->threads == 0)
        file->threads = dti_amount_useful_threads(file->cast->input_bytes);
    enum dti_status status = DTI_OK;
    if (file->threads > 1)
        status = dti_team_new(&team, file->threads, DTI_WAIT_SLEEP, false, reterr);
    if (status != DTI_OK)
        return status;
    const bool bar = dti_cast_has_bar(file->args, file->cx, file->to_stdout);
    dti_progress_start(&progress, bar ? file->cx->err : NULL, file->cast->input_bytes, "bytes");
    const struct dti_file_cast_options options = {.team = team,
                                                  .max_memory = file->max_memory,
                                                  .progress = show_progress,
                                                  .progress_context = &progress};
    status = file->to_text ? dti_cast_file_text(file, &options, reterr)
                           : dti_file_cast_run(file->cast, &options, reterr);
    dti_progress_end(&progress);
    dti_team_free(team);
    return status;
}

/* Tells of what killed runs have left, and with --force removes it. */
static enum dti_status clear(struct cast_file *file, struct dti_error *reterr)
{
    struct dti_output_leftovers leftovers = {.count = {0}};
    const enum dti_status status =
        dti_new_files_leftovers(&file->cast->files, file->args->force, &leftovers, reterr);
    if (status == DTI_OK)
        dti_output_warn_leftovers(&leftovers, file->out_path, warn, file);
    return status;
}

enum dti_status dti_cast_file_work(struct cast_file *file, struct dti_error *reterr)
{
    struct dti_file_cast *const cast = file->cast;
    const bool force = file->args->force;
    file->output_bytes = cast->files.bytes;
    if (file->args->dry_run)
        return file->out_path ? dti_file_cast_check(cast, force, reterr) : DTI_OK;
    enum dti_status status = DTI_OK;
    dti_output_guard_signals();
    if (!file->to_text || !file->to_stdout) { /* text goes through the buffer of stdout */
        status = clear(file, reterr);
        if (status == DTI_OK)
            status = dti_file_cast_open(cast, force, reterr);
    }
    if (status == DTI_OK)
        status = run(file, reterr);
    if (status == DTI_OK && cast->files.list[0].output) {
        status = dti_file_cast_commit(cast, reterr);
        file->complete = status == DTI_OK;
    }
    if (file->complete)
        dti_output_is_complete(file->out_path);
    return status;
}

enum dti_status dti_cast_file_report_end(const struct cast_file *file, enum dti_status status,
                                         struct dti_error *reterr)
{
    return file->complete ? dti_output_report_end(file->cx, file->out_path, status, reterr)
                          : status;
}

static enum dti_status report(struct cast_file *file, struct dti_error *reterr)
{
    dti_cast_device_warn(&file->job);
    if (file->cx->output != DTI_OUTPUT_HUMAN)
        return dti_cast_file_json(file, reterr);
    return file->shown ? dti_cast_file_human(file, reterr) : DTI_OK;
}

/* The events of --fail-on. */
static unsigned events(const struct dti_loss *loss)
{
    unsigned flags = loss->flags;
    flags |= loss->inexact > 0 ? DTI_FLAG_INEXACT : 0;
    flags |= loss->overflowed > 0 ? DTI_FLAG_OVERFLOW : 0;
    flags |= loss->no_code > 0 ? DTI_FLAG_INVALID : 0;
    return flags;
}

enum dti_status dti_cast_file(const struct cast_args *args, const struct dti_context *cx,
                              char **operands, int count, struct dti_error *reterr)
{
    struct cast_file file;
    enum dti_status status = dti_cast_file_init(&file, args, cx, operands, count, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_container_open(&file.container, file.path, &file.source.options, reterr);
    if (status == DTI_OK)
        status = dti_cast_device_open(&file.job.device, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_plan(&file, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_work(&file, reterr);
    if (status == DTI_OK)
        status = dti_cast_file_report_end(&file, report(&file, reterr), reterr);
    const unsigned fatal =
        status == DTI_OK ? (unsigned)args->fail_on & events(&file.cast->loss) : 0;
    dti_cast_file_end(&file);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
