/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX2. */
#include "kernels/x86/loss_avx2.h"

/* What a plain vector is below, or, for least, above. */
struct plain_bars32 {
    __m256 limit, least, ratio, largest;
};

/* The largest fp32 not above a magnitude. */
static float not_above(double magnitude_to)
{
    float single = (float)magnitude_to;
    uint32_t bits;
    if (single > magnitude_to) {
        memcpy(&bits, &single, sizeof bits);
        bits -= 1;
        memcpy(&single, &bits, sizeof single);
    }
    return single;
}

static struct plain_bars32 bars_of(const struct half *h)
{
    const double ratio = h->loss->max_relative;
    return (struct plain_bars32){
        .limit = _mm256_set1_ps(not_above(overflow_limit(h->rule))),
        .least = _mm256_set1_ps((float)(2 * h->rule->dst_smallest_normal)),
        .ratio = _mm256_set1_ps(not_above(ratio < 0.499 ? ratio : 0.499)),
        .largest = _mm256_set1_ps(not_above(h->peak.largest)),
    };
}

/* Adds plain vectors from `first` on; returns the first element of the step that is not plain. */
static DTI_NOINLINE size_t add_plain_f32(const struct plain_bars32 *bars, const float *source,
                                         const float *stored, size_t first, size_t n,
                                         struct loss_sums_avx2 *sums)
{
    const __m256 low31 = _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX));
    __m256d absolute0 = sums->absolute[0], absolute1 = sums->absolute[1];
    __m256d squared0 = sums->squared[0], squared1 = sums->squared[1];
    __m256d source0 = sums->source_squared[0], source1 = sums->source_squared[1];
    uint64_t inexact = sums->inexact;
    size_t i;
    for (i = first; i + STEP <= n; i += LANES) {
        const __m256 x = _mm256_loadu_ps(source + i), y = _mm256_loadu_ps(stored + i);
        const __m256 error = _mm256_and_ps(_mm256_sub_ps(y, x), low31);
        const __m256 size = _mm256_and_ps(x, low31);
        __m256 odd = _mm256_fmsub_ps(bars->ratio, size, error); /* minus: above the bar */
        odd = _mm256_or_ps(odd, _mm256_cmp_ps(size, bars->limit, _CMP_NLT_UQ));
        odd = _mm256_or_ps(odd, _mm256_cmp_ps(size, bars->least, _CMP_NGE_UQ));
        odd = _mm256_or_ps(odd, _mm256_cmp_ps(error, bars->largest, _CMP_NLE_UQ));
        if (_mm256_movemask_ps(odd))
            break;
        inexact +=
            dti_loss_popcount((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_NEQ_UQ)));
        const __m256d error0 = _mm256_cvtps_pd(_mm256_castps256_ps128(error));
        absolute0 = _mm256_add_pd(absolute0, error0);
        squared0 = _mm256_fmadd_pd(error0, error0, squared0);
        const __m256d error1 = _mm256_cvtps_pd(_mm256_extractf128_ps(error, 1));
        absolute1 = _mm256_add_pd(absolute1, error1);
        squared1 = _mm256_fmadd_pd(error1, error1, squared1);
        const __m256d x0 = _mm256_cvtps_pd(_mm_loadu_ps(source + i));
        source0 = _mm256_fmadd_pd(x0, x0, source0);
        const __m256d x1 = _mm256_cvtps_pd(_mm_loadu_ps(source + i + 4));
        source1 = _mm256_fmadd_pd(x1, x1, source1);
        __asm__("" : "+x"(absolute0), "+x"(absolute1), "+x"(squared0), "+x"(squared1));
        __asm__("" : "+x"(source0), "+x"(source1)); /* else gcc 12 keeps them in memory */
    }
    *sums = (struct loss_sums_avx2){
        {absolute0, absolute1}, {squared0, squared1}, {source0, source1}, inexact};
    return i;
}

DTI_INLINE void load(const float *from, __m256d ret[2])
{
    ret[0] = _mm256_cvtps_pd(_mm_loadu_ps(from));
    ret[1] = _mm256_cvtps_pd(_mm_loadu_ps(from + 4));
}

LOSS_KERNEL_AVX2(dti_loss_f32_avx2, float, plain_bars32, bars_of, add_plain_f32, load, 0)
