/* SPDX-License-Identifier: MIT
 *
 * Sums of groups of fp32 numbers with AVX-512, for arrays (loss_f32_avx512.c) and for casts that
 * also count their loss (loss_cast_avx512.h). */
#ifndef KERNELS_X86_SCAN_LOSS_GROUP_AVX512_H
#define KERNELS_X86_SCAN_LOSS_GROUP_AVX512_H

#include "kernels/scan/loss_bars.h"
#include "kernels/x86/blocks.h"

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

/* dti_loss_work_through() and dti_loss_raise(), compiled once for the level. */
void dti_loss_work_avx512(struct dti_loss_work *work, dti_loss_groups_fn *const add[]);
bool dti_loss_raise_avx512(struct dti_loss_work *work, enum dti_loss_sort sort, const void *x,
                           const float *y, size_t at);

/* How to detect that an element became small. */
enum loss_smallness {
    LOSS_BY_SIZE, /* by the size of the source: then they are counted separately */
    LOSS_BY_CODE, /* by codes, which are all counted; the cast detects overflow */
};

/* The bars of a sort in registers. */
struct loss_bars {
    __m512 ratio, inverse, sum_end;
    __m512i largest, least, limit, most, src_normal, subnormals, magnitude;
};

/* loss_size() with a mask that stays in a register. */
DTI_INLINE __m512i loss_size_by(const struct loss_bars *bars, __m512 value)
{
    return _mm512_and_si512(loss_bits(value), bars->magnitude);
}

