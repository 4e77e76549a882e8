/* SPDX-License-Identifier: MIT
 *
 * Operations on rationals whose result is rational, or known at once. Where a function of a
 * rational is rational is a theorem: Lindemann's for exp, log, sin and their relatives, unique
 * factorization for roots, exp2 and log2. erf and gelu are taken to be irrational but for 0; there
 * an interval is the answer, which is right in either case. */
#include "calc/truth_parts.h"

const char *dti_function_limits(enum dti_calc_op op)
{
    switch (op) {
    case DTI_CALC_SQRT:
        return "u0>";
    case DTI_CALC_RELU:
        return "00>";
    case DTI_CALC_RSQRT:
        return "u>0";
    case DTI_CALC_EXP:
    case DTI_CALC_EXP2:
        return "01>";
    case DTI_CALC_EXPM1:
        return "m0>";
    case DTI_CALC_LOG:
    case DTI_CALC_LOG2:
        return "u<>";
    case DTI_CALC_LOG1P:
        return "u0>";
    case DTI_CALC_SIN:
    case DTI_CALC_TAN:
        return "u0u";
    case DTI_CALC_COS:
        return "u1u";
    case DTI_CALC_TANH:
    case DTI_CALC_ERF:
        return "m01";
    case DTI_CALC_SIGMOID:
        return "0h1";
    case DTI_CALC_SILU:
    case DTI_CALC_GELU:
        return "00>";
    default:
        return NULL;
    }
}

void dti_real_limit(struct dti_real *ret, char limit)
{
    if (limit == 'u')
        dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
    else if (limit == '<' || limit == '>')
        dti_real_plain(ret, DTI_TRUTH_INFINITE, limit == '<');
    else
        dti_real_integer(ret, limit == 'm' ? -1 : limit != '0', limit == 'h' ? 2 : 1);
}

static size_t bits_of(mpz_srcptr z) /* z != 0 */
{
    return dti_multi.mpz_sizeinbase(z, 2);
}

static void power_of(mpq_ptr ret, mpq_srcptr x, unsigned long power)
{
    dti_multi.mpz_pow_ui(mpq_numref(ret), mpq_numref(x), power);
    dti_multi.mpz_pow_ui(mpq_denref(ret), mpq_denref(x), power);
}

static bool raise_rational(const struct dti_truth_room *room, struct dti_real *ret, mpq_srcptr x,
                           int64_t power)
{
    const uint64_t size = power < 0 ? UINT64_C(0) - (uint64_t)power : (uint64_t)power;
    if (power == 0) {
        dti_real_integer(ret, 1, 1);
    } else if (mpq_sgn(x) == 0 && power < 0) {
        dti_real_plain(ret, size % 2 ? DTI_TRUTH_UNDEFINED : DTI_TRUTH_INFINITE, false);
    } else if (mpq_sgn(x) == 0) {
        dti_real_integer(ret, 0, 1);
    } else if (bits_of(mpq_numref(x)) == 1 && dti_is_one(mpq_denref(x))) { /* 1, -1 */
        dti_real_integer(ret, mpq_sgn(x) < 0 && size % 2 ? -1 : 1, 1);
    } else {
        /* twice as long as it can be stored, since the estimate is up to that */
        const size_t most = 2 * room->rational_bits;
        if (size > most || bits_of(mpq_numref(x)) * size > most ||
            bits_of(mpq_denref(x)) * size > most)
            return false;
        power_of(ret->own_q, x, (unsigned long)size);
        if (power < 0)
            dti_multi.mpq_inv(ret->own_q, ret->own_q);
        dti_real_own_rational(ret);
    }
    return true;
}

/* To the next integer down or up, or the nearest one, ties to even. */
static void round_rational(struct dti_truth_room *room, struct dti_real *ret, enum dti_calc_op op,
                           mpq_srcptr x)
{
    mpz_ptr const whole = mpq_numref(ret->own_q);
    if (op == DTI_CALC_FLOOR) {
        dti_multi.mpz_fdiv_q(whole, mpq_numref(x), mpq_denref(x));
    } else if (op == DTI_CALC_CEIL) {
        dti_multi.mpz_cdiv_q(whole, mpq_numref(x), mpq_denref(x));
    } else {
        dti_multi.mpz_fdiv_qr(whole, room->z[0], mpq_numref(x), mpq_denref(x));
        dti_multi.mpz_mul_2exp(room->z[0], room->z[0], 1);
        const int half = dti_multi.mpz_cmp(room->z[0], mpq_denref(x));
        if (half > 0 || (half == 0 && mpz_odd_p(whole)))
            dti_multi.mpz_add_ui(whole, whole, 1);
    }
    dti_multi.mpz_set_ui(mpq_denref(ret->own_q), 1);
    dti_real_own_rational(ret);
}

