/* SPDX-License-Identifier: MIT
 *
 * Sums and maxima of a tile with AVX-512, 16 elements per step, one per lane. The loops are
 * separate functions without calls, so that their sums stay in registers. */
#ifndef KERNELS_X86_SCAN_LOSS_AVX512_H
#define KERNELS_X86_SCAN_LOSS_AVX512_H

#include "kernels/scan/loss_kernels.h"
#include "kernels/scan/loss_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX512BW__
#include <immintrin.h>

enum { LANES = DTI_LOSS_LANES, ALL = 0xffff, EIGHT = 0xff };
enum { INFINITE = 0x18, NOT_A_NUMBER = 0x81, NOT_FINITE = 0x99 }; /* classes of vfpclass */

/* Vectors hold lanes 0 to 7 and 8 to 15. */
struct loss_sums_avx512 {
    __m512d absolute[2], squared[2], source_squared[2];
    uint64_t inexact, to_zero, to_subnormal;
};

DTI_INLINE struct loss_sums_avx512 no_sums(void)
{
    const __m512d zero = _mm512_setzero_pd();
    return (struct loss_sums_avx512){{zero, zero}, {zero, zero}, {zero, zero}, 0, 0, 0};
}

DTI_INLINE void add_sums(struct loss_sums_avx512 *s, unsigned half, __m512d error, __m512d source)
{
    s->absolute[half] = _mm512_add_pd(s->absolute[half], error);
    s->squared[half] = _mm512_fmadd_pd(error, error, s->squared[half]);
    s->source_squared[half] = _mm512_fmadd_pd(source, source, s->source_squared[half]);
}

DTI_INLINE __m512d magnitude(__m512d value)
{
    return _mm512_castsi512_pd(
        _mm512_and_si512(_mm512_castpd_si512(value), _mm512_set1_epi64(INT64_MAX)));
}

DTI_INLINE double tree_sum(const __m512d half[2])
{
    const __m512d sum8 = _mm512_add_pd(half[0], half[1]);
    const __m256d sum4 =
        _mm256_add_pd(_mm512_castpd512_pd256(sum8), _mm512_extractf64x4_pd(sum8, 1));
    const __m128d sum2 = _mm_add_pd(_mm256_castpd256_pd128(sum4), _mm256_extractf128_pd(sum4, 1));
    return _mm_cvtsd_f64(_mm_add_sd(sum2, _mm_unpackhi_pd(sum2, sum2)));
}

/* Adds the sums of a tile; special elements are already counted. */
DTI_INLINE void end_tile(const struct loss_sums_avx512 *s, size_t n, struct dti_loss *loss)
{
    loss->elements += n;
    loss->compared += n;
    loss->inexact += s->inexact;
    loss->to_zero += s->to_zero;
    loss->to_subnormal += s->to_subnormal;
    dti_exact_sum_add(&loss->sum_absolute, tree_sum(s->absolute));
    dti_exact_sum_add(&loss->sum_squared, tree_sum(s->squared));
    dti_exact_sum_add(&loss->sum_source_squared, tree_sum(s->source_squared));
}

/* The bars that a largest error or ratio of a tile must exceed, and what came closest: above is
 * error - ratio x source. Rounded once, a difference keeps its sign unless it underflows to
 * zero. */
struct peaks {
    __m512d largest, ratio, error, above;
};

DTI_INLINE struct peaks peaks_start(const struct dti_loss_peak *peak, const struct dti_loss *loss)
{
    return (struct peaks){_mm512_set1_pd(peak->largest), _mm512_set1_pd(loss->max_relative),
                          _mm512_setzero_pd(), _mm512_setzero_pd()};
}

DTI_INLINE void see_peaks(struct peaks *p, __m512d error, __m512d source)
{
    p->error = _mm512_max_pd(p->error, error);
    p->above = _mm512_max_pd(p->above, _mm512_fnmadd_pd(p->ratio, source, error));
}

DTI_INLINE bool have_risen(const struct peaks *p)
{
    return (_mm512_cmp_pd_mask(p->error, p->largest, _CMP_GT_OQ) |
            _mm512_cmp_pd_mask(p->above, _mm512_setzero_pd(), _CMP_GT_OQ)) != 0;
}

/* Decides elements between the two thresholds of stochastic rounding. */
DTI_INLINE unsigned ask_each(const struct dti_loss_rule *rule, unsigned mask,
                             const double source[LANES], uint64_t index)
{
    unsigned overflowed = 0;
    for (; mask; mask &= mask - 1) {
        const unsigned i = dti_loss_lowest(mask);
        overflowed |= (unsigned)dti_loss_overflows(rule, source[i], index + i) << i;
    }
    return overflowed;
}

#endif
#endif
