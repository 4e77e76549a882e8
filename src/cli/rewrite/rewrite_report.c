/* SPDX-License-Identifier: MIT
 *
 * What the command line adds to a rewrite: operands, signals, a progress bar, messages, documents
 * on standard output. */
#include <string.h>

#include "answers/common.h"
#include "cli/rewrite/rewrite_page.h"
#include "cli/shared/operand_kinds.h"
#include "cli/shared/progress.h"

enum dti_status dti_rewrite_surplus(const char *operand, struct dti_error *reterr)
{
    const size_t length = strlen(operand);
    return dti_fail_word(reterr, DTI_USAGE, operand, length,
                         strpbrk(operand, "./") && !dti_operand_is_number(operand)
                             ? "%s is one operand too many; -o FILE names the new file"
                             : "one file goes to one dtype at a time; %s is one operand too many",
                         DTI_QUOTED(operand, length));
}

static enum dti_status no_dtype(const struct dti_rewrite_page *page, const char *path,
                                struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_USAGE, "%s: the dtype to be %s to is missing; give one, %s",
                    dti_quote(quoted, path, strlen(path)), page->verb, page->example);
}

enum dti_status dti_rewrite_operands(const struct dti_rewrite_page *page, const char *input,
                                     bool regular, char **operands, int count,
                                     const char **ret_path, const char **ret_dtype,
                                     struct dti_error *reterr)
{
    const int files = input ? 0 : 1;
    if (count < files)
        return dti_fail(reterr, DTI_USAGE, "%s; give one, %s", page->no_file, page->example);
    const char *const path = *ret_path = input ? input : operands[0];
    const bool standard = strcmp(path, "-") == 0;
    if (standard && regular)
        return dti_fail(reterr, DTI_USAGE,
                        "files are read more than once, which standard input may not support; give "
                        "the name of a file");
    enum dti_input_kind kind;
    const int cause = standard ? 0 : dti_input_find(path, &kind);
    if (cause != 0)
        return dti_no_such_file(path, cause, reterr);
    if (count > files && !ret_dtype)
        return dti_fail_word(reterr, DTI_USAGE, operands[files], strlen(operands[files]),
                             "%s is one operand too many; -o FILE names the new file",
                             DTI_QUOTED(operands[files], strlen(operands[files])));
    if (!ret_dtype)
        return DTI_OK;
    if (count > files + 1)
        return dti_rewrite_surplus(operands[files + 1], reterr);
    if (count == files)
        return no_dtype(page, path, reterr);
    *ret_dtype = operands[files];
    return DTI_OK;
}

/* Tensors are processed in order: the progress so far, for a bar that never moves backwards. */
struct at_hand {
    const struct dti_rewrite *rewrite;
    size_t tensor;
    uint64_t before; /* bytes of the tensors before this one */
};

static const char *name_at_hand(void *context, uint64_t done, size_t *ret_length)
{
    struct at_hand *const at = context;
    const struct dti_rewrite *const rewrite = at->rewrite;
    const double share = rewrite->work_bytes > 0 ? (double)done / (double)rewrite->work_bytes : 0;
    const uint64_t bytes = (uint64_t)(share * (double)rewrite->input_bytes);
    const struct dti_tensor *source = NULL;
    for (; at->tensor < rewrite->tensor_count; at->tensor++) {
        source = dti_rewrite_source(rewrite, at->tensor);
        if (at->before + source->bytes > bytes)
            break;
        at->before += source->bytes;
    }
    if (!source || at->tensor == rewrite->tensor_count)
        return NULL;
    *ret_length = source->name_length;
    return source->name;
}

static enum dti_status pass(struct dti_rewrite_job *job, struct dti_rewrite_options *options,
                            struct dti_error *reterr)
{
    const struct dti_command_context *const cx = job->front->cx;
    struct dti_progress progress;
    const bool bar =
        dti_progress_wanted((enum dti_progress_when)job->transfer->progress, cx, job->to_stdout);
    dti_progress_start(&progress, bar ? cx->err : NULL, job->rewrite->work_bytes, "bytes");
    struct at_hand at_hand = {.rewrite = job->rewrite};
    progress.name = name_at_hand;
    progress.name_context = &at_hand;
    options->progress = dti_progress_show;
    options->progress_context = &progress;
    const enum dti_status status = dti_rewrite_job_pass(job, options, dti_rewrite_text, reterr);
    dti_progress_end(&progress);
    return status;
}

static void begin(const struct dti_rewrite_job *job)
{
    (void)job;
    dti_output_guard_signals();
}

static void complete(const struct dti_rewrite_job *job)
{
    dti_output_is_complete(job->out_path);
}

/* "No" is reported as an error, with its exit code. */
static enum dti_status incomplete(const struct dti_rewrite_job *job, const struct dti_error *why,
                                  struct dti_error *reterr)
{
    struct dti_command_context *const cx = job->front->cx;
    dti_complain(cx, why);
    if (cx->output != DTI_OUTPUT_HUMAN) {
        dti_error_document(cx->json, why, 0);
        const enum dti_status written = dti_document_write(cx->json, cx->out, reterr);
        if (written != DTI_OK)
            return written;
    }
    return dti_fail(reterr, DTI_ANSWER_NO, "%s", "");
}

static enum dti_status put_document(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_command_context *const cx = job->front->cx;
    const enum dti_status status = dti_inputs_unchanged(reterr);
    if (status != DTI_OK)
        return status;
    job->verb->document(cx->json, &job->answer);
    return dti_document_write(cx->json, cx->out, reterr);
}

static enum dti_status report(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_command_context *const cx = job->front->cx;
    enum dti_status status = DTI_OK;
    if (cx->output != DTI_OUTPUT_HUMAN)
        status = put_document(job, reterr);
    else if (job->shown)
        status = dti_rewrite_human(job, reterr);
    return job->complete ? dti_output_report_end(cx, job->out_path, status, reterr) : status;
}

struct dti_rewrite_front dti_rewrite_front(struct dti_command_context *cx,
                                           const struct dti_rewrite_page *page)
{
    return (struct dti_rewrite_front){
        .asker = &cx->asker,
        .stream = &cx->sink,
        .cx = cx,
        .page = page,
        .begin = begin,
        .complete = complete,
        .pass = pass,
        .incomplete = incomplete,
        .report = report,
    };
}
