/* SPDX-License-Identifier: MIT
 *
 * The whole cast of values: numbers are read, cast once to every dtype, checked by a device, and
 * shown. */
#include "cli/cast/values.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shared/operand_kinds.h"

/* `all` marks values without a counterpart; for a dtype given by name they are an error. */
static enum dti_status no_nan_error(const struct dti_cast_result *result, struct dti_error *reterr)
{
    const struct dti_scalar *const component =
        &result->component[result->component[0].flags & DTI_FLAG_NO_NAN ? 0 : 1];
    const struct dti_format *const dtype =
        dti_cast_stage(dti_cast_route(result), component->no_nan_stage);
    char text[DTI_TEXT_SIZE];
    struct dti_value max;
    uint64_t code = 0;
    (void)dti_code_max(dtype, &code);
    dti_decode(dtype, code, &max);
    dti_spell_stored(text, dtype, code, &max);
    return dti_fail(reterr, DTI_NOT_REPRESENTABLE,
                    "%s has no NaN; --overflow saturate stores %s instead", dtype->name, text);
}

static enum dti_status unknown_error(const struct dti_cast_target *target,
                                     const struct dti_cast_operand *operand,
                                     struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NOT_REPRESENTABLE, "the result of %s for %s in %s is unknown: %s",
                    dti_stack_name(target->rule->stack), DTI_QUOTED(operand->text, operand->length),
                    target->dtype.name, target->rule->why_unknown);
}

