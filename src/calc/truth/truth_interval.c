/* SPDX-License-Identifier: MIT
 *
 * Interval arithmetic: every operation rounds the lower end down and the upper end up, so the
 * truth is in between. Monotone functions are evaluated at both ends; sin and cos at the
 * midpoint, plus and minus half the width, because their slope is at most 1; tan at its ends if
 * cos has no zero in between. */
#include "calc/truth/truth_parts.h"

typedef int binary(mpfr_ptr ret, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t round);

static dti_mpfr_unary *const *const functions[DTI_CALC_OP_COUNT] = {
    [DTI_CALC_SQRT] = &dti_multi.mpfr_sqrt,      [DTI_CALC_RSQRT] = &dti_multi.mpfr_rec_sqrt,
    [DTI_CALC_EXP] = &dti_multi.mpfr_exp,        [DTI_CALC_EXP2] = &dti_multi.mpfr_exp2,
    [DTI_CALC_EXPM1] = &dti_multi.mpfr_expm1,    [DTI_CALC_LOG] = &dti_multi.mpfr_log,
    [DTI_CALC_LOG2] = &dti_multi.mpfr_log2,      [DTI_CALC_LOG1P] = &dti_multi.mpfr_log1p,
    [DTI_CALC_SIN] = &dti_multi.mpfr_sin,        [DTI_CALC_COS] = &dti_multi.mpfr_cos,
    [DTI_CALC_TAN] = &dti_multi.mpfr_tan,        [DTI_CALC_TANH] = &dti_multi.mpfr_tanh,
    [DTI_CALC_ERF] = &dti_multi.mpfr_erf,        [DTI_CALC_FLOOR] = &dti_multi.mpfr_rint_floor,
    [DTI_CALC_CEIL] = &dti_multi.mpfr_rint_ceil, [DTI_CALC_ROUND] = &dti_multi.mpfr_rint_roundeven,
};

dti_mpfr_unary *dti_mpfr_function(enum dti_calc_op op)
{
    return functions[op] ? *functions[op] : NULL;
}

static bool holds_zero(mpfr_srcptr low, mpfr_srcptr high)
{
    return dti_multi.mpfr_sgn(low) <= 0 && dti_multi.mpfr_sgn(high) >= 0;
}

/* The minimum and maximum of a function at the four pairs of ends. A NaN corner comes from an
 * end that means "of any size": 0 times that is 0; for a quotient of two of them, the other
 * corners determine the range. */
static void take_corners(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                         binary *function, mpfr_srcptr const a[2], mpfr_srcptr const b[2],
                         bool nan_is_zero)
{
    mpfr_ptr const down = room->f[0], up = room->f[1], corner = room->f[2];
    dti_multi.mpfr_set_inf(down, 1);
    dti_multi.mpfr_set_inf(up, -1);
    for (unsigned i = 0; i < 4; i++) {
        (void)function(corner, a[i & 1], b[i >> 1], MPFR_RNDD);
        const bool nan = dti_multi.mpfr_nan_p(corner);
        if (nan && !nan_is_zero)
            continue;
        if (nan)
            dti_multi.mpfr_set_si_2exp(corner, 0, 0, MPFR_RNDN);
        (void)dti_multi.mpfr_min(down, down, corner, MPFR_RNDD);
        if (!nan)
            (void)function(corner, a[i & 1], b[i >> 1], MPFR_RNDU);
        (void)dti_multi.mpfr_max(up, up, corner, MPFR_RNDU);
    }
    dti_multi.mpfr_set(low, down, MPFR_RNDD);
    dti_multi.mpfr_set(high, up, MPFR_RNDU);
}

static void multiply_intervals(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                               mpfr_srcptr a_low, mpfr_srcptr a_high, mpfr_srcptr b_low,
                               mpfr_srcptr b_high)
{
    take_corners(room, low, high, dti_multi.mpfr_mul, (mpfr_srcptr const[]){a_low, a_high},
                 (mpfr_srcptr const[]){b_low, b_high}, true);
}

bool dti_interval_divide(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                         mpfr_srcptr a_low, mpfr_srcptr a_high, mpfr_srcptr b_low,
                         mpfr_srcptr b_high)
{
    if (holds_zero(b_low, b_high))
        return false;
    take_corners(room, low, high, dti_multi.mpfr_div, (mpfr_srcptr const[]){a_low, a_high},
                 (mpfr_srcptr const[]){b_low, b_high}, false);
    return true;
}

