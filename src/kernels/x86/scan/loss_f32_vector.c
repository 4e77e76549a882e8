/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX2 and AVX-512: whole groups without special cases (loss_bars.h), with
 * one branch per group. */
#include "kernels/scan/loss_kernels.h"
#include "kernels/x86/scan/loss_group_vector.h"

bool VECTOR_NAME(dti_loss_raise)(struct dti_loss_work *work, enum dti_loss_sort sort, const void *x,
                                 const float *y, size_t at)
{
    return dti_loss_raise(work, sort, x, y, at);
}

void VECTOR_NAME(dti_loss_work)(struct dti_loss_work *work, dti_loss_groups_fn *const add[])
{
    dti_loss_work_through(work, add);
}

enum { FOUR = 4 * LOSS_WIDTH };

/* One element per lane of a group of sort unit. y is 0, or |e| < |y|: then y - x is exact if |e|
 * is also at most |x|. */
struct units {
    struct loss_group group;
    vector least; /* minimum of |y| - 1, where zeros become the highest */
};

DTI_INLINE void add_units(struct units *u, const struct loss_bars *bars, unsigned part, vector_ps x,
                          vector_ps y, vector *ret_error, vector *ret_size)
{
    struct loss_group *const g = &u->group;
    const vector error = loss_size_by(bars, VECTOR_BITS(sub_ps)(y, x));
    const vector y_size = loss_size_by(bars, y);
    const vector most = VECTOR_BITS(min_epu32)(loss_size_by(bars, x), bars->largest);
    const vector less = VECTOR_BITS(sub_epi32)(y_size, loss_all(1));
    loss_group_sum(g, part, x, (vector_ps)error);
    g->above = VECTOR_BITS(max_epi32)(g->above, VECTOR_BITS(sub_epi32)(error, most));
    g->apart = EITHER(g->apart, are_lower(less, error));
    u->least = VECTOR_BITS(min_epu32)(u->least, less);
    *ret_error = error;
    *ret_size = y_size;
}

static DTI_NOINLINE unsigned zeros_of(const float *x)
{
    unsigned count = 0;
    for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_WIDTH)
        count += dti_loss_popcount(MASK_OF(are_zero(loss_size(loss_load(x + i)))));
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
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += FOUR) {
            vector error[4], size[4];
            for (unsigned j = 0; j < 4; j++)
                add_units(&units, &bars, j % LOSS_PARTS, loss_load(x + i + j * LOSS_WIDTH),
                          loss_load(y + i + j * LOSS_WIDTH), &error[j], &size[j]);
            loss_group_count(g, error);
            g->small.to_zero += FOUR - loss_group_nonzero(size);
        }
        flags odd = EITHER(g->apart, loss_group_unfit(g, bars.sum_end));
        odd = EITHER(odd, loss_group_errors_unfit(g));
        odd = EITHER(odd, are_lower(units.least, bars.subnormals));
        const enum loss_verdict verdict = loss_group_verdict(odd, loss_group_above(g));
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {
            if (verdict == LOSS_ODD || !VECTOR_NAME(dti_loss_raise)(w, DTI_LOSS_UNIT, x, y, at))
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

DTI_INLINE void add_vector(struct loss_group *g, const struct loss_bars *bars, unsigned part,
                           enum dti_loss_sort sort, vector_ps x, vector_ps y, vector *ret_error)
{
    const vector size = loss_size_by(bars, x), y_size = loss_size_by(bars, y);
    const vector error = loss_size_by(bars, VECTOR_BITS(sub_ps)(y, x));
    *ret_error = error;
    if (sort == DTI_LOSS_PLAIN) {
        loss_group_add(g, bars, part, sort, LOSS_BY_SIZE, x, size, error);
        return;
    }
    g->apart = EITHER(g->apart, BUT_NOT(are_lower(y_size, error), are_zero(y_size)));
    loss_group_add_small(g, bars, part, x, size, error);
    loss_count_small(&g->small, bars, size, y_size);
}

DTI_INLINE enum loss_verdict judge(const struct loss_group *g, const struct loss_bars *bars,
                                   enum dti_loss_sort sort)
{
    if (sort != DTI_LOSS_PLAIN)
        return loss_group_judge_small(g, bars);
    return loss_group_judge(g, bars, sort, LOSS_BY_SIZE, are_lower(g->low, bars->least));
}

DTI_INLINE size_t add_groups(struct dti_loss_work *w, enum dti_loss_sort sort, size_t at)
{
    struct loss_bars bars = loss_bars_of(&w->bars, sort);
    struct dti_loss_counts counts = {0, 0, 0, 0};
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        const float *const x = w->x + at, *const y = w->y + at;
        struct loss_group group = loss_group_begin();
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += FOUR) {
            vector error[4];
            for (unsigned j = 0; j < 4; j++)
                add_vector(&group, &bars, j % LOSS_PARTS, sort, loss_load(x + i + j * LOSS_WIDTH),
                           loss_load(y + i + j * LOSS_WIDTH), &error[j]);
            loss_group_count(&group, error);
        }
        const enum loss_verdict verdict = judge(&group, &bars, sort);
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {
            if (verdict == LOSS_ODD || !VECTOR_NAME(dti_loss_raise)(w, sort, x, y, at))
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
        for (unsigned j = 0; j < DTI_LOSS_GROUP / LOSS_WIDTH; j++) {
            const vector_ps x = loss_load(w->x + at + j * LOSS_WIDTH);
            loss_group_add_small(&group, &bars, j % LOSS_PARTS, x, loss_size(x), loss_all(0));
        }
        if (loss_group_judge_small(&group, &bars) == LOSS_ODD)
            break;
        loss_group_keep(&group, w, at, &counts);
    }
    loss_counts_add(w, &counts);
    return at;
}

DTI_LOSS_QUICK_KERNEL(VECTOR_NAME(dti_loss_f32), VECTOR_NAME(dti_loss_work), add_unit,
                      VECTOR_NAME(dti_loss_any))
