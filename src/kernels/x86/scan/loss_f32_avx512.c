/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX-512: whole groups without special cases (loss_bars.h), with one
 * branch per group. */
#include "kernels/scan/loss_kernels.h"
#include "kernels/x86/scan/loss_avx512.h"
#include "kernels/x86/scan/loss_group_avx512.h"

bool dti_loss_raise_avx512(struct dti_loss_work *work, enum dti_loss_sort sort, const void *x,
                           const float *y, size_t at)
{
    return dti_loss_raise(work, sort, x, y, at);
}

void dti_loss_work_avx512(struct dti_loss_work *work, dti_loss_groups_fn *const add[])
{
    dti_loss_work_through(work, add);
}

/* One element per lane of a group of sort unit. y is 0, or |e| < |y|: then y - x is exact if |e|
 * is also at most |x|. */
struct units {
    struct loss_group group;
    __m512i least; /* minimum of |y| - 1, where zeros become the highest */
};

DTI_INLINE void add_units(struct units *u, const struct loss_bars *bars, __m512 x, __m512 y,
                          __m512i *ret_error, __m512i *ret_size)
{
    struct loss_group *const g = &u->group;
    const __m512i error = loss_size_by(bars, _mm512_sub_ps(y, x)), y_size = loss_size_by(bars, y);
    const __m512i most = _mm512_min_epu32(loss_size_by(bars, x), bars->largest);
    const __m512i less = _mm512_sub_epi32(y_size, loss_all(1));
    const __m512 e = _mm512_castsi512_ps(error);
    g->absolute = _mm512_add_ps(g->absolute, e);
    g->squared = _mm512_fmadd_ps(e, e, g->squared);
    g->source = _mm512_fmadd_ps(x, x, g->source);
    g->above = _mm512_max_epi32(g->above, _mm512_sub_epi32(error, most));
    g->apart |= _mm512_cmpgt_epu32_mask(error, less);
    u->least = _mm512_min_epu32(u->least, less);
    *ret_error = error;
    *ret_size = y_size;
}

static DTI_NOINLINE unsigned zeros_of(const float *x)
{
    unsigned count = 0;
    for (size_t i = 0; i < DTI_LOSS_GROUP; i += LANES) {
        const __m512i size = loss_size(_mm512_loadu_ps(x + i));
        count += dti_loss_popcount(_mm512_testn_epi32_mask(size, size));
    }
    return count;
}

/* Sources of 0 have codes of 0 here, and are exact. */
static DTI_NOINLINE size_t add_unit(struct dti_loss_work *w, size_t at)
{
    struct loss_bars bars = loss_bars_of(&w->bars, DTI_LOSS_UNIT);
    struct dti_loss_counts counts = {0, 0, 0, 0};
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        const float *const x = w->x + at, *const y = w->y + at;
        struct units units = {.group = loss_group_begin(), .least = loss_all(UINT32_MAX)};
        struct loss_group *const g = &units.group;
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += 4 * LANES) {
            __m512i error[4], size[4];
            for (size_t j = 0; j < 4; j++)
                add_units(&units, &bars, _mm512_loadu_ps(x + i + j * LANES),
                          _mm512_loadu_ps(y + i + j * LANES), &error[j], &size[j]);
            loss_group_count(g, error);
            g->small.to_zero += 4 * LANES - loss_group_nonzero(size);
        }
        const __mmask16 odd = g->apart | loss_group_unfit(g->source, bars.sum_end) |
                              loss_group_errors_unfit(g) |
                              _mm512_cmplt_epu32_mask(units.least, bars.subnormals);
        const enum loss_verdict verdict =
            loss_group_verdict(odd, _mm512_cmpgt_epi32_mask(g->above, _mm512_setzero_si512()));
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {
            if (verdict == LOSS_ODD || !dti_loss_raise_avx512(w, DTI_LOSS_UNIT, x, y, at))
                break;
            bars = loss_bars_of(&w->bars, DTI_LOSS_UNIT);
        }
        if (__builtin_expect(g->inexact != DTI_LOSS_GROUP, 0))
            g->small.to_zero -= zeros_of(x);
        loss_group_keep(g, w, at, &counts);
    }
    loss_counts_add(w, &counts);
    return at;
}

DTI_INLINE void add_sixteen(struct loss_group *g, const struct loss_bars *bars,
                            enum dti_loss_sort sort, __m512 x, __m512 y, __m512i *ret_error)
{
    const __m512i size = loss_size_by(bars, x), y_size = loss_size_by(bars, y);
    const __m512i error = loss_size_by(bars, _mm512_sub_ps(y, x));
    *ret_error = error;
    if (sort == DTI_LOSS_PLAIN) {
        loss_group_add(g, bars, sort, LOSS_BY_SIZE, x, size, error);
        return;
    }
    g->apart |= _mm512_mask_cmpgt_epu32_mask(_mm512_test_epi32_mask(y_size, y_size), error, y_size);
    loss_group_add_small(g, bars, x, size, error);
    loss_count_small(&g->small, bars, size, y_size);
}

DTI_INLINE enum loss_verdict judge(const struct loss_group *g, const struct loss_bars *bars,
                                   enum dti_loss_sort sort)
{
    if (sort != DTI_LOSS_PLAIN)
        return loss_group_judge_small(g, bars);
    return _mm512_cmplt_epu32_mask(g->low, bars->least)
               ? LOSS_ODD
               : loss_group_judge(g, bars, sort, LOSS_BY_SIZE, false);
}

DTI_INLINE size_t add_groups(struct dti_loss_work *w, enum dti_loss_sort sort, size_t at)
{
    struct loss_bars bars = loss_bars_of(&w->bars, sort);
    struct dti_loss_counts counts = {0, 0, 0, 0};
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        const float *const x = w->x + at, *const y = w->y + at;
        struct loss_group group = loss_group_begin();
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += 4 * LANES) {
            __m512i error[4];
            for (size_t j = 0; j < 4; j++)
                add_sixteen(&group, &bars, sort, _mm512_loadu_ps(x + i + j * LANES),
                            _mm512_loadu_ps(y + i + j * LANES), &error[j]);
            loss_group_count(&group, error);
        }
        const enum loss_verdict verdict = judge(&group, &bars, sort);
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {
            if (verdict == LOSS_ODD || !dti_loss_raise_avx512(w, sort, x, y, at))
                break;
            bars = loss_bars_of(&w->bars, sort);
        }
        loss_group_keep(&group, w, at, &counts);
    }
    loss_counts_add(w, &counts);
    return at;
}

/* Processes sources only. */
static DTI_NOINLINE size_t add_exact(struct dti_loss_work *w, size_t at)
{
    const struct loss_bars bars = loss_bars_of(&w->bars, DTI_LOSS_SMALL);
    struct dti_loss_counts counts = {0, 0, 0, 0};
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        struct loss_group group = loss_group_begin();
        for (size_t i = at; i < at + DTI_LOSS_GROUP; i += LANES) {
            const __m512 x = _mm512_loadu_ps(w->x + i);
            loss_group_add_small(&group, &bars, x, loss_size(x), _mm512_setzero_si512());
        }
        if (loss_group_judge_small(&group, &bars) == LOSS_ODD)
            break;
        loss_group_keep(&group, w, at, &counts);
    }
    loss_counts_add(w, &counts);
    return at;
}

DTI_LOSS_QUICK_KERNEL(dti_loss_f32_avx512, dti_loss_work_avx512, add_unit, dti_loss_any_avx512)
