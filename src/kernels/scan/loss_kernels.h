/* SPDX-License-Identifier: MIT
 *
 * Declares the loss kernels: rows of loss_kernels.def. */
#ifndef KERNELS_SCAN_LOSS_KERNELS_H
#define KERNELS_SCAN_LOSS_KERNELS_H

#include "kernels/scan/loss.h"

#define LOSS_KERNEL(function, hub, level)   dti_loss_fn function;
#define LOSS_CAST(function, kernel, rounds) dti_loss_cast_fn function;
#include "kernels/scan/loss_kernels.def"
#undef LOSS_KERNEL
#undef LOSS_CAST

#endif
