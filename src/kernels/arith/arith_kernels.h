/* SPDX-License-Identifier: MIT
 *
 * Declares the functions of every row of arith_kernels.def. */
#ifndef KERNELS_ARITH_ARITH_KERNELS_H
#define KERNELS_ARITH_ARITH_KERNELS_H

#include "kernels/arith/arith_kernel.h"

#define ARITH(round, mark, rounded32, rounded64, uniform, level) \
    dti_arith_round_fn round;                                    \
    dti_arith_mark_fn mark;                                      \
    dti_arith_rounded_fn rounded32, rounded64;                   \
    dti_arith_uniform_fn uniform;
#include "kernels/arith/arith_kernels.def"
#undef ARITH

#endif
