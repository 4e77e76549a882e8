/* SPDX-License-Identifier: MIT
 *
 * The loss in fp64 with AVX2 and AVX-512, of arrays and of casts to fp32. Plain groups are defined
 * as in loss_bars.h, with bars in fp64; the others go to code for any numbers, where masks take the
 * place of branches. The sums of two vectors stay in registers, so AVX2 passes twice over the lanes
 * of a group. */
#include "kernels/scan/loss_bars.h"
#include "kernels/scan/loss_kernels.h"
#include "kernels/x86/vector.h"

enum { WIDE = VECTOR / 8, PASS = 2 * WIDE, GROUP = DTI_LOSS_GROUP, LANES = DTI_LOSS_LANES };

#define all_pd VECTOR_BITS(set1_pd)
#define max_pd VECTOR_BITS(max_pd)

/* Conditions, one per element, and counters of them. */
#ifdef __AVX512BW__
typedef __mmask8 flags;
typedef unsigned counter;
#define COMPARE(a, b, predicate) _mm512_cmp_pd_mask(a, b, predicate)
#define BOTH(a, b)               ((flags)((a) & (b)))
#define EITHER(a, b)             ((flags)((a) | (b)))
#define BUT_NOT(a, b)            ((flags)((a) & ~(b)))
#define MASK_OF(f)               ((unsigned)(f))
#define keep_where(f, x)         _mm512_maskz_mov_pd(f, x)
#define counted(c)               (c)

DTI_INLINE void count(counter *sum, flags f)
{
    *sum += dti_loss_popcount(f);
}
#else
typedef __m256d flags;
typedef __m256i counter;
#define COMPARE(a, b, predicate) _mm256_cmp_pd(a, b, predicate)
#define BOTH(a, b)               _mm256_and_pd(a, b)
#define EITHER(a, b)             _mm256_or_pd(a, b)
#define BUT_NOT(a, b)            _mm256_andnot_pd(b, a)
#define MASK_OF(f)               ((unsigned)_mm256_movemask_pd(f))
#define keep_where(f, x)         _mm256_and_pd(f, x)

DTI_INLINE void count(counter *sum, flags f)
{
    *sum = _mm256_sub_epi64(*sum, (__m256i)f);
}

DTI_INLINE uint64_t counted(counter sum)
{
    uint64_t lane[WIDE];
    store256((unsigned char *)lane, sum, false);
    return lane[0] + lane[1] + lane[2] + lane[3];
}
#endif

/* For sources down to this, error - ratio x source does not underflow, because nonzero ratios are
 * at least 2^-54. */
#define TINY 0x1p-900

DTI_INLINE vector_pd load(const double *from)
{
    return VECTOR_BITS(loadu_pd)(from);
}

DTI_INLINE vector_pd size_of(vector_pd x)
{
    return VECTOR_BITS(andnot_pd)(all_pd(-0.0), x);
}

/* The sums of the lanes of a pass. */
struct sums {
    vector_pd absolute[2], squared[2], source[2];
};

DTI_INLINE struct sums sums_begin(const struct dti_loss_lanes *lanes, size_t lane)
{
    struct sums s;
    for (unsigned half = 0; half < 2; half++) {
        s.absolute[half] = load(lanes->absolute + lane + WIDE * half);
        s.squared[half] = load(lanes->squared + lane + WIDE * half);
        s.source[half] = load(lanes->source_squared + lane + WIDE * half);
    }
    return s;
}

DTI_INLINE void sums_keep(const struct sums *s, struct dti_loss_lanes *lanes, size_t lane)
{
    for (unsigned half = 0; half < 2; half++) {
        VECTOR_BITS(storeu_pd)(lanes->absolute + lane + WIDE * half, s->absolute[half]);
        VECTOR_BITS(storeu_pd)(lanes->squared + lane + WIDE * half, s->squared[half]);
        VECTOR_BITS(storeu_pd)(lanes->source_squared + lane + WIDE * half, s->source[half]);
    }
}

