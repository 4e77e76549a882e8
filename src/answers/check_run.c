/* SPDX-License-Identifier: MIT
 *
 * All assertions on one file: first those that headers decide, then, in one reading, those on its
 * numbers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/check_parts.h"
#include "answers/tensors.h"

enum dti_status dti_check_fail(struct dti_check_report *report,
                               const struct dti_check_failure *failure, struct dti_error *reterr)
{
    if (report->failure_count == report->failure_capacity) {
        const size_t capacity = report->failure_capacity > 0 ? 2 * report->failure_capacity : 16;
        struct dti_check_failure *const larger =
            realloc(report->failures, capacity * sizeof *report->failures);
        if (!larger)
            return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
        report->failures = larger;
        report->failure_capacity = capacity;
    }
    report->failures[report->failure_count++] = *failure;
    report->tally[failure->assertion].failures++;
    return DTI_OK;
}

void dti_check_report_free(struct dti_check_report *report)
{
    free(report->digests);
    free(report->failures);
    dti_container_free(report->container);
}

/* Of a file that cannot be opened as what it seems to be. */
static enum dti_status fail_all(struct dti_check_report *report, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < report->request->assertion_count && status == DTI_OK; i++) {
        const bool valid = report->request->assertions[i].kind == DTI_CHECK_VALID;
        const struct dti_check_failure failure = {.assertion = i,
                                                  .tensor = SIZE_MAX,
                                                  .fault = valid ? DTI_CHECK_INVALID
                                                                 : DTI_CHECK_NOT_DONE,
                                                  .index = UINT64_MAX};
        status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

/* A file that is damaged is an answer where that is the question; one that is not there is an error
 * all the same. */
static enum dti_status answer(struct dti_check_report *report, const struct dti_error *error,
                              struct dti_error *reterr)
{
    if (error->status == DTI_BAD_INPUT && report->request->assertions[0].kind == DTI_CHECK_VALID &&
        access(report->path, R_OK) == 0) {
        char words[DTI_REMEDY_WORDS];
        (void)snprintf(report->problem, sizeof report->problem, "%s",
                       report->request->words(words, error->remedy, error->text));
        report->failure_count = 0;
        memset(report->tally, 0, sizeof report->tally);
        return fail_all(report, reterr);
    }
    *reterr = *error;
    return error->status;
}

/* In the order of the assertions, then of the tensors; what is of none comes last. */
static int by_assertion(const void *a, const void *b)
{
    const struct dti_check_failure *const left = a, *const right = b;
    if (left->assertion != right->assertion)
        return left->assertion < right->assertion ? -1 : 1;
    if (left->tensor != right->tensor)
        return left->tensor < right->tensor ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

/* The sums that the file has of its own data. */
static enum dti_status verify(const struct dti_check_report *report, struct dti_error *reterr)
{
    const struct dti_reading *const reading = &report->request->reading;
    struct dti_container *const container = report->container;
    dti_reading_start_alone(reading,
                            container->file_count > 0 ? container->files[0].input.size : 0);
    const enum dti_status status =
        dti_container_verify(container, reading->show, reading->context, reterr);
    dti_reading_end_alone(reading);
    return status;
}

static enum dti_status check_all(struct dti_check_report *report, const size_t *tensors,
                                 size_t count, struct dti_error *reterr)
{
    const struct dti_check_request *const request = report->request;
    enum dti_status status = DTI_OK;
    bool values = false;
    for (size_t i = 0; i < request->assertion_count && status == DTI_OK; i++) {
        const enum dti_check_kind kind = request->assertions[i].kind;
        if (kind == DTI_CHECK_VALID)
            report->tally[i].tensors = report->container->tensor_count;
        values = values || kind >= DTI_CHECK_NO_NAN;
        if (kind == DTI_CHECK_DTYPE || kind == DTI_CHECK_SHAPE)
            status = dti_check_names(report, i, tensors, count, reterr);
    }
    return status == DTI_OK && values ? dti_check_values(report, tensors, count, reterr) : status;
}

static enum dti_status run(struct dti_check_report *report, struct dti_error *reterr)
{
    const char *const only = report->request->only;
    size_t count;
    enum dti_status status =
        dti_container_open(&report->container, report->path, report->request->container, reterr);
    if (status != DTI_OK) {
        report->container = NULL;
        return status;
    }
    size_t *const tensors = dti_tensors_named(report->container, only, &count);
    if (!tensors)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (only && count == 0) {
        report->refusal = DTI_CHECK_NONE_LEFT;
        status = dti_fail(reterr, DTI_USAGE, "no tensor has a name that fits");
    } else {
        status = check_all(report, tensors, count, reterr);
    }
    free(tensors);
    return status == DTI_OK ? verify(report, reterr) : status;
}

enum dti_status dti_check_run(const struct dti_check_request *request, const char *path,
                              struct dti_check_report *ret, struct dti_error *reterr)
{
    struct dti_error error;
    *ret = (struct dti_check_report){.request = request, .path = path};
    enum dti_status status = run(ret, &error);
    if (status != DTI_OK)
        return answer(ret, &error, reterr);
    for (size_t i = 0; i < request->assertion_count && status == DTI_OK; i++) {
        if (request->assertions[i].kind == DTI_CHECK_DIGEST)
            status = dti_check_digest(ret, i, reterr);
    }
    if (ret->failure_count > 0)
        qsort(ret->failures, ret->failure_count, sizeof *ret->failures, by_assertion);
    return status;
}
