/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX-512: whole groups in which nothing is remarkable (loss_bars.h), with
 * one branch a group. */
#include "kernels/loss_kernels.h"
#include "kernels/x86/loss_bars.h"

#include <immintrin.h>

enum { LANES = DTI_LOSS_LANES };

DTI_INLINE __m512i bits_of(__m512 value)
{
    return _mm512_castps_si512(value);
}

DTI_INLINE __m512i size_of(__m512 value)
{
    return _mm512_and_si512(bits_of(value), _mm512_set1_epi32(INT32_MAX));
}

DTI_INLINE __m512i all(uint32_t bits)
{
    return _mm512_set1_epi32((int)bits);
}

/* Sums of a lane each to those of the tile. */
DTI_INLINE void add_lanes(double *lanes, __m512 sum)
{
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(sum));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1));
    _mm512_storeu_pd(lanes, _mm512_add_pd(_mm512_loadu_pd(lanes), low));
    _mm512_storeu_pd(lanes + 8, _mm512_add_pd(_mm512_loadu_pd(lanes + 8), high));
}

/* Whether x is 0 or its square can be added in fp32; `limit` at most. */
DTI_INLINE __mmask16 are_unfit(__m512i low, __m512i high, uint32_t limit)
{
    return _mm512_cmplt_epu32_mask(low, all(DTI_LOSS_SINGLE_FROM - 1)) |
           _mm512_cmpge_epu32_mask(high, all(limit));
}

/* A group; false, and nothing is changed, where it is not of the sort. */
DTI_INLINE bool add_quick(const struct dti_loss_bars *bars, enum dti_loss_sort sort, const float *x,
                          const float *y, struct dti_loss_counts *counts, struct dti_loss_lanes *lanes)
{
    const bool plain = sort == DTI_LOSS_PLAIN;
    const __m512 ratio = _mm512_set1_ps(plain ? bars->plain_ratio : bars->ratio);
    const __m512i least = all(bars->least), one = all(1);
    __m512 absolute = _mm512_setzero_ps(), squared = absolute, source = absolute, above = absolute;
    __m512i largest = _mm512_setzero_si512(), high = largest, low = all(UINT32_MAX);
    __mmask16 apart = 0;
    unsigned inexact = 0, to_zero = 0, to_subnormal = 0;
    for (size_t i = 0; i < DTI_LOSS_GROUP; i += LANES) {
        const __m512 from = _mm512_loadu_ps(x + i);
        const __m512i size = size_of(from);
        source = _mm512_fmadd_ps(from, from, source);
        high = _mm512_max_epu32(high, plain ? _mm512_sub_epi32(size, least) : size);
        if (!plain)
            low = _mm512_min_epu32(low, _mm512_sub_epi32(size, one));
        if (sort == DTI_LOSS_EXACT)
            continue;
        const __m512 to = _mm512_loadu_ps(y + i);
        const __m512i error_bits = size_of(_mm512_sub_ps(to, from));
        const __m512 error = _mm512_castsi512_ps(error_bits);
        const __mmask16 differ = _mm512_test_epi32_mask(error_bits, error_bits);
        inexact += dti_loss_popcount(differ);
        absolute = _mm512_add_ps(absolute, error);
        squared = _mm512_fmadd_ps(error, error, squared);
        largest = _mm512_max_epu32(largest, error_bits);
        above =
            _mm512_max_ps(_mm512_fnmadd_ps(ratio, _mm512_castsi512_ps(size), error), above);
        if (plain)
            continue;
        const __m512i to_size = size_of(to);
        const __mmask16 zero = _mm512_testn_epi32_mask(to_size, to_size);
        apart |= _mm512_mask_cmpgt_epu32_mask((__mmask16)~zero, error_bits, to_size);
        to_zero += dti_loss_popcount(zero & differ);
        to_subnormal += dti_loss_popcount(_mm512_mask_cmplt_epu32_mask(
            _mm512_cmpge_epu32_mask(size, all(bars->src_normal)), _mm512_sub_epi32(to_size, one),
            all(bars->subnormals)));
    }
    __mmask16 odd = plain ? _mm512_cmpge_epu32_mask(high, all(bars->limit - bars->least))
                          : are_unfit(low, high, bars->limit);
    if (sort != DTI_LOSS_EXACT) {
        odd |= apart | _mm512_cmp_ps_mask(above, _mm512_setzero_ps(), _CMP_GT_OQ);
        odd |= _mm512_cmpgt_epu32_mask(largest, bits_of(_mm512_set1_ps(bars->largest)));
        odd |= _mm512_cmplt_epu32_mask(_mm512_sub_epi32(largest, one),
                                       all(DTI_LOSS_SINGLE_FROM - 1));
    }
    if (__builtin_expect(odd != 0, 0))
        return false;
    counts->inexact += inexact;
    counts->to_zero += to_zero;
    counts->to_subnormal += to_subnormal;
    add_lanes(lanes->source_squared, source);
    if (sort != DTI_LOSS_EXACT) {
        add_lanes(lanes->absolute, absolute);
        add_lanes(lanes->squared, squared);
    }
    return true;
}

DTI_LOSS_QUICK_KERNEL(dti_loss_f32_avx512)
