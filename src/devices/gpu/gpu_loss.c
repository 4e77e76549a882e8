/* SPDX-License-Identifier: MIT
 *
 * Adds a loss that a device counted, tile by tile, to a loss as the CPU's kernels do. */
#include "devices/gpu/gpu_kernels.h"

void dti_gpu_loss_args_init(struct dti_gpu_loss_args *ret, const struct dti_loss_rule *rule)
{
    *ret = (struct dti_gpu_loss_args){
        .overflow_from = {rule->overflow_from[0], rule->overflow_from[1]},
        .overflow_sure = {rule->overflow_sure[0], rule->overflow_sure[1]},
        .src_smallest_normal = rule->src_smallest_normal,
        .dst_smallest_normal = rule->dst_smallest_normal,
        .nan_has_no_code = rule->nan_has_no_code,
        .negative_has_no_code = rule->negative_has_no_code,
    };
}

bool dti_gpu_loss_add(struct dti_loss *loss, const struct dti_gpu_loss_tile *tile, size_t n)
{
    const struct dti_gpu_loss_lane *const sum = &tile->sum;
    if (sum->doubtful != 0)
        return false;
    loss->elements += n;
    loss->inexact += sum->inexact;
    loss->overflowed += sum->overflowed;
    loss->to_zero += sum->to_zero;
    loss->to_subnormal += sum->to_subnormal;
    loss->nan_in += sum->nan_in;
    loss->inf_in += sum->inf_in;
    loss->no_code += sum->no_code;
    loss->compared += sum->compared;
    if (sum->max_absolute > loss->max_absolute ||
        (sum->max_absolute >= loss->max_absolute && sum->max_index < loss->max_index)) {
        loss->max_absolute = sum->max_absolute;
        loss->max_index = sum->max_index;
    }
    if (sum->max_relative > loss->max_relative)
        loss->max_relative = sum->max_relative;
    if (sum->first_no_code < loss->first_no_code)
        loss->first_no_code = sum->first_no_code;
    dti_exact_sum_add(&loss->sum_absolute, sum->absolute);
    dti_exact_sum_add(&loss->sum_squared, sum->squared);
    dti_exact_sum_add(&loss->sum_source_squared, sum->source_squared);
    return true;
}
