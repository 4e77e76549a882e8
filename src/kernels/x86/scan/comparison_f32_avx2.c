/* SPDX-License-Identifier: MIT
 *
 * Comparisons of fp32 with AVX2, like comparison_f32_avx512.c, but with separate passes over a
 * tile for lanes 0 to 7, for lanes 8 to 15, and for steps, so that sums stay in registers. */
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/comparison_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, STEP = 8 };

struct comparison_view_avx2 {
    double ratio, atol, rtol;
    uint32_t base;
    bool steps, tolerant;
};

/* Lanes 0 to 3 and 4 to 7 of a half. */
struct comparison_sums_avx2 {
    __m256d absolute[2], squared[2], aa[2], bb[2], ab[2];
    __m256d largest, above;
    unsigned exceeding;
};

DTI_INLINE __m256d magnitude(__m256d x)
{
    return _mm256_and_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX)));
}

DTI_INLINE void add_four(struct comparison_sums_avx2 *s, const struct comparison_view_avx2 *look,
                         unsigned part, __m128 narrow_a, __m128 narrow_b, bool tolerant)
{
    const __m256d a = _mm256_cvtps_pd(narrow_a), b = _mm256_cvtps_pd(narrow_b);
    const __m256d error = magnitude(_mm256_sub_pd(a, b)), size = magnitude(b);
    s->absolute[part] = _mm256_add_pd(s->absolute[part], error);
    s->squared[part] = _mm256_add_pd(s->squared[part], _mm256_mul_pd(error, error));
    s->aa[part] = _mm256_fmadd_pd(a, a, s->aa[part]);
    s->bb[part] = _mm256_fmadd_pd(b, b, s->bb[part]);
    s->ab[part] = _mm256_fmadd_pd(a, b, s->ab[part]);
    s->largest = _mm256_max_pd(s->largest, error);
    /* if b is 0 the comparison ignores the pair */
    const __m256d above = _mm256_fnmadd_pd(_mm256_set1_pd(look->ratio), size, error);
    const __m256d counts = _mm256_cmp_pd(size, _mm256_setzero_pd(), _CMP_GT_OQ);
    s->above = _mm256_max_pd(s->above, _mm256_and_pd(above, counts));
    if (!tolerant)
        return;
    const __m256d bar =
        _mm256_add_pd(_mm256_set1_pd(look->atol), _mm256_mul_pd(_mm256_set1_pd(look->rtol), size));
    s->exceeding += (unsigned)__builtin_popcount(
        (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(error, bar, _CMP_GT_OQ)));
}

/* Loads eight numbers; the end of an array is padded with zeros, which add nothing. */
DTI_INLINE __m256 load(const float *from, size_t at, size_t n)
{
    float rest[STEP] = {0};
    if (n >= at + STEP)
        return _mm256_loadu_ps(from + at);
    if (n > at)
        memcpy(rest, from + at, (n - at) * sizeof rest[0]);
    return _mm256_loadu_ps(rest);
}

DTI_INLINE void add_step(struct comparison_sums_avx2 *s, const struct comparison_view_avx2 *look,
                         __m256 a, __m256 b, bool tolerant)
{
    add_four(s, look, 0, _mm256_castps256_ps128(a), _mm256_castps256_ps128(b), tolerant);
    add_four(s, look, 1, _mm256_extractf128_ps(a, 1), _mm256_extractf128_ps(b, 1), tolerant);
}

static double largest_of(__m256d vector)
{
    double lane[4];
    _mm256_storeu_pd(lane, vector);
    for (unsigned i = 1; i < 4; i++)
        lane[0] = lane[i] > lane[0] ? lane[i] : lane[0];
    return lane[0];
}