/* Cross-checks a component of a target. */
static enum dti_status find_cross_check(struct dti_cast_job *job, struct dti_cast_target *target,
                                        size_t component, struct dti_cross_check **ret,
                                        struct dti_error *reterr)
{
    enum dti_level level;
    *ret = target->cross_check[component];
    if (*ret)
        return DTI_OK;
    enum dti_status status = dti_level_choose(getenv("DTINFO_CPU"), &level, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_cast cast = target->cast;
    cast.policy.stream = (uint32_t)component;
    status = dti_cross_check_new(&target->cross_check[component], &cast, target->rule,
                                 job->device.runner, level, reterr);
    *ret = target->cross_check[component];
    return status;
}

/* Checks a result on --device and fills its device and device_reason. */
static enum dti_status ask_device(struct cast_values *values,
                                  const struct dti_cast_operand *operand,
                                  struct dti_cast_result *result, struct dti_error *reterr)
{
    struct dti_cast_device *const device = &values->job.device;
    struct dti_cast_target *const target =
        &values->job.targets[result->target - values->job.targets];
    result->device_reason = device->why_cpu;
    if (!device->runner)
        return DTI_OK;
    if (!result->known || result->no_code) {
        result->device_reason = "nothing is stored";
        return DTI_OK;
    }
    const uint64_t asked = device->asked;
    const char *const before = device->why_not;
    enum dti_status status = DTI_OK;
    device->why_not = NULL;
    for (size_t i = 0; i < result->components && status == DTI_OK; i++) {
        struct dti_cross_check *cross_check = NULL;
        const struct dti_stored_number number = {.value = result->component[i].input,
                                                 .integer_literal = operand->integer_literal,
                                                 .code = result->component[i].code};
        status = find_cross_check(&values->job, target, i, &cross_check, reterr);
        if (status == DTI_OK)
            status = dti_cast_device_ask(device, cross_check, &number, 1, operand->index, reterr);
    }
    if (device->asked == asked + result->components)
        result->device = device->begun;
    result->device_reason = device->why_not;
    device->why_not = before ? before : device->why_not;
    return status;
}

enum dti_status dti_cast_operand_cast(struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      struct dti_cast_result *ret, struct dti_error *reterr)
{
    const struct dti_cast_job *const job = &values->job;
    const bool device = job->device.wish.kind != DTI_DEVICE_CPU;
    for (size_t i = 0; i < job->target_count; i++) {
        const struct dti_cast_target *const target = &job->targets[i];
        if (operand->components == 2 && target->dtype.kind != DTI_KIND_COMPLEX)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "%s is a real dtype; complex numbers need complex64 or complex128",
                            target->dtype.name);
        dti_cast_value(target, operand, !values->args->stacks, &ret[i]);
        if (target->named && !ret[i].known)
            return unknown_error(target, operand, reterr);
        if (target->named && ret[i].no_code)
            return no_nan_error(&ret[i], reterr);
        values->flags |= ret[i].flags;
        const enum dti_status status =
            device ? ask_device(values, operand, &ret[i], reterr) : DTI_OK;
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

static void add_hints(struct cast_values *values, const struct dti_cast_results *results)
{
    char text[DTI_TEXT_SIZE], message[DTI_TEXT_SIZE + DTI_NAME_SIZE + 40];
    for (size_t i = 0; i < results->count; i++) {
        const char *const dtype = results->list[i].target->dtype.name;
        if (!dti_cast_saturated(&results->list[i], results->operand, text))
            continue;
        (void)snprintf(message, sizeof message, "%s: --overflow saturate gives %s", dtype, text);
        dti_warnings_add(&values->job.warnings, "saturate_differs", dtype, 0, message);
    }
}

static void put_current(void *context, struct dti_json *json)
{
    struct cast_values *const values = context;
    dti_put_cast_results(json, &values->current);
    add_hints(values, &values->current);
}

enum dti_status dti_cast_write(const struct cast_values *values, struct dti_error *reterr)
{
    return values->text ? dti_json_append(values->json, values->text, reterr)
                        : dti_document_write(values->json, values->cx->out, reterr);
}

void dti_cast_values_settle(struct cast_values *values)
{
    values->answer.put = put_current;
    values->answer.context = values;
    values->answer.warnings = &values->job.warnings;
}

/* Begins the document for one operand; all documents begin alike. */
static enum dti_status write_line(struct cast_values *values, struct dti_error *reterr)
{
    struct dti_json *const json = values->json;
    if (values->headed) {
        dti_json_rewind(json, &values->head);
    } else {
        dti_document_cast(json, &values->answer);
        values->head = dti_json_mark(json);
        values->headed = true;
    }
    dti_put_cast_rest(json, &values->answer);
    dti_warnings_clear(&values->job.warnings);
    return dti_cast_write(values, reterr);
}

enum dti_status dti_cast_operand_show(struct cast_values *values,
                                      const struct dti_cast_operand *operand,
                                      const struct dti_cast_result *results,
                                      struct dti_error *reterr)
{
    values->current.operand = operand;
    values->current.list = results;
    switch (values->cx->output) {
    case DTI_OUTPUT_JSON:
        put_current(values, values->json);
        return DTI_OK;
    case DTI_OUTPUT_JSONL:
        return write_line(values, reterr);
    default:
        return dti_cast_human(values, operand, results, reterr);
    }
}

/* Reports on --device on stderr, unless the answer on stdout does. */
static void note_device(const struct cast_values *values)
{
    const struct dti_cast_device *const device = &values->job.device;
    const unsigned long long asked = device->asked, numbers = device->numbers;
    if (values->cx->output != DTI_OUTPUT_HUMAN ||
        (values->single && !values->args->digits_given && !values->args->stacks))
        return;
    (void)dti_context_flush(values->cx, NULL); /* it follows the answers */
    if (asked == numbers)
        dti_warn(values->cx, "%s stores the same", device->begun);
    else
        dti_warn(values->cx, "%s stores the same for %llu of %llu; the others were not checked: %s",
                 device->begun, asked, numbers,
                 device->why_not ? device->why_not : "nothing is stored");
}

enum dti_status dti_cast_numbers_read(struct cast_numbers *ret, char **operands, size_t count,
                                      struct dti_error *reterr)
{
    *ret = (struct cast_numbers){.list = calloc(count, sizeof *ret->list)};
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
    free(numbers->list);
}

static bool is_dtype(const char *text)
{
    struct dti_format format;
    return dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

/* A dtype in place of the last value. */
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

/* "cast 0.1 to bf16" */
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
    struct dti_cast_result *results; /* of the first one for every target, of the second one ... */
};

static enum dti_status show_list(const struct list *list, struct dti_error *reterr)
{
    struct cast_values *const values = list->values;
    const struct dti_context *const cx = values->cx;
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
        dti_json_stream(json, list->values->cx->out);
    (void)show_list(list, &none);
}

/* Nothing is printed before all operands are known to be valid. */
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
    list.results = calloc(numbers->count * targets + 1, sizeof *list.results);
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
    free(list.results);
    return status;
}

enum dti_status dti_cast_values(const struct dti_policy_args *policy,
                                const struct cast_value_args *args, const struct dti_context *cx,
                                char **operands, int count, const struct cast_numbers *numbers,
                                struct dti_error *reterr)
{
    struct cast_values values = {
        .args = args, .cx = cx, .json = cx->json, .threads = args->threads};
    enum dti_status status = check_operands(operands, count, numbers, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_job_init(&values.job, policy, cx, operands[count - 1], reterr);
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
        note_device(&values);
    dti_cast_job_free(&values.job);
    /* the answer itself shows the event */
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}
