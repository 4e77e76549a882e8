/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX2, like loss_f32_avx512.c; a block of 16 lanes is two vectors. */
#include "kernels/scan/loss_bars.h"
#include "kernels/scan/loss_kernels.h"
#include "kernels/x86/blocks.h"

#include <immintrin.h>

enum { VECTOR = 8, HALVES = DTI_LOSS_LANES / VECTOR };

DTI_INLINE __m256i bits_of(__m256 value)
{
    return _mm256_castps_si256(value);
}

DTI_INLINE __m256i size_of(__m256 value)
{
    return _mm256_and_si256(bits_of(value), _mm256_set1_epi32(INT32_MAX));
}

DTI_INLINE __m256i all(uint32_t bits)
{
    return _mm256_set1_epi32((int)bits);
}

/* The number of nonzero elements; each has all bits set or none. */
DTI_INLINE unsigned count_of(__m256i mask)
{
    return dti_loss_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
}

/* Values of a group apart from its sums. Magnitudes are compared as signed integers. */
struct extremes {
    __m256 above;
    __m256i high, low, apart;
};

DTI_INLINE bool any(__m256i mask)
{
    return !_mm256_testz_si256(mask, mask);
}

DTI_INLINE bool are_odd(const struct dti_loss_bars *bars, enum dti_loss_sort sort,
                        const struct extremes *e, const __m256i largest[HALVES])
{
    const __m256i zero = _mm256_setzero_si256(), from = all(DTI_LOSS_SINGLE_FROM);
    const uint32_t least = sort == DTI_LOSS_PLAIN ? bars->least : DTI_LOSS_SINGLE_FROM - 1;
    __m256i odd = _mm256_cmpgt_epi32(e->high, all(bars->limit - 1));
    const __m256i low = _mm256_max_epu32(e->low, all(least)); /* zeros become the highest */
    odd = _mm256_or_si256(odd, _mm256_xor_si256(low, e->low));
    odd = _mm256_or_si256(odd, e->apart);
    for (unsigned half = 0; half < HALVES; half++) {
        const __m256i tiny = _mm256_and_si256(_mm256_cmpgt_epi32(largest[half], zero),
                                              _mm256_cmpgt_epi32(from, largest[half]));
        odd = _mm256_or_si256(odd, tiny);
    }
    return any(odd);
}

DTI_INLINE bool have_risen(const struct dti_loss_bars *bars, const struct extremes *e,
                           const __m256i largest[HALVES])
{
    const __m256i bar = bits_of(_mm256_set1_ps(bars->largest));
    const __m256i above = bits_of(_mm256_cmp_ps(e->above, _mm256_setzero_ps(), _CMP_GT_OQ));
    return any(
        _mm256_or_si256(above, _mm256_cmpgt_epi32(_mm256_max_epi32(largest[0], largest[1]), bar)));
}

/* The sums of half a block's lanes, and the counters. */
struct sums {
    __m256 absolute[HALVES], squared[HALVES], source[HALVES];
    __m256i largest[HALVES];
    unsigned exact, to_zero, to_subnormal;
};

