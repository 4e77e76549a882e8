/* SPDX-License-Identifier: MIT
 *
 * The loss in fp64 with AVX-512, of arrays and of casts to fp32. Plain vectors are defined as in
 * loss_bars.h, with bars in fp64. */
#include "kernels/x86/scan/loss_avx512.h"

#include <string.h>

/* Updates the maxima with 8 errors at index, by division. */
static DTI_NOINLINE void raise_peaks(struct dti_loss_peak *peak, struct dti_loss *loss,
                                     __m512d error, __m512d source, uint64_t index)
{
    const double largest = _mm512_reduce_max_pd(error);
    if (largest > peak->largest) {
        const unsigned where = _mm512_cmp_pd_mask(error, _mm512_set1_pd(largest), _CMP_EQ_OQ);
        dti_loss_peak_rise(peak, largest, index + dti_loss_lowest(where));
    }
    const __mmask8 counts = _mm512_cmp_pd_mask(source, _mm512_setzero_pd(), _CMP_GT_OQ);
    const double relative = _mm512_reduce_max_pd(_mm512_maskz_div_pd(counts, error, source));
    if (relative > loss->max_relative)
        loss->max_relative = relative;
}

/* Parameters of a tile, as bits of magnitudes. */
struct doubles {
    uint64_t limit, least, from[2], sure[2], src_normal, dst_normal;
};

/* Nonzero ratios are at least 2^-54: down to this, error - ratio x source does not underflow. */
#define TINY 0x1p-900

static struct doubles doubles_of(const struct dti_loss_rule *rule)
{
    struct doubles p = {
        .src_normal = dti_fp64_bits(rule->src_smallest_normal),
        .dst_normal = dti_fp64_bits(rule->dst_smallest_normal),
        .least = dti_fp64_bits(2 * rule->dst_smallest_normal),
    };
    for (unsigned i = 0; i < 2; i++) {
        p.from[i] = dti_fp64_bits(rule->overflow_from[i]);
        p.sure[i] = dti_fp64_bits(rule->overflow_sure[i]);
    }
    p.limit = p.from[0] < p.from[1] ? p.from[0] : p.from[1];
    if (p.least < dti_fp64_bits(TINY))
        p.least = dti_fp64_bits(TINY);
    if (p.least > p.limit)
        p.least = p.limit;
    return p;
}

DTI_INLINE __m512i size_of(__m512d value)
{
    return _mm512_castpd_si512(magnitude(value));
}

DTI_INLINE __m512i all(uint64_t bits)
{
    return _mm512_set1_epi64((int64_t)bits);
}

/* Adds plain vectors; returns the number of elements before the first vector that is not plain,
 * which may also have been cast. With errors below half the source, sources from `least` on are
 * stored as normals. stored: numbers; or NULL to cast to fp32 and write to `codes`. */
DTI_INLINE size_t add_plain(const struct doubles *p, const struct dti_loss_peak *peak, double ratio,
                            const double *source, const double *stored, unsigned char *codes,
                            bool stream, size_t n, struct loss_sums_avx512 *sums)
{
    struct loss_sums_avx512 s = *sums;
    const __m512d largest = _mm512_set1_pd(peak->largest);
    const __m512d half = _mm512_set1_pd(ratio < 0.499 ? ratio : 0.499);
    const __m512i least = all(p->least), span = all(p->limit - p->least);
    size_t i;
    for (i = 0; n - i >= LANES; i += LANES) {
        const __m512d x0 = _mm512_loadu_pd(source + i), x1 = _mm512_loadu_pd(source + i + 8);
        __m512d y0, y1;
        if (stored) {
            y0 = _mm512_loadu_pd(stored + i);
            y1 = _mm512_loadu_pd(stored + i + 8);
        } else {
            const __m256 low = _mm512_cvtpd_ps(x0), high = _mm512_cvtpd_ps(x1);
            const __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
            __builtin_prefetch((const void *)((uintptr_t)(source + i) + DTI_PREFETCH_DISTANCE));
            __builtin_prefetch((const void *)((uintptr_t)(source + i + 8) + DTI_PREFETCH_DISTANCE));
            if (stream)
                _mm512_stream_ps((void *)(codes + 4 * i), both);
            else
                _mm512_storeu_ps((void *)(codes + 4 * i), both);
            y0 = _mm512_cvtps_pd(low);
            y1 = _mm512_cvtps_pd(high);
        }
        const __m512d size0 = magnitude(x0), size1 = magnitude(x1);
        const __m512d error0 = magnitude(_mm512_sub_pd(y0, x0));
        const __m512d error1 = magnitude(_mm512_sub_pd(y1, x1));
        const __m512d above0 = _mm512_fnmadd_pd(half, size0, error0);
        const __m512d above1 = _mm512_fnmadd_pd(half, size1, error1);
        const __m512i size = _mm512_max_epu64(_mm512_sub_epi64(_mm512_castpd_si512(size0), least),
                                              _mm512_sub_epi64(_mm512_castpd_si512(size1), least));
        __mmask8 plain = _mm512_cmplt_epu64_mask(size, span);
        plain = _mm512_mask_cmp_pd_mask(plain, above0, _mm512_setzero_pd(), _CMP_LE_OQ);
        plain = _mm512_mask_cmp_pd_mask(plain, above1, _mm512_setzero_pd(), _CMP_LE_OQ);
        plain = _mm512_mask_cmp_pd_mask(plain, error0, largest, _CMP_LE_OQ);
        plain = _mm512_mask_cmp_pd_mask(plain, error1, largest, _CMP_LE_OQ);
        if (__builtin_expect(plain != EIGHT, 0))
            break;
        s.inexact += dti_loss_popcount(_mm512_cmp_pd_mask(x0, y0, _CMP_NEQ_UQ));
        s.inexact += dti_loss_popcount(_mm512_cmp_pd_mask(x1, y1, _CMP_NEQ_UQ));
        add_sums(&s, 0, error0, size0);
        add_sums(&s, 1, error1, size1);
    }
    *sums = s;
    return i;
}