DTI_INLINE void sums_add(struct sums *s, unsigned half, vector_pd x, vector_pd error)
{
    s->absolute[half] = VECTOR_BITS(add_pd)(s->absolute[half], error);
    s->squared[half] = VECTOR_BITS(fmadd_pd)(error, error, s->squared[half]);
    s->source[half] = VECTOR_BITS(fmadd_pd)(x, x, s->source[half]);
}

/* The bars of plain groups, and the extremes of a group. sum_end: squares of numbers that overflow
 * reach it; what reaches it needs no such number. */
struct plain_bars {
    double sum_end, least, ratio, largest;
};

struct extremes {
    vector_pd low, most, above;
    counter inexact;
};

DTI_INLINE struct plain_bars plain_bars_of(const struct dti_loss_rule *rule,
                                           const struct dti_loss_peak *peak,
                                           const struct dti_loss *loss)
{
    const double normal = 2 * rule->dst_smallest_normal, limit = dti_loss_limit(rule);
    return (struct plain_bars){.sum_end = limit * limit * (1 - 0x1p-50),
                               .least = normal > TINY ? normal : TINY,
                               .ratio = loss->max_relative < 0.499 ? loss->max_relative : 0.499,
                               .largest = peak->largest};
}

/* Adds the lanes of a pass. stored: numbers, or NULL for those in `narrow`. A NaN or an infinity
 * may get lost among the extremes, but not in the sums. */
DTI_INLINE struct sums add_pass(struct sums s, struct extremes *e, const struct plain_bars *bars,
                                const double *source, const double *stored, const float *narrow)
{
    const vector_pd ratio = all_pd(bars->ratio);
    size_t end = GROUP;
    __asm__("" : "+r"(end)); /* else compilers unroll it all, and lack registers */
    for (size_t i = 0; i < end; i += LANES) {
        for (unsigned half = 0; half < 2; half++) {
            const size_t at = i + WIDE * half;
            const vector_pd x = load(source + at);
            const vector_pd y = stored ? load(stored + at)
                                       : VECTOR_BITS(cvtps_pd)((half_vector_ps)load_half(
                                             (const unsigned char *)(const void *)(narrow + at)));
            const vector_pd size = size_of(x), error = size_of(VECTOR_BITS(sub_pd)(y, x));
            e->low = VECTOR_BITS(min_pd)(e->low, size);
            e->most = max_pd(e->most, error);
            e->above = max_pd(e->above, VECTOR_BITS(fnmadd_pd)(ratio, size, error));
            count(&e->inexact, COMPARE(x, y, _CMP_NEQ_UQ));
            sums_add(&s, half, x, error);
        }
    }
    return s;
}

DTI_INLINE flags are_unbounded(const struct sums *s, double sum_end)
{
    const vector_pd infinity = all_pd(INFINITY), end = all_pd(sum_end);
    const flags errors = EITHER(COMPARE(s->absolute[0], infinity, _CMP_NLT_UQ),
                                COMPARE(s->absolute[1], infinity, _CMP_NLT_UQ));
    return EITHER(errors, EITHER(COMPARE(s->source[0], end, _CMP_NLT_UQ),
                                 COMPARE(s->source[1], end, _CMP_NLT_UQ)));
}

/* Adds a group if it is plain: with errors below half the source, sources from `least` on are
 * stored as normals. */
