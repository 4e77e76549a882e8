/* SPDX-License-Identifier: MIT
 *
 * vpdpbusd (VNNI), which adds four products of uint8 and int8 to an int32 without saturation, in
 * the registers that a file is compiled for: of AVX-512, or of AVX-VNNI, which CPUs at the level
 * avx2 may have and which is encoded differently. */
#ifndef KERNELS_X86_MATH_VNNI_H
#define KERNELS_X86_MATH_VNNI_H

#include "kernels/x86/vector.h"

#ifdef __AVX512VNNI__
#define VNNI_NAME(stem) stem##_avx512vbmi
#elif defined __AVXVNNI__
#define VNNI_NAME(stem) stem##_avxvnni
#endif

#ifdef VNNI_NAME
/* gcc 12 would store sums in every step without the hint that they are in registers. */
DTI_INLINE vector add_fours(vector sum, vector a, vector b)
{
#ifdef __AVX512VNNI__
    sum = _mm512_dpbusd_epi32(sum, a, b);
#else
    sum = _mm256_dpbusd_avx_epi32(sum, a, b);
#endif
    __asm__("" : "+v"(sum));
    return sum;
}
#endif

#endif
