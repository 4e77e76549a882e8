/* SPDX-License-Identifier: MIT
 *
 * Scales of fused tensors: see fused_scales.h. */
#include "files/dequant/fused_scales.h"

#include <string.h>

bool dti_fused_scale_of(const struct dti_dequant_found *found, struct dti_fused_scale *ret)
{
    if (!found || !found->how.is->block || found->how.is->block->family != DTI_BLOCKS_NV ||
        !found->form.is->tensor_scale || strcmp(found->form.is->layout, "mlx") == 0)
        return false;
    const struct dti_dequant_tensor *const how = &found->how;
    const struct dti_tensor *const tensors = how->is->from.codes->tensors;
    *ret = (struct dti_fused_scale){
        .divides = how->tensor_divisor != 0,
        .stored = how->tensor_divisor != 0 ? how->tensor_divisor : how->tensor_scale,
        .tensor = (size_t)(dti_form_part(&found->form, DTI_PART_TENSOR_SCALE) - tensors),
    };
    return true;
}

/* How many times as large a scale is as another, as factors; the quotient is rounded once if both
 * are stored alike. */
static double times(const struct dti_fused_scale *one, const struct dti_fused_scale *other)
{
    const double a = (double)one->stored, b = (double)other->stored;
    return one->divides && other->divides ? b / a
           : one->divides                 ? 1 / (a * b)
           : other->divides               ? a * b
                                          : a / b;
}

struct dti_fused_scales dti_fused_scales_of(const struct dti_fused_scale *scales, size_t count)
{
    struct dti_fused_scales ret = {.largest = 0, .ratio = 1};
    for (size_t i = 1; i < count; i++) {
        if (times(&scales[i], &scales[ret.largest]) > 1)
            ret.largest = i;
    }
    for (size_t i = 0; i < count; i++) {
        const double ratio = times(&scales[ret.largest], &scales[i]);
        ret.differ = ret.differ || ratio != 1;
        ret.ratio = ratio > ret.ratio ? ratio : ret.ratio;
    }
    return ret;
}

void dti_fused_tally_add(struct dti_fused_tally *tally, const struct dti_fused_scales *scales)
{
    tally->matrices++;
    tally->differing += scales->differ;
    tally->worst = scales->ratio > tally->worst ? scales->ratio : tally->worst;
}
