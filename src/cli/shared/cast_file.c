/* SPDX-License-Identifier: MIT
 *
 * The work of a cast of a file: decide, open the output, cast, give it its name. */
#include "cli/shared/cast_file.h"

#include "cli/shared/amount.h"
#include "dtinfo/parallel.h"

enum dti_container_kind dti_transfer_form(const struct dti_transfer_args *args)
{
    return !args->as_given                  ? DTI_CONTAINER_COUNT
           : args->as == DTI_AS_NPY         ? DTI_CONTAINER_NPY
           : args->as == DTI_AS_SAFETENSORS ? DTI_CONTAINER_SAFETENSORS
                                            : DTI_CONTAINER_RAW;
}

enum dti_status dti_cast_file_plan(struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_transfer_args *const args = file->args;
    const struct dti_tensor_args *const tensors = file->tensors;
    const struct dti_cast_target *const target = &file->job.targets[0];
    enum dti_status status = dti_file_target_choose(file->container, file->out_path,
                                                    dti_transfer_form(args), &file->target, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_file_cast_request request = {
        .cast = target->cast,
        .rule = target->rule,
        .level = file->level,
        .ints = tensors->ints,
        .only = tensors->only,
        .keep = tensors->keep,
        .select = tensors->select,
        .counted = file->shown,
        .flags = file->fail_on != 0,
        .packing_given = args->packing_given,
        .from_packing_given = args->from_packing_given,
        .packing = (enum dti_packing)args->packing,
        .from_packing = (enum dti_packing)args->from_packing,
        .view = file->view,
        .kind = file->target.kind,
        .path = dti_file_target_path(&file->target, file->out_path),
        .index = file->target.index,
        .runner = file->job.device.runner,
        .warn = dti_cast_job_warn,
        .warn_context = &file->job,
    };
    for (size_t i = 0; i < file->container->note_count; i++)
        dti_cast_job_warn(&file->job, &file->container->notes[i]);
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

static enum dti_status run(struct dti_cast_file *file, struct dti_error *reterr)
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
    const bool bar = dti_progress_wanted((enum dti_progress_when)file->args->progress, file->cx,
                                         file->to_stdout);
    dti_progress_start(&progress, bar ? file->cx->err : NULL, file->cast->input_bytes, "bytes");
    const struct dti_file_cast_options options = {.team = team,
                                                  .max_memory = file->max_memory,
                                                  .progress = dti_progress_show,
                                                  .progress_context = &progress};
    status = file->to_text ? dti_cast_file_text(file, &options, reterr)
                           : dti_file_cast_run(file->cast, &options, reterr);
    dti_progress_end(&progress);
    dti_team_free(team);
    return status;
}

enum dti_status dti_new_files_clear(const struct dti_new_files *files, bool force, const char *path,
                                    dti_warn_fn *warn, void *context, struct dti_error *reterr)
{
    struct dti_output_leftovers leftovers = {.count = {0}};
    const enum dti_status status = dti_new_files_leftovers(files, force, &leftovers, reterr);
    if (status == DTI_OK)
        dti_output_warn_leftovers(&leftovers, path, warn, context);
    return status;
}

enum dti_status dti_cast_file_work(struct dti_cast_file *file, struct dti_error *reterr)
{
    struct dti_file_cast *const cast = file->cast;
    const bool force = file->args->force;
    file->output_bytes = cast->files.bytes;
    if (file->tensors->dry_run)
        return file->out_path ? dti_file_cast_check(cast, force, reterr) : DTI_OK;
    enum dti_status status = DTI_OK;
    dti_output_guard_signals();
    if (!file->to_text || !file->to_stdout) { /* text goes through the buffer of stdout */
        status = dti_new_files_clear(&cast->files, force, file->out_path, dti_cast_job_warn,
                                     &file->job, reterr);
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

enum dti_status dti_cast_file_report_end(const struct dti_cast_file *file, enum dti_status status,
                                         struct dti_error *reterr)
{
    return file->complete ? dti_output_report_end(file->cx, file->out_path, status, reterr)
                          : status;
}
