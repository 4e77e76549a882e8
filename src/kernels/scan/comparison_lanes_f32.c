/* SPDX-License-Identifier: MIT
 *
 * Portable comparisons of tiles of fp32, only for levels without a kernel of their own.
 */
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/comparison_lanes.h"

void DTI_LANES_NAME(dti_comparison_f32)(const struct dti_comparison_rule *rule, const void *a,
                                        const void *b, size_t n, uint64_t index,
                                        struct dti_comparison *comparison)
{
    add_float_tile(rule, a, b, n, index, true, comparison);
}
