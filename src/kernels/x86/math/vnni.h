/* SPDX-License-Identifier: MIT
 *
 * vpdpbusd (VNNI), which adds four products of uint8 and int8 to an int32 without saturation,
 * for the registers that a file is compiled for: either AVX-512, or AVX-VNNI, which is encoded
 * differently and which CPUs at the level avx2 may have. */
#ifndef KERNELS_X86_MATH_VNNI_H
#define KERNELS_X86_MATH_VNNI_H

#include "kernels/x86/vector.h"

#ifdef __AVX512VNNI__
#define VNNI_NAME(stem) stem##_avx512vbmi
#elif defined __AVXVNNI__
#define VNNI_NAME(stem) stem##_avxvnni
#endif

#ifdef VNNI_NAME
/* Without the hint that sums are in registers, gcc 12 would store them in every step. */
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
