/* SPDX-License-Identifier: MIT
 *
 * Declares the comparison kernels: rows of comparison_kernels.def. */
#ifndef KERNELS_SCAN_COMPARISON_KERNELS_H
#define KERNELS_SCAN_COMPARISON_KERNELS_H

#include "kernels/scan/comparison.h"

#define COMPARISON_KERNEL(function, hub, level) dti_comparison_fn function;
#define SAME_KERNEL(function, dtype, level)     dti_comparison_same_fn function;
#include "kernels/scan/comparison_kernels.def"
#undef SAME_KERNEL
#undef COMPARISON_KERNEL

#endif
