/* SPDX-License-Identifier: MIT
 *
 * Checks all assertions on one file: its digests; then names, dtypes and shapes; then, in a single
 * read, the numbers.
 *
 * Also the assertion that a quantized checkpoint has none of the faults in lint.h.
 *
 * Assertions on numbers: data is not read if the dtype alone decides, as integers have no NaN. The
 * rest is read once, a few tensors at a time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/check/check_answer.h"
#include "answers/tensors.h"
#include "io/net/remote.h"
#include "util/run/allocate.h"
#include "util/text/glob.h"

/* Index of DTI_CHECK_QUANTIZED among the assertions; their count if it is absent. */
static size_t lint_assertion(const struct dti_check_request *request)
{
    size_t at = 0;
    while (at < request->assertion_count && request->assertions[at].kind != DTI_CHECK_QUANTIZED)
        at++;
    return at;
}

static bool names_loader(const struct dti_check_request *request)
{
    bool any = false;
    for (size_t i = 0; i < request->assertion_count; i++)
        any = any || request->assertions[i].kind == DTI_CHECK_LOADER;
    return any;
}

/* Adds failures for blocks whose definition is unknown; the lint has those of layouts. */
static enum dti_status add_unreadable(struct dti_check_report *report, size_t at,
                                      struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    const char *const only = report->request->only;
    struct dti_check_failure failure = {
        .assertion = at, .fault = DTI_CHECK_UNREADABLE, .index = UINT64_MAX};
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < container->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        failure.tensor = i;
        if (tensor->format || dti_tensor_form(tensor) || tensor->pickled || tensor->coded_weights ||
            (only && !dti_glob_list_match(only, tensor->name, tensor->name_length)))
            continue;
        report->tally[at].tensors++;
        status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

/* DTI_CHECK_QUANTIZED, first phase: everything that does not need the numbers. */
static enum dti_status check_lint_begin(struct dti_check_report *report, struct dti_error *reterr)
{
    const struct dti_check_request *const request = report->request;
    const size_t at = lint_assertion(request);
    struct dti_reading reading = request->reading;
    report->linted = at < request->assertion_count;
    if (!(report->linted || names_loader(request)) || !report->container->stored)
        return DTI_OK;
    enum dti_status status =
        dti_lint_new(&report->lint, report->container, request->only, request->own, reterr);
    if (status != DTI_OK || !report->linted)
        return status;
    report->tally[at].tensors = dti_lint_tensors(report->lint);
    status = add_unreadable(report, at, reterr);
    if (status == DTI_OK)
        status = dti_reading_start(&reading, dti_lint_scale_bytes(report->lint), reterr);
    if (status != DTI_OK)
        return status;
    status = dti_lint_scales(report->lint, &reading.options, reterr);
    dti_reading_end(&reading);
    return status;
}

static enum dti_status take_stats(void *context, size_t at, const struct dti_tensor_stats *stats,
                                  const struct dti_loss_summary *losses, struct dti_error *reterr)
{
    (void)at, (void)losses;
    return stats ? dti_lint_probed(context, stats, reterr) : DTI_OK;
}

/* DTI_CHECK_QUANTIZED, last phase: reads the tensors that lint asks for, then adds its findings. */
static enum dti_status check_lint_end(struct dti_check_report *report, struct dti_error *reterr)
{
    struct dti_reading reading = report->request->reading;
    struct dti_check_failure failure = {.assertion = lint_assertion(report->request),
                                        .tensor = SIZE_MAX,
                                        .fault = DTI_CHECK_LINT,
                                        .index = UINT64_MAX};
    enum dti_status status = DTI_OK;
    size_t tensors[DTI_LINT_PROBES], count;
    if (!report->lint || !report->linted)
        return DTI_OK;
    reading.as_count = 0;
    while (status == DTI_OK && (count = dti_lint_probe(report->lint, tensors)) > 0) {
        const struct dti_tensor *some[DTI_LINT_PROBES];
        for (size_t i = 0; i < count; i++)
            some[i] = &report->container->tensors[tensors[i]];
        status = dti_reading_stats(&reading, report->container, some, count, false, take_stats,
                                   report->lint, reterr);
    }
    const struct dti_lint_finding *const findings = dti_lint_findings(report->lint, &count);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        failure.finding = &findings[i];
        failure.index = i; /* report order */
        status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

static const struct dti_format *part_of(const struct dti_tensor *tensor)
{
    return dti_real_format(tensor->format);
}

/* Whether an assertion applies to a tensor. */
static bool concerns(const struct dti_check_request *request,
                     const struct dti_check_assertion *assertion, const struct dti_tensor *tensor)
{
    if (assertion->kind < DTI_CHECK_NO_NAN)
        return assertion->kind == DTI_CHECK_QUANTIZED && dti_tensor_form(tensor);
    return assertion->kind < DTI_CHECK_FITS || request->ints || !tensor->format ||
           !dti_format_is_integer(part_of(tensor));
}

/* Whether the dtype alone makes the assertion true. */
static bool is_settled(const struct dti_check_assertion *assertion, const struct dti_tensor *tensor)
{
    if (!dti_tensor_is_read(tensor))
        return false;
    const struct dti_format *const format = part_of(tensor);
    switch (assertion->kind) {
    case DTI_CHECK_NO_NAN:
        return !dti_format_has_nan(format);
    case DTI_CHECK_NO_INF:
        return !dti_format_has_inf(format);
    case DTI_CHECK_FITS:
    case DTI_CHECK_MAX_TO_ZERO:
    case DTI_CHECK_MAX_ERROR:
    case DTI_CHECK_MIN_SQNR:
        return strcmp(format->name, assertion->format.name) == 0;
    case DTI_CHECK_VALID:
    case DTI_CHECK_DIGEST:
    case DTI_CHECK_PICKLE:
    case DTI_CHECK_DTYPE:
    case DTI_CHECK_SHAPE:
    case DTI_CHECK_MAX_BITS:
    case DTI_CHECK_LOADER:
    case DTI_CHECK_QUANTIZED:
    case DTI_CHECK_MAX_ABS:
        break;
    }
    return false;
}

/* Whether lint needs this tensor's numbers. */
static bool is_linted(const struct dti_check_report *report, const struct dti_tensor *tensor)
{
    return report->lint &&
           dti_lint_wants(report->lint, (size_t)(tensor - report->container->tensors));
}

/* Counts the assertions that apply to the tensor; returns whether any of them needs its data. */
static bool needs_reading(struct dti_check_report *report, const struct dti_tensor *tensor)
{
    bool needed = false;
    for (size_t i = 0; i < report->request->assertion_count; i++) {
        const struct dti_check_assertion *const assertion = &report->request->assertions[i];
        if (!concerns(report->request, assertion, tensor) ||
            (assertion->kind == DTI_CHECK_QUANTIZED && !is_linted(report, tensor)))
            continue;
        report->tally[i].tensors += assertion->kind != DTI_CHECK_QUANTIZED;
        needed = needed || !is_settled(assertion, tensor);
    }
    return needed;
}

/* Whether NaN, infinities and the largest magnitudes decide all assertions on numbers. */
static bool asks_for_peaks(const struct dti_check_request *request)
{
    for (size_t i = 0; i < request->assertion_count; i++) {
        const struct dti_check_assertion *const assertion = &request->assertions[i];
        if (assertion->kind > DTI_CHECK_FITS ||
            (assertion->kind == DTI_CHECK_FITS && !(dti_format_is_float(&assertion->format) &&
                                                    dti_format_is_signed(&assertion->format))))
            return false;
    }
    return true;
}

static bool overflows(const struct dti_format *dst, const struct dti_value *value)
{
    const struct dti_policy policy = {.round = dti_format_is_float(dst) ? DTI_ROUND_NEAREST_EVEN
                                                                        : DTI_ROUND_ZERO};
    struct dti_outcome outcome;
    dti_encode(dst, value, &policy, 0, &outcome);
    return (outcome.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID)) != 0;
}

/* An extreme that exceeds a bound. */
static void set_culprit(struct dti_check_failure *failure, const struct dti_stats *stats, bool high)
{
    failure->fault = high ? DTI_CHECK_TOO_HIGH : DTI_CHECK_TOO_LOW;
    failure->code = high ? stats->max : stats->min;
    failure->index = high ? stats->max_index : stats->min_index;
}

static void name_special(struct dti_check_failure *failure, const struct dti_stats *stats, bool nan)
{
    failure->fault = nan ? DTI_CHECK_HAS_NAN : DTI_CHECK_HAS_INF;
    failure->count = nan ? stats->nan : stats->inf;
    failure->index = nan ? stats->first_nan : stats->first_inf;
}

/* Errors are defined for numbers that stay finite; any other result exceeds every bound. */
static bool loss_holds(const struct dti_check_assertion *assertion, const struct dti_stats *stats,
                       const struct dti_loss_summary *loss, struct dti_check_failure *failure)
{
    const uint64_t nonzero = stats->elements - stats->zeros;
    const uint64_t lost = loss->elements - loss->nan_in - loss->inf_in - loss->compared;
    if (assertion->kind == DTI_CHECK_MAX_TO_ZERO) {
        failure->fault = DTI_CHECK_TO_ZERO;
        failure->figure = nonzero > 0 ? (double)loss->to_zero / (double)nonzero : 0;
        return failure->figure <= assertion->bound;
    }
    if (lost > 0) {
        failure->fault = DTI_CHECK_LOST;
        failure->count = lost;
        return false;
    }
    if (assertion->kind == DTI_CHECK_MAX_ERROR) {
        failure->fault = DTI_CHECK_ERROR;
        failure->figure = loss->max_absolute;
        failure->index = loss->max_index;
        return loss->max_absolute <= assertion->bound;
    }
    failure->fault = DTI_CHECK_SQNR;
    failure->figure = loss->sqnr_db;
    return isnan(loss->sqnr_db) || loss->sqnr_db >= assertion->bound;
}

/* True when the assertion holds; otherwise the failure is filled. */
static bool holds(const struct dti_check_assertion *assertion,
                  const struct dti_tensor_stats *tensor, const struct dti_loss_summary *losses,
                  struct dti_check_failure *failure)
{
    const struct dti_stats *const stats = &tensor->stats;
    struct dti_value min, max, absmax;
    failure->hub = tensor->rule.hub;
    const bool some = dti_stats_extremes(stats, &tensor->rule, &min, &max, &absmax);
    switch (assertion->kind) {
    case DTI_CHECK_NO_NAN:
        name_special(failure, stats, true);
        return stats->nan == 0;
    case DTI_CHECK_NO_INF:
        name_special(failure, stats, false);
        return stats->inf == 0;
    case DTI_CHECK_MAX_ABS:
        if (stats->inf > 0 && assertion->limit.kind != DTI_CLASS_INF) {
            name_special(failure, stats, false);
            return false;
        }
        if (some)
            set_culprit(failure, stats, dti_value_compare(&max, &absmax) == 0);
        return !some || dti_value_compare(&absmax, &assertion->limit) <= 0;
    case DTI_CHECK_FITS:
        if (dti_stats_fit(stats, &tensor->rule, &assertion->format))
            return true;
        if (stats->nan > 0 && !dti_format_has_nan(&assertion->format))
            name_special(failure, stats, true);
        else if (stats->inf > 0 && !dti_format_has_inf(&assertion->format))
            name_special(failure, stats, false);
        else
            set_culprit(failure, stats,
                        some && !max.negative && overflows(&assertion->format, &max));
        return false;
    case DTI_CHECK_MAX_TO_ZERO:
    case DTI_CHECK_MAX_ERROR:
    case DTI_CHECK_MIN_SQNR:
        return loss_holds(assertion, stats, &losses[assertion->as], failure);
    case DTI_CHECK_VALID:
    case DTI_CHECK_DIGEST:
    case DTI_CHECK_PICKLE:
    case DTI_CHECK_DTYPE:
    case DTI_CHECK_SHAPE:
    case DTI_CHECK_MAX_BITS:
    case DTI_CHECK_LOADER:
    case DTI_CHECK_QUANTIZED:
        break;
    }
    return true;
}

/* The tensors to read, in file order. */
struct check_scan {
    struct dti_check_report *report;
    const struct dti_tensor **tensors;
};

/* A tensor whose numbers cannot be read fails every assertion on them. */
static enum dti_status judge(void *context, size_t at, const struct dti_tensor_stats *stats,
                             const struct dti_loss_summary *losses, struct dti_error *reterr)
{
    const struct check_scan *const scan = context;
    const struct dti_check_request *const request = scan->report->request;
    const struct dti_tensor *const tensor = scan->tensors[at];
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < request->assertion_count && status == DTI_OK; i++) {
        const struct dti_check_assertion *const assertion = &request->assertions[i];
        struct dti_check_failure failure = {.assertion = i,
                                            .tensor =
                                                (size_t)(tensor - scan->report->container->tensors),
                                            .fault = DTI_CHECK_UNREADABLE,
                                            .index = UINT64_MAX};
        if (assertion->kind == DTI_CHECK_QUANTIZED) {
            if (is_linted(scan->report, tensor))
                status = dti_lint_numbers(scan->report->lint, stats, reterr);
            continue;
        }
        if (concerns(request, assertion, tensor) && !is_settled(assertion, tensor) &&
            !(stats && holds(assertion, stats, losses, &failure)))
            status = dti_check_fail(scan->report, &failure, reterr);
    }
    return status;
}

