/* SPDX-License-Identifier: MIT
 *
 * One operation on numbers: which function of arith.h or truth.h an operator is. */
#include "calc/evaluate.h"
#include "core/wide.h"

/* x^power where no product needs more than 128 bits, so that nothing but arith.h is asked. False:
 * it does not fit. */
static bool small_power(struct dti_value *ret, int64_t power, const struct dti_value *x,
                        unsigned *ret_arith)
{
    const int64_t times = power < 0 ? -power : power;
    const unsigned bits = x->class == DTI_CLASS_FINITE ? 64 - dti_trailing_zeros(x->hi) : 1;
    struct dti_value one, product;
    dti_value_set(&one, false, 1, 0);
    /* a divisor may have 64 bits; what is only rounded 128, of which the last factor makes one */
    if (times > 64 || (times > 1 && bits * (uint64_t)(times - (power > 0)) > 64))
        return false; /* as dti_calc_needs_library() has it for all numbers of a format */
    product = one;
    *ret_arith = 0;
    for (int64_t i = 0; i < times; i++)
        *ret_arith |= i == 0 ? (product = *x, 0u) : dti_value_multiply(&product, &product, x);
    if (power < 0)
        *ret_arith |= dti_value_divide(&product, &one, &product);
    *ret = product;
    return true;
}

bool dti_calc_needs_library(enum dti_calc_op op, int64_t power, const struct dti_format *format)
{
    const int64_t times = power < 0 ? -power : power;
    const int64_t bits = dti_format_is_float(format) ? format->man_bits + 1 : format->width;
    if (op == DTI_CALC_POWER)
        return times > 64 || (times > 1 && bits * (times - (power > 0)) > 64);
    return dti_calc_op_kind(op) == DTI_CALC_KIND_FUNCTION;
}

unsigned dti_calc_operate(const struct dti_calc_recorder *recorder, enum dti_calc_op op,
                          int64_t power, const struct dti_value *x, struct dti_value *ret)
{
    const enum dti_round round = recorder->policy.round;
    const struct dti_value zero = {.class = DTI_CLASS_ZERO};
    unsigned arith;
    switch (op) {
    case DTI_CALC_ADD:
        return dti_value_add(ret, &x[0], &x[1], round);
    case DTI_CALC_SUBTRACT:
        return dti_value_subtract(ret, &x[0], &x[1], round);
    case DTI_CALC_MULTIPLY:
        return dti_value_multiply(ret, &x[0], &x[1]);
    case DTI_CALC_DIVIDE:
        return dti_value_divide(ret, &x[0], &x[1]);
    case DTI_CALC_SQRT:
        return dti_value_sqrt(ret, &x[0]);
    case DTI_CALC_FMA:
        return dti_value_fma(ret, &x[0], &x[1], &x[2], round);
    case DTI_CALC_NEGATE:
    case DTI_CALC_ABS:
        *ret = x[0];
        ret->negative = op == DTI_CALC_NEGATE && !x[0].negative;
        return 0;
    case DTI_CALC_MINIMUM:
        dti_value_minimum(ret, &x[0], &x[1]);
        return 0;
    case DTI_CALC_MAXIMUM:
        dti_value_maximum(ret, &x[0], &x[1]);
        return 0;
    case DTI_CALC_RELU:
        dti_value_maximum(ret, &x[0], &zero);
        return 0;
    case DTI_CALC_FLOOR:
        dti_value_round_integral(ret, &x[0], DTI_ROUND_DOWN);
        return 0;
    case DTI_CALC_CEIL:
        dti_value_round_integral(ret, &x[0], DTI_ROUND_UP);
        return 0;
    case DTI_CALC_ROUND:
        dti_value_round_integral(ret, &x[0], DTI_ROUND_NEAREST_EVEN);
        return 0;
    case DTI_CALC_POWER:
        if (small_power(ret, power, &x[0], &arith))
            return arith;
        /* fallthrough */
    default:
        return dti_function_value(ret, op, power, &x[0]);
    }
}
