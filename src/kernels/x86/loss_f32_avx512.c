/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX-512. A vector is one of three sorts, the frequent ones first:
 *
 *   plain   nothing but inexactness can be its case, no error is a new maximum, and every |e| < |x|
 * / 2: y lies within [x/2, 3x/2], so that y - x is exact in fp32 (Sterbenz) and is converted to
 *           fp64 in place of y
 *   small   some became zero or subnormal, but y - x is exact still
 *   odd     all else */
#include "kernels/x86/loss_avx512.h"

#include <string.h>

/* Parameters of a tile, as bits of magnitudes, and bars: the maxima so far, rounded down, so that
 * no greater error or ratio passes. */
struct singles {
    uint32_t limit; /* from here on a source may overflow or is not finite */
    uint32_t least; /* from here on, twice the smallest normal, it is stored as a normal */
    uint32_t from[2], sure[2]; /* overflow, by sign */
    uint32_t src_normal, subnormals;
    __m512 plain_ratio, small_ratio, largest; /* bars */
};

enum { TWO_TO_MINUS_60 = (127 - 60) << 23 }; /* below, differences of fp32 might underflow */

/* A magnitude of fp64 as the bits of the smallest fp32 that is not below it. */
static uint32_t bits_not_below(double magnitude_from)
{
    const float single = (float)magnitude_from;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits + (single < magnitude_from);
}

static struct singles singles_of(const struct dti_loss_rule *rule)
{
    const uint32_t src_normal = bits_not_below(rule->src_smallest_normal);
    const uint32_t dst_normal = bits_not_below(rule->dst_smallest_normal);
    struct singles p = {
        .src_normal = src_normal ? src_normal : 1,
        .subnormals = dst_normal ? dst_normal - 1 : 0,
        .least = bits_not_below(2 * rule->dst_smallest_normal),
    };
    for (unsigned i = 0; i < 2; i++) {
        p.from[i] = bits_not_below(rule->overflow_from[i]);
        p.sure[i] = bits_not_below(rule->overflow_sure[i]);
    }
    p.limit = p.from[0] < p.from[1] ? p.from[0] : p.from[1];
    if (p.least < TWO_TO_MINUS_60)
        p.least = TWO_TO_MINUS_60;
    if (p.least > p.limit)
        p.least = p.limit;
    return p;
}

