/* SPDX-License-Identifier: MIT
 *
 * Dot products of int8 by vpdpbusd. One array is passed as x + 128, so the sums are too large by
 * 128 times the sum of the other array, which is computed separately. */
#include "kernels/math/dot_kernels.h"
#include "kernels/x86/math/vnni.h"

/* A step adds less than 2^17 in magnitude to each lane, which fits in 31 bits for STEPS_MOST
 * steps. */
enum { SUMS = 4, STEP = SUMS * VECTOR, STEPS_MOST = 1 << 14, LANES = VECTOR / 4 };

DTI_INLINE int64_t sum_of_lanes(const vector sum[SUMS])
{
    int32_t lanes[SUMS * LANES];
    int64_t total = 0;
    memcpy(lanes, sum, sizeof lanes);
    for (size_t i = 0; i < SUMS * LANES; i++)
        total += lanes[i];
    return total;
}

DTI_INLINE int64_t dot_steps(const unsigned char *a, const unsigned char *b, size_t steps)
{
    const vector offset = VECTOR_BITS(set1_epi8)(-128); /* 128 as uint8 */
    vector sum[SUMS], beyond[SUMS];
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = beyond[i] = VECTOR_WHOLE(setzero)();
    for (size_t at = 0; at < steps; at++, a += STEP, b += STEP) {
        for (size_t i = 0; i < SUMS; i++) {
            const vector x = VECTOR_WHOLE(xor)(load_vector(a + i * VECTOR), offset);
            const vector y = load_vector(b + i * VECTOR);
            sum[i] = add_fours(sum[i], x, y);
            beyond[i] = add_fours(beyond[i], offset, y);
        }
    }
    return sum_of_lanes(sum) - sum_of_lanes(beyond);
}

double VNNI_NAME(dti_dot_int8)(const void *a, const void *b, size_t n)
{
    return dti_dot_by_steps(a, b, n, STEP, STEPS_MOST, dot_steps);
}
