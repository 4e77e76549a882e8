/* SPDX-License-Identifier: MIT
 *
 * Compiles a plan's steps to device kernels: the same operations and parameters, with two steps
 * fused if such a kernel exists, in as few launches as possible (dynamic programming). A plan is
 * attached to a runner if its device supports all steps and their tables fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/device_parts.h"
#include "util/run/allocate.h"

enum { LAUNCHES_MAX = 5 * DTI_STEPS_MAX };

/* The best way to launch the steps from one on: the kernel for the first step, or for the first
 * two. */
struct choice {
    size_t launches; /* up to the end; LAUNCHES_MAX: impossible */
    size_t taken;
    enum dti_gpu_kernel kernel;
};

static bool is_copy(const struct dti_step *step)
{
    return step->kernel && step->kernel->op == DTI_OP_COPY;
}

static struct choice choose(const struct dti_step *steps, size_t left, const struct choice *after)
{
    struct choice best = {.launches = LAUNCHES_MAX};
    const struct dti_step *const step = &steps[0], *const then = &steps[1];
    if (!step->kernel)
        return best;
    if (left > 1 && then->kernel && !is_copy(step) && !is_copy(then) && !then->args.table) {
        best.kernel =
            dti_gpu_kernel_find(step->kernel->op, then->kernel->op, &step->args, &then->args);
        if (best.kernel != DTI_GPU_KERNEL_COUNT) {
            best.launches = after[1].launches + 1;
            best.taken = 2;
        }
    }
    const enum dti_gpu_kernel single =
        is_copy(step) ? DTI_GPU_KERNEL_COUNT
                      : dti_gpu_kernel_find(step->kernel->op, DTI_OP_COUNT, &step->args, NULL);
    if ((is_copy(step) || single != DTI_GPU_KERNEL_COUNT) && after[0].launches + 1 < best.launches)
        best = (struct choice){.launches = after[0].launches + 1, .taken = 1, .kernel = single};
    if (best.launches > LAUNCHES_MAX)
        best.launches = LAUNCHES_MAX;
    return best;
}

static void note_table(struct dti_device_plan *plan, const struct dti_code_table *table)
{
    for (size_t i = 0; i < plan->table_count; i++) {
        if (plan->table[i] == table)
            return;
    }
    if (plan->table_count < DTI_DEVICE_TABLES)
        plan->table[plan->table_count] = table;
    plan->table_count++;
}

static void add_launch(struct dti_device_plan *plan, const struct dti_step *steps,
                       const struct choice *choice)
{
    const struct dti_step *const last = &steps[choice->taken - 1];
    struct dti_device_launch *const launch = &plan->launches[plan->launch_count++];
    launch->kernel = choice->kernel;
    launch->src_bits = steps->src_bits;
    launch->dst_bits = last->dst_bits;
    if (is_copy(steps))
        return;
    dti_gpu_cast_args_init(&launch->args, &steps->args, choice->taken > 1 ? &last->args : NULL);
    launch->table = steps->args.table;
    if (launch->table)
        note_table(plan, launch->table);
}

/* Replaces a step that keeps codes and zeroes the container's other bits by a pack and an unpack
 * step. */
static size_t spell_out(struct dti_step *steps, const struct dti_step *step)
{
    static const struct dti_kernel pack = {.op = DTI_OP_PACK}, unpack = {.op = DTI_OP_UNPACK};
    const unsigned bits = step->src.width;
    if (!step->keep || bits > 7) {
        steps[0] = *step;
        return 1;
    }
    steps[0] =
        (struct dti_step){.kernel = &pack, .args = {.bits = bits}, .src_bits = 8, .dst_bits = bits};
    steps[1] = (struct dti_step){
        .kernel = &unpack, .args = {.bits = bits}, .src_bits = bits, .dst_bits = 8};
    return 2;
}

/* Adds launches for the steps [from, to) of a chain; false if a kernel is missing. */
static bool add_chain(struct dti_device_plan *plan, const struct dti_chain *chain, size_t from,
                      size_t to, struct dti_device_chain *ret)
{
    struct dti_step steps[2 * DTI_STEPS_MAX];
    struct choice choices[2 * DTI_STEPS_MAX + 2];
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        count += spell_out(&steps[count], &chain->step[i]);
    choices[count] = choices[count + 1] = (struct choice){.launches = 0};
    for (size_t i = count; i-- > 0;)
        choices[i] = choose(&steps[i], count - i, &choices[i + 1]);
    *ret = (struct dti_device_chain){.launch = &plan->launches[plan->launch_count]};
    if (choices[0].launches > LAUNCHES_MAX - plan->launch_count ||
        choices[0].launches == LAUNCHES_MAX)
        return false;
    for (size_t i = 0; i < count; i += choices[i].taken, ret->count++)
        add_launch(plan, &steps[i], &choices[i]);
    return true;
}

