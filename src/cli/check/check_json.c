/* SPDX-License-Identifier: MIT
 *
 * A check of one file as JSON: an element of "files" in schema dtinfo.check/1. */
#include <string.h>

#include "cli/check/check_job.h"
#include "cli/shared/dtype_operands.h"
#include "cli/shared/file_json.h"
#include "cli/shared/number_json.h"
#include "cli/shared/tensor_words.h"
#include "cli/shell/remedy_words.h"

/* The number at fault, with the bits that it has in the tensor's own dtype. */
static enum dti_status put_value(struct dti_json *json, const struct dti_tensor *tensor,
                                 const struct check_failure *failure, struct dti_error *reterr)
{
    static const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome own;
    if (failure->fault != CHECK_TOO_HIGH && failure->fault != CHECK_TOO_LOW) {
        dti_json_null(json, "value");
        return DTI_OK;
    }
    const struct dti_format *const format = dti_real_format(tensor->format);
    dti_decode(dti_stats_hub_format(failure->hub), failure->code, &value);
    dti_encode(format, &value, &exact, 0, &own);
    return dti_json_code(json, "value", format, true, own.code, reterr);
}

static enum dti_status put_failure(struct dti_json *json, const struct check_job *job,
                                   const struct check_report *report,
                                   const struct check_failure *failure, struct dti_error *reterr)
{
    const bool of_tensor = failure->tensor != SIZE_MAX;
    const struct dti_tensor *const tensor =
        of_tensor ? &report->container->tensors[failure->tensor] : NULL;
    char detail[CHECK_DETAIL_SIZE];
    enum dti_status status = DTI_OK;
    dti_json_object(json, NULL);
    if (of_tensor) {
        status =
            dti_json_bytes(json, "tensor", "tensor_hex", tensor->name, tensor->name_length, reterr);
    } else {
        dti_json_null(json, "tensor");
        dti_json_null(json, "tensor_hex");
    }
    dti_json_string(json, "detail", dti_check_detail(detail, job, report, failure));
    if (failure->fault == CHECK_HAS_NAN || failure->fault == CHECK_HAS_INF)
        dti_json_uint(json, "count", failure->count);
    else
        dti_json_null(json, "count");
    if (of_tensor)
        dti_json_place(json, "at", tensor, failure->index);
    else
        dti_json_null(json, "at");
    if (status == DTI_OK)
        status = put_value(json, tensor, failure, reterr);
    dti_json_end(json);
    return status;
}

static enum dti_status put_assertions(struct dti_json *json, const struct check_job *job,
                                      const struct check_report *report, struct dti_error *reterr)
{
    const struct check_failure *failure = report->failures;
    enum dti_status status = DTI_OK;
    dti_json_array(json, "assertions");
    for (size_t at = 0; at < job->assertion_count && status == DTI_OK; at++) {
        const struct check_assertion *const assertion = &job->assertions[at];
        const struct check_tally *const tally = &report->tally[at];
        const char *const argument = assertion->argument;
        dti_json_object(json, NULL);
        dti_json_string(json, "name", dti_check_name(assertion->kind));
        dti_json_text(json, "argument", argument, argument ? strlen(argument) : 0);
        dti_json_bool(json, "ok", tally->failures == 0);
        dti_json_uint(json, "tensors", tally->tensors);
        dti_json_array(json, "failures");
        for (size_t i = 0; i < tally->failures && status == DTI_OK; i++)
            status = put_failure(json, job, report, failure++, reterr);
        dti_json_end(json);
        dti_json_end(json);
    }
    dti_json_end(json);
    return status;
}

static void put_notes(struct dti_json *json, const struct dti_container *container)
{
    char words[DTI_REMEDY_WORDS];
    dti_json_array(json, "notes");
    for (size_t i = 0; container && i < container->note_count; i++) {
        const struct dti_note *const note = &container->notes[i];
        dti_json_object(json, NULL);
        dti_json_string(json, "code", note->code);
        dti_json_string(json, "text", dti_note_words(words, note));
        dti_json_end(json);
    }
    dti_json_end(json);
}

enum dti_status dti_check_json(const struct check_job *job, const struct check_report *report,
                               struct dti_json *json, struct dti_error *reterr)
{
    const struct dti_container *const container = report->container;
    dti_json_object(json, NULL);
    enum dti_status status =
        dti_json_bytes(json, "path", "path_hex", report->path, strlen(report->path), reterr);
    dti_json_string(json, "kind", container ? dti_container_name(container->kind) : NULL);
    dti_json_bool(json, "ok", report->failure_count == 0);
    if (status == DTI_OK)
        status = put_assertions(json, job, report, reterr);
    put_notes(json, container);
    dti_json_end(json);
    return status;
}
