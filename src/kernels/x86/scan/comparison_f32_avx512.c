/* SPDX-License-Identifier: MIT
 *
 * Comparisons of fp32 with AVX-512, 16 pairs per step, one per lane. Products of two fp32
 * numbers are exact in fp64, so one fused operation adds them. A larger ratio shows as |a - b| -
 * ratio |b| > 0, whose sign rounding does not change; only the rare tile that has one needs the
 * division. */
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/comparison_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX512BW__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, ALL = 0xffff };

/* How steps are counted; constants after inlining. */
enum steps {
    NO_STEPS,
    BY_BITS,    /* the dtype has fp32's exponents: positions are magnitudes */
    WITH_SMALL, /* magnitudes below its smallest normal are evenly spaced */
};

/* Vectors hold lanes 0 to 7 and 8 to 15. */
struct comparison_pass {
    __m512d absolute[2], squared[2], aa[2], bb[2], ab[2];
    __m512d largest[2], above[2]; /* above: |a - b| - ratio |b| */
    __m512i ulp;
    uint64_t differing, exceeding;
};

struct comparison_view_avx512 {
    __m512d ratio, atol, rtol;
    __m512i base;
};

DTI_INLINE __m512d magnitude(__m512d x)
{
    return _mm512_castsi512_pd(
        _mm512_and_si512(_mm512_castpd_si512(x), _mm512_set1_epi64(INT64_MAX)));
}

/* Adds eight pairs and returns how many exceed the tolerance. counts: mask of pairs whose b is
 * not zero. */
DTI_INLINE unsigned add_half(struct comparison_pass *p, const struct comparison_view_avx512 *look,
                             unsigned half, __m256 narrow_a, __m256 narrow_b, __mmask8 counts,
                             bool tolerant)
{
    const __m512d a = _mm512_cvtps_pd(narrow_a), b = _mm512_cvtps_pd(narrow_b);
    const __m512d error = magnitude(_mm512_sub_pd(a, b)), size = magnitude(b);
    p->absolute[half] = _mm512_add_pd(p->absolute[half], error);
    p->squared[half] = _mm512_add_pd(p->squared[half], _mm512_mul_pd(error, error));
    p->aa[half] = _mm512_fmadd_pd(a, a, p->aa[half]);
    p->bb[half] = _mm512_fmadd_pd(b, b, p->bb[half]);
    p->ab[half] = _mm512_fmadd_pd(a, b, p->ab[half]);
    p->largest[half] = _mm512_max_pd(p->largest[half], error);
    p->above[half] = _mm512_mask_max_pd(p->above[half], counts, p->above[half],
                                        _mm512_fnmadd_pd(look->ratio, size, error));
    if (!tolerant)
        return 0;
    const __m512d bar = _mm512_add_pd(look->atol, _mm512_mul_pd(look->rtol, size));
    return (unsigned)__builtin_popcount(_mm512_cmp_pd_mask(error, bar, _CMP_GT_OQ));
}

/* The distance of magnitudes from zero on the number line; see comparison_tile.h. */
DTI_INLINE __m512i place(__m512 size, __m512i base, enum steps steps)
{
    if (steps == BY_BITS)
        return _mm512_castps_si512(size);
    const __m512 least = _mm512_castsi512_ps(base);
    const __mmask16 small = _mm512_cmp_ps_mask(size, least, _CMP_LT_OQ);
    const __m512i bits = _mm512_castps_si512(_mm512_mask_add_ps(size, small, size, least));
    const __m512i up = _mm512_maskz_set1_epi32((__mmask16)~small, 1 << 23);
    return _mm512_add_epi32(_mm512_sub_epi32(bits, base), up);
}

DTI_INLINE __m512i apart(__m512 a, __m512 b, __m512i base, enum steps steps)
{
    const __m512i x = place(_mm512_abs_ps(a), base, steps);
    const __m512i y = place(_mm512_abs_ps(b), base, steps);
    const __mmask16 opposite = _mm512_movepi32_mask(_mm512_castps_si512(_mm512_xor_ps(a, b)));
    return _mm512_mask_add_epi32(_mm512_abs_epi32(_mm512_sub_epi32(x, y)), opposite, x, y);
}

/* Adds eight equal pairs; sums that are not updated here would add zero. */
DTI_INLINE void add_equal_half(struct comparison_pass *p, unsigned half, __m256 narrow)
{
    const __m512d a = _mm512_cvtps_pd(narrow);
    p->aa[half] = _mm512_fmadd_pd(a, a, p->aa[half]);
    p->bb[half] = _mm512_fmadd_pd(a, a, p->bb[half]);
    p->ab[half] = _mm512_fmadd_pd(a, a, p->ab[half]);
}

/* Most compared tensors are either equal, or differ nearly everywhere, so the branch is
 * predictable. */
DTI_INLINE void add_vector(struct comparison_pass *p, const struct comparison_view_avx512 *look,
                           __m512 a, __m512 b, enum steps steps, bool tolerant)
{
    const unsigned differ = _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ);
    if (differ == 0) {
        add_equal_half(p, 0, _mm512_castps512_ps256(a));
        add_equal_half(p, 1, _mm512_extractf32x8_ps(a, 1));
        return;
    }
    const unsigned counts = _mm512_cmp_ps_mask(b, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    p->differing += (unsigned)__builtin_popcount(differ);
    if (steps != NO_STEPS)
        p->ulp = _mm512_max_epu32(p->ulp, apart(a, b, look->base, steps));
    p->exceeding += add_half(p, look, 0, _mm512_castps512_ps256(a), _mm512_castps512_ps256(b),
                             (__mmask8)counts, tolerant);
    p->exceeding += add_half(p, look, 1, _mm512_extractf32x8_ps(a, 1), _mm512_extractf32x8_ps(b, 1),
                             (__mmask8)(counts >> 8), tolerant);
}

