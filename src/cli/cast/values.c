/* SPDX-License-Identifier: MIT
 *
 * The complete cast of values: numbers are read, cast once, and shown. */
#include "cli/cast/values.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shared/operand_kinds.h"
#include "util/run/allocate.h"

enum dti_status dti_cast_numbers_read(struct cast_numbers *ret, char **operands, size_t count,
                                      struct dti_error *reterr)
{
    *ret = (struct cast_numbers){.list = dti_calloc(count, sizeof *ret->list)};
    if (!ret->list)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++, ret->count++) {
        if (dti_cast_operand_parse(&ret->list[i], operands[i], strlen(operands[i]), i,
                                   &ret->error) != DTI_OK)
            break;
    }
    return DTI_OK;
}

void dti_cast_numbers_free(struct cast_numbers *numbers)
{
    for (size_t i = 0; i < numbers->count; i++)
        dti_cast_operand_free(&numbers->list[i]);
    dti_free(numbers->list);
}

static bool is_dtype(const char *text)
{
    struct dti_format format;
    return dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

/* The error for a dtype in place of the last value. */
static enum dti_status check_order(char **operands, int count, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE], other[DTI_QUOTE_SIZE];
    const char *last = operands[count - 1], *first = operands[count - 2];
    if (!is_dtype(first))
        return DTI_OK;
    dti_quote(quoted, first, strlen(first));
    dti_quote(other, last, strlen(last));
    if (is_dtype(last))
        return dti_fail(reterr, DTI_USAGE,
                        "expected a value, got the dtype %s; join dtypes with commas: %.64s,%.64s",
                        quoted, first, last);
    struct dti_value value;
    if (dti_value_parse(&value, last, strlen(last), NULL) == DTI_OK)
        return dti_fail(reterr, DTI_USAGE,
                        "expected a dtype, got the number %s; the dtype comes last: %.64s %.64s",
                        other, last, first);
    return DTI_OK;
}

/* Rejects a filler word before the dtype: "cast 0.1 to bf16". */
static enum dti_status check_joints(char **operands, int count, struct dti_error *reterr)
{
    static const char *const joints[] = {"to", "as", "in", "into"};
    for (size_t i = 0; count > 2 && i < sizeof joints / sizeof *joints; i++) {
        if (strcmp(operands[count - 2], joints[i]) == 0)
            return dti_fail_word(reterr, DTI_USAGE, joints[i], strlen(joints[i]),
                                 "leave out '%s': the dtype follows the values, as in 'dtinfo "
                                 "cast 70000 bf16'",
                                 joints[i]);
    }
    return DTI_OK;
}

static enum dti_status missing_dtype(const char *last, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE,
                    "the dtype is missing after %s, as in 'dtinfo cast 70000 bf16'",
                    DTI_QUOTED(last, strlen(last)));
}

static enum dti_status dtype_comes_last(const char *dtype, struct dti_error *reterr)
{
    return dti_fail(
        reterr, DTI_USAGE,
        "expected a value, got the dtype %s; the dtype comes last, as in 'dtinfo cast 70000 bf16'",
        DTI_QUOTED(dtype, strlen(dtype)));
}

static enum dti_status check_operands(char **operands, int count,
                                      const struct cast_numbers *numbers, struct dti_error *reterr)
{
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to cast; give values and a dtype, as in "
                        "'dtinfo cast 70000 bf16'");
    if (count == 1 && dti_operand_is_file(operands[0]))
        return dti_operand_needs_from(operands[0], reterr);
    if (count == 1 && is_dtype(operands[0]))
        return dti_fail(reterr, DTI_USAGE,
                        "the value is missing before %s, as in 'dtinfo cast 70000 bf16'",
                        DTI_QUOTED(operands[0], strlen(operands[0])));
    if (count == 1)
        return missing_dtype(operands[0], reterr);
    const char *const last = operands[count - 1];
    enum dti_status status = check_joints(operands, count, reterr);
    if (status == DTI_OK && numbers->count != (size_t)count - 1)
        status = check_order(operands, count, reterr);
    if (status == DTI_OK && dti_operand_is_number(last))
        return is_dtype(operands[0]) ? dtype_comes_last(operands[0], reterr)
                                     : missing_dtype(last, reterr);
    if (status != DTI_OK)
        return status;
    for (int i = 0; i < count - 1 && count > 2; i++) {
        if (strcmp(operands[i], "-") == 0)
            return dti_fail(
                reterr, DTI_USAGE,
                "'-' reads all values from standard input; give no other values with it");
    }
    return DTI_OK;
}

