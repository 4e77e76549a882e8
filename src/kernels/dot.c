/* SPDX-License-Identifier: MIT
 *
 * The table of kernels of dot products and the choice among them. */
#include "kernels/dot_kernels.h"
#include "kernels/first_row.h"

const struct dti_dot_kernel dti_dot_kernels[] = {
#define DOT(function, dtype_id, words, level_id, unit_id) \
    {.name = #function,                                   \
     .run = function,                                     \
     .dtype = DTI_##dtype_id,                             \
     .accumulation = (words),                             \
     .operations = 2,                                     \
     .level = DTI_LEVEL_##level_id,                       \
     .unit = DTI_UNIT_##unit_id},
#include "kernels/dot_kernels.def"
#undef DOT
};
const size_t dti_dot_kernel_count = sizeof dti_dot_kernels / sizeof dti_dot_kernels[0];

const struct dti_dot_kernel *dti_dot_find(enum dti_dtype dtype, enum dti_level allowed)
{
    const struct dti_dot_kernel *const rows = dti_dot_kernels;
    size_t i;
    DTI_FIRST_ROW(i, rows, dti_dot_kernel_count, allowed,
                  rows[i].dtype == dtype && dti_unit_present(rows[i].unit));
    return &rows[i];
}
