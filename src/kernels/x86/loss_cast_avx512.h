/* SPDX-License-Identifier: MIT
 *
 * Casts to and from fp32 that count their loss on the way, with AVX-512. They are made of the
 * arithmetic of the cast's own kernel, but for what only remarkable groups need: those are cast by
 * the kernel itself, and their codes decoded. */
#ifndef DTINFO_KERNELS_X86_LOSS_CAST_AVX512_H
#define DTINFO_KERNELS_X86_LOSS_CAST_AVX512_H

#include "kernels/loss_kernels.h"
#include "kernels/x86/loss_group_avx512.h"

#ifdef __AVX512BW__

enum { LOSS_BLOCK = 64, LOSS_VECTORS = LOSS_BLOCK / LOSS_LANES };

DTI_INLINE void loss_prefetch(const unsigned char *src)
{
    __builtin_prefetch((const void *)((uintptr_t)src + DTI_PREFETCH_DISTANCE));
}

/* number(constants, x, codes) is what is stored for 16 elements whose |x| is 0 or within fp32 sums
 * and does not overflow, and makes their codes; put(constants, dst, codes, x, stream) stores those
 * of 64. What else there is is cast again by the kernel. */
#define LOSS_CAST_GROUPS(name, sort, dst_unit, number, put)                                        \
    DTI_INLINE bool name##_groups(struct dti_loss_work *w, size_t at, size_t count,                \
                                  unsigned char *restrict dst, const unsigned char *restrict src)  \
    {                                                                                              \
        struct loss_group group[LOSS_SIDE] = {loss_group_begin(), loss_group_begin()};             \
        LOSS_UNROLL for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_BLOCK)                        \
        {                                                                                          \
            __m512i code[LOSS_SIDE][LOSS_VECTORS], x[LOSS_SIDE][LOSS_VECTORS];                     \
            LOSS_UNROLL for (size_t j = 0; j < LOSS_VECTORS; j++)                                  \
            {                                                                                      \
                LOSS_UNROLL for (size_t k = 0; k < count; k++)                                     \
                {                                                                                  \
                    const unsigned char *from = src + 4 * (DTI_LOSS_GROUP * k + i) + 64 * j;       \
                    loss_prefetch(from);                                                           \
                    x[k][j] = _mm512_loadu_si512((const void *)from);                              \
                    const __m512 y = number(w->constants, x[k][j], &code[k][j]);                   \
                    loss_group_add(&group[k], &w->bars, sort, true, _mm512_castsi512_ps(x[k][j]),  \
                                   y);                                                             \
                }                                                                                  \
            }                                                                                      \
            LOSS_UNROLL for (size_t k = 0; k < count; k++)                                         \
                put(w->constants, dst + (dst_unit) * (DTI_LOSS_GROUP * k + i), code[k], x[k],      \
                    w->stream);                                                                    \
        }                                                                                          \
        const enum loss_verdict verdict = loss_groups_judge(group, count, &w->bars, sort);         \
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {                                           \
            float y[DTI_LOSS_GROUP];                                                               \
            __m512i code;                                                                          \
            if (verdict == LOSS_ODD || count > 1)                                                  \
                return false;                                                                      \
            for (size_t j = 0; j < DTI_LOSS_GROUP; j += LOSS_LANES)                                \
                _mm512_storeu_ps(                                                                  \
                    y + j,                                                                         \
                    number(w->constants, _mm512_loadu_si512((const void *)(src + 4 * j)), &code)); \
            if (!dti_loss_raise_avx512(w, sort, src, y, at))                                       \
                return false;                                                                      \
        }                                                                                          \
        LOSS_UNROLL for (size_t k = 0; k < count; k++) loss_group_keep(&group[k], sort, w);        \
        return true;                                                                               \
    }                                                                                              \
    static DTI_NOINLINE bool name##_one(struct dti_loss_work *w, size_t at)                        \
    {                                                                                              \
        return name##_groups(w, at, 1, w->codes + (dst_unit)*at, w->source + 4 * at);              \
    }                                                                                              \
    static DTI_NOINLINE size_t name(struct dti_loss_work *w, size_t at)                            \
    {                                                                                              \
        for (;;) {                                                                                 \
            while (w->n - at >= LOSS_SIDE * DTI_LOSS_GROUP &&                                      \
                   name##_groups(w, at, LOSS_SIDE, w->codes + (dst_unit)*at, w->source + 4 * at))  \
                at += LOSS_SIDE * DTI_LOSS_GROUP;                                                  \
            if (w->n - at < DTI_LOSS_GROUP || !name##_one(w, at))                                  \
                return at;                                                                         \
            at += DTI_LOSS_GROUP;                                                                  \
        }                                                                                          \
    }
#define LOSS_CAST_ROUNDED(name, dst_unit, number, put)                        \
    LOSS_CAST_GROUPS(name##_add_plain, DTI_LOSS_PLAIN, dst_unit, number, put) \
    LOSS_CAST_GROUPS(name##_add_small, DTI_LOSS_SMALL, dst_unit, number, put) \
    static dti_loss_groups_fn *const name##_add[] = {                         \
        [DTI_LOSS_PLAIN] = name##_add_plain, [DTI_LOSS_SMALL] = name##_add_small};

/* A cast that is exact: number(src) casts 16 elements to fp32. */
#define LOSS_CAST_EXACT(name, src_unit, number)                                                   \
    DTI_INLINE bool name##_groups(struct dti_loss_work *w, size_t count,                          \
                                  unsigned char *restrict dst, const unsigned char *restrict src) \
    {                                                                                             \
        struct loss_group group[LOSS_SIDE] = {loss_group_begin(), loss_group_begin()};            \
        LOSS_UNROLL for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_LANES)                       \
        {                                                                                         \
            LOSS_UNROLL for (size_t k = 0; k < count; k++)                                        \
            {                                                                                     \
                const size_t element = DTI_LOSS_GROUP * k + i;                                    \
                const __m512i x = number(src + (src_unit)*element);                               \
                loss_prefetch(src + (src_unit)*element);                                          \
                loss_group_see(&group[k], &w->bars, DTI_LOSS_EXACT, _mm512_castsi512_ps(x));      \
                if (w->stream)                                                                    \
                    _mm512_stream_si512((__m512i *)(void *)(dst + 4 * element), x);               \
                else                                                                              \
                    _mm512_storeu_si512((void *)(dst + 4 * element), x);                          \
            }                                                                                     \
        }                                                                                         \
        if (loss_groups_judge(group, count, &w->bars, DTI_LOSS_EXACT) != LOSS_FINE)               \
            return false;                                                                         \
        LOSS_UNROLL for (size_t k = 0; k < count; k++)                                            \
            loss_group_keep(&group[k], DTI_LOSS_EXACT, w);                                        \
        return true;                                                                              \
    }                                                                                             \
    static DTI_NOINLINE size_t name##_add_exact(struct dti_loss_work *w, size_t at)               \
    {                                                                                             \
        for (;;) {                                                                                \
            while (w->n - at >= LOSS_SIDE * DTI_LOSS_GROUP &&                                     \
                   name##_groups(w, LOSS_SIDE, w->codes + 4 * at, w->source + (src_unit)*at))     \
                at += LOSS_SIDE * DTI_LOSS_GROUP;                                                 \
            if (w->n - at < DTI_LOSS_GROUP ||                                                     \
                !name##_groups(w, 1, w->codes + 4 * at, w->source + (src_unit)*at))               \
                return at;                                                                        \
            at += DTI_LOSS_GROUP;                                                                 \
        }                                                                                         \
    }                                                                                             \
    static dti_loss_groups_fn *const name##_add[] = {[DTI_LOSS_EXACT] = name##_add_exact};

/* A tile through the groups of a cast. */
DTI_INLINE void loss_cast_run(dti_loss_groups_fn *const add[], const void *constants, bool exact,
                              const struct dti_loss_rule *rule, const struct dti_loss_cast *cast,
                              void *codes, const void *source, size_t n, uint64_t index,
                              bool stream, struct dti_loss *loss)
{
    struct dti_loss_work work = {.rule = rule,
                                 .loss = loss,
                                 .n = n,
                                 .index = index,
                                 .cast = cast,
                                 .source = source,
                                 .codes = codes,
                                 .exact = exact,
                                 .stream = stream && (uintptr_t)codes % DTI_CACHE_LINE == 0,
                                 .constants = constants};
    dti_loss_work_avx512(&work, add);
}

/* The rest of a function of the type dti_loss_cast_fn. */
#define LOSS_CAST_RUN(name, constants, exact) \
    loss_cast_run(name##_add, constants, exact, rule, cast, codes, source, n, index, stream, loss)

#endif
#endif
