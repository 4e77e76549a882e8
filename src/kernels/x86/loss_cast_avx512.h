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
 * and does not overflow, and makes their codes; put(constants, dst, codes, x, stream, sort, group)
 * stores those of 64, and of a nonzero group counts what became small. What else there is is cast
 * again by the kernel. */
#define LOSS_CAST_GROUPS(name, sort, dst_unit, number, put)                                     \
    DTI_INLINE bool name##_group(struct dti_loss_work *w, size_t at, struct loss_bars *bars,    \
                                 const void *constants, unsigned char *restrict dst,            \
                                 const unsigned char *restrict src, bool stream)                \
    {                                                                                           \
        struct loss_group group = loss_group_begin();                                           \
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_BLOCK) {                               \
            __m512i code[LOSS_VECTORS], x[LOSS_VECTORS];                                        \
            for (size_t j = 0; j < LOSS_VECTORS; j++) {                                         \
                const unsigned char *const from = src + 4 * i + 64 * j;                         \
                loss_prefetch(from);                                                            \
                x[j] = _mm512_loadu_si512((const void *)from);                                  \
                const __m512 y = number(constants, x[j], &code[j]);                             \
                loss_group_add(&group, bars, sort, true, _mm512_castsi512_ps(x[j]), y);         \
            }                                                                                   \
            put(constants, dst + (dst_unit)*i, code, x, stream, sort, &group);                  \
        }                                                                                       \
        const enum loss_verdict verdict = loss_group_judge(&group, bars, sort);                 \
        if (__builtin_expect(verdict != LOSS_FINE, 0)) {                                        \
            float y[DTI_LOSS_GROUP];                                                            \
            __m512i code;                                                                       \
            if (verdict == LOSS_ODD)                                                            \
                return false;                                                                   \
            for (size_t j = 0; j < DTI_LOSS_GROUP; j += LOSS_LANES)                             \
                _mm512_storeu_ps(                                                               \
                    y + j,                                                                      \
                    number(constants, _mm512_loadu_si512((const void *)(src + 4 * j)), &code)); \
            if (!dti_loss_raise_avx512(w, sort, src, y, at))                                    \
                return false;                                                                   \
            *bars = loss_bars_of(&w->bars, sort);                                               \
        }                                                                                       \
        loss_group_keep(&group, sort, w);                                                       \
        return true;                                                                            \
    }                                                                                           \
    static DTI_NOINLINE size_t name(struct dti_loss_work *w, size_t at)                         \
    {                                                                                           \
        struct loss_bars bars = loss_bars_of(&w->bars, sort);                                   \
        while (w->n - at >= DTI_LOSS_GROUP &&                                                   \
               name##_group(w, at, &bars, w->constants, w->codes + (dst_unit)*at,               \
                            w->source + 4 * at, w->stream))                                     \
            at += DTI_LOSS_GROUP;                                                               \
        return at;                                                                              \
    }
#define LOSS_CAST_ROUNDED(name, first_sort, dst_unit, number, put)            \
    LOSS_CAST_GROUPS(name##_add_first, first_sort, dst_unit, number, put)     \
    LOSS_CAST_GROUPS(name##_add_small, DTI_LOSS_SMALL, dst_unit, number, put) \
    static dti_loss_groups_fn *const name##_add[] = {                         \
        [DTI_LOSS_PLAIN] = name##_add_first, [DTI_LOSS_SMALL] = name##_add_small};

/* A cast that is exact: number(src) casts 16 elements to fp32. */
#define LOSS_CAST_EXACT(name, src_unit, number)                                     \
    static DTI_NOINLINE size_t name##_add_exact(struct dti_loss_work *w, size_t at) \
    {                                                                               \
        const struct loss_bars bars = loss_bars_of(&w->bars, DTI_LOSS_EXACT);       \
        const bool stream = w->stream;                                              \
        for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {                 \
            const unsigned char *const src = w->source + (src_unit)*at;             \
            unsigned char *const dst = w->codes + 4 * at;                           \
            struct loss_group group = loss_group_begin();                           \
            for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_LANES) {               \
                const __m512i x = number(src + (src_unit)*i);                       \
                loss_prefetch(src + (src_unit)*i);                                  \
                loss_group_see(&group, DTI_LOSS_EXACT, _mm512_castsi512_ps(x));     \
                if (stream)                                                         \
                    _mm512_stream_si512((__m512i *)(void *)(dst + 4 * i), x);       \
                else                                                                \
                    _mm512_storeu_si512((void *)(dst + 4 * i), x);                  \
            }                                                                       \
            if (loss_group_judge(&group, &bars, DTI_LOSS_EXACT) != LOSS_FINE)       \
                break;                                                              \
            loss_group_keep(&group, DTI_LOSS_EXACT, w);                             \
        }                                                                           \
        return at;                                                                  \
    }                                                                               \
    static dti_loss_groups_fn *const name##_add[] = {[DTI_LOSS_EXACT] = name##_add_exact};

/* A tile through the groups of a cast. */
DTI_INLINE void loss_cast_run(dti_loss_groups_fn *const add[], const void *constants, bool exact,
                              const struct dti_loss_rule *rule, const struct dti_loss_cast *cast,
                              void *codes, const void *source, size_t n, uint64_t index,
                              bool stream, struct dti_loss *loss)
{
    struct dti_loss_work work; /* its larger members are set where the work begins */
    work.rule = rule;
    work.loss = loss;
    work.n = n;
    work.index = index;
    work.cast = cast;
    work.source = source;
    work.codes = codes;
    work.exact = exact;
    work.stream = stream && (uintptr_t)codes % DTI_CACHE_LINE == 0;
    work.constants = constants;
    dti_loss_work_avx512(&work, add);
}

/* The rest of a function of the type dti_loss_cast_fn. */
#define LOSS_CAST_RUN(name, constants, exact) \
    loss_cast_run(name##_add, constants, exact, rule, cast, codes, source, n, index, stream, loss)

#endif
#endif
