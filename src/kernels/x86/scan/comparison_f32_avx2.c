/* SPDX-License-Identifier: MIT
 *
 * Comparisons of fp32 with AVX2, like comparison_f32_avx512.c, but with separate passes over a
 * tile for four lanes each, and for steps, so that sums stay in registers. */
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/comparison_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, STEP = 8, PASS = 4 /* lanes */ };

struct comparison_view_avx2 {
    double ratio, atol, rtol;
    bool tolerant;
};

/* Of the lanes of a pass. */
struct comparison_sums_avx2 {
    __m256d absolute, squared, aa, bb, ab;
    __m256d largest, above;
    unsigned exceeding;
};

DTI_INLINE __m256d magnitude(__m256d x)
{
    return _mm256_and_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX)));
}

DTI_INLINE void add_four(struct comparison_sums_avx2 *s, const struct comparison_view_avx2 *look,
                         __m128 narrow_a, __m128 narrow_b, bool tolerant)
{
    const __m256d a = _mm256_cvtps_pd(narrow_a), b = _mm256_cvtps_pd(narrow_b);
    const __m256d error = magnitude(_mm256_sub_pd(a, b)), size = magnitude(b);
    s->absolute = _mm256_add_pd(s->absolute, error);
    s->squared = _mm256_add_pd(s->squared, _mm256_mul_pd(error, error));
    s->aa = _mm256_fmadd_pd(a, a, s->aa);
    s->bb = _mm256_fmadd_pd(b, b, s->bb);
    s->ab = _mm256_fmadd_pd(a, b, s->ab);
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

/* Load four or eight numbers; the end of an array is padded with zeros, which add nothing. */
DTI_INLINE __m128 load_four(const float *from, size_t at, size_t n)
{
    float rest[PASS] = {0};
    if (n >= at + PASS)
        return _mm_loadu_ps(from + at);
    if (n > at)
        memcpy(rest, from + at, (n - at) * sizeof rest[0]);
    return _mm_loadu_ps(rest);
}

DTI_INLINE __m256 load_eight(const float *from, size_t at, size_t n)
{
    return _mm256_set_m128(load_four(from, at + PASS, n), load_four(from, at, n));
}

static double largest_of(__m256d vector)
{
    double lane[4];
    _mm256_storeu_pd(lane, vector);
    for (unsigned i = 1; i < 4; i++)
        lane[0] = lane[i] > lane[0] ? lane[i] : lane[0];
    return lane[0];
}

/* first: the first lane of the pass. */
DTI_INLINE void add_lanes(struct dti_comparison_found *found,
                          const struct comparison_view_avx2 *look, const float *a, const float *b,
                          size_t n, size_t first, bool tolerant)
{
    const __m256d z = _mm256_setzero_pd();
    struct comparison_sums_avx2 s = {z, z, z, z, z, z, z, 0};
    size_t i = first;
    for (; i + PASS <= n; i += LANES)
        add_four(&s, look, _mm_loadu_ps(a + i), _mm_loadu_ps(b + i), tolerant);
    if (i < n)
        add_four(&s, look, load_four(a, i, n), load_four(b, i, n), tolerant);
    _mm256_storeu_pd(found->absolute + first, s.absolute);
    _mm256_storeu_pd(found->squared + first, s.squared);
    _mm256_storeu_pd(found->aa + first, s.aa);
    _mm256_storeu_pd(found->bb + first, s.bb);
    _mm256_storeu_pd(found->ab + first, s.ab);
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
    add_lanes(found, &l, a, b, n, first, false);
}

static DTI_NOINLINE void go_tolerant(struct dti_comparison_found *found,
                                     const struct comparison_view_avx2 *look, const float *a,
                                     const float *b, size_t n, size_t first)
{
    const struct comparison_view_avx2 l = *look;
    add_lanes(found, &l, a, b, n, first, true);
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

struct comparison_steps_avx2 {
    __m256i most;
    uint64_t differing;
};

DTI_INLINE void add_steps(struct comparison_steps_avx2 *s, __m256 x, __m256 y, uint32_t base,
                          bool steps)
{
    s->differing += (unsigned)__builtin_popcount(
        (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_NEQ_UQ)));
    if (!steps)
        return;
    const __m256i p = place(x, base), q = place(y, base);
    const __m256 opposite = _mm256_xor_ps(x, y); /* according to its sign */
    const __m256i between = _mm256_abs_epi32(_mm256_sub_epi32(p, q));
    const __m256i across = _mm256_add_epi32(p, q);
    const __m256 apart =
        _mm256_blendv_ps(_mm256_castsi256_ps(between), _mm256_castsi256_ps(across), opposite);
    s->most = _mm256_max_epu32(s->most, _mm256_castps_si256(apart));
}

DTI_INLINE void go_by_steps(struct dti_comparison_found *found, const float *a, const float *b,
                            size_t n, uint32_t base, bool steps)
{
    struct comparison_steps_avx2 s = {_mm256_setzero_si256(), 0};
    size_t i = 0;
    for (; n - i >= STEP; i += STEP)
        add_steps(&s, _mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), base, steps);
    if (i < n)
        add_steps(&s, load_eight(a, i, n), load_eight(b, i, n), base, steps);
    uint32_t lane[STEP];
    memcpy(lane, &s.most, sizeof lane);
    for (unsigned k = 0; k < STEP; k++)
        found->ulp = lane[k] > found->ulp ? lane[k] : found->ulp;
    found->differing = s.differing;
}

