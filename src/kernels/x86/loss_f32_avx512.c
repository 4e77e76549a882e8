/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with AVX-512: whole groups in which nothing is remarkable (loss_bars.h), with
 * one branch a group. */
#include "kernels/loss_kernels.h"
#include "kernels/x86/loss_group_avx512.h"

bool dti_loss_raise_avx512(struct dti_loss_work *work, enum dti_loss_sort sort, const void *x,
                           const float *y, size_t at)
{
    return dti_loss_raise(work, sort, x, y, at);
}

void dti_loss_work_avx512(struct dti_loss_work *work, dti_loss_groups_fn *const add[])
{
    dti_loss_work_through(work, add);
}

DTI_INLINE size_t add_groups(struct dti_loss_work *w, enum dti_loss_sort sort, size_t at)
{
    struct loss_bars bars = loss_bars_of(&w->bars, sort);
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        const float *const x = w->x + at, *const y = w->y + at;
        struct loss_group group = loss_group_begin();
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_LANES) {
            const __m512 from = _mm512_loadu_ps(x + i);
            if (sort == DTI_LOSS_EXACT)
                loss_group_see(&group, sort, from);
            else
                loss_group_add(&group, &bars, sort, false, from, _mm512_loadu_ps(y + i));
        }
        const enum loss_verdict verdict = loss_group_judge(&group, &bars, sort);
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {
            if (verdict == LOSS_ODD || !dti_loss_raise_avx512(w, sort, x, y, at))
                break;
            bars = loss_bars_of(&w->bars, sort);
        }
        loss_group_keep(&group, sort, w);
    }
    return at;
}

DTI_LOSS_QUICK_KERNEL(dti_loss_f32_avx512)
