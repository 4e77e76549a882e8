/* SPDX-License-Identifier: MIT
 *
 * Casts to and from fp32 that also count their loss, with AVX2 and AVX-512. They use the arithmetic
 * of the cast's own kernel, without what only special groups need: those are cast by the kernel
 * itself, and their codes are decoded. */
#ifndef KERNELS_X86_SCAN_LOSS_CAST_VECTOR_H
#define KERNELS_X86_SCAN_LOSS_CAST_VECTOR_H

#include "kernels/scan/loss_kernels.h"
#include "kernels/x86/scan/loss_group_vector.h"

#ifdef __AVX2__

struct loss_no_constants {
    unsigned char none;
};

enum { LOSS_VECTORS = 4, LOSS_BLOCK = LOSS_VECTORS * LOSS_WIDTH };

/* Once for each cache line. */
DTI_INLINE void loss_prefetch(const unsigned char *src, size_t at)
{
    if (at % DTI_CACHE_LINE == 0)
        __builtin_prefetch((const void *)((uintptr_t)(src + at) + DTI_PREFETCH_DISTANCE));
}

/* For casts LOSS_BY_SIZE: sums of squares see what overflowed. */
DTI_INLINE flags loss_none_beyond(const void *constants, const struct loss_bars *bars,
                                  const struct loss_group *group)
{
    (void)constants, (void)bars, (void)group;
    return no_flags();
}

/* number(constants, bars, x, size, code, error) returns what is stored for a vector of elements
 * that do not overflow; size is |x|, error |e|, and only the magnitude of the number matters.
 * put(constants, dst, code, x, stream, count, group) stores the codes of four vectors, and counts
 * those that became small if `count`; number_beyond(constants, bars, group) then sees what
 * overflowed. The kernel casts everything else again. */
