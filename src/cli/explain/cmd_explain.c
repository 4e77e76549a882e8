/* SPDX-License-Identifier: MIT
 *
 * dtinfo explain: by which recipes a file was made from another. */
#include <string.h>

#include "cli/explain/explain_job.h"
#include "cli/shared/made_words.h"

static enum dti_status check_operands(char **operands, int count, struct dti_error *reterr)
{
    if (count == 2)
        return DTI_OK;
    if (count < 2)
        return dti_fail(reterr, DTI_USAGE,
                        "expected two files, as in 'dtinfo explain model.safetensors "
                        "half.safetensors'");
    return dti_fail_word(reterr, DTI_USAGE, operands[2], strlen(operands[2]),
                         "explains one file by another; %s is one operand too many",
                         DTI_QUOTED(operands[2], strlen(operands[2])));
}

static enum dti_status open_files(struct explain_job *job, char **operands,
                                  struct dti_error *reterr)
{
    struct dti_explain *const explain = &job->explain;
    enum dti_status status = dti_logical_open(&explain->a, operands[0], &explain->options, reterr);
    if (status == DTI_OK)
        status = dti_logical_open(&explain->b, operands[1], &explain->options, reterr);
    if (status != DTI_OK)
        return status;
    dti_file_source_warn(job->cx, explain->a);
    dti_file_source_warn(job->cx, explain->b);
    return dti_explain_pair(explain, reterr);
}

static enum dti_status explain_init(struct explain_job *ret, const struct explain_args *args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr)
{
    *ret = (struct explain_job){
        .args = args,
        .cx = cx,
        .explain = {.words = dti_made_words, .remedy_words = dti_remedy_words, .out = cx->out},
    };
    enum dti_status status = check_operands(operands, count, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&ret->explain.reading, &ret->bar, &args->file, cx, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, cx, reterr);
    ret->explain.options = ret->source.logical;
    return status == DTI_OK ? open_files(ret, operands, reterr) : status;
}

static const struct dti_option options[] = {
    DTI_LOGICAL_OPTIONS(struct explain_args, file), DTI_LIKE_OPTION(struct explain_args, file),
    DTI_SOURCE_OPTIONS(struct explain_args, file),  DTI_SHAPE_OPTION(struct explain_args, file),
    DTI_SCAN_OPTIONS(struct explain_args, file),    OPT_END,
};

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct explain_job job;
    enum dti_status status = explain_init(&job, args, cx, operands, operand_count, reterr);
    const struct dti_explain *const explain = &job.explain;
    if (status == DTI_OK)
        status = dti_explain_run(&job.explain, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = DTI_ANSWER(cx, explain, explain, reterr);
    else if (status == DTI_OK && !cx->quiet)
        status = dti_explain_human(&job, reterr);
    const bool all = explain->outcomes[DTI_EXPLAIN_FOUND] == explain->tensors;
    dti_explain_free(&job.explain);
    return status == DTI_OK && !all ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}

const struct dti_command dti_command_explain = {
    .name = "explain",
    .group = "files",
    .summary = "find out how the tensors of a file were made from another",
    .reads = true,
    .synopsis = "A B",
    .details = "Casts and quantizes the tensors of A with one recipe after another, until the\n"
               "bytes of B come out. A recipe is a command with its options. For a tensor that\n"
               "no recipe explains, the best one is shown, and where it first differs. --json\n"
               "has all tensors; 'dtinfo verify' takes that as its recipe. The exit code is 0\n"
               "if every tensor of B is explained, and 1 if not. Metadata is not compared.",
    .examples = "dtinfo explain model.safetensors model.safetensors\n"
                "dtinfo explain model.safetensors model.safetensors.index.json -v\n",
    .schema = "dtinfo.explain/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct explain_args),
    .run = run,
};
