/* SPDX-License-Identifier: MIT
 *
 * The request of a cast: destinations, route and policies from the command line; and what --device
 * means for it. */
#include "requests/cast_job.h"

#include <stdio.h>
#include <string.h>

#include "convert/resident.h"
#include "requests/cast_device.h"
#include "requests/option_rows.h"
#include "util/run/allocate.h"

const struct dti_choice dti_choice_device[] = {
    {.name = "cpu", .help = "the CPU; no driver is opened (the default)"},
    {.name = "cuda", .help = "the first CUDA device; an error if there is none"},
    {.name = "auto", .help = "a working CUDA device if there is one, else the CPU"},
    {.name = NULL},
};

/* The option's text (NULL: the CPU); nothing is opened. Fails with DTI_USAGE, or DTI_UNAVAILABLE
 * for a device that this system cannot have. */
static enum dti_status cast_device_read(struct dti_cast_device *ret, const char *text,
                                        struct dti_error *reterr)
{
    struct dti_device_choice choice;
    const enum dti_status status = dti_device_choice_parse(&choice, text, reterr);
    if (status != DTI_OK)
        return status;
    if (choice.kind == DTI_DEVICE_ALL) {
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "a cast runs on one device; use cpu, cuda, cuda:N or auto");
    }
    *ret = (struct dti_cast_device){.choice = choice};
    return DTI_OK;
}

enum dti_status dti_cast_device_open(struct dti_cast_device *device, struct dti_error *reterr)
{
    if (device->choice.kind == DTI_DEVICE_CPU)
        return DTI_OK;
    const enum dti_status status = dti_runner_open(&device->runner, &device->choice, reterr);
    if (status == DTI_OK)
        (void)snprintf(device->begun, sizeof device->begun, "%s",
                       dti_runner_device(device->runner));
    return status;
}

enum dti_status dti_cast_device_open_cross_check(struct dti_cast_device *device,
                                                 struct dti_error *reterr)
{
    device->asks = true;
    if (device->choice.kind == DTI_DEVICE_AUTO) {
        device->why_cpu = "not worth loading a driver to cast single numbers";
        return DTI_OK;
    }
    return dti_cast_device_open(device, reterr);
}

static void cast_device_close(struct dti_cast_device *device)
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
    const char *const reason = dti_runner_reason(device->runner);
    if (device->why_cpu)
        return device->why_cpu;
    if (reason[0] != '\0')
        return reason;
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

/* `all`: the dtypes common in training, conversion and serving, from wide to narrow. */
static const enum dti_dtype ladder[] = {
    DTI_FP64,         DTI_FP32,       DTI_TF32,     DTI_BF16,
    DTI_FP16,         DTI_FP8_E4M3FN, DTI_FP8_E5M2, DTI_FP8_E4M3FNUZ,
    DTI_FP8_E5M2FNUZ, DTI_FP8_E4M3,   DTI_FP8_E3M4, DTI_FP8_E4M3B11FNUZ,
    DTI_FP8_E8M0,     DTI_FP6_E3M2,   DTI_FP6_E2M3, DTI_FP4_E2M1,
    DTI_INT64,        DTI_INT32,      DTI_INT16,    DTI_INT8,
    DTI_UINT8,        DTI_INT4,       DTI_UINT4,
};

enum { DTYPES_MAX = 256 };

static enum dti_status each_dtype(const char *list, dti_add_dtype_fn *add, struct dti_cast_job *job,
                                  struct dti_error *reterr)
{
    if (list[0] == '\0')
        return dti_fail(reterr, DTI_UNKNOWN_DTYPE,
                        "missing name of a dtype; 'dtinfo list' shows all dtypes");
    return dti_each_dtype(list, add, job, reterr);
}

static enum dti_status lookup(struct dti_cast_job *job, const char *name, struct dti_format *ret,
                              struct dti_error *reterr)
{
    struct dti_dtype_operand operand;
    enum dti_status status = dti_asker_dtype(job->asker, name, &operand, reterr);
    if (status != DTI_OK)
        return status;
    *ret = operand.format;
    if (operand.note)
        dti_warnings_add(&job->warnings, "dtype_name", ret->name, 0, operand.note);
    return DTI_OK;
}

