/* SPDX-License-Identifier: MIT
 *
 * The shape of codes and scales: how many, how they are packed, and where an array may be cut. */
#include "convert/quant_plan_parts.h"
#include "dtinfo/checked.h"
#include "dtinfo/nested_scales.h"

enum { GRAIN_LEAST = DTI_QUANT_TILE };

/* Bytes of n codes side by side. */
static bool code_bytes(const struct dti_quant_plan *plan, uint64_t n, uint64_t *ret)
{
    if (plan->code_bits >= 8)
        return dti_mul_u64(n, plan->container, ret);
    *ret = n / 8 * plan->code_bits + (n % 8 * plan->code_bits + 7) / 8;
    return true;
}

/* The codes of `outer` rows of the axis, each inner times. */
static bool row_bytes(const struct dti_quant_plan *plan, uint64_t outer, uint64_t *ret)
{
    const uint64_t rest = plan->alone ? plan->places % plan->group : 0;
    uint64_t codes, row, last;
    if (rest == 0)
        return dti_mul_u64(outer, plan->places, &codes) &&
               dti_mul_u64(codes, plan->request.inner, &codes) && code_bytes(plan, codes, ret);
    /* each block from a whole byte on */
    return code_bytes(plan, rest, &last) &&
           dti_mul_u64(plan->places / plan->group, plan->block_bytes, &row) &&
           dti_add_u64(row, last, &row) && dti_mul_u64(outer, row, ret);
}

/* A grain is made of units: groups, or whole rows where the last group of each is short. It has
 * whole bytes on both sides, and is worth a call. */
static bool measure_grain(struct dti_quant_plan *plan)
{
    const struct dti_quant_request *const request = &plan->request;
    struct dti_quant_sizes *const sizes = &plan->sizes;
    const uint64_t group = plan->group, inner = request->inner, length = request->length;
    const bool groups = group > 0 && group < length && (plan->whole || request->outer == 1);
    uint64_t unit_codes = GRAIN_LEAST, unit_scales = 0, codes;
    plan->unit = GRAIN_LEAST;
    if (group > 0 && sizes->elements > 0) {
        plan->unit = groups ? group * inner : length * inner;
        unit_codes = groups ? plan->unit : plan->places * inner;
        unit_scales = groups ? inner : sizes->groups * inner;
    }
    if (request->scheme.nested && groups) {
        plan->unit *= DTI_NESTED_BLOCK;
        unit_codes *= DTI_NESTED_BLOCK;
        unit_scales *= DTI_NESTED_BLOCK;
    }
    uint64_t units = plan->unit < GRAIN_LEAST ? (GRAIN_LEAST + plan->unit - 1) / plan->unit : 1;
    if (plan->unit % 8 != 0 || unit_codes % 8 != 0)
        units = (units + 7) / 8 * 8;
    if (!dti_mul_u64(units, plan->unit, &sizes->grain) || sizes->grain >= sizes->elements) {
        sizes->grain = sizes->elements > 0 ? sizes->elements : GRAIN_LEAST; /* one piece */
        sizes->grain_code_bytes = sizes->code_bytes;
        sizes->grain_scales = group > 0 ? sizes->scales : 0;
        return true;
    }
    sizes->grain_scales = units * unit_scales;
    if (!groups && group > 0)
        return row_bytes(plan, units, &sizes->grain_code_bytes);
    return dti_mul_u64(units, unit_codes, &codes) &&
           code_bytes(plan, codes, &sizes->grain_code_bytes);
}

bool dti_quant_measure(struct dti_quant_plan *plan)
{
    const struct dti_quant_request *const request = &plan->request;
    struct dti_quant_sizes *const sizes = &plan->sizes;
    const uint64_t group = plan->group, length = request->length;
    uint64_t bytes;
    plan->whole = group == 0 || length % group == 0;
    plan->places = length;
    sizes->groups = group > 0 ? length / group + (length % group != 0) : 1;
    if (group == 0 && request->scheme.per == DTI_PER_CHANNEL)
        sizes->groups = length;
    if (group > 0 && request->pad && !dti_mul_u64(sizes->groups, group, &plan->places))
        return false;
    sizes->scales = sizes->groups;
    return dti_mul_u64(request->outer, length, &sizes->elements) &&
           dti_mul_u64(sizes->elements, request->inner, &sizes->elements) &&
           dti_mul_u64(sizes->elements, sizeof(float), &bytes) &&
           dti_format_bytes(&request->number, &request->layout, sizes->elements, &bytes) &&
           dti_mul_u64(request->outer, plan->places, &sizes->codes) &&
           dti_mul_u64(sizes->codes, request->inner, &sizes->codes) &&
           row_bytes(plan, 1, &plan->row_bytes) &&
           row_bytes(plan, request->outer, &sizes->code_bytes) &&
           (group == 0 || (dti_mul_u64(sizes->groups, request->outer, &sizes->scales) &&
                           dti_mul_u64(sizes->scales, request->inner, &sizes->scales))) &&
           dti_mul_u64(sizes->scales, plan->scale_bytes, &sizes->scale_bytes) &&
           measure_grain(plan);
}

uint64_t dti_quant_code_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at)
{
    const uint64_t row = plan->request.length * plan->request.inner;
    if (plan->places == plan->request.length)
        return at;
    /* each row is longer by what it is filled up with; `first` begins a row or has none before */
    const uint64_t more = (plan->places - plan->request.length) * plan->request.inner;
    return at + ((first + at) / row - first / row) * more;
}

uint64_t dti_quant_scale_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at)
{
    const uint64_t inner = plan->request.inner, row = plan->request.length * inner;
    const uint64_t of_row = plan->sizes.groups * inner, group = plan->group * inner;
    const uint64_t end = first + at;
    return end / row * of_row + end % row / group * inner + end % inner -
           (first / row * of_row + first % row / group * inner);
}
