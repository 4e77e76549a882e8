/* SPDX-License-Identifier: MIT
 *
 * One operation on true values of all classes: dispatch by class, and the rules for infinities.
 * Zero has no sign here, so 1 / 0 is undefined; log(0) has only one limit and is minus infinity.
 * Rationals come first, if the result is rational or known immediately. Theorems decide where a
 * function of a rational is rational: Lindemann's for exp, log, sin and related functions,
 * unique factorization for roots, exp2 and log2. erf and gelu are assumed to be irrational
 * except at 0; the interval used there is correct in either case. */
#include "calc/truth/truth_parts.h"

#include <assert.h>

/* Values of functions at minus infinity, zero and infinity: 'u' undefined, '<' and '>'
 * infinities, '0', '1', 'm' for -1, 'h' for 1/2. NULL for other operations. */
static const char *const function_limits[DTI_CALC_OP_COUNT] = {
    [DTI_CALC_SQRT] = "u0>", [DTI_CALC_RELU] = "00>", [DTI_CALC_RSQRT] = "u>0",
    [DTI_CALC_EXP] = "01>",  [DTI_CALC_EXP2] = "01>", [DTI_CALC_EXPM1] = "m0>",
    [DTI_CALC_LOG] = "u<>",  [DTI_CALC_LOG2] = "u<>", [DTI_CALC_LOG1P] = "u0>",
    [DTI_CALC_SIN] = "u0u",  [DTI_CALC_TAN] = "u0u",  [DTI_CALC_COS] = "u1u",
    [DTI_CALC_TANH] = "m01", [DTI_CALC_ERF] = "m01",  [DTI_CALC_SIGMOID] = "0h1",
    [DTI_CALC_SILU] = "00>", [DTI_CALC_GELU] = "00>",
};

static void set_limit(struct dti_real *ret, char limit)
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