DTI_INLINE bool add_plain(const struct plain_bars *bars, const double *source, const double *stored,
                          const float *narrow, struct dti_loss_lanes *lanes, uint64_t *inexact)
{
    const vector_pd zero = VECTOR_BITS(setzero_pd)();
    struct extremes e = {all_pd(INFINITY), zero, zero, (counter){0}};
    const struct sums low = add_pass(sums_begin(lanes, 0), &e, bars, source, stored, narrow);
    struct sums high;
    flags odd = are_unbounded(&low, bars->sum_end);
    if (PASS < LANES) {
        high = add_pass(sums_begin(lanes, PASS % LANES), &e, bars, source + PASS,
                        stored ? stored + PASS : NULL, narrow ? narrow + PASS : NULL);
        odd = EITHER(odd, are_unbounded(&high, bars->sum_end));
    }
    odd = EITHER(odd, COMPARE(e.low, all_pd(bars->least), _CMP_NGE_UQ));
    odd = EITHER(odd, COMPARE(e.most, all_pd(bars->largest), _CMP_NLE_UQ));
    odd = EITHER(odd, COMPARE(e.above, zero, _CMP_NLE_UQ));
    if (__builtin_expect(MASK_OF(odd) != 0, 0))
        return false;
    sums_keep(&low, lanes, 0);
    if (PASS < LANES)
        sums_keep(&high, lanes, PASS % LANES);
    *inexact += counted(e.inexact);
    return true;
}

/* Returns the number of elements before the first group that is not plain. */
static DTI_NOINLINE size_t add_arrays(const struct plain_bars *bars, const double *source,
                                      const double *stored, size_t n, struct dti_loss_lanes *lanes,
                                      uint64_t *inexact)
{
    size_t at = 0;
    while (n - at >= GROUP && add_plain(bars, source + at, stored + at, NULL, lanes, inexact))
        at += GROUP;
    return at;
}

DTI_INLINE void cast_group(const double *source, unsigned char *codes, float *narrow, bool stream)
{
    for (size_t i = 0; i < GROUP; i += PASS) {
        const vector_pd low = load(source + i), high = load(source + i + WIDE);
        const vector both = join_halves((half_vector)VECTOR_BITS(cvtpd_ps)(low),
                                        (half_vector)VECTOR_BITS(cvtpd_ps)(high));
        prefetch_lines(source + i, DTI_PREFETCH_DISTANCE, (size_t)2 * VECTOR);
        if (stream)
            store_vector((unsigned char *)(void *)(narrow + i), both, false);
        store_vector(codes + i * sizeof *narrow, both, stream);
    }
}

/* The same for a cast, whose group that is not plain may have been cast. */
DTI_INLINE size_t add_casts(const struct plain_bars *bars, const double *source,
                            unsigned char *codes, bool stream, size_t n,
                            struct dti_loss_lanes *lanes, uint64_t *inexact)
{
    size_t at;
    for (at = 0; n - at >= GROUP; at += GROUP) {
        unsigned char *const to = codes + at * sizeof(float);
        float narrow[GROUP];
        cast_group(source + at, to, narrow, stream);
        if (!add_plain(bars, source + at, NULL, stream ? narrow : (const float *)(const void *)to,
                       lanes, inexact))
            break;
    }
    return at;
}

static DTI_NOINLINE size_t add_cached(const struct plain_bars *bars, const double *source,
                                      unsigned char *codes, size_t n, struct dti_loss_lanes *lanes,
                                      uint64_t *inexact)
{
    return add_casts(bars, source, codes, false, n, lanes, inexact);
}

static DTI_NOINLINE size_t add_streamed(const struct plain_bars *bars, const double *source,
                                        unsigned char *codes, size_t n,
                                        struct dti_loss_lanes *lanes, uint64_t *inexact)
{
    return add_casts(bars, source, codes, true, n, lanes, inexact);
}

/* Bars for any elements. share: 1 or 0, the part of |x| that an error has to exceed to raise the
 * largest ratio, even if |x| is tiny. */
struct all_bars {
    double from, from_below, src_normal, dst_normal, ratio, share;
};

struct all_sums {
    vector_pd most, above;
    vector_pd largest_source;
    flags tiny;
    counter finite_x, both, inexact, to_zero, to_subnormal;
};

