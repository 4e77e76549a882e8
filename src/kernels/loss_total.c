/* SPDX-License-Identifier: MIT
 *
 * Losses as a whole: starting, adding one to another, and the figures that follow from the sums. */
#include "dtinfo/loss.h"

#include <math.h>
#include <string.h>

#include "kernels/loss_tile.h"
#include "kernels/tile_sum.h"

void dti_loss_init(struct dti_loss *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->max_absolute = 0;
    ret->max_relative = 0;
    ret->first_no_code = UINT64_MAX;
    dti_exact_sum_init(&ret->sum_absolute);
    dti_exact_sum_init(&ret->sum_squared);
    dti_exact_sum_init(&ret->sum_source_squared);
}

void dti_loss_merge(struct dti_loss *loss, const struct dti_loss *part)
{
    loss->elements += part->elements;
    loss->inexact += part->inexact;
    loss->overflowed += part->overflowed;
    loss->to_zero += part->to_zero;
    loss->to_subnormal += part->to_subnormal;
    loss->nan_in += part->nan_in;
    loss->inf_in += part->inf_in;
    loss->no_code += part->no_code;
    loss->stray += part->stray;
    loss->compared += part->compared;
    loss->flags |= part->flags;
    if (part->max_absolute > loss->max_absolute ||
        (part->max_absolute >= loss->max_absolute && part->max_index < loss->max_index)) {
        loss->max_absolute = part->max_absolute;
        loss->max_index = part->max_index;
    }
    if (part->max_relative > loss->max_relative)
        loss->max_relative = part->max_relative;
    if (part->first_no_code < loss->first_no_code)
        loss->first_no_code = part->first_no_code;
    dti_exact_sum_merge(&loss->sum_absolute, &part->sum_absolute);
    dti_exact_sum_merge(&loss->sum_squared, &part->sum_squared);
    dti_exact_sum_merge(&loss->sum_source_squared, &part->sum_source_squared);
}

_Static_assert((int)DTI_LOSS_LANES == (int)DTI_TILE_LANES, "one order of additions");

void dti_loss_add_lanes(struct dti_loss *loss, const struct dti_loss_lanes *lanes)
{
    dti_exact_sum_add(&loss->sum_absolute, dti_tile_sum(lanes->absolute));
    dti_exact_sum_add(&loss->sum_squared, dti_tile_sum(lanes->squared));
    dti_exact_sum_add(&loss->sum_source_squared, dti_tile_sum(lanes->source_squared));
}

double dti_loss_mean_absolute(const struct dti_loss *loss)
{
    const double sum = dti_exact_sum_value(&loss->sum_absolute);
    if (loss->compared == 0)
        return 0;
    return isinf(sum) ? NAN : dti_fp64_divide(sum, (double)loss->compared);
}

double dti_loss_root_mean_square(const struct dti_loss *loss)
{
    const double sum = dti_exact_sum_squares(&loss->sum_squared, loss->max_absolute > 0);
    return loss->compared == 0 ? 0 : sqrt(dti_fp64_divide(sum, (double)loss->compared));
}

double dti_loss_sqnr_db(const struct dti_loss *loss)
{
    const double db = dti_exact_sum_decibels(&loss->sum_source_squared, &loss->sum_squared,
                                             loss->max_absolute > 0);
    return isinf(db) && loss->inexact > 0 ? NAN : db;
}
