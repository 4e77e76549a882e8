/* SPDX-License-Identifier: MIT
 *
 * fp32 -> blocks of integers: MXINT8, and ggml's Q8_0 and Q4_0. Blocks whose largest magnitude
 * is below 2^-100, or so large that an fp16 scale might be infinite, go to the portable kernel. */
#include <math.h>

#include "kernels/gguf/gguf_search.h"
#include "kernels/x86/quant/quant_blocks.h"

#ifdef __AVX2__
enum {
    LENGTH = 32,
    LEAST = 0x0d800000,
    Q8_MOST = 0x4a800000,
    Q4_MOST = 0x48800000,
    MX_MOST = 0x7e000000
};

static const struct tile_shape q8_shape = {LENGTH, 2, 8, DTI_BLOCK_BYTES};
static const struct tile_shape mxint8_shape = {LENGTH, 1, 8, DTI_BLOCK_BYTES};

/* 1 / d, or 0 for blocks of zeros. */
DTI_INLINE floats inverse_of(floats d, vector amax)
{
    return as_floats(where_not_zero(as_bits(VECTOR_BITS(div_ps)(floats_of(1), d)), amax));
}

DTI_INLINE bool q8_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                          struct factors *ret_factors)
{
    (void)constants;
    const vector amax = tile_amax(x, LENGTH);
    if (!all_ordinary(amax, LEAST, Q8_MOST))
        return false;
    const floats d = VECTOR_BITS(div_ps)(as_floats(amax), floats_of(127));
    store_halves(scales, d);
    keep_factors(ret_factors, inverse_of(d, amax));
    return true;
}

DTI_INLINE void q8_codes(const void *constants, const unsigned char *x,
                         const struct factors *factors, unsigned char *codes,
                         struct dti_quant_count *count, bool stream)
{
    /* the fp32 number just below 1/2: added to a number slightly below a half, the sum stays
     * below the next integer */
    const vector sign = lanes_of(UINT32_C(1) << 31), half = as_bits(floats_of(0x1.fffffep-2f));
    (void)constants;
    (void)count; /* nothing is clipped */
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        floats y[4];
        vector whole[4];
        take_group(x, group, factors, LENGTH, y);
        for (unsigned i = 0; i < 4; i++) {
            const floats up = as_floats(either(as_bits(y[i]), sign, half));
            whole[i] = VECTOR_BITS(cvttps_epi32)(VECTOR_BITS(add_ps)(y[i], up));
        }
        const vector low = VECTOR_BITS(packs_epi32)(whole[0], whole[1]);
        const vector high = VECTOR_BITS(packs_epi32)(whole[2], whole[3]);
        store_codes(codes, group, order_packed(VECTOR_BITS(packs_epi16)(low, high)), q8_shape,
                    stream);
    }
}

/* For blocks that contain both the largest number and its negative: the first of the two. */
static DTI_NOINLINE floats settle_ties(const unsigned char *x, floats extremes, unsigned ties)
{
    struct factors numbers;
    keep_factors(&numbers, extremes);
    for (; ties != 0; ties &= ties - 1) {
        const unsigned i = (unsigned)__builtin_ctz(ties);
        const unsigned char *from = x + (size_t)4 * LENGTH * i;
        const float extreme = numbers.of[i];
        do {
            memcpy(&numbers.of[i], from, sizeof numbers.of[i]);
            from += sizeof numbers.of[i];
        } while (fabsf(numbers.of[i]) < fabsf(extreme));
    }
    return load_floats((const unsigned char *)numbers.of);
}

/* The number with the largest magnitude of each block; if both signs occur, the first of them. */
DTI_INLINE floats extremes_of(const unsigned char *x, vector *ret_amax)
{
    const vector magnitude = lanes_of(0x7fffffff), zero = VECTOR_WHOLE(setzero)();
    /* as unsigned integers, negative numbers are the largest */
    const vector bits = largest_of(larger, take_bits, x, LENGTH);
    const vector above =
        VECTOR_BITS(max_epi32)(largest_of(larger_signed, take_signed_bits, x, LENGTH), zero);
    const vector is_negative = VECTOR_BITS(srai_epi32)(bits, 31);
    const vector below = VECTOR_WHOLE(and)(VECTOR_WHOLE(and)(bits, magnitude), is_negative);
    const vector amax = VECTOR_BITS(max_epi32)(above, below);
    /* above - below is negative if the negative number has the larger magnitude */
    const vector sign = VECTOR_WHOLE(andnot)(magnitude, VECTOR_BITS(sub_epi32)(above, below));
    const vector extreme = VECTOR_WHOLE(or)(amax, sign);
    const unsigned ties = ~numbers_that_differ(above, below) & numbers_that_differ(amax, zero);
    *ret_amax = amax;
    if (ties == 0)
        return as_floats(extreme);
    return settle_ties(x, as_floats(extreme), ties);
}

DTI_INLINE bool q4_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                          struct factors *ret_factors)
{
    vector amax;
    (void)constants;
    const floats extremes = extremes_of(x, &amax);
    if (!all_ordinary(amax, LEAST, Q4_MOST))
        return false;
    const floats d = VECTOR_BITS(div_ps)(extremes, floats_of(-8));
    store_halves(scales, d);
    keep_factors(ret_factors, inverse_of(d, amax));
    return true;
}

