/* SPDX-License-Identifier: MIT
 *
 * The loss of groups of any fp32 numbers (loss_any.h) with AVX2 and AVX-512. */
#include "kernels/scan/loss_bars.h"
#include "kernels/x86/scan/loss_flags.h"

#ifdef __AVX2__
enum { WIDTH = VECTOR / 4, WIDE = WIDTH / 2 };
#define all                         VECTOR_BITS(set1_ps)
#define all_pd                      VECTOR_BITS(set1_pd)
#define load_ps                     VECTOR_BITS(loadu_ps)
#define load_pd                     VECTOR_BITS(loadu_pd)
#define store_ps                    VECTOR_BITS(store_ps)
#define store_pd                    VECTOR_BITS(storeu_pd)
#define size_of(x)                  VECTOR_BITS(andnot_ps)(all(-0.0F), x)
#define size_of_pd(x)               VECTOR_BITS(andnot_pd)(all_pd(-0.0), x)
#define max_ps                      VECTOR_BITS(max_ps)
#define max_pd                      VECTOR_BITS(max_pd)
#define add_square_ps(sum, x)       VECTOR_BITS(fmadd_ps)(x, x, sum)
#define add_square_pd(sum, x)       VECTOR_BITS(fmadd_pd)(x, x, sum)
#define less_product_pd(from, a, b) VECTOR_BITS(fnmadd_pd)(a, b, from)
#define are_below(a, b)             COMPARE(a, b, _CMP_LT_OQ)
#define are_above(a, b)             COMPARE(a, b, _CMP_GT_OQ)
#define are_from(a, b)              COMPARE(a, b, _CMP_GE_OQ)
#define differ(a, b)                COMPARE(a, b, _CMP_NEQ_UQ)

DTI_INLINE vector_pd widen(const float *from)
{
    return VECTOR_BITS(cvtps_pd)((half_vector_ps)load_half((const void *)from));
}

DTI_INLINE vector_ps narrow(vector_pd low, vector_pd high)
{
    return (vector_ps)join_halves((half_vector)VECTOR_BITS(cvtpd_ps)(low),
                                  (half_vector)VECTOR_BITS(cvtpd_ps)(high));
}

#ifdef __AVX512BW__
typedef unsigned counter;
#define counted(sum) (sum)

DTI_INLINE void count(counter *sum, flags f)
{
    *sum += dti_loss_popcount(f);
}

DTI_INLINE flags are_finite(vector_ps x)
{
    enum { NOT_FINITE = 0x99 }; /* classes of vfpclass */
    return (flags)~_mm512_fpclass_ps_mask(x, NOT_FINITE);
}

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return _mm512_maskz_mov_ps(f, x);
}

DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    return _mm512_mask_mov_pd(a, (__mmask8)(f >> WIDE * half), b);
}

DTI_INLINE bool any_above(vector_pd a, double bar)
{
    return _mm512_cmp_pd_mask(a, _mm512_set1_pd(bar), _CMP_GT_OQ) != 0;
}
#else
typedef __m256i counter;

DTI_INLINE void count(counter *sum, flags f)
{
    *sum = _mm256_sub_epi32(*sum, (__m256i)f);
}

DTI_INLINE unsigned counted(counter sum)
{
    const __m128i four =
        _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return (unsigned)_mm_cvtsi128_si32(two) + (unsigned)_mm_extract_epi32(two, 1);
}

DTI_INLINE flags are_finite(vector_ps x)
{
    return COMPARE(size_of(x), all(FLT_MAX), _CMP_LE_OQ);
}

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return _mm256_and_ps(f, x);
}

DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    const __m128 part = half ? _mm256_extractf128_ps(f, 1) : _mm256_castps256_ps128(f);
    const __m256i wide = _mm256_cvtepi32_epi64(_mm_castps_si128(part));
    return _mm256_blendv_pd(a, b, _mm256_castsi256_pd(wide));
}

DTI_INLINE bool any_above(vector_pd a, double bar)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_set1_pd(bar), _CMP_GT_OQ)) != 0;
}
#endif

#include "kernels/scan/loss_any.h"

void VECTOR_NAME(dti_loss_any)(struct dti_loss_work *w, const float *x, const float *y, size_t at,
                               size_t n)
{
    loss_any(w, x, y, at, n);
}
#endif
