/* SPDX-License-Identifier: MIT
 *
 * Declares the function of every row of dot_kernels.def. */
#ifndef KERNELS_MATH_DOT_KERNELS_H
#define KERNELS_MATH_DOT_KERNELS_H

#include <string.h>

#include "kernels/lanes_fused.h"
#include "kernels/math/dot.h"

#define DOT(function, ...) dti_dot_fn function;
#include "kernels/math/dot_kernels.def"
#undef DOT

/* Adds n sums pairwise, upper half to lower half, until one is left; n is a power of two. */
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

enum { DTI_DOT_STEP_MAX = 512 };

/* Dot product of int8 arrays of any length. dot: an exact product of several steps of `step`
 * bytes, at most DTI_DOT_STEP_MAX; its 32-bit sums can hold `most` steps. */
DTI_LANE double dti_dot_by_steps(const unsigned char *a, const unsigned char *b, size_t n,
                                 size_t step, size_t most,
                                 int64_t (*dot)(const unsigned char *a, const unsigned char *b,
                                                size_t steps))
{
    int64_t total = 0;
    while (n >= step) {
        const size_t steps = n / step < most ? n / step : most;
        total += dot(a, b, steps);
        a += steps * step;
        b += steps * step;
        n -= steps * step;
    }
    if (n > 0) {
        unsigned char last_a[DTI_DOT_STEP_MAX] = {0}, last_b[DTI_DOT_STEP_MAX] = {0};
        memcpy(last_a, a, n);
        memcpy(last_b, b, n);
        total += dot(last_a, last_b, 1);
    }
    return (double)total;
}

#endif
