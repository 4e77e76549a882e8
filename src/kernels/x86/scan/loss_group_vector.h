/* SPDX-License-Identifier: MIT
 *
 * Sums of groups of fp32 numbers with AVX2 and AVX-512, for arrays (loss_f32_vector.c) and for
 * casts that also count their loss (loss_cast_vector.h). The 16 lanes of a block are one vector, or
 * with AVX2 two parts. */
#ifndef KERNELS_X86_SCAN_LOSS_GROUP_VECTOR_H
#define KERNELS_X86_SCAN_LOSS_GROUP_VECTOR_H

#include "kernels/scan/loss_bars.h"
#include "kernels/x86/scan/loss_flags.h"

#ifdef __AVX2__
enum { LOSS_WIDTH = VECTOR / 4, LOSS_PARTS = DTI_LOSS_LANES / LOSS_WIDTH };

DTI_INLINE vector loss_bits(vector_ps value)
{
    return (vector)value;
}

DTI_INLINE vector loss_all(uint32_t bits)
{
    return VECTOR_BITS(set1_epi32)((int)bits);
}

DTI_INLINE vector loss_size(vector_ps value)
{
    return VECTOR_WHOLE(and)(loss_bits(value), loss_all(INT32_MAX));
}

DTI_INLINE vector_ps loss_load(const void *from)
{
    return (vector_ps)load_vector((const unsigned char *)from);
}

/* dti_loss_work_through() and dti_loss_raise(), compiled once for the level. */
void VECTOR_NAME(dti_loss_work)(struct dti_loss_work *work, dti_loss_groups_fn *const add[]);
bool VECTOR_NAME(dti_loss_raise)(struct dti_loss_work *work, enum dti_loss_sort sort, const void *x,
                                 const float *y, size_t at);

/* How to detect that an element became small. */
enum loss_smallness {
    LOSS_BY_SIZE, /* by the size of the source: then they are counted separately */
    LOSS_BY_CODE, /* by codes, which are all counted; the cast detects overflow */
};

/* The bars of a sort in registers. */
struct loss_bars {
    vector_ps ratio, inverse, sum_end;
    vector largest, least, limit, most, src_normal, subnormals, magnitude;
};

/* loss_size() with a mask that stays in a register. */
DTI_INLINE vector loss_size_by(const struct loss_bars *bars, vector_ps value)
{
    return VECTOR_WHOLE(and)(loss_bits(value), bars->magnitude);
}

DTI_INLINE struct loss_bars loss_bars_of(const struct dti_loss_bars *bars, enum dti_loss_sort sort)
{
    vector magnitude = loss_all(INT32_MAX);
    float limit;
    memcpy(&limit, &bars->limit, sizeof limit);
    __asm__("" : "+v"(magnitude)); /* keeps the compiler from recomputing it */
    return (struct loss_bars){
        .magnitude = magnitude,
        .ratio = VECTOR_BITS(set1_ps)(bars->ratio),
        .inverse = VECTOR_BITS(set1_ps)(bars->inverse),
        .sum_end = VECTOR_BITS(set1_ps)(dti_loss_not_above((double)limit * limit)),
        .largest = loss_bits(VECTOR_BITS(set1_ps)(bars->largest)),
        .least = loss_all(sort == DTI_LOSS_SMALL ? DTI_LOSS_SINGLE_FROM - 1 : bars->least),
        .limit = loss_all(bars->limit),
        .most = loss_bits(VECTOR_BITS(set1_ps)(bars->most)),
        .src_normal = loss_all(bars->src_normal),
        .subnormals = loss_all(bars->subnormals),
    };
}

/* The number of elements that became small. */
struct loss_small {
    unsigned to_zero, to_subnormal;
};

/* The state of a group: lanes of sums, extremes, and elements that are not plain. Lanes of the
 * largest errors are apart, because each has to suit fp32 sums. */
struct loss_group {
    vector_ps absolute[LOSS_PARTS], squared[LOSS_PARTS], source[LOSS_PARTS];
    vector largest[LOSS_PARTS], above, high, low;
    flags apart;
    unsigned inexact;
    struct loss_small small;
};

DTI_INLINE struct loss_group loss_group_begin(void)
{
    struct loss_group g;
    for (unsigned part = 0; part < LOSS_PARTS; part++) {
        g.absolute[part] = g.squared[part] = g.source[part] = VECTOR_BITS(setzero_ps)();
        g.largest[part] = loss_all(0);
    }
    g.above = g.high = loss_all(0);
    g.low = loss_all(UINT32_MAX);
    g.apart = no_flags();
    g.inexact = 0;
    g.small = (struct loss_small){0, 0};
    return g;
}

