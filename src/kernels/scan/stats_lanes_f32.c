/* SPDX-License-Identifier: MIT
 *
 * Portable statistics of tiles of fp32, only for levels without a kernel of their own.
 */
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_lanes.h"

void DTI_LANES_NAME(dti_stats_f32)(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                                   uint64_t index, struct dti_stats *stats)
{
    add_float_tile(rule, numbers, n, index, true, stats);
}
