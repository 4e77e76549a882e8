/* SPDX-License-Identifier: MIT
 *
 * A cast of a file of tensors from beginning to end, and its answer. */
#include "cli/cast/cast_files.h"

#include "answers/cast_tensors.h"

static enum dti_status answer(struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_file_cast *const cast = file->cast;
    const struct dti_file_cast_request *const request = &cast->request;
    dti_cast_job_hint(&file->job, &request->cast, request->rule, cast->loss.overflowed);
    const struct dti_cast_file_answer answer = {
        .input = {file->path, file->container, cast->input_bytes},
        .output = {.path = file->out_path,
                   .cast = cast,
                   .dry_run = file->tensors->dry_run,
                   .text = file->to_text,
                   .text_bytes = file->output_bytes},
        .options = dti_cast_job_policies(&file->job, &request->cast),
        .device = dti_cast_device_name(&file->job.device),
        .device_reason = dti_cast_device_reason(&file->job.device),
        .level = file->level,
        .threads = file->threads,
        .warnings = &file->job.warnings,
        .stream = file->cx->out,
    };
    return DTI_ANSWER(file->cx, cast_file, &answer, reterr);
}

static enum dti_status report(struct dti_cast_file *file, struct dti_error *reterr)
{
    dti_cast_device_warn(&file->job);
    if (file->cx->output != DTI_OUTPUT_HUMAN)
        return answer(file, reterr);
    return file->shown ? dti_cast_files_human(file, reterr) : DTI_OK;
}

enum dti_status dti_cast_files(const struct dti_cast_file_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct dti_cast_file file;
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
    const unsigned fatal = status == DTI_OK ? file.fail_on & dti_cast_events(&file.cast->loss) : 0;
    dti_cast_file_end(&file);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
