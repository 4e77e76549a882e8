/* SPDX-License-Identifier: MIT
 *
 * Questions about files: a command's request, its answer as a document, its verdict. */
#include <string.h>

#include "library/settings.h"
#include "library/text_document.h"
#include "requests/check/check_files.h"
#include "requests/compare/compare_request.h"
#include "requests/explain/explain_request.h"
#include "requests/inspect/inspect_request.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

/* A question, and where its answer goes. */
struct asking {
    const struct dti_asker *asker;
    const void *args;
    const char *const *paths;
    int count;
    struct dti_text_document document;
    char **ret;
};

/* Gives the document, then the verdict, which is the status if both are there. */
static enum dti_status give(struct asking *asking, enum dti_status verdict,
                            const struct dti_error *why, struct dti_error *reterr)
{
    const enum dti_status status = dti_text_document_give(&asking->document, asking->ret, reterr);
    if (status != DTI_OK || verdict == DTI_OK)
        return status;
    if (reterr)
        *reterr = *why;
    return verdict;
}

static enum dti_status ask_check(struct asking *asking, struct dti_error *reterr)
{
    struct check_files *const files = dti_calloc(1, sizeof *files);
    if (!files)
        return dti_no_memory(reterr);
    enum dti_status status = dti_check_files_init(files, asking->args, asking->paths, asking->count,
                                                  asking->asker, reterr);
    if (status == DTI_OK) {
        const struct dti_check_answer answer = dti_check_answer_of(files);
        dti_document_check(asking->document.json, &answer);
        status = files->status;
        if (status != DTI_OK && reterr)
            *reterr = files->error;
    }
    if (status == DTI_OK) {
        struct dti_error why;
        enum dti_status verdict = dti_check_verdict(files, &why);
        if (verdict == DTI_ANSWER_NO)
            verdict = dti_fail(&why, DTI_ANSWER_NO, "an assertion does not hold");
        status = give(asking, verdict, &why, reterr);
    }
    dti_check_files_free(files);
    dti_free(files);
    return status;
}

static enum dti_status ask_inspect(struct asking *asking, struct dti_error *reterr)
{
    struct inspect_job *const job = dti_calloc(1, sizeof *job);
    if (!job)
        return dti_no_memory(reterr);
    enum dti_status status = dti_inspect_init(job, asking->args, asking->asker, reterr);
    job->paths = asking->paths;
    job->count = asking->count;
    if (status == DTI_OK) {
        struct dti_inspect_answer answer = dti_inspect_answer_of(job);
        answer.out = &asking->document.sink;
        dti_document_inspect(asking->document.json, &answer);
        status = job->status;
        if (status != DTI_OK && reterr)
            *reterr = job->error;
    }
    if (status == DTI_OK)
        status = give(asking, job->first.status, &job->first, reterr);
    dti_inspect_free(job);
    dti_free(job);
    return status;
}

static enum dti_status ask_compare(struct asking *asking, struct dti_error *reterr)
{
    struct compare_job job;
    enum dti_status status = dti_compare_init(&job, asking->args, asking->asker, reterr);
    job.compare.out = &asking->document.sink;
    if (status == DTI_OK)
        status = dti_compare_ask(&job, asking->paths, reterr);
    if (status == DTI_OK) {
        struct dti_error why;
        enum dti_status verdict = dti_compare_verdict(&job.compare, &why);
        if (verdict == DTI_ANSWER_NO)
            verdict = dti_fail(&why, DTI_ANSWER_NO, "the files differ");
        dti_document_compare(asking->document.json, &job.compare);
        status = give(asking, verdict, &why, reterr);
    }
    dti_compare_free(&job.compare);
    return status;
}

static enum dti_status ask_explain(struct asking *asking, struct dti_error *reterr)
{
    struct explain_job job;
    enum dti_status status = dti_explain_init(&job, asking->args, asking->asker, reterr);
    job.explain.out = &asking->document.sink;
    if (status == DTI_OK)
        status = dti_explain_ask(&job, asking->paths, reterr);
    if (status == DTI_OK) {
        struct dti_error why;
        enum dti_status verdict = dti_explain_verdict(&job.explain, &why);
        if (verdict == DTI_ANSWER_NO)
            verdict = dti_fail(&why, DTI_ANSWER_NO, "a tensor has no recipe");
        dti_document_explain(asking->document.json, &job.explain);
        status = give(asking, verdict, &why, reterr);
    }
    dti_explain_free(&job.explain);
    return status;
}