static enum dti_status add_via(void *context, const char *name, struct dti_error *reterr)
{
    struct dti_cast_job *const job = context;
    struct dti_format *via = &job->via[job->via_count];
    if (job->via_count == DTI_VIA_MAX)
        return dti_fail(reterr, DTI_USAGE, "--via takes at most %d dtypes", DTI_VIA_MAX);
    enum dti_status status = lookup(job, name, via, reterr);
    if (status == DTI_OK && via->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND, "--via takes real dtypes; %s is complex; use '%s'",
                        via->name, dti_format_get(via->component)->name);
    if (status == DTI_OK)
        job->via_count++;
    return status;
}

/* Appends a zeroed element. */
static enum dti_status grow_targets(struct dti_cast_job *job, struct dti_cast_target **ret,
                                    struct dti_error *reterr)
{
    const size_t count = job->target_count;
    if (count == DTYPES_MAX)
        return dti_fail(reterr, DTI_USAGE, "at most %d dtypes at once", DTYPES_MAX);
    if ((count & (count - 1)) == 0) { /* doubles the list */
        struct dti_cast_target *const more =
            dti_realloc(job->targets, (count > 0 ? 2 * count : 1) * sizeof *more);
        if (!more)
            return dti_no_memory(reterr);
        job->targets = more;
    }
    *ret = memset(&job->targets[count], 0, sizeof **ret);
    return DTI_OK;
}

