/* SPDX-License-Identifier: MIT
 *
 * check: one run over all files, with the assertions of the command line or of a policy. */
#ifndef REQUESTS_CHECK_CHECK_FILES_H
#define REQUESTS_CHECK_CHECK_FILES_H

#include "requests/check/check_baseline.h"
#include "requests/check/check_policy.h"
#include "requests/check/check_request.h"

/* Points into itself: must not be copied. */
struct check_files {
    const struct check_args *args;
    struct dti_check_policy policy;
    struct dti_baseline *baseline; /* or NULL */
    struct check_job *jobs;        /* one for each rule, then one of the command line */
    size_t job_count, job;         /* job: the next one for the file */
    const char *const *paths;
    int count, next, end;           /* files before end go into one document */
    struct dti_check_report report; /* the last one */
    bool failed, unreadable;
    enum dti_status status;
    struct dti_error error;
};

/* Reads the options, the policy and the baseline; every file must have a rule. Always free it. */
enum dti_status dti_check_files_init(struct check_files *ret, const struct check_args *args,
                                     const char *const *paths, int count,
                                     const struct dti_asker *asker, struct dti_error *reterr);
void dti_check_files_free(struct check_files *files);

/* The next report, one for each file and its rules; NULL after the last one or an error. A `next`
 * of an answer. */
const struct dti_check_report *dti_check_next(void *context);
/* What a baseline has and no file any more, by index; NULL behind the last one. Of files and
 * assertions of this run. */
const char *dti_check_gone(struct check_files *files, size_t index);
/* For dti_document_check(). */
struct dti_check_answer dti_check_answer_of(struct check_files *files);
/* DTI_OK, DTI_ANSWER_NO, or with a text DTI_BAD_INPUT: something is unreadable. */
enum dti_status dti_check_verdict(const struct check_files *files, struct dti_error *reterr);

#endif
