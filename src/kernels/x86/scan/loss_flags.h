/* SPDX-License-Identifier: MIT
 *
 * Conditions, one per element of 32 bits: a mask with AVX-512, a vector of all ones or zeros with
 * AVX2. */
#ifndef KERNELS_X86_SCAN_LOSS_FLAGS_H
#define KERNELS_X86_SCAN_LOSS_FLAGS_H

#include "kernels/x86/vector.h"

#ifdef __AVX512BW__
typedef __mmask16 flags;
#define COMPARE(a, b, predicate) _mm512_cmp_ps_mask(a, b, predicate)
#define BOTH(a, b)               ((flags)((a) & (b)))
#define EITHER(a, b)             ((flags)((a) | (b)))
#define BUT_NOT(a, b)            ((flags)((a) & ~(b)))
#define MASK_OF(f)               ((unsigned)(f))

DTI_INLINE flags are_zero(vector bits)
{
    return _mm512_testn_epi32_mask(bits, bits);
}

/* Whether a >= b and a < b, without signs. */
DTI_INLINE flags are_at_least(vector a, vector b)
{
    return _mm512_cmpge_epu32_mask(a, b);
}

DTI_INLINE flags are_lower(vector a, vector b)
{
    return _mm512_cmplt_epu32_mask(a, b);
}
#elif defined __AVX2__
typedef __m256 flags;
#define COMPARE(a, b, predicate) _mm256_cmp_ps(a, b, predicate)
#define BOTH(a, b)               _mm256_and_ps(a, b)
#define EITHER(a, b)             _mm256_or_ps(a, b)
#define BUT_NOT(a, b)            _mm256_andnot_ps(b, a)
#define MASK_OF(f)               ((unsigned)_mm256_movemask_ps(f))

DTI_INLINE flags are_zero(vector bits)
{
    return (flags)_mm256_cmpeq_epi32(bits, _mm256_setzero_si256());
}

DTI_INLINE flags are_at_least(vector a, vector b)
{
    return (flags)_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a);
}

DTI_INLINE flags are_lower(vector a, vector b)
{
    return _mm256_xor_ps(are_at_least(a, b), (flags)_mm256_set1_epi32(-1));
}
#endif

#ifdef __AVX2__
DTI_INLINE flags no_flags(void)
{
#ifdef __AVX512BW__
    return 0;
#else
    return _mm256_setzero_ps();
#endif
}

DTI_INLINE flags all_flags(void)
{
#ifdef __AVX512BW__
    return 0xffff;
#else
    return (flags)_mm256_set1_epi32(-1);
#endif
}

DTI_INLINE bool any(flags f)
{
    return MASK_OF(f) != 0;
}
#endif
#endif