DTI_INLINE void loss_group_sum(struct loss_group *g, unsigned part, vector_ps x, vector_ps error)
{
    g->absolute[part] = VECTOR_BITS(add_ps)(g->absolute[part], error);
    g->squared[part] = VECTOR_BITS(fmadd_ps)(error, error, g->squared[part]);
    g->source[part] = VECTOR_BITS(fmadd_ps)(x, x, g->source[part]);
}

/* Adds one element per lane, everything but the counts. size: |x|; error: |e|. Differences are
 * compared as integers, where negative ones are also below 0. */
DTI_INLINE void loss_group_add(struct loss_group *g, const struct loss_bars *bars, unsigned part,
                               enum dti_loss_sort sort, enum loss_smallness smallness, vector_ps x,
                               vector size, vector error)
{
    loss_group_sum(g, part, x, (vector_ps)error);
    if (sort == DTI_LOSS_PLAIN) {
        const vector_ps most = (vector_ps)VECTOR_BITS(min_epu32)(size, bars->most);
        const vector_ps above = VECTOR_BITS(fmsub_ps)((vector_ps)error, bars->inverse, most);
        g->above = VECTOR_BITS(max_epi32)(g->above, loss_bits(above));
    } else {
        g->largest[part] = VECTOR_BITS(max_epu32)(g->largest[part], error);
    }
    if (smallness == LOSS_BY_SIZE)
        g->low = VECTOR_BITS(min_epu32)(g->low, size);
}

/* The same for elements that may be 0 or become small. */
DTI_INLINE void loss_group_add_small(struct loss_group *g, const struct loss_bars *bars,
                                     unsigned part, vector_ps x, vector size, vector error)
{
    const vector_ps above = VECTOR_BITS(fnmadd_ps)(bars->ratio, (vector_ps)size, (vector_ps)error);
    loss_group_sum(g, part, x, (vector_ps)error);
    g->above = VECTOR_BITS(max_epi32)(g->above, loss_bits(above));
    g->largest[part] = VECTOR_BITS(max_epu32)(g->largest[part], error);
    g->high = VECTOR_BITS(max_epu32)(g->high, size);
    g->low = VECTOR_BITS(min_epu32)(g->low, VECTOR_BITS(sub_epi32)(size, loss_all(1)));
}

DTI_INLINE void loss_count_small(struct loss_small *small, const struct loss_bars *bars,
                                 vector size, vector y_size)
{
    const flags zero = BUT_NOT(are_zero(y_size), are_zero(size));
    const flags lower = are_lower(VECTOR_BITS(sub_epi32)(y_size, loss_all(1)), bars->subnormals);
    small->to_zero += dti_loss_popcount(MASK_OF(zero));
    small->to_subnormal +=
        dti_loss_popcount(MASK_OF(BOTH(lower, are_at_least(size, bars->src_normal))));
}

/* The number of bytes that are not 0. */
DTI_INLINE unsigned loss_nonzero_bytes(vector bytes)
{
#ifdef __AVX512BW__
    return (unsigned)__builtin_popcountll(_mm512_test_epi8_mask(bytes, bytes));
#else
    const __m256i zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
    return VECTOR - dti_loss_popcount((unsigned)_mm256_movemask_epi8(zero));
#endif
}

/* The number of bytes a >= b, without signs. */
DTI_INLINE unsigned loss_bytes_from(vector a, vector b)
{
#ifdef __AVX512BW__
    return (unsigned)__builtin_popcountll(_mm512_cmpge_epu8_mask(a, b));
#else
    const __m256i from = _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a);
    return dti_loss_popcount((unsigned)_mm256_movemask_epi8(from));
#endif
}

/* The number of nonzero values among four vectors of magnitudes; saturating packs keep them
 * nonzero. */
DTI_INLINE unsigned loss_group_nonzero(const vector size[4])
{
    const vector low = VECTOR_BITS(packs_epi32)(size[0], size[1]);
    const vector high = VECTOR_BITS(packs_epi32)(size[2], size[3]);
    return loss_nonzero_bytes(VECTOR_BITS(packs_epi16)(low, high));
}

DTI_INLINE void loss_group_count(struct loss_group *g, const vector error[4])
{
    g->inexact += loss_group_nonzero(error);
}

