/* SPDX-License-Identifier: MIT
 *
 * Assertions on the numbers themselves. Data is not read if the dtype alone decides: integers have
 * no NaN. The rest is read once, some tensors at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/check_answer.h"

static const struct dti_format *part_of(const struct dti_tensor *tensor)
{
    return dti_real_format(tensor->format);
}

static bool is_read(const struct dti_tensor *tensor)
{
    return tensor->format && !tensor->refusal;
}

/* Whether an assertion applies to such a tensor. */
static bool concerns(const struct dti_check_request *request,
                     const struct dti_check_assertion *assertion, const struct dti_tensor *tensor)
{
    if (assertion->kind < DTI_CHECK_NO_NAN)
        return assertion->kind == DTI_CHECK_QUANTIZED && tensor->quantized;
    return assertion->kind < DTI_CHECK_FITS || request->ints || !tensor->format ||
           !dti_format_is_integer(part_of(tensor));
}

/* Whether the dtype alone makes it true. */
static bool is_settled(const struct dti_check_assertion *assertion, const struct dti_tensor *tensor)
{
    if (!is_read(tensor))
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
    case DTI_CHECK_QUANTIZED:
    case DTI_CHECK_MAX_ABS:
        break;
    }
    return false;
}

/* Whether the numbers may show something. */
static bool is_linted(const struct dti_check_report *report, const struct dti_tensor *tensor)
{
    return report->lint &&
           dti_lint_wants(report->lint, (size_t)(tensor - report->container->tensors));
}

/* Counts the assertions that apply; returns whether its data decides any of them. */
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

static bool overflows(const struct dti_format *dst, const struct dti_value *value)
{
    const struct dti_policy policy = {.round = dti_format_is_float(dst) ? DTI_ROUND_NEAREST_EVEN
                                                                        : DTI_ROUND_ZERO};
    struct dti_outcome outcome;
    dti_encode(dst, value, &policy, 0, &outcome);
    return (outcome.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_INVALID)) != 0;
}

/* An extreme that exceeds a bound. */
static void blame(struct dti_check_failure *failure, const struct dti_stats *stats, bool high)
{
    failure->fault = high ? DTI_CHECK_TOO_HIGH : DTI_CHECK_TOO_LOW;
    failure->code = high ? stats->max : stats->min;
    failure->index = high ? stats->max_index : stats->min_index;
}

static void blame_special(struct dti_check_failure *failure, const struct dti_stats *stats,
                          bool nan)
{
    failure->fault = nan ? DTI_CHECK_HAS_NAN : DTI_CHECK_HAS_INF;
    failure->count = nan ? stats->nan : stats->inf;
    failure->index = nan ? stats->first_nan : stats->first_inf;
}

/* Errors are defined for numbers that stay finite; one that does not exceeds any bound. */
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
        blame_special(failure, stats, true);
        return stats->nan == 0;
    case DTI_CHECK_NO_INF:
        blame_special(failure, stats, false);
        return stats->inf == 0;
    case DTI_CHECK_MAX_ABS:
        if (stats->inf > 0 && assertion->limit.class != DTI_CLASS_INF) {
            blame_special(failure, stats, false);
            return false;
        }
        if (some)
            blame(failure, stats, dti_value_compare(&max, &absmax) == 0);
        return !some || dti_value_compare(&absmax, &assertion->limit) <= 0;
    case DTI_CHECK_FITS:
        if (dti_stats_fit(stats, &tensor->rule, &assertion->format))
            return true;
        if (stats->nan > 0 && !dti_format_has_nan(&assertion->format))
            blame_special(failure, stats, true);
        else if (stats->inf > 0 && !dti_format_has_inf(&assertion->format))
            blame_special(failure, stats, false);
        else
            blame(failure, stats, some && !max.negative && overflows(&assertion->format, &max));
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
    case DTI_CHECK_QUANTIZED:
        break;
    }
    return true;
}

/* The tensors to be read, in the order of the file. */
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

enum dti_status dti_check_values(struct dti_check_report *report, const size_t *tensors,
                                 size_t count, struct dti_error *reterr)
{
    struct dti_container *const container = report->container;
    struct check_scan scan = {.report = report,
                              .tensors = malloc((count + 1) * sizeof *scan.tensors)};
    size_t needed = 0;
    if (!scan.tensors)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        if (needs_reading(report, &container->tensors[tensors[i]]))
            scan.tensors[needed++] = &container->tensors[tensors[i]];
    }
    const enum dti_status status = dti_reading_stats(
        &report->request->reading, container, scan.tensors, needed, false, judge, &scan, reterr);
    free((void *)scan.tensors);
    return status;
}
