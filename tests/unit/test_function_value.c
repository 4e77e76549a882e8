/* SPDX-License-Identifier: MIT
 *
 * Functions at the arguments that IEEE 754-2019 9.2.1 lists, and near exact results. Other
 * arguments are compared with mpmath (tests/oracle/calc/test_functions.py). */
#include "calc/truth/truth.h"
#include "core/code/arith.h"
#include "unit.h"

static const struct dti_value infinity = {.kind = DTI_CLASS_INF},
                              minus_infinity = {.kind = DTI_CLASS_INF, .negative = true},
                              zero = {.kind = DTI_CLASS_ZERO},
                              minus_zero = {.kind = DTI_CLASS_ZERO, .negative = true};

static struct dti_value number(int64_t significand, int64_t exponent)
{
    struct dti_value value;
    dti_value_set(&value, significand < 0,
                  significand < 0 ? (uint64_t)-significand : (uint64_t)significand, exponent);
    return value;
}

/* Also loads the libraries: any test may make the first call. */
static bool gives(enum dti_calc_op op, int64_t power, struct dti_value x, struct dti_value want,
                  unsigned flags)
{
    struct dti_value got = {.kind = DTI_CLASS_NAN};
    if (dti_multi_load(NULL) != DTI_OK)
        return false;
    const unsigned raised = dti_function_value(&got, op, power, &x);
    return got.kind == want.kind && got.negative == want.negative && got.sticky == want.sticky &&
           got.exponent == want.exponent && got.hi == want.hi && got.lo == want.lo &&
           raised == flags;
}

static bool invalid(enum dti_calc_op op, struct dti_value x)
{
    const struct dti_value nan = {.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    return gives(op, 0, x, nan, DTI_ARITH_INVALID);
}

static void infinities_have_limits(void)
{
    CHECK(gives(DTI_CALC_EXP, 0, minus_infinity, zero, 0));
    CHECK(gives(DTI_CALC_EXP2, 0, minus_infinity, zero, 0));
    CHECK(gives(DTI_CALC_EXPM1, 0, minus_infinity, number(-1, 0), 0));
    CHECK(gives(DTI_CALC_EXP, 0, infinity, infinity, 0));
    CHECK(gives(DTI_CALC_LOG, 0, infinity, infinity, 0));
    CHECK(gives(DTI_CALC_RSQRT, 0, infinity, zero, 0));
    CHECK(gives(DTI_CALC_TANH, 0, minus_infinity, number(-1, 0), 0));
    CHECK(gives(DTI_CALC_ERF, 0, infinity, number(1, 0), 0));
    CHECK(gives(DTI_CALC_SIGMOID, 0, infinity, number(1, 0), 0));
    CHECK(gives(DTI_CALC_SIGMOID, 0, minus_infinity, zero, 0));
    CHECK(gives(DTI_CALC_SILU, 0, infinity, infinity, 0));
    CHECK(gives(DTI_CALC_SILU, 0, minus_infinity, minus_zero, 0));
    CHECK(gives(DTI_CALC_GELU, 0, infinity, infinity, 0));
    CHECK(gives(DTI_CALC_GELU, 0, minus_infinity, minus_zero, 0));
}

static void poles_divide_by_zero(void)
{
    CHECK(gives(DTI_CALC_LOG, 0, minus_zero, minus_infinity, DTI_ARITH_DIVIDE_BY_ZERO));
    CHECK(gives(DTI_CALC_LOG2, 0, zero, minus_infinity, DTI_ARITH_DIVIDE_BY_ZERO));
    CHECK(gives(DTI_CALC_LOG1P, 0, number(-1, 0), minus_infinity, DTI_ARITH_DIVIDE_BY_ZERO));
    CHECK(gives(DTI_CALC_RSQRT, 0, zero, infinity, DTI_ARITH_DIVIDE_BY_ZERO));
    CHECK(gives(DTI_CALC_RSQRT, 0, minus_zero, minus_infinity, DTI_ARITH_DIVIDE_BY_ZERO));
    CHECK(gives(DTI_CALC_POWER, -1, minus_zero, minus_infinity, DTI_ARITH_DIVIDE_BY_ZERO));
    CHECK(gives(DTI_CALC_POWER, -2, minus_zero, infinity, DTI_ARITH_DIVIDE_BY_ZERO));
}

static void what_has_no_value_is_invalid(void)
{
    CHECK(invalid(DTI_CALC_LOG, number(-1, 0)));
    CHECK(invalid(DTI_CALC_LOG2, minus_infinity));
    CHECK(invalid(DTI_CALC_LOG1P, number(-3, -1)));
    CHECK(invalid(DTI_CALC_RSQRT, number(-1, -149)));
    CHECK(invalid(DTI_CALC_SIN, infinity));
    CHECK(invalid(DTI_CALC_COS, minus_infinity));
    CHECK(invalid(DTI_CALC_TAN, infinity));
}

static void zeros_keep_their_signs(void)
{
    static const enum dti_calc_op odd[] = {DTI_CALC_EXPM1, DTI_CALC_LOG1P, DTI_CALC_SIN,
                                           DTI_CALC_TAN,   DTI_CALC_TANH,  DTI_CALC_ERF,
                                           DTI_CALC_SILU,  DTI_CALC_GELU};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        CHECK(gives(odd[i], 0, zero, zero, 0));
        CHECK(gives(odd[i], 0, minus_zero, minus_zero, 0));
    }
    CHECK(gives(DTI_CALC_EXP, 0, minus_zero, number(1, 0), 0));
    CHECK(gives(DTI_CALC_COS, 0, minus_zero, number(1, 0), 0));
    CHECK(gives(DTI_CALC_SIGMOID, 0, minus_zero, number(1, -1), 0));
    CHECK(gives(DTI_CALC_LOG, 0, number(1, 0), zero, 0));
    CHECK(gives(DTI_CALC_POWER, 3, minus_zero, minus_zero, 0));
    CHECK(gives(DTI_CALC_POWER, 2, minus_zero, zero, 0));
}

