/* SPDX-License-Identifier: MIT
 *
 * dtinfo check: whether files are as they should be, for scripts. */
#include <string.h>

#include "cli/check/check_job.h"

static const struct dti_option options[] = {
    OPT_FLAG(
        0, "valid", struct check_args, valid,
        "headers, sizes and checksums are right, shards complete (the default without others)"),
    OPT_FILE(0, "digest", struct check_args, digest, "DIGEST",
             "the SHA-256 of the file, as sha256:HEX, or a list of those of its files"),
    OPT_DTYPE(0, "dtype", struct check_args, dtype, "DTYPE[:GLOB],...",
              "the tensor's dtype is that of the last GLOB that fits its name, else one without"),
    OPT_TEXT(0, "shape", struct check_args, shape, "GLOB:N,...[;...]",
             "the shape of tensors whose names fit; '*' is any N"),
    OPT_FLAG(0, "no-nan", struct check_args, no_nan, "no element is NaN"),
    OPT_FLAG(0, "no-inf", struct check_args, no_inf, "no element is infinite"),
    OPT_TEXT(0, "max-abs", struct check_args, max_abs, "X", "no magnitude is greater than X"),
    OPT_DTYPE(0, "fits", struct check_args, fits, "DTYPE,...",
              "floats can be cast to each of these without overflow"),
    OPT_FLAG(0, "ints", struct check_args, ints, "integer tensors must fit, too (--fits)"),
    DTI_ROW_ONLY(struct check_args, only, "check only the tensors whose names fit"),
    DTI_SOURCE_OPTIONS(struct check_args, file),
    DTI_SCAN_OPTIONS(struct check_args, file),
    OPT_END,
};

static enum dti_status check_file(const struct check_job *job, const char *path, bool named,
                                  struct dti_json *json, bool *failed, struct dti_error *reterr)
{
    struct check_report report;
    enum dti_status status = dti_check_run(job, path, &report, reterr);
    *failed = *failed || report.failure_count > 0;
    if (status == DTI_OK && json)
        status = dti_check_json(job, &report, json, reterr);
    else if (status == DTI_OK && !job->cx->quiet)
        status = dti_check_human(job, &report, named, reterr);
    dti_check_report_free(&report);
    return status;
}

static void put_warnings(struct dti_json *json, const struct check_job *job)
{
    dti_json_array(json, "warnings");
    for (size_t i = 0; i < job->source.note_count; i++)
        dti_json_warning(json, "dtype_name", NULL, 0, job->source.notes[i]);
    for (size_t i = 0; i < job->note_count; i++)
        dti_json_warning(json, "dtype_name", NULL, 0, job->notes[i]);
    dti_json_end(json);
}

static enum dti_status check_files(const struct check_job *job, char **paths, int count,
                                   struct dti_json *json, bool *ret_failed,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    bool failed = false;
    if (json) {
        dti_json_begin(json, "dtinfo.check/1");
        dti_json_array(json, "files");
    }
    for (int i = 0; i < count && status == DTI_OK; i++)
        status = check_file(job, paths[i], count > 1, json, &failed, reterr);
    if (status == DTI_OK && json) {
        dti_json_end(json);
        dti_json_bool(json, "ok", !failed);
        put_warnings(json, job);
        status = dti_json_write(json, job->cx->out, reterr);
    }
    *ret_failed = failed;
    return status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct check_job job;
    struct dti_json *json = NULL;
    bool failed = false;
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to check; give files, as in 'dtinfo check model.safetensors'");
    enum dti_status status = dti_check_init(&job, args, cx, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN) {
        json = dti_json_new();
        if (!json)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status == DTI_OK)
        status = check_files(&job, operands, operand_count, json, &failed, reterr);
    dti_json_free(json);
    dti_check_free(&job);
    if (status == DTI_OK && failed)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the lines say what failed */
    return status;
}

const struct dti_command dti_command_check = {
    .name = "check",
    .group = "files",
    .summary = "whether files of tensors are as they should be: exit 0 or 1",
    .synopsis = "FILE...",
    .details =
        "FILE is a file (safetensors, npy, npz, gguf, raw with --from), an index or a folder of\n"
        "shards. Each assertion is answered by a line, ok or FAIL, and all of them by the exit\n"
        "code. The data is read once, and only when an assertion needs it or the file has\n"
        "checksums, as npz does.",
    .examples =
        "dtinfo check model.safetensors\n"
        "dtinfo check model.safetensors --no-nan --no-inf --fits fp16\n"
        "dtinfo check model.safetensors --dtype 'bf16,fp32:*layers*,fp32:*norm*,int64:*ids'\n",
    .schema = "dtinfo.check/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct check_args),
    .run = run,
};
