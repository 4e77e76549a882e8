/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) over arrays, fused: what a device's arithmetic does where memory is not the limit.
 * Arguments in [-2^20, 2^20] meet the error that a row states; beyond, and for infinities and NaN,
 * results are as good as an accurate sine makes them, or NaN (IEEE 754-2019, 9.2.1). Rows of
 * expsin_kernels.def, the most demanding level of a dtype first. */
#ifndef KERNELS_MATH_EXPSIN_H
#define KERNELS_MATH_EXPSIN_H

#include <stddef.h>

#include "dtinfo/dtype.h"
#include "kernels/cpu.h"

/* n elements; any alignment; dst == src is allowed. */
typedef void dti_expsin_fn(void *dst, const void *src, size_t n);

struct dti_expsin_kernel {
    const char *name; /* the function's own name */
    dti_expsin_fn *run;
    enum dti_dtype dtype;   /* FP64, FP32, FP16 or BF16: of arguments and results */
    const char *arithmetic; /* what it really computes in: "fp32" */
    double operations;      /* floating-point operations an element, an FMA counting two */
    double max_ulp;         /* promised: of the dtype, of the result, for arguments within +-10 */
    enum dti_level level;
};
extern const struct dti_expsin_kernel dti_expsin_kernels[];
extern const size_t dti_expsin_kernel_count;
/* The first row of a dtype at a level; never NULL for the four. */
const struct dti_expsin_kernel *dti_expsin_find(enum dti_dtype dtype, enum dti_level allowed);

#endif
