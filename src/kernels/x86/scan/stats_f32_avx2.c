/* SPDX-License-Identifier: MIT
 *
 * Statistics of fp32 with AVX2, like stats_f32_avx512.c. */
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, HALF = LANES / 2 };

/* Accumulators of a tile. All are indexed by constants: gcc would keep them in memory otherwise. */
struct stats_sums_avx2 {
    __m256d sum[4], squared[4];
    __m256 min, max, least;
    uint64_t signs;
};

DTI_INLINE __m256 magnitude(__m256 x)
{
    return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX)));
}

DTI_INLINE void add_four(struct stats_sums_avx2 *s, unsigned part, __m128 narrow, __m256d shift,
                         bool shifted)
{
    const __m256d x = _mm256_cvtps_pd(narrow);
    const __m256d d = shifted ? _mm256_sub_pd(x, shift) : x;
    s->sum[part] = _mm256_add_pd(s->sum[part], d);
    s->squared[part] = shifted ? _mm256_add_pd(s->squared[part], _mm256_mul_pd(d, d))
                               : _mm256_fmadd_pd(d, d, s->squared[part]); /* exact squares */
}

DTI_INLINE void add_eight(struct stats_sums_avx2 *s, unsigned half, __m256 v, __m256d shift,
                          bool shifted)
{
    s->min = _mm256_min_ps(s->min, v);
    s->max = _mm256_max_ps(s->max, v);
    s->least = _mm256_min_ps(s->least, magnitude(v));
    s->signs += (unsigned)__builtin_popcount((unsigned)_mm256_movemask_ps(v));
    add_four(s, 2 * half, _mm256_castps256_ps128(v), shift, shifted);
    add_four(s, 2 * half + 1, _mm256_extractf128_ps(v, 1), shift, shifted);
}

static float extreme_of(__m256 vector, bool smaller)
{
    float lane[HALF];
    _mm256_storeu_ps(lane, vector);
    for (unsigned i = 1; i < HALF; i++)
        if (smaller ? lane[i] < lane[0] : lane[i] > lane[0])
            lane[0] = lane[i];
    return lane[0];
}

DTI_INLINE void keep(struct dti_stats_pass *p, const struct stats_sums_avx2 *s, unsigned part)
{
    _mm256_storeu_pd(p->sum + 4 * part, s->sum[part]);
    _mm256_storeu_pd(p->squared + 4 * part, s->squared[part]);
}

DTI_INLINE void go_through(struct dti_stats_pass *p, const float *x, size_t n, double shift_by,
                           bool shifted)
{
    const __m256d shift = _mm256_set1_pd(shift_by), z = _mm256_setzero_pd();
    struct stats_sums_avx2 s = {.sum = {z, z, z, z}, .squared = {z, z, z, z}};
    s.min = s.least = _mm256_set1_ps(INFINITY);
    s.max = _mm256_set1_ps(-INFINITY);
    size_t i = 0;
    for (; n - i >= LANES; i += LANES) {
        prefetch_lines(x + i, DTI_SCAN_AHEAD, LANES * sizeof *x);
        add_eight(&s, 0, _mm256_loadu_ps(x + i), shift, shifted);
        add_eight(&s, 1, _mm256_loadu_ps(x + i + HALF), shift, shifted);
    }
    keep(p, &s, 0);
    keep(p, &s, 1);
    keep(p, &s, 2);
    keep(p, &s, 3);
    p->min = extreme_of(s.min, true);
    p->max = extreme_of(s.max, false);
    p->least = extreme_of(s.least, true);
    p->signs = s.signs;
    if (i < n)
        dti_stats_pass_rest(p, x + i, n - i, shift_by);
}

static DTI_NOINLINE void go_unshifted(struct dti_stats_pass *p, const float *x, size_t n)
{
    go_through(p, x, n, 0, false);
}

static DTI_NOINLINE void go_shifted(struct dti_stats_pass *p, const float *x, size_t n,
                                    double shift)
{
    go_through(p, x, n, shift, true);
}

static DTI_NOINLINE void count_small(const float *x, size_t n, float smallest_normal,
                                     struct dti_stats_tile *tile)
{
    const __m256 zero = _mm256_setzero_ps(), bar = _mm256_set1_ps(smallest_normal);
    uint64_t zeros = 0, small = 0, negative = 0;
    for (size_t i = 0; i < n; i += HALF) {
        const unsigned some = n - i < HALF ? 0xffU >> (HALF - (n - i)) : 0xff;
        float rest[HALF] = {0};
        if (n - i < HALF)
            memcpy(rest, x + i, (n - i) * sizeof rest[0]);
        const __m256 v = _mm256_loadu_ps(n - i < HALF ? rest : x + i);
        const __m256 is_zero = _mm256_cmp_ps(v, zero, _CMP_EQ_OQ);
        const __m256 is_small =
            _mm256_andnot_ps(is_zero, _mm256_cmp_ps(magnitude(v), bar, _CMP_LT_OQ));
        zeros += (unsigned)__builtin_popcount((unsigned)_mm256_movemask_ps(is_zero) & some);
        small += (unsigned)__builtin_popcount((unsigned)_mm256_movemask_ps(is_small));
        negative += (unsigned)__builtin_popcount(
            (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(v, zero, _CMP_LT_OQ)));
    }
    tile->zeros = zeros;
    tile->subnormals = small;
    tile->negative = negative;
}

void dti_stats_f32_avx2(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                        uint64_t index, struct dti_stats *stats)
{
    struct dti_stats_pass p;
    if (rule->shift > 0 || rule->shift < 0)
        go_shifted(&p, numbers, n, rule->shift);
    else
        go_unshifted(&p, numbers, n);
    struct dti_stats_tile tile = {
        .negative = p.signs, .sum = dti_tile_sum(p.sum), .squared = dti_tile_sum(p.squared)};
    dti_stats_end_f32(rule, &tile, numbers, n, index, p.min, p.max, p.least, count_small, stats);
}

#endif