/* The last vector is padded with zeros, which add nothing. */
DTI_INLINE void go_through(struct comparison_pass *ret, const struct comparison_view_avx512 *look,
                           const float *a, const float *b, size_t n, enum steps steps,
                           bool tolerant)
{
    struct comparison_pass p = *ret;
    const struct comparison_view_avx512 l = *look;
    size_t i = 0;
    for (; n - i >= LANES; i += LANES) {
        prefetch_lines(a + i, DTI_SCAN_AHEAD, LANES * sizeof *a);
        prefetch_lines(b + i, DTI_SCAN_AHEAD, LANES * sizeof *b);
        add_vector(&p, &l, _mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), steps, tolerant);
    }
    if (i < n) {
        const __mmask16 some = (__mmask16)(ALL >> (LANES - (n - i)));
        add_vector(&p, &l, _mm512_maskz_loadu_ps(some, a + i), _mm512_maskz_loadu_ps(some, b + i),
                   steps, tolerant);
    }
    *ret = p;
}

/* The sums of an array that is compared with itself: all three are of the same squares. One that is
 * not finite shows in them. */
static DTI_NOINLINE void go_alone(struct comparison_pass *ret, const float *a, size_t n)
{
    __m512d low = ret->aa[0], high = ret->aa[1];
    for (size_t i = 0; i < n; i += LANES) {
        const __mmask16 some = (__mmask16)(n - i < LANES ? ALL >> (LANES - (n - i)) : ALL);
        const __m512 x = _mm512_maskz_loadu_ps(some, a + i);
        prefetch_lines(a + i, DTI_SCAN_AHEAD, LANES * sizeof *a);
        const __m512d first = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
        const __m512d second = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
        low = _mm512_fmadd_pd(first, first, low);
        high = _mm512_fmadd_pd(second, second, high);
    }
    ret->aa[0] = ret->bb[0] = ret->ab[0] = low;
    ret->aa[1] = ret->bb[1] = ret->ab[1] = high;
}

typedef void go_fn(struct comparison_pass *ret, const struct comparison_view_avx512 *look,
                   const float *a, const float *b, size_t n);
#define GO(name, steps, tolerant)                                                            \
    static DTI_NOINLINE void name(struct comparison_pass *ret,                               \
                                  const struct comparison_view_avx512 *look, const float *a, \
                                  const float *b, size_t n)                                  \
    {                                                                                        \
        go_through(ret, look, a, b, n, steps, tolerant);                                     \
    }
GO(go_no_steps, NO_STEPS, false)
GO(go_by_bits, BY_BITS, false)
GO(go_with_small, WITH_SMALL, false)
GO(go_no_steps_tolerant, NO_STEPS, true)
GO(go_by_bits_tolerant, BY_BITS, true)
GO(go_with_small_tolerant, WITH_SMALL, true)

static void keep(double lane[LANES], const __m512d half[2])
{
    _mm512_storeu_pd(lane, half[0]);
    _mm512_storeu_pd(lane + 8, half[1]);
}

static double largest_of(const __m512d half[2])
{
    return _mm512_reduce_max_pd(_mm512_max_pd(half[0], half[1]));
}

void dti_comparison_f32_avx512(const struct dti_comparison_rule *rule, const void *a, const void *b,
                               size_t n, uint64_t index, struct dti_comparison *comparison)
{
    static go_fn *const loops[][2] = {
        [NO_STEPS] = {go_no_steps, go_no_steps_tolerant},
        [BY_BITS] = {go_by_bits, go_by_bits_tolerant},
        [WITH_SMALL] = {go_with_small, go_with_small_tolerant},
    };
    const bool tolerant = dti_comparison_tolerates(rule), any = rule->ulp.width > 0;
    const uint32_t base = any ? dti_comparison_base32(&rule->ulp) : 0;
    const enum steps steps = !any ? NO_STEPS : base == 1 << 23 ? BY_BITS : WITH_SMALL;
    const struct comparison_view_avx512 look = {
        .ratio = _mm512_set1_pd(comparison->max_relative),
        .atol = _mm512_set1_pd(rule->atol),
        .rtol = _mm512_set1_pd(rule->rtol),
        .base = _mm512_set1_epi32((int)base),
    };
    const __m512d zero = _mm512_setzero_pd();
    struct comparison_pass p = {{zero, zero},
                                {zero, zero},
                                {zero, zero},
                                {zero, zero},
                                {zero, zero},
                                {zero, zero},
                                {zero, zero},
                                _mm512_setzero_si512(),
                                0,
                                0};
    if (a == b)
        go_alone(&p, a, n);
    else
        loops[steps][tolerant](&p, &look, a, b, n);
    struct dti_comparison_found found = {
        .largest = largest_of(p.largest),
        .above = largest_of(p.above) > 0,
        .differing = p.differing,
        .exceeding = p.exceeding,
        .ulp = _mm512_reduce_max_epu32(p.ulp),
    };
    keep(found.absolute, p.absolute);
    keep(found.squared, p.squared);
    keep(found.aa, p.aa);
    keep(found.bb, p.bb);
    keep(found.ab, p.ab);
    dti_comparison_end_f32(rule, &found, a, b, n, index, comparison);
}

#endif