static enum dti_status check_values(struct dti_check_report *report, const size_t *tensors,
                                    size_t count, struct dti_error *reterr)
{
    struct dti_container *const container = report->container;
    struct check_scan scan = {.report = report,
                              .tensors = dti_malloc((count + 1) * sizeof *scan.tensors)};
    size_t needed = 0;
    if (!scan.tensors)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        if (needs_reading(report, &container->tensors[tensors[i]]))
            scan.tensors[needed++] = &container->tensors[tensors[i]];
    }
    struct dti_reading reading = report->request->reading;
    reading.options.only_peaks = !report->lint && asks_for_peaks(report->request);
    const enum dti_status status =
        dti_reading_stats(&reading, container, scan.tensors, needed, false, judge, &scan, reterr);
    dti_free((void *)scan.tensors);
    return status;
}

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
    const struct dti_digest **const wanted = dti_calloc(count + 1, sizeof *wanted);
    enum dti_status status = wanted ? find(report, wanted, reterr) : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = compare(report, at, wanted, reterr);
    dti_free((void *)wanted);
    return status;
}

void dti_check_report_free(struct dti_check_report *report)
{
    dti_free(report->digests);
    dti_free(report->failures);
    dti_pool_free(&report->texts);
    dti_pickle_scan_free(&report->pickles);
    dti_lint_free(report->lint);
    dti_logical_close(report->container);
}

