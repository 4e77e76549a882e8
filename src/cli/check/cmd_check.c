/* SPDX-License-Identifier: MIT
 *
 * dtinfo check: whether files are as they should be, for scripts. */
#include <stdlib.h>
#include <string.h>

#include "cli/check/check_job.h"

static const struct dti_option options[] = {
    OPT_FLAG(
        0, "valid", struct check_args, valid,
        "headers, sizes and checksums are right, shards complete (the default without others)"),
    OPT_FILE(0, "digest", struct check_args, digest, "DIGEST",
             "the SHA-256 of the file, as sha256:HEX, or a list of those of its files"),
    OPT_DTYPE(
        0, "dtype", struct check_args, dtype, "DTYPE[:GLOB],...",
        "the tensor's dtype is that of the last GLOB that matches its name, else one without"),
    OPT_TEXT(0, "shape", struct check_args, shape, "GLOB:N,...[;...]",
             "the shape of tensors whose names match; '*' is any N"),
    OPT_FLAG(0, "no-nan", struct check_args, no_nan, "no element is NaN"),
    OPT_FLAG(0, "no-inf", struct check_args, no_inf, "no element is infinite"),
    OPT_TEXT(0, "max-abs", struct check_args, max_abs, "X", "no magnitude is greater than X"),
    OPT_DTYPE(0, "fits", struct check_args, fits, "DTYPE,...",
              "floats can be cast to each of these without overflow"),
    OPT_FLAG(0, "ints", struct check_args, ints, "with --fits: integer tensors too"),
    DTI_ROW_ONLY(struct check_args, only, "check only tensors whose names match"),
    DTI_SOURCE_OPTIONS(struct check_args, file),
    DTI_SCAN_OPTIONS(struct check_args, file),
    OPT_END,
};

/* One run over all operands. */
struct check_files {
    struct check_job job;
    char **paths;
    int count, next;
    struct dti_check_report report; /* of the last one */
    bool failed;
    enum dti_status status;
    struct dti_error error;
};

/* What the request and the file have to do with each other. */
static enum dti_status refuse(const struct dti_check_report *report, struct dti_error *reterr)
{
    const char *const only = report->request->only, *const path = report->path;
    char quoted[DTI_QUOTE_SIZE], file[DTI_QUOTE_SIZE];
    (void)dti_quote(file, path, strlen(path));
    if (report->refusal == DTI_CHECK_ONE_DIGEST)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has %zu files; give a list of their digests, as 'dtinfo inspect "
                        "--digest' prints it",
                        file, dti_digest_count(report->container));
    (void)dti_fail(reterr, DTI_USAGE, "%s: --only %s fits no tensor", file,
                   dti_quote(quoted, only, strlen(only)));
    dti_error_argument(reterr, only, strlen(only));
    return DTI_USAGE;
}

static const struct dti_check_report *next_report(void *context)
{
    struct check_files *const files = context;
    struct dti_check_report *const report = &files->report;
    dti_check_report_free(report);
    *report = (struct dti_check_report){.path = NULL};
    if (files->next == files->count || files->status != DTI_OK)
        return NULL;
    files->status =
        dti_check_run(&files->job.request, files->paths[files->next++], report, &files->error);
    if (report->refusal)
        files->status = refuse(report, &files->error);
    files->failed = files->failed || report->failure_count > 0;
    return files->status == DTI_OK ? report : NULL;
}

static enum dti_status check_files(struct check_files *files, struct dti_error *reterr)
{
    struct dti_context *const cx = files->job.cx;
    const struct dti_check_answer answer = {
        .next = next_report,
        .context = files,
        .notes = files->job.notes,
        .note_count = files->job.note_count,
    };
    const struct dti_check_report *report;
    if (cx->output != DTI_OUTPUT_HUMAN)
        dti_document_check(cx->json, &answer);
    while (cx->output == DTI_OUTPUT_HUMAN && (report = next_report(files)) != NULL) {
        if (!cx->quiet)
            files->status = dti_check_human(cx, report, files->count > 1, &files->error);
    }
    if (files->status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        return dti_json_write(cx->json, cx->out, reterr);
    if (files->status != DTI_OK)
        *reterr = files->error;
    return files->status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    if (operand_count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to check; give files, as in 'dtinfo check model.safetensors'");
    struct check_files *const files = calloc(1, sizeof *files);
    if (!files)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    files->paths = operands;
    files->count = operand_count;
    enum dti_status status = dti_check_init(&files->job, args, cx, reterr);
    if (status == DTI_OK)
        status = check_files(files, reterr);
    const bool failed = files->failed;
    dti_check_report_free(&files->report);
    dti_check_free(&files->job);
    free(files);
    if (status == DTI_OK && failed)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the lines say what failed */
    return status;
}

const struct dti_command dti_command_check = {
    .name = "check",
    .group = "files",
    .summary = "check files of tensors against assertions: exit 0 or 1",
    .synopsis = "FILE...",
    .details = "FILE is a file (safetensors, npy, npz, gguf, raw with --from), an index or a\n"
               "folder of shards. Each assertion gets a line, ok or FAIL; the exit code is 0\n"
               "if all hold. The data is read once, and only if an assertion needs it or the\n"
               "file has checksums, as npz does.",
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
