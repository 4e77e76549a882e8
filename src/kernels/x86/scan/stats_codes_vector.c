/* SPDX-License-Identifier: MIT
 *
 * Statistics of bf16 and fp16 from their codes, without an array of numbers: extremes, signs and
 * the smallest magnitude take a few operations for a vector of codes, and fp64 numbers are made for
 * the sums only. A tile that may hold a new extreme is left to the numbers. */
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_tile.h"
#include "kernels/x86/blocks.h"
#include "kernels/x86/vector.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, STEP = VECTOR / 2 /* codes */, SIGN = 0x8000, MAGNITUDE = 0x7fff };

/* One of the dtypes, a constant after inlining. */
enum stats_codes { CODES_BF16, CODES_FP16 };

/* What a pass finds. Codes of one sign are in the order of their magnitudes. */
struct stats_codes_pass {
    double sum[LANES], squared[LANES];
    uint16_t highest;      /* as int16: the largest number with a plus sign, if there is one */
    uint16_t highest_word; /* the largest magnitude with a minus sign, if there is one */
    uint16_t least, signs; /* the smallest magnitude */
};

DTI_INLINE float number_of(enum stats_codes dtype, uint16_t code)
{
    const uint32_t bits = (uint32_t)code << 16;
    float number;
    memcpy(&number, &bits, sizeof number);
    return dtype == CODES_FP16 ? _cvtsh_ss(code) : number;
}

/* Lanes of bf16 are in the order of unpacking, which works within 128 bits: with AVX-512 lanes 0 to
 * 3 and 8 to 11, then the others. Indexed by constants, so that sums stay in registers. */
struct stats_codes_sums {
    vector_pd sum[LANES * 8 / VECTOR], squared[LANES * 8 / VECTOR];
};

DTI_INLINE void add_part(struct stats_codes_sums *s, unsigned part, half_vector_ps narrow,
                         vector_pd shift, bool shifted)
{
    const vector_pd x = VECTOR_BITS(cvtps_pd)(narrow);
    const vector_pd d = shifted ? VECTOR_BITS(sub_pd)(x, shift) : x;
    s->sum[part] = VECTOR_BITS(add_pd)(s->sum[part], d);
    s->squared[part] = shifted ? VECTOR_BITS(add_pd)(s->squared[part], VECTOR_BITS(mul_pd)(d, d))
                               : VECTOR_BITS(fmadd_pd)(d, d, s->squared[part]); /* exact squares */
}

#ifdef __AVX512BW__
/* Adds a vector of codes. */
DTI_INLINE void add_words(struct stats_codes_sums *s, enum stats_codes dtype,
                          const unsigned char *codes, vector_pd shift, bool shifted)
{
    const vector words = load_vector(codes), zero = _mm512_setzero_si512();
    __m512 first = _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, words)); /* both times */
    __m512 second = _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, words));
    if (dtype == CODES_FP16) {
        first = _mm512_cvtph_ps(load256(codes));
        second = _mm512_cvtph_ps(load256(codes + VECTOR / 2));
    }
    const __m256 parts[4] = {_mm512_castps512_ps256(first), _mm512_extractf32x8_ps(first, 1),
                             _mm512_castps512_ps256(second), _mm512_extractf32x8_ps(second, 1)};
    const bool fp16 = dtype == CODES_FP16;
    add_part(s, 0, parts[0], shift, shifted);
    add_part(s, 1, parts[fp16 ? 1 : 2], shift, shifted);
    add_part(s, 0, parts[fp16 ? 2 : 1], shift, shifted);
    add_part(s, 1, parts[3], shift, shifted);
}

DTI_INLINE void keep_lanes(double lane[LANES], enum stats_codes dtype, vector_pd first,
                           vector_pd second)
{
    const bool fp16 = dtype == CODES_FP16;
    _mm256_storeu_pd(lane, _mm512_castpd512_pd256(first));
    _mm256_storeu_pd(lane + (fp16 ? 4 : 8), _mm512_extractf64x4_pd(first, 1));
    _mm256_storeu_pd(lane + (fp16 ? 8 : 4), _mm512_castpd512_pd256(second));
    _mm256_storeu_pd(lane + 12, _mm512_extractf64x4_pd(second, 1));
}

