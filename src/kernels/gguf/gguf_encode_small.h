/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF blocks whose scale comes from the largest number, the range, or the mean. */
#ifndef KERNELS_GGUF_GGUF_ENCODE_SMALL_H
#define KERNELS_GGUF_GGUF_ENCODE_SMALL_H

#include "kernels/gguf/gguf_encode.h"

DTI_LANE void gguf_put_q8_0(unsigned char *restrict to, const unsigned char *restrict x)
{
    const float scale = gguf_largest_magnitude(x, 32) / 127, inverse = gguf_inverse(scale);
    gguf_put_half(to, scale);
    for (unsigned i = 0; i < 32; i++)
        to[2 + i] = (unsigned char)gguf_round(gguf_at(x, i) * inverse);
}

/* quantize_row_q8_0_ref() */
DTI_LANE void q8_0_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
#ifdef GGUF_SEARCHES
    if (DTI_LANES_NAME(dti_gguf_q8_0)(to, x, count))
        return;
#endif
    for (size_t b = 0; b < count; b++)
        gguf_put_q8_0(to + 34 * b, x + 128 * b);
}

/* The first number with the largest magnitude; 0 if all are zeros. */
DTI_LANE float gguf_first_of_block(const unsigned char *x, unsigned n)
{
    const int32_t most = gguf_bits(gguf_largest_magnitude(x, n));
    uint32_t first = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = (gguf_bits(gguf_at(x, i)) & 0x7fffffff) == most ? i : n;
        first = at < first ? at : first;
    }
    return most != 0 ? gguf_at(x, first) : 0;
}

/* The codes of 32 numbers, truncated and limited to `most`. */
DTI_LANE void gguf_codes(unsigned char *restrict code, const unsigned char *restrict x, float least,
                         float inverse, float half, int32_t most)
{
    for (unsigned i = 0; i < 32; i++) {
        const int32_t truncated =
            (int32_t)gguf_add(gguf_mul(gguf_sub(gguf_at(x, i), least), inverse), half);
        code[i] = (unsigned char)(truncated < most ? truncated : most);
    }
}

/* Codes around `middle`; the number with the largest magnitude gets the lowest code. If 1/scale
 * is infinite all codes are 0; if all numbers are 0, all are `middle`. */
DTI_LANE float gguf_signed_codes(unsigned char *restrict code, const unsigned char *restrict x,
                                 int32_t middle)
{
    const float scale = gguf_first_of_block(x, 32) / (float)-middle;
    const float inverse = gguf_inverse(scale);
    const float half = inverse != 0 || scale == 0 ? (float)middle + 0.5F : 0;
    gguf_codes(code, x, 0, inverse, half, 2 * middle - 1);
    return scale;
}

/* An integer key with the same order as the numbers. */
DTI_LANE int32_t gguf_order(float x)
{
    const int32_t bits = gguf_bits(x);
    return bits ^ (bits >> 31 & 0x7fffffff);
}

DTI_LANE float gguf_ordered(int32_t order)
{
    return gguf_f32((uint32_t)(order ^ (order >> 31 & 0x7fffffff)));
}

/* The first zero, of either sign: of several zeros the first counts as the minimum. */
DTI_LANE float gguf_first_zero(const unsigned char *x, unsigned n)
{
    unsigned i = 0;
    while (i + 1 < n && gguf_at(x, i) != 0)
        i++;
    return gguf_at(x, i);
}

/* Codes counted from the minimum. If the range is infinite all are 0. */
DTI_LANE float gguf_ranged_codes(unsigned char *restrict code, const unsigned char *restrict x,
                                 int32_t most, float *ret_least)
{
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (unsigned i = 0; i < 32; i++) {
        const int32_t order = gguf_order(gguf_at(x, i));
        low = order < low ? order : low;
        high = order > high ? order : high;
    }
    float least = gguf_ordered(low);
    if (least == 0)
        least = gguf_first_zero(x, 32);
    const float scale = gguf_sub(gguf_ordered(high), least) / (float)most;
    const float inverse = gguf_inverse(scale);
    gguf_codes(code, x, inverse != 0 ? least : 0, inverse, 0.5F, most);
    *ret_least = least;
    return scale;
}

DTI_LANE void gguf_put_fifth_bits(unsigned char *restrict to, const unsigned char *restrict code)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 32; i++)
        bits |= (uint32_t)(code[i] >> 4 & 1) << i;
    gguf_put_u16(to, bits);
    gguf_put_u16(to + 2, bits >> 16);
}

/* quantize_row_q4_0_ref() */
DTI_LANE void q4_0_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    unsigned char code[32];
    gguf_put_half(to, gguf_signed_codes(code, x, 8));
    gguf_put_nibbles(to + 2, code, 16);
}

/* quantize_row_q4_1_ref() */
DTI_LANE void q4_1_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    unsigned char code[32];
    float least;
    gguf_put_half(to, gguf_ranged_codes(code, x, 15, &least));
    gguf_put_half(to + 2, least);
    gguf_put_nibbles(to + 4, code, 16);
}

/* quantize_row_q5_0_ref() */
DTI_LANE void q5_0_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    unsigned char code[32];
    gguf_put_half(to, gguf_signed_codes(code, x, 16));
    gguf_put_fifth_bits(to + 2, code);
    gguf_put_nibbles(to + 6, code, 16);
}

/* quantize_row_q5_1_ref() */
DTI_LANE void q5_1_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    unsigned char code[32];
    float least;
    gguf_put_half(to, gguf_ranged_codes(code, x, 31, &least));
    gguf_put_half(to + 2, least);
    gguf_put_fifth_bits(to + 4, code);
    gguf_put_nibbles(to + 8, code, 16);
}

