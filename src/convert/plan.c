/* SPDX-License-Identifier: MIT
 *
 * Turns a request into a plan: the stages of the cast, the steps of each, and how the loss is
 * computed. */
#include "dtinfo/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/device_parts.h"

bool dti_request_is_copy(const struct dti_request *request)
{
    const struct dti_format *const format = &request->src;
    const struct dti_policy *const policy = &request->cast.policy;
    const bool plain = request->cast.via_count == 0 && !request->rule &&
                       dti_format_same(format, &request->cast.dst);
    const bool whole = format->kind != DTI_KIND_BOOL && format->kind != DTI_KIND_COMPLEX &&
                       (format->width <= 8 || format->width == 8 * dti_format_container(format));
    const bool changes_nan = policy->nan != DTI_NAN_QUIET && dti_format_has_nan(format);
    const bool changes_inf =
        policy->overflow == DTI_OVERFLOW_SATURATE && dti_format_has_inf(format);
    return plain && whole && !changes_nan && !changes_inf;
}

/* A rule that differs from its route and policies in the code of a NaN. */
static bool changes_nan(const struct dti_request *request)
{
    const enum dti_stack_quirk quirk = request->rule->quirk;
    const struct dti_format *const dst = &request->cast.dst;
    return (quirk == DTI_STACK_QUIRK_NAN_ALL_ONES || quirk == DTI_STACK_QUIRK_NAN_POSITIVE) &&
           dst->specials == DTI_SPECIALS_IEEE && (dst->width == 8 || dst->width == 16);
}

/* A stack's rule that is a route and policies, but for NaN; others are replayed element by element.
 * The number enters as int64 or fp64, and integers of 64 bits without sign as either. */
static bool rule_is_plain(const struct dti_request *request)
{
    const struct dti_stack_rule *const rule = request->rule;
    const bool either = request->src.kind == DTI_KIND_UINT && request->src.width == 64;
    return (!dti_stack_has_quirk(rule) || changes_nan(request)) && rule->unknown == 0 && !either;
}

/* Entering what holds the source is exact, and so no stage. */
static size_t rule_stages(const struct dti_request *request, struct dti_stage *stages)
{
    const struct dti_stack_rule *const rule = request->rule;
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_policy last = dti_stack_policy(rule);
    size_t count = 0;
    if (!dti_format_is_integer(&request->src) && !dti_format_fits_hub64(&request->src))
        stages[count++] = (struct dti_stage){*dti_format_get(DTI_FP64), nearest};
    const bool held = rule->route == DTI_STACK_ROUTE_FP32 && dti_format_fits_hub32(&request->src);
    if (dti_stack_via(rule) && !held)
        stages[count++] = (struct dti_stage){*dti_stack_via(rule), nearest};
    stages[count++] = (struct dti_stage){request->cast.dst, last};
    return count;
}

/* As dti_scalar_store() goes through them. */
static size_t cast_stages(const struct dti_cast *cast, struct dti_stage *stages)
{
    for (size_t i = 0; i <= cast->via_count; i++) {
        stages[i] = (struct dti_stage){*dti_cast_stage(cast, i), cast->policy};
        stages[i].policy.round = dti_cast_round(cast, &stages[i].format);
        if (i < cast->via_count)
            stages[i].policy.stream += 2 * ((uint32_t)i + 1);
    }
    return cast->via_count + 1;
}

static bool compose_core(struct dti_composer *c, const struct dti_request *request)
{
    const struct dti_format *from = &request->src;
    struct dti_stage stages[DTI_STAGES_MAX];
    if (request->rule && !rule_is_plain(request))
        return dti_compose_rule(c, from, &request->cast.dst, request->rule);
    const size_t count =
        request->rule ? rule_stages(request, stages) : cast_stages(&request->cast, stages);
    for (size_t i = 0; i < count; i++) {
        c->first = i == 0;
        if (!dti_compose_stage(c, from, &stages[i]))
            return false;
        from = &stages[i].format;
    }
    return !request->rule || !changes_nan(request) ||
           dti_compose_nan(c, &request->cast.dst, request->rule);
}

