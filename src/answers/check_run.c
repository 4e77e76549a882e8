/* SPDX-License-Identifier: MIT
 *
 * All assertions on one file: its digests; those on names, dtypes and shapes; then, in one reading,
 * those on its numbers. */
#include "answers/check_answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/tensors.h"
#include "dtinfo/remote.h"

/* Checks the expected digests before any file is read. */
static enum dti_status find(struct dti_check_report *report, const struct dti_digest **ret,
                            struct dti_error *reterr)
{
    const struct dti_check_request *const request = report->request;
    const struct dti_container *const container = report->container;
    const size_t count = dti_digest_count(container);
    const bool list = request->list.path != NULL;
    char label[DTI_QUOTE_SIZE];
    if (!list && count != 1) {
        report->refusal = DTI_CHECK_ONE_DIGEST;
        return dti_fail(reterr, DTI_USAGE, "one digest is given for several files");
    }
    for (size_t i = 0; i < count; i++) {
        const struct dti_input *const input = &dti_digest_file(container, i)->input;
        ret[i] = list ? dti_digest_list_find(&request->list, input) : &request->digest;
        if (!ret[i])
            return dti_fail(reterr, DTI_BAD_INPUT, "%s is not in the list %s",
                            dti_input_label(input, label),
                            DTI_QUOTED(request->list.path, strlen(request->list.path)));
    }
    return DTI_OK;
}

