/* SPDX-License-Identifier: MIT
 *
 * Exact sums, compared with known sums. */
#include "kernels/exact_sum.h"

#include <math.h>

#include "kernels/fp64.h"
#include "unit.h"

static double sum_of(const double *number, size_t n)
{
    struct dti_exact_sum sum;
    dti_exact_sum_init(&sum);
    for (size_t i = 0; i < n; i++)
        dti_exact_sum_add(&sum, number[i]);
    return dti_exact_sum_value(&sum);
}

#define SUM(...)                                        \
    dti_fp64_bits(sum_of((const double[]){__VA_ARGS__}, \
                         sizeof(const double[]){__VA_ARGS__} / sizeof(double)))

static void nothing_is_lost_between_the_largest_and_the_smallest(void)
{
    CHECK_U64(SUM(0x1p1023, 0x1p-1074, -0x1p1023), dti_fp64_bits(0x1p-1074));
    CHECK_U64(SUM(0x1p-1074, -0x1p1023, 0x1p1023, -0x1p-1073), dti_fp64_bits(-0x1p-1074));
    CHECK_U64(SUM(1e300, 3, -1e300, 4), dti_fp64_bits(7));
    CHECK_U64(SUM(DBL_MAX, DBL_MAX, -DBL_MAX), dti_fp64_bits(DBL_MAX));
    CHECK_U64(SUM(-1, 0x1p-1074, 1), dti_fp64_bits(0x1p-1074));
}

static void the_sum_rounds_once_to_nearest_even(void)
{
    CHECK_U64(SUM(1, 0x1p-53), dti_fp64_bits(1));
    CHECK_U64(SUM(1, 0x1p-53, 0x1p-1074), dti_fp64_bits(1 + 0x1p-52));
    CHECK_U64(SUM(1 + 0x1p-52, 0x1p-53), dti_fp64_bits(1 + 0x1p-51));
    CHECK_U64(SUM(-1, -0x1p-53, -0x1p-1074), dti_fp64_bits(-1 - 0x1p-52));
    CHECK_U64(SUM(0x1p64, 0x1p11, 0x1p-64), dti_fp64_bits(0x1p64 + 0x1p12));
    CHECK_U64(SUM(0x1.8p-1074, 0x1p-1022), dti_fp64_bits(0x1p-1022 + 0x1p-1073));
}

static void beyond_fp64_is_infinity_and_comes_back(void)
{
    CHECK_U64(SUM(DBL_MAX, DBL_MAX), dti_fp64_bits(INFINITY));
    CHECK_U64(SUM(-DBL_MAX, -0x1p970), dti_fp64_bits(-INFINITY));
    CHECK_U64(SUM(DBL_MAX, 0x1p969), dti_fp64_bits(DBL_MAX));
}

static void infinities_stay(void)
{
    CHECK_U64(SUM(INFINITY, 1, -DBL_MAX), dti_fp64_bits(INFINITY));
    CHECK_U64(SUM(1, -INFINITY), dti_fp64_bits(-INFINITY));
    CHECK(isnan(sum_of((const double[]){INFINITY, -INFINITY}, 2)));
    CHECK(isnan(sum_of((const double[]){NAN, 1}, 2)));
}

static float mean_of(uint64_t count, size_t n, const double *number)
{
    struct dti_exact_sum sum;
    dti_exact_sum_init(&sum);
    for (size_t i = 0; i < n; i++)
        dti_exact_sum_add(&sum, number[i]);
    return dti_exact_sum_mean(&sum, count);
}

#define MEAN(count, ...)                                                         \
    (double)mean_of(count, sizeof(const double[]){__VA_ARGS__} / sizeof(double), \
                    (const double[]){__VA_ARGS__})

static bool is(double a, double b)
{
    return dti_fp64_bits(a) == dti_fp64_bits(b);
}