/* 1/(1 + e^-x), increasing */
static void sigmoid_toward(struct dti_truth_arena *room, mpfr_ptr ret, mpfr_srcptr x,
                           mpfr_rnd_t round)
{
    const mpfr_rnd_t other = round == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
    mpfr_ptr const t = room->f[3];
    (void)dti_multi.mpfr_neg(t, x, other);
    (void)dti_multi.mpfr_exp(t, t, other);
    (void)dti_multi.mpfr_add_ui(t, t, 1, other);
    (void)dti_multi.mpfr_ui_div(ret, 1, t, round);
}

/* (1 + erf(x/sqrt(2)))/2 = erfc(-x/sqrt(2))/2, increasing */
static void normal_toward(struct dti_truth_arena *room, mpfr_ptr ret, mpfr_srcptr x,
                          mpfr_rnd_t round)
{
    const mpfr_rnd_t other = round == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
    mpfr_ptr const t = room->f[3], root = room->f[4];
    const bool positive = dti_multi.mpfr_sgn(x) < 0;
    dti_multi.mpfr_set_si_2exp(t, 1, -1, MPFR_RNDN);
    (void)dti_multi.mpfr_sqrt(root, t, positive == (other == MPFR_RNDU) ? MPFR_RNDU : MPFR_RNDD);
    (void)dti_multi.mpfr_neg(t, x, other);
    (void)dti_multi.mpfr_mul(t, t, root, other);
    (void)dti_multi.mpfr_erfc(t, t, round);
    (void)dti_multi.mpfr_div_2ui(ret, t, 1, round);
}

void dti_enclose_composed(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                          enum dti_calc_op op, mpfr_srcptr x_low, mpfr_srcptr x_high)
{
    mpfr_ptr const down = room->f[5], up = room->f[6];
    if (op == DTI_CALC_GELU) {
        normal_toward(room, down, x_low, MPFR_RNDD);
        normal_toward(room, up, x_high, MPFR_RNDU);
    } else {
        sigmoid_toward(room, down, x_low, MPFR_RNDD);
        sigmoid_toward(room, up, x_high, MPFR_RNDU);
    }
    if (op == DTI_CALC_SIGMOID) {
        dti_multi.mpfr_set(low, down, MPFR_RNDD);
        dti_multi.mpfr_set(high, up, MPFR_RNDU);
    } else {
        multiply_intervals(room, low, high, x_low, x_high, down, up);
    }
}

/* Whether x is outside a function's domain: DTI_TRUTH_UNDEFINED for the whole interval,
 * DTI_TRUTH_UNDECIDED for a part of it. */
static enum dti_truth_class outside_domain(const struct dti_real *x, enum dti_calc_op op)
{
    const long edge = op == DTI_CALC_LOG1P ? -1 : 0;
    switch (op) {
    case DTI_CALC_SQRT:
    case DTI_CALC_RSQRT:
    case DTI_CALC_LOG:
    case DTI_CALC_LOG2:
    case DTI_CALC_LOG1P:
        break;
    default:
        return DTI_TRUTH_INTERVAL;
    }
    const int low = dti_multi.mpfr_cmp_si_2exp(x->low, edge, 0);
    const int high = dti_multi.mpfr_cmp_si_2exp(x->high, edge, 0);
    if (high < 0)
        return DTI_TRUTH_UNDEFINED;
    return low > 0 || (low == 0 && op == DTI_CALC_SQRT) ? DTI_TRUTH_INTERVAL : DTI_TRUTH_UNDECIDED;
}

/* Whether an angle is so large that pi would be needed to too many bits. */
static bool is_far(mpfr_srcptr x)
{
    return dti_multi.mpfr_inf_p(x) ||
           (!dti_multi.mpfr_zero_p(x) && dti_multi.mpfr_get_exp(x) > DTI_ANGLE_EXPONENT);
}

/* An interval of one point needs the function once, correctly rounded; else false. */
static bool take_at_point(mpfr_ptr low, mpfr_ptr high, dti_mpfr_unary *function,
                          const struct dti_real *x)
{
    if (dti_multi.mpfr_cmp3(x->low, x->high, 1) != 0)
        return false;
    const int rounded = function(low, x->low, MPFR_RNDD);
    dti_multi.mpfr_set(high, low, MPFR_RNDU);
    if (rounded != 0)
        dti_multi.mpfr_nextabove(high);
    return true;
}

