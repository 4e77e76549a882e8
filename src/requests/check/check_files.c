/* SPDX-License-Identifier: MIT
 *
 * Walks over files and the rules that each of them has. */
#include "requests/check/check_files.h"

#include <stdio.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/text/glob.h"

/* Whether a rule is for a file: its pattern matches the path as given, or the last name in it. */
static bool is_for(const char *globs, const char *path)
{
    size_t length = strlen(path);
    if (!globs || dti_glob_list_match(globs, path, length))
        return true;
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return dti_glob_list_match(globs, path + start, length - start);
}

/* The pattern of a job; NULL: all files. */
static const char *globs_of(const struct check_files *files, size_t job)
{
    return job < files->policy.count ? files->policy.rules[job].files : NULL;
}

static enum dti_status find_rules(const struct check_files *files, struct dti_error *reterr)
{
    for (int i = 0; files->args->policy && i < files->count; i++) {
        const char *const path = files->paths[i];
        size_t rule = 0;
        while (rule < files->policy.count && !is_for(globs_of(files, rule), path))
            rule++;
        if (rule == files->policy.count)
            return dti_fail_word(reterr, DTI_BAD_INPUT, path, strlen(path),
                                 "no rule of the policy %s is for %s; add one",
                                 DTI_QUOTED(files->args->policy, strlen(files->args->policy)),
                                 DTI_QUOTED(path, strlen(path)));
    }
    return DTI_OK;
}

static enum dti_status init_jobs(struct check_files *files, const struct dti_asker *asker,
                                 struct dti_error *reterr)
{
    const struct dti_check_policy *const policy = &files->policy;
    const bool own = !files->args->policy || dti_check_policy_word_given(files->args);
    enum dti_status status = DTI_OK;
    files->jobs = dti_calloc(policy->count + 1, sizeof *files->jobs);
    if (!files->jobs)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < policy->count && status == DTI_OK; i++) {
        struct check_job *const job = &files->jobs[files->job_count++];
        status = dti_check_init(job, &policy->rules[i].args, asker, reterr);
        job->request.policy_rule = i + 1;
        if (status != DTI_OK)
            status = dti_check_policy_fail(files->args->policy, policy->rules[i].line, reterr);
    }
    if (own && status == DTI_OK)
        status = dti_check_init(&files->jobs[files->job_count++], files->args, asker, reterr);
    return status;
}

enum dti_status dti_check_files_init(struct check_files *ret, const struct check_args *args,
                                     const char *const *paths, int count,
                                     const struct dti_asker *asker, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->paths = paths;
    ret->count = ret->end = count;
    if (args->policy)
        status = dti_check_policy_read(&ret->policy, args, reterr);
    if (status == DTI_OK)
        status = init_jobs(ret, asker, reterr);
    if (status == DTI_OK)
        status = find_rules(ret, reterr);
    if (status == DTI_OK && args->baseline)
        status = dti_baseline_read(&ret->baseline, args->baseline, reterr);
    for (size_t i = 0; i < ret->job_count && ret->baseline; i++) {
        ret->jobs[i].request.mark_known = dti_baseline_mark;
        ret->jobs[i].request.known = ret->baseline;
    }
    return status;
}

void dti_check_files_free(struct check_files *files)
{
    dti_check_report_free(&files->report);
    for (size_t i = 0; i < files->job_count; i++)
        dti_check_free(&files->jobs[i]);
    dti_free(files->jobs);
    dti_check_policy_free(&files->policy);
    dti_baseline_free(files->baseline);
}

/* A request that does not fit the file: the report has the reason. */
static enum dti_status refuse_report(const struct dti_check_report *report,
                                     struct dti_error *reterr)
{
    const char *const only = report->request->only, *const path = report->path;
    char file[DTI_QUOTE_SIZE];
    (void)dti_quote(file, path, strlen(path));
    if (report->refusal == DTI_CHECK_ONE_DIGEST)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has %zu files; give a list of their digests, as 'dtinfo inspect "
                        "--digest' prints it",
                        file, dti_digest_count(report->container));
    return dti_fail_word(reterr, DTI_USAGE, only, strlen(only), "%s: --only %s matches no tensor",
                         file, DTI_QUOTED(only, strlen(only)));
}

/* The next job for the next file, or NULL. */
static struct check_job *next_job(struct check_files *files)
{
    for (; files->next < files->end; files->next++, files->job = 0) {
        while (files->job < files->job_count) {
            const size_t job = files->job++;
            if (is_for(globs_of(files, job), files->paths[files->next]))
                return &files->jobs[job];
        }
    }
    return NULL;
}

const struct dti_check_report *dti_check_next(void *context)
{
    struct check_files *const files = context;
    struct dti_check_report *const report = &files->report;
    dti_check_report_free(report);
    *report = (struct dti_check_report){.path = NULL};
    struct check_job *const job = files->status == DTI_OK ? next_job(files) : NULL;
    if (!job)
        return NULL;
    files->status = dti_check_run(&job->request, files->paths[files->next], report, &files->error);
    if (report->refusal)
        files->status = refuse_report(report, &files->error);
    const enum dti_check_outcome outcome = dti_check_outcome(&report->all);
    files->failed = files->failed || outcome == DTI_CHECK_FAILED;
    files->unreadable = files->unreadable || outcome == DTI_CHECK_UNDECIDED;
    return files->status == DTI_OK ? report : NULL;
}

const char *dti_check_gone(struct check_files *files, size_t index)
{
    return files->baseline ? dti_baseline_gone(files->baseline, index) : NULL;
}

/* Notes on names of dtypes, then what the baseline has in vain. */
static const char *warning(void *context, size_t index, const char **ret_code)
{
    struct check_files *const files = context;
    *ret_code = "dtype_name";
    for (size_t i = 0; i < files->job_count; i++) {
        const struct check_job *const job = &files->jobs[i];
        if (index < job->note_count)
            return job->notes[index];
        index -= job->note_count;
    }
    *ret_code = "baseline_gone";
    return dti_check_gone(files, index);
}

struct dti_check_answer dti_check_answer_of(struct check_files *files)
{
    return (struct dti_check_answer){.next = dti_check_next, .warning = warning, .context = files};
}

enum dti_status dti_check_verdict(const struct check_files *files, struct dti_error *reterr)
{
    if (files->failed)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", "");
    if (files->unreadable)
        return dti_fail(reterr, DTI_BAD_INPUT, "something is unreadable, and nothing else fails");
    return DTI_OK;
}