static bool raise_rational(const struct dti_truth_arena *room, struct dti_real *ret, mpq_srcptr x,
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
        /* twice the storable length, because the estimate may be twice too high */
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

/* Rounds to an integer: down, up, or to nearest with ties to even. */
static void round_rational(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
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

/* x = 2^k for an integer k */
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

/* handles log(1 + x) where it is undefined or infinite */
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
    if (function_limits[op] && mpq_sgn(x) == 0) {
        set_limit(ret, function_limits[op][1]);
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

/* Applies an operation to rationals if the result is rational, infinite or undefined; else
 * false. */
static bool apply_to_rationals(struct dti_truth_arena *room, struct dti_real *ret,
                               enum dti_calc_op op, int64_t power, struct dti_real *const *operands)
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

/* -1, 0 or 1; 2: the interval contains zero. Infinities have a sign. */
static int sign_of(const struct dti_real *x)
{
    if (x->kind == DTI_TRUTH_INFINITE)
        return x->negative ? -1 : 1;
    if (x->kind == DTI_TRUTH_RATIONAL)
        return mpq_sgn(x->q);
    if (dti_multi.mpfr_sgn(x->low) > 0)
        return 1;
    if (dti_multi.mpfr_sgn(x->high) < 0)
        return -1;
    return dti_multi.mpfr_zero_p(x->low) && dti_multi.mpfr_zero_p(x->high) ? 0 : 2;
}

static bool is_infinite(const struct dti_real *x)
{
    return x->kind == DTI_TRUTH_INFINITE;
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
    dti_real_plain(ret, from->kind, from->negative);
    if (from->kind == DTI_TRUTH_RATIONAL) {
        dti_multi.mpq_set(ret->own_q, from->q);
        dti_real_own_rational(ret);
    } else if (from->kind == DTI_TRUTH_INTERVAL) {
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

/* The operands are defined, and at least one is infinite. */
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
        /* minus infinity is the minimum of any two, infinity the maximum */
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
        set_limit(ret, function_limits[op][sign < 0 ? 0 : 2]);
        return;
    }
}

/* The second operand of POWER is a literal. */
static unsigned arity_of(enum dti_calc_op op)
{
    const unsigned most = dti_calc_op_get(op)->most;
    assert(most <= (op == DTI_CALC_ADD || op == DTI_CALC_MULTIPLY ? 2U : 3U)); /* of arrays below */
    return op == DTI_CALC_POWER ? 1 : most;
}

/* The class that dominates: UNDEFINED if there is one, else the highest, at least
 * DTI_TRUTH_RATIONAL. */
static enum dti_truth_class worst_class(struct dti_real *const *operands, unsigned count)
{
    enum dti_truth_class worst = DTI_TRUTH_RATIONAL;
    for (unsigned k = 0; k < count; k++) {
        const enum dti_truth_class class = operands[k]->kind;
        if (class == DTI_TRUTH_UNDEFINED)
            return class;
        if (class > worst)
            worst = class;
    }
    return worst;
}

/* Decides min and max if the operands' intervals do not overlap. */
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

/* Zero times anything is zero, no matter how little is known about it. */
static bool is_zero(const struct dti_real *x)
{
    return x->kind == DTI_TRUTH_RATIONAL && mpq_sgn(x->q) == 0;
}

static bool zero_decides(struct dti_real *ret, enum dti_calc_op op, struct dti_real *const *x)
{
    if (!(op == DTI_CALC_MULTIPLY && (is_zero(x[0]) || is_zero(x[1]))) &&
        !(op == DTI_CALC_DIVIDE && is_zero(x[0]) && sign_of(x[1]) != 2 && !is_zero(x[1])))
        return false;
    dti_real_integer(ret, 0, 1);
    return true;
}

static void apply_one(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
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
    else if (!(class == DTI_TRUTH_RATIONAL && apply_to_rationals(room, ret, op, power, operands)) &&
             !zero_decides(ret, op, operands)) {
        for (unsigned k = 0; k < arity; k++)
            dti_real_enclose(operands[k]);
        if (!choose_apart(ret, op, operands))
            dti_interval_apply(room, ret, op, power, operands);
    }
}

void dti_real_apply(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
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

void dti_truth_apply(struct dti_calc_truth_list *ret, size_t i, enum dti_calc_op op, int64_t power,
                     const struct dti_truth_operand *operands)
{
    struct dti_truth_arena *const room = &ret->room;
    struct dti_real *const reals[] = {&room->operand[0], &room->operand[1], &room->operand[2]};
    if (ret->failed) /* stop calling libraries that cannot report failure */
        return;
    for (unsigned k = 0; k < arity_of(op); k++)
        dti_real_load(reals[k], operands[k].list, operands[k].index);
    dti_real_apply(room, &room->result, op, power, reals);
    dti_real_store(ret, i, &room->result);
}

/* Sums. While all terms are dyadic, like the numbers of a dtype, they are added as integers with
 * a common power of two, which avoids greatest common divisors. */
struct place {
    const struct dti_calc_truth_list *list;
    size_t index, step;
};

/* room->z[0] x 2^*exponent += the number, or the product of two */
static void add_dyadic(struct dti_truth_arena *room, int64_t *exponent,
                       const struct dti_truth_element *a, const struct dti_truth_element *b)
{
    mpz_ptr const sum = room->z[0], term = room->z[1], factor = room->z[2];
    int64_t scale = a->exponent;
    bool negative = a->negative;
    dti_multi.mpz_import(term, 1, -1, sizeof a->as.significand, 0, 0, &a->as.significand);
    if (b) {
        dti_multi.mpz_import(factor, 1, -1, sizeof b->as.significand, 0, 0, &b->as.significand);
        dti_multi.mpz_mul(term, term, factor);
        scale += b->exponent;
        negative ^= b->negative;
    }
    if (term->_mp_size == 0)
        return;
    if (sum->_mp_size == 0)
        *exponent = scale;
    if (scale > *exponent) {
        dti_multi.mpz_mul_2exp(term, term, (mp_bitcnt_t)(scale - *exponent));
    } else if (scale < *exponent) {
        dti_multi.mpz_mul_2exp(sum, sum, (mp_bitcnt_t)(*exponent - scale));
        *exponent = scale;
    }
    if (negative)
        dti_multi.mpz_sub(sum, sum, term);
    else
        dti_multi.mpz_add(sum, sum, term);
}

static const struct dti_truth_element *next(struct place *place)
{
    const struct dti_truth_element *const element = &place->list->elements[place->index];
    place->index += place->step;
    return element;
}

/* Adds terms while they are dyadic; returns the number of terms left. */
static size_t sum_dyadic(struct dti_truth_arena *room, struct dti_real *ret, struct place *a,
                         struct place *b, size_t count)
{
    int64_t exponent = 0;
    dti_multi.mpz_set_ui(room->z[0], 0);
    for (; count > 0; count--) {
        struct place next_a = *a, next_b = *b;
        const struct dti_truth_element *const x = next(&next_a);
        const struct dti_truth_element *const y = b->list ? next(&next_b) : NULL;
        if (x->kind != DTI_TRUTH_DYADIC || (y && y->kind != DTI_TRUTH_DYADIC))
            break;
        add_dyadic(room, &exponent, x, y);
        *a = next_a;
        *b = next_b;
    }
    dti_real_integer(ret, 0, 1);
    dti_multi.mpz_set(mpq_numref(ret->own_q), room->z[0]);
    mpz_ptr const scaled = exponent < 0 ? mpq_denref(ret->own_q) : mpq_numref(ret->own_q);
    dti_multi.mpz_mul_2exp(scaled, scaled, (mp_bitcnt_t)(exponent < 0 ? -exponent : exponent));
    dti_multi.mpq_canonicalize(ret->own_q);
    return count;
}

void dti_truth_sum(struct dti_calc_truth_list *ret, size_t i, const struct dti_calc_truth_list *a,
                   size_t a_first, size_t a_step, const struct dti_calc_truth_list *b,
                   size_t b_first, size_t b_step, size_t count)
{
    struct dti_truth_arena *const room = &ret->room;
    struct place place_a = {a, a_first, a_step}, place_b = {b, b_first, b_step};
    struct dti_real *total = &room->total, *other = &room->result;
    const size_t bits = dti_rational_bits(count);
    if (ret->failed)
        return;
    count = sum_dyadic(room, total, &place_a, &place_b, count);
    for (; count > 0; count--) {
        struct dti_real *term = &room->operand[0];
        dti_real_load(&room->operand[0], a, place_a.index);
        (void)next(&place_a);
        if (b) {
            struct dti_real *const factors[] = {&room->operand[0], &room->operand[1]};
            dti_real_load(&room->operand[1], b, place_b.index);
            (void)next(&place_b);
            dti_real_apply(room, &room->product, DTI_CALC_MULTIPLY, 0, factors);
            term = &room->product;
        }
        struct dti_real *const terms[] = {total, term};
        dti_real_shorten(total, bits);
        dti_real_apply(room, other, DTI_CALC_ADD, 0, terms);
        struct dti_real *const sum = other;
        other = total;
        total = sum;
    }
    dti_real_store(ret, i, total);
}
