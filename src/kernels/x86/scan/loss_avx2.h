/* SPDX-License-Identifier: MIT
 *
 * Parts of the AVX2 kernel for the loss in fp64. A tile takes two passes, for lanes 0 to 7 and
 * for lanes 8 to 15, so that the sums stay in registers; a step is 8 elements. Plain vectors are
 * defined as in loss_bars.h, with bars in fp64; the first vector that is not plain ends the fast
 * loop for the rest of the tile. */
#ifndef KERNELS_X86_SCAN_LOSS_AVX2_H
#define KERNELS_X86_SCAN_LOSS_AVX2_H

#include "kernels/scan/loss_kernels.h"
#include "kernels/scan/loss_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <string.h>

enum { LANES = DTI_LOSS_LANES, STEP = 8 };

/* For sources down to this, error - ratio x source does not underflow, because nonzero ratios
 * are at least 2^-54. */
#define TINY 0x1p-900

/* Parameters and results for half the lanes of a tile. */
struct half {
    const struct dti_loss_rule *rule;
    struct dti_loss *loss;
    struct dti_loss_peak peak;
    uint64_t without;
};

/* From this magnitude on a source may overflow, whatever its sign. */
DTI_INLINE double overflow_limit(const struct dti_loss_rule *rule)
{
    return rule->overflow_from[0] < rule->overflow_from[1] ? rule->overflow_from[0]
                                                           : rule->overflow_from[1];
}

/* The accumulators: separate from struct half, whose address escapes, so that they stay in
 * registers. Vectors hold lanes 0 to 3 and 4 to 7 of the half. */
struct loss_sums_avx2 {
    __m256d absolute[2], squared[2], source_squared[2];
    uint64_t inexact;
};

DTI_INLINE __m256d magnitude(__m256d value)
{
    return _mm256_and_pd(value, _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX)));
}

