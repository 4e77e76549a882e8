/* SPDX-License-Identifier: MIT
 *
 * Declares the function of every row of expsin_kernels.def. */
#ifndef KERNELS_MATH_EXPSIN_KERNELS_H
#define KERNELS_MATH_EXPSIN_KERNELS_H

#include "kernels/math/expsin.h"
#include "kernels/math/lanes_expsin.h"

#define EXPSIN(function, dtype, arithmetic, operations, ulp, level) dti_expsin_fn function;
#include "kernels/math/expsin_kernels.def"
#undef EXPSIN

#endif
