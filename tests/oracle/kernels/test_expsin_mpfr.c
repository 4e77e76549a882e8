/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) in every row against MPFR: random arguments of all sizes, near multiples of pi/2,
 * uniform, and the smallest and largest numbers.
 *
 *   test_expsin_mpfr COUNT */
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/fp64.h"
#include "kernels/math/expsin.h"

enum { PRECISION = 200, BLOCK = 1000 };

static uint64_t random64(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The fp64 nearest to a multiple of pi/2, and its neighbours. */
static double near_multiple(uint64_t k, uint64_t away)
{
    mpfr_t pi;
    mpfr_init2(pi, PRECISION);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul_ui(pi, pi, (unsigned long)k, MPFR_RNDN);
    mpfr_div_ui(pi, pi, 2, MPFR_RNDN);
    const double number = mpfr_get_d(pi, MPFR_RNDN);
    mpfr_clear(pi);
    return dti_fp64_from_bits(dti_fp64_bits(number) + away);
}

static double argument(uint64_t *state)
{
    static const double special[] = {0,        0x1p-1074, -0x1p-1022,          DBL_MAX,
                                     -DBL_MAX, 0x1p20,    0x1.00001p20,        65536,
                                     65537,    10,        0x1.921fb54442d18p0, 0x1.921fb54442d19p0};
    const uint64_t bits = random64(state), more = random64(state);
    const double unit = (double)(more >> 11) * 0x1p-53;
    switch (bits % 6) {
    case 0:
        return special[more % (sizeof special / sizeof special[0])];
    case 1: {
        const double any = dti_fp64_from_bits(more);
        return isfinite(any) ? any : unit;
    }
    case 2:
        return near_multiple(more % 700000 + 1, (bits >> 8) % 3 - 1);
    case 3:
        return (unit - 0.5) * 0x1p21;
    case 4:
        return ldexp(unit, (int)(bits >> 8) % 60 - 50);
    default:
        return (unit - 0.5) * 20;
    }
}

/* |got - exp(sin x)| in units of the last of `digits` digits. */
static double error_of(double x, double got, int digits)
{
    mpfr_t want, difference;
    mpfr_inits2(PRECISION, want, difference, (mpfr_ptr)NULL);
    mpfr_set_d(want, x, MPFR_RNDN);
    mpfr_sin(want, want, MPFR_RNDN);
    mpfr_exp(want, want, MPFR_RNDN);
    mpfr_sub_d(difference, want, got, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, digits - (long)mpfr_get_exp(want), MPFR_RNDN);
    const double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clears(want, difference, (mpfr_ptr)NULL);
    return error;
}

static unsigned long check(const struct dti_expsin_kernel *row, unsigned long count)
{
    const bool single = row->dtype == DTI_FP32;
    unsigned long wrong = 0;
    double largest = 0, where = 0;
    uint64_t state = 7;
    for (unsigned long done = 0; done < count; done += BLOCK) {
        double x[BLOCK], got[BLOCK];
        float y[BLOCK];
        for (size_t i = 0; i < BLOCK; i++) {
            x[i] = argument(&state);
            y[i] = fabs(x[i]) <= (double)FLT_MAX ? (float)x[i] : 1.0F;
            if (single)
                x[i] = y[i];
        }
        if (single) {
            row->run(y, y, BLOCK);
            for (size_t i = 0; i < BLOCK; i++)
                got[i] = y[i];
        } else {
            row->run(got, x, BLOCK);
        }
        for (size_t i = 0; i < BLOCK; i++) {
            const double error = error_of(x[i], got[i], single ? 24 : 53);
            wrong += error <= row->max_ulp ? 0 : 1;
            if (!(error <= largest)) {
                largest = error;
                where = x[i];
            }
        }
    }
    printf("%s: %.4f ulp at %a, promised %.2f; %lu wrong\n", row->name, largest, where,
           row->max_ulp, wrong);
    return wrong;
}

int main(int argc, char **argv)
{
    const unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long wrong = 0;
    if (count == 0) {
        fprintf(stderr, "usage: test_expsin_mpfr COUNT\n");
        return 2;
    }
    for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
        const struct dti_expsin_kernel *const row = &dti_expsin_kernels[i];
        if ((row->dtype == DTI_FP64 || row->dtype == DTI_FP32) && dti_level_present(row->level))
            wrong += check(row, count);
    }
    mpfr_free_cache();
    return wrong == 0 ? 0 : 1;
}