DTI_INLINE void keep_sums(struct stats_codes_pass *p, enum stats_codes dtype,
                          const struct stats_codes_sums *s)
{
    keep_lanes(p->sum, dtype, s->sum[0], s->sum[1]);
    keep_lanes(p->squared, dtype, s->squared[0], s->squared[1]);
}
#else
/* half: of the 16 codes. */
DTI_INLINE void add_eight(struct stats_codes_sums *s, enum stats_codes dtype, unsigned half,
                          const unsigned char *codes, vector_pd shift, bool shifted)
{
    const __m128i eight = _mm_loadu_si128((const void *)codes), zero = _mm_setzero_si128();
    if (dtype == CODES_FP16) {
        const __m256 numbers = _mm256_cvtph_ps(eight);
        add_part(s, 2 * half, _mm256_castps256_ps128(numbers), shift, shifted);
        add_part(s, 2 * half + 1, _mm256_extractf128_ps(numbers, 1), shift, shifted);
        return;
    }
    add_part(s, 2 * half, _mm_castsi128_ps(_mm_unpacklo_epi16(zero, eight)), shift, shifted);
    add_part(s, 2 * half + 1, _mm_castsi128_ps(_mm_unpackhi_epi16(zero, eight)), shift, shifted);
}

DTI_INLINE void add_words(struct stats_codes_sums *s, enum stats_codes dtype,
                          const unsigned char *codes, vector_pd shift, bool shifted)
{
    add_eight(s, dtype, 0, codes, shift, shifted);
    add_eight(s, dtype, 1, codes + LANES, shift, shifted);
}

DTI_INLINE void keep_sums(struct stats_codes_pass *p, enum stats_codes dtype,
                          const struct stats_codes_sums *s)
{
    (void)dtype;
    _mm256_storeu_pd(p->sum, s->sum[0]);
    _mm256_storeu_pd(p->sum + 4, s->sum[1]);
    _mm256_storeu_pd(p->sum + 8, s->sum[2]);
    _mm256_storeu_pd(p->sum + 12, s->sum[3]);
    _mm256_storeu_pd(p->squared, s->squared[0]);
    _mm256_storeu_pd(p->squared + 4, s->squared[1]);
    _mm256_storeu_pd(p->squared + 8, s->squared[2]);
    _mm256_storeu_pd(p->squared + 12, s->squared[3]);
}
#endif

/* The smallest word of a vector. */
DTI_INLINE uint16_t least_of(vector words)
{
#ifdef __AVX512BW__
    const __m256i all =
        _mm256_min_epu16(_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64(words, 1));
#else
    const __m256i all = words;
#endif
    const __m128i half =
        _mm_min_epu16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(half));
}

/* The sum of the words of a vector, each at most 255. */
DTI_INLINE uint16_t total_of(vector words)
{
    const vector sums = VECTOR_BITS(sad_epu8)(words, VECTOR_WHOLE(setzero)());
#ifdef __AVX512BW__
    return (uint16_t)_mm512_reduce_add_epi64(sums);
#else
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (uint16_t)(_mm_cvtsi128_si32(two) + _mm_extract_epi16(two, 4));
#endif
}

/* n: a multiple of STEP. */
DTI_INLINE void go_through(struct stats_codes_pass *p, enum stats_codes dtype,
                           const unsigned char *codes, size_t n, double shift_by, bool shifted)
{
    const vector_pd shift = VECTOR_BITS(set1_pd)(shift_by), z = VECTOR_BITS(setzero_pd)();
    struct stats_codes_sums s;
    for (unsigned part = 0; part < LANES * 8 / VECTOR; part++)
        s.sum[part] = s.squared[part] = z;
    vector highest = VECTOR_BITS(set1_epi16)(INT16_MIN), highest_word = VECTOR_WHOLE(setzero)();
    vector least = VECTOR_BITS(set1_epi16)(-1), signs = VECTOR_WHOLE(setzero)();
    for (size_t i = 0; i < n; i += STEP) {
        const vector words = load_vector(codes + 2 * i);
        prefetch_lines(codes + 2 * i, DTI_SCAN_AHEAD, VECTOR);
        highest = VECTOR_BITS(max_epi16)(highest, words);
        highest_word = VECTOR_BITS(max_epu16)(highest_word, words);
        least = VECTOR_BITS(min_epu16)(least, VECTOR_BITS(add_epi16)(words, words));
        signs = VECTOR_BITS(sub_epi16)(signs, VECTOR_BITS(srai_epi16)(words, 15));
        add_words(&s, dtype, codes + 2 * i, shift, shifted);
    }
    keep_sums(p, dtype, &s);
    /* what follows needs registers: gcc would store these in each round for it */
    __asm__("" : "+x"(highest), "+x"(highest_word), "+x"(least), "+x"(signs));
    p->highest =
        least_of(VECTOR_WHOLE(xor)(highest, VECTOR_BITS(set1_epi16)(MAGNITUDE))) ^ MAGNITUDE;
    p->highest_word =
        least_of(VECTOR_WHOLE(xor)(highest_word, VECTOR_BITS(set1_epi16)(-1))) ^ UINT16_MAX;
    p->least = least_of(least) / 2; /* it was shifted */
    p->signs = total_of(signs);
}

