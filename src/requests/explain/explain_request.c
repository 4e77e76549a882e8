/* SPDX-License-Identifier: MIT
 *
 * Explanations from options. */
#include "requests/explain/explain_request.h"

#include "requests/explain/recipe_words.h"

const struct dti_option dti_explain_options[] = {
    DTI_LOGICAL_OPTIONS(struct explain_args, file), DTI_LIKE_OPTION(struct explain_args, file),
    DTI_SOURCE_OPTIONS(struct explain_args, file),  DTI_SHAPE_OPTION(struct explain_args, file),
    DTI_SCAN_OPTIONS(struct explain_args, file),    OPT_END,
};

static enum dti_status open_files(struct explain_job *job, const char *const *paths,
                                  struct dti_error *reterr)
{
    struct dti_explain *const explain = &job->explain;
    enum dti_status status = dti_logical_open(&explain->a, paths[0], &explain->options, reterr);
    if (status == DTI_OK)
        status = dti_logical_open(&explain->b, paths[1], &explain->options, reterr);
    if (status != DTI_OK)
        return status;
    dti_file_source_warn(job->asker, explain->a);
    dti_file_source_warn(job->asker, explain->b);
    return dti_explain_pair(explain, reterr);
}

enum dti_status dti_explain_init(struct explain_job *ret, const struct explain_args *args,
                                 const struct dti_asker *asker, struct dti_error *reterr)
{
    *ret = (struct explain_job){
        .args = args,
        .asker = asker,
        .explain = {.words = dti_recipe_words, .remedy_words = asker->words},
    };
    enum dti_status status =
        dti_file_reading_init(&ret->explain.reading, &args->file, asker, reterr);
    if (status == DTI_OK)
        status = dti_file_source_init(&ret->source, &args->file, asker, reterr);
    ret->explain.options = ret->source.logical;
    return status;
}

enum dti_status dti_explain_ask(struct explain_job *job, const char *const *paths,
                                struct dti_error *reterr)
{
    const enum dti_status status = open_files(job, paths, reterr);
    return status == DTI_OK ? dti_explain_run(&job->explain, reterr) : status;
}

enum dti_status dti_explain_verdict(const struct dti_explain *explain, struct dti_error *reterr)
{
    if (explain->outcomes[DTI_EXPLAIN_FOUND] == explain->tensors)
        return DTI_OK;
    return dti_fail(reterr, DTI_ANSWER_NO, "%s", "");
}