static const struct question {
    const char *name;
    size_t least, most; /* paths */
    const struct dti_option *options;
    size_t args_size;
    enum dti_status (*ask)(struct asking *asking, struct dti_error *reterr);
} questions[] = {
    {"inspect", 1, INT32_MAX, dti_inspect_options, sizeof(struct inspect_args), ask_inspect},
    {"check", 1, INT32_MAX, dti_check_options, sizeof(struct check_args), ask_check},
    {"compare", 2, 2, dti_compare_options, sizeof(struct compare_args), ask_compare},
    {"explain", 2, 2, dti_explain_options, sizeof(struct explain_args), ask_explain},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static const char *question_name(size_t i)
{
    return i < QUESTIONS ? questions[i].name : NULL;
}

static enum dti_status find_question(const struct question **ret, const char *name,
                                     struct dti_error *reterr)
{
    struct dti_nearest nearest;
    size_t at;
    dti_nearest_init(&nearest, name, strlen(name));
    if (dti_nearest_find(&nearest, question_name, &at)) {
        *ret = &questions[at];
        return DTI_OK;
    }
    (void)dti_fail_word(reterr, DTI_UNKNOWN_OPTION, name, strlen(name),
                        "the questions are inspect, check, compare and explain; got %s",
                        DTI_QUOTED(name, strlen(name)));
    dti_nearest_suggest(&nearest, reterr);
    return DTI_UNKNOWN_OPTION;
}

static enum dti_status check_paths(const struct question *question, const char *const *paths,
                                   size_t count, struct dti_error *reterr)
{
    if (count < question->least || count > question->most)
        return dti_fail(reterr, DTI_USAGE, "%s takes %s; got %zu", question->name,
                        question->least == 1 ? "the paths of files" : "the paths of two files",
                        count);
    for (size_t i = 0; i < count; i++) {
        if (!paths[i] || strcmp(paths[i], "-") == 0)
            return dti_fail(reterr, DTI_USAGE, "%s reads files, not standard input; give a path",
                            question->name);
    }
    return DTI_OK;
}

static enum dti_status ask(struct dti_context *context, const struct question *question,
                           const struct dti_setting *settings, size_t setting_count,
                           struct asking *asking, struct dti_error *reterr)
{
    const struct dti_asker asker = dti_settings_asker(context, question->name, true);
    void *const args = dti_calloc(1, question->args_size);
    if (!args)
        return dti_no_memory(reterr);
    asking->asker = &asker;
    asking->args = args;
    enum dti_status status = dti_settings_store(question->name, question->options, args, settings,
                                                setting_count, reterr);
    if (status == DTI_OK)
        status = dti_text_document_open(&asking->document, reterr);
    if (status == DTI_OK)
        status = question->ask(asking, reterr);
    dti_text_document_end(&asking->document);
    dti_free(args);
    return status;
}

enum dti_status dti_file_ask(struct dti_context *context, const char *question,
                             const char *const *paths, size_t path_count,
                             const struct dti_setting *settings, size_t setting_count,
                             char **ret_document, struct dti_error *reterr)
{
    struct dti_error unwanted; /* the layers below need one */
    struct dti_caller caller = dti_context_caller(context);
    struct dti_call call;
    const struct question *row = NULL;
    char *document = NULL;
    dti_call_begin(&call, &caller);
    reterr = reterr ? reterr : &unwanted;
    enum dti_status status = find_question(&row, question ? question : "", reterr);
    if (status == DTI_OK)
        status = check_paths(row, paths, path_count, reterr);
    if (status == DTI_OK) {
        struct asking asking = {.paths = paths, .count = (int)path_count, .ret = &document};
        status = ask(context, row, settings, setting_count, &asking, reterr);
    }
    if (ret_document)
        *ret_document = document;
    else
        dti_free(document);
    status = dti_settings_fail(reterr, status);
    dti_call_end(&call);
    dti_caller_end(&caller);
    return status;
}
