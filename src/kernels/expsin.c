/* SPDX-License-Identifier: MIT
 *
 * The table of kernels of exp(sin x) and the choice among them. */
#include "kernels/expsin_kernels.h"
#include "kernels/first_row.h"

const struct dti_expsin_kernel dti_expsin_kernels[] = {
#define EXPSIN(function, dtype_id, words, count, ulp, level_id) \
    {.name = #function,                                         \
     .run = function,                                           \
     .dtype = DTI_##dtype_id,                                   \
     .arithmetic = (words),                                     \
     .operations = (count),                                     \
     .max_ulp = (ulp),                                          \
     .level = DTI_LEVEL_##level_id},
#include "kernels/expsin_kernels.def"
#undef EXPSIN
};
const size_t dti_expsin_kernel_count = sizeof dti_expsin_kernels / sizeof dti_expsin_kernels[0];

const struct dti_expsin_kernel *dti_expsin_find(enum dti_dtype dtype, enum dti_level allowed)
{
    const struct dti_expsin_kernel *const rows = dti_expsin_kernels;
    size_t i;
    DTI_FIRST_ROW(i, rows, dti_expsin_kernel_count, allowed, rows[i].dtype == dtype);
    return &rows[i];
}
