/* SPDX-License-Identifier: MIT
 *
 * fma() and log10() of <math.h> without the mathematical library, which a start would have to load.
 * Both have the same results on every machine. */
#ifndef KERNELS_FUSED_H
#define KERNELS_FUSED_H

#include <math.h>

/* a b + c, rounded once to nearest even. */
#ifdef FP_FAST_FMA
static inline double dti_fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#else
double dti_fma(double a, double b, double c);
#endif
/* The same in integers, for a machine without an instruction for it. */
double dti_fma_integers(double a, double b, double c);

/* The logarithm of a finite x > 0, within 0.55 units in the last place (glibc: 1.6). */
double dti_log10(double x);

#endif
