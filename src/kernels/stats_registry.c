/* SPDX-License-Identifier: MIT
 *
 * The tables of statistics and histogram kernels and the choice among them. */
#include <assert.h>

#include "kernels/stats_kernels.h"

dti_stats_fn *dti_stats_kernel(enum dti_stats_hub hub, enum dti_level allowed)
{
    static const struct {
        dti_stats_fn *run;
        enum dti_stats_hub hub;
        enum dti_level level;
    } rows[] = {
#define STATS_KERNEL(function, hub_id, level_id) \
    {.run = (function), .hub = DTI_STATS_##hub_id, .level = DTI_LEVEL_##level_id},
#define HISTOGRAM_KERNEL(function, hub_id, level_id)
#include "kernels/stats_kernels.def"
#undef STATS_KERNEL
#undef HISTOGRAM_KERNEL
    };
    const size_t count = sizeof rows / sizeof rows[0];
    size_t i = 0;
    while (i < count && (rows[i].hub != hub || !dti_level_includes(allowed, rows[i].level)))
        i++;
    assert(i < count); /* every hub has a portable row */
    return rows[i].run;
}

dti_histogram_fn *dti_histogram_kernel(enum dti_stats_hub hub, enum dti_level allowed)
{
    static const struct {
        dti_histogram_fn *run;
        enum dti_stats_hub hub;
        enum dti_level level;
    } rows[] = {
#define STATS_KERNEL(function, hub_id, level_id)
#define HISTOGRAM_KERNEL(function, hub_id, level_id) \
    {.run = (function), .hub = DTI_STATS_##hub_id, .level = DTI_LEVEL_##level_id},
#include "kernels/stats_kernels.def"
#undef STATS_KERNEL
#undef HISTOGRAM_KERNEL
    };
    const size_t count = sizeof rows / sizeof rows[0];
    size_t i = 0;
    while (i < count && (rows[i].hub != hub || !dti_level_includes(allowed, rows[i].level)))
        i++;
    assert(i < count);
    return rows[i].run;
}
