/* SPDX-License-Identifier: MIT
 *
 * fp32 -> NVFP4 blocks. A tile's scales are computed together, with the same rounding as the
 * codes: the rounded sum minus its magic number is the value of the scale. Exact division and
 * tensor scales of extreme size go to the portable kernel. */
#include "kernels/x86/quant/quant_blocks.h"
#include "kernels/x86/quant/quant_small.h"

#ifdef __AVX2__
enum { LENGTH = 16, LARGEST_FINITE = 0x7f7fffff };

struct nv {
    struct rounding rounding, scale_rounding;
    floats tensor, tensor_inverse, factor, divisor;
};

/* Divisors (or factors, with `reciprocal`). Blocks with a scale of 0 have codes of +0, although
 * they may contain negative numbers: unless factors->whole, their numbers count as 0. */
DTI_INLINE bool nv_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                          struct factors *ret_factors, bool reciprocal)
{
    const struct nv *c = constants;
    const struct rounding *r = &c->scale_rounding;
    floats magic;
    const vector amax = tile_amax(x, LENGTH);
    if (!all_ordinary(amax, 0, LARGEST_FINITE))
        return false;
    const floats quotient =
        VECTOR_BITS(div_ps)(VECTOR_BITS(div_ps)(as_floats(amax), floats_of(6)), c->tensor);
    const floats sum = add_magic(r, clamp_magnitude(quotient, r->top), &magic);
    const vector offset = VECTOR_WHOLE(and)(r->offset, lanes_of(0xffff));
    const vector code = VECTOR_BITS(srl_epi32)(
        VECTOR_BITS(sub_epi32)(VECTOR_BITS(madd_epi16)(as_bits(sum), r->join), offset), r->zeros);
    const floats scale = VECTOR_BITS(sub_ps)(sum, magic);
    const floats factor =
        reciprocal ? VECTOR_BITS(div_ps)(c->tensor_inverse, scale)
                   : VECTOR_BITS(div_ps)(VECTOR_BITS(mul_ps)(scale, c->factor), c->divisor);
    store_bytes(scales, code);
    keep_factors(ret_factors, as_floats(where_not_zero(as_bits(factor), as_bits(scale))));
    const vector one = lanes_of(1);
    ret_factors->whole = numbers_that_differ(where_not_zero(one, as_bits(scale)), one) == 0;
    return true;
}

DTI_INLINE vector nv_group(const struct nv *c, const unsigned char *x,
                           const struct factors *factors, unsigned group, byte_mask *ret_over,
                           bool reciprocal, bool whole)
{
    floats y[4];
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = (4 * group + i) * LANES;
        const floats by = floats_of(factors->of[at / LENGTH]);
        floats number = load_floats(x + (size_t)4 * at);
        if (!whole)
            number = as_floats(where_not_zero(as_bits(number), as_bits(by)));
        if (reciprocal)
            y[i] = VECTOR_BITS(mul_ps)(number, by);
        else if (whole)
            y[i] = VECTOR_BITS(div_ps)(number, by);
        else /* 0 / 0 */
            y[i] = as_floats(where_not_zero(as_bits(VECTOR_BITS(div_ps)(number, by)), as_bits(by)));
    }
    return round_group(&c->rounding, y, true, ret_over);
}

DTI_INLINE void nv_codes_as(const struct nv *c, const unsigned char *x,
                            const struct factors *factors, unsigned char *codes,
                            struct dti_quant_count *count, bool stream, struct tile_shape shape,
                            bool reciprocal, bool whole)
{
    struct dti_quant_count some = {0};
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        prefetch_group(x, group, LENGTH);
        byte_mask over;
        store_codes(codes, group, nv_group(c, x, factors, group, &over, reciprocal, whole), shape,
                    stream);
        count_clipped(over, LENGTH, &some);
    }
    count->clipped += some.clipped;
    count->blocks += some.blocks;
}

DTI_INLINE void nv_codes(const void *constants, const unsigned char *x,
                         const struct factors *factors, unsigned char *codes,
                         struct dti_quant_count *count, bool stream, struct tile_shape shape,
                         bool reciprocal)
{
    if (factors->whole)
        nv_codes_as(constants, x, factors, codes, count, stream, shape, reciprocal, true);
    else
        nv_codes_as(constants, x, factors, codes, count, stream, shape, reciprocal, false);
}

#define DIVISION(name, reciprocal)                                                                 \
    DTI_INLINE bool name##_scales(const void *constants, const unsigned char *x,                   \
                                  unsigned char *scales, struct factors *ret_factors)              \
    {                                                                                              \
        return nv_scales(constants, x, scales, ret_factors, reciprocal);                           \
    }                                                                                              \
    DTI_INLINE void name##_pack(                                                                   \
        const void *constants, const unsigned char *x, const struct factors *factors,              \
        unsigned char *codes, struct dti_quant_count *count, bool stream, struct tile_shape shape) \
    {                                                                                              \
        nv_codes(constants, x, factors, codes, count, stream, shape, reciprocal);                  \
    }                                                                                              \
    TILE_ORDERS(name, name##_scales, name##_pack, 1, true)
DIVISION(quotients, false)
DIVISION(products, true)

void VECTOR_NAME(dti_quantize_nvfp4)(const struct dti_block_args *args, void *codes, void *scales,
                                     const float *x, size_t n, struct dti_quant_count *count)
{
    const uint32_t least = 0x0d800000, most = 0x71800000; /* 2^-100, 2^100 */
    const uint32_t bits = args->recipe->tensor_scale;
    const struct dti_nv_tensor by = dti_nv_tensor(args->recipe);
    struct nv c;
    float tensor;
    memcpy(&tensor, &bits, sizeof tensor);
    if (args->recipe->division == DTI_DIVIDE_EXACT || args->recipe->nv != DTI_NV_SIX ||
        bits < least || bits > most) {
        VECTOR_NAME(dti_quantize_blocks)(args, codes, scales, x, n, count);
        return;
    }
    c.rounding = rounding_init(&args->parts->encoder);
    c.scale_rounding = rounding_init(&args->parts->scale_encoder);
    /* scales saturate before rounding */
    c.scale_rounding.top = lanes_of(dti_small_value(
        &args->parts->scale_encoder, (uint32_t)args->parts->scale_encoder.max_magnitude));
    c.tensor = floats_of(tensor);
    c.tensor_inverse = floats_of(1 / tensor);
    c.factor = floats_of(by.factor);
    c.divisor = floats_of(by.divisor);
    if (args->recipe->division == DTI_DIVIDE_RECIPROCAL)
        products(&c, args, codes, scales, x, n, count);
    else
        quotients(&c, args, codes, scales, x, n, count);
}
#endif