DTI_INLINE void add_any_vector(struct sums *s, unsigned half, struct all_sums *a,
                               const struct all_bars *bars, vector_pd given, vector_pd to)
{
    const vector_pd zero = VECTOR_BITS(setzero_pd)(), finite = all_pd(DBL_MAX);
    const flags finite_x = COMPARE(size_of(given), finite, _CMP_LE_OQ);
    const flags both = BOTH(finite_x, COMPARE(size_of(to), finite, _CMP_LE_OQ));
    const vector_pd x = keep_where(both, given), y = keep_where(both, to);
    const vector_pd size = size_of(x), y_size = size_of(y);
    const vector_pd error = size_of(VECTOR_BITS(sub_pd)(y, x));
    const flags nonzero = COMPARE(y_size, zero, _CMP_GT_OQ);
    const flags lower = BOTH(COMPARE(size, all_pd(bars->src_normal), _CMP_GE_OQ),
                             COMPARE(y_size, all_pd(bars->dst_normal), _CMP_LT_OQ));
    const vector_pd hidden = VECTOR_BITS(mul_pd)(all_pd(bars->share), size);
    count(&a->finite_x, finite_x);
    count(&a->both, both);
    count(&a->inexact, COMPARE(given, to, _CMP_NEQ_UQ));
    count(&a->to_zero, BUT_NOT(COMPARE(size, zero, _CMP_GT_OQ), nonzero));
    count(&a->to_subnormal, BOTH(lower, nonzero));
    sums_add(s, half, x, error);
    a->largest_source = max_pd(a->largest_source, size);
    a->most = max_pd(a->most, error);
    a->above = max_pd(a->above, VECTOR_BITS(fnmadd_pd)(all_pd(bars->ratio), size, error));
    a->tiny = EITHER(
        a->tiny, BOTH(COMPARE(size, all_pd(TINY), _CMP_LT_OQ), COMPARE(error, hidden, _CMP_GT_OQ)));
}

/* NaNs and infinities among n sources; a NaN that stays one is not inexact. */
static DTI_NOINLINE void count_specials(const double *source, const double *stored, size_t n,
                                        uint64_t finite_x, struct dti_loss *loss)
{
    counter nan_x = {0}, nan_both = {0};
    for (size_t i = 0; i < n; i += WIDE) {
        const vector_pd x = load(source + i), y = load(stored + i);
        const flags is_nan = COMPARE(x, x, _CMP_UNORD_Q);
        count(&nan_x, is_nan);
        count(&nan_both, BOTH(is_nan, COMPARE(y, y, _CMP_UNORD_Q)));
    }
    loss->nan_in += counted(nan_x);
    loss->inf_in += n - finite_x - counted(nan_x);
    loss->inexact -= counted(nan_both);
}

/* Elements with an error that overflowed, among n. */
static DTI_NOINLINE void count_clamped(const struct all_bars *bars, const double *source,
                                       const double *stored, size_t n, struct dti_loss *loss)
{
    const vector_pd finite = all_pd(DBL_MAX);
    counter clamped = {0};
    for (size_t i = 0; i < n; i += WIDE) {
        const vector_pd x = load(source + i), y = load(stored + i);
        const flags both =
            BOTH(COMPARE(size_of(x), finite, _CMP_LE_OQ), COMPARE(size_of(y), finite, _CMP_LE_OQ));
        count(&clamped, BOTH(both, EITHER(COMPARE(x, all_pd(bars->from), _CMP_GE_OQ),
                                          COMPARE(x, all_pd(bars->from_below), _CMP_LE_OQ))));
    }
    loss->overflowed += counted(clamped);
}

/* Adds n elements of any kind, whole blocks of 16. Returns whether a maximum rises, or might if
 * underflow hides it. */
