/* SPDX-License-Identifier: MIT
 *
 * Dot products of bf16 by the dedicated instruction: vdpbf16ps adds the product of the upper
 * codes to a sum, then that of the lower ones, each time rounding to nearest even; subnormal
 * codes are treated as zero, and a subnormal sum becomes zero (Intel SDM vol. 2, VDPBF16PS). */
#include "kernels/math/dot_kernels.h"
#include "kernels/x86/avx512.h"

enum { SUMS = 8, LANES = 16, PAIRS = 64, STEP = SUMS * 2 * LANES };

DTI_INLINE void step(__m512 sum[SUMS], const unsigned char *a, const unsigned char *b)
{
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = _mm512_dpbf16_ps(sum[i], (__m512bh)load512(a + i * PAIRS),
                                  (__m512bh)load512(b + i * PAIRS));
}

double dti_dot_bf16_avx512bf16(const void *a, const void *b, size_t n)
{
    const unsigned char *const x = a, *const y = b;
    __m512 sum[SUMS];
    float sums[SUMS * LANES];
    size_t at = 0;
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = _mm512_setzero_ps();
    for (; n - at >= STEP; at += STEP)
        step(sum, x + 2 * at, y + 2 * at);
    if (at < n) {
        unsigned char last_x[2 * STEP] = {0}, last_y[2 * STEP] = {0};
        memcpy(last_x, x + 2 * at, 2 * (n - at));
        memcpy(last_y, y + 2 * at, 2 * (n - at));
        step(sum, last_x, last_y);
    }
    for (size_t i = 0; i < SUMS; i++)
        _mm512_storeu_ps(sums + i * LANES, sum[i]);
    return dti_dot_fold_f32(sums, SUMS * LANES);
}
