/* SPDX-License-Identifier: MIT
 *
 * 64 x 64 -> 128 bits and back, with or without a 128-bit compiler type: the primitives of all
 * longer arithmetic. */
#ifndef CORE_WIDE_H
#define CORE_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SIZEOF_INT128__) && !defined(__clang_analyzer__) /* which shifts no such numbers */
#define DTI_HAS_U128
__extension__ typedef unsigned __int128 dti_u128;
#endif

static inline unsigned dti_leading_zeros(uint64_t x) /* x != 0 */
{
#if defined(__GNUC__)
    return (unsigned)__builtin_clzll(x);
#else
    unsigned zeros = 0;
    for (unsigned step = 32; step > 0; step /= 2) {
        if (x >> (64 - step) == 0) {
            zeros += step;
            x <<= step;
        }
    }
    return zeros;
#endif
}

static inline unsigned dti_trailing_zeros(uint64_t x) /* x != 0 */
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(x);
#else
    return 63 - dti_leading_zeros(x & (UINT64_C(0) - x));
#endif
}

/* a * b + c + d, which cannot overflow: (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1. Returns the low
 * half. */
static inline uint64_t dti_wide_mul_add(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                        uint64_t *ret_high)
{
#ifdef DTI_HAS_U128
    const dti_u128 sum = (dti_u128)a * b + c + d;
    *ret_high = (uint64_t)(sum >> 64);
    return (uint64_t)sum;
#else
    const uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
    const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    const uint64_t middle = (p00 >> 32) + (p01 & 0xFFFFFFFF) + (p10 & 0xFFFFFFFF);
    uint64_t low = (middle << 32) | (p00 & 0xFFFFFFFF);
    uint64_t high = a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
    low += c;
    high += low < c;
    low += d;
    high += low < d;
    *ret_high = high;
    return low;
#endif
}

/* (high:low) / divisor for high < divisor. */
static inline uint64_t dti_wide_div(uint64_t high, uint64_t low, uint64_t divisor,
                                    uint64_t *ret_remainder)
{
#ifdef DTI_HAS_U128
    const dti_u128 dividend = ((dti_u128)high << 64) | low;
    const uint64_t quotient = (uint64_t)(dividend / divisor);
    *ret_remainder = low - quotient * divisor;
    return quotient;
#else
    /* One bit at a time; a carry out of the doubled remainder means that the divisor fits. */
    uint64_t remainder = high, quotient = 0;
    for (unsigned bit = 64; bit-- > 0;) {
        const bool carry = remainder >> 63;
        remainder = (remainder << 1) | ((low >> bit) & 1);
        quotient <<= 1;
        if (carry || remainder >= divisor) {
            remainder -= divisor;
            quotient |= 1;
        }
    }
    *ret_remainder = remainder;
    return quotient;
#endif
}

/* *a += b + carry; returns the carry. */
static inline unsigned dti_wide_add(uint64_t *a, uint64_t b, unsigned carry)
{
    const uint64_t sum = *a + b;
    const uint64_t total = sum + carry;
    const unsigned out = (unsigned)(sum < b) | (unsigned)(total < sum);
    *a = total;
    return out;
}

/* *a -= b + borrow; returns the borrow. */
static inline unsigned dti_wide_sub(uint64_t *a, uint64_t b, unsigned borrow)
{
    const uint64_t difference = *a - b;
    const uint64_t total = difference - borrow;
    const unsigned out = (unsigned)(*a < b) | (unsigned)(difference < borrow);
    *a = total;
    return out;
}

/* Shifts high:low, nonzero, until the top bit is set; returns the shift. */
static inline unsigned dti_wide_normalise(uint64_t *high, uint64_t *low)
{
    const unsigned words = *high == 0;
    if (words) {
        *high = *low;
        *low = 0;
    }
    const unsigned shift = dti_leading_zeros(*high);
    if (shift > 0) {
        *high = *high << shift | *low >> (64 - shift);
        *low <<= shift;
    }
    return 64 * words + shift;
}

/* high:low *= factor. Returns false if the product exceeds 128 bits. */
static inline bool dti_wide_scale(uint64_t *high, uint64_t *low, uint64_t factor)
{
    uint64_t carry, beyond;
    *low = dti_wide_mul_add(*low, factor, 0, 0, &carry);
    *high = dti_wide_mul_add(*high, factor, carry, 0, &beyond);
    return beyond == 0;
}

#endif
