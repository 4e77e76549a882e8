/* SPDX-License-Identifier: MIT
 *
 * The loss of whole groups of any fp32 numbers: with NaNs, infinities, overflows, subnormals, and
 * numbers that do not suit fp32 sums. Masks take the place of branches; each lane is summed in
 * fp32 and in fp64, and then one of the two is kept. */
#include "kernels/scan/loss_bars.h"
#include "kernels/x86/vector.h"

#ifdef __AVX2__
enum { WIDTH = VECTOR / 4, WIDE = WIDTH / 2 };

/* Conditions, one per element. */
#ifdef __AVX512BW__
typedef __mmask16 flags;
#define COMPARE(a, b, predicate) _mm512_cmp_ps_mask(a, b, predicate)
#define BOTH(a, b)               ((flags)((a) & (b)))
#define EITHER(a, b)             ((flags)((a) | (b)))
#define BUT_NOT(a, b)            ((flags)((a) & ~(b)))
#define MASK_OF(f)               ((unsigned)(f))

DTI_INLINE flags are_finite(vector_ps x)
{
    enum { NOT_FINITE = 0x99 }; /* classes of vfpclass */
    return (flags)~_mm512_fpclass_ps_mask(x, NOT_FINITE);
}

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return _mm512_maskz_mov_ps(f, x);
}

DTI_INLINE half_vector_ps half_of(vector_ps x, unsigned half)
{
    return half ? _mm512_extractf32x8_ps(x, 1) : _mm512_castps512_ps256(x);
}

/* One half of the numbers at `from`, in fp64; zeros where the flags are not set. kept: these
 * numbers in fp32. */
DTI_INLINE vector_pd widen(const float *from, flags f, vector_ps kept, unsigned half)
{
    (void)kept;
    return _mm512_maskz_cvtps_pd((__mmask8)(f >> WIDE * half), _mm256_loadu_ps(from + WIDE * half));
}

/* The numbers of one half from b where the flags are set, else from a. */
DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    return _mm512_mask_mov_pd(a, (__mmask8)(f >> WIDE * half), b);
}

DTI_INLINE bool any_above(vector_pd a, double bar)
{
    return _mm512_cmp_pd_mask(a, _mm512_set1_pd(bar), _CMP_GT_OQ) != 0;
}
#else
typedef __m256 flags;
#define COMPARE(a, b, predicate) _mm256_cmp_ps(a, b, predicate)
#define BOTH(a, b)               _mm256_and_ps(a, b)
#define EITHER(a, b)             _mm256_or_ps(a, b)
#define BUT_NOT(a, b)            _mm256_andnot_ps(b, a)
#define MASK_OF(f)               ((unsigned)_mm256_movemask_ps(f))

DTI_INLINE flags are_finite(vector_ps x)
{
    const vector_ps size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
    return COMPARE(size, _mm256_set1_ps(FLT_MAX), _CMP_LE_OQ);
}

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return _mm256_and_ps(f, x);
}

DTI_INLINE half_vector_ps half_of(vector_ps x, unsigned half)
{
    return half ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x);
}

DTI_INLINE vector_pd widen(const float *from, flags f, vector_ps kept, unsigned half)
{
    (void)from, (void)f;
    return _mm256_cvtps_pd(half_of(kept, half));
}

DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    const __m256i wide = _mm256_cvtepi32_epi64(_mm_castps_si128(half_of(f, half)));
    return _mm256_blendv_pd(a, b, _mm256_castsi256_pd(wide));
}

DTI_INLINE bool any_above(vector_pd a, double bar)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_set1_pd(bar), _CMP_GT_OQ)) != 0;
}
#endif

/* Thresholds in fp32: each is the smallest number not below that of the rule. */
struct any_bars {
    vector_ps from, from_below, src_normal, dst_normal, largest;
    vector_pd ratio;
};