static bool root_of(struct dti_real *ret, mpq_srcptr x, bool reciprocal)
{
    if (mpq_sgn(x) < 0) {
        dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
        return true;
    }
    if (!dti_multi.mpz_perfect_square_p(mpq_numref(x)) ||
        !dti_multi.mpz_perfect_square_p(mpq_denref(x)))
        return false;
    dti_multi.mpz_sqrt(mpq_numref(ret->own_q), mpq_numref(x));
    dti_multi.mpz_sqrt(mpq_denref(ret->own_q), mpq_denref(x));
    if (reciprocal)
        dti_multi.mpq_inv(ret->own_q, ret->own_q);
    dti_real_own_rational(ret);
    return true;
}

/* x = 2^k with any sign of k */
static bool is_power_of_two(mpq_srcptr x, long *ret_power)
{
    const size_t up = dti_multi.mpz_scan1(mpq_numref(x), 0);
    const size_t down = dti_multi.mpz_scan1(mpq_denref(x), 0);
    *ret_power = (long)up - (long)down;
    return bits_of(mpq_numref(x)) == up + 1 && bits_of(mpq_denref(x)) == down + 1;
}

static bool logarithm(struct dti_real *ret, mpq_srcptr x, enum dti_calc_op op)
{
    long power;
    if (mpq_sgn(x) < 0)
        dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
    else if (!is_power_of_two(x, &power) || (op == DTI_CALC_LOG && power != 0))
        return false;
    else
        dti_real_integer(ret, power, 1);
    return true;
}

static bool power_of_two(struct dti_real *ret, mpq_srcptr x)
{
    if (!dti_is_one(mpq_denref(x)) || bits_of(mpq_numref(x)) > 16)
        return false;
    const unsigned long size = mpq_numref(x)->_mp_d[0] & 0xFFFF;
    dti_real_integer(ret, 1, 1);
    dti_multi.mpz_mul_2exp(mpq_numref(ret->own_q), mpq_numref(ret->own_q), size);
    if (mpq_sgn(x) < 0)
        dti_multi.mpq_inv(ret->own_q, ret->own_q);
    return true;
}

/* log(1 + x) where it has no value, or no finite one */
static bool beyond_minus_one(struct dti_real *ret, mpq_srcptr x)
{
    dti_multi.mpq_set_si(ret->own_q, -1, 1);
    const int order = dti_multi.mpq_cmp(x, ret->own_q);
    if (order == 0)
        dti_real_plain(ret, DTI_TRUTH_INFINITE, true);
    else if (order < 0)
        dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
    return order <= 0;
}

static bool function_of(struct dti_real *ret, enum dti_calc_op op, mpq_srcptr x)
{
    const char *const limits = dti_function_limits(op);
    if (limits && mpq_sgn(x) == 0) {
        dti_real_limit(ret, limits[1]);
        return true;
    }
    switch (op) {
    case DTI_CALC_SQRT:
    case DTI_CALC_RSQRT:
        return root_of(ret, x, op == DTI_CALC_RSQRT);
    case DTI_CALC_EXP2:
        return power_of_two(ret, x);
    case DTI_CALC_LOG:
    case DTI_CALC_LOG2:
        return logarithm(ret, x, op);
    case DTI_CALC_LOG1P:
        return beyond_minus_one(ret, x);
    default:
        return false;
    }
}

static void set_rational(struct dti_real *ret, mpq_srcptr from)
{
    dti_multi.mpq_set(ret->own_q, from);
    dti_real_own_rational(ret);
}

bool dti_rational_apply(struct dti_truth_room *room, struct dti_real *ret, enum dti_calc_op op,
                        int64_t power, struct dti_real *const *operands)
{
    mpq_srcptr const x = operands[0]->q, y = operands[1]->q;
    switch (op) {
    case DTI_CALC_ADD:
        dti_multi.mpq_add(ret->own_q, x, y);
        break;
    case DTI_CALC_SUBTRACT:
        dti_multi.mpq_sub(ret->own_q, x, y);
        break;
    case DTI_CALC_MULTIPLY:
        dti_multi.mpq_mul(ret->own_q, x, y);
        break;
    case DTI_CALC_DIVIDE:
        if (mpq_sgn(y) == 0) {
            dti_real_plain(ret, DTI_TRUTH_UNDEFINED, false);
            return true;
        }
        dti_multi.mpq_div(ret->own_q, x, y);
        break;
    case DTI_CALC_NEGATE:
        dti_multi.mpq_neg(ret->own_q, x);
        break;
    case DTI_CALC_ABS:
        dti_multi.mpq_abs(ret->own_q, x);
        break;
    case DTI_CALC_MINIMUM:
    case DTI_CALC_MAXIMUM:
        set_rational(ret, (dti_multi.mpq_cmp(x, y) < 0) == (op == DTI_CALC_MINIMUM) ? x : y);
        return true;
    case DTI_CALC_RELU:
        if (mpq_sgn(x) < 0)
            dti_real_integer(ret, 0, 1);
        else
            set_rational(ret, x);
        return true;
    case DTI_CALC_FLOOR:
    case DTI_CALC_CEIL:
    case DTI_CALC_ROUND:
        round_rational(room, ret, op, x);
        return true;
    case DTI_CALC_POWER:
        return raise_rational(room, ret, x, power);
    default:
        return function_of(ret, op, x);
    }
    dti_real_own_rational(ret);
    return true;
}