static void nan_stays_but_for_the_power_of_zero(void)
{
    const struct dti_value nan = {.kind = DTI_CLASS_NAN, .negative = true, .hi = 0xC1ull << 56};
    for (int op = DTI_CALC_RSQRT; op <= DTI_CALC_GELU; op++)
        CHECK(gives((enum dti_calc_op)op, 0, nan, nan, 0));
    CHECK(gives(DTI_CALC_POWER, 2, nan, nan, 0));
    CHECK(gives(DTI_CALC_POWER, 0, nan, number(1, 0), 0));
    CHECK(gives(DTI_CALC_POWER, 0, infinity, number(1, 0), 0));
    CHECK(gives(DTI_CALC_POWER, 0, zero, number(1, 0), 0));
}

static void exact_results_are_not_sticky(void)
{
    CHECK(gives(DTI_CALC_EXP2, 0, number(-149, 0), number(1, -149), 0));
    CHECK(gives(DTI_CALC_LOG2, 0, number(1, -149), number(-149, 0), 0));
    CHECK(gives(DTI_CALC_RSQRT, 0, number(1, -4), number(4, 0), 0));
    CHECK(gives(DTI_CALC_POWER, 3, number(-3, -1), number(-27, -3), 0));
    CHECK(gives(DTI_CALC_POWER, -2, number(-4, 0), number(1, -4), 0));
    /* 3^80, of 127 bits */
    CHECK(gives(DTI_CALC_POWER, 80, number(3, 0),
                (struct dti_value){.kind = DTI_CLASS_FINITE,
                                   .exponent = 126,
                                   .hi = UINT64_C(0xDE65E3DF16314578),
                                   .lo = UINT64_C(0x79D4B2F138F3A882)},
                0));
}

static void results_just_below_a_bound_are_truncated(void)
{
    const struct dti_value below_one = {.kind = DTI_CLASS_FINITE,
                                        .sticky = true,
                                        .exponent = -1,
                                        .hi = UINT64_MAX,
                                        .lo = UINT64_MAX};
    CHECK(gives(DTI_CALC_TANH, 0, number(1, 100), below_one, 0));
    CHECK(gives(DTI_CALC_ERF, 0, number(1, 100), below_one, 0));
    CHECK(gives(DTI_CALC_SIGMOID, 0, number(1, 100), below_one, 0));
    struct dti_value below = below_one;
    below.exponent = 99;
    CHECK(gives(DTI_CALC_SILU, 0, number(1, 100), below, 0));
    CHECK(gives(DTI_CALC_GELU, 0, number(1, 100), below, 0));
    CHECK(gives(DTI_CALC_COS, 0, number(1, -200), below_one, 0));
    const struct dti_value above_one = {.kind = DTI_CLASS_FINITE, .sticky = true, .hi = 1ull << 63};
    CHECK(gives(DTI_CALC_EXP, 0, number(1, -200), above_one, 0));
}

static void results_beyond_all_formats_are_clamped(void)
{
    struct dti_value got;
    const struct dti_value huge = number(1, 120), tiny = number(-1, 120);
    if (!CHECK(dti_multi_load(NULL) == DTI_OK))
        return;
    static const enum dti_calc_op vanishing[] = {DTI_CALC_EXP, DTI_CALC_EXP2, DTI_CALC_SIGMOID,
                                                 DTI_CALC_SILU, DTI_CALC_GELU};
    for (size_t i = 0; i < sizeof vanishing / sizeof *vanishing; i++) {
        CHECK_U64(dti_function_value(&got, vanishing[i], 0, &tiny), 0);
        CHECK(got.kind == DTI_CLASS_FINITE && got.sticky && got.exponent == -DTI_EXPONENT_LIMIT);
        CHECK(got.negative == (vanishing[i] >= DTI_CALC_SILU));
    }
    CHECK_U64(dti_function_value(&got, DTI_CALC_EXP, 0, &huge), 0);
    CHECK(got.kind == DTI_CLASS_FINITE && got.sticky && got.exponent == DTI_EXPONENT_LIMIT);
    CHECK_U64(dti_function_value(&got, DTI_CALC_POWER, INT64_MAX, &huge), 0);
    CHECK(got.kind == DTI_CLASS_FINITE && got.sticky && got.exponent == DTI_EXPONENT_LIMIT);
    CHECK_U64(dti_function_value(&got, DTI_CALC_POWER, INT64_MIN, &huge), 0);
    CHECK(got.kind == DTI_CLASS_FINITE && got.sticky && got.exponent == -DTI_EXPONENT_LIMIT);
}

UNIT_MAIN(infinities_have_limits, poles_divide_by_zero, what_has_no_value_is_invalid,
          zeros_keep_their_signs, nan_stays_but_for_the_power_of_zero, exact_results_are_not_sticky,
          results_just_below_a_bound_are_truncated, results_beyond_all_formats_are_clamped)
