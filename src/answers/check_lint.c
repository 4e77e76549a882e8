/* SPDX-License-Identifier: MIT
 *
 * The assertion that a quantized checkpoint has none of the faults of lint.h. */
#include "answers/check_answer.h"

#include "dtinfo/glob.h"

/* Where DTI_CHECK_QUANTIZED is among the assertions: behind the last, if it is none. */
static size_t lint_assertion(const struct dti_check_request *request)
{
    size_t at = 0;
    while (at < request->assertion_count && request->assertions[at].kind != DTI_CHECK_QUANTIZED)
        at++;
    return at;
}

/* Blocks that have no definition here. */
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
        if (tensor->format || tensor->quantized || tensor->pickled ||
            (only && !dti_glob_list_match(only, tensor->name, tensor->name_length)))
            continue;
        report->tally[at].tensors++;
        status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

/* All that does not need the numbers. */
enum dti_status dti_check_lint_begin(struct dti_check_report *report, struct dti_error *reterr)
{
    const struct dti_check_request *const request = report->request;
    const size_t at = lint_assertion(request);
    struct dti_reading reading = request->reading;
    if (at == request->assertion_count || !report->container->stored)
        return DTI_OK;
    enum dti_status status = dti_lint_new(&report->lint, report->container, request->only, reterr);
    if (status != DTI_OK)
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

static enum dti_status take(void *context, size_t at, const struct dti_tensor_stats *stats,
                            const struct dti_loss_summary *losses, struct dti_error *reterr)
{
    (void)at, (void)losses;
    return stats ? dti_lint_probed(context, stats, reterr) : DTI_OK;
}

enum dti_status dti_check_lint_end(struct dti_check_report *report, struct dti_error *reterr)
{
    struct dti_reading reading = report->request->reading;
    struct dti_check_failure failure = {.assertion = lint_assertion(report->request),
                                        .tensor = SIZE_MAX,
                                        .fault = DTI_CHECK_LINT,
                                        .index = UINT64_MAX};
    enum dti_status status = DTI_OK;
    size_t tensor, count;
    if (!report->lint)
        return DTI_OK;
    reading.as_count = 0;
    while (status == DTI_OK && dti_lint_probe(report->lint, &tensor)) {
        const struct dti_tensor *const one = &report->container->tensors[tensor];
        status = dti_reading_stats(&reading, report->container, &one, 1, false, take, report->lint,
                                   reterr);
    }
    const struct dti_lint_finding *const findings = dti_lint_findings(report->lint, &count);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        failure.finding = &findings[i];
        failure.index = i; /* the order in which they are reported */
        status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}
