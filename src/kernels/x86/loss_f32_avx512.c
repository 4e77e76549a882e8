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

DTI_INLINE bool add_quick(struct dti_loss_work *w, enum dti_loss_sort sort, size_t count, size_t at)
{
    const float *const x = w->x + at, *const y = w->y + at;
    struct loss_group group[LOSS_SIDE] = {loss_group_begin(), loss_group_begin()};
    LOSS_UNROLL for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_LANES)
    {
        LOSS_UNROLL for (size_t k = 0; k < count; k++)
        {
            const size_t element = DTI_LOSS_GROUP * k + i;
            const __m512 from = _mm512_loadu_ps(x + element);
            if (sort == DTI_LOSS_EXACT)
                loss_group_see(&group[k], &w->bars, sort, from);
            else
                loss_group_add(&group[k], &w->bars, sort, false, from,
                               _mm512_loadu_ps(y + element));
        }
    }
    const enum loss_verdict verdict = loss_groups_judge(group, count, &w->bars, sort);
    if (__builtin_expect(verdict != LOSS_FINE, 0) &&
        (verdict == LOSS_ODD || count > 1 || !dti_loss_raise_avx512(w, sort, x, y, at)))
        return false;
    LOSS_UNROLL for (size_t k = 0; k < count; k++) loss_group_keep(&group[k], sort, w);
    return true;
}

DTI_LOSS_QUICK_KERNEL(dti_loss_f32_avx512, LOSS_SIDE)
