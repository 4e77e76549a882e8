/* SPDX-License-Identifier: MIT
 *
 * The table of comparison kernels and the choice among them. */
#include <assert.h>

#include "kernels/comparison_kernels.h"

dti_comparison_fn *dti_comparison_kernel(enum dti_comparison_hub hub, enum dti_level allowed)
{
    static const struct {
        dti_comparison_fn *run;
        enum dti_comparison_hub hub;
        enum dti_level level;
    } rows[] = {
#define COMPARISON_KERNEL(function, hub_id, level_id) \
    {.run = (function), .hub = DTI_COMPARISON_##hub_id, .level = DTI_LEVEL_##level_id},
#include "kernels/comparison_kernels.def"
#undef COMPARISON_KERNEL
    };
    const size_t count = sizeof rows / sizeof rows[0];
    size_t i = 0;
    while (i < count && (rows[i].hub != hub || !dti_level_includes(allowed, rows[i].level)))
        i++;
    assert(i < count); /* every hub has a portable row */
    return rows[i].run;
}