/* The sums of a vector's lanes, maxima, and counts. */
struct any_sums {
    vector_ps absolute, squared, source, largest, largest_source;
    vector_pd wide_absolute[2], wide_squared[2], wide_source[2];
    vector_pd most, above; /* the largest |e|, and |e| - ratio |x| */
    flags apart;           /* y - x may not be exact in fp32, or |e| exceeds |x| */
    unsigned nan_x, finite_x, within, both, inexact, to_zero, to_subnormal;
};

DTI_INLINE vector_ps all(float number)
{
    return VECTOR_BITS(set1_ps)(number);
}

DTI_INLINE vector_ps size_of(vector_ps x)
{
    return VECTOR_BITS(andnot_ps)(all(-0.0F), x);
}

DTI_INLINE vector_pd size_of_wide(vector_pd x)
{
    return VECTOR_BITS(andnot_pd)(VECTOR_BITS(set1_pd)(-0.0), x);
}

DTI_INLINE void add_half(struct any_sums *s, unsigned half, vector_pd x, vector_pd e)
{
    s->wide_absolute[half] = VECTOR_BITS(add_pd)(s->wide_absolute[half], e);
    s->wide_squared[half] = VECTOR_BITS(fmadd_pd)(e, e, s->wide_squared[half]);
    s->wide_source[half] = VECTOR_BITS(fmadd_pd)(x, x, s->wide_source[half]);
}

/* The same, and sees maxima. */
DTI_INLINE void see_half(struct any_sums *s, const struct any_bars *bars, unsigned half,
                         vector_pd x, vector_pd y)
{
    const vector_pd size = size_of_wide(x), e = size_of_wide(VECTOR_BITS(sub_pd)(y, x));
    add_half(s, half, x, e);
    s->most = VECTOR_BITS(max_pd)(s->most, e);
    s->above = VECTOR_BITS(max_pd)(s->above, VECTOR_BITS(fnmadd_pd)(bars->ratio, size, e));
}

/* quick: takes errors from fp32, and sees whether it must not. */
DTI_INLINE void add_vector(struct any_sums *s, const struct any_bars *bars, const float *source,
                           const float *stored, bool quick)
{
    const vector_ps given = VECTOR_BITS(loadu_ps)(source), to = VECTOR_BITS(loadu_ps)(stored);
    const flags nan_x = COMPARE(given, given, _CMP_UNORD_Q), nan_y = COMPARE(to, to, _CMP_UNORD_Q);
    const flags finite_x = are_finite(given), both = BOTH(finite_x, are_finite(to));
    const flags within =
        BOTH(COMPARE(given, bars->from, _CMP_LT_OQ), COMPARE(given, bars->from_below, _CMP_GT_OQ));
    const flags differ = BUT_NOT(COMPARE(given, to, _CMP_NEQ_UQ), BOTH(nan_x, nan_y));
    const vector_ps x = keep_where(both, given), y = keep_where(both, to);
    const vector_ps size = size_of(x), y_size = size_of(y), zero = all(0);
    const vector_ps error = size_of(VECTOR_BITS(sub_ps)(y, x));
    const flags nonzero = COMPARE(y_size, zero, _CMP_GT_OQ);
    const flags lower = BOTH(COMPARE(size, bars->src_normal, _CMP_GE_OQ),
                             COMPARE(y_size, bars->dst_normal, _CMP_LT_OQ));
    s->nan_x += dti_loss_popcount(MASK_OF(nan_x));
    s->finite_x += dti_loss_popcount(MASK_OF(finite_x));
    s->within += dti_loss_popcount(MASK_OF(BOTH(both, within)));
    s->both += dti_loss_popcount(MASK_OF(both));
    s->inexact += dti_loss_popcount(MASK_OF(differ));
    s->to_zero += dti_loss_popcount(MASK_OF(BUT_NOT(COMPARE(size, zero, _CMP_GT_OQ), nonzero)));
    s->to_subnormal += dti_loss_popcount(MASK_OF(BOTH(lower, nonzero)));
    s->absolute = VECTOR_BITS(add_ps)(s->absolute, error);
    s->squared = VECTOR_BITS(fmadd_ps)(error, error, s->squared);
    s->source = VECTOR_BITS(fmadd_ps)(x, x, s->source);
    s->largest = VECTOR_BITS(max_ps)(s->largest, error);
    s->largest_source = VECTOR_BITS(max_ps)(s->largest_source, size);
    for (unsigned half = 0; half < 2; half++) {
        const vector_pd from = widen(source, both, x, half);
        if (quick)
            add_half(s, half, from, VECTOR_BITS(cvtps_pd)(half_of(error, half)));
        else
            see_half(s, bars, half, from, widen(stored, both, y, half));
    }
    if (quick)
        s->apart = EITHER(s->apart, EITHER(COMPARE(error, size, _CMP_GT_OQ),
                                           BOTH(nonzero, COMPARE(error, y_size, _CMP_GT_OQ))));
}

