/* SPDX-License-Identifier: MIT
 *
 * The fast bounds of functions: arguments for which there are none.
 * tests/oracle/calc/test_truth_quick.c compares the accuracy of the bounds with MPFR. */
#include <math.h>

#include "calc/truth/truth.h"
#include "unit.h"

static bool bounded(enum dti_calc_op op, double x)
{
    double low = NAN, high = NAN;
    const bool done = dti_function_quick(op, x, &low, &high);
    return done && CHECK(low < high) && CHECK(fabs(high - low) < fabs(low) * 0x1p-44);
}

static void what_may_be_exact_has_no_bounds(void)
{
    for (int op = DTI_CALC_RSQRT; op <= DTI_CALC_GELU; op++) {
        CHECK(!bounded((enum dti_calc_op)op, 0.0));
        CHECK(!bounded((enum dti_calc_op)op, -0.0));
    }
    CHECK(!bounded(DTI_CALC_LOG, 1));
    CHECK(!bounded(DTI_CALC_EXP2, -7));
    CHECK(bounded(DTI_CALC_EXP2, 0.5));
    CHECK(!bounded(DTI_CALC_LOG2, 0x1p-149));
    CHECK(bounded(DTI_CALC_LOG2, 3));
    CHECK(!bounded(DTI_CALC_RSQRT, 16));
    CHECK(bounded(DTI_CALC_RSQRT, 15));
    CHECK(bounded(DTI_CALC_EXP, 1));
    CHECK(bounded(DTI_CALC_LOG1P, 1));
}

static void specials_and_edges_have_no_bounds(void)
{
    for (int op = DTI_CALC_RSQRT; op <= DTI_CALC_GELU; op++) {
        CHECK(!bounded((enum dti_calc_op)op, INFINITY));
        CHECK(!bounded((enum dti_calc_op)op, -INFINITY));
        CHECK(!bounded((enum dti_calc_op)op, NAN));
    }
    CHECK(!bounded(DTI_CALC_EXP, 710));
    CHECK(!bounded(DTI_CALC_EXP, -709));
    CHECK(!bounded(DTI_CALC_LOG, -1));
    CHECK(!bounded(DTI_CALC_LOG1P, -1));
    CHECK(!bounded(DTI_CALC_RSQRT, -4.5));
    CHECK(!bounded(DTI_CALC_SIN, 0x1p20));
    CHECK(!bounded(DTI_CALC_SILU, -800));
    CHECK(!bounded(DTI_CALC_GELU, -5));
    CHECK(!bounded(DTI_CALC_SIN, 0x1p-1030));
    CHECK(!bounded(DTI_CALC_ADD, 1));
}

static void bounds_of_negative_results_are_in_order(void)
{
    double low, high;
    if (CHECK(dti_function_quick(DTI_CALC_LOG, 0.5, &low, &high)))
        CHECK(low < -0.6931471805599453 && -0.6931471805599453 < high);
}

UNIT_MAIN(what_may_be_exact_has_no_bounds, specials_and_edges_have_no_bounds,
          bounds_of_negative_results_are_in_order)
