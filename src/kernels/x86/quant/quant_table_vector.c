/* SPDX-License-Identifier: MIT
 *
 * fp32 -> nf4 and bnb_fp4: blocks of 4-bit codes of a table. The place of a quotient among 15
 * ascending limits is found in four steps, by halves, with the limits in registers; bytes of a
 * shuffle turn places into codes. Exact quotients, and blocks with numbers that are not finite or
 * whose largest magnitude is subnormal, go to the portable kernel. */
#include <math.h>

#include "kernels/x86/quant/quant_blocks.h"

#ifdef __AVX2__
enum { LENGTH = 64, LIMITS = 15, LEAST_NORMAL = 0x00800000, LARGEST_FINITE = 0x7f7fffff };

/* The limits by step: 7; 3 or 11; then tables for the 4 and 8 places that are left, indexed by
 * the steps before in binary (AVX2: negated, modulo 8). */
struct table {
    floats first, second_low, second_high, third, fourth;
    vector codes; /* by place, in each 128 bits */
};

/* The place of each quotient: the number of limits that it exceeds. AVX2: negated. */
DTI_INLINE vector places_of(const struct table *t, floats q)
{
#ifdef __AVX512BW__
    const __mmask16 half = _mm512_cmp_ps_mask(q, t->first, _CMP_GT_OQ);
    const floats second = _mm512_mask_blend_ps(half, t->second_low, t->second_high);
    const __mmask16 quarter = _mm512_cmp_ps_mask(q, second, _CMP_GT_OQ);
    vector place = _mm512_maskz_mov_epi32(half, lanes_of(8));
    place = _mm512_mask_or_epi32(place, quarter, place, lanes_of(4));
    const floats third = _mm512_permutexvar_ps(place, t->third);
    place =
        _mm512_mask_or_epi32(place, _mm512_cmp_ps_mask(q, third, _CMP_GT_OQ), place, lanes_of(2));
    const floats fourth = _mm512_permutexvar_ps(place, t->fourth);
    return _mm512_mask_or_epi32(place, _mm512_cmp_ps_mask(q, fourth, _CMP_GT_OQ), place,
                                lanes_of(1));
#else
    /* a comparison that holds is -1 */
    const floats half = _mm256_cmp_ps(q, t->first, _CMP_GT_OQ);
    const floats second = _mm256_blendv_ps(t->second_low, t->second_high, half);
    vector place = as_bits(half);
    place = _mm256_add_epi32(_mm256_add_epi32(place, place),
                             as_bits(_mm256_cmp_ps(q, second, _CMP_GT_OQ)));
    const floats third = _mm256_permutevar8x32_ps(t->third, place);
    place = _mm256_add_epi32(_mm256_add_epi32(place, place),
                             as_bits(_mm256_cmp_ps(q, third, _CMP_GT_OQ)));
    const floats fourth = _mm256_permutevar8x32_ps(t->fourth, place);
    return _mm256_add_epi32(_mm256_add_epi32(place, place),
                            as_bits(_mm256_cmp_ps(q, fourth, _CMP_GT_OQ)));
#endif
}

/* Codes of four vectors of quotients, in order. */
DTI_INLINE vector codes_of(const struct table *t, const floats q[4])
{
    vector place[4];
    for (unsigned i = 0; i < 4; i++)
        place[i] = places_of(t, q[i]);
    vector bytes = VECTOR_BITS(packs_epi16)(VECTOR_BITS(packs_epi32)(place[0], place[1]),
                                            VECTOR_BITS(packs_epi32)(place[2], place[3]));
#ifndef __AVX512BW__
    bytes = _mm256_sub_epi8(_mm256_setzero_si256(), bytes);
#endif
    return order_packed(VECTOR_BITS(shuffle_epi8)(t->codes, bytes));
}

DTI_INLINE bool table_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                             struct factors *ret_factors, bool reciprocal)
{
    (void)constants;
    const vector amax = tile_amax(x, LENGTH);
    if (!all_ordinary(amax, LEAST_NORMAL, LARGEST_FINITE))
        return false;
    store_vector(scales, amax, false);
    /* blocks of zeros are divided by a number too */
    const floats by = as_floats(VECTOR_BITS(max_epu32)(amax, lanes_of(LEAST_NORMAL)));
    keep_factors(ret_factors, reciprocal ? VECTOR_BITS(div_ps)(floats_of(1), by) : by);
    return true;
}

