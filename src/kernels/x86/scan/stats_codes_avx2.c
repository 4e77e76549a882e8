/* SPDX-License-Identifier: MIT
 *
 * Statistics of bf16 and fp16 from their codes with AVX2, without an array of numbers: extremes,
 * signs and the smallest magnitude take a few operations for 16 codes, and fp64 numbers are made
 * for the sums only. A tile that may hold a new extreme is left to the numbers. */
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_tile.h"
#include "kernels/x86/blocks.h"

#ifdef __AVX2__
#include <immintrin.h>

enum { LANES = DTI_TILE_LANES, SIGN = 0x8000, MAGNITUDE = 0x7fff };

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

struct stats_codes_sums {
    __m256d sum[4], squared[4];
};

DTI_INLINE void add_four(struct stats_codes_sums *s, unsigned part, __m128 narrow, __m256d shift,
                         bool shifted)
{
    const __m256d x = _mm256_cvtps_pd(narrow);
    const __m256d d = shifted ? _mm256_sub_pd(x, shift) : x;
    s->sum[part] = _mm256_add_pd(s->sum[part], d);
    s->squared[part] = shifted ? _mm256_add_pd(s->squared[part], _mm256_mul_pd(d, d))
                               : _mm256_fmadd_pd(d, d, s->squared[part]); /* exact squares */
}

/* half: of the 16 codes. Indexed by constants, so that sums stay in registers. */
DTI_INLINE void add_eight(struct stats_codes_sums *s, enum stats_codes dtype, unsigned half,
                          const unsigned char *codes, __m256d shift, bool shifted)
{
    const __m128i eight = _mm_loadu_si128((const void *)codes), zero = _mm_setzero_si128();
    if (dtype == CODES_FP16) {
        const __m256 numbers = _mm256_cvtph_ps(eight);
        add_four(s, 2 * half, _mm256_castps256_ps128(numbers), shift, shifted);
        add_four(s, 2 * half + 1, _mm256_extractf128_ps(numbers, 1), shift, shifted);
        return;
    }
    add_four(s, 2 * half, _mm_castsi128_ps(_mm_unpacklo_epi16(zero, eight)), shift, shifted);
    add_four(s, 2 * half + 1, _mm_castsi128_ps(_mm_unpackhi_epi16(zero, eight)), shift, shifted);
}

/* The smallest of 16 words. */
DTI_INLINE uint16_t least_of(__m256i words)
{
    const __m128i half =
        _mm_min_epu16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(half));
}

/* The sum of 16 words, each at most 255. */
DTI_INLINE uint16_t total_of(__m256i words)
{
    const __m256i sums = _mm256_sad_epu8(words, _mm256_setzero_si256());
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (uint16_t)(_mm_cvtsi128_si32(two) + _mm_extract_epi16(two, 4));
}

DTI_INLINE void keep(struct stats_codes_pass *p, const struct stats_codes_sums *s, unsigned part)
{
    _mm256_storeu_pd(p->sum + 4 * part, s->sum[part]);
    _mm256_storeu_pd(p->squared + 4 * part, s->squared[part]);
}

/* n: a multiple of LANES. */
DTI_INLINE void go_through(struct stats_codes_pass *p, enum stats_codes dtype,
                           const unsigned char *codes, size_t n, double shift_by, bool shifted)
{
    const __m256d shift = _mm256_set1_pd(shift_by), z = _mm256_setzero_pd();
    struct stats_codes_sums s = {.sum = {z, z, z, z}, .squared = {z, z, z, z}};
    __m256i highest = _mm256_set1_epi16(INT16_MIN), highest_word = _mm256_setzero_si256();
    __m256i least = _mm256_set1_epi16(-1), signs = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += LANES) {
        const __m256i words = _mm256_loadu_si256((const void *)(codes + 2 * i));
        highest = _mm256_max_epi16(highest, words);
        highest_word = _mm256_max_epu16(highest_word, words);
        least = _mm256_min_epu16(least, _mm256_add_epi16(words, words));
        signs = _mm256_sub_epi16(signs, _mm256_srai_epi16(words, 15));
        add_eight(&s, dtype, 0, codes + 2 * i, shift, shifted);
        add_eight(&s, dtype, 1, codes + 2 * i + LANES, shift, shifted);
    }
    keep(p, &s, 0);
    keep(p, &s, 1);
    keep(p, &s, 2);
    keep(p, &s, 3);
    /* what follows needs registers: gcc would store these in each round for it */
    __asm__("" : "+x"(highest), "+x"(highest_word), "+x"(least), "+x"(signs));
    p->highest = least_of(_mm256_xor_si256(highest, _mm256_set1_epi16(MAGNITUDE))) ^ MAGNITUDE;
    p->highest_word = least_of(_mm256_xor_si256(highest_word, _mm256_set1_epi16(-1))) ^ UINT16_MAX;
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
    if (n == 0 || n % LANES != 0)
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

bool dti_stats_bf16_avx2(const struct dti_stats_rule *rule, const void *codes, size_t n,
                         uint64_t index, struct dti_stats *stats)
{
    return add_codes(rule, CODES_BF16, codes, n, index, stats);
}

bool dti_stats_fp16_avx2(const struct dti_stats_rule *rule, const void *codes, size_t n,
                         uint64_t index, struct dti_stats *stats)
{
    return add_codes(rule, CODES_FP16, codes, n, index, stats);
}

#endif
