/* SPDX-License-Identifier: MIT
 *
 * One operation on true values of all classes: who decides, and what infinities make. Numbers have
 * no minus zero here, so that 1 / 0 is undefined, and log(0), which has one limit, minus infinity.
 */
#include "calc/truth_parts.h"

/* -1, 0, 1; 2: an interval that holds zero has none. Infinities have theirs. */
static int sign_of(const struct dti_real *x)
{
    if (x->class == DTI_TRUTH_INFINITE)
        return x->negative ? -1 : 1;
    if (x->class == DTI_TRUTH_RATIONAL)
        return mpq_sgn(x->q);
    if (dti_multi.mpfr_sgn(x->low) > 0)
        return 1;
    if (dti_multi.mpfr_sgn(x->high) < 0)
        return -1;
    return dti_multi.mpfr_zero_p(x->low) && dti_multi.mpfr_zero_p(x->high) ? 0 : 2;
}

static bool is_infinite(const struct dti_real *x)
{
    return x->class == DTI_TRUTH_INFINITE;
}

static void set_infinite(struct dti_real *ret, int sign)
{
    if (sign == 0)
        dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
    else if (sign == 2)
        dti_real_plain(ret, DTI_TRUTH_UNDECIDED, false);
    else
        dti_real_plain(ret, DTI_TRUTH_INFINITE, sign < 0);
}

static int product_of_signs(int a, int b)
{
    return a == 0 || b == 0 ? 0 : a == 2 || b == 2 ? 2 : a * b;
}

static void copy_real(struct dti_real *ret, const struct dti_real *from)
{
    dti_real_plain(ret, from->class, from->negative);
    if (from->class == DTI_TRUTH_RATIONAL) {
        dti_multi.mpq_set(ret->own_q, from->q);
        dti_real_own_rational(ret);
    } else if (from->class == DTI_TRUTH_INTERVAL) {
        dti_multi.mpfr_set(ret->own_low, from->low, MPFR_RNDD);
        dti_multi.mpfr_set(ret->own_high, from->high, MPFR_RNDU);
        dti_real_own_interval(ret);
    }
}

static void infinite_sum(struct dti_real *ret, const struct dti_real *a, const struct dti_real *b,
                         bool subtract)
{
    const int sign_b = subtract ? -sign_of(b) : sign_of(b);
    if (is_infinite(a) && is_infinite(b) && sign_of(a) != sign_b)
        dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
    else
        set_infinite(ret, is_infinite(a) ? sign_of(a) : sign_b);
}

/* Operands are defined, and one of them is infinite. */
static void infinite_apply(struct dti_real *ret, enum dti_calc_op op, int64_t power,
                           struct dti_real *const *x)
{
    const int sign = sign_of(x[0]);
    switch (op) {
    case DTI_CALC_ADD:
    case DTI_CALC_SUBTRACT:
        infinite_sum(ret, x[0], x[1], op == DTI_CALC_SUBTRACT);
        return;
    case DTI_CALC_MULTIPLY:
        set_infinite(ret, product_of_signs(sign, sign_of(x[1])));
        return;
    case DTI_CALC_DIVIDE:
        if (is_infinite(x[1]) && is_infinite(x[0]))
            dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
        else if (is_infinite(x[1]))
            dti_real_integer(ret, 0, 1);
        else
            set_infinite(ret, product_of_signs(sign, sign_of(x[1])));
        return;
    case DTI_CALC_NEGATE:
        set_infinite(ret, -sign);
        return;
    case DTI_CALC_POWER:
        if (power < 0)
            dti_real_integer(ret, 0, 1);
        else
            set_infinite(ret, power % 2 ? sign : 1);
        return;
    case DTI_CALC_ABS:
        set_infinite(ret, 1);
        return;
    case DTI_CALC_MINIMUM:
    case DTI_CALC_MAXIMUM: {
        /* minus infinity is the smaller one of any two, infinity the larger one */
        const int wins = op == DTI_CALC_MINIMUM ? -1 : 1;
        const bool first = is_infinite(x[0]) ? sign == wins : sign_of(x[1]) != wins;
        copy_real(ret, first ? x[0] : x[1]);
        return;
    }
    case DTI_CALC_FLOOR:
    case DTI_CALC_CEIL:
    case DTI_CALC_ROUND:
        set_infinite(ret, sign);
        return;
    default:
        dti_real_limit(ret, dti_function_limits(op)[sign < 0 ? 0 : 2]);
        return;
    }
}