static DTI_NOINLINE bool add_any(const struct all_bars *bars, const struct dti_loss_peak *peak,
                                 const double *source, const double *stored, size_t n,
                                 struct dti_loss *loss, struct dti_loss_lanes *lanes)
{
    const vector_pd zero = VECTOR_BITS(setzero_pd)();
    const counter none = {0};
    struct all_sums a = {zero, zero, zero, COMPARE(zero, zero, _CMP_NEQ_OQ), none, none,
                         none, none, none};
    for (size_t lane = 0; lane < LANES; lane += PASS) {
        struct sums s = sums_begin(lanes, lane);
        for (size_t i = lane; i < n; i += LANES) {
            add_any_vector(&s, 0, &a, bars, load(source + i), load(stored + i));
            add_any_vector(&s, 1, &a, bars, load(source + i + WIDE), load(stored + i + WIDE));
        }
        sums_keep(&s, lanes, lane);
    }
    const uint64_t finite_x = counted(a.finite_x), both = counted(a.both);
    loss->overflowed += finite_x - both;
    loss->compared += both;
    loss->inexact += counted(a.inexact);
    loss->to_zero += counted(a.to_zero);
    loss->to_subnormal += counted(a.to_subnormal);
    if (finite_x != n)
        count_specials(source, stored, n, finite_x, loss);
    const double limit = bars->from < -bars->from_below ? bars->from : -bars->from_below;
    if (MASK_OF(COMPARE(a.largest_source, all_pd(limit), _CMP_GE_OQ)) != 0)
        count_clamped(bars, source, stored, n, loss);
    const flags risen = EITHER(COMPARE(a.most, all_pd(peak->largest), _CMP_GT_OQ),
                               COMPARE(a.above, zero, _CMP_GT_OQ));
    return MASK_OF(EITHER(risen, a.tiny)) != 0;
}

/* Raises the maxima for n elements; those without an error do not count. */
static DTI_NOINLINE void raise_all(struct dti_loss_peak *peak, const double *source,
                                   const double *stored, size_t n, uint64_t index,
                                   struct dti_loss *loss)
{
    for (size_t at = 0; at < n; at += LANES) {
        const size_t part = n - at < LANES ? n - at : LANES;
        struct dti_loss_block b;
        if (part == LANES) { /* of a known size: without string instructions, which start slowly */
            memcpy(b.x, source + at, sizeof b.x);
            memcpy(b.y, stored + at, sizeof b.y);
        } else {
            dti_loss_load_f64(b.x, (const void *)source, at, part);
            dti_loss_load_f64(b.y, (const void *)stored, at, part);
        }
        for (unsigned i = 0; i < LANES; i++) {
            const bool without = !(fabs(b.x[i]) <= DBL_MAX && fabs(b.y[i]) <= DBL_MAX);
            b.x[i] = without ? 0 : b.x[i];
            b.error[i] = without ? 0 : fabs(b.y[i] - b.x[i]);
        }
        dti_loss_look_for_peaks(&b, index + at, peak, loss);
    }
}

/* Whether masks can count n elements, as dti_loss_suits_any() does. */
static bool suits_any(const struct dti_loss_rule *rule, const double *source, const double *stored,
                      size_t n)
{
    bool special = false;
    if (dti_loss_draws(rule))
        return false;
    if (rule->nan_has_no_code || rule->negative_has_no_code)
        for (size_t i = 0; i < n; i++)
            special |= (isnan(source[i]) != 0) | (isnan(stored[i]) != 0);
    return !special;
}

/* Counts infinities, NaNs, overflows and elements without a code one by one, and copies the others;
 * those without an error become 0. */
static DTI_NOINLINE void count_each(const struct dti_loss_rule *rule, const double *source,
                                    const double *stored, size_t n, uint64_t index,
                                    struct dti_loss *loss, double kept[2][DTI_TILE])
{
    const double limit = dti_loss_limit(rule);
    for (size_t i = 0; i < n; i++) {
        const double x = source[i], y = stored[i];
        const bool special = !(fabs(x) < limit && fabs(y) <= DBL_MAX);
        const bool without = special && !dti_loss_count_special(rule, x, y, index + i, loss);
        loss->compared -= without;
        kept[0][i] = without ? 0 : x;
        kept[1][i] = without ? 0 : y;
    }
}

