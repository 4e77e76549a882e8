/* SPDX-License-Identifier: MIT
 *
 * The loss in fp64 with AVX2. */
#include "kernels/x86/scan/loss_avx2.h"

/* The bounds of a plain vector: upper bounds, but `least` is a lower bound. */
struct plain_bars64 {
    __m256d limit, least, ratio, largest;
};

/* Whether each of 4 elements is not plain, in the sign bits. */
DTI_INLINE __m256d are_odd(const struct plain_bars64 *bars, __m256d size, __m256d error)
{
    __m256d odd = _mm256_fmsub_pd(bars->ratio, size, error); /* negative: above the bar */
    odd = _mm256_or_pd(odd, _mm256_cmp_pd(size, bars->limit, _CMP_NLT_UQ));
    odd = _mm256_or_pd(odd, _mm256_cmp_pd(size, bars->least, _CMP_NGE_UQ));
    return _mm256_or_pd(odd, _mm256_cmp_pd(error, bars->largest, _CMP_NLE_UQ));
}

/* Adds plain vectors from `first` on; returns the first element of the first step that is not
 * plain. */
static DTI_NOINLINE size_t add_plain_f64(const struct plain_bars64 *bars, const double *source,
                                         const double *stored, size_t first, size_t n,
                                         struct loss_sums_avx2 *sums)
{
    __m256d absolute0 = sums->absolute[0], absolute1 = sums->absolute[1];
    __m256d squared0 = sums->squared[0], squared1 = sums->squared[1];
    __m256d source0 = sums->source_squared[0], source1 = sums->source_squared[1];
    uint64_t inexact = sums->inexact;
    size_t i;
    for (i = first; i + STEP <= n; i += LANES) {
        const __m256d x0 = _mm256_loadu_pd(source + i), y0 = _mm256_loadu_pd(stored + i);
        const __m256d x1 = _mm256_loadu_pd(source + i + 4), y1 = _mm256_loadu_pd(stored + i + 4);
        const __m256d error0 = magnitude(_mm256_sub_pd(y0, x0));
        const __m256d error1 = magnitude(_mm256_sub_pd(y1, x1));
        if (_mm256_movemask_pd(_mm256_or_pd(are_odd(bars, magnitude(x0), error0),
                                            are_odd(bars, magnitude(x1), error1))))
            break;
        inexact += dti_loss_popcount(
            mask_of(_mm256_cmp_pd(x0, y0, _CMP_NEQ_UQ), _mm256_cmp_pd(x1, y1, _CMP_NEQ_UQ)));
        absolute0 = _mm256_add_pd(absolute0, error0);
        absolute1 = _mm256_add_pd(absolute1, error1);
        squared0 = _mm256_fmadd_pd(error0, error0, squared0);
        squared1 = _mm256_fmadd_pd(error1, error1, squared1);
        source0 = _mm256_fmadd_pd(x0, x0, source0);
        source1 = _mm256_fmadd_pd(x1, x1, source1);
        __asm__("" : "+x"(absolute0), "+x"(absolute1), "+x"(squared0), "+x"(squared1));
        __asm__("" : "+x"(source0), "+x"(source1)); /* otherwise gcc 12 keeps them in memory */
    }
    *sums = (struct loss_sums_avx2){
        {absolute0, absolute1}, {squared0, squared1}, {source0, source1}, inexact};
    return i;
}

DTI_INLINE void load(const double *from, __m256d ret[2])
{
    ret[0] = _mm256_loadu_pd(from);
    ret[1] = _mm256_loadu_pd(from + 4);
}

static struct plain_bars64 bars_of(const struct half *h)
{
    const double ratio = h->loss->max_relative;
    return (struct plain_bars64){
        .limit = _mm256_set1_pd(overflow_limit(h->rule)),
        .least = _mm256_set1_pd(2 * h->rule->dst_smallest_normal),
        .ratio = _mm256_set1_pd(ratio < 0.499 ? ratio : 0.499),
        .largest = _mm256_set1_pd(h->peak.largest),
    };
}

LOSS_KERNEL_AVX2(dti_loss_f64_avx2, double, plain_bars64, bars_of, add_plain_f64, load, TINY)
