/* SPDX-License-Identifier: MIT
 *
 * Declares the kernels of statistics: rows of stats_kernels.def. */
#ifndef KERNELS_SCAN_STATS_KERNELS_H
#define KERNELS_SCAN_STATS_KERNELS_H

#include "kernels/scan/stats.h"

#define STATS_KERNEL(function, hub, level)     dti_stats_fn function;
#define HISTOGRAM_KERNEL(function, hub, level) dti_histogram_fn function;
#define CODES_KERNEL(function, dtype, level)   dti_stats_codes_fn function;
#define PEAKS_KERNEL(function, level)          dti_code_peaks_fn function;
#include "kernels/scan/stats_kernels.def"
#undef PEAKS_KERNEL
#undef CODES_KERNEL
#undef STATS_KERNEL
#undef HISTOGRAM_KERNEL

#endif