static void wave(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                 dti_mpfr_unary *function, const struct dti_real *x)
{
    mpfr_ptr const middle = room->f[0], radius = room->f[1], other = room->f[2];
    (void)dti_multi.mpfr_add(middle, x->low, x->high, MPFR_RNDN);
    (void)dti_multi.mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
    (void)dti_multi.mpfr_sub(radius, x->high, middle, MPFR_RNDU);
    (void)dti_multi.mpfr_sub(other, middle, x->low, MPFR_RNDU);
    (void)dti_multi.mpfr_max(radius, radius, other, MPFR_RNDU);
    (void)function(low, middle, MPFR_RNDD);
    (void)function(high, middle, MPFR_RNDU);
    (void)dti_multi.mpfr_sub(low, low, radius, MPFR_RNDD);
    (void)dti_multi.mpfr_add(high, high, radius, MPFR_RNDU);
    if (dti_multi.mpfr_cmp_si_2exp(low, -1, 0) < 0)
        dti_multi.mpfr_set_si_2exp(low, -1, 0, MPFR_RNDN);
    if (dti_multi.mpfr_cmp_si_2exp(high, 1, 0) > 0)
        dti_multi.mpfr_set_si_2exp(high, 1, 0, MPFR_RNDN);
}

static bool apply_trigonometric(struct dti_truth_arena *room, struct dti_real *ret,
                                enum dti_calc_op op, const struct dti_real *x)
{
    mpfr_ptr const low = ret->own_low, high = ret->own_high;
    dti_mpfr_unary *const function = dti_mpfr_function(op);
    if (is_far(x->low) || is_far(x->high))
        return false;
    if (take_at_point(low, high, function, x))
        return true;
    wave(room, low, high, op == DTI_CALC_TAN ? dti_multi.mpfr_cos : function, x);
    if (op != DTI_CALC_TAN)
        return true;
    if (holds_zero(low, high))
        return false;
    (void)function(low, x->low, MPFR_RNDD);
    (void)function(high, x->high, MPFR_RNDU);
    return true;
}

static void absolute(struct dti_real *ret, const struct dti_real *x)
{
    mpfr_ptr const low = ret->own_low, high = ret->own_high;
    if (dti_multi.mpfr_cmpabs(x->low, x->high) <= 0) {
        (void)dti_multi.mpfr_abs(low, x->low, MPFR_RNDD);
        (void)dti_multi.mpfr_abs(high, x->high, MPFR_RNDU);
    } else {
        (void)dti_multi.mpfr_abs(low, x->high, MPFR_RNDD);
        (void)dti_multi.mpfr_abs(high, x->low, MPFR_RNDU);
    }
    if (holds_zero(x->low, x->high))
        dti_multi.mpfr_set_si_2exp(low, 0, 0, MPFR_RNDN);
}

static bool raise_interval(struct dti_truth_arena *room, struct dti_real *ret,
                           const struct dti_real *x, int64_t power)
{
    mpfr_ptr const low = room->f[0], high = room->f[1];
    if (power < 0 && holds_zero(x->low, x->high))
        return false;
    if (power % 2 == 0) {
        absolute(ret, x);
        dti_multi.mpfr_set(low, ret->own_low, MPFR_RNDD);
        dti_multi.mpfr_set(high, ret->own_high, MPFR_RNDU);
    } else {
        dti_multi.mpfr_set(low, x->low, MPFR_RNDD);
        dti_multi.mpfr_set(high, x->high, MPFR_RNDU);
    }
    dti_integer_set(room->z[0], power);
    (void)dti_multi.mpfr_pow_z(ret->own_low, power < 0 ? high : low, room->z[0], MPFR_RNDD);
    (void)dti_multi.mpfr_pow_z(ret->own_high, power < 0 ? low : high, room->z[0], MPFR_RNDU);
    return true;
}

/* for floor(x) and the like: exact as soon as both ends agree */
static void settle_integer(struct dti_real *ret)
{
    if (dti_multi.mpfr_cmp3(ret->own_low, ret->own_high, 1) != 0 ||
        dti_multi.mpfr_inf_p(ret->own_low) ||
        dti_multi.mpfr_cmp_si_2exp(ret->own_low, 1, DTI_RATIONAL_BITS - 1) > 0 ||
        dti_multi.mpfr_cmp_si_2exp(ret->own_low, -1, DTI_RATIONAL_BITS - 1) < 0)
        return;
    (void)dti_multi.mpfr_get_z(mpq_numref(ret->own_q), ret->own_low, MPFR_RNDN);
    dti_multi.mpz_set_ui(mpq_denref(ret->own_q), 1);
    dti_real_own_rational(ret);
}

