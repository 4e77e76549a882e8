/* SPDX-License-Identifier: MIT
 *
 * One number cast to every dtype, checked by a device, and shown. */
#include "cli/cast/values.h"

#include <stdlib.h>

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
                    target->dtype.name, dti_stack_why_unknown(target->rule));
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
    const bool device = job->device.choice.kind != DTI_DEVICE_CPU;
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

void dti_cast_note_device(const struct cast_values *values)
{
    const struct dti_cast_device *const device = &values->job.device;
    const unsigned long long asked = device->asked, numbers = device->numbers;
    if (values->cx->output != DTI_OUTPUT_HUMAN ||
        (values->single && !values->args->digits_given && !values->args->stacks))
        return;
    (void)dti_command_context_flush(values->cx, NULL); /* it follows the answers */
    if (asked == numbers)
        dti_warn(values->cx, "%s stores the same", device->begun);
    else
        dti_warn(values->cx, "%s stores the same for %llu of %llu; the others were not checked: %s",
                 device->begun, asked, numbers,
                 device->why_not ? device->why_not : "nothing is stored");
}