static enum dti_status add_target(struct dti_cast_job *job, const struct dti_format *dtype,
                                  bool named, struct dti_error *reterr)
{
    const struct dti_recipe *const recipe = &job->args->recipe;
    struct dti_cast_target *target = NULL;
    const enum dti_status status = grow_targets(job, &target, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_cast *const cast = &target->cast;
    target->dtype = *dtype;
    target->named = named;
    cast->dst = dtype->kind == DTI_KIND_COMPLEX ? *dti_format_get(dtype->component) : *dtype;
    cast->policy = dti_recipe_policy(recipe);
    cast->round_given = recipe->round_given;
    cast->via_count = job->via_count;
    memcpy(cast->via, job->via, sizeof job->via);
    if (recipe->overflow == DTI_OVERFLOW_WRAP && named && !dti_format_is_integer(&cast->dst))
        return dti_fail(reterr, DTI_USAGE,
                        "--overflow wrap is for integer dtypes; %s is a float: use saturate",
                        dtype->name);
    if (recipe->like_given) {
        enum dti_stack stack = (enum dti_stack)recipe->like;
        target->rule = dti_stack_find(stack, &cast->dst);
        if (!target->rule && named)
            return dti_fail(reterr, DTI_WRONG_KIND,
                            "%s has no %s; --stacks shows the stacks that have it",
                            dti_stack_name(stack), dtype->name);
        if (!target->rule)
            return DTI_OK;
    }
    job->target_count++;
    return DTI_OK;
}

static enum dti_status add_named_target(void *context, const char *name, struct dti_error *reterr)
{
    struct dti_cast_job *const job = context;
    struct dti_format dtype;
    enum dti_status status = DTI_OK;
    if (strcmp(name, "all") == 0) {
        for (size_t i = 0; i < sizeof ladder / sizeof ladder[0] && status == DTI_OK; i++)
            status = add_target(job, dti_format_get(ladder[i]), false, reterr);
        return status;
    }
    status = lookup(job, name, &dtype, reterr);
    return status == DTI_OK ? add_target(job, &dtype, true, reterr) : status;
}

static enum dti_status check_conflicts(const struct dti_recipe *recipe, struct dti_error *reterr)
{
    const char *clash = recipe->round_given      ? "--round"
                        : recipe->overflow_given ? "--overflow"
                        : recipe->nan_given      ? "--nan"
                        : recipe->via            ? "--via"
                                                 : NULL;
    if (recipe->like_given && clash)
        return dti_fail(reterr, DTI_USAGE, "--like sets all policies; leave out %s", clash);
    if (recipe->seed_given && recipe->round != DTI_ROUND_STOCHASTIC)
        return dti_fail(reterr, DTI_USAGE, "--seed needs --round stochastic");
    return DTI_OK;
}

enum dti_status dti_cast_job_init(struct dti_cast_job *ret, const struct dti_policy_args *args,
                                  const struct dti_asker *asker, const char *dtypes,
                                  struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->asker = asker;
    enum dti_status status = check_conflicts(&args->recipe, reterr);
    if (status == DTI_OK && args->device)
        status = cast_device_read(&ret->device, args->device, reterr);
    if (status != DTI_OK)
        return status;
    if (args->recipe.via)
        status = each_dtype(args->recipe.via, add_via, ret, reterr);
    if (status == DTI_OK)
        status = each_dtype(dtypes, add_named_target, ret, reterr);
    if (status != DTI_OK)
        dti_cast_job_free(ret);
    return status;
}

void dti_cast_job_free(struct dti_cast_job *job)
{
    for (size_t i = 0; i < job->target_count && job->device.runner; i++) {
        dti_cross_check_free(job->targets[i].cross_check[0]);
        dti_cross_check_free(job->targets[i].cross_check[1]);
    }
    if (job->device.runner)
        cast_device_close(&job->device);
    if (job->warnings.list)
        dti_warnings_free(&job->warnings);
    dti_free(job->targets);
    memset(job, 0, sizeof *job);
}

void dti_cast_job_warn(void *job, const struct dti_note *note)
{
    struct dti_cast_job *const warned = job;
    char buffer[DTI_REMEDY_WORDS];
    dti_asker_warn(warned->asker, note);
    dti_warnings_add(&warned->warnings, note->code, NULL, 0,
                     warned->asker->words(buffer, note->remedy, note->text));
}

struct dti_policies_answer dti_cast_job_policies(const struct dti_cast_job *job,
                                                 const struct dti_cast *cast)
{
    const struct dti_recipe *const recipe = &job->args->recipe;
    struct dti_policies_answer policies = {
        .policy = dti_recipe_policy(recipe),
        .like = recipe->like_given ? dti_stack_name((enum dti_stack)recipe->like) : NULL,
        .via = job->via,
        .via_count = job->via_count,
    };
    if (cast)
        policies.policy.round = dti_cast_round(cast, &cast->dst);
    return policies;
}

bool dti_loss_saturated(const struct dti_cast *cast, const struct dti_stack_rule *rule,
                        char ret_native[DTI_TEXT_SIZE], char ret_text[DTI_TEXT_SIZE])
{
    struct dti_cast other = *cast;
    struct dti_value beyond;
    struct dti_scalar native, saturated;
    if (rule || cast->policy.overflow != DTI_OVERFLOW_NATIVE || !dti_format_is_float(&cast->dst))
        return false;
    dti_value_set(&beyond, false, 1, DTI_EXPONENT_LIMIT / 2);
    dti_scalar_store(cast, &beyond, NULL, 0, &native);
    other.policy.overflow = DTI_OVERFLOW_SATURATE;
    dti_scalar_store(&other, &beyond, NULL, 0, &saturated);
    if (native.code == saturated.code)
        return false;
    dti_spell_text(ret_native, &native.stored);
    dti_spell_text(ret_text, &saturated.stored);
    return true;
}

void dti_cast_job_hint(struct dti_cast_job *job, const struct dti_cast *cast,
                       const struct dti_stack_rule *rule, uint64_t overflowed)
{
    char native[DTI_TEXT_SIZE], other[DTI_TEXT_SIZE], message[2 * DTI_TEXT_SIZE + 64];
    if (overflowed == 0 || !dti_loss_saturated(cast, rule, native, other))
        return;
    (void)snprintf(message, sizeof message, "--overflow saturate stores %s instead of %s", other,
                   native);
    char buffer[DTI_REMEDY_WORDS];
    dti_warnings_add(&job->warnings, "saturate_differs", cast->dst.name, 0,
                     job->asker->words(buffer, DTI_REMEDY_NONE, message));
}

void dti_cast_device_warn(struct dti_cast_job *job)
{
    struct dti_cast_device *const device = &job->device;
    if (device->begun[0] == '\0' || device->asks ||
        strcmp(device->begun, dti_runner_device(device->runner)) == 0)
        return;
    const struct dti_note note = {.code = "device_left", .text = dti_runner_reason(device->runner)};
    dti_cast_job_warn(job, &note);
}
