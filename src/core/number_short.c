/* SPDX-License-Identifier: MIT
 *
 * Few digits and a small exponent of ten as a value: one product, or one division, which are exact.
 * Nearly all numbers go this way. */
#include "core/number_terms.h"
#include "core/wide.h"

/* floor(2^(127 + bits) / d) of d = 5^k, which has so many bits: high, low. */
static const uint64_t reciprocals[DTI_POW5_SMALL_MAX + 1][2] = {
    [1] = {UINT64_C(0xCCCCCCCCCCCCCCCC), UINT64_C(0xCCCCCCCCCCCCCCCC)},
    [2] = {UINT64_C(0xA3D70A3D70A3D70A), UINT64_C(0x3D70A3D70A3D70A3)},
    [3] = {UINT64_C(0x83126E978D4FDF3B), UINT64_C(0x645A1CAC083126E9)},
    [4] = {UINT64_C(0xD1B71758E219652B), UINT64_C(0xD3C36113404EA4A8)},
    [5] = {UINT64_C(0xA7C5AC471B478423), UINT64_C(0x0FCF80DC33721D53)},
    [6] = {UINT64_C(0x8637BD05AF6C69B5), UINT64_C(0xA63F9A49C2C1B10F)},
    [7] = {UINT64_C(0xD6BF94D5E57A42BC), UINT64_C(0x3D32907604691B4C)},
    [8] = {UINT64_C(0xABCC77118461CEFC), UINT64_C(0xFDC20D2B36BA7C3D)},
    [9] = {UINT64_C(0x89705F4136B4A597), UINT64_C(0x31680A88F8953030)},
    [10] = {UINT64_C(0xDBE6FECEBDEDD5BE), UINT64_C(0xB573440E5A884D1B)},
    [11] = {UINT64_C(0xAFEBFF0BCB24AAFE), UINT64_C(0xF78F69A51539D748)},
    [12] = {UINT64_C(0x8CBCCC096F5088CB), UINT64_C(0xF93F87B7442E45D3)},
    [13] = {UINT64_C(0xE12E13424BB40E13), UINT64_C(0x2865A5F206B06FB9)},
    [14] = {UINT64_C(0xB424DC35095CD80F), UINT64_C(0x538484C19EF38C94)},
    [15] = {UINT64_C(0x901D7CF73AB0ACD9), UINT64_C(0x0F9D37014BF60A10)},
    [16] = {UINT64_C(0xE69594BEC44DE15B), UINT64_C(0x4C2EBE687989A9B3)},
    [17] = {UINT64_C(0xB877AA3236A4B449), UINT64_C(0x09BEFEB9FAD487C2)},
    [18] = {UINT64_C(0x9392EE8E921D5D07), UINT64_C(0x3AFF322E62439FCF)},
    [19] = {UINT64_C(0xEC1E4A7DB69561A5), UINT64_C(0x2B31E9E3D06C32E5)},
    [20] = {UINT64_C(0xBCE5086492111AEA), UINT64_C(0x88F4BB1CA6BCF584)},
    [21] = {UINT64_C(0x971DA05074DA7BEE), UINT64_C(0xD3F6FC16EBCA5E03)},
    [22] = {UINT64_C(0xF1C90080BAF72CB1), UINT64_C(0x5324C68B12DD6338)},
    [23] = {UINT64_C(0xC16D9A0095928A27), UINT64_C(0x75B7053C0F178293)},
    [24] = {UINT64_C(0x9ABE14CD44753B52), UINT64_C(0xC4926A9672793542)},
    [25] = {UINT64_C(0xF79687AED3EEC551), UINT64_C(0x3A83DDBD83F52204)},
    [26] = {UINT64_C(0xC612062576589DDA), UINT64_C(0x95364AFE032A819D)},
    [27] = {UINT64_C(0x9E74D1B791E07E48), UINT64_C(0x775EA264CF55347D)},
};

/* digits / 5^power, power > 0. The quotient by the reciprocal is right or one too small, as what is
 * left, less than twice the divisor, tells. */
static void set_quotient(struct dti_value *ret, bool negative, uint64_t digits, unsigned power,
                         int64_t exponent)
{
    const uint64_t divisor = dti_pow5_small[power];
    const unsigned zeros = dti_leading_zeros(digits), bits = 64 - dti_leading_zeros(divisor);
    uint64_t high, low, carry;
    (void)dti_wide_mul_add(digits << zeros, reciprocals[power][1], 0, 0, &carry);
    low = dti_wide_mul_add(digits << zeros, reciprocals[power][0], carry, 0, &high);
    uint64_t rest = 0 - low * divisor; /* the dividend is a multiple of 2^64 */
    const uint64_t more = rest >= divisor;
    rest -= divisor & (0 - more);
    low += more;
    high += low < more;
    /* One more bit where the top one is clear. */
    const unsigned shift = 1 - (unsigned)(high >> 63);
    const uint64_t bit = 2 * rest >= divisor;
    high = high << shift | (low >> 63 & shift);
    low = low << shift | (bit & shift);
    ret->class = DTI_CLASS_FINITE;
    ret->negative = negative;
    ret->sticky = rest != 0;
    ret->exponent = (int32_t)(exponent + 64 - bits - zeros - shift);
    ret->hi = high;
    ret->lo = low;
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
    set_quotient(ret_value, negative, digits, (unsigned)-exponent, exponent);
    return true;
}
