/* SPDX-License-Identifier: MIT
 *
 * The meaning of --device for a cast, and the report on it. */
#include "cli/shared/cast_device.h"

#include <string.h>

#include "cli/shared/cast_job.h"
#include "dtinfo/resident.h"

const struct dti_choice dti_choice_device[] = {
    {.name = "cpu", .help = "the CPU; no driver is opened (the default)"},
    {.name = "cuda", .help = "the first CUDA device; an error if there is none"},
    {.name = "auto", .help = "a working CUDA device if there is one, else the CPU"},
    {.name = NULL},
};

enum dti_status dti_cast_device_read(struct dti_cast_device *ret, const char *text,
                                     struct dti_error *reterr)
{
    struct dti_device_wish wish;
    const enum dti_status status = dti_device_wish_parse(&wish, text, reterr);
    if (status != DTI_OK)
        return status;
    if (wish.kind == DTI_DEVICE_ALL) {
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "a cast runs on one device; use cpu, cuda, cuda:N or auto");
    }
    *ret = (struct dti_cast_device){.wish = wish};
    return DTI_OK;
}

enum dti_status dti_cast_device_open(struct dti_cast_device *device, struct dti_error *reterr)
{
    if (device->wish.kind == DTI_DEVICE_CPU)
        return DTI_OK;
    const enum dti_status status = dti_runner_open(&device->runner, &device->wish, reterr);
    if (status == DTI_OK)
        (void)snprintf(device->begun, sizeof device->begun, "%s",
                       dti_runner_device(device->runner));
    return status;
}

enum dti_status dti_cast_device_open_cross_check(struct dti_cast_device *device,
                                                 struct dti_error *reterr)
{
    device->asks = true;
    if (device->wish.kind == DTI_DEVICE_AUTO) {
        device->why_cpu = "not worth loading a driver to cast single numbers";
        return DTI_OK;
    }
    return dti_cast_device_open(device, reterr);
}

void dti_cast_device_close(struct dti_cast_device *device)
{
    dti_runner_close(device->runner);
    device->runner = NULL;
}

enum dti_status dti_cast_device_take(struct dti_cast_device *device, struct dti_plan *plan,
                                     struct dti_error *reterr)
{
    if (!device->runner)
        return DTI_OK;
    device->plans = 1;
    const enum dti_status status =
        dti_plan_set_runner(plan, device->runner, &device->why_plans, reterr);
    device->plans_there = status == DTI_OK && dti_resident_possible(plan);
    return status;
}

void dti_cast_device_plans(struct dti_cast_device *device, const struct dti_rewrite *cast)
{
    if (!device->runner)
        return;
    device->plans = cast->plan_count;
    device->why_plans = cast->why_cpu;
    for (size_t i = 0; i < cast->plan_count; i++)
        device->plans_there += dti_resident_possible(cast->plans[i]);
}

static bool is_on_cpu(const struct dti_cast_device *device)
{
    return strcmp(dti_cast_device_name(device), "cpu") == 0;
}

size_t dti_cast_device_threads(const struct dti_cast_device *device, size_t wanted)
{
    if (wanted > 0 || is_on_cpu(device))
        return wanted;
    return dti_runner_threads(device->runner, dti_cpu_count());
}

enum dti_status dti_cast_device_ask(struct dti_cast_device *device,
                                    struct dti_cross_check *cross_check,
                                    const struct dti_stored_number *numbers, size_t n,
                                    uint64_t index, struct dti_error *reterr)
{
    size_t asked = 0;
    const char *why = NULL;
    const enum dti_status status =
        dti_cross_check_ask(cross_check, numbers, n, index, &asked, &why, reterr);
    if (status != DTI_OK)
        return status;
    device->numbers += n;
    device->asked += asked;
    if (!device->why_not)
        device->why_not = why;
    return DTI_OK;
}

const char *dti_cast_device_name(const struct dti_cast_device *device)
{
    const bool none =
        device->asks ? device->asked == 0 : device->plans > 0 && device->plans_there == 0;
    return none ? "cpu" : dti_runner_device(device->runner);
}

const char *dti_cast_device_reason(struct dti_cast_device *device)
{
    const char *const said = dti_runner_reason(device->runner);
    if (device->why_cpu)
        return device->why_cpu;
    if (said[0] != '\0')
        return said;
    if (device->why_plans)
        return device->why_plans;
    if (!device->asks || device->asked == device->numbers)
        return NULL;
    if (device->numbers == 1)
        return device->why_not;
    (void)snprintf(
        device->reason, sizeof device->reason, "%llu of %llu numbers were not checked: %s",
        (unsigned long long)(device->numbers - device->asked), (unsigned long long)device->numbers,
        device->why_not ? device->why_not : "nothing is stored");
    return device->reason;
}

void dti_cast_device_human(struct dti_cast_device *device, struct dti_line *line)
{
    if (device->wish.kind == DTI_DEVICE_CPU)
        return;
    const char *const reason = dti_cast_device_reason(device);
    dti_line_print(line, DTI_STYLE_PLAIN, "  device %s%s%s\n", dti_cast_device_name(device),
                   reason ? ": " : "", reason ? reason : "");
}