DTI_INLINE void table_codes(const void *constants, const unsigned char *x,
                            const struct factors *factors, unsigned char *codes, bool stream,
                            struct tile_shape shape, bool reciprocal)
{
    const struct table *t = constants;
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        prefetch_group(x, group, LENGTH);
        floats q[4];
        for (unsigned i = 0; i < 4; i++) {
            const unsigned at = (4 * group + i) * LANES;
            const floats by = floats_of(factors->of[at / LENGTH]);
            const floats number = load_floats(x + (size_t)4 * at);
            q[i] = reciprocal ? VECTOR_BITS(mul_ps)(number, by) : VECTOR_BITS(div_ps)(number, by);
        }
        store_codes(codes, group, codes_of(t, q), shape, stream);
    }
}

#define DIVISION(name, reciprocal)                                                                 \
    DTI_INLINE bool name##_scales(const void *constants, const unsigned char *x,                   \
                                  unsigned char *scales, struct factors *ret_factors)              \
    {                                                                                              \
        return table_scales(constants, x, scales, ret_factors, reciprocal);                        \
    }                                                                                              \
    DTI_INLINE void name##_pack(                                                                   \
        const void *constants, const unsigned char *x, const struct factors *factors,              \
        unsigned char *codes, struct dti_quant_count *count, bool stream, struct tile_shape shape) \
    {                                                                                              \
        (void)count; /* nothing is clipped */                                                      \
        table_codes(constants, x, factors, codes, stream, shape, reciprocal);                      \
    }                                                                                              \
    TILE_ORDERS(name, name##_scales, name##_pack, 4, false)
DIVISION(quotients, false)
DIVISION(products, true)

/* The largest fp32 number that is not above the midpoint of two entries of nf4. */
static float nf4_limit(const float *numbers, unsigned place)
{
    const double middle = ((double)numbers[place] + (double)numbers[place + 1]) / 2;
    const float limit = (float)middle;
    return (double)limit > middle ? nextafterf(limit, -INFINITY) : limit;
}

/* bnb_fp4's limits are for magnitudes: negative quotients descend from the place just below that
 * of zeros, and one equal to a limit is above its place. */
static float bnb_fp4_limit(unsigned place)
{
    const uint32_t bits = place == 7 ? 0 : dti_bnb_fp4_limits[place < 7 ? 6 - place : place - 8];
    float limit;
    memcpy(&limit, &bits, sizeof limit);
    return place <= 7 ? nextafterf(-limit, -INFINITY) : limit;
}

static unsigned char bnb_fp4_code(unsigned place)
{
    return place < 8 ? dti_bnb_fp4_order[7 - place] | 8 : dti_bnb_fp4_order[place - 8];
}

static struct table table_init(const struct dti_block_args *args)
{
    const bool bnb_fp4 = args->recipe->format->id == DTI_BLOCK_BNB_FP4;
    float limit[LIMITS], third[LANES] = {0}, fourth[LANES] = {0};
    unsigned char codes[VECTOR];
    struct table t;
    for (unsigned i = 0; i < LIMITS; i++)
        limit[i] = bnb_fp4 ? bnb_fp4_limit(i) : nf4_limit(args->parts->numbers, i);
    for (unsigned i = 0; i < 8; i++) {
        const unsigned at = LANES == 16 ? 2 * i : -i % 8, at_third = LANES == 16 ? 4 * i : at;
        fourth[at] = limit[2 * i];
        if (i < 4)
            third[at_third] = limit[4 * i + 1];
    }
    for (unsigned i = 0; i < VECTOR; i++)
        codes[i] = bnb_fp4 ? bnb_fp4_code(i % 16) : (unsigned char)(i % 16);
    t.first = floats_of(limit[7]);
    t.second_low = floats_of(limit[3]);
    t.second_high = floats_of(limit[11]);
    t.third = load_floats((const unsigned char *)third);
    t.fourth = load_floats((const unsigned char *)fourth);
    t.codes = load_vector(codes);
    return t;
}

void VECTOR_NAME(dti_quantize_nf4)(const struct dti_block_args *args, void *codes, void *scales,
                                   const float *x, size_t n, struct dti_quant_count *count)
{
    if (args->recipe->division == DTI_DIVIDE_EXACT) {
        VECTOR_NAME(dti_quantize_blocks)(args, codes, scales, x, n, count);
        return;
    }
    const struct table t = table_init(args);
    if (args->recipe->division == DTI_DIVIDE_RECIPROCAL)
        products(&t, args, codes, scales, x, n, count);
    else
        quotients(&t, args, codes, scales, x, n, count);
}
#endif
