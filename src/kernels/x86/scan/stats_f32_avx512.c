/* SPDX-License-Identifier: MIT
 *
 * Statistics of fp32 with AVX-512, 32 elements per step. One pass sums, tracks the extremes and
 * the smallest magnitude, and counts signs. Only a tile with zeros or subnormals takes another
 * pass to count them, and one whose sums are not finite goes to the definition. */
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX512BW__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, STEP = 2 * LANES, ALL = 0xffff };
enum {
    LEAST_MAGNITUDE = 2 | 8
}; /* immediate of vrangeps: the smaller of two magnitudes,
    * without a sign */

/* The results of a pass. Sums: lanes 0 to 7 and 8 to 15; the others: for alternate vectors. */
struct stats_pass_avx512 {
    __m512d sum[2], squared[2];
    __m512 min[2], max[2], least[2];
    uint64_t signs;
};

DTI_INLINE struct stats_pass_avx512 no_pass(void)
{
    const __m512 infinity = _mm512_set1_ps(INFINITY), minus = _mm512_set1_ps(-INFINITY);
    const __m512d zero = _mm512_setzero_pd();
    return (struct stats_pass_avx512){{zero, zero},   {zero, zero},         {infinity, infinity},
                                      {minus, minus}, {infinity, infinity}, 0};
}

/* Adds lanes 8 x half and following. shifted: a constant after inlining; without a shift squares
 * are exact, and one fused operation adds them. some: mask of the elements that count. */
DTI_INLINE void add_half(struct stats_pass_avx512 *p, unsigned half, __m256 narrow, __m512d shift,
                         bool shifted, __mmask8 some)
{
    const __m512d x = _mm512_cvtps_pd(narrow);
    const __m512d d = shifted ? _mm512_maskz_sub_pd(some, x, shift) : x;
    p->sum[half] = _mm512_add_pd(p->sum[half], d);
    p->squared[half] = shifted ? _mm512_add_pd(p->squared[half], _mm512_mul_pd(d, d))
                               : _mm512_fmadd_pd(d, d, p->squared[half]);
}

DTI_INLINE void add_vector(struct stats_pass_avx512 *p, unsigned which, __m512 x, __m512d shift,
                           bool shifted, __mmask16 some)
{
    p->min[which] = _mm512_mask_min_ps(p->min[which], some, p->min[which], x);
    p->max[which] = _mm512_mask_max_ps(p->max[which], some, p->max[which], x);
    p->least[which] =
        _mm512_mask_range_ps(p->least[which], some, p->least[which], x, LEAST_MAGNITUDE);
    p->signs += (unsigned)__builtin_popcount(_mm512_movepi32_mask(_mm512_castps_si512(x)));
    add_half(p, 0, _mm512_castps512_ps256(x), shift, shifted, (__mmask8)some);
    add_half(p, 1, _mm512_extractf32x8_ps(x, 1), shift, shifted, (__mmask8)(some >> 8));
}

/* A mask of the remaining elements, or of all. */
DTI_INLINE __mmask16 first_of(size_t left)
{
    return (__mmask16)(left < LANES ? ALL >> (LANES - left) : ALL);
}

DTI_INLINE struct stats_pass_avx512 go_through(const float *x, size_t n, double shift_by,
                                               bool shifted)
{
    const __m512d shift = _mm512_set1_pd(shift_by);
    struct stats_pass_avx512 p = no_pass();
    size_t i = 0;
    for (; n - i >= STEP; i += STEP) {
        prefetch_lines(x + i, DTI_SCAN_AHEAD, STEP * sizeof *x);
        add_vector(&p, 0, _mm512_loadu_ps(x + i), shift, shifted, ALL);
        add_vector(&p, 1, _mm512_loadu_ps(x + i + LANES), shift, shifted, ALL);
    }
    for (; i < n; i += LANES) {
        const __mmask16 some = first_of(n - i);
        add_vector(&p, 0, _mm512_maskz_loadu_ps(some, x + i), shift, shifted, some);
    }
    return p;
}

static DTI_NOINLINE struct stats_pass_avx512 go_unshifted(const float *x, size_t n)
{
    return go_through(x, n, 0, false);
}

static DTI_NOINLINE struct stats_pass_avx512 go_shifted(const float *x, size_t n, double shift)
{
    return go_through(x, n, shift, true);
}

/* Counts zeros, numbers below the smallest normal, and negative numbers. */
static DTI_NOINLINE void count_small(const float *x, size_t n, float smallest_normal,
                                     struct dti_stats_tile *tile)
{
    const __m512 zero = _mm512_setzero_ps(), bar = _mm512_set1_ps(smallest_normal);
    uint64_t zeros = 0, small = 0, negative = 0;
    for (size_t i = 0; i < n; i += LANES) {
        const __mmask16 some = first_of(n - i);
        const __m512 v = _mm512_maskz_loadu_ps(some, x + i);
        const unsigned is_zero = _mm512_mask_cmp_ps_mask(some, v, zero, _CMP_EQ_OQ);
        const unsigned is_small = _mm512_mask_cmp_ps_mask(some, _mm512_abs_ps(v), bar, _CMP_LT_OQ);
        zeros += (unsigned)__builtin_popcount(is_zero);
        small += (unsigned)__builtin_popcount(is_small & ~is_zero);
        negative += (unsigned)__builtin_popcount(_mm512_cmp_ps_mask(v, zero, _CMP_LT_OQ));
    }
    tile->zeros = zeros;
    tile->subnormals = small;
    tile->negative = negative;
}

static double sum_of(const __m512d half[2])
{
    double lane[LANES];
    _mm512_storeu_pd(lane, half[0]);
    _mm512_storeu_pd(lane + 8, half[1]);
    return dti_tile_sum(lane);
}

void dti_stats_f32_avx512(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                          uint64_t index, struct dti_stats *stats)
{
    const bool shifted = rule->shift > 0 || rule->shift < 0;
    const struct stats_pass_avx512 p =
        shifted ? go_shifted(numbers, n, rule->shift) : go_unshifted(numbers, n);
    struct dti_stats_tile tile = {
        .negative = p.signs, .sum = sum_of(p.sum), .squared = sum_of(p.squared)};
    dti_stats_end_f32(
        rule, &tile, numbers, n, index, _mm512_reduce_min_ps(_mm512_min_ps(p.min[0], p.min[1])),
        _mm512_reduce_max_ps(_mm512_max_ps(p.max[0], p.max[1])),
        _mm512_reduce_min_ps(_mm512_min_ps(p.least[0], p.least[1])), count_small, stats);
}

#endif