/* Rounds to fp32 once: neither the sum nor the quotient is first rounded to fp64. */
static void a_mean_rounds_once_to_fp32(void)
{
    CHECK(is(MEAN(1, 0), 0));
    CHECK(is(MEAN(3, 1, 2, 4.5), 2.5));
    CHECK(is(MEAN(3, 1), (double)0x1.555556p-2F));
    CHECK(is(MEAN(1, 1, 0x1p-24), 1)); /* halfway: to even */
    CHECK(is(MEAN(1, 1, 0x1p-24, 0x1p-149), (double)(1 + 0x1p-23F)));
    CHECK(is(MEAN(1, 1 + 0x1p-23, 0x1p-24), (double)(1 + 0x1p-22F)));
    CHECK(is(MEAN(UINT64_C(0x7fffffffffffffff), 0x1p63), 1)); /* just above */
    CHECK(is(MEAN(UINT64_C(1) << 62, 0x1p62, 0x1p38, 0x1p-149), (double)(1 + 0x1p-23F)));
    CHECK(is(MEAN(2, 0x1p-149), 0)); /* halfway again, among subnormals */
    CHECK(is(MEAN(2, 0x1p-149, 0x1p-149, 0x1p-149), 0x1p-148));
    CHECK(is(MEAN(2, 0x1.fffffep127, 0x1.fffffep127), 0x1.fffffep127));
    CHECK(is(MEAN(1, 0x1p-1074), 0));
}

static void no_sum_is_plus_zero(void)
{
    CHECK_U64(sum_of(NULL, 0) > 0, 0);
    CHECK_U64(SUM(-0.0), 0);
    CHECK_U64(SUM(1, -1), 0);
}

/* Numbers of all magnitudes: the sum is the same in two orders and in parts. Adding their negatives
 * gives zero. */
static void a_carry_reaches_the_sign_past_words_of_zeros(void)
{
    for (int power = -1000; power < 1000; power++) {
        struct dti_exact_sum sum, part;
        dti_exact_sum_init(&sum);
        dti_exact_sum_init(&part);
        dti_exact_sum_add(&sum, -ldexp(1, power));
        dti_exact_sum_add(&part, ldexp(1.5, power));
        dti_exact_sum_merge(&sum, &part);
        CHECK_U64(dti_fp64_bits(dti_exact_sum_value(&sum)), dti_fp64_bits(ldexp(0.5, power)));
    }
}

static void order_and_grouping_do_not_matter(void)
{
    enum { N = 4000 };
    struct dti_exact_sum forward, backward, even, odd;
    uint64_t state = 1;
    static double number[N];
    for (size_t i = 0; i < N; i++) {
        do {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            number[i] = dti_fp64_from_bits(state ^ state >> 31);
        } while (!isfinite(number[i]));
    }
    dti_exact_sum_init(&forward);
    dti_exact_sum_init(&backward);
    dti_exact_sum_init(&even);
    dti_exact_sum_init(&odd);
    for (size_t i = 0; i < N; i++) {
        dti_exact_sum_add(&forward, number[i]);
        dti_exact_sum_add(&backward, number[N - 1 - i]);
        dti_exact_sum_add(i % 2 ? &odd : &even, number[i]);
    }
    dti_exact_sum_merge(&even, &odd);
    CHECK(memcmp(&forward, &backward, sizeof forward.word) == 0);
    CHECK(memcmp(&forward, &even, sizeof forward.word) == 0);
    for (size_t i = 0; i < N; i++)
        dti_exact_sum_add(&even, -number[i]);
    for (size_t i = 0; i < DTI_EXACT_SUM_WORDS; i++)
        CHECK_U64(even.word[i], 0);
}

UNIT_MAIN(nothing_is_lost_between_the_largest_and_the_smallest, the_sum_rounds_once_to_nearest_even,
          beyond_fp64_is_infinity_and_comes_back, infinities_stay, a_mean_rounds_once_to_fp32,
          no_sum_is_plus_zero, a_carry_reaches_the_sign_past_words_of_zeros,
          order_and_grouping_do_not_matter)
