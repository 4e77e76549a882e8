/* SPDX-License-Identifier: MIT
 *
 * fp32 -> nf4 and bnb_fp4: blocks of 4-bit codes of a table. Codes are the places of quotients
 * among 15 limits, which a shuffle of bytes orders. Exact quotients, and blocks with numbers that
 * are not finite or whose largest magnitude is subnormal, go to the portable kernel. */
#include <string.h>

#include "kernels/fp64.h"
#include "kernels/x86/quant/quant_blocks.h"
#include "kernels/x86/quant/quant_places.h"

#ifdef __AVX2__
enum { LENGTH = 64, LEAST_NORMAL = 0x00800000, LARGEST_FINITE = 0x7f7fffff };

struct table {
    struct place_limits limits;
    vector codes; /* by place, in each 128 bits */
};

/* Codes of four vectors of quotients, in order. */
DTI_INLINE vector codes_of(const struct table *t, const floats q[4])
{
    vector place[4];
    for (unsigned i = 0; i < 4; i++)
        place[i] = places_of(&t->limits, q[i], false);
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
    static DTI_NOINLINE bool name##_scales(const void *constants, const unsigned char *x,          \
                                           unsigned char *scales, struct factors *ret_factors)     \
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
    return (double)limit > middle ? -dti_fp32_above(-limit) : limit;
}

/* bnb_fp4's limits are for magnitudes: negative quotients descend from the place just below that
 * of zeros, and one equal to a limit is above its place. */
static float bnb_fp4_limit(unsigned place)
{
    const uint32_t bits = place == 7 ? 0 : dti_bnb_fp4_limits[place < 7 ? 6 - place : place - 8];
    float limit;
    memcpy(&limit, &bits, sizeof limit);
    return place <= 7 ? -dti_fp32_above(limit) : limit;
}

static unsigned char bnb_fp4_code(unsigned place)
{
    return place < 8 ? dti_bnb_fp4_order[7 - place] | 8 : dti_bnb_fp4_order[place - 8];
}

static struct table table_init(const struct dti_block_args *args)
{
    const bool bnb_fp4 = args->recipe->format->id == DTI_BLOCK_BNB_FP4;
    float limit[PLACE_LIMITS];
    unsigned char codes[VECTOR];
    struct table t;
    for (unsigned i = 0; i < PLACE_LIMITS; i++)
        limit[i] = bnb_fp4 ? bnb_fp4_limit(i) : nf4_limit(args->parts->numbers, i);
    for (unsigned i = 0; i < VECTOR; i++)
        codes[i] = bnb_fp4 ? bnb_fp4_code(i % 16) : (unsigned char)(i % 16);
    t.limits = limits_init(limit);
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