static DTI_NOINLINE size_t add_plain_arrays(const struct doubles *p,
                                            const struct dti_loss_peak *peak, double ratio,
                                            const double *source, const double *stored, size_t n,
                                            struct loss_sums_avx512 *sums)
{
    return add_plain(p, peak, ratio, source, stored, NULL, false, n, sums);
}

static DTI_NOINLINE size_t add_plain_cast(const struct doubles *p, const struct dti_loss_peak *peak,
                                          double ratio, const double *source, unsigned char *codes,
                                          bool stream, size_t n, struct loss_sums_avx512 *sums)
{
    return add_plain(p, peak, ratio, source, NULL, codes, stream, n, sums);
}

/* Loads 8 elements, or the last ones of an array, or none. */
DTI_INLINE __m512d load(const double *from, size_t at, size_t n)
{
    if (n >= at + 8)
        return _mm512_loadu_pd(from + at);
    return n > at ? _mm512_maskz_loadu_pd((__mmask8)(EIGHT >> (at + 8 - n)), from + at)
                  : _mm512_setzero_pd();
}

static DTI_NOINLINE void count_specials(const struct dti_loss_rule *rule, const struct doubles *p,
                                        __m512d x, __m512d y, uint64_t index, struct dti_loss *loss)
{
    const __m512i size = size_of(x);
    const __mmask8 minus = _mm512_movepi64_mask(_mm512_castpd_si512(x)), plus = (__mmask8)~minus;
    const unsigned from = _mm512_mask_cmpge_epu64_mask(minus, size, all(p->from[1])) |
                          _mm512_mask_cmpge_epu64_mask(plus, size, all(p->from[0]));
    const unsigned sure = _mm512_mask_cmpge_epu64_mask(minus, size, all(p->sure[1])) |
                          _mm512_mask_cmpge_epu64_mask(plus, size, all(p->sure[0]));
    struct dti_loss_masks masks = {
        .nan_x = _mm512_fpclass_pd_mask(x, NOT_A_NUMBER),
        .inf_x = _mm512_fpclass_pd_mask(x, INFINITE),
        .below_x = _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_LT_OQ),
        .nan_y = _mm512_fpclass_pd_mask(y, NOT_A_NUMBER),
        .inf_y = _mm512_fpclass_pd_mask(y, INFINITE),
        .beyond = sure,
        .equal_infinite = _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ),
    };
    const unsigned open = from & ~sure & ~masks.nan_x & ~masks.inf_x;
    if (open) {
        double number[LANES] = {0};
        _mm512_storeu_pd(number, x);
        masks.beyond |= ask_each(rule, open, number, index);
    }
    loss->compared -= dti_loss_popcount(dti_loss_count_specials(rule, &masks, index, loss));
}

static void look_for_specials(const struct dti_loss_rule *rule, const struct doubles *p,
                              const double *source, const double *stored, size_t n, uint64_t index,
                              struct dti_loss *loss)
{
    for (size_t i = 0; i < n; i += 8) {
        const __m512d x = load(source, i, n), y = load(stored, i, n);
        if (_mm512_cmpge_epu64_mask(size_of(x), all(p->limit)) |
            _mm512_fpclass_pd_mask(y, NOT_FINITE))
            count_specials(rule, p, x, y, index + i, loss);
    }
}

/* Sets elements without an error to 0. */
DTI_INLINE void keep_finite(__m512d *x, __m512d *y)
{
    const __mmask8 without =
        _mm512_fpclass_pd_mask(*x, NOT_FINITE) | _mm512_fpclass_pd_mask(*y, NOT_FINITE);
    *x = _mm512_maskz_mov_pd((__mmask8)~without, *x);
    *y = _mm512_maskz_mov_pd((__mmask8)~without, *y);
}

