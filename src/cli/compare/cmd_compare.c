/* SPDX-License-Identifier: MIT
 *
 * dtinfo compare: how far the numbers of two files are from each other. */
#include <string.h>

#include "cli/compare/compare_job.h"
#include "dtinfo/number.h"

/* A nonnegative number as the nearest fp64. */
static enum dti_status read_bound(const char *option, const char *text,
                                  struct dti_compare_bound *ret, struct dti_error *reterr)
{
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    if (!text)
        return DTI_OK;
    const enum dti_status status = dti_value_parse(&value, text, strlen(text), reterr);
    if (status == DTI_NO_MEMORY)
        return status;
    if (status == DTI_OK && value.class != DTI_CLASS_NAN &&
        !(value.negative && value.class != DTI_CLASS_ZERO)) {
        value.negative = false;
        dti_encode(dti_format_get(DTI_FP64), &value, &nearest, 0, &outcome);
        ret->given = true;
        memcpy(&ret->most, &outcome.code, sizeof ret->most);
        return DTI_OK;
    }
    return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                         "%s takes a nonnegative number, as in 1e-3; got %s", option,
                         DTI_QUOTED(text, strlen(text)));
}

static enum dti_status read_options(struct compare_job *job, struct dti_error *reterr)
{
    const struct compare_args *const args = job->args;
    struct dti_compare *const compare = &job->compare;
    const char *const beside = args->atol || args->rtol ? "--atol and --rtol"
                               : args->max_ulp          ? "--max-ulp"
                                                        : NULL;
    if (args->bitwise && beside)
        return dti_fail(reterr, DTI_USAGE, "--bitwise allows no tolerance; leave out %s", beside);
    enum dti_status status = read_bound("--atol", args->atol, &compare->atol, reterr);
    if (status == DTI_OK)
        status = read_bound("--rtol", args->rtol, &compare->rtol, reterr);
    if (status == DTI_OK)
        status = read_bound("--max-ulp", args->max_ulp, &compare->max_ulp, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&compare->reading, &job->bar, &args->file, job->cx, reterr);
    return status;
}

static enum dti_status check_operands(char **operands, int count, struct dti_error *reterr)
{
    if (count == 2)
        return DTI_OK;
    if (count < 2)
        return dti_fail(reterr, DTI_USAGE,
                        "expected two files, as in 'dtinfo compare a.safetensors b.safetensors'");
    return dti_fail_word(reterr, DTI_USAGE, operands[2], strlen(operands[2]),
                         "compares two files; %s is one operand too many",
                         DTI_QUOTED(operands[2], strlen(operands[2])));
}

/* Opens the files and pairs their tensors. */
static enum dti_status open_files(struct compare_job *job, char **operands,
                                  struct dti_error *reterr)
{
    struct dti_compare *const compare = &job->compare;
    const struct dti_logical_options *const options = &compare->options;
    enum dti_status status = dti_logical_open(&compare->a, operands[0], options, reterr);
    if (status == DTI_OK)
        status = dti_logical_open(&compare->b, operands[1], options, reterr);
    if (status == DTI_OK)
        status = dti_compare_pair(compare, reterr);
    if (status == DTI_OK) {
        dti_file_source_warn(job->cx, compare->a);
        dti_file_source_warn(job->cx, compare->b);
    }
    const char *const only = compare->only;
    if (status != DTI_OK || !only || compare->result_count > 0)
        return status;
    return dti_fail_word(reterr, DTI_USAGE, only, strlen(only),
                         "--only %s matches no tensor of either file",
                         DTI_QUOTED(only, strlen(only)));
}

static enum dti_status compare_init(struct compare_job *ret, const struct compare_args *args,
                                    const struct dti_context *cx, char **operands, int count,
                                    struct dti_error *reterr)
{
    *ret = (struct compare_job){
        .args = args,
        .cx = cx,
        .compare = {.bitwise = args->bitwise,
                    .ignore_missing = args->ignore_missing,
                    .words = dti_remedy_words,
                    .only = args->only,
                    .out = cx->out},
    };
    enum dti_status status = check_operands(operands, count, reterr);
    if (status == DTI_OK)
        status = read_options(ret, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, cx, reterr);
    ret->compare.options = ret->source.logical;
    ret->compare.options.raw |= args->bitwise; /* stored bytes are compared */
    ret->compare.notes = ret->source.notes;
    ret->compare.note_count = ret->source.note_count;
    return status == DTI_OK ? open_files(ret, operands, reterr) : status;
}