static bool compose(struct dti_plan *plan, struct dti_composer *c)
{
    const struct dti_request *const request = &plan->request;
    const struct dti_format *const dst = &request->cast.dst;
    const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
    plan->copies = dti_request_is_copy(request);
    if (plan->copies)
        return dti_compose_copy(c, dst, &request->src_layout, &request->dst_layout);
    if (!dti_compose_load(c, &request->src, &request->src_layout) || !compose_core(c, request))
        return false;
    plan->core_count = c->chain->count;
    if (!dti_compose_store(c, dst, &request->dst_layout))
        return false;
    if (c->chain->count == 0) { /* integers through stages that change nothing */
        plan->core_count = 1;
        return dti_compose_copy(c, dst, &bare, &bare);
    }
    return true;
}

static bool compose_loss(struct dti_plan *plan, struct dti_composer *c)
{
    const struct dti_request *const request = &plan->request;
    const enum dti_loss_hub hub = plan->loss_rule.hub;
    const bool wide = hub == DTI_LOSS_WIDE;
    const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
    plan->shared_count = !wide && c->decoded[hub] ? c->decoded_count[hub] : 0;
    c->first = false;
    c->chain = &plan->source;
    if (!dti_compose_load(c, &request->src, &request->src_layout) ||
        (!wide && !dti_compose_numbers(c, &request->src, hub)))
        return false;
    c->chain = &plan->stored;
    if (!wide && !dti_compose_numbers(c, &request->cast.dst, hub))
        return false;
    c->chain = &plan->copy;
    return dti_compose_copy(c, &request->cast.dst, &bare, &bare);
}

/* One kernel that casts the source's numbers, or makes them where they are the result, may count
 * the loss on the way. */
static void find_cast_loss(struct dti_plan *plan)
{
    if (plan->copies || plan->core_count == 0 || plan->request.flags ||
        plan->loss_rule.hub == DTI_LOSS_WIDE || (plan->shared_count == 0 && plan->source.count > 0))
        return;
    const unsigned bits = plan->loss_rule.hub == DTI_LOSS_HUB32 ? 32 : 64;
    const struct dti_step *const last = &plan->chain.step[plan->core_count - 1];
    const struct dti_step *const back = &plan->stored.step[0];
    const bool exact =
        plan->stored.count == 0 && last->dst_bits == bits && plan->shared_count == plan->core_count;
    const bool rounds = plan->stored.count == 1 && back->kernel &&
                        plan->shared_count + 1 == plan->core_count && last->src_bits == bits;
    if (!last->kernel || !(exact || rounds))
        return;
    plan->cast_loss = dti_loss_cast_find(last->kernel, &last->args);
    plan->loss_cast = (struct dti_loss_cast){.kernel = last->kernel,
                                             .args = &last->args,
                                             .source_bytes = last->src_bits / 8,
                                             .code_bytes = last->dst_bits / 8,
                                             .back = rounds ? back->kernel : NULL,
                                             .back_args = rounds ? &back->args : NULL};
}

static void init_loss_rule(struct dti_plan *plan)
{
    const struct dti_request *const request = &plan->request;
    dti_loss_rule_init_cast(&plan->loss_rule, &request->src, &request->cast, request->rule);
    /* flags that were raised on the way */
    if (request->flags && plan->loss_rule.cast.via_count > 0)
        plan->loss_rule.hub = DTI_LOSS_WIDE;
    plan->loss = dti_loss_kernel_find(plan->loss_rule.hub, plan->level);
}

enum dti_status dti_request_check(const struct dti_request *request, struct dti_error *reterr)
{
    const struct dti_format *complex = NULL;
    if (request->src.kind == DTI_KIND_COMPLEX)
        complex = &request->src;
    for (size_t i = 0; i <= request->cast.via_count; i++) {
        if (dti_cast_stage(&request->cast, i)->kind == DTI_KIND_COMPLEX)
            complex = dti_cast_stage(&request->cast, i);
    }
    if (!complex)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND, "arrays of %s cannot be cast; cast their parts, %s",
                    complex->name, dti_format_get(complex->component)->name);
}

