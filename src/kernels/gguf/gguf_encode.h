/* SPDX-License-Identifier: MIT
 *
 * Shared by the encoders of GGUF blocks: loops over the numbers of a block, or over lanes, where
 * each lane is a group of numbers. A sum runs over a group in order, so vectors span many
 * groups. */
#ifndef KERNELS_GGUF_GGUF_ENCODE_H
#define KERNELS_GGUF_GGUF_ENCODE_H

#include <math.h>
#include <string.h>

#include "kernels/gguf/gguf_lanes.h"
#include "kernels/gguf/gguf_search.h"
#include "kernels/lanes_piece.h"

/* What takes long enough for a call: once in a level's code instead of once in each type's. */
#ifdef __clang__
#define GGUF_SHARED __attribute__((unused)) static DTI_NOINLINE
#else
#define GGUF_SHARED __attribute__((unused, noclone)) static DTI_NOINLINE
#endif

DTI_LANE int32_t gguf_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Operations that round to fp32 even where C evaluates expressions with more precision, as on
 * s390x. A single operation in an assignment or argument does so anyway. */
DTI_LANE float gguf_add(float a, float b)
{
    return a + b;
}

DTI_LANE float gguf_sub(float a, float b)
{
    return a - b;
}

DTI_LANE float gguf_mul(float a, float b)
{
    return a * b;
}

DTI_LANE float gguf_mul3(float a, float b, float c)
{
    return gguf_mul(gguf_mul(a, b), c);
}

/* Number i of an array of any alignment, as in all kernels. */
DTI_LANE float gguf_at(const unsigned char *x, size_t i)
{
    float number;
    memcpy(&number, x + sizeof number * i, sizeof number);
    return number;
}

/* The fp16 bits of a number, rounded to nearest even. Below 2^-14, the last bit of 0.5 + x is
 * that of fp16. NaN gives what x86 returns for 0/0, on any CPU. */
DTI_LANE unsigned gguf_half_bits(float x)
{
    const uint32_t bits = (uint32_t)gguf_bits(x), magnitude = bits & UINT32_C(0x7fffffff);
    const unsigned sign = bits >> 16 & 0x8000;
    if (magnitude > UINT32_C(0x7f800000))
        return 0xfe00;
    if (magnitude >= UINT32_C(0x477ff000))
        return sign | 0x7c00;
    if (magnitude < UINT32_C(0x38800000))
        return sign | ((uint32_t)gguf_bits(fabsf(x) + 0.5F) - UINT32_C(0x3f000000));
    const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return sign | ((rounded >> 13) - (UINT32_C(112) << 10));
}

DTI_LANE void gguf_put_u16(unsigned char *to, uint32_t bits)
{
    to[0] = (unsigned char)bits;
    to[1] = (unsigned char)(bits >> 8);
}

DTI_LANE void gguf_put_half(unsigned char *to, float x)
{
    gguf_put_u16(to, gguf_half_bits(x));
}

/* nearest_int() of ggml: to nearest even below 2^22. Larger numbers, infinities and NaNs give
 * what ggml's blocks contain for them: infinities -2^22, NaNs 0. */
DTI_LANE int32_t gguf_nearest(float x)
{
    return (gguf_bits(x + 12582912.0F) & 0x7fffff) - 0x400000;
}

DTI_LANE int32_t gguf_level(float x, int32_t least, int32_t most)
{
    const int32_t nearest = gguf_nearest(x), below = nearest < most ? nearest : most;
    return below > least ? below : least;
}

/* roundf() for numbers below 2^22: halves away from zero. Adds the fp32 number just below 0.5,
 * because 0.5 plus that number would give 1. */
DTI_LANE int32_t gguf_round(float x)
{
    return (int32_t)gguf_add(x, copysignf(0x1.fffffep-2F, x));
}

DTI_LANE float gguf_largest_magnitude(const unsigned char *x, unsigned n)
{
    int32_t most = 0;
    for (unsigned i = 0; i < n; i++) {
        const int32_t magnitude = gguf_bits(gguf_at(x, i)) & 0x7fffffff;
        most = magnitude > most ? magnitude : most;
    }
    return gguf_f32((uint32_t)most);
}

/* 1/x; 0 for 0, and also for |x| up to 2^-128, where 1/x is infinite: ggml's numbers are then
 * NaN, and their codes 0. */
DTI_LANE float gguf_inverse(float x)
{
    return (gguf_bits(x) & 0x7fffffff) > 0x200000 ? 1 / x : 0;
}

/* Transposes consecutive groups of n numbers into lanes. */
DTI_LANE void gguf_transpose(gguf_lanes *restrict to, const unsigned char *restrict x, unsigned n)
{
#ifdef GGUF_SEARCHES
    DTI_LANES_NAME(dti_gguf_transpose)(to, x, n);
#else
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            to[i][k] = gguf_at(x, k * n + i);
#endif
}

/* In each lane, the first number with the largest magnitude; 0 if all are zeros. */
DTI_LANE void gguf_first_largest(gguf_lanes largest, const gguf_lanes *restrict x, unsigned n)
{
    gguf_lanes first = {0};
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            first[k] = fabsf(x[i][k]) > fabsf(first[k]) ? x[i][k] : first[k];
    memcpy(largest, first, sizeof first);
}

DTI_LANE void gguf_squares(gguf_lanes *restrict to, const gguf_lanes *restrict x, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            to[i][k] = x[i][k] * x[i][k];
}

/* Packs 2n 4-bit codes: the n low nibbles first, then the n high ones. */
DTI_LANE void gguf_put_nibbles(unsigned char *restrict to, const unsigned char *restrict code,
                               unsigned n)
{
    GGUF_VECTOR
    for (unsigned i = 0; i < n; i++)
        to[i] = (unsigned char)((code[i] & 15) | code[n + i] << 4);
}

/* Packs two bits of each of 4n codes, starting at code bit `bit`: those of the first n codes
 * into the lowest bits of n bytes, and so on. */
DTI_LANE void gguf_put_pairs(unsigned char *restrict to, const unsigned char *restrict code,
                             unsigned n, unsigned bit)
{
    for (unsigned i = 0; i < n; i++)
        to[i] =
            (unsigned char)((code[i] >> bit & 3) | (code[n + i] >> bit & 3) << 2 |
                            (code[2 * n + i] >> bit & 3) << 4 | (code[3 * n + i] >> bit & 3) << 6);
}

#endif
