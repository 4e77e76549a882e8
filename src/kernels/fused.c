/* SPDX-License-Identifier: MIT
 *
 * fma() and log10(), where results must not depend on the mathematical library. */
#include "kernels/fused.h"

#include "core/code/arith.h"
#include "kernels/cpu.h"
#include "kernels/fp64.h"

double dti_fma_integers(double a, double b, double c)
{
    struct dti_value x, y, z, sum;
    dti_fp64_to_value(a, &x);
    dti_fp64_to_value(b, &y);
    dti_fp64_to_value(c, &z);
    (void)dti_value_fma(&sum, &x, &y, &z, DTI_ROUND_NEAREST_EVEN);
    return dti_fp64_from_value(&sum);
}

#ifndef FP_FAST_FMA
#if defined __x86_64__ && defined __GNUC__
__attribute__((target("fma"))) static double by_instruction(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/* Asked once: in a virtual machine, CPUID takes microseconds. */
static bool has_instruction(void)
{
    enum { UNKNOWN, ABSENT, PRESENT };
    static _Atomic int answer = UNKNOWN;
    if (answer == UNKNOWN)
        answer = dti_level_present(DTI_LEVEL_AVX2) ? PRESENT : ABSENT;
    return answer == PRESENT;
}
#else
static double by_instruction(double a, double b, double c)
{
    return dti_fma_integers(a, b, c);
}

static bool has_instruction(void)
{
    return false;
}
#endif

double dti_fma(double a, double b, double c)
{
    return has_instruction() ? by_instruction(a, b, c) : dti_fma_integers(a, b, c);
}
#endif

/* x = m 2^e with m from sqrt(1/2) to sqrt(2), s = (m - 1)/(m + 1), |s| < 0.172:
 *
 *     log10 x = e log10 2 + 2 log10(exp 1) (s + s^3/3 + s^5/5 + ...)
 *
 * s has two parts; from the cube on one is enough, which is below 1/100 of s. */
double dti_log10(double x)
{
    /* log10 2 and 2 log10(exp 1) in two parts each; e times the first one is exact */
    static const double of_two[] = {0x1.34413509f78p-2, 0x1.fef311f12b358p-46};
    static const double factor[] = {0x1.bcb7b1526e50ep-1, 0x1.95355baaafad3p-56};
    enum { LAST = 41 }; /* s^43/43 is below 2^-114 */
    int e;
    double m = frexp(x, &e);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        e--;
    }
    const double above = m - 1, below = m + 1, below_rest = m - (below - 1);
    const double s = above / below;
    const double s_rest = (dti_fma(-s, below, above) - s * below_rest) / below;
    double tail = 0;
    for (int i = LAST; i >= 3; i -= 2)
        tail = (tail + 1 / (double)i) * (s * s);
    const double rest = s_rest + s * tail;
    /* The sum of e log10 2 and the product, from the largest part to the smallest. */
    const double high = e * of_two[0], low = factor[0] * s;
    const double low_rest = dti_fma(factor[0], s, -low) + (factor[1] * s + factor[0] * rest);
    const double sum = high + low, part = sum - high;
    const double sum_rest = (high - (sum - part)) + (low - part);
    return sum + (sum_rest + (low_rest + e * of_two[1]));
}
