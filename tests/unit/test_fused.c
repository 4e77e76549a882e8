/* SPDX-License-Identifier: MIT
 *
 * fma() and log10() without libm, compared with libm's. */
#include "kernels/fused.h"

#include <float.h>

#include "kernels/fp64.h"
#include "unit.h"

enum { TRIES = 200000 };

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || dti_fp64_bits(a) == dti_fp64_bits(b);
}

static bool agrees(double a, double b, double c)
{
    const double want = fma(a, b, c);
    return same(dti_fma(a, b, c), want) && same(dti_fma_integers(a, b, c), want);
}

static void fma_rounds_once(void)
{
    static const double edges[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   0x1p-1074,
                                   -0x1p-1022,
                                   0x1.fffffffffffffp-1023,
                                   DBL_MAX,
                                   -DBL_MAX,
                                   0x1p-537,
                                   0x1.8p-538,
                                   1 + 0x1p-52,
                                   1 - 0x1p-53,
                                   INFINITY,
                                   -INFINITY,
                                   (double)NAN};
    enum { EDGES = sizeof edges / sizeof *edges };
    for (size_t i = 0; i < EDGES * EDGES * EDGES; i++)
        CHECK(agrees(edges[i % EDGES], edges[i / EDGES % EDGES], edges[i / EDGES / EDGES]));
}

/* Numbers of any size; and sums in which most of the product cancels. */
static void fma_of_random_numbers(void)
{
    uint64_t state = 1;
    size_t wrong = 0;
    for (size_t i = 0; i < TRIES; i++) {
        const double a = dti_fp64_from_bits(next(&state)), b = dti_fp64_from_bits(next(&state));
        const double c = dti_fp64_from_bits(next(&state)), near = -(a * b) * (1 + 0x1p-52);
        wrong += !agrees(a, b, c) || !agrees(a, b, -(a * b)) || !agrees(a, b, near);
    }
    CHECK_SIZE(wrong, 0);
}

static void logarithms_of_powers_of_ten_are_exact(void)
{
    double power = 1;
    for (int i = 0; i <= 22; i++, power *= 10)
        CHECK_U64(dti_fp64_bits(dti_log10(power)), dti_fp64_bits(i));
}

#if LDBL_MANT_DIG >= 64
static void logarithms_are_within_half_a_unit_and_a_bit(void)
{
    uint64_t state = 2;
    long double largest = 0;
    for (size_t i = 0; i < TRIES; i++) {
        const uint64_t bits = next(&state);
        const double any = dti_fp64_from_bits(bits & UINT64_C(0x7fffffffffffffff));
        const double near = dti_fp64_from_bits((bits & UINT64_C(0x001fffffffffffff)) |
                                               UINT64_C(0x3fe0000000000000)); /* 0.5 to 2 */
        const double numbers[] = {any, near};
        for (size_t k = 0; k < 2; k++) {
            if (!isfinite(numbers[k]) || numbers[k] == 0 || numbers[k] == 1)
                continue;
            const long double want = log10l((long double)numbers[k]);
            int exponent;
            (void)frexpl(want, &exponent);
            const long double error =
                fabsl((long double)dti_log10(numbers[k]) - want) / ldexpl(1, exponent - 53);
            largest = error > largest ? error : largest;
        }
    }
    CHECK(largest < 0.55L);
}
#else
static void logarithms_are_within_half_a_unit_and_a_bit(void)
{
}
#endif

static void the_number_above_is_that_of_libm(void)
{
    size_t wrong = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += bits % 0x800000 < 4 ? 1 : 997) {
        const uint32_t code = (uint32_t)bits;
        float number;
        memcpy(&number, &code, sizeof number);
        if (!isfinite(number))
            continue;
        const float above = dti_fp32_above(number), want = nextafterf(number, INFINITY);
        wrong += memcmp(&above, &want, sizeof above) != 0;
    }
    CHECK(wrong == 0);
}

UNIT_MAIN(the_number_above_is_that_of_libm, fma_rounds_once, fma_of_random_numbers,
          logarithms_of_powers_of_ten_are_exact, logarithms_are_within_half_a_unit_and_a_bit)
