/* SPDX-License-Identifier: MIT
 *
 * The table of kernels of dot products and the choice among them. */
#include <assert.h>

#include "kernels/dot_kernels.h"

const struct dti_dot_kernel dti_dot_kernels[] = {
#define DOT(function, dtype_id, words, level_id) \
    {.name = #function,                          \
     .run = function,                            \
     .dtype = DTI_##dtype_id,                    \
     .accumulation = (words),                    \
     .operations = 2,                            \
     .level = DTI_LEVEL_##level_id},
#include "kernels/dot_kernels.def"
#undef DOT
};
const size_t dti_dot_kernel_count = sizeof dti_dot_kernels / sizeof dti_dot_kernels[0];

const struct dti_dot_kernel *dti_dot_find(enum dti_dtype dtype, enum dti_level allowed)
{
    size_t i = 0;
    while (i < dti_dot_kernel_count && (dti_dot_kernels[i].dtype != dtype ||
                                        !dti_level_includes(allowed, dti_dot_kernels[i].level)))
        i++;
    assert(i < dti_dot_kernel_count); /* each of the five has a portable row */
    return &dti_dot_kernels[i];
}
