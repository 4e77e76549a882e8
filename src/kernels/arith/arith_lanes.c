/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on tiles in fp64, and counts of what rounding did to the results. Compiled once per
 * level; the operation is a constant in each loop, so the compiler can vectorize it. */
#include <math.h>

#include "kernels/arith/arith_kernels.h"
#include "kernels/fp64.h"
#include "kernels/lanes.h"
#include "kernels/lanes_piece.h"

/* sum = a + b rounded to nearest, with its exact error (Knuth's TwoSum). Rounding to odd takes
 * the neighbour toward zero and sets the last bit if there is an error. The error of an infinity
 * is NaN, which compares false on both sides. */
DTI_LANE double add_to_odd(double a, double b)
{
    const double sum = a + b;
    const double b_part = sum - a, a_part = sum - b_part;
    const double error = (a - a_part) + (b - b_part);
    const uint64_t above = (uint64_t)(error > 0), below = (uint64_t)(error < 0);
    const uint64_t minus = (uint64_t)(sum < 0), plus = (uint64_t)(sum > 0);
    uint64_t bits = dti_fp64_bits(sum);
    bits -= (above & minus) | (below & plus);
    bits |= above | below;
    return dti_fp64_from_bits(bits);
}

DTI_LANE double exact_of(enum dti_arith_op op, double x, double y, double z)
{
    switch (op) {
    case DTI_ARITH_ADD:
        return add_to_odd(x, y);
    case DTI_ARITH_SUBTRACT:
        return add_to_odd(x, -y);
    case DTI_ARITH_MULTIPLY:
        return x * y;
    case DTI_ARITH_DIVIDE:
        return x / y;
    case DTI_ARITH_SQRT:
        return sqrt(x);
    case DTI_ARITH_FMA:
        break;
    }
    return add_to_odd(x * y, z);
}

/* Per-lane counters, 64 bits like the compared numbers. */
struct lane_counts {
    uint64_t inexact, nan_results, nan, overflow, divide_by_zero, to_zero, subnormal, absorbed;
};

DTI_LANE void count_one(enum dti_arith_op op, double x, double y, double z, double exact,
                        double result, double smallest_normal, struct lane_counts *c)
{
    const double magnitude = fabs(result);
    const uint64_t inexact = (uint64_t)(exact < result) | (uint64_t)(exact > result);
    const uint64_t infinite = (uint64_t)(fabs(exact) == INFINITY);
    const uint64_t finite = (uint64_t)(magnitude < INFINITY);
    const uint64_t no_zero = (uint64_t)(x < 0) | (uint64_t)(x > 0);
    const uint64_t y_no_zero = (uint64_t)(y < 0) | (uint64_t)(y > 0);
    c->inexact += inexact;
    c->nan_results += (uint64_t)(result != result);
    c->nan +=
        (uint64_t)(exact != exact) & (uint64_t)(x == x) & (uint64_t)(y == y) & (uint64_t)(z == z);
    if (op != DTI_ARITH_SQRT)
        c->overflow +=
            (uint64_t)(magnitude == INFINITY) & (infinite ^ 1) & (uint64_t)(exact == exact);
    if (op == DTI_ARITH_DIVIDE)
        c->divide_by_zero += infinite & (uint64_t)(fabs(x) < INFINITY);
    if (op == DTI_ARITH_MULTIPLY || op == DTI_ARITH_DIVIDE || op == DTI_ARITH_FMA) {
        c->to_zero += inexact & (uint64_t)(result == 0);
        c->subnormal +=
            inexact & (uint64_t)(magnitude > 0) & (uint64_t)(magnitude < smallest_normal);
    }
    if (op == DTI_ARITH_ADD || op == DTI_ARITH_SUBTRACT) {
        const double other = op == DTI_ARITH_ADD ? y : -y;
        c->absorbed +=
            finite & no_zero & y_no_zero & ((uint64_t)(result == x) | (uint64_t)(result == other));
    }
    if (op == DTI_ARITH_FMA) {
        const uint64_t z_no_zero = (uint64_t)(z < 0) | (uint64_t)(z > 0);
        c->absorbed += finite & no_zero & y_no_zero & z_no_zero & (uint64_t)(result == z);
    }
}

/* Operands that an operation does not use point to x, which it does use. */
DTI_LANE void exact_loop(enum dti_arith_op op, const struct dti_arith_tile *tile, double *ret)
{
    const float *const x = tile->x;
    const float *const y = op == DTI_ARITH_SQRT ? x : tile->y;
    const float *const z = op == DTI_ARITH_FMA ? tile->z : x;
    double *restrict const to = ret;
    const size_t n = tile->n;
    for (size_t i = 0; i < n; i++)
        to[i] = exact_of(op, x[i], y[i], z[i]);
}

DTI_LANE void count_loop(enum dti_arith_op op, const struct dti_arith_tile *tile,
                         const double *exact, const float *result, double smallest_normal,
                         uint64_t ret[DTI_ARITH_COUNTS])
{
    const float *const x = tile->x;
    const float *const y = op == DTI_ARITH_SQRT ? x : tile->y;
    const float *const z = op == DTI_ARITH_FMA ? tile->z : x;
    const size_t n = tile->n;
    struct lane_counts c = {0};
    for (size_t i = 0; i < n; i++)
        count_one(op, x[i], y[i], z[i], exact[i], result[i], smallest_normal, &c);
    ret[DTI_ARITH_COUNT_INEXACT] = c.inexact;
    ret[DTI_ARITH_COUNT_NAN_RESULT] = c.nan_results;
    ret[DTI_ARITH_COUNT_NAN] = c.nan;
    ret[DTI_ARITH_COUNT_OVERFLOW] = c.overflow;
    ret[DTI_ARITH_COUNT_DIVIDE_BY_ZERO] = c.divide_by_zero;
    ret[DTI_ARITH_COUNT_TO_ZERO] = c.to_zero;
    ret[DTI_ARITH_COUNT_SUBNORMAL] = c.subnormal;
    ret[DTI_ARITH_COUNT_ABSORBED] = c.absorbed;
}

#define EACH_OPERATION(DO) \
    switch (tile->op) {    \
        DO(ADD)            \
        DO(SUBTRACT)       \
        DO(MULTIPLY)       \
        DO(DIVIDE)         \
        DO(SQRT)           \
        DO(FMA)            \
    }

void DTI_LANES_NAME(dti_arith_exact)(const struct dti_arith_tile *tile, double *ret_exact)
{
#define EXACT(op)                                    \
    case DTI_ARITH_##op:                             \
        exact_loop(DTI_ARITH_##op, tile, ret_exact); \
        return;
    EACH_OPERATION(EXACT)
#undef EXACT
}

void DTI_LANES_NAME(dti_arith_count)(const struct dti_arith_tile *tile, const double *exact,
                                     const float *result, float smallest_normal,
                                     uint64_t ret[DTI_ARITH_COUNTS])
{
#define COUNT(op)                                                              \
    case DTI_ARITH_##op:                                                       \
        count_loop(DTI_ARITH_##op, tile, exact, result, smallest_normal, ret); \
        return;
    EACH_OPERATION(COUNT)
#undef COUNT
}
