/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant VALUES... DTYPE: the values are one tensor, quantized to each dtype. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cast/cast_array.h"
#include "cli/quant/quant_values.h"

#define EXAMPLE "as in 'dtinfo quant -1 0.1 3 int8'"

static bool is_target(const char *text)
{
    struct dti_format format;
    return dti_block_lookup(text) || dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

static enum dti_status check_operands(const struct quant_args *args, char **operands, int count,
                                      struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    const char *const of_files = dti_quant_file_option(args);
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to quantize; give values and a dtype, " EXAMPLE);
    if (of_files || args->axis || args->pad)
        return dti_fail(reterr, DTI_USAGE,
                        "%s is for files of tensors, as in 'dtinfo quant model.safetensors mxfp4 "
                        "-o out.safetensors'",
                        of_files     ? of_files
                        : args->axis ? "--axis"
                                     : "--pad");
    if (args->per_given && args->per == DTI_PER_CHANNEL)
        return dti_fail(reterr, DTI_USAGE,
                        "values have no channels; --per channel is for files, --block N for both");
    if (count == 1)
        return dti_fail(reterr, DTI_USAGE, "%s stands alone; give values and a dtype, " EXAMPLE,
                        dti_quote(quoted, operands[0], strlen(operands[0])));
    for (int i = 0; i < count - 1; i++) {
        if (strcmp(operands[i], "-") == 0 && count > 2)
            return dti_fail(reterr, DTI_USAGE,
                            "'-' reads the values from standard input; give no others beside it");
    }
    const char *const last = operands[count - 1], *const first = operands[count - 2];
    if (!is_target(first))
        return DTI_OK;
    if (is_target(last))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is a dtype where a value should be; join dtypes with commas: "
                        "%.64s,%.64s",
                        dti_quote(quoted, first, strlen(first)), first, last);
    if (dti_cast_is_number(last))
        return dti_fail(reterr, DTI_USAGE,
                        "%s is a number where the dtype should be; it comes last: %.64s %.64s",
                        dti_quote(quoted, last, strlen(last)), last, first);
    return DTI_OK;
}

static enum dti_status read_operands(struct quant_numbers *numbers, char **operands, int count,
                                     struct dti_error *reterr)
{
    if (count == 1 && strcmp(operands[0], "-") == 0)
        return dti_quant_numbers_read(numbers, reterr);
    for (int i = 0; i < count; i++) {
        struct dti_error error;
        const enum dti_status status =
            dti_quant_numbers_add(numbers, operands[i], strlen(operands[i]), &error);
        if (status == DTI_OK)
            continue;
        dti_cast_array_hint(operands[i], &error);
        *reterr = error;
        return error.status;
    }
    return DTI_OK;
}

struct quant_values_job {
    const struct quant_args *args;
    const struct dti_context *cx;
    struct quant_target *targets;
    size_t count;
    struct quant_numbers numbers;
    struct dti_json *json;
    unsigned events; /* set of enum quant_event */
};

static enum dti_status show(struct quant_values_job *job, size_t at, struct dti_error *reterr)
{
    struct quant_result result;
    enum dti_status status =
        dti_quant_result_make(&result, &job->targets[at], &job->numbers, reterr);
    if (status != DTI_OK)
        return status;
    job->events |= (result.clipped > 0 ? QUANT_CLIPPED : 0U) |
                   (result.special > 0 ? QUANT_SPECIAL : 0U) |
                   (result.inexact > 0 ? QUANT_INEXACT : 0U);
    if (job->json) {
        status = dti_quant_json_result(job->json, job->args, job->cx, &result, reterr);
    } else {
        if (at > 0 && !job->cx->quiet)
            (void)fputc('\n', job->cx->out);
        status = dti_quant_human(job->args, job->cx, &result, reterr);
    }
    dti_quant_result_free(&result);
    return status;
}

static enum dti_status show_all(struct quant_values_job *job, struct dti_error *reterr)
{
    const bool document = job->cx->output == DTI_OUTPUT_JSON;
    enum dti_status status = DTI_OK;
    if (document)
        dti_quant_json_begin(job->json, job->args);
    for (size_t at = 0; at < job->count && status == DTI_OK; at++)
        status = show(job, at, reterr);
    if (status == DTI_OK && document)
        status = dti_quant_json_end(job->json, job->cx, job->targets, job->count, reterr);
    return status;
}

enum dti_status dti_quant_values(const struct quant_args *args, const struct dti_context *cx,
                                 char **operands, int count, struct dti_error *reterr)
{
    struct quant_values_job job = {.args = args, .cx = cx};
    enum dti_status status = check_operands(args, operands, count, reterr);
    if (status == DTI_OK)
        status =
            dti_quant_targets_read(args, cx, operands[count - 1], &job.targets, &job.count, reterr);
    if (status != DTI_OK)
        return status;
    dti_quant_numbers_init(&job.numbers);
    status = read_operands(&job.numbers, operands, count - 1, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN) {
        job.json = dti_json_new();
        if (!job.json)
            status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    if (status == DTI_OK)
        status = show_all(&job, reterr);
    dti_json_free(job.json);
    dti_quant_numbers_free(&job.numbers);
    free(job.targets);
    if (status == DTI_OK && (job.events & (unsigned)args->fail_on) != 0)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer itself shows the event */
    return status;
}