/* A function each: together they would not have enough registers. */
#define GO_THROUGH(name, dtype)                                                            \
    static DTI_NOINLINE void name(struct stats_codes_pass *p, const void *codes, size_t n) \
    {                                                                                      \
        go_through(p, dtype, codes, n, 0, false);                                          \
    }                                                                                      \
    static DTI_NOINLINE void name##_shifted(struct stats_codes_pass *p, const void *codes, \
                                            size_t n, double shift)                        \
    {                                                                                      \
        go_through(p, dtype, codes, n, shift, true);                                       \
    }
GO_THROUGH(go_bf16, CODES_BF16)
GO_THROUGH(go_fp16, CODES_FP16)

/* Where there are zeros or subnormals. normal: the code of the smallest normal number. */
static DTI_NOINLINE void count_small(struct stats_codes_pass *p, const unsigned char *codes,
                                     size_t n, uint16_t normal, struct dti_stats_tile *tile)
{
    uint16_t zeros = 0, small = 0, minus_zeros = 0; /* of at most DTI_TILE */
    for (size_t i = 0; i < n; i++) {
        uint16_t code;
        memcpy(&code, codes + i * sizeof code, sizeof code);
        zeros = (uint16_t)(zeros + ((code & MAGNITUDE) == 0));
        small = (uint16_t)(small + ((code & MAGNITUDE) < normal));
        minus_zeros = (uint16_t)(minus_zeros + (code == SIGN));
    }
    tile->zeros = zeros;
    tile->subnormals = (uint64_t)small - zeros;
    tile->negative = (uint64_t)p->signs - minus_zeros;
}

/* Whether neither extreme of a tile is new: beyond that of the array, or equal and earlier. */
DTI_INLINE bool is_within(const struct stats_codes_pass *p, enum stats_codes dtype, uint64_t index,
                          const struct dti_stats *stats)
{
    const uint32_t low = (uint32_t)stats->min, high = (uint32_t)stats->max;
    const bool plus = p->highest < SIGN, minus = p->highest_word >= SIGN;
    const float max = number_of(dtype, plus ? p->highest : SIGN | p->least);
    const float min = number_of(dtype, minus ? p->highest_word : p->least);
    float lowest, highest;
    memcpy(&lowest, &low, sizeof lowest);
    memcpy(&highest, &high, sizeof highest);
    return stats->finite > 0 && stats->min_index < index && stats->max_index < index &&
           min >= lowest && max <= highest; /* false for NaN */
}

DTI_INLINE bool add_codes(const struct dti_stats_rule *rule, enum stats_codes dtype,
                          const void *codes, size_t n, uint64_t index, struct dti_stats *stats)
{
    const uint16_t normal = dtype == CODES_FP16 ? 0x400 : 0x80;
    struct stats_codes_pass p;
    if (n == 0 || n % STEP != 0)
        return false;
    const bool is_shifted = rule->shift > 0 || rule->shift < 0;
    if (dtype == CODES_FP16 && is_shifted)
        go_fp16_shifted(&p, codes, n, rule->shift);
    else if (dtype == CODES_FP16)
        go_fp16(&p, codes, n);
    else if (is_shifted)
        go_bf16_shifted(&p, codes, n, rule->shift);
    else
        go_bf16(&p, codes, n);
    if (!is_within(&p, dtype, index, stats))
        return false;
    struct dti_stats_tile tile = {.finite = n,
                                  .negative = p.signs,
                                  .sum = dti_tile_sum(p.sum),
                                  .squared = dti_tile_sum(p.squared)};
    if (p.least < normal)
        count_small(&p, codes, n, normal, &tile);
    stats->elements += n;
    dti_stats_add_counts(stats, &tile);
    return true;
}

bool VECTOR_NAME(dti_stats_bf16)(const struct dti_stats_rule *rule, const void *codes, size_t n,
                                 uint64_t index, struct dti_stats *stats)
{
    return add_codes(rule, CODES_BF16, codes, n, index, stats);
}

bool VECTOR_NAME(dti_stats_fp16)(const struct dti_stats_rule *rule, const void *codes, size_t n,
                                 uint64_t index, struct dti_stats *stats)
{
    return add_codes(rule, CODES_FP16, codes, n, index, stats);
}

#endif
