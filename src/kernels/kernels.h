/* SPDX-License-Identifier: MIT
 *
 * Declares the function of every row of kernels.def. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "kernels/kernel.h"

#define KERNEL(function, op, domain, rounds, overflows, level) dti_kernel_fn function;
#include "kernels/kernels.def"
#undef KERNEL

#endif
