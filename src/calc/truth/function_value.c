/* SPDX-License-Identifier: MIT
 *
 * A function of one number to 128 bits and a sticky bit. MPFR rounds its own functions correctly
 * and reports whether a result is exact. Compositions of them (sigmoid, silu, gelu) are enclosed
 * with increasing precision (Ziv's method) until all numbers between the bounds share the same
 * 128 bits. A nonzero argument never gives an exact result, so this terminates.
 *
 * Infinities: sigmoid(-inf) is 0; silu(-inf) and gelu(-inf) are -0, their limits (torch
 * multiplies infinity by zero and returns NaN for these two in most dtypes). */
#include "calc/truth/truth_parts.h"

#include "core/code/arith.h"

enum { FIRST_BITS = 160, MOST_BITS = 1 << 16 };

static const struct dti_value invalid = {.kind = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};

static void set_zero(struct dti_value *ret, bool negative)
{
    *ret = (struct dti_value){.kind = DTI_CLASS_ZERO, .negative = negative};
}

static int compute(mpfr_ptr ret, enum dti_calc_op op, int64_t power, mpfr_srcptr x)
{
    mpz_t z;
    if (op != DTI_CALC_POWER)
        return dti_mpfr_function(op)(ret, x, MPFR_RNDZ);
    dti_multi.mpz_init(z);
    dti_integer_set(z, power);
    const int rounded = dti_multi.mpfr_pow_z(ret, x, z, MPFR_RNDZ);
    dti_multi.mpz_clear(z);
    return rounded;
}

static unsigned directly(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                         const struct dti_value *from)
{
    mp_limb_t limbs[2][DTI_VALUE_LIMBS];
    mpfr_t x, result;
    dti_mpfr_from_value(x, limbs[0], from);
    dti_mpfr_arena(result, limbs[1]);
    dti_multi.mpfr_clear_flags();
    const bool inexact = compute(result, op, power, x) != 0;
    const unsigned flags = (dti_multi.mpfr_nanflag_p() ? DTI_ARITH_INVALID : 0u) |
                           (dti_multi.mpfr_divby0_p() ? DTI_ARITH_DIVIDE_BY_ZERO : 0u);
    dti_mpfr_to_value(ret, result, inexact);
    return flags;
}

/* Compositions at zeros and infinities. */
static void composed_special(struct dti_value *ret, enum dti_calc_op op,
                             const struct dti_value *from)
{
    const bool infinite = from->kind == DTI_CLASS_INF, negative = from->negative;
    if (op == DTI_CALC_SIGMOID) {
        if (infinite && negative)
            set_zero(ret, false);
        else
            dti_value_set(ret, false, 1, infinite ? 0 : -1);
    } else if (infinite && negative) {
        set_zero(ret, true);
    } else {
        *ret = *from;
    }
}

static void composed(struct dti_value *ret, enum dti_calc_op op, const struct dti_value *from)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t x;
    bool decided = false;
    dti_mpfr_from_value(x, limbs, from);
    for (unsigned bits = FIRST_BITS; !decided && bits <= MOST_BITS; bits *= 2) {
        struct dti_truth_arena room;
        dti_arena_init(&room, bits, DTI_RATIONAL_BITS);
        mpfr_ptr const low = room.result.own_low, high = room.result.own_high;
        dti_enclose_composed(&room, low, high, op, x, x);
        decided = dti_multi.mpfr_sgn(high) > 0 ? dti_between_to_value(ret, low, high)
                                               : dti_between_to_value(ret, high, low);
        dti_arena_free(&room);
    }
}

unsigned dti_function_value(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                            const struct dti_value *x)
{
    if (op == DTI_CALC_POWER && power == 0) {
        dti_value_set(ret, false, 1, 0);
        return 0;
    }
    if (x->kind == DTI_CLASS_NAN) {
        *ret = *x;
        return 0;
    }
    if (op == DTI_CALC_RSQRT && x->kind == DTI_CLASS_ZERO) { /* IEEE 754-2019 9.2.1; MPFR does not
                                                              * return -inf here */
        *ret = (struct dti_value){.kind = DTI_CLASS_INF, .negative = x->negative};
        return DTI_ARITH_DIVIDE_BY_ZERO;
    }
    if (op == DTI_CALC_SIGMOID || op == DTI_CALC_SILU || op == DTI_CALC_GELU) {
        if (x->kind == DTI_CLASS_FINITE)
            composed(ret, op, x);
        else
            composed_special(ret, op, x);
        return 0;
    }
    const unsigned flags = directly(ret, op, power, x);
    if (flags & DTI_ARITH_INVALID)
        *ret = invalid;
    return flags;
}
