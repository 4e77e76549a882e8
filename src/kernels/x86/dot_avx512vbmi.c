/* SPDX-License-Identifier: MIT
 *
 * Dot products of int8 by vpdpbusd (VNNI), which adds four products of uint8 and int8 to an int32
 * without saturation. One array goes through it as x + 128, so that sums are too large by 128 times
 * the sum of the other, which is kept separately. */
#include "kernels/dot_kernels.h"
#include "kernels/x86/avx512.h"

/* A step adds less than 2^17 in magnitude to each lane, which fits in 31 bits for so many. */
enum { SUMS = 4, BYTES = 64, STEP = SUMS * BYTES, STEPS_MOST = 1 << 14, LANES = 16 };

DTI_INLINE int64_t sum_of_lanes(const __m512i sum[SUMS])
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
    const __m512i offset = _mm512_set1_epi8(-128); /* 128 as uint8 */
    __m512i sum[SUMS], beyond[SUMS];
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = beyond[i] = _mm512_setzero_si512();
    for (size_t at = 0; at < steps; at++, a += STEP, b += STEP) {
        for (size_t i = 0; i < SUMS; i++) {
            const __m512i x = _mm512_xor_si512(load512(a + i * BYTES), offset);
            const __m512i y = load512(b + i * BYTES);
            sum[i] = _mm512_dpbusd_epi32(sum[i], x, y);
            beyond[i] = _mm512_dpbusd_epi32(beyond[i], offset, y);
        }
    }
    return sum_of_lanes(sum) - sum_of_lanes(beyond);
}

double dti_dot_int8_avx512vbmi(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    int64_t total = 0;
    while (n >= STEP) {
        const size_t steps = n / STEP < STEPS_MOST ? n / STEP : STEPS_MOST;
        total += dot_steps(x, y, steps);
        x += steps * STEP;
        y += steps * STEP;
        n -= steps * STEP;
    }
    if (n > 0) {
        unsigned char last_x[STEP] = {0}, last_y[STEP] = {0};
        memcpy(last_x, x, n);
        memcpy(last_y, y, n);
        total += dot_steps(last_x, last_y, 1);
    }
    return (double)total;
}
