/* SPDX-License-Identifier: MIT
 *
 * Few digits and a small exponent of ten as a value: one product, or one division, which are exact.
 * Nearly all numbers go this way. */
#include "core/number_terms.h"
#include "core/wide.h"

/* floor((2^128 - 1) / d) - 2^64 of d = 5^k, shifted up until its top bit is set. */
static const uint64_t reciprocals[DTI_POW5_SMALL_MAX + 1] = {
    UINT64_C(0xFFFFFFFFFFFFFFFF), UINT64_C(0x9999999999999999), UINT64_C(0x47AE147AE147AE14),
    UINT64_C(0x0624DD2F1A9FBE76), UINT64_C(0xA36E2EB1C432CA57), UINT64_C(0x4F8B588E368F0846),
    UINT64_C(0x0C6F7A0B5ED8D36B), UINT64_C(0xAD7F29ABCAF48578), UINT64_C(0x5798EE2308C39DF9),
    UINT64_C(0x12E0BE826D694B2E), UINT64_C(0xB7CDFD9D7BDBAB7D), UINT64_C(0x5FD7FE17964955FD),
    UINT64_C(0x19799812DEA11197), UINT64_C(0xC25C268497681C26), UINT64_C(0x6849B86A12B9B01E),
    UINT64_C(0x203AF9EE756159B2), UINT64_C(0xCD2B297D889BC2B6), UINT64_C(0x70EF54646D496892),
    UINT64_C(0x2725DD1D243ABA0E), UINT64_C(0xD83C94FB6D2AC34A), UINT64_C(0x79CA10C9242235D5),
    UINT64_C(0x2E3B40A0E9B4F7DD), UINT64_C(0xE392010175EE5962), UINT64_C(0x82DB34012B25144E),
    UINT64_C(0x357C299A88EA76A5), UINT64_C(0xEF2D0F5DA7DD8AA2), UINT64_C(0x8C240C4AECB13BB5),
    UINT64_C(0x3CE9A36F23C0FC90),
};

/* dividend x 2^64 / divisor by the divisor's reciprocal, dividend < divisor: Moeller and Granlund,
 * "Improved division by invariant integers" (2011), algorithm 4 with a low word of 0. */
static uint64_t divide_by(uint64_t dividend, uint64_t divisor, uint64_t reciprocal,
                          uint64_t *ret_rest)
{
    uint64_t quotient;
    const uint64_t low = dti_wide_mul_add(reciprocal, dividend, 0, 0, &quotient);
    quotient += dividend + 1;
    uint64_t rest = 0 - quotient * divisor;
    if (rest > low) {
        quotient--;
        rest += divisor;
    }
    if (rest >= divisor) {
        quotient++;
        rest -= divisor;
    }
    *ret_rest = rest;
    return quotient;
}

bool dti_value_set_decimal(struct dti_value *ret_value, bool negative, uint64_t digits,
                           int64_t exponent)
{
    uint64_t high, low;
    if (exponent < -DTI_POW5_SMALL_MAX || exponent > DTI_POW5_SMALL_MAX)
        return false;
    if (exponent >= 0) {
        low = dti_wide_mul_add(digits, dti_pow5_small[exponent], 0, 0, &high);
        dti_value_set_wide(ret_value, negative, high, low, false, exponent);
        return true;
    }
    const uint64_t power = dti_pow5_small[-exponent];
    const unsigned digits_shift = dti_leading_zeros(digits);
    const unsigned power_shift = dti_leading_zeros(power);
    uint64_t dividend = digits << digits_shift;
    const uint64_t divisor = power << power_shift;
    int64_t scale = (int64_t)power_shift - (int64_t)digits_shift - 128 + exponent;
    const uint64_t whole = dividend >= divisor; /* both have their top bit set */
    dividend -= whole ? divisor : 0;
    uint64_t rest;
    high = divide_by(dividend, divisor, reciprocals[-exponent], &rest);
    low = divide_by(rest, divisor, reciprocals[-exponent], &rest);
    if (whole) { /* the bit that falls off is 0 unless there is a rest */
        low = low >> 1 | high << 63;
        high = high >> 1 | whole << 63;
        scale++;
    }
    dti_value_set_wide(ret_value, negative, high, low, rest != 0, scale);
    return true;
}
