/* SPDX-License-Identifier: MIT
 *
 * Declares the function of every row of dot_kernels.def. */
#ifndef DTINFO_KERNELS_DOT_KERNELS_H
#define DTINFO_KERNELS_DOT_KERNELS_H

#include "dtinfo/dot.h"
#include "kernels/lanes_fused.h"

#define DOT(function, ...) dti_dot_fn function;
#include "kernels/dot_kernels.def"
#undef DOT

/* n is a power of two; halves are added to each other until one number is left. */
DTI_LANE double dti_dot_fold_f32(float *sum, size_t n)
{
    for (size_t half = n / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++)
            sum[i] += sum[half + i];
    }
    return sum[0];
}

DTI_LANE double dti_dot_fold_f64(double *sum, size_t n)
{
    for (size_t half = n / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++)
            sum[i] += sum[half + i];
    }
    return sum[0];
}

#endif