static const struct dti_option options[] = {
    OPT_TEXT(0, "atol", struct compare_args, atol, "X",
             "absolute tolerance: |a - b| may be X + R |b|", .matters = true),
    OPT_TEXT(0, "rtol", struct compare_args, rtol, "R", "relative tolerance, as above",
             .matters = true),
    OPT_TEXT(0, "max-ulp", struct compare_args, max_ulp, "N",
             "floats may be N steps of the coarser dtype apart", .matters = true),
    OPT_FLAG(0, "bitwise", struct compare_args, bitwise, "dtypes and stored bytes must be the same",
             .matters = true),
    OPT_FLAG(0, "ignore-missing", struct compare_args, ignore_missing,
             "ignore tensors that only one file has", .matters = true),
    DTI_ROW_ONLY(struct compare_args, only, "compare only tensors whose names match"),
    OPT_UINT(0, "top", struct compare_args, top, top_given, 0, UINT64_MAX, "N",
             "show the N tensors that differ most; the default is 10, -v shows all",
             .matters = true),
    DTI_LOGICAL_OPTIONS(struct compare_args, file),
    DTI_LIKE_OPTION(struct compare_args, file),
    DTI_SOURCE_OPTIONS(struct compare_args, file),
    DTI_SHAPE_OPTION(struct compare_args, file),
    DTI_SCAN_OPTIONS(struct compare_args, file),
    OPT_END,
};

/* One document, or with JSON Lines one per pair and one for the totals. */
static enum dti_status write_documents(struct dti_compare *compare, struct dti_context *cx,
                                       struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    compare->unlisted = cx->output == DTI_OUTPUT_JSONL;
    for (size_t i = 0; compare->unlisted && i < compare->result_count && status == DTI_OK; i++) {
        struct dti_compare one = dti_compare_of_one(compare, i);
        one.unlisted = false;
        status = DTI_ANSWER(cx, compare, &one, reterr);
    }
    return status == DTI_OK ? DTI_ANSWER(cx, compare, compare, reterr) : status;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct compare_job job;
    enum dti_status status = compare_init(&job, args, cx, operands, operand_count, reterr);
    if (status == DTI_OK)
        status = dti_compare_run(&job.compare, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = write_documents(&job.compare, cx, reterr);
    else if (status == DTI_OK && !cx->quiet)
        status = dti_compare_human(&job, reterr);
    const enum dti_status verdict = job.compare.outcome == DTI_COMPARE_DIFFERS      ? DTI_ANSWER_NO
                                    : job.compare.outcome == DTI_COMPARE_UNREADABLE ? DTI_BAD_INPUT
                                                                                    : DTI_OK;
    dti_compare_free(&job.compare);
    if (status == DTI_OK && verdict == DTI_BAD_INPUT) {
        (void)dti_fail(reterr, verdict,
                       "some tensors are unreadable, and the others do not differ");
        dti_complain(cx, reterr);
    }
    /* the answer itself says so */
    return status == DTI_OK && verdict != DTI_OK ? dti_fail(reterr, verdict, "%s", "") : status;
}

const struct dti_command dti_command_compare = {
    .name = "compare",
    .group = "files",
    .summary = "compare the tensors of two files",
    .reads = true,
    .synopsis = "A B",
    .details = "A and B are files of tensors, raw codes with --from, indexes or folders of\n"
               "shards; kinds and dtypes may differ. Tensors are paired by name; a single\n"
               "tensor on each side is paired whatever its name. Without a tolerance all\n"
               "numbers must be equal. The exit code is 0 if the files are equal or within the\n"
               "tolerance, 1 if they differ, and 3 if some tensors are unreadable and the\n"
               "others do not differ. Quantized tensors are compared by their dequantized\n"
               "numbers.",
    .examples = "dtinfo compare model.safetensors model.safetensors.index.json\n"
                "dtinfo compare weights.npy arrays.npz --only 'data,half' --rtol 1e-3\n",
    .schema = "dtinfo.compare/1",
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct compare_args),
    .run = run,
};
