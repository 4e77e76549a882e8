/* SPDX-License-Identifier: MIT
 *
 * What casts did to the numbers of a list, and lists of uniform random numbers. Compiled once per
 * level. */
#include <math.h>

#include "kernels/arith/arith_kernels.h"
#include "kernels/fp64.h"
#include "kernels/lanes.h"
#include "kernels/lanes_piece.h"

enum { BLOCKS = 128, NUMBERS = 2 * BLOCKS }; /* of four random words, drawn at once */

/* The counters are as wide as the numbers, so that comparisons need no conversion. Most lists have
 * only numbers in range: others than those need more comparisons. */
#define PLAIN_LOOP(number, counter, magnitude_of)                                       \
    for (size_t i = 0; i < n; i++) {                                                    \
        const number x = from[i], y = to[i];                                            \
        const counter changed = (counter)(x < y) | (counter)(x > y);                    \
        others |= ((counter)(x < over) & (counter)(x > under)) ^ 1;                     \
        inexact += changed;                                                             \
        to_zero += changed & (counter)(y == 0);                                         \
        subnormal += changed & (counter)(y != 0) & (counter)(magnitude_of(y) < normal); \
    }

#define ROUNDED_LOOP(number, counter, magnitude_of)                                      \
    for (size_t i = 0; i < n; i++) {                                                     \
        const number x = from[i], y = to[i];                                             \
        const counter finite = (counter)(magnitude_of(x) < (number)INFINITY);            \
        const counter beyond = ((counter)(x >= over) | (counter)(x <= under)) & finite;  \
        const counter changed = ((counter)(x < y) | (counter)(x > y) | beyond) & finite; \
        const counter in_range = changed & (beyond ^ 1);                                 \
        inexact += changed;                                                              \
        overflow += beyond;                                                              \
        to_zero += in_range & (counter)(y == 0);                                         \
        subnormal += in_range & (counter)(y != 0) & (counter)(magnitude_of(y) < normal); \
        undecided += finite ^ 1;                                                         \
    }

/* A limit as the least number that is not below it. */
DTI_LANE float limit_of(double magnitude)
{
    const float nearest = (float)magnitude;
    return (double)nearest < magnitude ? dti_fp32_above(nearest) : nearest;
}

#define ROUNDED(number, counter, magnitude_of, limit)                                     \
    const number *const from = source;                                                    \
    const number *const to = stored;                                                      \
    const number over = limit(limits->overflow_from[0]);                                  \
    const number under = -limit(limits->overflow_from[1]);                                \
    const number normal = (number)limits->smallest_normal;                                \
    counter inexact = 0, overflow = 0, to_zero = 0, subnormal = 0, undecided = 0;         \
    counter others = 0;                                                                   \
    PLAIN_LOOP(number, counter, magnitude_of)                                             \
    if (others) {                                                                         \
        inexact = to_zero = subnormal = 0;                                                \
        ROUNDED_LOOP(number, counter, magnitude_of)                                       \
    }                                                                                     \
    for (size_t i = 0; ret_inexact && i < n; i++)                                         \
        ret_inexact[i] = (magnitude_of(from[i]) < (number)INFINITY) & (from[i] != to[i]); \
    ret[DTI_ROUNDED_INEXACT] = inexact;                                                   \
    ret[DTI_ROUNDED_OVERFLOW] = overflow;                                                 \
    ret[DTI_ROUNDED_TO_ZERO] = to_zero;                                                   \
    ret[DTI_ROUNDED_SUBNORMAL] = subnormal;                                               \
    ret[DTI_ROUNDED_UNDECIDED] = undecided;

void DTI_LANES_NAME(dti_arith_rounded32)(const void *source, const void *stored, size_t n,
                                         const struct dti_rounded_limits *limits,
                                         uint64_t ret[DTI_ROUNDED_COUNTS], uint8_t *ret_inexact)
{
    ROUNDED(float, uint32_t, fabsf, limit_of)
}

void DTI_LANES_NAME(dti_arith_rounded64)(const void *source, const void *stored, size_t n,
                                         const struct dti_rounded_limits *limits,
                                         uint64_t ret[DTI_ROUNDED_COUNTS], uint8_t *ret_inexact)
{
    ROUNDED(double, uint64_t, fabs, )
}

void DTI_LANES_NAME(dti_arith_uniform)(double *ret, size_t n, uint64_t seed, uint32_t stream,
                                       uint64_t first, unsigned cut)
{
    const double scale = dti_fp64_from_bits((uint64_t)(1023 - 64 + cut) << 52);
    uint32_t words[4 * BLOCKS];
    for (size_t done = 0; done < n; done += NUMBERS) {
        const size_t left = n - done < NUMBERS ? n - done : NUMBERS;
        for (size_t block = 0; block < BLOCKS; block++)
            dti_lane_random(seed, stream, (first + done) / 2 + block, words + 4 * block);
        for (size_t i = 0; i < left; i++) {
            const uint64_t bits = (uint64_t)words[2 * i] << 32 | words[2 * i + 1];
            ret[done + i] = (double)(int64_t)(bits >> cut) * scale;
        }
    }
}
