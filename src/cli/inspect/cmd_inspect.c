/* SPDX-License-Identifier: MIT
 *
 * dtinfo inspect: the contents of files of tensors. */

#include "cli/inspect/inspect_view.h"
#include "cli/shared/file_bar.h"
#include "requests/inspect/inspect_request.h"
#include "util/run/allocate.h"

/* Options of the page. */
static enum dti_status check_options(const struct inspect_args *args,
                                     const struct dti_command_context *cx, int operands,
                                     struct dti_error *reterr)
{
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    const char *const reading =
        dti_option_given(dti_inspect_options, args, "stats saturation as histogram");
    const char *const other = dti_option_given(
        dti_inspect_options, args,
        "stats saturation as histogram tree metadata only grep sort reverse limit");
    if (operands == 0)
        return dti_fail(
            reterr, DTI_USAGE,
            "nothing to inspect; give a file, as in 'dtinfo inspect model.safetensors'");
    /* the digest lines are a list for 'check' and sha256sum, without anything else */
    if (args->request.digest && !json && (other || cx->quiet))
        return dti_fail(reterr, DTI_USAGE, "--digest prints only digests; leave %s%s out",
                        other ? "--" : "-q", other ? other : "");
    if (args->tree && (args->request.stats || args->request.saturation || args->as))
        return dti_fail(reterr, DTI_USAGE, "--tree and --%s exclude each other; give one of them",
                        reading);
    if (args->tree && args->request.limited)
        return dti_fail(reterr, DTI_USAGE,
                        "--tree and --limit exclude each other; give one of them");
    if (args->tree && json)
        return dti_fail(reterr, DTI_USAGE, "--tree is for people; leave it out with --json");
    if (cx->quiet && args->tree)
        return dti_fail(reterr, DTI_USAGE, "-q prints only names; leave --tree out");
    if (cx->quiet && reading && !json)
        return dti_fail(reterr, DTI_USAGE, "-q prints only names; leave --%s out", reading);
    return DTI_OK;
}

static enum dti_status put_digests(const struct inspect_job *job,
                                   const struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct dti_container *const container = job->report.container;
    struct dti_buffer text;
    dti_buffer_init(&text);
    for (size_t i = 0; i < dti_digest_count(container); i++)
        dti_digest_line(&text, &job->report.digests[i], dti_digest_file(container, i)->path);
    const bool failed = text.failed;
    (void)fputs(text.data, cx->raw);
    dti_buffer_free(&text);
    return failed ? dti_no_memory(reterr) : DTI_OK;
}

static enum dti_status show_files(struct inspect_job *job, const struct dti_command_context *cx,
                                  struct dti_error *reterr)
{
    const struct inspect_view view = {.cx = cx,
                                      .report = &job->report,
                                      .tree = job->args->tree,
                                      .all_metadata = job->args->metadata,
                                      .packing_given = job->args->file.packing_given};
    const struct dti_inspect_file *file;
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && (file = dti_inspect_next(job)) != NULL) {
        if (file->report && file->report->digests) {
            status = put_digests(job, cx, reterr);
        } else if (file->report) {
            if (job->next > 1 && !cx->quiet)
                (void)fputc('\n', cx->out);
            status = dti_inspect_human(&view, reterr);
            if (status == DTI_OK)
                status = dti_command_context_turn(cx, reterr);
        }
    }
    return status;
}

/* The file of the current line, returned once. */
static const struct dti_inspect_file *this_file(void *context)
{
    struct inspect_job *const job = context;
    const bool taken = job->line_taken;
    job->line_taken = true;
    return taken ? NULL : &job->file;
}

/* For each file a document per tensor, then one for everything else. */
static enum dti_status write_lines(struct inspect_job *job, struct dti_command_context *cx,
                                   const struct dti_inspect_answer *answer,
                                   struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && dti_inspect_next(job)) {
        const size_t tensors = job->file.count;
        for (size_t i = 0; i <= tensors && status == DTI_OK; i++) {
            job->file.first = i;
            job->file.count = i < tensors;
            job->file.part = i < tensors;
            job->line_taken = false;
            status = DTI_ANSWER(cx, inspect, answer, reterr);
        }
    }
    return status;
}

static enum dti_status inspect(struct inspect_job *job, struct dti_command_context *cx,
                               struct dti_error *reterr)
{
    const bool lines = cx->output == DTI_OUTPUT_JSONL;
    struct dti_inspect_answer answer = dti_inspect_answer_of(job);
    enum dti_status status = DTI_OK;
    answer.out = &cx->sink;
    if (lines)
        answer.next = this_file;
    if (cx->output == DTI_OUTPUT_HUMAN)
        status = show_files(job, cx, reterr);
    else if (lines)
        status = write_lines(job, cx, &answer, reterr);
    else
        dti_document_inspect(cx->json, &answer);
    if (job->status != DTI_OK) {
        *reterr = job->error;
        return job->status;
    }
    if (cx->output == DTI_OUTPUT_JSON)
        status = dti_document_write(cx->json, cx->out, reterr);
    if (status == DTI_OK && job->first.status != DTI_OK)
        return dti_fail(reterr, job->first.status, "%s", ""); /* already reported */
    return status;
}

static enum dti_status run_inspect(const void *all_args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct inspect_args *const args = all_args;
    struct dti_file_bar bar;
    enum dti_status status = check_options(args, cx, operand_count, reterr);
    if (status != DTI_OK)
        return status;
    struct inspect_job *const job = dti_calloc(1, sizeof *job);
    if (!job)
        return dti_no_memory(reterr);
    status = dti_inspect_init(job, args, &cx->asker, reterr);
    job->paths = (const char *const *)operands;
    job->count = operand_count;
    dti_file_bar_attach(&bar, &job->request.reading, &args->file, cx);
    if (status == DTI_OK)
        status = inspect(job, cx, reterr);
    dti_inspect_free(job);
    dti_free(job);
    return status;
}

const struct dti_command dti_command_inspect = {
    .name = "inspect",
    .group = "files",
    .summary = "show the tensors in files: dtypes, shapes, statistics",
    .reads = true,
    .synopsis = "FILE...",
    .details = "FILE is a file of tensors, the index of a sharded checkpoint or its folder, or\n"
               "raw codes with --from. Only headers are read, however large the file is;\n"
               "--stats and --histogram read the data. -v adds offsets and the sizes of\n"
               "shards, -q prints only the names of the tensors. --digest prints SHA-256\n"
               "digests for 'dtinfo check --digest'. A quantized tensor is one tensor; --raw\n"
               "shows its codes and scales.",
    .examples = "dtinfo inspect model.safetensors\n"
                "dtinfo inspect model.safetensors.index.json --tree\n"
                "dtinfo inspect model.safetensors --stats --only '*norm*'\n"
                "dtinfo inspect model.safetensors --digest\n"
                "dtinfo inspect model.gguf --json\n",
    .schema = "dtinfo.inspect/1",
    .operands = DTI_OPERANDS_FILES,
    .options = dti_inspect_options,
    .args_size = sizeof(struct inspect_args),
    .run = run_inspect,
};
