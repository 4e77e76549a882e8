/* SPDX-License-Identifier: MIT
 *
 * fp32 -> NVFP4 blocks. A tile's scales are computed together, with the same rounding as the
 * codes: the rounded sum minus its magic number is the value of the scale. Exact division and
 * tensor scales of extreme size go to the portable kernel. */
#include "kernels/x86/quant/quant_blocks.h"
#include "kernels/x86/quant/quant_refined.h"
#include "kernels/x86/quant/quant_small.h"

#ifdef __AVX2__
enum { LENGTH = 16, LARGEST_FINITE = 0x7f7fffff };

struct nv {
    struct rounding rounding, scale_rounding;
    floats tensor, tensor_inverse, factor, divisor;
    float limit;  /* quotients below it are not clipped */
    bool refined; /* quotients by tensor as in quant_refined.h */
    bool divides; /* by divisor; factor is 1 */
};

/* amax / 6 / tensor, rounded twice, or what gives the same scales: a third of an fp32 number is so
 * far from midpoints that the refined quotient is exact. False: numbers are not ordinary. */
DTI_INLINE bool nv_quotients(const struct nv *c, vector amax, floats *ret)
{
    const uint32_t least = 0x0d800000, most = 0x5d800000; /* 2^-100, 2^60 */
    const floats six = floats_of(6), sixth = floats_of(1.0f / 6);
    if (c->refined && all_ordinary(amax, least, most)) {
        *ret = refined_quotient(refined_quotient(as_floats(amax), six, sixth), c->tensor,
                                c->tensor_inverse);
        return true;
    }
    *ret = VECTOR_BITS(div_ps)(VECTOR_BITS(div_ps)(as_floats(amax), six), c->tensor);
    return all_ordinary(amax, 0, LARGEST_FINITE);
}

/* Divisors (or factors, with `reciprocal`). Blocks with a scale of 0 have codes of +0, although
 * they may contain negative numbers: unless factors->whole, their numbers count as 0. */
DTI_INLINE bool nv_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                          struct factors *ret_factors, bool reciprocal)
{
    const struct nv *c = constants;
    const struct rounding *r = &c->scale_rounding;
    floats power, quotient;
    const vector amax = tile_amax(x, LENGTH), one = lanes_of(1);
    if (!nv_quotients(c, amax, &quotient))
        return false;
    const floats sum = add_magic(r, clamp_magnitude(quotient, r->top), &power);
    const vector offset = VECTOR_WHOLE(and)(r->offset, lanes_of(0xffff));
    const vector code = VECTOR_BITS(srl_epi32)(
        VECTOR_BITS(sub_epi32)(VECTOR_BITS(madd_epi16)(as_bits(sum), r->join), offset), r->zeros);
    const floats scale = VECTOR_BITS(fnmadd_ps)(power, r->step, sum);
    const floats factor = reciprocal   ? VECTOR_BITS(div_ps)(c->tensor_inverse, scale)
                          : c->divides ? VECTOR_BITS(div_ps)(scale, c->divisor)
                                       : VECTOR_BITS(mul_ps)(scale, c->factor);
    store_bytes(scales, code);
    keep_factors(ret_factors, as_floats(where_not_zero(as_bits(factor), as_bits(scale))));
    ret_factors->whole = numbers_that_differ(where_not_zero(one, as_bits(scale)), one) == 0;
    ret_factors->refined = !reciprocal && ret_factors->whole && may_refine(factor);
    if (ret_factors->refined) {
        const floats inverse = VECTOR_BITS(div_ps)(floats_of(1), factor);
        ret_factors->refined = all_below(VECTOR_BITS(mul_ps)(as_floats(amax), inverse), c->limit);
        store_floats((unsigned char *)ret_factors->inverse, inverse, false);
    }
    return true;
}

/* How numbers are brought to the scale of the codes: refined ones are not clipped; the last one is
 * right whether blocks have scales of 0 or not. */
enum nv_way { PRODUCTS, MASKED_PRODUCTS, REFINED, QUOTIENTS };

DTI_INLINE floats nv_number(floats x, const struct factors *factors, unsigned block,
                            enum nv_way way)
{
    const floats by = floats_of(factors->of[block]);
    const floats number = way == MASKED_PRODUCTS || way == QUOTIENTS
                              ? as_floats(where_not_zero(as_bits(x), as_bits(by)))
                              : x;
    if (way == REFINED)
        return refined_quotient(number, by, floats_of(factors->inverse[block]));
    return way == QUOTIENTS /* where_not_zero(): 0 / 0 */
               ? as_floats(where_not_zero(as_bits(VECTOR_BITS(div_ps)(number, by)), as_bits(by)))
               : VECTOR_BITS(mul_ps)(number, by);
}

DTI_INLINE void nv_codes_as(const struct nv *c, const unsigned char *x,
                            const struct factors *factors, unsigned char *codes,
                            struct dti_quant_count *count, bool stream, struct tile_shape shape,
                            enum nv_way way)
{
    struct dti_quant_count some = {0};
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        prefetch_group(x, group, LENGTH);
        byte_mask over;
        floats y[4], from[4];
        for (unsigned i = 0; i < 4; i++) {
            const unsigned at = (4 * group + i) * LANES;
            from[i] = load_floats(x + (size_t)4 * at);
            y[i] = nv_number(from[i], factors, at / LENGTH, way);
        }
        const vector code = round_group(&c->rounding, y, way == REFINED ? from : y, way != REFINED,
                                        way == REFINED ? NULL : &over);
        store_codes(codes, group, code, shape, stream);
        if (way != REFINED)
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
    if (reciprocal && factors->whole)
        nv_codes_as(constants, x, factors, codes, count, stream, shape, PRODUCTS);
    else if (reciprocal)
        nv_codes_as(constants, x, factors, codes, count, stream, shape, MASKED_PRODUCTS);
    else if (factors->refined)
        nv_codes_as(constants, x, factors, codes, count, stream, shape, REFINED);
    else
        nv_codes_as(constants, x, factors, codes, count, stream, shape, QUOTIENTS);
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

/* Between the largest number and the next one, and nearer to the former by more than the error of a
 * quotient. */
static float unclipped(const struct dti_encoder *e)
{
    const uint32_t code = (uint32_t)e->max_magnitude;
    const uint32_t bits[2] = {dti_small_value(e, code), dti_small_value(e, code + 1)};
    float largest, next;
    memcpy(&largest, &bits[0], sizeof largest);
    memcpy(&next, &bits[1], sizeof next);
    return largest + (next - largest) * 0.4375f;
}

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
    c.limit = unclipped(&args->parts->encoder);
    c.tensor = floats_of(tensor);
    c.tensor_inverse = floats_of(1 / tensor);
    c.refined = may_refine(c.tensor);
    c.divides = args->recipe->tensor_divisor != 0;
    c.factor = floats_of(by.factor);
    c.divisor = floats_of(by.divisor);
    if (args->recipe->division == DTI_DIVIDE_RECIPROCAL)
        products(&c, args, codes, scales, x, n, count);
    else
        quotients(&c, args, codes, scales, x, n, count);
}
#endif