/* floorf(log2f(x)) for x > 0, with log2f() rounded to nearest: just below a power of two, 2^p,
 * the result becomes p. below[] has the width of that interval in units of 2^-24 x 2^p, where p
 * - log2(x) is at most half the last bit of numbers next to p. */
DTI_LANE int gguf_log2(float x)
{
    static const unsigned char below[] = {0, 0, 1, 2, 5, 11, 22, 44, 88};
    int power; /* x < 2^power */
    const float fraction = frexpf(x, &power);
    const unsigned distance = power > 0 ? (unsigned)power - 1 : (unsigned)-power;
    unsigned octave = 0;
    while (distance >> octave)
        octave++;
    return (1 - fraction) * 0x1p24F <= (float)below[octave] ? power : power - 1;
}

/* quantize_row_mxfp4_ref(): the first code with the smallest error. Close to 2^128 the two
 * largest of the 8 magnitudes are infinite, so one of the others has the smallest error. */
DTI_LANE void mxfp4_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    static const float magnitude[8] = {0, 1, 2, 3, 4, 6, 8, 12};
    const float most = gguf_largest_magnitude(x, 32);
    const unsigned exponent = most > 0 ? (unsigned)(gguf_log2(most) - 2 + 127) & 255 : 0;
    const float unit =
        gguf_f32(exponent < 2 ? UINT32_C(0x200000) << exponent : (uint32_t)(exponent - 1) << 23);
    float middle[7];
    for (unsigned k = 0; k < 7; k++)
        middle[k] = gguf_mul3(magnitude[k], unit, 0.5F) + gguf_mul3(magnitude[k + 1], unit, 0.5F);
    unsigned char code[32];
    for (unsigned i = 0; i < 32; i++) {
        int32_t above = 0;
#pragma GCC unroll 8
        for (unsigned k = 0; k < 7; k++)
            above += fabsf(gguf_at(x, i)) > middle[k];
        const int32_t negative = gguf_at(x, i) < 0 && above > 0;
        code[i] = (unsigned char)(above | negative << 3);
    }
    to[0] = (unsigned char)exponent;
    gguf_put_nibbles(to + 1, code, 16);
}

/* quantize_row_q2_0_ref(): if 1/scale is infinite, all codes are the lowest, 0. */
DTI_LANE void q2_0_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    const float scale = gguf_largest_magnitude(x, 64), inverse = gguf_inverse(scale);
    const int32_t one = inverse != 0 || scale == 0;
    unsigned char code[64];
    for (unsigned i = 0; i < 64; i++)
        code[i] = (unsigned char)(gguf_round(gguf_at(x, i) * inverse) + one);
    gguf_put_half(to, scale);
    for (unsigned i = 0; i < 16; i++)
        to[2 + i] = (unsigned char)(code[4 * i] | code[4 * i + 1] << 2 | code[4 * i + 2] << 4 |
                                    code[4 * i + 3] << 6);
}

/* Encodes -1, 0, 1 as 0, 1, 2. */
DTI_LANE float gguf_ternary_codes(unsigned char *restrict code, const unsigned char *restrict x)
{
    const float scale = gguf_largest_magnitude(x, 256), inverse = gguf_inverse(scale);
    for (unsigned i = 0; i < 256; i++)
        code[i] = (unsigned char)(gguf_round(gguf_at(x, i) * inverse) + 1);
    return scale;
}

/* Packs n bytes of five base-3 digits, most significant first, as a fraction in 256ths, rounded
 * up; if there are only four digits, the fifth is 0. */
DTI_LANE void gguf_put_ternary(unsigned char *restrict to, const unsigned char *restrict code,
                               unsigned n, unsigned digits)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned number = 0;
        for (unsigned k = 0; k < 5; k++)
            number = number * 3 + (k < digits ? code[k * n + i] : 0);
        to[i] = (unsigned char)((number * 256 + 242) / 243);
    }
}

/* quantize_row_tq1_0_ref() */
DTI_LANE void tq1_0_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    unsigned char code[256];
    gguf_put_half(to + 52, gguf_ternary_codes(code, x));
    gguf_put_ternary(to, code, 32, 5);
    gguf_put_ternary(to + 32, code + 160, 16, 5);
    gguf_put_ternary(to + 48, code + 240, 4, 4);
}

/* quantize_row_tq2_0_ref() */
DTI_LANE void tq2_0_encode(unsigned char *restrict to, const unsigned char *restrict x)
{
    unsigned char code[256];
    gguf_put_half(to + 64, gguf_ternary_codes(code, x));
    gguf_put_pairs(to, code, 32, 0);
    gguf_put_pairs(to + 32, code + 128, 32, 0);
}

/* quantize_row_q1_0_ref() */
DTI_LANE void q1_0_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
    gguf_lanes sum = {0};
    for (unsigned i = 0; i < 128; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            sum[k] += fabsf(gguf_at(x, 128 * k + i));
    for (size_t b = 0; b < count; b++, to += 18) {
        gguf_put_half(to, sum[b] / 128);
        for (size_t g = 0; g < 8; g++) {
            uint32_t bits = 0;
            for (unsigned i = 0; i < 16; i++)
                bits |= (uint32_t)(gguf_at(x, 128 * b + 16 * g + i) >= 0) << i;
            gguf_put_u16(to + 2 + 2 * g, bits);
        }
    }
}

#endif