/* The numbers of the command line, all of them cast. */
struct list {
    struct cast_values *values;
    const struct cast_numbers *numbers;
    struct dti_cast_result *results; /* all targets of the first operand, then of the second ... */
};

static enum dti_status show_list(const struct list *list, struct dti_error *reterr)
{
    struct cast_values *const values = list->values;
    const struct dti_command_context *const cx = values->cx;
    const size_t targets = values->job.target_count;
    const bool gaps =
        cx->output == DTI_OUTPUT_HUMAN && targets > 1 && !cx->quiet && !values->args->digits_given;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < list->numbers->count && status == DTI_OK; i++) {
        if (gaps && i > 0)
            (void)fputc('\n', cx->out);
        status = dti_cast_operand_show(values, &list->numbers->list[i], &list->results[i * targets],
                                       reterr);
    }
    return status;
}

static void put_list(void *context, struct dti_json *json)
{
    const struct list *const list = context;
    struct dti_error none; /* JSON output fails when it is written */
    if (!list->values->single)
        dti_json_stream(json, &list->values->cx->sink);
    (void)show_list(list, &none);
}

/* Validates all operands before anything is printed. */
static enum dti_status cast_list(const struct list *list, char **operands, size_t count,
                                 struct dti_error *reterr)
{
    struct cast_values *const values = list->values;
    const struct cast_numbers *const numbers = list->numbers;
    for (size_t i = 0; i < numbers->count; i++) {
        const enum dti_status status = dti_cast_operand_cast(
            values, &numbers->list[i], &list->results[i * values->job.target_count], reterr);
        if (status != DTI_OK)
            return status;
    }
    if (numbers->count == count)
        return DTI_OK;
    *reterr = numbers->error;
    dti_operand_hint(operands[numbers->count], reterr);
    return reterr->status;
}

static enum dti_status cast_operands(struct cast_values *values, char **operands, size_t count,
                                     const struct cast_numbers *numbers, struct dti_error *reterr)
{
    const size_t targets = values->job.target_count;
    struct list list = {.values = values, .numbers = numbers};
    list.results = dti_calloc(numbers->count * targets + 1, sizeof *list.results);
    if (!list.results)
        return dti_no_memory(reterr);
    enum dti_status status = cast_list(&list, operands, count, reterr);
    if (status == DTI_OK && values->cx->output == DTI_OUTPUT_JSON) {
        values->answer.put = put_list;
        values->answer.context = &list;
        dti_document_cast(values->json, &values->answer);
        dti_put_cast_rest(values->json, &values->answer);
        status = dti_cast_write(values, reterr);
    } else if (status == DTI_OK) {
        status = show_list(&list, reterr);
    }
    dti_free(list.results);
    return status;
}

enum dti_status dti_cast_values(const struct dti_policy_args *policy,
                                const struct cast_value_args *args,
                                const struct dti_command_context *cx, char **operands, int count,
                                const struct cast_numbers *numbers, struct dti_error *reterr)
{
    struct cast_values values = {
        .args = args, .cx = cx, .json = cx->json, .threads = args->threads};
    enum dti_status status = check_operands(operands, count, numbers, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_job_init(&values.job, policy, &cx->asker, operands[count - 1], reterr);
    if (status != DTI_OK)
        return status;
    const bool stream = count == 2 && strcmp(operands[0], "-") == 0;
    values.single = count == 2 && !stream;
    values.answer.options = dti_cast_job_policies(&values.job, NULL);
    dti_cast_values_settle(&values);
    values.current = (struct dti_cast_results){.count = values.job.target_count,
                                               .digits_given = args->digits_given,
                                               .stacks = args->stacks,
                                               .digits = (size_t)args->digits};
    if (policy->device)
        status = dti_cast_device_open_cross_check(&values.job.device, reterr);
    if (status == DTI_OK)
        status = stream ? dti_cast_stream(&values, reterr)
                        : cast_operands(&values, operands, (size_t)count - 1, numbers, reterr);
    const bool fatal = status == DTI_OK && ((unsigned)policy->fail_on & values.flags) != 0;
    if (status == DTI_OK && values.job.device.runner)
        dti_cast_note_device(&values);
    dti_cast_job_free(&values.job);
    /* the answer itself shows the event */
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