static unsigned arity_of(enum dti_calc_op op)
{
    return op == DTI_CALC_POWER ? 1 : dti_calc_op_get(op)->most;
}

/* A class that spreads: DTI_TRUTH_RATIONAL where there is none. */
static enum dti_truth_class worst_class(struct dti_real *const *operands, unsigned count)
{
    enum dti_truth_class worst = DTI_TRUTH_RATIONAL;
    for (unsigned k = 0; k < count; k++) {
        const enum dti_truth_class class = operands[k]->class;
        if (class == DTI_TRUTH_UNDEFINED)
            return class;
        if (class > worst)
            worst = class;
    }
    return worst;
}

/* What min and max can tell without looking at where in an interval the number is. */
static bool choose_apart(struct dti_real *ret, enum dti_calc_op op, struct dti_real *const *x)
{
    if (op != DTI_CALC_MINIMUM && op != DTI_CALC_MAXIMUM)
        return false;
    const bool below = dti_multi.mpfr_cmp3(x[0]->high, x[1]->low, 1) <= 0;
    const bool above = dti_multi.mpfr_cmp3(x[0]->low, x[1]->high, 1) >= 0;
    if (below || above)
        copy_real(ret, (op == DTI_CALC_MINIMUM) == below ? x[0] : x[1]);
    return below || above;
}

/* Zero times anything is zero, however little is known about that. */
static bool is_zero(const struct dti_real *x)
{
    return x->class == DTI_TRUTH_RATIONAL && mpq_sgn(x->q) == 0;
}

static bool zero_decides(struct dti_real *ret, enum dti_calc_op op, struct dti_real *const *x)
{
    if (!(op == DTI_CALC_MULTIPLY && (is_zero(x[0]) || is_zero(x[1]))) &&
        !(op == DTI_CALC_DIVIDE && is_zero(x[0]) && sign_of(x[1]) != 2 && !is_zero(x[1])))
        return false;
    dti_real_integer(ret, 0, 1);
    return true;
}

static void apply_one(struct dti_truth_room *room, struct dti_real *ret, enum dti_calc_op op,
                      int64_t power, struct dti_real *const *operands)
{
    const unsigned arity = arity_of(op);
    const enum dti_truth_class class = worst_class(operands, arity);
    if (op == DTI_CALC_POWER && power == 0)
        dti_real_integer(ret, 1, 1);
    else if (class == DTI_TRUTH_UNDEFINED || class == DTI_TRUTH_UNDECIDED)
        dti_real_plain(ret, class, false);
    else if (class == DTI_TRUTH_INFINITE)
        infinite_apply(ret, op, power, operands);
    else if (!(class == DTI_TRUTH_RATIONAL && dti_rational_apply(room, ret, op, power, operands)) &&
             !zero_decides(ret, op, operands)) {
        for (unsigned k = 0; k < arity; k++)
            dti_real_enclose(operands[k]);
        if (!choose_apart(ret, op, operands))
            dti_interval_apply(room, ret, op, power, operands);
    }
}

void dti_real_apply(struct dti_truth_room *room, struct dti_real *ret, enum dti_calc_op op,
                    int64_t power, struct dti_real *const *operands)
{
    if (op != DTI_CALC_FMA) {
        apply_one(room, ret, op, power, operands);
        return;
    }
    struct dti_real *const sum[] = {&room->product, operands[2]};
    apply_one(room, &room->product, DTI_CALC_MULTIPLY, 0, operands);
    apply_one(room, ret, DTI_CALC_ADD, 0, sum);
}
