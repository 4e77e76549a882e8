/* SPDX-License-Identifier: MIT
 *
 * Division of long numbers, digit by digit (Knuth, The Art of Computer Programming 2, 4.3.1,
 * algorithm D): fast when the quotient or the divisor is short, which is all that parsing and
 * rounding need. */
#include <string.h>

#include "core/bignum.h"
#include "core/wide.h"

/* dst[count + 1] = src[count] << shift, shift < 64. */
static void shifted(uint64_t *dst, const uint64_t *src, size_t count, unsigned shift)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        dst[i] = src[i] << shift | carry;
        carry = shift ? src[i] >> (64 - shift) : 0;
    }
    dst[count] = carry;
}

/* One limb of the quotient: (u2:u1:u0) / (v1:v0) for u2:u1 <= v1:v0 with v1's top bit set; at most
 * one too large for the whole numbers. */
static uint64_t estimate(uint64_t u2, uint64_t u1, uint64_t u0, uint64_t v1, uint64_t v0)
{
    uint64_t quotient, remainder;
    if (u2 >= v1) {
        quotient = UINT64_MAX;
        remainder = u1 + v1;
        if (remainder < v1)
            return quotient;
    } else {
        quotient = dti_wide_div(u2, u1, v1, &remainder);
    }
    for (;;) {
        uint64_t high;
        const uint64_t low = dti_wide_mul_add(quotient, v0, 0, 0, &high);
        if (high < remainder || (high == remainder && low <= u0))
            return quotient;
        quotient--;
        remainder += v1;
        if (remainder < v1)
            return quotient;
    }
}

/* u[u_count + 1] is divided by v[v_count], v_count >= 2, v's top bit set and u's top limb
 * (u[u_count]) less than v's: u becomes the remainder, quotient[u_count - v_count + 1] may be NULL.
 */
static void divide_limbs(uint64_t *quotient, uint64_t *u, size_t u_count, const uint64_t *v,
                         size_t v_count)
{
    const uint64_t v1 = v[v_count - 1], v0 = v[v_count - 2];
    for (size_t j = u_count - v_count + 1; j-- > 0;) {
        uint64_t *const top = u + j + v_count;
        uint64_t digit = estimate(top[0], top[-1], top[-2], v1, v0);
        uint64_t carry = 0;
        unsigned borrow = 0;
        for (size_t i = 0; i < v_count; i++) {
            const uint64_t low = dti_wide_mul_add(digit, v[i], carry, 0, &carry);
            borrow = dti_wide_sub(&u[i + j], low, borrow);
        }
        borrow = dti_wide_sub(top, carry, borrow);
        if (borrow) {
            unsigned back = 0;
            digit--;
            for (size_t i = 0; i < v_count; i++)
                back = dti_wide_add(&u[i + j], v[i], back);
            *top += back;
        }
        if (quotient)
            quotient[j] = digit;
    }
}

void dti_big_divide(struct dti_big *ret_quotient, struct dti_big *ret_remainder,
                    const struct dti_big *a, const struct dti_big *b)
{
    struct dti_big quotient, remainder, divisor;
    dti_big_init(&quotient);
    dti_big_init(&remainder);
    dti_big_init(&divisor);
    if (a->failed || b->failed) {
        dti_big_fail(&quotient);
        dti_big_fail(&remainder);
    } else if (dti_big_compare(a, b) < 0) {
        dti_big_copy(&remainder, a);
    } else if (b->count == 1) {
        dti_big_copy(&quotient, a);
        dti_big_set(&remainder, dti_big_div_small(&quotient, b->limb[0]));
        remainder.failed = quotient.failed;
    } else if (dti_big_reserve(&remainder, a->count + 1) &&
               dti_big_reserve(&divisor, b->count + 1) &&
               dti_big_reserve(&quotient, a->count - b->count + 1)) {
        const unsigned shift = dti_leading_zeros(b->limb[b->count - 1]);
        shifted(remainder.limb, a->limb, a->count, shift);
        shifted(divisor.limb, b->limb, b->count, shift);
        divide_limbs(quotient.limb, remainder.limb, a->count, divisor.limb, b->count);
        quotient.count = a->count - b->count + 1;
        remainder.count = b->count;
        dti_big_trim(&quotient);
        dti_big_trim(&remainder);
        (void)dti_big_shift_right(&remainder, shift);
    } else {
        dti_big_fail(&quotient);
        dti_big_fail(&remainder);
    }
    dti_big_move(ret_quotient, &quotient);
    dti_big_move(ret_remainder, &remainder);
    dti_big_free(&divisor);
}

