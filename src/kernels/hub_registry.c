/* SPDX-License-Identifier: MIT
 *
 * The tables of the kernels that look at numbers of a hub, and the choice among them: statistics,
 * histograms, comparisons, losses. */
#include "kernels/comparison_kernels.h"
#include "kernels/first_row.h"
#include "kernels/loss_kernels.h"
#include "kernels/stats_kernels.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define ROWS_OF(type, hub_type) \
    static const struct {       \
        type *run;              \
        enum hub_type hub;      \
        enum dti_level level;   \
    } rows[] =
#define ROW(function, hub_, level_) {.run = (function), .hub = hub_, .level = DTI_LEVEL_##level_},
/* The end of a function: what the first row for its hub does. */
#define RETURN_FIRST                                                  \
    size_t i;                                                         \
    DTI_FIRST_ROW(i, rows, COUNT(rows), allowed, rows[i].hub == hub); \
    return rows[i].run

#define STATS_KERNEL(...)
#define HISTOGRAM_KERNEL(...)

dti_comparison_fn *dti_comparison_kernel(enum dti_comparison_hub hub, enum dti_level allowed)
{
    ROWS_OF(dti_comparison_fn, dti_comparison_hub){
#define COMPARISON_KERNEL(function, hub, level) ROW(function, DTI_COMPARISON_##hub, level)
#include "kernels/comparison_kernels.def"
    };
    RETURN_FIRST;
}

dti_stats_fn *dti_stats_kernel(enum dti_stats_hub hub, enum dti_level allowed)
{
    ROWS_OF(dti_stats_fn, dti_stats_hub){
#undef STATS_KERNEL
#define STATS_KERNEL(function, hub, level) ROW(function, DTI_STATS_##hub, level)
#include "kernels/stats_kernels.def"
    };
    RETURN_FIRST;
}

dti_histogram_fn *dti_histogram_kernel(enum dti_stats_hub hub, enum dti_level allowed)
{
    ROWS_OF(dti_histogram_fn, dti_stats_hub){
#undef STATS_KERNEL
#undef HISTOGRAM_KERNEL
#define STATS_KERNEL(...)
#define HISTOGRAM_KERNEL(function, hub, level) ROW(function, DTI_STATS_##hub, level)
#include "kernels/stats_kernels.def"
    };
    RETURN_FIRST;
}

const struct dti_loss_kernel dti_loss_kernels[] = {
#define LOSS_KERNEL(function, hub_id, level_id) \
    {.name = #function, .run = function, .hub = DTI_LOSS_##hub_id, .level = DTI_LEVEL_##level_id},
#include "kernels/loss_kernels.def"
};
const size_t dti_loss_kernel_count = COUNT(dti_loss_kernels);

const struct dti_loss_kernel *dti_loss_kernel_find(enum dti_loss_hub hub, enum dti_level allowed)
{
    const struct dti_loss_kernel *const rows = dti_loss_kernels;
    size_t i;
    DTI_FIRST_ROW(i, rows, dti_loss_kernel_count, allowed, rows[i].hub == hub);
    return &rows[i];
}
