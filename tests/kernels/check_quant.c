/* SPDX-License-Identifier: MIT
 *
 * Checks a row of dti_quant_kernels[] in everything that it claims to support. */
#include "check_quant.h"

bool check_quant_row(struct check *check, const struct dti_quant_kernel *row)
{
    const bool sweeps = check->effort == EFFORT_LONG;
    check->told = 0;
    switch (row->work) {
    case DTI_QUANT_RANGE:
    case DTI_QUANT_RANGE_COLUMNS:
        return check_range_row(check, row);
    case DTI_QUANT_AFFINE:
        return check_affine_row(check, row) && (!sweeps || check_affine_sweep(check, row));
    case DTI_QUANT_AFFINE_BACK:
        return check_affine_back_row(check, row);
    case DTI_QUANT_BIASED:
        return check_biased_row(check, row);
    case DTI_QUANT_BIASED_BACK:
        return check_biased_back_row(check, row);
    case DTI_QUANT_ROTATE:
        return check_rotate_row(check, row);
    case DTI_QUANT_UNROTATE:
        return check_unrotate_row(check, row);
    case DTI_QUANT_BLOCKS:
        return check_blocks_row(check, row) && (!sweeps || check_blocks_sweep(check, row));
    case DTI_QUANT_BLOCKS_BACK:
        return check_blocks_back_row(check, row);
    }
    return false;
}