DTI_INLINE void q4_codes(const void *constants, const unsigned char *x,
                         const struct factors *factors, unsigned char *codes,
                         struct dti_quant_count *count, bool stream, struct tile_shape shape)
{
    const vector most = VECTOR_BITS(set1_epi8)(15);
    struct dti_quant_count some = {0};
    (void)constants;
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        floats y[4];
        vector whole[4];
        take_group(x, group, factors, LENGTH, y);
        for (unsigned i = 0; i < 4; i++)
            whole[i] = VECTOR_BITS(cvttps_epi32)(VECTOR_BITS(add_ps)(y[i], floats_of(8.5f)));
        const vector code = VECTOR_BITS(packus_epi16)(VECTOR_BITS(packs_epi32)(whole[0], whole[1]),
                                                      VECTOR_BITS(packs_epi32)(whole[2], whole[3]));
        const vector kept = VECTOR_BITS(min_epu8)(code, most);
        store_codes(codes, group, order_packed(kept), shape, stream);
        count_clipped(bytes_that_differ(code, kept), LENGTH, &some);
    }
    count->clipped += some.clipped;
    count->blocks += some.blocks;
}

struct mxint8 {
    vector carry;
};

DTI_INLINE bool mxint8_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                              struct factors *ret_factors)
{
    const struct mxint8 *c = constants;
    const vector amax = tile_amax(x, LENGTH);
    if (!all_ordinary(amax, LEAST, MX_MOST))
        return false;
    /* the exponent is the code; 64 / X is 2^(133 - code) */
    const vector code =
        VECTOR_BITS(srli_epi32)(VECTOR_BITS(add_epi32)(amax, where_not_zero(c->carry, amax)), 23);
    const vector factor = VECTOR_BITS(slli_epi32)(VECTOR_BITS(sub_epi32)(lanes_of(260), code), 23);
    store_bytes(scales, code);
    keep_factors(ret_factors, as_floats(where_not_zero(factor, amax)));
    return true;
}

DTI_INLINE void mxint8_codes(const void *constants, const unsigned char *x,
                             const struct factors *factors, unsigned char *codes,
                             struct dti_quant_count *count, bool stream)
{
    const vector low = VECTOR_BITS(set1_epi16)(-128), high = VECTOR_BITS(set1_epi16)(127);
    (void)constants;
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        floats y[4];
        vector words[2], kept[2];
        unsigned clipped[2];
        take_group(x, group, factors, LENGTH, y);
        for (unsigned i = 0; i < 2; i++) {
            words[i] = VECTOR_BITS(packs_epi32)(VECTOR_BITS(cvtps_epi32)(y[2 * i]),
                                                VECTOR_BITS(cvtps_epi32)(y[2 * i + 1]));
            kept[i] = VECTOR_BITS(max_epi16)(VECTOR_BITS(min_epi16)(words[i], high), low);
            clipped[i] = words_that_differ(kept[i], words[i]);
        }
        store_codes(codes, group, order_packed(VECTOR_BITS(packs_epi16)(kept[0], kept[1])),
                    mxint8_shape, stream);
        if ((clipped[0] | clipped[1]) != 0) {
            count->clipped +=
                (unsigned)(__builtin_popcount(clipped[0]) + __builtin_popcount(clipped[1])) /
                WORD_MASK_BITS;
            count->blocks += LANES == 16 && clipped[0] != 0 && clipped[1] != 0 ? 2 : 1;
        }
    }
}

void VECTOR_NAME(dti_quantize_mxint8)(const struct dti_block_args *args, void *codes, void *scales,
                                      const float *x, size_t n, struct dti_quant_count *count)
{
    const struct tile_job job = {mxint8_scales, mxint8_codes, mxint8_shape, true};
    struct mxint8 c = {VECTOR_WHOLE(setzero)()};
    switch (args->recipe->mx) {
    case DTI_MX_FLOOR:
        break;
    case DTI_MX_CEIL:
        c.carry = lanes_of(0x7fffff);
        break;
    case DTI_MX_RCEIL: /* mantissas above that of 127/64 */
        c.carry = lanes_of(0x7fffff - 0x7e0000);
        break;
    case DTI_MX_EVEN:
        c.carry = lanes_of(0x10000);
        break;
    case DTI_MX_RFLOOR: /* one exponent less than the others: no addition gives it */
        VECTOR_NAME(dti_quantize_blocks)(args, codes, scales, x, n, count);
        return;
    }
    tiles_run(job, &c, args, codes, scales, x, n, count);
}

void VECTOR_NAME(dti_quantize_q8_0)(const struct dti_block_args *args, void *codes, void *scales,
                                    const float *x, size_t n, struct dti_quant_count *count)
{
    const struct tile_job job = {q8_scales, q8_codes, q8_shape, true};
    tiles_run(job, NULL, args, codes, scales, x, n, count);
}

bool VECTOR_NAME(dti_gguf_q8_0)(unsigned char *blocks, const unsigned char *x, size_t count)
{
    const struct dti_block_args places = {.code_stride = 34, .scale_stride = 34};
    if (count % LANES != 0)
        return false;
    for (; count > 0; count -= LANES) {
        unsigned char code[LENGTH * LANES], scale[2 * LANES];
        struct factors factors;
        if (!q8_scales(NULL, x, scale, &factors))
            return false;
        q8_codes(NULL, x, &factors, code, NULL, false);
        place_scales(&places, q8_shape, blocks, scale, LANES);
        place_codes(&places, q8_shape, blocks + 2, code, LANES, LENGTH);
        x += 4 * LENGTH * LANES;
        blocks += 34 * LANES;
    }
    return true;
}

TILE_ORDERS(q4_tiles, q4_scales, q4_codes, 2, false)

void VECTOR_NAME(dti_quantize_q4_0)(const struct dti_block_args *args, void *codes, void *scales,
                                    const float *x, size_t n, struct dti_quant_count *count)
{
    q4_tiles(NULL, args, codes, scales, x, n, count);
}
#endif