/* Fails all assertions for a file that cannot be opened as the kind it appears to be. */
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
        report->failure_count = 0;
        memset(report->tally, 0, sizeof report->tally);
        return fail_all(report, reterr);
    }
    *reterr = *error;
    return error->status;
}

/* In the order of the assertions, known ones last, then of the tensors; failures without a tensor
 * come last, and behind them what a loader does, in the order of its rules. */
static int by_assertion(const void *a, const void *b)
{
    const struct dti_check_failure *const left = a, *const right = b;
    if (left->assertion != right->assertion)
        return left->assertion < right->assertion ? -1 : 1;
    if (left->known != right->known)
        return left->known ? 1 : -1;
    const int order = (left->index > right->index) - (left->index < right->index);
    const bool ruled = left->fault >= DTI_CHECK_UNCLEAR;
    if (ruled != (right->fault >= DTI_CHECK_UNCLEAR))
        return ruled ? 1 : -1;
    if (ruled && left->fault != right->fault) /* what is known first */
        return left->fault > right->fault ? -1 : 1;
    if (!ruled && left->tensor != right->tensor)
        return left->tensor < right->tensor ? -1 : 1;
    return order;
}

/* Verifies the checksums stored in the file. */
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

/* A pickle can only be validated by running it; an unknown type makes the file unreadable for other
 * programs, too. */
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
            status = dti_check_add_invalid_notes(report, i, reterr);
        values = values || kind >= DTI_CHECK_QUANTIZED;
        if (status == DTI_OK && (kind == DTI_CHECK_DTYPE || kind == DTI_CHECK_SHAPE))
            status = dti_check_names(report, i, tensors, count, reterr);
        if (status == DTI_OK && kind == DTI_CHECK_MAX_BITS)
            status = dti_check_bits(report, i, tensors, count, reterr);
    }
    if (status == DTI_OK)
        status = check_lint_begin(report, reterr);
    if (status == DTI_OK && values)
        status = check_values(report, tensors, count, reterr);
    if (status == DTI_OK)
        status = check_lint_end(report, reterr);
    for (size_t i = 0; i < request->assertion_count && status == DTI_OK; i++) {
        if (request->assertions[i].kind == DTI_CHECK_LOADER)
            status = dti_check_loader(report, i, tensors, count, reterr);
    }
    return status;
}

