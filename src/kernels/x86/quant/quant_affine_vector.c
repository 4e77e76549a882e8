/* SPDX-License-Identifier: MIT
 *
 * fp32 -> integer codes of at most 16 bits, with one scale, or one per element. Special cases
 * (NaNs, infinities, quotients around 2^20 or more, and ties if the exact quotient is required) go
 * to the portable kernel, step by step; everything else is a quotient, a conversion, an addition
 * and a clamp.
 */
#include "kernels/x86/quant/quant_affine.h"
#include "kernels/x86/quant/quant_refined.h"

#ifdef __AVX2__
/* Parameters of a step. */
struct affine {
    struct affine_common common;
    vector zero, low, high, mask; /* 32-bit: for codes in words */
    vector zero_words, span;      /* words: the zero point, or 0, and high; both less low */
    vector low_bytes, mask_bytes;
};

/* Whether clamping STEP conversions, with or without zero points of at most 16 bits, is sufficient:
 * none overflowed. */
DTI_INLINE bool all_small(const vector sum[4])
{
    const vector a = VECTOR_WHOLE(or)(VECTOR_BITS(abs_epi32)(sum[0]),
                                      VECTOR_BITS(abs_epi32)(sum[1])),
                 b = VECTOR_WHOLE(or)(VECTOR_BITS(abs_epi32)(sum[2]),
                                      VECTOR_BITS(abs_epi32)(sum[3]));
    return numbers_that_differ(VECTOR_WHOLE(and)(VECTOR_WHOLE(or)(a, b), lanes_of(0xfff00000)),
                               VECTOR_WHOLE(setzero)()) == 0;
}

/* Codes in bytes of the conversions of STEP quotients, each with its zero point already added or
 * without. Codes less low are from 0 to span; conversions saturate to words, which no zero point
 * brings back into that range. */
DTI_INLINE vector bytes_of(const struct affine *c, const vector sum[4], unsigned *ret_clipped)
{
    const vector none = VECTOR_WHOLE(setzero)();
    vector words[2];
    for (unsigned i = 0; i < 2; i++)
        words[i] = VECTOR_BITS(adds_epi16)(VECTOR_BITS(packs_epi32)(sum[2 * i], sum[2 * i + 1]),
                                           c->zero_words);
    if (words_above(VECTOR_BITS(max_epu16)(words[0], words[1]), c->span) != 0) {
        for (unsigned i = 0; i < 2; i++) {
            *ret_clipped +=
                (unsigned)__builtin_popcount(words_above(words[i], c->span)) / WORD_MASK_BITS;
            words[i] = VECTOR_BITS(min_epi16)(VECTOR_BITS(max_epi16)(words[i], none), c->span);
        }
    }
    return VECTOR_WHOLE(and)(
        VECTOR_BITS(add_epi8)(order_packed(VECTOR_BITS(packus_epi16)(words[0], words[1])),
                              c->low_bytes),
        c->mask_bytes);
}

/* Processes STEP elements. A conversion that overflows 32 bits gives -2^31, which no zero point
 * brings into the range of codes; so checking the clamped elements catches all special cases. */
DTI_INLINE void affine_step(const struct affine *c, struct affine_place p,
                            struct dti_quant_count *count, enum dti_quant_division division,
                            bool refined, bool columns, bool wide, bool stream)
{
    vector sum[4], code[2];
    unsigned clipped = 0;
    bool odd = false;
    for (unsigned i = 0; i < 4; i++) {
        const floats q = refined ? refined_quotient(load_floats(p.x + i * VECTOR), c->common.scale,
                                                    c->common.inverse)
                                 : quotient_of(&c->common, p, i, division, columns);
        sum[i] = VECTOR_BITS(cvtps_epi32)(q);
        if (columns && p.zero_points)
            sum[i] = VECTOR_BITS(add_epi32)(sum[i], load_vector(p.zero_points + i * VECTOR));
        else if (wide)
            sum[i] = VECTOR_BITS(add_epi32)(sum[i], c->zero);
        if (division == DTI_DIVIDE_EXACT)
            odd |= any_ties(q);
    }
    if (wide) {
        vector kept[4], differs = VECTOR_WHOLE(setzero)();
        for (unsigned i = 0; i < 4; i++) {
            kept[i] = VECTOR_BITS(max_epi32)(VECTOR_BITS(min_epi32)(sum[i], c->high), c->low);
            differs = VECTOR_WHOLE(or)(differs, VECTOR_WHOLE(xor)(kept[i], sum[i]));
            kept[i] = VECTOR_WHOLE(and)(kept[i], c->mask);
        }
        if (numbers_that_differ(differs, VECTOR_WHOLE(setzero)()) != 0)
            for (unsigned i = 0; i < 4; i++) {
                const vector clamped =
                    VECTOR_BITS(max_epi32)(VECTOR_BITS(min_epi32)(sum[i], c->high), c->low);
                clipped += (unsigned)__builtin_popcount(numbers_that_differ(clamped, sum[i]));
            }
        code[0] = order_words(VECTOR_BITS(packus_epi32)(kept[0], kept[1]));
        code[1] = order_words(VECTOR_BITS(packus_epi32)(kept[2], kept[3]));
    } else {
        code[0] = bytes_of(c, sum, &clipped);
    }
    if (odd || (clipped != 0 && !all_small(sum))) {
        go_portable(&c->common, p, STEP, count);
        return;
    }
    count->clipped += clipped;
    store_vector(p.codes, code[0], stream);
    if (wide)
        store_vector(p.codes + VECTOR, code[1], stream);
}

