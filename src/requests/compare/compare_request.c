/* SPDX-License-Identifier: MIT
 *
 * Comparisons from options. */
#include "requests/compare/compare_request.h"

#include <string.h>

#include "core/number/number.h"

const struct dti_option dti_compare_options[] = {
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
    OPT_FILE(0, "map", struct compare_args, map, "MAP",
             "pair by other names: hf-gguf (a checkpoint and its GGUF), or a file of rules",
             .matters = true),
    OPT_UINT(0, "top", struct compare_args, top, top_given, 0, UINT64_MAX, "N",
             "show the N tensors that differ most; the default is 10, -v shows all",
             .matters = true, DTI_MORE(.elsewhere = "the document has all tensors")),
    DTI_LOGICAL_OPTIONS(struct compare_args, file),
    DTI_LIKE_OPTION(struct compare_args, file),
    DTI_SOURCE_OPTIONS(struct compare_args, file),
    DTI_SHAPE_OPTION(struct compare_args, file),
    DTI_SCAN_OPTIONS(struct compare_args, file),
    OPT_END,
};

/* A nonnegative number, rounded to fp64. */
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
    if (status == DTI_OK && value.kind != DTI_CLASS_NAN &&
        !(value.negative && value.kind != DTI_CLASS_ZERO)) {
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
    const char *const other = args->atol || args->rtol ? "--atol and --rtol"
                              : args->max_ulp          ? "--max-ulp"
                                                       : NULL;
    if (args->bitwise && other)
        return dti_fail(reterr, DTI_USAGE, "--bitwise allows no tolerance; leave out %s", other);
    enum dti_status status = read_bound("--atol", args->atol, &compare->atol, reterr);
    if (status == DTI_OK)
        status = read_bound("--rtol", args->rtol, &compare->rtol, reterr);
    if (status == DTI_OK)
        status = read_bound("--max-ulp", args->max_ulp, &compare->max_ulp, reterr);
    if (status == DTI_OK)
        status = dti_file_reading_init(&compare->reading, &args->file, job->asker, reterr);
    return status;
}

/* Opens the files and pairs their tensors. */
static enum dti_status open_files(struct compare_job *job, const char *const *paths,
                                  struct dti_error *reterr)
{
    struct dti_compare *const compare = &job->compare;
    const struct dti_logical_options *const options = &compare->options;
    enum dti_status status = dti_logical_open(&compare->a, paths[0], options, reterr);
    if (status == DTI_OK)
        status = dti_logical_open(&compare->b, paths[1], options, reterr);
    if (status == DTI_OK)
        status = dti_compare_pair(compare, reterr);
    if (status == DTI_OK) {
        dti_file_source_warn(job->asker, compare->a);
        dti_file_source_warn(job->asker, compare->b);
    }
    const char *const only = compare->only;
    if (status != DTI_OK || !only || compare->result_count > 0)
        return status;
    return dti_fail_word(reterr, DTI_USAGE, only, strlen(only),
                         "--only %s matches no tensor of either file",
                         DTI_QUOTED(only, strlen(only)));
}

enum dti_status dti_compare_init(struct compare_job *ret, const struct compare_args *args,
                                 const struct dti_asker *asker, struct dti_error *reterr)
{
    *ret = (struct compare_job){
        .args = args,
        .asker = asker,
        .compare = {.bitwise = args->bitwise,
                    .ignore_missing = args->ignore_missing,
                    .words = asker->words,
                    .only = args->only,
                    .map = args->map},
    };
    enum dti_status status = read_options(ret, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, asker, reterr);
    ret->compare.options = ret->source.logical;
    ret->compare.options.raw |= args->bitwise; /* stored bytes are compared */
    ret->compare.notes = ret->source.notes;
    ret->compare.note_count = ret->source.note_count;
    return status;
}

enum dti_status dti_compare_ask(struct compare_job *job, const char *const *paths,
                                struct dti_error *reterr)
{
    const enum dti_status status = open_files(job, paths, reterr);
    return status == DTI_OK ? dti_compare_run(&job->compare, reterr) : status;
}

enum dti_status dti_compare_verdict(const struct dti_compare *compare, struct dti_error *reterr)
{
    if (compare->outcome == DTI_COMPARE_DIFFERS)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", "");
    if (compare->outcome == DTI_COMPARE_UNREADABLE)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "some tensors are unreadable, and the others do not differ");
    return DTI_OK;
}
