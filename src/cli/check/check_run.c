/* SPDX-License-Identifier: MIT
 *
 * All assertions on one file: first those that headers decide, then, in one reading, those on its
 * numbers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/check/check_job.h"
#include "cli/shell/remedy_words.h"
#include "dtinfo/glob.h"

bool dti_check_fail(struct check_report *report, const struct check_failure *failure)
{
    if (report->failure_count == report->failure_capacity) {
        const size_t capacity = report->failure_capacity > 0 ? 2 * report->failure_capacity : 16;
        struct check_failure *const larger =
            realloc(report->failures, capacity * sizeof *report->failures);
        if (!larger)
            return false;
        report->failures = larger;
        report->failure_capacity = capacity;
    }
    report->failures[report->failure_count++] = *failure;
    report->tally[failure->assertion].failures++;
    return true;
}

void dti_check_report_free(struct check_report *report)
{
    free(report->digests);
    free(report->failures);
    dti_container_free(report->container);
}

/* Of a file that cannot be opened as what it seems to be. */
static bool fail_all(const struct check_job *job, struct check_report *report)
{
    for (size_t i = 0; i < job->assertion_count; i++) {
        const bool valid = job->assertions[i].kind == CHECK_VALID;
        const struct check_failure failure = {.assertion = i,
                                              .tensor = SIZE_MAX,
                                              .fault = valid ? CHECK_INVALID : CHECK_NOT_DONE,
                                              .index = UINT64_MAX};
        if (!dti_check_fail(report, &failure))
            return false;
    }
    return true;
}

/* A file that is damaged is an answer where that is the question; one that is not there is an error
 * all the same. */
static enum dti_status answer(const struct check_job *job, struct check_report *report,
                              const struct dti_error *error, struct dti_error *reterr)
{
    if (error->status == DTI_BAD_INPUT && job->assertions[0].kind == CHECK_VALID &&
        access(report->path, R_OK) == 0) {
        char words[DTI_ERROR_TEXT];
        (void)snprintf(report->problem, sizeof report->problem, "%s",
                       dti_error_words(words, error));
        report->failure_count = 0;
        memset(report->tally, 0, sizeof report->tally);
        return fail_all(job, report) ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    *reterr = *error;
    return error->status;
}

static enum dti_status nothing_left(const char *only, const char *path, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], file[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_USAGE, "%s: --only %s fits no tensor",
                   dti_quote(file, path, strlen(path)), dti_quote(quoted, only, strlen(only)));
    dti_error_argument(reterr, only, strlen(only));
    return DTI_USAGE;
}

static enum dti_status select_tensors(const struct check_job *job,
                                      const struct dti_container *container, size_t **ret_tensors,
                                      size_t *ret_count, struct dti_error *reterr)
{
    const char *const only = job->args->only;
    size_t *const tensors = malloc((container->tensor_count + 1) * sizeof *tensors);
    size_t count = 0;
    if (!tensors)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (!only || dti_glob_list_match(only, tensor->name, tensor->name_length))
            tensors[count++] = i;
    }
    if (only && count == 0) {
        free(tensors);
        return nothing_left(only, container->path, reterr);
    }
    *ret_tensors = tensors;
    *ret_count = count;
    return DTI_OK;
}

/* A pattern of --shape that no name fits asserts something that is not there. */
static bool check_items(struct check_report *report, size_t at,
                        const struct check_assertion *assertion, const size_t *tensors,
                        size_t count)
{
    for (size_t item = 0; item < assertion->item_count; item++) {
        size_t i = 0;
        while (i < count && !dti_check_item_fits(&assertion->items[item],
                                                 &report->container->tensors[tensors[i]]))
            i++;
        const struct check_failure failure = {
            .assertion = at, .tensor = SIZE_MAX, .fault = CHECK_UNMATCHED, .index = item};
        if (i == count && assertion->items[item].glob && !dti_check_fail(report, &failure))
            return false;
    }
    return true;
}

static bool check_names(struct check_report *report, size_t at,
                        const struct check_assertion *assertion, const size_t *tensors,
                        size_t count)
{
    const bool dtype = assertion->kind == CHECK_DTYPE;
    for (size_t i = 0; i < count; i++) {
        const struct dti_tensor *const tensor = &report->container->tensors[tensors[i]];
        const struct check_failure failure = {.assertion = at,
                                              .tensor = tensors[i],
                                              .fault =
                                                  dtype ? CHECK_WRONG_DTYPE : CHECK_WRONG_SHAPE,
                                              .index = UINT64_MAX};
        report->tally[at].tensors += dti_check_names_fit(assertion, tensor);
        const bool holds = dtype ? dti_check_dtype_holds(assertion, tensor)
                                 : dti_check_shape_holds(assertion, tensor);
        if (!holds && !dti_check_fail(report, &failure))
            return false;
    }
    return dtype || check_items(report, at, assertion, tensors, count);
}

/* In the order of the assertions, then of the tensors; what is of none comes last. */
static int by_assertion(const void *a, const void *b)
{
    const struct check_failure *const left = a, *const right = b;
    if (left->assertion != right->assertion)
        return left->assertion < right->assertion ? -1 : 1;
    if (left->tensor != right->tensor)
        return left->tensor < right->tensor ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

/* The sums that the file has of its own data. */
static enum dti_status verify(const struct check_job *job, struct check_report *report,
                              struct dti_error *reterr)
{
    struct dti_progress progress;
    const struct dti_container *const container = report->container;
    dti_file_progress_start(&progress, job->cx,
                            container->file_count > 0 ? container->files[0].input.size : 0);
    const enum dti_status status =
        dti_container_verify(report->container, dti_file_progress_show, &progress, reterr);
    dti_progress_end(&progress);
    return status;
}

static enum dti_status run(const struct check_job *job, struct check_report *ret,
                           struct dti_error *reterr)
{
    size_t *tensors = NULL, count = 0;
    bool values = false;
    enum dti_status status =
        dti_container_open(&ret->container, ret->path, &job->source.options, reterr);
    if (status != DTI_OK) {
        ret->container = NULL;
        return status;
    }
    status = select_tensors(job, ret->container, &tensors, &count, reterr);
    for (size_t i = 0; i < job->assertion_count && status == DTI_OK; i++) {
        const struct check_assertion *const assertion = &job->assertions[i];
        ret->tally[i].tensors = assertion->kind == CHECK_VALID ? ret->container->tensor_count : 0;
        values = values || assertion->kind >= CHECK_NO_NAN;
        if ((assertion->kind == CHECK_DTYPE || assertion->kind == CHECK_SHAPE) &&
            !check_names(ret, i, assertion, tensors, count))
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status == DTI_OK && values)
        status = dti_check_values(job, ret, tensors, count, reterr);
    free(tensors);
    if (status == DTI_OK)
        status = verify(job, ret, reterr);
    return status;
}

enum dti_status dti_check_run(const struct check_job *job, const char *path,
                              struct check_report *ret, struct dti_error *reterr)
{
    struct dti_error error;
    memset(ret, 0, sizeof *ret);
    ret->path = path;
    enum dti_status status = run(job, ret, &error);
    if (status != DTI_OK)
        status = answer(job, ret, &error, reterr);
    else if (job->args->digest)
        status = dti_check_digest(job, ret, reterr);
    if (ret->failure_count > 0)
        qsort(ret->failures, ret->failure_count, sizeof *ret->failures, by_assertion);
    return status;
}