/* Fewer than STEP elements, through buffers padded with zeros. */
DTI_INLINE void affine_rest(const struct affine *c, struct affine_place p, size_t n,
                            struct dti_quant_count *count, enum dti_quant_division division,
                            bool refined, bool columns, bool wide)
{
    unsigned char x[4 * STEP] = {0}, codes[2 * STEP];
    const struct affine_place buffers = {.codes = codes, .x = x};
    const size_t bytes = wide ? 2 : 1;
    struct dti_quant_count some = {0};
    if (columns || n == 0) {
        if (n > 0)
            go_portable(&c->common, p, n, count);
        return;
    }
    memcpy(x, p.x, 4 * n);
    affine_step(c, buffers, &some, division, refined, false, wide, false);
    memcpy(p.codes, codes, bytes * n);
    count->clipped += some.clipped;
    count->special += some.special;
}

DTI_INLINE void affine_loop(const struct affine *c, struct affine_place p, size_t n,
                            struct dti_quant_count *count, enum dti_quant_division division,
                            bool refined, bool columns, bool wide, bool stream)
{
    const size_t bytes = wide ? 2 : 1;
    size_t at = 0;
    if (stream) {
        at = units_before_vector(p.codes, bytes);
        affine_rest(c, p, at, count, division, refined, columns, wide);
    }
    for (; n - at >= STEP; at += STEP) {
        prefetch_lines(p.x + 4 * at, c->common.ahead, 4 * STEP);
        affine_step(c, place_at(p, at, bytes, columns), count, division, refined, columns, wide,
                    stream);
    }
    affine_rest(c, place_at(p, at, bytes, columns), n - at, count, division, refined, columns,
                wide);
}

#define LOOPS(name, division, refined, columns, wide)                                      \
    static DTI_NOINLINE void name(const struct affine *c, struct affine_place p, size_t n, \
                                  struct dti_quant_count *count)                           \
    {                                                                                      \
        if (c->common.stream)                                                              \
            affine_loop(c, p, n, count, division, refined, columns, wide, true);           \
        else                                                                               \
            affine_loop(c, p, n, count, division, refined, columns, wide, false);          \
    }
#define DIVISIONS(name, columns, wide)                                        \
    LOOPS(name##_true, DTI_DIVIDE_TRUE, false, columns, wide)                 \
    LOOPS(name##_reciprocal, DTI_DIVIDE_RECIPROCAL, false, columns, wide)     \
    LOOPS(name##_exact, DTI_DIVIDE_EXACT, false, columns, wide)               \
    static void name(const struct affine *c, struct affine_place p, size_t n, \
                     struct dti_quant_count *count)                           \
    {                                                                         \
        switch (c->common.args->affine->division) {                           \
        case DTI_DIVIDE_TRUE:                                                 \
            name##_true(c, p, n, count);                                      \
            break;                                                            \
        case DTI_DIVIDE_RECIPROCAL:                                           \
            name##_reciprocal(c, p, n, count);                                \
            break;                                                            \
        case DTI_DIVIDE_EXACT:                                                \
            name##_exact(c, p, n, count);                                     \
            break;                                                            \
        }                                                                     \
    }
LOOPS(bytes_refined, DTI_DIVIDE_TRUE, true, false, false)
DIVISIONS(bytes_of_one, false, false)
DIVISIONS(bytes_of_columns, true, false)
DIVISIONS(words_of_one, false, true)
DIVISIONS(words_of_columns, true, true)

static struct affine affine_init(const struct dti_affine_args *args, const void *codes, size_t n)
{
    const struct dti_affine *affine = args->affine;
    const uint32_t mask = (uint32_t)dti_low_bits(affine->code.width);
    const int zero = args->zero_points ? 0 : args->zero_point;
    return (struct affine){
        .common = affine_common(args, codes, n),
        .zero = VECTOR_BITS(set1_epi32)(args->zero_point),
        .low = VECTOR_BITS(set1_epi32)(affine->low),
        .high = VECTOR_BITS(set1_epi32)(affine->high),
        .mask = lanes_of(mask),
        .zero_words = VECTOR_BITS(set1_epi16)((short)(zero - affine->low)),
        .span = VECTOR_BITS(set1_epi16)((short)(affine->high - affine->low)),
        .low_bytes = VECTOR_BITS(set1_epi8)((char)affine->low),
        .mask_bytes = VECTOR_BITS(set1_epi8)((char)mask),
    };
}

#define KERNEL(name, loops, refined)                                                        \
    void VECTOR_NAME(name)(const struct dti_affine_args *args, void *codes, const float *x, \
                           size_t n, struct dti_quant_count *count)                         \
    {                                                                                       \
        const struct affine c = affine_init(args, codes, n);                                \
        if (args->affine->division == DTI_DIVIDE_TRUE && !args->scales &&                   \
            may_refine(c.common.scale))                                                     \
            refined(&c, place_of(args, codes, x), n, count);                                \
        else                                                                                \
            loops(&c, place_of(args, codes, x), n, count);                                  \
    }
KERNEL(dti_quantize_int8, bytes_of_one, bytes_refined)
KERNEL(dti_quantize_int8_columns, bytes_of_columns, bytes_of_columns)
KERNEL(dti_quantize_int16, words_of_one, words_of_one)
KERNEL(dti_quantize_int16_columns, words_of_columns, words_of_columns)
#endif
