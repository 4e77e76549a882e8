/* SPDX-License-Identifier: MIT
 *
 * How a tensor's elements are copied or cast from its file into the new one: dtype and layout on
 * both sides, and the plan between them, or none if bytes are copied. */
#include <stdlib.h>
#include <string.h>

#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"

static const char *kind_name(enum dti_container_kind kind)
{
    return dti_container_name(dti_holds_texts(kind) ? dti_container_becomes(kind, true) : kind);
}

/* Both sides of one tensor. Open: the order of codes within a byte is unknown. */
struct cast_sides {
    struct dti_layout src, dst;
    bool src_open, dst_open;
};

static bool same_layout(const struct dti_format *format, const struct cast_sides *sides)
{
    const bool order =
        dti_format_container(format) == 1 || sides->src.swapped == sides->dst.swapped;
    return order && (!dti_format_packs(format) || sides->src.packing == sides->dst.packing);
}

static enum dti_status no_such_dtype(const struct dti_rewrite *rewrite, size_t at,
                                     const struct dti_format *format, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    const enum dti_container_kind kind = rewrite->request.kind;
    if (rewrite->tensors[at].fate == DTI_FATE_CHANGED)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_WRITE_RAW,
                               "%s files have no name for %s", kind_name(kind), format->name);
    return dti_fail_remedy(reterr, DTI_WRONG_KIND, rewrite->ops->unnamed,
                           "%s is %s, for which %s files have no name",
                           dti_tensor_place(rewrite->container, rewrite->tensors[at].source, place),
                           format->name, kind_name(kind));
}

/* safetensors defines that codes below 8 bits are packed, but not in which order. */
static enum dti_status find_sides(const struct dti_rewrite *rewrite, size_t at,
                                  const struct dti_format *format, struct cast_sides *ret,
                                  struct dti_error *reterr)
{
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    const struct dti_tensor *const tensor = dti_rewrite_alike(rewrite, at);
    const enum dti_container_kind kind = rewrite->request.kind;
    *ret = (struct cast_sides){.src = tensor->layout};
    if (!dti_container_stores(kind, format, &ret->dst))
        return no_such_dtype(rewrite, at, format, reterr);
    if (!rewrite->ops->elementwise)
        return DTI_OK;
    if (dti_format_packs(tensor->format) && dti_holds_texts(rewrite->container->kind)) {
        ret->src_open = !recipe->from_packing_given && !recipe->packing_given;
        if (recipe->from_packing_given)
            ret->src.packing = recipe->from_packing;
        else if (recipe->packing_given)
            ret->src.packing = recipe->packing;
    }
    if (dti_format_packs(format) && !dti_is_numpy(kind)) {
        if (recipe->packing_given)
            ret->dst.packing = recipe->packing;
        ret->dst_open = dti_holds_texts(kind) && !recipe->packing_given;
    }
    return DTI_OK;
}

static enum dti_status check_sides(const struct dti_rewrite *rewrite, size_t at,
                                   const struct dti_format *format, const struct cast_sides *sides,
                                   struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    const struct dti_tensor *const tensor = dti_rewrite_source(rewrite, at);
    if (!sides->src_open && !sides->dst_open)
        return DTI_OK;
    dti_tensor_place(rewrite->container, rewrite->tensors[at].source, place);
    if (sides->src_open)
        return dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_SAY_INPUT_PACKING,
            "%s is %s, and safetensors does not define the order of its codes in a byte", place,
            tensor->format->name);
    return dti_fail_remedy(
        reterr, DTI_USAGE, DTI_REMEDY_SAY_PACKING,
        "%s becomes %s, and safetensors does not define the order of its codes in a byte", place,
        format->name);
}

/* Packed codes must fill whole bytes in safetensors. */
static enum dti_status check_bits(const struct dti_rewrite *rewrite, size_t at,
                                  const struct dti_format *format, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    const uint64_t elements = dti_rewrite_alike(rewrite, at)->elements;
    if (!rewrite->ops->elementwise || !dti_holds_texts(rewrite->request.kind) ||
        elements % 8 * format->width % 8 == 0)
        return DTI_OK;
    return dti_fail_remedy(
        reterr, DTI_WRONG_KIND, DTI_REMEDY_KEEP_INSTEAD,
        "%s: %llu elements of %s do not fill whole bytes, which safetensors does not allow",
        dti_tensor_place(rewrite->container, rewrite->tensors[at].source, place),
        (unsigned long long)elements, format->name);
}

static bool same_cast(const struct dti_request *a, const struct dti_request *b)
{
    return strcmp(a->src.name, b->src.name) == 0 &&
           strcmp(a->cast.dst.name, b->cast.dst.name) == 0 &&
           a->src_layout.packing == b->src_layout.packing &&
           a->src_layout.swapped == b->src_layout.swapped &&
           a->dst_layout.packing == b->dst_layout.packing &&
           a->dst_layout.swapped == b->dst_layout.swapped && a->flags == b->flags &&
           a->rule == b->rule && a->cast.via_count == b->cast.via_count &&
           a->cast.policy.nan == b->cast.policy.nan &&
           a->cast.policy.overflow == b->cast.policy.overflow;
}