DTI_INLINE double largest_of(__m256d value)
{
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(value), _mm256_extractf128_pd(value, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}

DTI_INLINE struct loss_sums_avx2 no_sums(void)
{
    const __m256d zero = _mm256_setzero_pd();
    return (struct loss_sums_avx2){{zero, zero}, {zero, zero}, {zero, zero}, 0};
}

DTI_INLINE void half_end(const struct half *h, const struct loss_sums_avx2 *s, unsigned first,
                         struct dti_loss_lanes *lanes)
{
    h->loss->inexact += s->inexact;
    h->loss->compared -= h->without;
    for (unsigned i = 0; i < 2; i++) {
        _mm256_storeu_pd(lanes->absolute + first + 4 * i, s->absolute[i]);
        _mm256_storeu_pd(lanes->squared + first + 4 * i, s->squared[i]);
        _mm256_storeu_pd(lanes->source_squared + first + 4 * i, s->source_squared[i]);
    }
}

/* The second half's elements are interleaved with those of the first: an equal error may have a
 * lower index. */
DTI_INLINE struct dti_loss_peak second_peak(const struct dti_loss_peak *first)
{
    struct dti_loss_peak peak = {first->largest, 0, false};
    if (first->risen)
        peak.largest = dti_fp64_from_bits(dti_fp64_bits(peak.largest) - 1);
    return peak;
}

DTI_INLINE void join_peaks(struct dti_loss_peak *first, const struct dti_loss_peak *second)
{
    if (second->risen &&
        (!first->risen || second->largest > first->largest || second->index < first->index))
        *first = *second;
}

DTI_INLINE void add_sums(struct loss_sums_avx2 *s, unsigned part, __m256d error, __m256d source)
{
    s->absolute[part] = _mm256_add_pd(s->absolute[part], error);
    s->squared[part] = _mm256_fmadd_pd(error, error, s->squared[part]);
    s->source_squared[part] = _mm256_fmadd_pd(source, source, s->source_squared[part]);
}

static DTI_NOINLINE void raise_peaks(struct half *h, __m256d error, __m256d source, uint64_t index)
{
    const double largest = largest_of(error);
    if (largest > h->peak.largest) {
        const __m256d where = _mm256_cmp_pd(error, _mm256_set1_pd(largest), _CMP_EQ_OQ);
        dti_loss_peak_rise(&h->peak, largest,
                           index + dti_loss_lowest((unsigned)_mm256_movemask_pd(where)));
    }
    const __m256d counts = _mm256_cmp_pd(source, _mm256_setzero_pd(), _CMP_GT_OQ);
    const double relative = largest_of(_mm256_and_pd(counts, _mm256_div_pd(error, source)));
    if (relative > h->loss->max_relative)
        h->loss->max_relative = relative;
}

/* Adds 4 elements; error and source are magnitudes. */
DTI_INLINE void add_four(struct half *h, struct loss_sums_avx2 *s, unsigned part, __m256d error,
                         __m256d source, uint64_t index)
{
    add_sums(s, part, error, source);
    const __m256d above = _mm256_fnmadd_pd(_mm256_set1_pd(h->loss->max_relative), source, error);
    const __m256d risen =
        _mm256_or_pd(_mm256_cmp_pd(error, _mm256_set1_pd(h->peak.largest), _CMP_GT_OQ),
                     _mm256_cmp_pd(above, _mm256_setzero_pd(), _CMP_GT_OQ));
    if (_mm256_movemask_pd(risen))
        raise_peaks(h, error, source, index);
}

/* Decides elements between the two thresholds of stochastic rounding. */
DTI_INLINE unsigned ask_each(const struct dti_loss_rule *rule, unsigned mask, const double *source,
                             uint64_t index)
{
    unsigned overflowed = 0;
    for (; mask; mask &= mask - 1) {
        const unsigned i = dti_loss_lowest(mask);
        overflowed |= (unsigned)dti_loss_overflows(rule, source[i], index + i) << i;
    }
    return overflowed;
}

DTI_INLINE unsigned mask_of(__m256d low, __m256d high)
{
    return (unsigned)_mm256_movemask_pd(low) | (unsigned)_mm256_movemask_pd(high) << 4;
}

#define MASK_OF(a, b, predicate) \
    mask_of(_mm256_cmp_pd((a)[0], (b)[0], predicate), _mm256_cmp_pd((a)[1], (b)[1], predicate))

/* Counts 8 elements that include infinities, NaNs or overflows; those without an error are set
 * to 0. */
static DTI_NOINLINE void clean(struct half *h, __m256d x[2], __m256d y[2], uint64_t index)
{
    const struct dti_loss_rule *rule = h->rule;
    const __m256d zero[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    const __m256d infinite = _mm256_set1_pd(INFINITY), infinity[2] = {infinite, infinite};
    const __m256d size_x[2] = {magnitude(x[0]), magnitude(x[1])};
    const __m256d size_y[2] = {magnitude(y[0]), magnitude(y[1])};
    const unsigned negative = mask_of(x[0], x[1]);
    unsigned from = 0, sure = 0;
    for (unsigned i = 0; i < 2; i++) {
        const unsigned sign = i ? negative : ~negative;
        const __m256d f = _mm256_set1_pd(rule->overflow_from[i]), first[2] = {f, f};
        const __m256d s = _mm256_set1_pd(rule->overflow_sure[i]), certain[2] = {s, s};
        from |= sign & MASK_OF(size_x, first, _CMP_GE_OQ);
        sure |= sign & MASK_OF(size_x, certain, _CMP_GE_OQ);
    }
    struct dti_loss_masks masks = {
        .nan_x = MASK_OF(x, x, _CMP_UNORD_Q),
        .inf_x = MASK_OF(size_x, infinity, _CMP_EQ_OQ),
        .below_x = MASK_OF(x, zero, _CMP_LT_OQ),
        .nan_y = MASK_OF(y, y, _CMP_UNORD_Q),
        .inf_y = MASK_OF(size_y, infinity, _CMP_EQ_OQ),
        .beyond = sure,
        .equal_infinite = MASK_OF(x, y, _CMP_EQ_OQ),
    };
    const unsigned open = from & ~sure & ~masks.nan_x & ~masks.inf_x;
    if (open) {
        double source[STEP];
        _mm256_storeu_pd(source, x[0]);
        _mm256_storeu_pd(source + 4, x[1]);
        masks.beyond |= ask_each(rule, open, source, index);
    }
    h->without += dti_loss_popcount(dti_loss_count_specials(rule, &masks, index, h->loss));
    for (unsigned i = 0; i < 2; i++) {
        const __m256d finite = _mm256_and_pd(_mm256_cmp_pd(size_x[i], infinite, _CMP_LT_OQ),
                                             _mm256_cmp_pd(size_y[i], infinite, _CMP_LT_OQ));
        x[i] = _mm256_and_pd(x[i], finite);
        y[i] = _mm256_and_pd(y[i], finite);
    }
}

/* Adds 8 elements, some of which are not plain. Ratios to sources below `tiny` are always
 * checked. */
DTI_INLINE void add_odd(struct half *h, struct loss_sums_avx2 *s, __m256d x[2], __m256d y[2],
                        uint64_t index, double tiny)
{
    const struct dti_loss_rule *rule = h->rule;
    const __m256d zero[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    const __m256d limit = _mm256_set1_pd(overflow_limit(rule)), limits[2] = {limit, limit};
    const __m256d infinite = _mm256_set1_pd(INFINITY), infinity[2] = {infinite, infinite};
    __m256d size_x[2] = {magnitude(x[0]), magnitude(x[1])};
    __m256d size_y[2] = {magnitude(y[0]), magnitude(y[1])};
    if (MASK_OF(size_x, limits, _CMP_NLT_UQ) | MASK_OF(size_y, infinity, _CMP_NLT_UQ)) {
        clean(h, x, y, index);
        for (unsigned i = 0; i < 2; i++) {
            size_x[i] = magnitude(x[i]);
            size_y[i] = magnitude(y[i]);
        }
    }
    const __m256d n = _mm256_set1_pd(rule->src_smallest_normal), src_normal[2] = {n, n};
    const __m256d m = _mm256_set1_pd(rule->dst_smallest_normal), dst_normal[2] = {m, m};
    const unsigned differ = MASK_OF(x, y, _CMP_NEQ_UQ), nonzero = MASK_OF(y, zero, _CMP_NEQ_UQ);
    const unsigned normal =
        MASK_OF(size_x, src_normal, _CMP_GE_OQ) & MASK_OF(size_x, zero, _CMP_GT_OQ);
    s->inexact += dti_loss_popcount(differ);
    h->loss->to_zero += dti_loss_popcount(differ & ~nonzero);
    h->loss->to_subnormal +=
        dti_loss_popcount(normal & nonzero & MASK_OF(size_y, dst_normal, _CMP_LT_OQ));
    for (unsigned i = 0; i < 2; i++) {
        const __m256d error = magnitude(_mm256_sub_pd(y[i], x[i]));
        const __m256d very_small = _mm256_cmp_pd(size_x[i], _mm256_set1_pd(tiny), _CMP_LT_OQ);
        add_four(h, s, i, error, size_x[i], index + 4 * i);
        if (tiny > 0 && _mm256_movemask_pd(very_small))
            raise_peaks(h, error, size_x[i], index + 4 * i);
    }
}

/* A whole step of elements; the end of an array is padded with zeros. */
DTI_INLINE const void *whole_step(const void *from, size_t count, size_t size, void *buffer)
{
    if (count >= STEP)
        return from;
    memset(buffer, 0, STEP * size);
    memcpy(buffer, from, count * size);
    return buffer;
}

/* Processes half of the lanes of a tile. */
typedef void add_half_fn(struct half *h, struct loss_sums_avx2 *s, const void *source,
                         const void *stored, size_t first, size_t n, uint64_t index);

DTI_INLINE void add_tile(add_half_fn *add_half, const struct dti_loss_rule *rule,
                         const void *source, const void *stored, size_t n, uint64_t index,
                         struct dti_loss *loss)
{
    struct dti_loss_lanes lanes;
    struct dti_loss_peak peak = dti_loss_peak_start(loss, index);
    loss->elements += n;
    loss->compared += n;
    for (unsigned first = 0; first < LANES; first += STEP) {
        const struct dti_loss_peak start = first ? second_peak(&peak) : peak;
        struct half h = {rule, loss, start, 0};
        struct loss_sums_avx2 s = no_sums();
        add_half(&h, &s, source, stored, first, n, index);
        half_end(&h, &s, first, &lanes);
        join_peaks(&peak, &h.peak);
    }
    dti_loss_peak_end(&peak, loss);
    dti_loss_add_lanes(loss, &lanes);
}

/* Defines the kernel of a type. bars_of(h) returns a struct with the tag `limits` that defines
 * plain vectors; add_plain(bars, ...) adds those from `first` on and returns the first element
 * of the first step that is not plain; load(p, ret) loads a step. */
#define LOSS_KERNEL_AVX2(name, type, limits, bars_of, add_plain, load, tiny)                      \
    static DTI_NOINLINE void name##_rest(struct half *h, const type *source, const type *stored,  \
                                         size_t first, size_t n, uint64_t index,                  \
                                         struct loss_sums_avx2 *sums)                             \
    {                                                                                             \
        struct loss_sums_avx2 s = *sums;                                                          \
        type x_rest[STEP], y_rest[STEP];                                                          \
        __m256d x[2], y[2];                                                                       \
        for (size_t i = first; i < n; i += LANES) {                                               \
            load(whole_step(source + i, n - i, sizeof(type), x_rest), x);                         \
            load(whole_step(stored + i, n - i, sizeof(type), y_rest), y);                         \
            add_odd(h, &s, x, y, index + i, tiny);                                                \
        }                                                                                         \
        *sums = s;                                                                                \
    }                                                                                             \
    static void name##_half(struct half *h, struct loss_sums_avx2 *s, const void *source,         \
                            const void *stored, size_t first, size_t n, uint64_t index)           \
    {                                                                                             \
        const struct limits bars = bars_of(h);                                                    \
        first = add_plain(&bars, source, stored, first, n, s);                                    \
        if (first < n)                                                                            \
            name##_rest(h, source, stored, first, n, index, s);                                   \
    }                                                                                             \
    void name(const struct dti_loss_rule *rule, const void *source, const void *stored, size_t n, \
              uint64_t index, struct dti_loss *loss)                                              \
    {                                                                                             \
        add_tile(name##_half, rule, source, stored, n, index, loss);                              \
    }

#endif
#endif
