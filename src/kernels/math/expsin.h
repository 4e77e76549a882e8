/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) over arrays, fused: measures arithmetic throughput where memory is not the limit.
 * For arguments in [-2^20, 2^20] the error is within the bound of the row. Beyond, results are
 * as good as an accurate sine gives; infinities and NaN give NaN (IEEE 754-2019, 9.2.1). Rows of
 * expsin_kernels.def, the most demanding level of a dtype first. */
#ifndef KERNELS_MATH_EXPSIN_H
#define KERNELS_MATH_EXPSIN_H

#include <stddef.h>

#include "core/dtype/dtype.h"
#include "kernels/cpu.h"

/* Processes n elements; any alignment; dst == src is allowed. */
typedef void dti_expsin_fn(void *dst, const void *src, size_t n);

struct dti_expsin_kernel {
    const char *name; /* name of the function */
    dti_expsin_fn *run;
    enum dti_dtype dtype;   /* FP64, FP32, FP16 or BF16: of arguments and results */
    const char *arithmetic; /* the precision used for computing: "fp32" */
    double operations;      /* floating-point operations per element; an FMA counts as two */
    double max_ulp;         /* guaranteed error bound in ulps of the result's dtype, for
                             * arguments within +-10 */
    enum dti_level level;
};
extern const struct dti_expsin_kernel dti_expsin_kernels[];
extern const size_t dti_expsin_kernel_count;
/* The first row for a dtype at a level; never NULL for the four dtypes. */
const struct dti_expsin_kernel *dti_expsin_find(enum dti_dtype dtype, enum dti_level allowed);

#endif
