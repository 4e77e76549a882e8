/* SPDX-License-Identifier: MIT
 *
 * Overflow-checked arithmetic on sizes; every untrusted size goes through here. On overflow,
 * returns false and leaves *ret unchanged. */
#ifndef UTIL_CHECKED_H
#define UTIL_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool dti_add_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
    if (a > UINT64_MAX - b)
        return false;
    *ret = a + b;
    return true;
}

static inline bool dti_mul_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
#if defined(__GNUC__)
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product)) /* avoids a division */
        return false;
    *ret = product;
#else
    if (a != 0 && b > UINT64_MAX / a)
        return false;
    *ret = a * b;
#endif
    return true;
}

/* a / b rounded up; cannot overflow. b must not be 0. */
static inline uint64_t dti_divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