/* Adds n elements of any kind. */
static DTI_NOINLINE void add_odd(const struct dti_loss_rule *rule, struct dti_loss_peak *peak,
                                 const double *source, const double *stored, size_t n,
                                 uint64_t index, struct dti_loss *loss,
                                 struct dti_loss_lanes *lanes)
{
    const double ratio = loss->max_relative, normal = rule->src_smallest_normal;
    struct all_bars bars = {.from = rule->overflow_from[0],
                            .from_below = -rule->overflow_from[1],
                            .src_normal = normal > 0 ? normal : dti_fp64_from_bits(1),
                            .dst_normal = rule->dst_smallest_normal,
                            .ratio = ratio,
                            .share = ratio >= 1 ? 1 : 0};
    double kept[2][DTI_TILE], end[2][LANES] = {{0}, {0}};
    if (!suits_any(rule, source, stored, n)) {
        count_each(rule, source, stored, n, index, loss, kept);
        source = kept[0];
        stored = kept[1];
        bars.from = INFINITY;
        bars.from_below = -INFINITY;
    }
    const size_t whole = n / LANES * LANES, left = n - whole;
    bool rises = add_any(&bars, peak, source, stored, whole, loss, lanes);
    if (left > 0) {
        memcpy(end[0], source + whole, left * sizeof *source);
        memcpy(end[1], stored + whole, left * sizeof *stored);
        rises = add_any(&bars, peak, end[0], end[1], LANES, loss, lanes) || rises;
        loss->compared -= LANES - left;
    }
    if (rises)
        raise_all(peak, source, stored, n, index, loss);
}

/* Adds a tile of two arrays, or of a cast, where `stored` is NULL. */
static void add_tile(const struct dti_loss_rule *rule, const struct dti_loss_cast *cast,
                     unsigned char *codes, const double *source, const double *stored, size_t n,
                     uint64_t index, bool stream, struct dti_loss *loss)
{
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    struct dti_loss_lanes lanes;
    uint64_t inexact = 0;
    size_t odd = 0, odd_end = 0; /* elements of odd groups, and where the last one ended */
    dti_loss_clear(&lanes);
    for (size_t at = 0, part; at < n; at += part) {
        const struct plain_bars bars = plain_bars_of(rule, &peak, loss);
        unsigned char *to = stored ? NULL : codes + at * sizeof(float);
        at += stored   ? add_arrays(&bars, source + at, stored + at, n - at, &lanes, &inexact)
              : stream ? add_streamed(&bars, source + at, to, n - at, &lanes, &inexact)
                       : add_cached(&bars, source + at, to, n - at, &lanes, &inexact);
        part = n - at;
        if (part > GROUP && (at == 0 || at > odd_end)) /* else likely all the rest is odd */
            part = GROUP;
        if (part > 0 && stored) {
            add_odd(rule, &peak, source + at, stored + at, part, index + at, loss, &lanes);
        } else if (part > 0) {
            double y[DTI_TILE];
            to = codes + at * sizeof(float);
            cast->kernel->run(cast->args, to, source + at, part);
            cast->back->run(cast->back_args, y, to, part);
            add_odd(rule, &peak, source + at, y, part, index + at, loss, &lanes);
        }
        odd += part;
        odd_end = at + part;
    }
    dti_loss_peak_end(&peak, loss);
    loss->elements += n;
    loss->compared += n - odd;
    loss->inexact += inexact;
    dti_loss_add_lanes(loss, &lanes);
}

void VECTOR_NAME(dti_loss_f64)(const struct dti_loss_rule *rule, const void *source,
                               const void *stored, size_t n, uint64_t index, struct dti_loss *loss)
{
    add_tile(rule, NULL, NULL, source, stored, n, index, false, loss);
}

void VECTOR_NAME(dti_fp64_to_fp32_loss)(const struct dti_loss_rule *rule,
                                        const struct dti_loss_cast *cast, void *codes,
                                        const void *source, size_t n, uint64_t index, bool stream,
                                        struct dti_loss *loss)
{
    const bool aligned = (uintptr_t)codes % DTI_CACHE_LINE == 0;
    for (size_t at = 0; at < n; at += DTI_TILE)
        add_tile(rule, cast, (unsigned char *)codes + at * sizeof(float),
                 (const double *)source + at, NULL, n - at < DTI_TILE ? n - at : DTI_TILE,
                 index + at, stream && aligned, loss);
}
