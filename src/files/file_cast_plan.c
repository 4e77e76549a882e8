/* SPDX-License-Identifier: MIT
 *
 * How each tensor gets from its file into the new one: the dtype and layout on both sides, and the
 * plan that leads from one to the other, or none where bytes are copied. */
#include <stdlib.h>
#include <string.h>

#include "files/file_cast_parts.h"

/* The elements of a tensor's array: the parts of complex numbers. */
static const struct dti_format *real_format(const struct dti_format *format)
{
    return format->kind == DTI_KIND_COMPLEX ? dti_format_get(format->component) : format;
}

static bool is_safetensors(enum dti_container_kind kind)
{
    return kind == DTI_CONTAINER_SAFETENSORS || kind == DTI_CONTAINER_SHARDED;
}

static const char *kind_name(enum dti_container_kind kind)
{
    return dti_container_name(is_safetensors(kind) ? DTI_CONTAINER_SAFETENSORS : kind);
}

/* Both sides of one tensor. Open: the order of codes within a byte is not known. */
struct cast_sides {
    struct dti_layout src, dst;
    bool src_open, dst_open;
};

static bool same_layout(const struct dti_format *format, const struct cast_sides *sides)
{
    const bool order =
        dti_format_container(format) == 1 || sides->src.swapped == sides->dst.swapped;
    return order && (format->width >= 8 || sides->src.packing == sides->dst.packing);
}

static enum dti_status no_such_dtype(const struct dti_file_cast *cast, size_t at,
                                     const struct dti_format *format, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    const enum dti_container_kind kind = cast->request.kind;
    if (cast->tensors[at].fate == DTI_FATE_CAST)
        return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_WRITE_RAW,
                               "%s files have no name for %s", kind_name(kind), format->name);
    return dti_fail_remedy(reterr, DTI_WRONG_KIND, DTI_REMEDY_CAST_OR_LEAVE_OUT,
                           "%s is %s, for which %s files have no name",
                           dti_tensor_place(cast->container, cast->tensors[at].source, place),
                           format->name, kind_name(kind));
}

/* safetensors says that codes of less than 8 bits are packed, and not in which order. */
static enum dti_status find_sides(const struct dti_file_cast *cast, size_t at,
                                  const struct dti_format *format, struct cast_sides *ret,
                                  struct dti_error *reterr)
{
    const struct dti_file_cast_request *const request = &cast->request;
    const struct dti_tensor *const tensor = dti_file_cast_source(cast, at);
    *ret = (struct cast_sides){.src = tensor->layout};
    if (!dti_container_stores(request->kind, format, &ret->dst))
        return no_such_dtype(cast, at, format, reterr);
    if (tensor->format->width < 8 && is_safetensors(cast->container->kind)) {
        ret->src_open = !request->from_packing_given && !request->packing_given;
        if (!ret->src_open)
            ret->src.packing =
                request->from_packing_given ? request->from_packing : request->packing;
    }
    if (format->width < 8 && request->kind != DTI_CONTAINER_NPY) {
        if (request->packing_given)
            ret->dst.packing = request->packing;
        ret->dst_open = is_safetensors(request->kind) && !request->packing_given;
    }
    return DTI_OK;
}

static enum dti_status check_sides(const struct dti_file_cast *cast, size_t at,
                                   const struct dti_format *format, const struct cast_sides *sides,
                                   struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    const struct dti_tensor *const tensor = dti_file_cast_source(cast, at);
    dti_tensor_place(cast->container, cast->tensors[at].source, place);
    if (sides->src_open)
        return dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_SAY_INPUT_PACKING,
            "%s is %s, and safetensors does not define the order of its codes in a byte", place,
            tensor->format->name);
    if (sides->dst_open)
        return dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_SAY_PACKING,
            "%s becomes %s, and safetensors does not define the order of its codes in a byte",
            place, format->name);
    return DTI_OK;
}

