/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of arguments that the kernels leave out: beyond DTI_EXPSIN_LIMIT, where a reduction by
 * a few parts of pi is not exact. Slow, and rarely needed. */
#ifndef KERNELS_MATH_EXPSIN_FAR_H
#define KERNELS_MATH_EXPSIN_FAR_H

/* Any number: within 4 ulp; infinities and NaN give NaN. */
double dti_expsin_far(double x);

#endif
