/* SPDX-License-Identifier: MIT
 *
 * Sums of groups of fp32 numbers with AVX-512, for arrays (loss_f32_avx512.c) and for casts that
 * count their loss on the way (loss_cast_avx512.h). */
#ifndef DTINFO_KERNELS_X86_LOSS_GROUP_AVX512_H
#define DTINFO_KERNELS_X86_LOSS_GROUP_AVX512_H

#include "kernels/x86/loss_bars.h"

#ifdef __AVX512BW__
#include <immintrin.h>

enum { LOSS_LANES = DTI_LOSS_LANES };

DTI_INLINE __m512i loss_bits(__m512 value)
{
    return _mm512_castps_si512(value);
}

DTI_INLINE __m512i loss_size(__m512 value)
{
    return _mm512_and_si512(loss_bits(value), _mm512_set1_epi32(INT32_MAX));
}

DTI_INLINE __m512i loss_all(uint32_t bits)
{
    return _mm512_set1_epi32((int)bits);
}

DTI_INLINE unsigned loss_popcount64(uint64_t mask)
{
    return (unsigned)__builtin_popcountll(mask);
}

/* Sums of a lane each to those of the tile. */
DTI_INLINE void loss_add_lanes(double *lanes, __m512 sum)
{
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(sum));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(sum, 1));
    _mm512_storeu_pd(lanes, _mm512_add_pd(_mm512_loadu_pd(lanes), low));
    _mm512_storeu_pd(lanes + 8, _mm512_add_pd(_mm512_loadu_pd(lanes + 8), high));
}

/* dti_loss_work_through() and dti_loss_raise(), compiled once for the level. */
void dti_loss_work_avx512(struct dti_loss_work *work, dti_loss_groups_fn *const add[]);
bool dti_loss_raise_avx512(struct dti_loss_work *work, enum dti_loss_sort sort, const void *x,
                           const float *y, size_t at);

/* The bars of a sort in registers. */
struct loss_bars {
    __m512 ratio;
    __m512i largest, least, limit, src_normal, subnormals;
};

DTI_INLINE struct loss_bars loss_bars_of(const struct dti_loss_bars *bars, enum dti_loss_sort sort)
{
    const uint32_t from = DTI_LOSS_SINGLE_FROM;
    const uint32_t least = sort == DTI_LOSS_PLAIN     ? bars->least
                           : sort != DTI_LOSS_NONZERO ? from - 1
                           : bars->src_normal > from  ? bars->src_normal
                                                      : from;
    return (struct loss_bars){
        .ratio = _mm512_set1_ps(sort == DTI_LOSS_PLAIN ? bars->plain_ratio : bars->ratio),
        .largest = loss_bits(_mm512_set1_ps(bars->largest)),
        .least = loss_all(least),
        .limit = loss_all(bars->limit),
        .src_normal = loss_all(bars->src_normal),
        .subnormals = loss_all(bars->subnormals),
    };
}

/* A group at work: lanes of sums, extremes, and elements that are no plain ones. */
struct loss_group {
    __m512 absolute, squared, source, above;
    __m512i largest, high, low;
    __mmask16 apart;
    unsigned inexact, to_zero, to_subnormal;
};

DTI_INLINE struct loss_group loss_group_begin(void)
{
    const __m512 zero = _mm512_setzero_ps();
    const __m512i nothing = _mm512_setzero_si512();
    return (struct loss_group){.absolute = zero,
                               .squared = zero,
                               .source = zero,
                               .above = zero,
                               .largest = nothing,
                               .high = nothing,
                               .low = loss_all(UINT32_MAX)};
}

/* Sources alone; of an exact group that is all. Zeros are the highest where they are allowed. */
DTI_INLINE void loss_group_see(struct loss_group *g, enum dti_loss_sort sort, __m512 x)
{
    const __m512i size = loss_size(x);
    g->source = _mm512_fmadd_ps(x, x, g->source);
    g->high = _mm512_max_epu32(g->high, size);
    const bool zeros = sort == DTI_LOSS_SMALL || sort == DTI_LOSS_EXACT;
    g->low = _mm512_min_epu32(g->low, zeros ? _mm512_sub_epi32(size, loss_all(1)) : size);
}

/* An element a lane. near: y is known to be 0 or within [x/2, 2x], unless |e| > |x|. */
DTI_INLINE void loss_group_add(struct loss_group *g, const struct loss_bars *bars,
                               enum dti_loss_sort sort, bool near, __m512 x, __m512 y)
{
    const __m512i size = loss_size(x), error_bits = loss_size(_mm512_sub_ps(y, x));
    const __m512 error = _mm512_castsi512_ps(error_bits);
    const __m512 above = _mm512_fnmadd_ps(bars->ratio, _mm512_castsi512_ps(size), error);
    const __mmask16 differ = _mm512_test_epi32_mask(error_bits, error_bits);
    loss_group_see(g, sort, x);
    g->inexact += dti_loss_popcount(differ);
    g->absolute = _mm512_add_ps(g->absolute, error);
    g->squared = _mm512_fmadd_ps(error, error, g->squared);
    g->largest = _mm512_max_epu32(g->largest, error_bits);
    g->above = _mm512_max_ps(above, g->above);
    if (sort != DTI_LOSS_SMALL)
        return;
    const __m512i y_size = loss_size(y);
    const __mmask16 zero = _mm512_testn_epi32_mask(y_size, y_size);
    if (!near)
        g->apart |= _mm512_mask_cmpgt_epu32_mask((__mmask16)~zero, error_bits, y_size);
    g->to_zero += dti_loss_popcount(zero & differ);
    g->to_subnormal += dti_loss_popcount(
        _mm512_mask_cmplt_epu32_mask(_mm512_cmpge_epu32_mask(size, bars->src_normal),
                                     _mm512_sub_epi32(y_size, loss_all(1)), bars->subnormals));
}

/* What is to be done with a group: nothing by vector code, look for new maxima, add it. */
enum loss_verdict { LOSS_ODD, LOSS_RISEN, LOSS_FINE };

DTI_INLINE enum loss_verdict loss_group_judge(const struct loss_group *g,
                                              const struct loss_bars *bars, enum dti_loss_sort sort)
{
    __mmask16 odd = _mm512_cmplt_epu32_mask(g->low, bars->least) |
                    _mm512_cmpge_epu32_mask(g->high, bars->limit);
    __mmask16 risen = 0;
    if (sort != DTI_LOSS_EXACT) {
        odd |= g->apart | _mm512_cmplt_epu32_mask(_mm512_sub_epi32(g->largest, loss_all(1)),
                                                  loss_all(DTI_LOSS_SINGLE_FROM - 1));
        risen = _mm512_cmp_ps_mask(g->above, _mm512_setzero_ps(), _CMP_GT_OQ) |
                _mm512_cmpgt_epu32_mask(g->largest, bars->largest);
    }
    if (__builtin_expect((odd | risen) == 0, 1))
        return LOSS_FINE;
    return odd ? LOSS_ODD : LOSS_RISEN;
}

DTI_INLINE void loss_group_keep(const struct loss_group *g, enum dti_loss_sort sort,
                                struct dti_loss_work *w)
{
    w->counts.inexact += g->inexact;
    w->counts.to_zero += g->to_zero;
    w->counts.to_subnormal += g->to_subnormal;
    loss_add_lanes(w->lanes.source_squared, g->source);
    if (sort == DTI_LOSS_EXACT)
        return;
    loss_add_lanes(w->lanes.absolute, g->absolute);
    loss_add_lanes(w->lanes.squared, g->squared);
}

#endif
#endif
