/* SPDX-License-Identifier: MIT
 *
 * Functions of <math.h> that few answers need. Where the C library keeps them in a library of their
 * own, as glibc does, it is loaded when they are asked for: with it, every start takes 0.13 of
 * /bin/true longer. A static program, which cannot load it, is compiled with DTI_LIBM_LINKED. */
#ifndef UTIL_RUN_MATHEMATICS_H
#define UTIL_RUN_MATHEMATICS_H

#include "util/error.h"

/* clang-format off */
#define DTI_MATHEMATICS(FUNCTION) \
    FUNCTION(double, exp) FUNCTION(double, exp2) FUNCTION(double, expm1) \
    FUNCTION(double, log) FUNCTION(double, log2) FUNCTION(double, log1p) \
    FUNCTION(double, sin) FUNCTION(double, cos) FUNCTION(double, tan) \
    FUNCTION(double, tanh) FUNCTION(double, erf) FUNCTION(double, erfc) \
    FUNCTION(long double, expl) FUNCTION(long double, sinl)
/* clang-format on */

struct dti_mathematics {
#define FUNCTION(type, name) type (*name)(type x);
    DTI_MATHEMATICS(FUNCTION)
#undef FUNCTION
    double (*pow)(double x, double y);
};

/* The functions, which threads share. Fails with DTI_UNAVAILABLE: "libm.so.6: not found"; the next
 * call tries again. */
enum dti_status dti_mathematics_get(const struct dti_mathematics **ret, struct dti_error *reterr);

#endif