#define LOSS_CAST_GROUPS(name, type, sort, smallness, dst_unit, number, put)                       \
    DTI_INLINE struct loss_group name##_group(const struct loss_bars *bars, const void *constants, \
                                              unsigned char *dst, const unsigned char *src,        \
                                              bool stream)                                         \
    {                                                                                              \
        struct loss_group group = loss_group_begin();                                              \
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += LOSS_BLOCK) {                                  \
            vector code[LOSS_VECTORS], x[LOSS_VECTORS], error[LOSS_VECTORS];                       \
            for (unsigned j = 0; j < LOSS_VECTORS; j++) {                                          \
                loss_prefetch(src, 4 * i + VECTOR * j);                                            \
                x[j] = load_vector(src + 4 * i + VECTOR * j);                                      \
                const vector_ps value = (vector_ps)x[j];                                           \
                const vector size = loss_size_by(bars, value);                                     \
                const vector_ps y = number(constants, bars, value, size, &code[j], &error[j]);     \
                if (sort == DTI_LOSS_SMALL) {                                                      \
                    loss_group_add_small(&group, bars, j % LOSS_PARTS, value, size, error[j]);     \
                    loss_count_small(&group.small, bars, size, loss_size(y));                      \
                } else {                                                                           \
                    loss_group_add(&group, bars, j % LOSS_PARTS, sort, smallness, value, size,     \
                                   error[j]);                                                      \
                }                                                                                  \
            }                                                                                      \
            loss_group_count(&group, error);                                                       \
            put(constants, dst + (dst_unit)*i, code, x, stream,                                    \
                sort != DTI_LOSS_SMALL && (smallness) == LOSS_BY_CODE, &group);                    \
        }                                                                                          \
        return group;                                                                              \
    }                                                                                              \
    static DTI_NOINLINE size_t name(struct dti_loss_work *w, size_t at)                            \
    {                                                                                              \
        struct loss_bars bars = loss_bars_of(&w->bars, sort);                                      \
        struct dti_loss_counts counts = {0, 0, 0, 0};                                              \
        const type local = *(const type *)w->constants; /* a copy that stores cannot alias */      \
        const void *const constants = w->constants;                                                \
        const unsigned char *const source = w->source;                                             \
        unsigned char *const codes = w->codes;                                                     \
        const bool stream = w->stream;                                                             \
        const size_t end = w->n / DTI_LOSS_GROUP * DTI_LOSS_GROUP;                                 \
        for (bool more = true; more && at < end; at += DTI_LOSS_GROUP) {                           \
            const unsigned char *const src = source + 4 * at;                                      \
            unsigned char *const dst = codes + (dst_unit)*at;                                      \
            struct loss_group group = name##_group(&bars, &local, dst, src, stream);               \
            const enum loss_verdict verdict =                                                      \
                sort == DTI_LOSS_SMALL ? loss_group_judge_small(&group, &bars)                     \
                                       : loss_group_judge(&group, &bars, sort, smallness,          \
                                                          number##_beyond(&local, &bars, &group)); \
            if (__builtin_expect(verdict != LOSS_FINE, 0)) {                                       \
                if (verdict == LOSS_ODD || !number##_raise(w, sort, constants, src, at))           \
                    break;                                                                         \
                bars = loss_bars_of(&w->bars, sort);                                               \
                more = sort != DTI_LOSS_PLAIN || w->loss->max_relative < 1;                        \
            }                                                                                      \
            if (sort != DTI_LOSS_SMALL)                                                            \
                number##_correct(w, &group, &bars, smallness, constants, src);                     \
            loss_group_keep(&group, w, at, &counts);                                               \
        }                                                                                          \
        loss_counts_add(w, &counts);                                                               \
        return at;                                                                                 \
    }
/* For groups of all sorts: new maxima, and counts of what became small where not everything was
 * counted. */
#define LOSS_CAST_NUMBER(number)                                                                  \
    static DTI_NOINLINE bool number##_raise(struct dti_loss_work *w, enum dti_loss_sort sort,     \
                                            const void *constants, const unsigned char *src,      \
                                            size_t at)                                            \
    {                                                                                             \
        const struct loss_bars bars = loss_bars_of(&w->bars, sort);                               \
        float y[DTI_LOSS_GROUP];                                                                  \
        for (size_t j = 0; j < DTI_LOSS_GROUP; j += LOSS_WIDTH) {                                 \
            const vector_ps x = loss_load(src + 4 * j);                                           \
            vector code, error;                                                                   \
            const vector_ps size = number(constants, &bars, x, loss_size(x), &code, &error);      \
            const vector sign = VECTOR_WHOLE(andnot)(loss_all(INT32_MAX), loss_bits(x));          \
            VECTOR_BITS(storeu_ps)(y + j, (vector_ps)VECTOR_WHOLE(or)(loss_size(size), sign));    \
        }                                                                                         \
        return VECTOR_NAME(dti_loss_raise)(w, sort, src, y, at);                                  \
    }                                                                                             \
    static DTI_NOINLINE struct loss_small number##_recount(                                       \
        const struct dti_loss_work *w, enum loss_smallness smallness, const void *constants,      \
        const unsigned char *src)                                                                 \
    {                                                                                             \
        const struct loss_bars bars = loss_bars_of(&w->bars, DTI_LOSS_SMALL);                     \
        struct loss_small small = {0, 0};                                                         \
        for (size_t j = 0; j < DTI_LOSS_GROUP; j += LOSS_WIDTH) {                                 \
            const vector_ps x = loss_load(src + 4 * j);                                           \
            const vector size = loss_size(x);                                                     \
            vector code, error;                                                                   \
            if (smallness == LOSS_BY_CODE)                                                        \
                small.to_zero -= dti_loss_popcount(MASK_OF(are_zero(size)));                      \
            else                                                                                  \
                loss_count_small(&small, &bars, size,                                             \
                                 loss_size(number(constants, &bars, x, size, &code, &error)));    \
        }                                                                                         \
        return small;                                                                             \
    }                                                                                             \
    /* Zeros are exact, so there are none where nothing is. */                                    \
    DTI_INLINE void number##_correct(const struct dti_loss_work *w, struct loss_group *group,     \
                                     const struct loss_bars *bars, enum loss_smallness smallness, \
                                     const void *constants, const unsigned char *src)             \
    {                                                                                             \
        const bool correct = smallness == LOSS_BY_CODE ? group->inexact != DTI_LOSS_GROUP         \
                                                       : any(are_lower(group->low, bars->least)); \
        if (__builtin_expect(correct, 0)) {                                                       \
            const struct loss_small more = number##_recount(w, smallness, constants, src);        \
            group->small.to_zero += more.to_zero;                                                 \
            group->small.to_subnormal += more.to_subnormal;                                       \
        }                                                                                         \
    }