/* Lanes whose largest number is 0, or suits fp32 sums. */
DTI_INLINE flags suit(vector_ps largest)
{
    const flags tiny =
        BOTH(COMPARE(largest, all(0), _CMP_GT_OQ), COMPARE(largest, all(0x1p-60F), _CMP_LT_OQ));
    return BUT_NOT(COMPARE(largest, all(0x1p60F), _CMP_LT_OQ), tiny);
}

DTI_INLINE void begin_wide(vector_pd sum[2], const double *lanes)
{
    sum[0] = VECTOR_BITS(loadu_pd)(lanes);
    sum[1] = VECTOR_BITS(loadu_pd)(lanes + WIDE);
}

/* Keeps the sums of lanes that suit fp32 in `group`, and the others in `lanes`. */
DTI_INLINE void keep(flags suits, vector_ps single, const vector_pd wide[2], float *group,
                     double *lanes)
{
    VECTOR_BITS(store_ps)(group, keep_where(suits, single));
    for (unsigned half = 0; half < 2; half++) {
        double *const at = lanes + half * WIDE;
        VECTOR_BITS(storeu_pd)(at, choose(suits, half, wide[half], VECTOR_BITS(loadu_pd)(at)));
    }
}

/* Keeps the results of the lanes from `lane` on. */
DTI_INLINE void keep_lanes(struct dti_loss_work *w, const struct any_sums *s, size_t group,
                           size_t lane)
{
    struct dti_loss_lanes *const lanes = &w->lanes;
    struct dti_loss_groups *const groups = &w->groups;
    struct dti_loss *const loss = w->loss;
    const size_t at = group * DTI_LOSS_LANES + lane;
    const flags suits = BOTH(suit(s->largest), suit(s->largest_source));
    keep(suits, s->absolute, s->wide_absolute, groups->absolute + at, lanes->absolute + lane);
    keep(suits, s->squared, s->wide_squared, groups->squared + at, lanes->squared + lane);
    keep(suits, s->source, s->wide_source, groups->source_squared + at,
         lanes->source_squared + lane);
    loss->nan_in += s->nan_x;
    loss->inf_in += DTI_LOSS_GROUP * WIDTH / DTI_LOSS_LANES - s->finite_x - s->nan_x;
    loss->overflowed += s->finite_x - s->within;
    loss->compared += s->both;
    loss->inexact += s->inexact;
    loss->to_zero += s->to_zero;
    loss->to_subnormal += s->to_subnormal;
}

/* Adds the lanes from `lane` on. Does nothing if quick, but an error is not exact in fp32 or
 * exceeds |x|, which it tells by w->is_apart, or the largest error so far. */
