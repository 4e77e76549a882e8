/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) for arguments that the kernels do not handle: beyond DTI_EXPSIN_LIMIT, where a
 * reduction with a few parts of pi is not exact. Slow and rarely needed. */
#ifndef KERNELS_MATH_EXPSIN_FAR_H
#define KERNELS_MATH_EXPSIN_FAR_H

/* Any argument: within 4 ulp; infinities and NaN give NaN. */
double dti_expsin_far(double x);

#endif