DTI_INLINE void add_eight(const struct dti_loss_bars *bars, enum dti_loss_sort sort, unsigned half,
                          const float *x, const float *y, struct sums *s, struct extremes *e)
{
    const bool plain = sort == DTI_LOSS_PLAIN;
    const __m256i zero = _mm256_setzero_si256(), one = all(1);
    const __m256 from = _mm256_loadu_ps(x);
    const __m256i size = size_of(from);
    s->source[half] = _mm256_fmadd_ps(from, from, s->source[half]);
    e->high = _mm256_max_epi32(e->high, size);
    e->low = _mm256_min_epu32(e->low, plain ? size : _mm256_sub_epi32(size, one));
    if (sort == DTI_LOSS_EXACT)
        return;
    const __m256 to = _mm256_loadu_ps(y);
    const __m256 ratio = _mm256_set1_ps(plain ? bars->plain_ratio : bars->ratio);
    const __m256i error_bits = size_of(_mm256_sub_ps(to, from));
    const __m256 error = _mm256_castsi256_ps(error_bits);
    const __m256i same = _mm256_cmpeq_epi32(error_bits, zero);
    s->exact += count_of(same);
    s->absolute[half] = _mm256_add_ps(s->absolute[half], error);
    s->squared[half] = _mm256_fmadd_ps(error, error, s->squared[half]);
    s->largest[half] = _mm256_max_epi32(s->largest[half], error_bits);
    e->above = _mm256_max_ps(_mm256_fnmadd_ps(ratio, _mm256_castsi256_ps(size), error), e->above);
    if (plain)
        return;
    const __m256i to_size = size_of(to), is_zero = _mm256_cmpeq_epi32(to_size, zero);
    const __m256i normal = _mm256_cmpgt_epi32(size, all(bars->src_normal - 1));
    const __m256i subnormal = _mm256_cmpgt_epi32(all(bars->subnormals + 1), to_size);
    const __m256i apart = _mm256_cmpgt_epi32(error_bits, to_size);
    e->apart = _mm256_or_si256(e->apart, _mm256_andnot_si256(is_zero, apart));
    s->to_zero += count_of(_mm256_andnot_si256(same, is_zero));
    s->to_subnormal += count_of(_mm256_and_si256(normal, _mm256_andnot_si256(is_zero, subnormal)));
}

static DTI_NOINLINE bool raise_maxima(struct dti_loss_work *w, enum dti_loss_sort sort,
                                      const float *x, const float *y, size_t at)
{
    return dti_loss_raise(w, sort, x, y, at);
}

DTI_INLINE void keep(const struct sums *s, enum dti_loss_sort sort, struct dti_loss_work *w,
                     size_t at)
{
    w->counts.inexact += sort == DTI_LOSS_EXACT ? 0 : DTI_LOSS_GROUP - s->exact;
    w->counts.to_zero += s->to_zero;
    w->counts.to_subnormal += s->to_subnormal;
    const size_t lane = at / (DTI_LOSS_GROUP / DTI_LOSS_LANES);
    for (unsigned half = 0; half < HALVES; half++) {
        _mm256_store_ps(w->groups.absolute + lane + VECTOR * half, s->absolute[half]);
        _mm256_store_ps(w->groups.squared + lane + VECTOR * half, s->squared[half]);
        _mm256_store_ps(w->groups.source_squared + lane + VECTOR * half, s->source[half]);
    }
}

DTI_INLINE size_t add_groups(struct dti_loss_work *w, enum dti_loss_sort sort, size_t at)
{
    const __m256 nothing = _mm256_setzero_ps();
    const __m256i zero = _mm256_setzero_si256();
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        const float *const x = w->x + at, *const y = w->y + at;
        struct sums s = {
            {nothing, nothing}, {nothing, nothing}, {nothing, nothing}, {zero, zero}, 0, 0, 0};
        struct extremes e = {nothing, zero, all(UINT32_MAX), zero};
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES) {
            add_eight(&w->bars, sort, 0, x + i, y + i, &s, &e);
            add_eight(&w->bars, sort, 1, x + i + VECTOR, y + i + VECTOR, &s, &e);
        }
        if (__builtin_expect(are_odd(&w->bars, sort, &e, s.largest), 0))
            break;
        if (sort != DTI_LOSS_EXACT && __builtin_expect(have_risen(&w->bars, &e, s.largest), 0) &&
            !raise_maxima(w, sort, x, y, at))
            break;
        keep(&s, sort, w, at);
    }
    return at;
}

DTI_LOSS_GROUPS(add_exact, DTI_LOSS_EXACT)

DTI_LOSS_QUICK_KERNEL(dti_loss_f32_avx2, dti_loss_work_through, NULL, dti_loss_any_avx2)
