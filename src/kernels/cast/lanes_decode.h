/* SPDX-License-Identifier: MIT
 *
 * Decodes one code of any format to fp32 or fp64 bits, exactly as dti_decode() reads it and
 * dti_encode() writes it: NaNs become quiet. The code is an integer significand k times 2^q;
 * converting k to floating point is exact and finds its leading one, and the rest is exponent
 * arithmetic on the bits. For subnormal results k is shifted into place. Nothing depends on the
 * rounding mode or on whether subnormals are flushed. */
#ifndef KERNELS_CAST_LANES_DECODE_H
#define KERNELS_CAST_LANES_DECODE_H

#include <string.h>

#include "kernels/lanes.h"

DTI_LANE uint32_t dti_lane_bits_f32(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

DTI_LANE uint64_t dti_lane_bits_f64(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

DTI_LANE double dti_lane_f64(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* An unsigned integer below 2^53, converted in two halves in the mantissas of 2^84 and 2^52:
 * this works in vector units without 64-bit conversions. */
DTI_LANE double dti_lane_u53_to_f64(uint64_t k)
{
    const double high = dti_lane_f64(UINT64_C(0x4530000000000000) | k >> 32);
    const double low = dti_lane_f64(UINT64_C(0x4330000000000000) | (k & UINT32_MAX));
    return (high - dti_lane_f64(UINT64_C(0x4530000000100000))) + low; /* minus 2^84 + 2^52 */
}

/* NaNs of IEEE-like formats keep sign and payload, those of FN formats only the sign. */
DTI_LANE bool dti_lane_nan_sign(const struct dti_decoder *d)
{
    return d->format.specials == DTI_SPECIALS_IEEE || d->format.specials == DTI_SPECIALS_FN;
}

/* A code of at most 32 bits as k x 2^q; k = 0 for zero. */
DTI_LANE uint32_t dti_lane_split32(const struct dti_decoder *d, uint32_t a, int32_t *ret_q)
{
    const uint32_t least = d->format.specials == DTI_SPECIALS_SCALE ? 0 : 1;
    const uint32_t field = dti_lane_max32(a >> d->man_bits, least);
    *ret_q = (int32_t)field - d->bias - (int32_t)d->man_bits;
    return a - ((field - 1) << d->man_bits);
}

/* The mantissa of a NaN in fp32, quiet. */
DTI_LANE uint32_t dti_lane_nan32(const struct dti_decoder *d, uint32_t a)
{
    const uint32_t mask = d->format.specials == DTI_SPECIALS_IEEE ? UINT32_C(0x3fffff) : 0;
    return UINT32_C(0x400000) | (a << (23 - d->man_bits) & mask);
}

DTI_LANE uint32_t dti_lane_decode_f32(const struct dti_decoder *d, uint32_t container)
{
    const uint32_t inf = UINT32_C(0x7f800000);
    const uint32_t code = container >> d->code_shift & (uint32_t)dti_low_bits(d->format.width);
    const uint32_t a = code & ~(uint32_t)d->sign_bit;
    const uint32_t sign = code != a ? UINT32_C(0x80000000) : 0;

    int32_t q;
    const uint32_t k = dti_lane_split32(d, a, &q);
    const uint32_t unscaled = dti_lane_bits_f32((float)(int32_t)k);
    const uint32_t subnormal = k << dti_lane_min32((uint32_t)(q + 149), 31);
    const uint32_t normal = unscaled + ((uint32_t)q << 23);
    uint32_t bits = (int32_t)(unscaled >> 23) + q >= 1 ? normal : subnormal;
    bits = k == 0 ? 0 : bits;

    const uint32_t nan_sign = dti_lane_nan_sign(d) ? sign : 0;
    bits = a > (uint32_t)d->max_magnitude ? inf | dti_lane_nan32(d, a) | nan_sign : bits | sign;
    bits = a == (uint32_t)d->inf && d->inf != 0 ? inf | sign : bits;
    return code == (uint32_t)d->nan && d->nan != 0 ? inf | UINT32_C(0x400000) : bits;
}

/* The same in fp64 in two steps, for formats of dti_format_fits_hub32(). The first, in 32-bit
 * lanes, gives a variant of fp32 with a ninth exponent bit instead of a sign, and exponents
 * increased by 160 so that nothing is subnormal; this is cheaper than fp32 itself. Zero is 2^q,
 * which is less than any other number k x 2^q. */
DTI_LANE uint32_t dti_lane_decode_wide(const struct dti_decoder *d, uint32_t container)
{
    const uint32_t code = container >> d->code_shift & (uint32_t)dti_low_bits(d->format.width);
    const uint32_t a = code & ~(uint32_t)d->sign_bit, inf = UINT32_C(511) << 23;
    int32_t q;
    const uint32_t k = dti_lane_split32(d, a, &q);
    uint32_t bits = dti_lane_bits_f32((float)(int32_t)k) + ((uint32_t)(q + 160) << 23);
    bits = a > (uint32_t)d->max_magnitude ? inf | dti_lane_nan32(d, a) : bits;
    bits = a == (uint32_t)d->inf && d->inf != 0 ? inf : bits;
    return code == (uint32_t)d->nan && d->nan != 0 ? inf | UINT32_C(0x400000) : bits;
}

/* The second step, in 64-bit lanes. container is only needed for the sign. */
DTI_LANE uint64_t dti_lane_finish_wide(const struct dti_decoder *d, uint32_t wide,
                                       uint32_t container)
{
    const uint64_t inf = UINT64_C(511) << 52, a = (uint64_t)wide << 29;
    const int32_t least_q = d->min_exponent - (int32_t)d->man_bits;
    const uint64_t least = (uint64_t)(least_q + 127 + 160) << 52;
    const uint32_t minus = container >> d->code_shift & (uint32_t)d->sign_bit;
    const uint64_t sign = minus != 0 ? UINT64_C(1) << 63 : 0;
    const uint64_t kept_sign = a <= inf || dti_lane_nan_sign(d) ? sign : 0;
    const uint64_t rebias = a >= inf ? 2047 - 511 : 1023 - 127 - 160;
    return a < least ? sign : kept_sign | (a + (rebias << 52));
}

DTI_LANE uint64_t dti_lane_decode_f64(const struct dti_decoder *d, uint64_t container)
{
    const uint64_t quiet = UINT64_C(0x7ff8000000000000);
    const uint64_t code = container >> d->code_shift & dti_low_bits(d->format.width);
    const uint64_t a = code & ~d->sign_bit;
    const uint64_t sign = (code & d->sign_bit) != 0 ? UINT64_C(1) << 63 : 0;
    const int64_t least = d->format.specials == DTI_SPECIALS_SCALE ? 0 : 1;

    const int64_t field = dti_lane_max64((int64_t)(a >> d->man_bits), least);
    const uint64_t k = a - ((uint64_t)(field - 1) << d->man_bits);
    const int64_t q = field - d->bias - (int64_t)d->man_bits;
    const uint64_t unscaled = dti_lane_bits_f64(dti_lane_u53_to_f64(k & dti_low_bits(53)));
    const uint64_t subnormal = k << dti_lane_min64(dti_lane_max64(q + 1074, 0), 63);
    const bool normal = (int64_t)(unscaled >> 52) + q >= 1 && k != 0;
    uint64_t bits = normal ? unscaled + ((uint64_t)q << 52) : subnormal;

    const uint64_t payload_mask = d->format.specials == DTI_SPECIALS_IEEE ? dti_low_bits(51) : 0;
    const uint64_t nan = quiet | (a << (52 - d->man_bits) & payload_mask);
    const uint64_t nan_sign = dti_lane_nan_sign(d) ? sign : 0;
    bits = sign | bits;
    bits = a > d->max_magnitude ? nan | nan_sign : bits;
    bits = a == d->inf && d->inf != 0 ? sign | UINT64_C(0x7ff) << 52 : bits;
    return code == d->nan && d->nan != 0 ? quiet : bits;
}

/* The value of an integer code; any nonzero bool is 1. */
DTI_LANE int64_t dti_lane_decode_i64(const struct dti_decoder *d, uint64_t container)
{
    const uint64_t code = container & dti_low_bits(d->format.width);
    const uint64_t number = (code ^ d->sign_bit) - d->sign_bit;
    return (int64_t)(d->format.kind == DTI_KIND_BOOL ? code != 0 : number);
}

#endif