DTI_INLINE struct loss_bars loss_bars_of(const struct dti_loss_bars *bars, enum dti_loss_sort sort)
{
    const __m512 limit = _mm512_castsi512_ps(loss_all(bars->limit));
    __m512i magnitude = loss_all(INT32_MAX);
    __asm__("" : "+v"(magnitude)); /* keeps the compiler from recomputing it */
    return (struct loss_bars){
        .magnitude = magnitude,
        .ratio = _mm512_set1_ps(bars->ratio),
        .inverse = _mm512_set1_ps(bars->inverse),
        .sum_end = _mm512_mul_round_ps(limit, limit, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
        .largest = loss_bits(_mm512_set1_ps(bars->largest)),
        .least = loss_all(sort == DTI_LOSS_SMALL ? DTI_LOSS_SINGLE_FROM - 1 : bars->least),
        .limit = loss_all(bars->limit),
        .most = loss_bits(_mm512_set1_ps(bars->most)),
        .src_normal = loss_all(bars->src_normal),
        .subnormals = loss_all(bars->subnormals),
    };
}

/* The number of elements that became small. */
struct loss_small {
    unsigned to_zero, to_subnormal;
};

/* The state of a group: lanes of sums, extremes, and elements that are not plain. */
struct loss_group {
    __m512 absolute, squared, source;
    __m512i above, largest, high, low;
    __mmask16 apart;
    unsigned inexact;
    struct loss_small small;
};

DTI_INLINE struct loss_group loss_group_begin(void)
{
    const __m512 zero = _mm512_setzero_ps();
    const __m512i nothing = _mm512_setzero_si512();
    return (struct loss_group){.absolute = zero,
                               .squared = zero,
                               .source = zero,
                               .above = nothing,
                               .largest = nothing,
                               .high = nothing,
                               .low = loss_all(UINT32_MAX)};
}

/* Adds one element per lane, everything but the counts. size: |x|; error: |e|. Differences are
 * compared as integers, where negative ones are also below 0. */
DTI_INLINE void loss_group_add(struct loss_group *g, const struct loss_bars *bars,
                               enum dti_loss_sort sort, enum loss_smallness smallness, __m512 x,
                               __m512i size, __m512i error)
{
    const __m512 e = _mm512_castsi512_ps(error);
    g->absolute = _mm512_add_ps(g->absolute, e);
    g->squared = _mm512_fmadd_ps(e, e, g->squared);
    g->source = _mm512_fmadd_ps(x, x, g->source);
    if (sort == DTI_LOSS_PLAIN) {
        const __m512 most = _mm512_castsi512_ps(_mm512_min_epu32(size, bars->most));
        g->above = _mm512_max_epi32(g->above, loss_bits(_mm512_fmsub_ps(e, bars->inverse, most)));
    } else {
        g->largest = _mm512_max_epu32(g->largest, error);
    }
    if (smallness == LOSS_BY_SIZE)
        g->low = _mm512_min_epu32(g->low, size);
}

/* The same for elements that may be 0 or become small. */
DTI_INLINE void loss_group_add_small(struct loss_group *g, const struct loss_bars *bars, __m512 x,
                                     __m512i size, __m512i error)
{
    const __m512 e = _mm512_castsi512_ps(error);
    const __m512 above = _mm512_fnmadd_ps(bars->ratio, _mm512_castsi512_ps(size), e);
    g->absolute = _mm512_add_ps(g->absolute, e);
    g->squared = _mm512_fmadd_ps(e, e, g->squared);
    g->source = _mm512_fmadd_ps(x, x, g->source);
    g->above = _mm512_max_epi32(g->above, loss_bits(above));
    g->largest = _mm512_max_epu32(g->largest, error);
    g->high = _mm512_max_epu32(g->high, size);
    g->low = _mm512_min_epu32(g->low, _mm512_sub_epi32(size, loss_all(1)));
}

DTI_INLINE void loss_count_small(struct loss_small *small, const struct loss_bars *bars,
                                 __m512i size, __m512i y_size)
{
    const __mmask16 zero = _mm512_testn_epi32_mask(y_size, y_size);
    small->to_zero += dti_loss_popcount(_mm512_mask_test_epi32_mask(zero, size, size));
    small->to_subnormal += dti_loss_popcount(
        _mm512_mask_cmplt_epu32_mask(_mm512_cmpge_epu32_mask(size, bars->src_normal),
                                     _mm512_sub_epi32(y_size, loss_all(1)), bars->subnormals));
}

/* The number of nonzero values among 64 magnitudes; saturating packs keep them nonzero. */
DTI_INLINE unsigned loss_group_nonzero(const __m512i size[4])
{
    const __m512i low = _mm512_packs_epi32(size[0], size[1]);
    const __m512i packed = _mm512_packs_epi16(low, _mm512_packs_epi32(size[2], size[3]));
    return loss_popcount64(_mm512_test_epi8_mask(packed, packed));
}

DTI_INLINE void loss_group_count(struct loss_group *g, const __m512i error[4])
{
    g->inexact += loss_group_nonzero(error);
}

/* What to do with a group: leave it to other code, look for new maxima, or add it. */
enum loss_verdict { LOSS_ODD, LOSS_RISEN, LOSS_FINE };

DTI_INLINE enum loss_verdict loss_group_verdict(__mmask16 odd, __mmask16 risen)
{
    if (__builtin_expect((odd | risen) == 0, 1))
        return LOSS_FINE;
    return odd ? LOSS_ODD : LOSS_RISEN;
}

/* Lanes whose sums of squares show numbers that do not suit fp32 sums. */
DTI_INLINE __mmask16 loss_group_unfit(__m512 squares, __m512 end)
{
    return _mm512_cmp_ps_mask(squares, _mm512_set1_ps(0x1p-116F), _CMP_LT_OQ) |
           _mm512_cmp_ps_mask(squares, end, _CMP_NLT_UQ);
}

DTI_INLINE __mmask16 loss_group_errors_unfit(const struct loss_group *g)
{
    const __m512i absolute = loss_bits(g->absolute);
    return _mm512_mask_cmp_ps_mask(_mm512_test_epi32_mask(absolute, absolute), g->squared,
                                   _mm512_set1_ps(0x1p-116F), _CMP_LT_OQ);
}

/* beyond: whether something overflowed, if sums of squares cannot show it. */
DTI_INLINE enum loss_verdict loss_group_judge(const struct loss_group *g,
                                              const struct loss_bars *bars, enum dti_loss_sort sort,
                                              enum loss_smallness smallness, bool beyond)
{
    const __mmask16 odd =
        loss_group_unfit(g->source,
                         smallness == LOSS_BY_CODE ? _mm512_set1_ps(0x1p120F) : bars->sum_end) |
        loss_group_errors_unfit(g) | beyond;
    return loss_group_verdict(odd, sort == DTI_LOSS_PLAIN
                                       ? _mm512_cmpgt_epi32_mask(g->above, _mm512_setzero_si512())
                                       : _mm512_cmpgt_epu32_mask(g->largest, bars->largest));
}

DTI_INLINE enum loss_verdict loss_group_judge_small(const struct loss_group *g,
                                                    const struct loss_bars *bars)
{
    const __m512i one = loss_all(1);
    const __mmask16 odd = g->apart | _mm512_cmplt_epu32_mask(g->low, bars->least) |
                          _mm512_cmpge_epu32_mask(g->high, bars->limit) |
                          _mm512_cmplt_epu32_mask(_mm512_sub_epi32(g->largest, one),
                                                  loss_all(DTI_LOSS_SINGLE_FROM - 1));
    return loss_group_verdict(odd, _mm512_cmpgt_epi32_mask(g->above, _mm512_setzero_si512()) |
                                       _mm512_cmpgt_epu32_mask(g->largest, bars->largest));
}

DTI_INLINE void loss_group_keep(const struct loss_group *g, struct dti_loss_work *w, size_t at,
                                struct dti_loss_counts *counts)
{
    const size_t lane = at / (DTI_LOSS_GROUP / DTI_LOSS_LANES);
    counts->inexact += g->inexact;
    counts->to_zero += g->small.to_zero;
    counts->to_subnormal += g->small.to_subnormal;
    _mm512_store_ps(w->groups.absolute + lane, g->absolute);
    _mm512_store_ps(w->groups.squared + lane, g->squared);
    _mm512_store_ps(w->groups.source_squared + lane, g->source);
}

DTI_INLINE void loss_counts_add(struct dti_loss_work *w, const struct dti_loss_counts *counts)
{
    w->counts.inexact += counts->inexact;
    w->counts.to_zero += counts->to_zero;
    w->counts.to_subnormal += counts->to_subnormal;
}

#endif
#endif