/* first: the first lane of the half. */
DTI_INLINE void add_half(struct dti_comparison_found *found,
                         const struct comparison_view_avx2 *look, const float *a, const float *b,
                         size_t n, size_t first, bool tolerant)
{
    const __m256d z = _mm256_setzero_pd();
    struct comparison_sums_avx2 s = {{z, z}, {z, z}, {z, z}, {z, z}, {z, z}, z, z, 0};
    size_t i = first;
    for (; i + STEP <= n; i += LANES)
        add_step(&s, look, _mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), tolerant);
    if (i < n)
        add_step(&s, look, load(a, i, n), load(b, i, n), tolerant);
    for (unsigned part = 0; part < 2; part++) {
        const size_t lane = first + 4 * part;
        _mm256_storeu_pd(found->absolute + lane, s.absolute[part]);
        _mm256_storeu_pd(found->squared + lane, s.squared[part]);
        _mm256_storeu_pd(found->aa + lane, s.aa[part]);
        _mm256_storeu_pd(found->bb + lane, s.bb[part]);
        _mm256_storeu_pd(found->ab + lane, s.ab[part]);
    }
    const double largest = largest_of(s.largest);
    found->largest = largest > found->largest ? largest : found->largest;
    found->above = found->above || largest_of(s.above) > 0;
    found->exceeding += s.exceeding;
}

static DTI_NOINLINE void go_plain(struct dti_comparison_found *found,
                                  const struct comparison_view_avx2 *look, const float *a,
                                  const float *b, size_t n, size_t first)
{
    const struct comparison_view_avx2 l = *look;
    add_half(found, &l, a, b, n, first, false);
}

static DTI_NOINLINE void go_tolerant(struct dti_comparison_found *found,
                                     const struct comparison_view_avx2 *look, const float *a,
                                     const float *b, size_t n, size_t first)
{
    const struct comparison_view_avx2 l = *look;
    add_half(found, &l, a, b, n, first, true);
}

/* The distance of a number from zero on the number line; see comparison_tile.h. */
DTI_INLINE __m256i place(__m256 x, uint32_t base_bits)
{
    const __m256i base = _mm256_set1_epi32((int)base_bits);
    const __m256 least = _mm256_castsi256_ps(base);
    const __m256 size = _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX)));
    const __m256 small = _mm256_cmp_ps(size, least, _CMP_LT_OQ);
    const __m256i bits = _mm256_castps_si256(_mm256_add_ps(size, _mm256_and_ps(least, small)));
    const __m256i up = _mm256_andnot_si256(_mm256_castps_si256(small), _mm256_set1_epi32(1 << 23));
    return _mm256_add_epi32(_mm256_sub_epi32(bits, base), up);
}

static DTI_NOINLINE void count_steps(struct dti_comparison_found *found,
                                     const struct comparison_view_avx2 *look, const float *a,
                                     const float *b, size_t n)
{
    __m256i most = _mm256_setzero_si256();
    uint64_t differing = 0;
    const uint32_t base = look->base;
    for (size_t i = 0; i < n; i += STEP) {
        const __m256 x = load(a, i, n), y = load(b, i, n);
        differing += (unsigned)__builtin_popcount(
            (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_NEQ_UQ)));
        if (!look->steps)
            continue;
        const __m256i p = place(x, base), q = place(y, base);
        const __m256 opposite = _mm256_xor_ps(x, y); /* according to its sign */
        const __m256i between = _mm256_abs_epi32(_mm256_sub_epi32(p, q));
        const __m256i across = _mm256_add_epi32(p, q);
        const __m256 steps =
            _mm256_blendv_ps(_mm256_castsi256_ps(between), _mm256_castsi256_ps(across), opposite);
        most = _mm256_max_epu32(most, _mm256_castps_si256(steps));
    }
    uint32_t lane[STEP];
    memcpy(lane, &most, sizeof lane);
    for (unsigned i = 0; i < STEP; i++)
        found->ulp = lane[i] > found->ulp ? lane[i] : found->ulp;
    found->differing = differing;
}

void dti_comparison_f32_avx2(const struct dti_comparison_rule *rule, const void *a, const void *b,
                             size_t n, uint64_t index, struct dti_comparison *comparison)
{
    const bool any = rule->ulp.width > 0;
    const struct comparison_view_avx2 look = {
        .ratio = comparison->max_relative,
        .atol = rule->atol,
        .rtol = rule->rtol,
        .base = any ? dti_comparison_base32(&rule->ulp) : 0,
        .steps = any,
        .tolerant = dti_comparison_tolerates(rule),
    };
    struct dti_comparison_found found = {.largest = 0};
    for (size_t first = 0; first < LANES; first += STEP) {
        if (look.tolerant)
            go_tolerant(&found, &look, a, b, n, first);
        else
            go_plain(&found, &look, a, b, n, first);
    }
    count_steps(&found, &look, a, b, n);
    dti_comparison_end_f32(rule, &found, a, b, n, index, comparison);
}

#endif