/* Packed codes fill whole bytes in safetensors. */
static enum dti_status check_bits(const struct dti_file_cast *cast, size_t at,
                                  const struct dti_format *format, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    const uint64_t elements = dti_file_cast_source(cast, at)->elements;
    if (!is_safetensors(cast->request.kind) || elements % 8 * format->width % 8 == 0)
        return DTI_OK;
    return dti_fail_remedy(
        reterr, DTI_WRONG_KIND, DTI_REMEDY_KEEP_INSTEAD,
        "%s: %llu elements of %s end within a byte, which safetensors does not allow",
        dti_tensor_place(cast->container, cast->tensors[at].source, place),
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

/* A new plan goes to the runner. */
static enum dti_status make_plan(struct dti_file_cast *cast, const struct dti_request *request,
                                 struct dti_plan **ret, struct dti_error *reterr)
{
    const char *why;
    struct dti_plan *plan;
    enum dti_status status = dti_plan_new(&plan, request, cast->request.level, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_plan_set_runner(plan, cast->request.runner, &why, reterr);
    if (status != DTI_OK) {
        dti_plan_free(plan);
        return status;
    }
    if (why && !cast->why_cpu)
        cast->why_cpu = why;
    *ret = plan;
    return DTI_OK;
}

/* The plan for a request, made at its first use. */
static enum dti_status find_plan(struct dti_file_cast *cast, const struct dti_request *request,
                                 const struct dti_plan **ret, struct dti_error *reterr)
{
    for (size_t i = 0; i < cast->plan_count; i++) {
        if (same_cast(dti_plan_request(cast->plans[i]), request)) {
            *ret = cast->plans[i];
            return DTI_OK;
        }
    }
    struct dti_plan **const more =
        realloc(cast->plans, (cast->plan_count + 1) * sizeof *cast->plans);
    if (!more)
        return dti_file_cast_no_memory(reterr);
    cast->plans = more;
    const enum dti_status status = make_plan(cast, request, &more[cast->plan_count], reterr);
    if (status == DTI_OK)
        *ret = more[cast->plan_count++];
    return status;
}

static enum dti_status plan_tensor(struct dti_file_cast *cast, size_t at, struct cast_sides *sides,
                                   struct dti_error *reterr)
{
    const struct dti_file_cast_request *const request = &cast->request;
    struct dti_file_cast_tensor *const tensor = &cast->tensors[at];
    const struct dti_format *const from = dti_file_cast_source(cast, at)->format;
    const bool casts = tensor->fate == DTI_FATE_CAST;
    tensor->format = casts ? &request->cast.dst : from;
    enum dti_status status = find_sides(cast, at, tensor->format, sides, reterr);
    if (status == DTI_OK)
        status = check_bits(cast, at, tensor->format, reterr);
    if (status != DTI_OK)
        return status;
    if (!casts && sides->src_open && sides->dst_open) {
        sides->dst = sides->src; /* whatever the order is, it stays */
        return DTI_OK;
    }
    if (!casts && sides->dst_open && is_safetensors(cast->container->kind)) {
        sides->dst.packing = sides->src.packing;
        sides->dst_open = false;
    }
    status = check_sides(cast, at, tensor->format, sides, reterr);
    if (status != DTI_OK || (!casts && same_layout(real_format(from), sides)))
        return status;
    struct dti_request plan = {
        .src = *real_format(from), .src_layout = sides->src, .dst_layout = sides->dst};
    if (casts) {
        plan.cast = request->cast;
        plan.rule = request->rule;
        plan.flags = request->flags;
    } else {
        plan.cast.dst = plan.src; /* the same numbers in another order */
    }
    return find_plan(cast, &plan, &tensor->plan, reterr);
}

/* The request says how codes lie, and no code has a choice. */
static enum dti_status check_packing(const struct dti_file_cast *cast, struct dti_error *reterr)
{
    const struct dti_file_cast_request *const request = &cast->request;
    bool source = false, result = false;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        source = source || dti_file_cast_source(cast, i)->format->width < 8;
        result = result || cast->tensors[i].format->width < 8;
    }
    const enum dti_container_kind from = cast->container->kind;
    source = source && (is_safetensors(from) || from == DTI_CONTAINER_RAW);
    if (request->from_packing_given && !source)
        return dti_fail_remedy(
            reterr, DTI_USAGE, DTI_REMEDY_DROP_INPUT_PACKING,
            "there are no codes of less than 8 bits whose file does not say how they lie");
    if (request->packing_given && result && request->kind == DTI_CONTAINER_NPY &&
        request->packing != DTI_PACKING_BYTES)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_DROP_PACKING_OR_RAW,
                               "npy files hold one code a byte");
    if (request->packing_given && !source && !result)
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_DROP_PACKING,
                               "there are no codes of less than 8 bits");
    const bool bytes = (request->packing_given && request->packing == DTI_PACKING_BYTES && result &&
                        is_safetensors(request->kind)) ||
                       (request->from_packing_given && is_safetensors(from) &&
                        request->from_packing == DTI_PACKING_BYTES);
    if (bytes)
        return dti_fail(reterr, DTI_USAGE,
                        "safetensors files pack codes of less than 8 bits without gaps; say low or "
                        "high");
    return DTI_OK;
}

enum dti_status dti_file_cast_plan(struct dti_file_cast *cast, struct dti_new_tensor **ret_new,
                                   struct dti_error *reterr)
{
    struct dti_new_tensor *const list = calloc(cast->tensor_count + 1, sizeof *list);
    enum dti_status status = list ? DTI_OK : dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < cast->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = dti_file_cast_source(cast, i);
        struct cast_sides sides;
        status = plan_tensor(cast, i, &sides, reterr);
        if (status != DTI_OK)
            break;
        list[i] = (struct dti_new_tensor){
            .name = tensor->name,
            .name_length = tensor->name_length,
            .format = cast->tensors[i].format,
            .layout = sides.dst,
            .rank = tensor->rank,
            .shape = tensor->shape,
            .fortran = tensor->fortran && cast->request.kind == DTI_CONTAINER_NPY,
            .source = i,
        };
    }
    if (status == DTI_OK)
        status = check_packing(cast, reterr);
    if (status == DTI_OK)
        *ret_new = list;
    else
        free(list);
    return status;
}