DTI_INLINE bool add_lanes(struct dti_loss_work *w, const struct any_bars *bars, const float *x,
                          const float *y, size_t group, size_t lane, bool quick)
{
    struct any_sums s; /* not initialized here: compilers would clear it as a whole */
    s.absolute = s.squared = s.source = s.largest = s.largest_source = all(0);
    s.most = s.above = VECTOR_BITS(setzero_pd)();
    s.apart = COMPARE(all(0), all(0), _CMP_LT_OQ);
    s.nan_x = s.finite_x = s.within = s.both = s.inexact = s.to_zero = s.to_subnormal = 0;
    begin_wide(s.wide_absolute, w->lanes.absolute + lane);
    begin_wide(s.wide_squared, w->lanes.squared + lane);
    begin_wide(s.wide_source, w->lanes.source_squared + lane);
    for (size_t i = lane; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES)
        add_vector(&s, bars, x + i, y + i, quick);
    if (quick) {
        w->is_apart = MASK_OF(s.apart) != 0;
        if (w->is_apart || MASK_OF(COMPARE(s.largest, bars->largest, _CMP_GT_OQ)))
            return false;
    }
    keep_lanes(w, &s, group, lane);
    w->is_risen |= any_above(s.most, w->peak.largest) || any_above(s.above, 0);
    return true;
}

DTI_INLINE float not_below(double magnitude)
{
    const uint32_t bits = dti_loss_bits_from(magnitude);
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

DTI_INLINE struct any_bars any_bars_of(const struct dti_loss_work *w)
{
    const struct dti_loss_rule *const rule = w->rule;
    return (struct any_bars){
        .from = all(not_below(rule->overflow_from[0])),
        .from_below = all(-not_below(rule->overflow_from[1])),
        .src_normal =
            all(not_below(rule->src_smallest_normal > 0 ? rule->src_smallest_normal : 0x1p-149)),
        .dst_normal = all(not_below(rule->dst_smallest_normal)),
        .largest = all(dti_loss_not_above(w->peak.largest)),
        .ratio = VECTOR_BITS(set1_pd)(w->loss->max_relative),
    };
}

/* Raises the maxima for a whole group from `at` on; elements without an error do not count. */
static DTI_NOINLINE void raise_maxima(struct dti_loss_work *w, const float *x, const float *y,
                                      size_t at)
{
    for (size_t first = 0; first < DTI_LOSS_GROUP; first += DTI_LOSS_LANES) {
        struct dti_loss_block b;
        dti_loss_load_f32(b.x, (const void *)x, first, DTI_LOSS_LANES);
        dti_loss_load_f32(b.y, (const void *)y, first, DTI_LOSS_LANES);
        for (unsigned i = 0; i < DTI_LOSS_LANES; i++) {
            const bool without = !(fabs(b.x[i]) <= FLT_MAX && fabs(b.y[i]) <= FLT_MAX);
            b.x[i] = without ? 0 : b.x[i];
            b.error[i] = without ? 0 : fabs(dti_fp64_add(b.y[i], -b.x[i]));
        }
        dti_loss_look_for_peaks(&b, w->index + at + first, &w->peak, w->loss);
    }
}

/* With a largest ratio of 1, errors that are exact in fp32 and at most |x| raise no ratio. Where
 * one is not, others of the tile likely are not either. */
void VECTOR_NAME(dti_loss_any)(struct dti_loss_work *w, const float *x, const float *y, size_t at,
                               size_t n)
{
    struct any_bars bars = any_bars_of(w);
    for (size_t i = 0; i < n; i += DTI_LOSS_GROUP) {
        const double ratio = w->loss->max_relative;
        const bool quick = ratio >= 1 && ratio <= 1;
        const size_t group = (at + i) / DTI_LOSS_GROUP;
        w->is_risen = false;
        for (size_t lane = 0; lane < DTI_LOSS_LANES; lane += WIDTH)
            if (!quick || w->is_apart || !add_lanes(w, &bars, x + i, y + i, group, lane, true))
                (void)add_lanes(w, &bars, x + i, y + i, group, lane, false);
        if (w->is_risen) {
            raise_maxima(w, x + i, y + i, at + i);
            bars = any_bars_of(w);
        }
    }
}
#endif
