/* SPDX-License-Identifier: MIT
 *
 * Attaches a plan to a runner: checks whether its device supports it, and prepares what the device
 * needs. */
#include <stdio.h>
#include <string.h>

#include "convert/device_parts.h"

enum { TABLE_SIZE = 8192 };
_Static_assert(sizeof(struct dti_code_table) <= TABLE_SIZE, "tables lie a power of two apart");

static void set_addresses(struct dti_device_plan *plan)
{
    for (size_t i = 0; i < plan->launch_count; i++) {
        struct dti_device_launch *const launch = &plan->launches[i];
        for (size_t at = 0; launch->table && at < plan->table_count; at++) {
            if (plan->table[at] == launch->table)
                launch->args.table = plan->tables + at * TABLE_SIZE;
        }
    }
}

/* From the memory of a lane, which stays when the device is lost on the way. */
static enum dti_status copy_tables(const struct dti_device_plan *plan, struct dti_slot *slot,
                                   struct dti_error *reterr)
{
    const size_t size = plan->table_count * TABLE_SIZE;
    enum dti_status status = dti_slot_prepare(plan->runner, slot, 0, size, reterr);
    if (status != DTI_OK)
        return status;
    memset(slot->host, 0, size);
    for (size_t i = 0; i < plan->table_count; i++)
        memcpy(slot->host + i * TABLE_SIZE, plan->table[i], sizeof *plan->table[i]);
    status = dti_gpu_upload(slot->stream, plan->tables, slot->host, size, reterr);
    return status == DTI_OK ? dti_gpu_finish(slot->stream, reterr) : status;
}

static enum dti_status upload_tables(struct dti_device_plan *plan, struct dti_error *reterr)
{
    struct dti_runner *const runner = plan->runner;
    struct dti_lane *lane;
    if (plan->table_count == 0)
        return DTI_OK;
    enum dti_status status =
        dti_gpu_alloc(runner->gpu, plan->table_count * TABLE_SIZE, &plan->tables, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_lane_take(runner, &lane, reterr);
    if (status != DTI_OK)
        return status;
    status = copy_tables(plan, &lane->slot[0], reterr);
    dti_lane_give(runner, lane);
    if (status == DTI_OK)
        set_addresses(plan);
    return status;
}

/* Names the cast that has no kernel. */
static void tell_why(struct dti_plan *plan)
{
    const struct dti_request *const request = &plan->request;
    const struct dti_chain *const chain = &plan->chain;
    bool rule = false;
    for (size_t i = 0; i < chain->count; i++)
        rule = rule || chain->step[i].rule;
    if (rule)
        (void)snprintf(plan->why, sizeof plan->why, "no CUDA kernel for casts like %s's from %s",
                       dti_stack_name(request->rule->stack), request->src.name);
    else
        (void)snprintf(plan->why, sizeof plan->why, "no CUDA kernel for %s to %s",
                       request->src.name, request->cast.dst.name);
}

/* Makes plan->device, or reports why not. */
static enum dti_status attach(struct dti_plan *plan, struct dti_error *reterr)
{
    struct dti_runner *const runner = plan->runner;
    struct dti_device_plan *const device = dti_device_plan_new(plan);
    enum dti_status status;
    if (!device)
        return dti_no_memory(reterr);
    device->runner = runner;
    if (!device->possible) {
        tell_why(plan);
        dti_device_plan_free(device);
        return runner->demanded
                   ? dti_fail_remedy(reterr, DTI_UNAVAILABLE, DTI_REMEDY_USE_CPU, "%s", plan->why)
                   : DTI_OK;
    }
    struct dti_error error;
    status = upload_tables(device, &error);
    if (status == DTI_OK) {
        plan->device = device;
        return DTI_OK;
    }
    dti_device_plan_free(device);
    if (runner->demanded) {
        if (reterr)
            *reterr = error;
        return status;
    }
    dti_runner_leave(runner, &error);
    return DTI_OK;
}

enum dti_status dti_plan_set_runner(struct dti_plan *plan, struct dti_runner *runner,
                                    const char **ret_why, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    dti_device_plan_free(plan->device);
    plan->device = NULL;
    plan->why[0] = '\0';
    plan->runner = runner;
    if (dti_runner_is_on(runner))
        status = attach(plan, reterr);
    if (status != DTI_OK)
        return status;
    const char *const why = plan->why[0] != '\0' ? plan->why : dti_runner_reason(runner);
    *ret_why = why[0] != '\0' ? why : NULL;
    return DTI_OK;
}

struct dti_runner *dti_plan_runner(const struct dti_plan *plan)
{
    return plan->runner;
}

const char *dti_plan_describe_device(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE])
{
    if (!plan->device || !dti_runner_is_on(plan->runner))
        return dti_plan_describe(plan, buffer);
    const struct dti_device_chain *const chain = &plan->device->cast;
    buffer[0] = '\0';
    for (size_t i = 0; i < chain->count; i++) {
        const enum dti_gpu_kernel kernel = chain->launch[i].kernel;
        dti_plan_text_add(buffer, kernel == DTI_GPU_KERNEL_COUNT
                                      ? "gpu_copy"
                                      : dti_kernel_title(dti_gpu_rows[kernel].name));
    }
    return buffer;
}