static enum dti_status compare(struct dti_check_report *report, size_t at,
                               const struct dti_digest *const *wanted, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    struct dti_check_failure failure = {
        .assertion = at, .tensor = SIZE_MAX, .fault = DTI_CHECK_OTHER_DIGEST};
    enum dti_status status =
        dti_reading_digests(&report->request->reading, container, &report->digests, reterr);
    for (; failure.index < dti_digest_count(container) && status == DTI_OK; failure.index++) {
        if (memcmp(&report->digests[failure.index], wanted[failure.index],
                   sizeof *wanted[failure.index]) != 0)
            status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

static enum dti_status check_digests(struct dti_check_report *report, size_t at,
                                     struct dti_error *reterr)
{
    const size_t count = dti_digest_count(report->container);
    const struct dti_digest **const wanted = calloc(count + 1, sizeof *wanted);
    enum dti_status status = wanted ? find(report, wanted, reterr) : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = compare(report, at, wanted, reterr);
    free((void *)wanted);
    return status;
}

void dti_check_report_free(struct dti_check_report *report)
{
    free(report->digests);
    free(report->failures);
    dti_pickle_scan_free(&report->pickles);
    dti_lint_free(report->lint);
    dti_logical_close(report->container);
}

/* A file that cannot be opened as the kind it seems to be. */
static enum dti_status fail_all(struct dti_check_report *report, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < report->request->assertion_count && status == DTI_OK; i++) {
        if (report->request->assertions[i].kind == DTI_CHECK_PICKLE)
            continue;
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

static bool is_readable(const char *path)
{
    return (dti_is_address(path) ? dti_input_there(path) : access(path, R_OK)) == 0;
}

/* A damaged file is an answer if validity is asserted; a missing file is always an error. */
static enum dti_status answer(struct dti_check_report *report, const struct dti_error *error,
                              struct dti_error *reterr)
{
    if (error->status == DTI_BAD_INPUT && report->request->assertions[0].kind == DTI_CHECK_VALID &&
        is_readable(report->path)) {
        char words[DTI_REMEDY_WORDS];
        (void)snprintf(report->problem, sizeof report->problem, "%s",
                       report->request->words(words, error->remedy, error->text));
        report->failure_count = report->unreadable_count = 0;
        memset(report->tally, 0, sizeof report->tally);
        return fail_all(report, reterr);
    }
    *reterr = *error;
    return error->status;
}

/* In the order of the assertions, then of the tensors; failures without a tensor come last. */
static int by_assertion(const void *a, const void *b)
{
    const struct dti_check_failure *const left = a, *const right = b;
    if (left->assertion != right->assertion)
        return left->assertion < right->assertion ? -1 : 1;
    if (left->tensor != right->tensor)
        return left->tensor < right->tensor ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

/* The checksums stored in the file. */
static enum dti_status verify(const struct dti_check_report *report, struct dti_error *reterr)
{
    const struct dti_reading *const reading = &report->request->reading;
    struct dti_container *const container = report->container;
    uint64_t bytes = 0;
    for (size_t i = 0; i < container->file_count; i++)
        bytes += container->files[i].input.size;
    dti_reading_start_alone(reading, bytes);
    const enum dti_status status =
        dti_container_verify(container, reading->show, reading->context, reterr);
    dti_reading_end_alone(reading);
    return status;
}

/* A pickle can only be validated by running it; a type that nobody knows makes the file unreadable
 * for others, too. */
static enum dti_status check_types(struct dti_check_report *report, size_t at,
                                   struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    enum dti_status status = DTI_OK;
    report->tally[at].tensors = container->tensor_count;
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        const struct dti_check_failure failure = {.assertion = at,
                                                  .tensor = i,
                                                  .fault = tensor->pickled ? DTI_CHECK_UNREADABLE
                                                                           : DTI_CHECK_UNDEFINED,
                                                  .index = UINT64_MAX};
        if (tensor->pickled || tensor->undefined)
            status = dti_check_fail(report, &failure, reterr);
    }
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
            status = check_types(report, i, reterr);
        if (kind == DTI_CHECK_VALID && status == DTI_OK)
            status = dti_check_beside(report, i, reterr);
        values = values || kind >= DTI_CHECK_QUANTIZED;
        if (status == DTI_OK && (kind == DTI_CHECK_DTYPE || kind == DTI_CHECK_SHAPE))
            status = dti_check_names(report, i, tensors, count, reterr);
    }
    if (status == DTI_OK)
        status = dti_check_lint_begin(report, reterr);
    if (status == DTI_OK && values)
        status = dti_check_values(report, tensors, count, reterr);
    return status == DTI_OK ? dti_check_lint_end(report, reterr) : status;
}

static enum dti_status run(struct dti_check_report *report, struct dti_error *reterr)
{
    const char *const only = report->request->only;
    size_t count;
    enum dti_status status =
        dti_logical_open(&report->container, report->path, report->request->container, reterr);
    if (status != DTI_OK) {
        report->container = NULL;
        return status;
    }
    size_t *const tensors = dti_tensors_named(report->container, only, &count);
    if (!tensors)
        return dti_no_memory(reterr);
    if (only && count == 0) {
        report->refusal = DTI_CHECK_NONE_LEFT;
        status = dti_fail(reterr, DTI_USAGE, "no tensor has a matching name");
    } else {
        status = check_all(report, tensors, count, reterr);
    }
    free(tensors);
    return status == DTI_OK ? verify(report, reterr) : status;
}

/* Whether anything is asserted about tensors. */
static bool needs_tensors(const struct dti_check_request *request)
{
    return request->assertion_count != 1 || request->assertions[0].kind != DTI_CHECK_PICKLE;
}

/* What is about files as they are; without a container only about pickles. */
static enum dti_status check_files(struct dti_check_report *report, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < report->request->assertion_count && status == DTI_OK; i++) {
        const enum dti_check_kind kind = report->request->assertions[i].kind;
        if (kind == DTI_CHECK_DIGEST && report->container)
            status = check_digests(report, i, reterr);
        else if (kind == DTI_CHECK_PICKLE)
            status = dti_check_pickles(report, i, reterr);
    }
    return status;
}

enum dti_status dti_check_run(const struct dti_check_request *request, const char *path,
                              struct dti_check_report *ret, struct dti_error *reterr)
{
    struct dti_error error;
    *ret = (struct dti_check_report){.request = request, .path = path};
    enum dti_status status = needs_tensors(request) ? run(ret, &error) : DTI_OK;
    if (status != DTI_OK)
        status = answer(ret, &error, reterr);
    if (status == DTI_OK)
        status = check_files(ret, reterr);
    if (ret->failure_count > 0)
        qsort(ret->failures, ret->failure_count, sizeof *ret->failures, by_assertion);
    return status;
}
