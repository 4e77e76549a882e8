/* SPDX-License-Identifier: MIT
 *
 * The scales that are known before an array's codes. */
#include <math.h>
#include <stdlib.h>

#include "convert/quant_plan_parts.h"
#include "dtinfo/checked.h"

enum dti_status dti_quant_scales_alloc(struct dti_quant_scales **ret,
                                       const struct dti_quant_plan *plan, struct dti_error *reterr)
{
    const uint64_t count = plan->group > 0 ? 0 : plan->sizes.scales;
    uint64_t places = 0, bytes;
    struct dti_quant_scales *const scales = calloc(1, sizeof *scales);
    if (!scales)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    scales->tensor_scale = 1;
    dti_range_init(&scales->range);
    scales->repeats = plan->repeats;
    if (count > 0) {
        if (dti_mul_u64(count, plan->repeats, &places) && dti_mul_u64(places, 12, &bytes) &&
            bytes <= SIZE_MAX)
            scales->scale = malloc((size_t)bytes);
        if (!scales->scale) {
            free(scales);
            return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
        }
        scales->count = (size_t)count;
        scales->inverse = scales->scale + places;
        scales->zero_point = (int32_t *)(void *)(scales->inverse + places);
        for (size_t i = 0; i < scales->count; i++)
            scales->zero_point[i] = plan->choice.zero_point;
    }
    *ret = scales;
    return DTI_OK;
}

void dti_quant_scales_ready(struct dti_quant_scales *scales)
{
    const size_t count = scales->count;
    for (size_t i = 0; i < count; i++)
        scales->inverse[i] = 1 / scales->scale[i];
    for (size_t at = count; at < count * scales->repeats; at += count) {
        memcpy(scales->scale + at, scales->scale, count * sizeof(float));
        memcpy(scales->inverse + at, scales->inverse, count * sizeof(float));
        memcpy(scales->zero_point + at, scales->zero_point, count * sizeof(int32_t));
    }
}

static float tensor_scale(enum dti_nv_scale rule, const struct dti_range *range)
{
    return dti_quant_float(dti_nv_tensor_scale(rule, dti_quant_bits(dti_quant_amax(range))));
}

enum dti_status dti_quant_scales_new(struct dti_quant_scales **ret,
                                     const struct dti_quant_plan *plan,
                                     const struct dti_quant_ranges *ranges,
                                     struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    struct dti_quant_scales *scales;
    const enum dti_status status = dti_quant_scales_alloc(&scales, plan, reterr);
    if (status != DTI_OK)
        return status;
    if (ranges)
        scales->range = dti_quant_ranges_all(ranges);
    if (scheme->nested && ranges)
        scales->offset = dti_quant_ranges_offset(ranges, plan->sizes.scales);
    else if (scheme->block && dti_quant_plan_needs_range(plan))
        scales->tensor_scale = tensor_scale(scheme->blocks.nv, &scales->range);
    for (size_t i = 0; i < scales->count; i++) {
        struct dti_range range = scales->range;
        if (ranges && scheme->per == DTI_PER_CHANNEL)
            range = dti_quant_ranges_of(ranges, i);
        const struct dti_affine_scale scale = dti_quant_choose(plan, &range);
        scales->scale[i] = dti_quant_float(scale.scale);
        scales->zero_point[i] = scale.zero_point;
    }
    dti_quant_scales_ready(scales);
    *ret = scales;
    return DTI_OK;
}

void dti_quant_scales_free(struct dti_quant_scales *scales)
{
    if (scales)
        free(scales->scale);
    free(scales);
}
