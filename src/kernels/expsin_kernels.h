/* SPDX-License-Identifier: MIT
 *
 * Declares the function of every row of expsin_kernels.def. */
#ifndef DTINFO_KERNELS_EXPSIN_KERNELS_H
#define DTINFO_KERNELS_EXPSIN_KERNELS_H

#include "dtinfo/expsin.h"
#include "kernels/lanes_expsin.h"

#define EXPSIN(function, dtype, arithmetic, operations, ulp, level) dti_expsin_fn function;
#include "kernels/expsin_kernels.def"
#undef EXPSIN

#endif
