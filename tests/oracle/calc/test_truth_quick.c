/* SPDX-License-Identifier: MIT
 *
 * The fast-path bounds of functions (fast_path.c) against MPFR: random fp32 and fp64 arguments,
 * of all sizes and around points where functions change behaviour. The result must lie strictly
 * between the bounds and be inexact. Prints the C library's largest error in ulps, of the 64
 * allowed, and the number of arguments tried. Usage: test_truth_quick COUNT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "calc/truth/truth.h"
#include "util/run/process_environment.h"

enum { PRECISION = 400, ANSWERED = 4 }; /* at least one of this many arguments must be answered */

static uint64_t state = 20081018;

static uint64_t random_bits(void) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(2685821657736338717);
}

static double random_argument(void)
{
    const uint64_t bits = random_bits();
    double x;
    float narrow;
    uint32_t code = (uint32_t)(bits >> 32);
    uint64_t wide = random_bits();
    switch (bits % 4) {
    case 0: /* any fp32 */
        memcpy(&narrow, &code, sizeof narrow);
        return narrow;
    case 1: /* any fp64 */
        memcpy(&x, &wide, sizeof x);
        return x;
    case 2: /* of ordinary size */
        x = ldexp(1 + (double)(wide >> 12) * 0x1p-52, (int)(bits >> 8 & 15) - 9);
        return bits & 16 ? -x : x;
    default:
        x = ldexp(1 + (double)(wide >> 41) * 0x1p-23, (int)(bits >> 8 & 15) - 9);
        return bits & 16 ? -x : x;
    }
}

/* Composed differently from the program where possible. */
static void compute(mpfr_t y, enum dti_calc_op op, mpfr_t x)
{
    mpfr_t t;
    mpfr_init2(t, PRECISION);
    switch ((int)op) {
    case DTI_CALC_RSQRT:
        mpfr_sqrt(t, x, MPFR_RNDN);
        mpfr_ui_div(y, 1, t, MPFR_RNDN);
        break;
    case DTI_CALC_EXP:
        mpfr_exp(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_EXP2:
        mpfr_exp2(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_EXPM1:
        mpfr_expm1(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_LOG:
        mpfr_log(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_LOG2:
        mpfr_log2(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_LOG1P:
        mpfr_log1p(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_SIN:
        mpfr_sin(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_COS:
        mpfr_cos(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_TAN:
        mpfr_tan(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_TANH:
        mpfr_tanh(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_ERF:
        mpfr_erf(y, x, MPFR_RNDN);
        break;
    case DTI_CALC_SIGMOID:
    case DTI_CALC_SILU: /* (1 + tanh(x/2))/2 loses digits for x < 0: there e^x/(1 + e^x) */
        mpfr_exp(t, x, MPFR_RNDN);
        mpfr_add_ui(y, t, 1, MPFR_RNDN);
        if (mpfr_inf_p(y))
            mpfr_set_ui(y, 1, MPFR_RNDN);
        else
            mpfr_div(y, t, y, MPFR_RNDN);
        if (op == DTI_CALC_SILU)
            mpfr_mul(y, y, x, MPFR_RNDN);
        break;
    default: /* GELU; x > -4: 1 + erf loses at most 14 of 400 bits */
        mpfr_set_ui(t, 2, MPFR_RNDN);
        mpfr_sqrt(t, t, MPFR_RNDN);
        mpfr_div(t, x, t, MPFR_RNDN);
        mpfr_erf(t, t, MPFR_RNDN);
        mpfr_add_ui(t, t, 1, MPFR_RNDN);
        mpfr_mul(t, t, x, MPFR_RNDN);
        mpfr_div_2ui(y, t, 1, MPFR_RNDN);
        break;
    }
    mpfr_clear(t);
}

static double middle_of(double low, double high)
{
    uint64_t code, other;
    memcpy(&code, &low, sizeof code);
    memcpy(&other, &high, sizeof other);
    code = code / 2 + other / 2 + (code & other & 1);
    memcpy(&low, &code, sizeof low);
    return low;
}

/* The distance in ulps on that side of a number. Modifies y. */
static double units_between(mpfr_t y, double number)
{
    const bool above = mpfr_cmp_d(y, number) > 0;
    const double unit = fabs(nextafter(number, above ? INFINITY : -INFINITY) - number);
    mpfr_sub_d(y, y, number, MPFR_RNDN);
    mpfr_div_d(y, y, unit, MPFR_RNDN);
    return fabs(mpfr_get_d(y, MPFR_RNDN));
}

static bool check(enum dti_calc_op op, long count)
{
    const char *const name = dti_calc_op_get(op)->name;
    double worst = 0, low, high;
    long asked = 0, failures = 0;
    mpfr_t x, y;
    mpfr_inits2(PRECISION, x, y, (mpfr_ptr)NULL);
    for (long i = 0; i < count; i++) {
        const double number = random_argument();
        if (!dti_function_quick(op, number, &low, &high))
            continue;
        asked++;
        mpfr_set_d(x, number, MPFR_RNDN);
        compute(y, op, x);
        if (mpfr_cmp_d(y, low) <= 0 || mpfr_cmp_d(y, high) >= 0 || mpfr_get_d(y, MPFR_RNDN) == 0) {
            if (failures++ < 5)
                printf("FAILED %s(%a) is not between %a and %a\n", name, number, low, high);
            continue;
        }
        const double units = units_between(y, middle_of(low, high));
        if (units > worst)
            worst = units;
    }
    printf("%s: %ld of %ld arguments, off by %.2f units of 64, %ld failures\n", name, asked, count,
           worst, failures);
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    return failures == 0 && asked * ANSWERED > count;
}

int main(int argc, char **argv)
{
    dti_environment_use(true);
    if (argc != 2) {
        fprintf(stderr, "usage: test_truth_quick COUNT\n");
        return 2;
    }
    bool ok = true;
    for (int op = DTI_CALC_RSQRT; op <= DTI_CALC_GELU; op++)
        ok &= check((enum dti_calc_op)op, strtol(argv[1], NULL, 10));
    mpfr_free_cache();
    return ok ? 0 : 1;
}