/* Adds any vectors. Returns whether a maximum rises, or might if underflow hides it. */
static DTI_NOINLINE bool add_any(const struct doubles *p, const struct dti_loss_peak *peak,
                                 const double *source, const double *stored, size_t n,
                                 const struct dti_loss *loss, struct loss_sums_avx512 *sums)
{
    struct loss_sums_avx512 s = *sums;
    struct peaks peaks = peaks_start(peak, loss);
    const __m512i src_normal = all(p->src_normal ? p->src_normal : 1);
    const __m512i subnormals = all(p->dst_normal ? p->dst_normal - 1 : 0);
    unsigned tiny = 0;
    for (size_t i = 0; i < n; i += LANES) {
        for (unsigned half = 0; half < 2; half++) {
            __m512d x = load(source, i + 8 * half, n), y = load(stored, i + 8 * half, n);
            keep_finite(&x, &y);
            const __m512d size = magnitude(x), error = magnitude(_mm512_sub_pd(y, x));
            const __m512i y_size = size_of(y);
            const __mmask8 differ = _mm512_cmp_pd_mask(x, y, _CMP_NEQ_UQ);
            const __mmask8 to_zero = _mm512_mask_testn_epi64_mask(differ, y_size, y_size);
            const __mmask8 to_subnormal = _mm512_mask_cmplt_epu64_mask(
                _mm512_cmpge_epu64_mask(_mm512_castpd_si512(size), src_normal),
                _mm512_sub_epi64(y_size, all(1)), subnormals);
            s.inexact += dti_loss_popcount(differ);
            s.to_zero += dti_loss_popcount(to_zero);
            s.to_subnormal += dti_loss_popcount(to_subnormal);
            tiny |= _mm512_mask_cmp_pd_mask(differ, size, _mm512_set1_pd(TINY), _CMP_LT_OQ);
            add_sums(&s, half, error, size);
            see_peaks(&peaks, error, size);
        }
    }
    *sums = s;
    return tiny || have_risen(&peaks);
}

static DTI_NOINLINE void raise_all(struct dti_loss_peak *peak, const double *source,
                                   const double *stored, size_t n, uint64_t index,
                                   struct dti_loss *loss)
{
    for (size_t i = 0; i < n; i += 8) {
        struct peaks peaks = peaks_start(peak, loss);
        __m512d x = load(source, i, n), y = load(stored, i, n);
        keep_finite(&x, &y);
        const __m512d size = magnitude(x), error = magnitude(_mm512_sub_pd(y, x));
        const __mmask8 tiny = _mm512_cmp_pd_mask(size, _mm512_set1_pd(TINY), _CMP_LT_OQ);
        see_peaks(&peaks, error, size);
        if (have_risen(&peaks) ||
            _mm512_mask_cmp_pd_mask(tiny, error, _mm512_setzero_pd(), _CMP_GT_OQ))
            raise_peaks(peak, loss, error, size, index + i);
    }
}

/* Processes what follows the initial plain elements. */
static void add_rest(const struct dti_loss_rule *rule, const struct doubles *p,
                     struct dti_loss_peak *peak, const double *source, const double *stored,
                     size_t n, uint64_t index, struct dti_loss *loss, struct loss_sums_avx512 *sums)
{
    look_for_specials(rule, p, source, stored, n, index, loss);
    if (add_any(p, peak, source, stored, n, loss, sums))
        raise_all(peak, source, stored, n, index, loss);
    dti_loss_peak_end(peak, loss);
}

void dti_loss_f64_avx512(const struct dti_loss_rule *rule, const void *source, const void *stored,
                         size_t n, uint64_t index, struct dti_loss *loss)
{
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    const struct doubles p = doubles_of(rule);
    const double *x = source, *y = stored;
    struct loss_sums_avx512 s = no_sums();
    const size_t plain = add_plain_arrays(&p, &peak, loss->max_relative, x, y, n, &s);
    if (plain < n)
        add_rest(rule, &p, &peak, x + plain, y + plain, n - plain, index + plain, loss, &s);
    end_tile(&s, n, loss);
}

static void cast_tile(const struct dti_loss_rule *rule, const struct dti_loss_cast *cast,
                      void *codes, const double *x, size_t n, uint64_t index, bool stream,
                      struct dti_loss *loss)
{
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    const struct doubles p = doubles_of(rule);
    struct loss_sums_avx512 s = no_sums();
    const size_t plain = add_plain_cast(&p, &peak, loss->max_relative, x, codes, stream, n, &s);
    if (plain < n) {
        double y[DTI_TILE];
        unsigned char *const rest = (unsigned char *)codes + plain * sizeof(float);
        cast->kernel->run(cast->args, rest, x + plain, n - plain);
        cast->back->run(cast->back_args, y, rest, n - plain);
        add_rest(rule, &p, &peak, x + plain, y, n - plain, index + plain, loss, &s);
    }
    end_tile(&s, n, loss);
}

void dti_fp64_to_fp32_loss_avx512(const struct dti_loss_rule *rule,
                                  const struct dti_loss_cast *cast, void *codes, const void *source,
                                  size_t n, uint64_t index, bool stream, struct dti_loss *loss)
{
    const bool aligned = (uintptr_t)codes % DTI_CACHE_LINE == 0;
    for (size_t at = 0; at < n; at += DTI_TILE)
        cast_tile(rule, cast, (unsigned char *)codes + at * sizeof(float),
                  (const double *)source + at, n - at < DTI_TILE ? n - at : DTI_TILE, index + at,
                  stream && aligned, loss);
}
