/* SPDX-License-Identifier: MIT
 *
 * The table of kernels of exp(sin x) and the choice among them. */
#include <assert.h>

#include "kernels/expsin_kernels.h"

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
    size_t i = 0;
    while (i < dti_expsin_kernel_count &&
           (dti_expsin_kernels[i].dtype != dtype ||
            !dti_level_includes(allowed, dti_expsin_kernels[i].level)))
        i++;
    assert(i < dti_expsin_kernel_count); /* each of the four has a portable row */
    return &dti_expsin_kernels[i];
}