/* What to do with a group: leave it to other code, look for new maxima, or add it. */
enum loss_verdict { LOSS_ODD, LOSS_RISEN, LOSS_FINE };

DTI_INLINE enum loss_verdict loss_group_verdict(flags odd, flags risen)
{
    if (__builtin_expect(!any(EITHER(odd, risen)), 1))
        return LOSS_FINE;
    return any(odd) ? LOSS_ODD : LOSS_RISEN;
}

/* Lanes whose sums of squares show numbers that do not suit fp32 sums. */
DTI_INLINE flags loss_group_unfit(const struct loss_group *g, vector_ps end)
{
    flags unfit = no_flags();
    for (unsigned part = 0; part < LOSS_PARTS; part++) {
        const vector_ps source = g->source[part];
        unfit = EITHER(unfit, COMPARE(source, VECTOR_BITS(set1_ps)(0x1p-116F), _CMP_LT_OQ));
        unfit = EITHER(unfit, COMPARE(source, end, _CMP_NLT_UQ));
    }
    return unfit;
}

DTI_INLINE flags loss_group_errors_unfit(const struct loss_group *g)
{
    flags unfit = no_flags();
    for (unsigned part = 0; part < LOSS_PARTS; part++) {
        const flags low = COMPARE(g->squared[part], VECTOR_BITS(set1_ps)(0x1p-116F), _CMP_LT_OQ);
        unfit = EITHER(unfit, BUT_NOT(low, are_zero(loss_bits(g->absolute[part]))));
    }
    return unfit;
}

DTI_INLINE vector loss_group_largest(const struct loss_group *g)
{
    return VECTOR_BITS(max_epu32)(g->largest[0], g->largest[LOSS_PARTS - 1]);
}

DTI_INLINE flags loss_group_above(const struct loss_group *g)
{
    return COMPARE((vector_ps)g->above, VECTOR_BITS(setzero_ps)(), _CMP_NLE_UQ);
}

/* beyond: where something overflowed, if sums of squares cannot show it. */
DTI_INLINE enum loss_verdict loss_group_judge(const struct loss_group *g,
                                              const struct loss_bars *bars, enum dti_loss_sort sort,
                                              enum loss_smallness smallness, flags beyond)
{
    const vector_ps end =
        smallness == LOSS_BY_CODE ? VECTOR_BITS(set1_ps)(0x1p120F) : bars->sum_end;
    const flags odd = EITHER(EITHER(loss_group_unfit(g, end), loss_group_errors_unfit(g)), beyond);
    return loss_group_verdict(odd, sort == DTI_LOSS_PLAIN
                                       ? loss_group_above(g)
                                       : are_lower(bars->largest, loss_group_largest(g)));
}

DTI_INLINE enum loss_verdict loss_group_judge_small(const struct loss_group *g,
                                                    const struct loss_bars *bars)
{
    const vector one = loss_all(1), from = loss_all(DTI_LOSS_SINGLE_FROM - 1);
    flags odd = EITHER(g->apart, are_lower(g->low, bars->least));
    odd = EITHER(odd, are_at_least(g->high, bars->limit));
    for (unsigned part = 0; part < LOSS_PARTS; part++)
        odd = EITHER(odd, are_lower(VECTOR_BITS(sub_epi32)(g->largest[part], one), from));
    return loss_group_verdict(
        odd, EITHER(loss_group_above(g), are_lower(bars->largest, loss_group_largest(g))));
}

DTI_INLINE void loss_group_keep(const struct loss_group *g, struct dti_loss_work *w, size_t at,
                                struct dti_loss_counts *counts)
{
    const size_t lane = at / (DTI_LOSS_GROUP / DTI_LOSS_LANES);
    counts->inexact += g->inexact;
    counts->to_zero += g->small.to_zero;
    counts->to_subnormal += g->small.to_subnormal;
    for (unsigned part = 0; part < LOSS_PARTS; part++) {
        const size_t to = lane + LOSS_WIDTH * part;
        VECTOR_BITS(store_ps)(w->groups.absolute + to, g->absolute[part]);
        VECTOR_BITS(store_ps)(w->groups.squared + to, g->squared[part]);
        VECTOR_BITS(store_ps)(w->groups.source_squared + to, g->source[part]);
    }
}

DTI_INLINE void loss_counts_add(struct dti_loss_work *w, const struct dti_loss_counts *counts)
{
    w->counts.inexact += counts->inexact;
    w->counts.to_zero += counts->to_zero;
    w->counts.to_subnormal += counts->to_subnormal;
}

#endif
#endif
