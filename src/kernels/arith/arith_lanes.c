/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on tiles in fp64, its rounding, and what that did to the results. Compiled once per
 * level; the operation is a constant in each loop, so the compiler can vectorize it. */
#include <float.h>
#include <math.h>
#include <string.h>

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

/* Loops of sums are also those of differences, with an operand negated. */
DTI_LANE uint32_t flip_of(const struct dti_arith_tile *tile)
{
    return tile->op == DTI_ARITH_SUBTRACT ? UINT32_C(1) << 31 : 0;
}

DTI_LANE float second_of(enum dti_arith_op op, float y, uint32_t flip)
{
    uint32_t bits;
    if (op != DTI_ARITH_ADD)
        return y;
    memcpy(&bits, &y, sizeof bits);
    bits ^= flip;
    memcpy(&y, &bits, sizeof y);
    return y;
}

DTI_LANE double exact_of(enum dti_arith_op op, double x, double y, double z)
{
    switch (op) {
    case DTI_ARITH_ADD:
    case DTI_ARITH_SUBTRACT: /* y is negated: see second_of() */
        return add_to_odd(x, y);
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

/* One of two numbers; which: 1 or 0. ?: would be a branch, which is not vectorized. */
DTI_LANE double either(uint64_t which, double if_one, double if_zero)
{
    const uint64_t mask = UINT64_C(0) - which;
    return dti_fp64_from_bits((dti_fp64_bits(if_one) & mask) | (dti_fp64_bits(if_zero) & ~mask));
}

/* The number rounded to nearest even: in the normal range by the bits that are dropped, below it
 * by adding a number so large that the sum has no bits below the smallest subnormal. */
DTI_LANE double round_one(const struct dti_arith_target *t, double exact)
{
    const unsigned drop = 52 - t->man_bits;
    const uint64_t half = UINT64_C(1) << (drop - 1), bits = dti_fp64_bits(exact);
    const double normal =
        dti_fp64_from_bits((bits + half - 1 + (bits >> drop & 1)) & ~(2 * half - 1));
    const double magnitude = fabs(exact), small = (magnitude + t->large) - t->large;
    return either((uint64_t)(magnitude < t->smallest_normal), copysign(small, exact), normal);
}

/* Per-lane counters, 64 bits like the compared numbers. */
struct lane_counts {
    uint64_t inexact, nan_results, nan, overflow, divide_by_zero, to_zero, subnormal, absorbed;
};

/* Counts one result. overflow: 1 if it is finite, but beyond the largest number. */
DTI_LANE void count_one(enum dti_arith_op op, double x, double y, double z, double exact,
                        double result, uint64_t overflow, const struct dti_arith_target *t,
                        struct lane_counts *c)
{
    const double magnitude = fabs(result);
    const uint64_t no_number = (uint64_t)(exact != exact);
    const uint64_t infinite = (uint64_t)(fabs(exact) == INFINITY);
    const uint64_t changed = (uint64_t)(exact < result) | (uint64_t)(exact > result);
    const uint64_t in_range = (overflow | infinite | no_number) ^ 1;
    const uint64_t no_zero = (uint64_t)(x < 0) | (uint64_t)(x > 0);
    const uint64_t y_no_zero = (uint64_t)(y < 0) | (uint64_t)(y > 0);
    c->inexact += changed | overflow | (infinite & (uint64_t)!t->has_infinity) |
                  (no_number & (uint64_t)!t->has_nan);
    c->nan_results += no_number;
    c->nan += no_number & (uint64_t)(x == x) & (uint64_t)(y == y) & (uint64_t)(z == z);
    c->overflow += overflow;
    if (op == DTI_ARITH_DIVIDE)
        c->divide_by_zero += infinite & (uint64_t)(fabs(x) < INFINITY);
    if (op != DTI_ARITH_ADD) {
        c->to_zero += changed & (uint64_t)(result == 0);
        c->subnormal +=
            changed & (uint64_t)(magnitude > 0) & (uint64_t)(magnitude < t->smallest_normal);
    }
    if (op == DTI_ARITH_ADD) {
        c->absorbed +=
            in_range & no_zero & y_no_zero & ((uint64_t)(result == x) | (uint64_t)(result == y));
    }
    if (op == DTI_ARITH_FMA) {
        const uint64_t z_no_zero = (uint64_t)(z < 0) | (uint64_t)(z > 0);
        c->absorbed += in_range & no_zero & y_no_zero & z_no_zero &
                       ((uint64_t)(result == z) | (uint64_t)(result == x * y));
    }
}

/* Operands that an operation does not use point to x, which it does use. */
DTI_LANE void round_loop(enum dti_arith_op op, const struct dti_arith_tile *tile,
                         const struct dti_arith_target *target, float *ret_results,
                         uint64_t ret[DTI_ARITH_COUNTS])
{
    const float *const x = tile->x;
    const float *const y = op == DTI_ARITH_SQRT ? x : tile->y;
    const float *const z = op == DTI_ARITH_FMA ? tile->z : x;
    const struct dti_arith_target t = *target;
    float *restrict const to = ret_results;
    const size_t n = tile->n;
    const uint32_t flip = flip_of(tile);
    struct lane_counts c = {0};
    for (size_t i = 0; i < n; i++) {
        const double second = second_of(op, y[i], flip);
        const double exact = exact_of(op, x[i], second, z[i]), rounded = round_one(&t, exact);
        const uint64_t finite = (uint64_t)(fabs(exact) < INFINITY);
        const uint64_t beyond = (uint64_t)(fabs(rounded) > t.largest);
        const double limit = copysign(either(finite, t.overflow, t.infinity), exact);
        const double result =
            either((uint64_t)(exact == exact), either(beyond, limit, rounded), exact);
        count_one(op, x[i], second, z[i], exact, result, beyond & finite, &t, &c);
        to[i] = (float)result;
    }
    ret[DTI_ARITH_COUNT_INEXACT] = c.inexact;
    ret[DTI_ARITH_COUNT_NAN_RESULT] = c.nan_results;
    ret[DTI_ARITH_COUNT_NAN] = c.nan;
    ret[DTI_ARITH_COUNT_OVERFLOW] = c.overflow;
    ret[DTI_ARITH_COUNT_DIVIDE_BY_ZERO] = c.divide_by_zero;
    ret[DTI_ARITH_COUNT_TO_ZERO] = c.to_zero;
    ret[DTI_ARITH_COUNT_SUBNORMAL] = c.subnormal;
    ret[DTI_ARITH_COUNT_ABSORBED] = c.absorbed;
}

/* Numbers of at most this many bits after the first one need no fp64, as 24 bits are 2 x 11 + 2
 * (Figueroa 1995): an fp32 result rounded again is the exact one rounded once, and the same only if
 * that is the exact one, or a sum of which one operand is too small to count. */
enum { PLAIN_BITS = 10 };

/* Operands and results of the target that are zeros or normal numbers; sums may be subnormal, as
 * they are exact then. False, with some results, if others come up. */
DTI_LANE bool plain_loop(enum dti_arith_op op, const struct dti_arith_tile *tile,
                         const struct dti_arith_target *target, float *ret_results,
                         uint64_t ret[DTI_ARITH_COUNTS])
{
    const bool sums = op == DTI_ARITH_ADD;
    const float *const x = tile->x, *const y = op == DTI_ARITH_SQRT ? x : tile->y;
    float *restrict const to = ret_results;
    const float largest = (float)target->largest;
    const float least = sums ? 0 : (float)target->smallest_normal;
    const unsigned drop = 23 - target->man_bits;
    const uint32_t half = UINT32_C(1) << (drop - 1), flip = flip_of(tile);
    uint32_t inexact = 0, absorbed = 0, others = 0;
    for (size_t i = 0; i < tile->n; i++) {
        const float a = x[i], b = second_of(op, y[i], flip);
        const float exact = sums                       ? a + b
                            : op == DTI_ARITH_MULTIPLY ? a * b
                            : op == DTI_ARITH_DIVIDE   ? a / b
                                                       : sqrtf(a);
        uint32_t bits;
        float result;
        memcpy(&bits, &exact, sizeof bits);
        bits = (bits + half - 1 + (bits >> drop & 1)) & ~(2 * half - 1);
        memcpy(&result, &bits, sizeof result);
        const uint32_t no_zeros = (uint32_t)(a != 0) & (uint32_t)(b != 0);
        const uint32_t small =
            sums ? no_zeros & ((uint32_t)(result == a) | (uint32_t)(result == b)) : 0;
        others |= ((uint32_t)(exact == exact) & (uint32_t)(fabsf(result) <= largest)) ^ 1;
        others |= sums ? 0 : no_zeros & (uint32_t)(fabsf(result) < least);
        inexact += small | (uint32_t)(result < exact) | (uint32_t)(result > exact);
        absorbed += small;
        to[i] = result;
    }
    memset(ret, 0, DTI_ARITH_COUNTS * sizeof *ret);
    ret[DTI_ARITH_COUNT_INEXACT] = inexact;
    ret[DTI_ARITH_COUNT_ABSORBED] = absorbed;
    return others == 0;
}

DTI_LANE bool is_plain(enum dti_arith_op op, const struct dti_arith_target *target)
{
#if defined DTI_HAVE_X86 && !defined __AVX2__ /* for old machines: small */
    (void)op, (void)target;
    return false;
#else
    return target->man_bits <= PLAIN_BITS && target->smallest_normal >= FLT_MIN &&
           op != DTI_ARITH_FMA;
#endif
}

/* The exponent field: numbers of fp32 that are not zero are normal in fp64. */
DTI_LANE int64_t field_of(double number)
{
    return (int64_t)(dti_fp64_bits(number) >> 52 & 0x7ff);
}

DTI_LANE uint64_t cancels(double x, double y, double exact, unsigned man_bits, bool zero_cancels)
{
    const int64_t top = field_of(x) > field_of(y) ? field_of(x) : field_of(y);
    const uint64_t zero = (uint64_t)(exact == 0);
    const uint64_t much = (uint64_t)(2 * (top - field_of(exact)) > (int64_t)man_bits);
    return (uint64_t)(x != 0) & (uint64_t)(y != 0) & (uint64_t)(fabs(x) < INFINITY) &
           (uint64_t)(fabs(y) < INFINITY) & ((zero & (uint64_t)zero_cancels) | (much & (zero ^ 1)));
}

enum { PIECE = 256 }; /* elements marked at once */

DTI_LANE void exact_loop(enum dti_arith_op op, const struct dti_arith_tile *tile, size_t from,
                         size_t n, double *ret)
{
    const float *const x = tile->x + from;
    const float *const y = op == DTI_ARITH_SQRT ? x : tile->y + from;
    const float *const z = op == DTI_ARITH_FMA ? tile->z + from : x;
    double *restrict const to = ret;
    const uint32_t flip = flip_of(tile);
    for (size_t i = 0; i < n; i++)
        to[i] = exact_of(op, x[i], second_of(op, y[i], flip), z[i]);
}

#define EACH_OPERATION(DO)   \
    switch (tile->op) {      \
    case DTI_ARITH_SUBTRACT: \
        DO(ADD)              \
        DO(MULTIPLY)         \
        DO(DIVIDE)           \
        DO(SQRT)             \
        DO(FMA)              \
    }

void DTI_LANES_NAME(dti_arith_round)(const struct dti_arith_tile *tile,
                                     const struct dti_arith_target *target, float *ret_results,
                                     uint64_t ret[DTI_ARITH_COUNTS])
{
#define ROUND(op)                                                        \
    case DTI_ARITH_##op:                                                 \
        if (!is_plain(DTI_ARITH_##op, target) ||                         \
            !plain_loop(DTI_ARITH_##op, tile, target, ret_results, ret)) \
            round_loop(DTI_ARITH_##op, tile, target, ret_results, ret);  \
        return;
    EACH_OPERATION(ROUND)
#undef ROUND
}

static void exact_numbers(const struct dti_arith_tile *tile, size_t from, size_t n, double *ret)
{
#define EXACT(op)                                       \
    case DTI_ARITH_##op:                                \
        exact_loop(DTI_ARITH_##op, tile, from, n, ret); \
        return;
    EACH_OPERATION(EXACT)
#undef EXACT
}

/* One loop for all operations, as marks are only kept of short lists. */
uint64_t DTI_LANES_NAME(dti_arith_mark)(const struct dti_arith_tile *tile,
                                        const struct dti_arith_target *target, const float *results,
                                        const uint8_t *const marks[3], bool zero_cancels,
                                        uint8_t *ret_marks)
{
    const bool sums = tile->op == DTI_ARITH_ADD || tile->op == DTI_ARITH_SUBTRACT;
    const uint8_t *const y_mark = tile->op == DTI_ARITH_SQRT ? marks[0] : marks[1];
    const uint8_t *const z_mark = tile->op == DTI_ARITH_FMA ? marks[2] : marks[0];
    const float *const y = sums ? tile->y : tile->x;
    const uint64_t no_infinity = !target->has_infinity, no_nan = !target->has_nan, adds = sums;
    const unsigned man_bits = target->man_bits;
    uint64_t cancelled = 0;
    for (size_t from = 0; from < tile->n; from += PIECE) {
        const size_t n = tile->n - from < PIECE ? tile->n - from : PIECE;
        double numbers[PIECE];
        uint8_t found[PIECE];
        exact_numbers(tile, from, n, numbers);
        for (size_t i = 0; i < n; i++) {
            const double exact = numbers[i];
            const uint64_t no_number = (uint64_t)(exact != exact);
            const uint64_t infinite = (uint64_t)(fabs(exact) == INFINITY);
            const uint64_t same = (uint64_t)(exact == (double)results[from + i]);
            const uint64_t marked =
                (uint64_t)(marks[0][from + i] | y_mark[from + i] | z_mark[from + i]);
            cancelled += adds & marked &
                         cancels(tile->x[from + i], y[from + i], exact, man_bits, zero_cancels);
            found[i] = (uint8_t)(marked | ((same | no_number | infinite) ^ 1) |
                                 (infinite & no_infinity) | (no_number & no_nan));
        }
        memcpy(ret_marks + from, found, n);
    }
    return cancelled;
}