/* Sizes the two ping-pong arrays between the launches of a chain. */
static void note_between(struct dti_device_plan *plan, const struct dti_device_chain *chain,
                         bool with_loss)
{
    unsigned *const bits = plan->between_bits[with_loss];
    for (size_t i = 0; i + 1 < chain->count; i++) {
        if (chain->launch[i].dst_bits > bits[i % 2])
            bits[i % 2] = chain->launch[i].dst_bits;
    }
}

/* Whether the device counts the loss. The CPU counts losses that need every element's value, and
 * flags. */
static bool add_loss(struct dti_device_plan *ret, const struct dti_plan *plan)
{
    const struct dti_chain *const chain = &plan->chain;
    const size_t shared = plan->copies ? 0 : plan->shared_count;
    const size_t launches = ret->launch_count, tables = ret->table_count;
    const bool hub32 = plan->loss_rule.hub == DTI_LOSS_HUB32;
    if (plan->loss_rule.hub == DTI_LOSS_WIDE || plan->request.flags)
        return false;
    bool ok = shared > 0 ? add_chain(ret, chain, 0, shared, &ret->source)
                         : add_chain(ret, &plan->source, 0, plan->source.count, &ret->source);
    ret->copies = plan->copies;
    ret->core_from_numbers = shared > 0;
    if (plan->copies) {
        ok = ok && add_chain(ret, chain, 0, chain->count, &ret->store);
    } else {
        ok = ok && add_chain(ret, chain, shared, plan->core_count, &ret->core) &&
             add_chain(ret, &plan->stored, 0, plan->stored.count, &ret->stored) &&
             add_chain(ret, chain, plan->core_count, chain->count, &ret->store);
    }
    if (!ok || ret->table_count > DTI_DEVICE_TABLES) {
        ret->launch_count = launches;
        ret->table_count = tables;
        return false;
    }
    ret->number_bits = hub32 ? 32 : 64;
    if (!plan->copies && ret->core.count > 0)
        ret->code_bits = ret->core.launch[ret->core.count - 1].dst_bits;
    ret->loss_kernel = hub32 ? DTI_GPU_LOSS_HUB32 : DTI_GPU_LOSS_HUB64;
    dti_gpu_loss_args_init(&ret->loss_args, &plan->loss_rule);
    note_between(ret, &ret->source, true);
    note_between(ret, &ret->core, true);
    note_between(ret, &ret->stored, true);
    note_between(ret, &ret->store, true);
    return true;
}

static bool make_launches(struct dti_device_plan *ret, const struct dti_plan *plan)
{
    const struct dti_chain *const chain = &plan->chain;
    ret->src_bits = chain->step[0].src_bits;
    ret->dst_bits = chain->step[chain->count - 1].dst_bits;
    if (!add_chain(ret, chain, 0, chain->count, &ret->cast) || ret->table_count > DTI_DEVICE_TABLES)
        return false;
    note_between(ret, &ret->cast, false);
    ret->counts = add_loss(ret, plan);
    return true;
}

/* Makes the launches, without uploading tables. NULL if memory ran out. */
static struct dti_device_plan *device_plan_new(const struct dti_plan *plan)
{
    struct dti_device_plan *const ret = dti_calloc(1, sizeof *ret);
    if (!ret)
        return NULL;
    ret->launches = dti_calloc(LAUNCHES_MAX, sizeof *ret->launches);
    if (!ret->launches) {
        dti_free(ret);
        return NULL;
    }
    ret->possible = make_launches(ret, plan);
    return ret;
}

void dti_device_plan_free(struct dti_device_plan *plan)
{
    if (!plan)
        return;
    if (plan->tables != 0)
        dti_gpu_free(plan->runner->gpu, plan->tables);
    dti_free(plan->launches);
    dti_free(plan);
}

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

/* Uploads tables from a lane's host memory, which stays valid if the device is lost meanwhile. */
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

/* Reports which cast has no kernel. */
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

/* Makes plan->device, or reports why it cannot. */
static enum dti_status attach(struct dti_plan *plan, struct dti_error *reterr)
{
    struct dti_runner *const runner = plan->runner;
    struct dti_device_plan *const device = device_plan_new(plan);
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
