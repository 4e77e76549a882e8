/* SPDX-License-Identifier: MIT
 *
 * --device of values: a cross-check, which must store the same. */
#include <stdlib.h>

#include "cli/cast/values.h"

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

enum dti_status dti_cast_ask(struct cast_values *values, const struct dti_cast_operand *operand,
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

void dti_cast_note_device(const struct cast_values *values)
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