/* The top 128 bits of a number of at least one limb, times 2^*ret_exponent; true when ones are left
 * below. */
static bool leading_bits(const struct dti_big *b, uint64_t *ret_high, uint64_t *ret_low,
                         int64_t *ret_exponent)
{
    const size_t count = b->count;
    const unsigned shift = dti_leading_zeros(b->limb[count - 1]);
    uint64_t window[3] = {0, 0, 0}; /* from the top */
    for (size_t i = 0; i < 3 && i < count; i++)
        window[i] = b->limb[count - 1 - i];
    *ret_high = shift ? window[0] << shift | window[1] >> (64 - shift) : window[0];
    *ret_low = shift ? window[1] << shift | window[2] >> (64 - shift) : window[1];
    *ret_exponent = (int64_t)dti_big_bits(b) - 128;
    uint64_t below = window[2] << shift;
    for (size_t i = 3; i < count && !below; i++)
        below = b->limb[count - 1 - i];
    return below != 0;
}

bool dti_big_ratio(struct dti_value *ret_value, bool negative, const struct dti_big *num,
                   const struct dti_big *den, int64_t exponent)
{
    if (num->failed || den->failed)
        return false;
    if (num->count == 0) {
        *ret_value = (struct dti_value){.class = DTI_CLASS_ZERO, .negative = negative};
        return true;
    }
    uint64_t high, low;
    int64_t shifted_by;
    if (den->count == 1 && den->limb[0] == 1) {
        const bool sticky = leading_bits(num, &high, &low, &shifted_by);
        dti_value_set_wide(ret_value, negative, high, low, sticky, exponent + shifted_by);
        return true;
    }

    /* num is brought to 128 bits more than den, so that the quotient has 128 or 129. One limb more
     * makes even a den of one limb two limbs long. */
    const size_t num_bits = dti_big_bits(num), den_bits = dti_big_bits(den);
    struct dti_big u, v;
    bool sticky = false;
    dti_big_init(&u);
    dti_big_init(&v);
    dti_big_copy(&u, num);
    dti_big_copy(&v, den);
    unsigned normalise = (unsigned)((64 - den_bits % 64) % 64);
    if (den->count == 1)
        normalise += 64;
    dti_big_shift_left(&v, normalise);
    const size_t u_bits = den_bits + normalise + 128;
    if (u_bits >= num_bits)
        dti_big_shift_left(&u, u_bits - num_bits);
    else
        sticky = dti_big_shift_right(&u, num_bits - u_bits);
    bool ok = !v.failed && dti_big_reserve(&u, u.count + 1);
    if (ok) {
        uint64_t quotient[3] = {0, 0, 0};
        u.limb[u.count] = 0;
        divide_limbs(quotient, u.limb, u.count, v.limb, v.count);
        for (size_t i = 0; i < v.count && !sticky; i++)
            sticky = u.limb[i] != 0;
        /* u / v x 2^(num_bits - den_bits - 128) */
        int64_t scale = (int64_t)num_bits - (int64_t)den_bits - 128 + exponent;
        if (quotient[2]) {
            sticky |= quotient[0] & 1;
            quotient[0] = quotient[0] >> 1 | quotient[1] << 63;
            quotient[1] = quotient[1] >> 1 | quotient[2] << 63;
            scale++;
        }
        dti_value_set_wide(ret_value, negative, quotient[1], quotient[0], sticky, scale);
    }
    dti_big_free(&u);
    dti_big_free(&v);
    return ok;
}
