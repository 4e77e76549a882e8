/* SPDX-License-Identifier: MIT
 *
 * Numbers of MPFR as values, and back. */
#include "calc/truth_parts.h"

static const mpfr_prec_t VALUE_BITS = 128;

void dti_mpfr_room(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS])
{
    dti_multi.mpfr_custom_init_set(ret, MPFR_NAN_KIND, 0, VALUE_BITS, limbs);
}

void dti_mpfr_from_value(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS],
                         const struct dti_value *value)
{
    static const int kinds[] = {
        [DTI_CLASS_ZERO] = MPFR_ZERO_KIND,
        [DTI_CLASS_FINITE] = MPFR_REGULAR_KIND,
        [DTI_CLASS_INF] = MPFR_INF_KIND,
        [DTI_CLASS_NAN] = MPFR_NAN_KIND,
    };
    const int kind = kinds[value->class];
    for (unsigned i = 0; i < DTI_VALUE_LIMBS; i++) {
        const uint64_t word = i < DTI_VALUE_LIMBS / 2 ? value->lo : value->hi;
        limbs[i] = (mp_limb_t)(word >> (i * GMP_NUMB_BITS % 64));
    }
    dti_multi.mpfr_custom_init_set(ret, value->negative ? -kind : kind,
                                   (mpfr_exp_t)value->exponent + 1, VALUE_BITS, limbs);
}

void dti_mpfr_to_value(struct dti_value *ret, mpfr_srcptr x, bool sticky)
{
    const bool negative = dti_multi.mpfr_signbit(x) != 0;
    uint64_t words[2] = {0, 0};
    if (dti_multi.mpfr_nan_p(x)) {
        *ret = (struct dti_value){.class = DTI_CLASS_NAN, .hi = UINT64_C(1) << 63};
    } else if (dti_multi.mpfr_inf_p(x)) {
        *ret = (struct dti_value){.class = DTI_CLASS_INF, .negative = negative};
    } else if (dti_multi.mpfr_zero_p(x) && sticky) { /* less than MPFR has */
        dti_value_set_wide(ret, negative, 1, 0, true, -(INT64_C(1) << 40));
    } else if (dti_multi.mpfr_zero_p(x)) {
        *ret = (struct dti_value){.class = DTI_CLASS_ZERO, .negative = negative};
    } else {
        for (unsigned i = 0; i < DTI_VALUE_LIMBS; i++)
            words[i * GMP_NUMB_BITS / 64] |= (uint64_t)x->_mpfr_d[i] << (i * GMP_NUMB_BITS % 64);
        dti_value_set_wide(ret, negative, words[1], words[0], sticky,
                           (int64_t)dti_multi.mpfr_get_exp(x) - VALUE_BITS);
    }
}

bool dti_between_to_value(struct dti_value *ret, mpfr_srcptr near, mpfr_srcptr far)
{
    mp_limb_t limbs[DTI_VALUE_LIMBS];
    mpfr_t first;
    const bool negative = dti_multi.mpfr_signbit(far) != 0;
    const int64_t beyond = (int64_t)DTI_EXPONENT_LIMIT + 1;
    if (!dti_multi.mpfr_zero_p(near) && dti_multi.mpfr_get_exp(near) > beyond) {
        dti_value_set_wide(ret, negative, 1, 0, true, 2 * beyond);
        return true;
    }
    if (dti_multi.mpfr_inf_p(far))
        return false;
    if (dti_multi.mpfr_get_exp(far) < -beyond) {
        dti_value_set_wide(ret, negative, 1, 0, true, -2 * beyond);
        return true;
    }
    if (dti_multi.mpfr_zero_p(near))
        return false;
    dti_mpfr_room(first, limbs);
    (void)dti_multi.mpfr_set(first, near, MPFR_RNDZ);
    dti_mpfr_to_value(ret, first, true);
    if (negative)
        dti_multi.mpfr_nextbelow(first);
    else
        dti_multi.mpfr_nextabove(first);
    return dti_multi.mpfr_cmpabs(far, first) <= 0;
}
