/* SPDX-License-Identifier: MIT
 *
 * Functions of lists in a hurry: the C library's fp64 result and a margin. Assumed is that a
 * library is right to MARGIN units in the last place where it is asked: glibc, musl and those of
 * the BSDs document or measure 1 to 4, and the compositions below add less than 40. The test
 * truth_quick holds that against MPFR. Whoever rounds both ends to the same code has the correctly
 * rounded result, on every machine alike; the others ask dti_function_value(). */
#include "calc/truth.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MARGIN = 64 };

/* Zero is exact nearly everywhere, and so are powers of two where whole exponents come out. */
static bool may_be_exact(enum dti_calc_op op, double x)
{
    int exponent;
    switch (op) {
    case DTI_CALC_EXP2:
        return x == floor(x);
    case DTI_CALC_LOG:
        return x == 1;
    case DTI_CALC_LOG2:
    case DTI_CALC_RSQRT:
        return fabs(frexp(x, &exponent)) == 0.5;
    default:
        return x == 0;
    }
}

/* NAN where the library is not asked. */
static double approximate(enum dti_calc_op op, double x)
{
    switch (op) {
    case DTI_CALC_RSQRT:
        return 1 / sqrt(x);
    case DTI_CALC_EXP:
        return exp(x);
    case DTI_CALC_EXP2:
        return exp2(x);
    case DTI_CALC_EXPM1:
        return expm1(x);
    case DTI_CALC_LOG:
        return log(x);
    case DTI_CALC_LOG2:
        return log2(x);
    case DTI_CALC_LOG1P:
        return log1p(x);
    case DTI_CALC_SIN:
        return fabs(x) < 0x1p20 ? sin(x) : NAN;
    case DTI_CALC_COS:
        return fabs(x) < 0x1p20 ? cos(x) : NAN;
    case DTI_CALC_TAN:
        return fabs(x) < 0x1p20 ? tan(x) : NAN;
    case DTI_CALC_TANH:
        return tanh(x);
    case DTI_CALC_ERF:
        return erf(x);
    case DTI_CALC_SIGMOID:
        return 1 / (1 + exp(-x));
    case DTI_CALC_SILU:
        return x / (1 + exp(-x));
    case DTI_CALC_GELU: /* left of that the rounding of erfc's argument weighs more */
        return x > -4 ? x * erfc(x * -0x1.6a09e667f3bcdp-1) / 2 : NAN;
    default:
        return NAN;
    }
}

/* Moves a normal number by `units` in the last place; magnitudes have the order of their codes. */
static double move(double x, int64_t units)
{
    uint64_t code;
    memcpy(&code, &x, sizeof code);
    code += (uint64_t)units;
    memcpy(&x, &code, sizeof x);
    return x;
}

bool dti_function_quick(enum dti_calc_op op, double x, double *ret_low, double *ret_high)
{
    if (!isfinite(x) || may_be_exact(op, x))
        return false;
    const double y = approximate(op, x);
    /* well inside the normal numbers; a NaN fails too */
    if (!(fabs(y) > 0x1p-1020 && fabs(y) < 0x1p1023))
        return false;
    *ret_low = move(y, y < 0 ? MARGIN : -MARGIN);
    *ret_high = move(y, y < 0 ? -MARGIN : MARGIN);
    return true;
}