#define LOSS_CAST_ROUNDED(name, type, smallness, dst_unit, number, put)                        \
    LOSS_CAST_NUMBER(number)                                                                   \
    LOSS_CAST_GROUPS(name##_add_plain, type, DTI_LOSS_PLAIN, smallness, dst_unit, number, put) \
    LOSS_CAST_GROUPS(name##_add_unit, type, DTI_LOSS_UNIT, smallness, dst_unit, number, put)   \
    LOSS_CAST_GROUPS(name##_add_small, type, DTI_LOSS_SMALL, smallness, dst_unit, number, put) \
    static dti_loss_groups_fn *const name##_add[] = {[DTI_LOSS_PLAIN] = name##_add_plain,      \
                                                     [DTI_LOSS_UNIT] = name##_add_unit,        \
                                                     [DTI_LOSS_SMALL] = name##_add_small};

/* A cast that is exact: number(src) casts a vector of elements to fp32. A lane of zeros is suitable
 * too. */
#define LOSS_CAST_EXACT(name, src_unit, number)                                                  \
    static DTI_NOINLINE bool name##_suits(const unsigned char *src, vector limit)                \
    {                                                                                            \
        flags odd = no_flags();                                                                  \
        for (size_t part = 0; part < DTI_LOSS_LANES; part += LOSS_WIDTH) {                       \
            vector high = loss_all(0);                                                           \
            for (size_t i = part; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES)                       \
                high = VECTOR_BITS(max_epu32)(high,                                              \
                                              loss_size((vector_ps)number(src + (src_unit)*i))); \
            odd = EITHER(odd, are_at_least(high, limit));                                        \
            odd = EITHER(odd, are_lower(VECTOR_BITS(sub_epi32)(high, loss_all(1)),               \
                                        loss_all(DTI_LOSS_SINGLE_FROM - 1)));                    \
        }                                                                                        \
        return !any(odd);                                                                        \
    }                                                                                            \
    static DTI_NOINLINE size_t name##_add_exact(struct dti_loss_work *w, size_t at)              \
    {                                                                                            \
        const struct loss_bars bars = loss_bars_of(&w->bars, DTI_LOSS_EXACT);                    \
        struct dti_loss_counts counts = {0, 0, 0, 0};                                            \
        const unsigned char *const source = w->source;                                           \
        unsigned char *const codes = w->codes;                                                   \
        const bool stream = w->stream;                                                           \
        const size_t end = w->n / DTI_LOSS_GROUP * DTI_LOSS_GROUP;                               \
        for (; at < end; at += DTI_LOSS_GROUP) {                                                 \
            const unsigned char *const src = source + (src_unit)*at;                             \
            unsigned char *const dst = codes + 4 * at;                                           \
            struct loss_group group = loss_group_begin();                                        \
            for (unsigned i = 0; i < DTI_LOSS_GROUP; i += LOSS_WIDTH) {                          \
                const vector x = number(src + (src_unit)*i);                                     \
                const unsigned part = i / LOSS_WIDTH % LOSS_PARTS;                               \
                loss_prefetch(src, (src_unit)*i);                                                \
                group.source[part] =                                                             \
                    VECTOR_BITS(fmadd_ps)((vector_ps)x, (vector_ps)x, group.source[part]);       \
                store_vector(dst + 4 * i, x, stream);                                            \
            }                                                                                    \
            if (__builtin_expect(any(loss_group_unfit(&group, bars.sum_end)), 0) &&              \
                !name##_suits(src, bars.limit))                                                  \
                break;                                                                           \
            loss_group_keep(&group, w, at, &counts);                                             \
        }                                                                                        \
        return at;                                                                               \
    }                                                                                            \
    static dti_loss_groups_fn *const name##_add[] = {[DTI_LOSS_EXACT] = name##_add_exact};

/* Whether sorts other than small can be used. Codes show what was normal if nothing else gives
 * the smaller codes; and ratios of the smallest sources are 1, far enough apart, or decided
 * exactly. */
DTI_INLINE bool loss_is_quick(const struct dti_loss_rule *rule, const struct dti_loss_bars *bars,
                              enum loss_smallness smallness)
{
    const double from = rule->src_smallest_normal, to = rule->dst_smallest_normal;
    if (dti_format_is_integer(&rule->dst))
        return true;
    if (smallness == LOSS_BY_CODE && from >= ldexp(to, -(int)rule->dst.man_bits - 2))
        return false;
    return to >= 0x1p-80 || from >= 0x1p-80 || !bars->is_short;
}

/* Processes the groups of a cast, tile by tile. */
DTI_INLINE void loss_cast_run(dti_loss_groups_fn *const add[], const void *constants, bool exact,
                              enum loss_smallness smallness, const struct dti_loss_rule *rule,
                              const struct dti_loss_cast *cast, void *codes, const void *source,
                              size_t n, uint64_t index, bool stream, struct dti_loss *loss)
{
    struct dti_loss_work work; /* not initialized here: its larger members are set when work
                                * begins */
    work.rule = rule;
    work.loss = loss;
    work.cast = cast;
    work.exact = exact;
    work.any = VECTOR_NAME(dti_loss_any);
    work.bars = dti_loss_bars_init(rule, true);
    work.stream = stream && (uintptr_t)codes % DTI_CACHE_LINE == 0;
    work.constants = constants;
    work.odd_tiles = work.odd_streak = work.exact_tiles = work.exact_streak = 0;
    work.counts = (struct dti_loss_counts){0, 0, 0, 0};
    const bool is_small = !exact && !loss_is_quick(rule, &work.bars, smallness);
    for (size_t at = 0; at < n; at += DTI_TILE) {
        work.n = n - at < DTI_TILE ? n - at : DTI_TILE;
        work.index = index + at;
        work.source = (const unsigned char *)source + at * cast->source_bytes;
        work.codes = (unsigned char *)codes + at * cast->code_bytes;
        work.is_small = is_small;
        VECTOR_NAME(dti_loss_work)(&work, add);
    }
    loss->elements += n;
    dti_loss_add_counts(loss, &work.counts);
}

/* A dti_loss_cast_fn: its parameters, and the rest of it. */
#define LOSS_CAST_PARAMETERS                                                         \
    const struct dti_loss_rule *rule, const struct dti_loss_cast *cast, void *codes, \
        const void *source, size_t n, uint64_t index, bool stream, struct dti_loss *loss
#define LOSS_CAST_RUN(add, constants, exact, smallness)                                          \
    loss_cast_run(add, constants, exact, smallness, rule, cast, codes, source, n, index, stream, \
                  loss)

#endif
#endif