/* Evaluates both ends; false if it is not possible */
static bool apply_function(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                           const struct dti_real *x)
{
    mpfr_ptr const low = ret->own_low, high = ret->own_high;
    dti_mpfr_unary *const function = dti_mpfr_function(op);
    switch (op) {
    case DTI_CALC_RSQRT:
        (void)function(low, x->high, MPFR_RNDD);
        (void)function(high, x->low, MPFR_RNDU);
        return true;
    case DTI_CALC_SIN:
    case DTI_CALC_COS:
    case DTI_CALC_TAN:
        return apply_trigonometric(room, ret, op, x);
    case DTI_CALC_SIGMOID:
    case DTI_CALC_SILU:
    case DTI_CALC_GELU:
        dti_enclose_composed(room, low, high, op, x->low, x->high);
        return true;
    default:
        if (!function)
            return false;
        if (!take_at_point(low, high, function, x)) {
            (void)function(low, x->low, MPFR_RNDD);
            (void)function(high, x->high, MPFR_RNDU);
        }
        if (op == DTI_CALC_FLOOR || op == DTI_CALC_CEIL || op == DTI_CALC_ROUND)
            settle_integer(ret);
        return true;
    }
}

static bool apply_interval(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                           int64_t power, struct dti_real *const *operands)
{
    const struct dti_real *const x = operands[0], *const y = operands[1];
    mpfr_ptr const low = ret->own_low, high = ret->own_high;
    switch (op) {
    case DTI_CALC_ADD:
        (void)dti_multi.mpfr_add(low, x->low, y->low, MPFR_RNDD);
        (void)dti_multi.mpfr_add(high, x->high, y->high, MPFR_RNDU);
        return true;
    case DTI_CALC_SUBTRACT:
        (void)dti_multi.mpfr_sub(low, x->low, y->high, MPFR_RNDD);
        (void)dti_multi.mpfr_sub(high, x->high, y->low, MPFR_RNDU);
        return true;
    case DTI_CALC_MULTIPLY:
        multiply_intervals(room, low, high, x->low, x->high, y->low, y->high);
        return true;
    case DTI_CALC_DIVIDE:
        return dti_interval_divide(room, low, high, x->low, x->high, y->low, y->high);
    case DTI_CALC_NEGATE:
        (void)dti_multi.mpfr_neg(low, x->high, MPFR_RNDD);
        (void)dti_multi.mpfr_neg(high, x->low, MPFR_RNDU);
        return true;
    case DTI_CALC_POWER:
        return raise_interval(room, ret, x, power);
    case DTI_CALC_ABS:
        absolute(ret, x);
        return true;
    case DTI_CALC_MINIMUM:
        (void)dti_multi.mpfr_min(low, x->low, y->low, MPFR_RNDD);
        (void)dti_multi.mpfr_min(high, x->high, y->high, MPFR_RNDU);
        return true;
    case DTI_CALC_MAXIMUM:
        (void)dti_multi.mpfr_max(low, x->low, y->low, MPFR_RNDD);
        (void)dti_multi.mpfr_max(high, x->high, y->high, MPFR_RNDU);
        return true;
    case DTI_CALC_RELU:
        dti_multi.mpfr_set_si_2exp(room->f[0], 0, 0, MPFR_RNDN);
        (void)dti_multi.mpfr_max(low, x->low, room->f[0], MPFR_RNDD);
        (void)dti_multi.mpfr_max(high, x->high, room->f[0], MPFR_RNDU);
        return true;
    default:
        return apply_function(room, ret, op, x);
    }
}

void dti_interval_apply(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                        int64_t power, struct dti_real *const *operands)
{
    const enum dti_truth_class outside = outside_domain(operands[0], op);
    dti_real_own_interval(ret);
    if (outside != DTI_TRUTH_INTERVAL)
        dti_real_plain(ret, outside, false);
    else if (!apply_interval(room, ret, op, power, operands))
        dti_real_plain(ret, DTI_TRUTH_UNDECIDED, false);
}
