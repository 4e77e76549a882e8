/* SPDX-License-Identifier: MIT
 *
 * fp32 -> integer codes of at most 16 bits, with one scale, or one per element. Special cases
 * (NaNs, infinities, quotients of 2^20 or more, and ties if the exact quotient is required) go
 * to the portable kernel, step by step; everything else is a quotient, a conversion, an addition
 * and a clamp.
 */
#include "kernels/x86/quant/quant_affine.h"
#include "kernels/x86/quant/quant_refined.h"

#ifdef __AVX2__
static const float small_quotient = 0x1p20f;

/* Parameters of a step. */
struct affine {
    struct affine_common common;
    vector zero, low, high, mask; /* low, high: 32-bit; mask: for codes in words */
    vector low_words, high_words;
};

/* Whether clamping STEP quotients is sufficient. */
static DTI_NOINLINE bool all_small(const floats q[4])
{
    return all_below(q[0], small_quotient) && all_below(q[1], small_quotient) &&
           all_below(q[2], small_quotient) && all_below(q[3], small_quotient);
}

/* Processes STEP elements. A conversion that overflows 32 bits gives -2^31, which no zero point
 * brings into the range of codes; so checking the clamped elements catches all special cases. */
DTI_INLINE void affine_step(const struct affine *c, struct affine_place p,
                            struct dti_quant_count *count, enum dti_quant_division division,
                            bool refined, bool columns, bool wide, bool stream)
{
    floats q[4];
    vector sum[4], code[2];
    unsigned clipped = 0;
    bool odd = false;
    for (unsigned i = 0; i < 4; i++) {
        q[i] = refined ? refined_quotient(load_floats(p.x + i * VECTOR), c->common.scale,
                                          c->common.inverse)
                       : quotient_of(&c->common, p, i, division, columns);
        const vector zero =
            columns && p.zero_points ? load_vector(p.zero_points + i * VECTOR) : c->zero;
        sum[i] = VECTOR_BITS(add_epi32)(VECTOR_BITS(cvtps_epi32)(q[i]), zero);
        if (division == DTI_DIVIDE_EXACT)
            odd |= any_ties(q[i]);
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
        vector words[2], kept[2];
        for (unsigned i = 0; i < 2; i++) {
            words[i] = VECTOR_BITS(packs_epi32)(sum[2 * i], sum[2 * i + 1]);
            kept[i] = VECTOR_BITS(max_epi16)(VECTOR_BITS(min_epi16)(words[i], c->high_words),
                                             c->low_words);
        }
        const unsigned first = words_that_differ(kept[0], words[0]);
        const unsigned second = words_that_differ(kept[1], words[1]);
        if ((first | second) != 0)
            clipped =
                (unsigned)(__builtin_popcount(first) + __builtin_popcount(second)) / WORD_MASK_BITS;
        code[0] = order_packed(VECTOR_BITS(packus_epi16)(VECTOR_WHOLE(and)(kept[0], c->mask),
                                                         VECTOR_WHOLE(and)(kept[1], c->mask)));
    }
    if (odd || (clipped != 0 && !all_small(q))) {
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
        prefetch(p.x + 4 * at, 4 * STEP);
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
    return (struct affine){
        .common = affine_common(args, codes, n),
        .zero = VECTOR_BITS(set1_epi32)(args->zero_point),
        .low = VECTOR_BITS(set1_epi32)(affine->low),
        .high = VECTOR_BITS(set1_epi32)(affine->high),
        .low_words = VECTOR_BITS(set1_epi16)((short)affine->low),
        .high_words = VECTOR_BITS(set1_epi16)((short)affine->high),
        .mask = affine->code.width > 8 ? lanes_of(mask) : VECTOR_BITS(set1_epi16)((short)mask),
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
