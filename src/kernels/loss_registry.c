/* SPDX-License-Identifier: MIT
 *
 * The table of loss kernels and the choice among them. */
#include <assert.h>

#include "kernels/loss_kernels.h"

const struct dti_loss_kernel dti_loss_kernels[] = {
#define LOSS_KERNEL(function, hub_id, level_id) \
    {.name = #function, .run = function, .hub = DTI_LOSS_##hub_id, .level = DTI_LEVEL_##level_id},
#include "kernels/loss_kernels.def"
#undef LOSS_KERNEL
};
const size_t dti_loss_kernel_count = sizeof dti_loss_kernels / sizeof dti_loss_kernels[0];

const struct dti_loss_kernel *dti_loss_kernel_find(enum dti_loss_hub hub, enum dti_level allowed)
{
    size_t i = 0;
    while (i < dti_loss_kernel_count && (dti_loss_kernels[i].hub != hub ||
                                         !dti_level_includes(allowed, dti_loss_kernels[i].level)))
        i++;
    assert(i < dti_loss_kernel_count); /* every hub has a portable row */
    return &dti_loss_kernels[i];
}