enum dti_status dti_plan_new(struct dti_plan **ret_plan, const struct dti_request *request,
                             enum dti_level allowed, struct dti_error *reterr)
{
    const enum dti_status status = dti_request_check(request, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_plan *const plan = calloc(1, sizeof *plan);
    if (!plan)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    plan->request = *request;
    plan->level = allowed;
    struct dti_composer composer = {
        .chain = &plan->chain, .parameters = &plan->parameters, .allowed = allowed};
    init_loss_rule(plan);
    if (!compose(plan, &composer) || !compose_loss(plan, &composer)) {
        dti_plan_free(plan);
        return composer.no_memory ? dti_fail(reterr, DTI_NO_MEMORY, "out of memory")
                                  : dti_fail(reterr, DTI_BUG, "no kernels for %s to %s",
                                             request->src.name, request->cast.dst.name);
    }
    find_cast_loss(plan);
    *ret_plan = plan;
    return DTI_OK;
}

void dti_plan_free(struct dti_plan *plan)
{
    struct dti_plan_parameters *next;
    if (plan)
        dti_device_plan_free(plan->device);
    for (struct dti_plan_parameters *parameters = plan ? plan->parameters : NULL; parameters;
         parameters = next) {
        next = parameters->next;
        free(parameters);
    }
    free(plan);
}

const struct dti_request *dti_plan_request(const struct dti_plan *plan)
{
    return &plan->request;
}

size_t dti_plan_step_count(const struct dti_plan *plan)
{
    return plan->chain.count;
}

const struct dti_step *dti_plan_step(const struct dti_plan *plan, size_t at)
{
    return &plan->chain.step[at];
}

void dti_plan_text_add(char buffer[DTI_PLAN_TEXT_SIZE], const char *name)
{
    const size_t used = strlen(buffer);
    (void)snprintf(buffer + used, DTI_PLAN_TEXT_SIZE - used, "%s%s", used > 0 ? " + " : "", name);
}

const char *dti_plan_describe(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE])
{
    buffer[0] = '\0';
    for (size_t i = 0; i < plan->chain.count; i++) {
        const struct dti_step *const step = &plan->chain.step[i];
        const char *const name = step->kernel     ? dti_kernel_title(step->kernel->name)
                                 : step->only_nan ? "stack_nan"
                                 : step->rule     ? "stack_cast"
                                 : step->keep     ? "storage_put"
                                                  : "encode";
        dti_plan_text_add(buffer, name);
    }
    return buffer;
}

static enum dti_level chain_level(const struct dti_chain *chain, enum dti_level least)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct dti_kernel *const kernel = chain->step[i].kernel;
        if (kernel && kernel->level > least)
            least = kernel->level;
    }
    return least;
}

enum dti_level dti_plan_level(const struct dti_plan *plan, bool loss)
{
    enum dti_level level = chain_level(&plan->chain, DTI_LEVEL_SCALAR);
    if (!loss)
        return level;
    level = chain_level(&plan->source, chain_level(&plan->stored, level));
    return plan->loss && plan->loss->level > level ? plan->loss->level : level;
}

static bool same_chain(const struct dti_chain *a, const struct dti_chain *b)
{
    for (size_t i = 0; i < a->count && a->count == b->count; i++) {
        if (a->step[i].kernel != b->step[i].kernel)
            return false;
    }
    return a->count == b->count;
}

bool dti_plan_same(const struct dti_plan *a, const struct dti_plan *b, bool loss)
{
    return same_chain(&a->chain, &b->chain) &&
           (!loss || (a->loss == b->loss && same_chain(&a->source, &b->source) &&
                      same_chain(&a->stored, &b->stored) && same_chain(&a->copy, &b->copy)));
}

bool dti_plan_src_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes)
{
    return dti_format_bytes(&plan->request.src, &plan->request.src_layout, n, ret_bytes);
}

bool dti_plan_dst_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes)
{
    return dti_format_bytes(&plan->request.cast.dst, &plan->request.dst_layout, n, ret_bytes);
}