/* Makes a plan and assigns it to the runner. */
static enum dti_status make_plan(struct dti_rewrite *rewrite, const struct dti_request *request,
                                 struct dti_plan **ret, struct dti_error *reterr)
{
    const char *why;
    struct dti_plan *plan;
    enum dti_status status = dti_plan_new(&plan, request, rewrite->request.level, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_plan_set_runner(plan, rewrite->request.cast.runner, &why, reterr);
    if (status != DTI_OK) {
        dti_plan_free(plan);
        return status;
    }
    if (why && !rewrite->why_cpu)
        rewrite->why_cpu = why;
    *ret = plan;
    return DTI_OK;
}

/* The plan for a request, created on first use. */
static enum dti_status find_plan(struct dti_rewrite *rewrite, const struct dti_request *request,
                                 const struct dti_plan **ret, struct dti_error *reterr)
{
    for (size_t i = 0; i < rewrite->plan_count; i++) {
        if (same_cast(dti_plan_request(rewrite->plans[i]), request)) {
            *ret = rewrite->plans[i];
            return DTI_OK;
        }
    }
    struct dti_plan **const more =
        dti_realloc(rewrite->plans, (rewrite->plan_count + 1) * sizeof *rewrite->plans);
    if (!more)
        return dti_no_memory(reterr);
    rewrite->plans = more;
    const enum dti_status status = make_plan(rewrite, request, &more[rewrite->plan_count], reterr);
    if (status == DTI_OK)
        *ret = more[rewrite->plan_count++];
    return status;
}

/* Tensors in a row mostly go the same way. */
enum dti_status dti_rewrite_go(struct dti_rewrite *rewrite, size_t at,
                               const struct dti_rewrite_way *way, struct dti_error *reterr)
{
    enum { RECENT = sizeof rewrite->recent / sizeof *rewrite->recent };
    for (size_t i = 0; i < RECENT && i < rewrite->way_count; i++) {
        const struct dti_rewrite_way *const other = rewrite->recent[i];
        if (other->by == way->by && other->plan == way->plan && other->quant == way->quant &&
            other->type == way->type && other->format == way->format &&
            other->layout.packing == way->layout.packing &&
            other->layout.swapped == way->layout.swapped) {
            rewrite->tensors[at].way = other;
            return DTI_OK;
        }
    }
    struct dti_rewrite_way *const copy = dti_pool_alloc(&rewrite->ways, sizeof *copy);
    if (!copy)
        return dti_no_memory(reterr);
    *copy = *way;
    rewrite->tensors[at].way = rewrite->recent[rewrite->way_count++ % RECENT] = copy;
    return DTI_OK;
}

enum dti_status dti_rewrite_plan_elements(struct dti_rewrite *rewrite, size_t at,
                                          const struct dti_format *to, struct dti_error *reterr)
{
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_format *const from = dti_rewrite_alike(rewrite, at)->format;
    const bool casts = tensor->fate == DTI_FATE_CHANGED;
    struct dti_rewrite_way way = {.format = to};
    struct cast_sides sides;
    tensor->parts = 1u << DTI_PART_CODES;
    enum dti_status status = find_sides(rewrite, at, to, &sides, reterr);
    if (status == DTI_OK)
        status = check_bits(rewrite, at, to, reterr);
    if (status != DTI_OK)
        return status;
    if (!casts && sides.dst_open && dti_holds_texts(rewrite->container->kind)) {
        sides.dst.packing = sides.src.packing; /* the order, whatever it is, stays the same */
        sides.src_open = sides.dst_open = false;
    }
    way.layout = sides.dst;
    status = check_sides(rewrite, at, to, &sides, reterr);
    if (status != DTI_OK)
        return status;
    if (!casts && same_layout(dti_real_format(from), &sides))
        return dti_rewrite_go(rewrite, at, &way, reterr);
    struct dti_request plan = {
        .src = *dti_real_format(from), .src_layout = sides.src, .dst_layout = sides.dst};
    if (casts) {
        plan.cast = recipe->cast;
        plan.cast.dst = *to;
        plan.rule = recipe->rule;
        plan.flags = recipe->flags;
    } else {
        plan.cast.dst = plan.src; /* the same numbers in another layout */
    }
    status = find_plan(rewrite, &plan, &way.plan, reterr);
    return status == DTI_OK ? dti_rewrite_go(rewrite, at, &way, reterr) : status;
}

enum dti_status dti_rewrite_skip(struct dti_rewrite *rewrite, size_t at, struct dti_error *reterr)
{
    rewrite->tensors[at].fate = DTI_FATE_KEEP;
    rewrite->changed_count--;
    return dti_rewrite_plan_elements(rewrite, at, dti_rewrite_alike(rewrite, at)->format, reterr);
}

enum dti_status dti_rewrite_plan(struct dti_rewrite *rewrite, struct dti_error *reterr)
{
    const struct dti_recipe_ops *const ops = rewrite->ops;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++)
        status = rewrite->tensors[i].fate == DTI_FATE_CHANGED
                     ? ops->plan(rewrite, i, reterr)
                     : dti_rewrite_plan_elements(rewrite, i, dti_rewrite_alike(rewrite, i)->format,
                                                 reterr);
    return status == DTI_OK && ops->planned ? ops->planned(rewrite, reterr) : status;
}