static DTI_NOINLINE void count_differing(struct dti_comparison_found *found, const float *a,
                                         const float *b, size_t n)
{
    go_by_steps(found, a, b, n, 0, false);
}

static DTI_NOINLINE void count_steps(struct dti_comparison_found *found, const float *a,
                                     const float *b, size_t n, uint32_t base)
{
    go_by_steps(found, a, b, n, base, true);
}

DTI_INLINE __m256d add_square(__m256d sum, __m128 narrow)
{
    const __m256d x = _mm256_cvtps_pd(narrow);
    return _mm256_fmadd_pd(x, x, sum);
}

/* The sums of an array that is compared with itself: all three are of the same squares. One that
 * is not finite shows in them. */
static DTI_NOINLINE void go_alone(struct dti_comparison_found *found, const float *a, size_t n)
{
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
    size_t i = 0;
    for (; n - i >= LANES; i += LANES) {
        prefetch_lines(a + i, DTI_SCAN_AHEAD, LANES * sizeof *a);
        s0 = add_square(s0, _mm_loadu_ps(a + i));
        s1 = add_square(s1, _mm_loadu_ps(a + i + PASS));
        s2 = add_square(s2, _mm_loadu_ps(a + i + 2 * PASS));
        s3 = add_square(s3, _mm_loadu_ps(a + i + 3 * PASS));
    }
    s0 = add_square(s0, load_four(a, i, n));
    s1 = add_square(s1, load_four(a, i + PASS, n));
    s2 = add_square(s2, load_four(a, i + 2 * PASS, n));
    s3 = add_square(s3, load_four(a, i + 3 * PASS, n));
    _mm256_storeu_pd(found->aa, s0);
    _mm256_storeu_pd(found->aa + PASS, s1);
    _mm256_storeu_pd(found->aa + 2 * PASS, s2);
    _mm256_storeu_pd(found->aa + 3 * PASS, s3);
    memcpy(found->bb, found->aa, sizeof found->bb);
    memcpy(found->ab, found->aa, sizeof found->ab);
}

void dti_comparison_f32_avx2(const struct dti_comparison_rule *rule, const void *a, const void *b,
                             size_t n, uint64_t index, struct dti_comparison *comparison)
{
    const bool any = rule->ulp.width > 0;
    const struct comparison_view_avx2 look = {
        .ratio = comparison->max_relative,
        .atol = rule->atol,
        .rtol = rule->rtol,
        .tolerant = dti_comparison_tolerates(rule),
    };
    struct dti_comparison_found found = {.largest = 0};
    if (a == b) {
        go_alone(&found, a, n);
        dti_comparison_end_f32(rule, &found, a, b, n, index, comparison);
        return;
    }
    for (size_t first = 0; first < LANES; first += PASS) {
        if (look.tolerant)
            go_tolerant(&found, &look, a, b, n, first);
        else
            go_plain(&found, &look, a, b, n, first);
    }
    if (any)
        count_steps(&found, a, b, n, dti_comparison_base32(&rule->ulp));
    else
        count_differing(&found, a, b, n);
    dti_comparison_end_f32(rule, &found, a, b, n, index, comparison);
}

#endif
