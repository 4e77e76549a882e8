/* SPDX-License-Identifier: MIT
 *
 * The figures of a loss, and whether a NaN was lost that should not have been. */
#include "dtinfo/loss_summary.h"

void dti_loss_summarize(const struct dti_loss *loss, struct dti_loss_summary *ret)
{
    *ret = (struct dti_loss_summary){
        .elements = loss->elements,
        .inexact = loss->inexact,
        .overflowed = loss->overflowed,
        .to_zero = loss->to_zero,
        .to_subnormal = loss->to_subnormal,
        .nan_in = loss->nan_in,
        .inf_in = loss->inf_in,
        .no_code = loss->no_code,
        .stray = loss->stray,
        .compared = loss->compared,
        .max_absolute = loss->max_absolute,
        .max_index = loss->max_index,
        .max_relative = loss->max_relative,
        .mean_absolute = dti_loss_mean_absolute(loss),
        .root_mean_square = dti_loss_root_mean_square(loss),
        .sqnr_db = dti_loss_sqnr_db(loss),
    };
}

/* An integer dtype makes a number of a NaN, whatever comes after it. */
const struct dti_format *dti_loss_without_nan(const struct dti_loss *loss,
                                              const struct dti_cast *cast,
                                              const struct dti_stack_rule *rule)
{
    if (rule || loss->no_code == 0 || cast->policy.overflow != DTI_OVERFLOW_NATIVE)
        return NULL;
    for (size_t i = 0; i <= cast->via_count; i++) {
        const struct dti_format *const stage = dti_cast_stage(cast, i);
        if (dti_format_is_integer(stage))
            return NULL;
        if (!dti_format_has_nan(stage))
            return stage;
    }
    return NULL;
}
