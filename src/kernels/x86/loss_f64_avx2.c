/* SPDX-License-Identifier: MIT
 *
 * The loss in fp64 with AVX2. */
#include "kernels/x86/loss_avx2.h"

/* What a plain vector is below, or, for least, above. */
struct plain_bars64 {
    __m256d limit, least, ratio, largest;
};

/* Whether 4 elements are not plain, in the sign bits. */
DTI_INLINE __m256d are_odd(const struct plain_bars64 *bars, __m256d size, __m256d error)
{
    __m256d odd = _mm256_fmsub_pd(bars->ratio, size, error); /* minus: above the bar */
    odd = _mm256_or_pd(odd, _mm256_cmp_pd(size, bars->limit, _CMP_NLT_UQ));
    odd = _mm256_or_pd(odd, _mm256_cmp_pd(size, bars->least, _CMP_NGE_UQ));
    return _mm256_or_pd(odd, _mm256_cmp_pd(error, bars->largest, _CMP_NLE_UQ));
}

/* Adds plain vectors from `first` on; returns the first element of the step that is not plain. */
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
        __asm__("" : "+x"(source0), "+x"(source1)); /* else gcc 12 keeps them in memory */
    }
    *sums = (struct loss_sums_avx2){
        {absolute0, absolute1}, {squared0, squared1}, {source0, source1}, inexact};
    return i;
}

static DTI_NOINLINE void add_rest_f64(struct half *h, const double *source, const double *stored,
                                      size_t first, size_t n, uint64_t index,
                                      struct loss_sums_avx2 *sums)
{
    struct loss_sums_avx2 s = *sums;
    double x_rest[STEP], y_rest[STEP];
    for (size_t i = first; i < n; i += LANES) {
        const double *px = whole_step(source + i, n - i, sizeof *px, x_rest);
        const double *py = whole_step(stored + i, n - i, sizeof *py, y_rest);
        __m256d x[2] = {_mm256_loadu_pd(px), _mm256_loadu_pd(px + 4)};
        __m256d y[2] = {_mm256_loadu_pd(py), _mm256_loadu_pd(py + 4)};
        add_odd(h, &s, x, y, index + i, TINY);
    }
    *sums = s;
}

static void add_half_f64(struct half *h, struct loss_sums_avx2 *s, const void *source,
                         const void *stored, size_t first, size_t n, uint64_t index)
{
    const double ratio = h->loss->max_relative;
    const struct plain_bars64 bars = {
        .limit = _mm256_set1_pd(overflow_limit(h->rule)),
        .least = _mm256_set1_pd(2 * h->rule->dst_smallest_normal),
        .ratio = _mm256_set1_pd(ratio < 0.499 ? ratio : 0.499),
        .largest = _mm256_set1_pd(h->peak.largest),
    };
    first = add_plain_f64(&bars, source, stored, first, n, s);
    if (first < n)
        add_rest_f64(h, source, stored, first, n, index, s);
}

void dti_loss_f64_avx2(const struct dti_loss_rule *rule, const void *source, const void *stored,
                       size_t n, uint64_t index, struct dti_loss *loss)
{
    add_tile(add_half_f64, rule, source, stored, n, index, loss);
}