/* A ratio above 1/2 counts as one of 1/2 until one of 1 has been seen, as of what became zero. */
DTI_INLINE void set_bars(struct singles *p, const struct dti_loss_peak *peak, double ratio)
{
    const double plain = ratio < 0.499 ? ratio : 0.499;
    const __m128 bars = _mm256_castps256_ps128(_mm512_cvt_roundpd_ps(
        _mm512_setr_pd(plain, ratio < 1 ? plain : 1, peak->largest, 0, 0, 0, 0, 0),
        _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
    p->plain_ratio = _mm512_broadcastss_ps(bars);
    p->small_ratio = _mm512_broadcastss_ps(_mm_movehdup_ps(bars));
    p->largest = _mm512_broadcastss_ps(_mm_movehl_ps(bars, bars));
}

DTI_INLINE __m512i bits_of(__m512 value)
{
    return _mm512_castps_si512(value);
}

DTI_INLINE __m512i size_of(__m512 value)
{
    return _mm512_and_si512(bits_of(value), _mm512_set1_epi32(INT32_MAX));
}

DTI_INLINE __m512i all(uint32_t bits)
{
    return _mm512_set1_epi32((int)bits);
}

/* Whether all of `mask` are set, and their errors pass no bar. */
DTI_INLINE bool below_bars(const struct singles *p, __mmask16 mask, __m512 ratio, __m512i x_size,
                           __m512 error)
{
    const __m512 above = _mm512_fnmadd_ps(ratio, _mm512_castsi512_ps(x_size), error);
    mask = _mm512_mask_cmp_ps_mask(mask, above, _mm512_setzero_ps(), _CMP_LE_OQ);
    return _mm512_mask_cmp_ps_mask(mask, error, p->largest, _CMP_LE_OQ) == ALL;
}

DTI_INLINE bool are_plain(const struct singles *p, __m512i x_size, __m512 error)
{
    const __mmask16 within =
        _mm512_cmplt_epu32_mask(_mm512_sub_epi32(x_size, all(p->least)), all(p->limit - p->least));
    return below_bars(p, within, p->plain_ratio, x_size, error);
}

/* y - x is exact where y is 0, or less than a factor of two from x: the codes are 2^23 apart or
 * less. */
DTI_INLINE bool are_small(const struct singles *p, __m512 x, __m512 y, __m512i x_size, __m512 error)
{
    const __m512i apart = _mm512_abs_epi32(_mm512_sub_epi32(bits_of(y), bits_of(x)));
    __mmask16 exact = _mm512_cmple_epu32_mask(apart, all(1 << 23)) |
                      _mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_EQ_OQ);
    exact = _mm512_mask_cmplt_epu32_mask(exact, x_size, all(p->limit));
    exact = _mm512_mask_cmpge_epu32_mask(exact, _mm512_sub_epi32(x_size, all(1)),
                                         all(TWO_TO_MINUS_60 - 1));
    return below_bars(p, exact, p->small_ratio, x_size, error);
}

DTI_INLINE void count_small(struct loss_sums_avx512 *s, const struct singles *p, __m512 x, __m512 y)
{
    const __m512i y_size = size_of(y);
    const __mmask16 differ = _mm512_cmp_ps_mask(x, y, _CMP_NEQ_UQ);
    const __mmask16 normal = _mm512_cmpge_epu32_mask(size_of(x), all(p->src_normal));
    s->inexact += dti_loss_popcount(differ);
    s->to_zero += dti_loss_popcount(_mm512_mask_testn_epi32_mask(differ, y_size, y_size));
    s->to_subnormal += dti_loss_popcount(
        _mm512_mask_cmplt_epu32_mask(normal, _mm512_sub_epi32(y_size, all(1)), all(p->subnormals)));
}

/* Counts NaN, infinities and overflow; returns the elements without an error. */
static DTI_NOINLINE unsigned count_specials(const struct dti_loss_rule *rule,
                                            const struct singles *p, __m512 x, __m512 y,
                                            uint64_t index, struct dti_loss *loss)
{
    const __m512i size = size_of(x);
    const __mmask16 minus = _mm512_movepi32_mask(bits_of(x)), plus = (__mmask16)~minus;
    const unsigned from = _mm512_mask_cmpge_epu32_mask(minus, size, all(p->from[1])) |
                          _mm512_mask_cmpge_epu32_mask(plus, size, all(p->from[0]));
    const unsigned sure = _mm512_mask_cmpge_epu32_mask(minus, size, all(p->sure[1])) |
                          _mm512_mask_cmpge_epu32_mask(plus, size, all(p->sure[0]));
    struct dti_loss_masks masks = {
        .nan_x = _mm512_fpclass_ps_mask(x, NOT_A_NUMBER),
        .inf_x = _mm512_fpclass_ps_mask(x, INFINITE),
        .below_x = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ),
        .nan_y = _mm512_fpclass_ps_mask(y, NOT_A_NUMBER),
        .inf_y = _mm512_fpclass_ps_mask(y, INFINITE),
        .beyond = sure,
        .equal_infinite = _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ),
    };
    const unsigned open = from & ~sure & ~masks.nan_x & ~masks.inf_x;
    if (open) {
        double number[LANES];
        _mm512_storeu_pd(number, _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
        _mm512_storeu_pd(number + 8, _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
        masks.beyond |= ask_each(rule, open, number, index);
    }
    const unsigned without = dti_loss_count_specials(rule, &masks, index, loss);
    loss->compared -= dti_loss_popcount(without);
    return without;
}

/* A tile at work. */
struct loss_pass {
    const struct dti_loss_rule *rule;
    struct dti_loss *loss;
    struct dti_loss_peak peak;
};

/* Adds 8 elements; returns whether a maximum has risen. */
DTI_INLINE bool add_eight(struct loss_pass *t, struct loss_sums_avx512 *s, unsigned half, __m256 x,
                          __m256 y, uint64_t index)
{
    const __m512d wide = _mm512_cvtps_pd(x), size = magnitude(wide);
    const __m512d error = magnitude(_mm512_sub_pd(_mm512_cvtps_pd(y), wide));
    const __m512d above = _mm512_fnmadd_pd(_mm512_set1_pd(t->loss->max_relative), size, error);
    __mmask8 below = _mm512_cmp_pd_mask(above, _mm512_setzero_pd(), _CMP_LE_OQ);
    below = _mm512_mask_cmp_pd_mask(below, error, _mm512_set1_pd(t->peak.largest), _CMP_LE_OQ);
    add_sums(s, half, error, size);
    if (__builtin_expect(below == EIGHT, 1))
        return false;
    raise_peaks(&t->peak, t->loss, error, size, index);
    return true;
}

DTI_INLINE void add_odd(struct loss_pass *t, struct loss_sums_avx512 *s, struct singles *p,
                        __m512 x, __m512 y, uint64_t index)
{
    if (_mm512_cmpge_epu32_mask(size_of(x), all(p->limit)) |
        _mm512_fpclass_ps_mask(y, NOT_FINITE)) {
        const unsigned without = count_specials(t->rule, p, x, y, index, t->loss);
        x = _mm512_maskz_mov_ps((__mmask16)~without, x);
        y = _mm512_maskz_mov_ps((__mmask16)~without, y);
    }
    count_small(s, p, x, y);
    bool risen = add_eight(t, s, 0, _mm512_castps512_ps256(x), _mm512_castps512_ps256(y), index);
    risen |=
        add_eight(t, s, 1, _mm512_extractf32x8_ps(x, 1), _mm512_extractf32x8_ps(y, 1), index + 8);
    if (risen)
        set_bars(p, &t->peak, t->loss->max_relative);
}

DTI_INLINE void add_vector(struct loss_pass *t, struct loss_sums_avx512 *s, struct singles *p,
                           const float *source, const float *stored, bool try_plain, uint64_t index)
{
    const __m512 x = _mm512_loadu_ps(source), y = _mm512_loadu_ps(stored);
    const __m512i x_size = size_of(x);
    const __m512 error = _mm512_castsi512_ps(size_of(_mm512_sub_ps(y, x)));
    if (try_plain && __builtin_expect(are_plain(p, x_size, error), 1)) {
        s->inexact += dti_loss_popcount(_mm512_cmp_ps_mask(x, y, _CMP_NEQ_UQ));
    } else if (are_small(p, x, y, x_size, error)) {
        count_small(s, p, x, y);
    } else {
        add_odd(t, s, p, x, y, index);
        return;
    }
    const float *again = source;
    __asm__("" : "+r"(again)); /* clang 14 takes halves known from x apart element by element */
    add_sums(s, 0, _mm512_cvtps_pd(_mm512_castps512_ps256(error)),
             _mm512_cvtps_pd(_mm256_loadu_ps(again)));
    add_sums(s, 1, _mm512_cvtps_pd(_mm512_extractf32x8_ps(error, 1)),
             _mm512_cvtps_pd(_mm256_loadu_ps(again + 8)));
}

void dti_loss_f32_avx512(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss)
{
    struct loss_pass t = {rule, loss, dti_loss_peak_start(loss, index)};
    struct singles p = singles_of(rule);
    struct loss_sums_avx512 s = no_sums();
    const float *x = source, *y = stored;
    /* In an array much of which became small it is lost time to look whether elements are plain. */
    const bool try_plain = loss->to_zero + loss->to_subnormal <= loss->elements / 64;
    size_t i = 0;
    set_bars(&p, &t.peak, loss->max_relative);
    for (; n - i >= LANES; i += LANES)
        add_vector(&t, &s, &p, x + i, y + i, try_plain, index + i);
    if (i < n) {
        const __mmask16 some = (__mmask16)(ALL >> (LANES - (n - i)));
        float x_rest[LANES], y_rest[LANES];
        _mm512_storeu_ps(x_rest, _mm512_maskz_loadu_ps(some, x + i));
        _mm512_storeu_ps(y_rest, _mm512_maskz_loadu_ps(some, y + i));
        add_vector(&t, &s, &p, x_rest, y_rest, try_plain, index + i);
    }
    dti_loss_peak_end(&t.peak, loss);
    end_tile(&s, n, loss);
}
