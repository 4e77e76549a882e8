/* SPDX-License-Identifier: MIT
 *
 * dtinfo advise: the format of each group of tensors with which a checkpoint fits a size. */
#include <string.h>

#include "cli/advise/advise_page.h"
#include "cli/shared/progress.h"
#include "cli/shell/command.h"
#include "io/output.h"
#include "requests/advise/advise_args.h"

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

static enum dti_status run_advise(const void *args, char **operands, int count,
                                  struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_advise advise;
    struct dti_advise_work work = {.args = args, .asker = &cx->asker, .cx = cx, .pass = pass};
    memset(&advise, 0, sizeof advise);
    if (count != 1)
        return dti_fail(reterr, DTI_USAGE,
                        "advise takes one model, as in 'dtinfo advise model/ --fit 24GB'");
    enum dti_status status = dti_advise_run(&advise, &work, operands[0], reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, advise, &advise, reterr);
    else if (status == DTI_OK && !cx->quiet)
        status = dti_advise_page(cx, &advise, reterr);
    dti_advise_free(&advise);
    return status;
}

const struct dti_command dti_command_advise = {
    .name = "advise",
    .group = "files",
    .summary = "choose formats for tensors so that a model fits a size with the least error",
    .reads = true,
    .synopsis = "MODEL --fit SIZE",
    .details =
        "Quantizes MODEL in every format of a menu without writing it, and chooses one\n"
        "for each group of tensors that must share a format, so that all tensors fit\n"
        "into SIZE and the weighted sum of their relative squared errors is the least.\n"
        "With -o PLAN the choice is written to a file that 'dtinfo quant --plan'\n"
        "executes. If nothing fits, the exit code is 1.",
    .examples = NULL,
    .schema = "dtinfo.advise/1",
    .other_schemas = {"dtinfo.advise_plan/1", "dtinfo.advise_measurements/1"},
    .operands = DTI_OPERANDS_FILES,
    .options = dti_advise_options,
    .args_size = sizeof(struct advise_args),
    .run = run_advise,
};