static enum dti_status check_file(struct dti_check_report *report, struct dti_error *reterr)
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
    dti_free(tensors);
    return status == DTI_OK ? verify(report, reterr) : status;
}

/* Whether anything is asserted about tensors. */
static bool needs_tensors(const struct dti_check_request *request)
{
    return request->assertion_count != 1 || request->assertions[0].kind != DTI_CHECK_PICKLE;
}

/* Checks files as a whole: digests and pickles; without a container only pickles. */
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

/* Counts the failures. */
static void count(struct dti_check_report *report)
{
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct dti_check_failure *const failure = &report->failures[i];
        const bool unreadable = failure->fault == DTI_CHECK_UNREADABLE ||
                                failure->fault == DTI_CHECK_NOT_DONE ||
                                failure->fault == DTI_CHECK_UNCLEAR;
        struct dti_check_tally *const tallies[] = {&report->tally[failure->assertion],
                                                   &report->all};
        for (size_t j = 0; j < 2; j++) {
            tallies[j]->failures++;
            tallies[j]->known += failure->known;
            tallies[j]->unreadable += unreadable && !failure->known;
        }
    }
}

enum dti_status dti_check_run(const struct dti_check_request *request, const char *path,
                              struct dti_check_report *ret, struct dti_error *reterr)
{
    struct dti_error error;
    *ret = (struct dti_check_report){.request = request, .path = path};
    enum dti_status status = needs_tensors(request) ? check_file(ret, &error) : DTI_OK;
    if (status != DTI_OK)
        status = answer(ret, &error, reterr);
    if (status == DTI_OK)
        status = check_files(ret, reterr);
    if (status == DTI_OK && request->mark_known)
        status = request->mark_known(request->known, ret, reterr);
    count(ret);
    if (ret->failure_count > 0)
        qsort(ret->failures, ret->failure_count, sizeof *ret->failures, by_assertion);
    return status;
}
