/* SPDX-License-Identifier: MIT
 *
 * fp32 -> MX blocks of floats. The shared exponent is an integer addition to the bits of the
 * largest magnitude: under every rule it is the exponent of amax, plus 1 if the mantissa exceeds
 * what the rule allows, which is when the addition carries. */
#include "kernels/x86/quant/quant_blocks.h"
#include "kernels/x86/quant/quant_small.h"

#ifdef __AVX2__
enum { LENGTH = 32, LARGEST_FINITE = 0x7f7fffff };

struct mx {
    struct rounding rounding;
    vector carry; /* the amount to add for the carry */
    vector emax;
};

static struct mx mx_init(const struct dti_block_args *args)
{
    const struct dti_encoder *e = &args->parts->encoder;
    const uint32_t max = dti_small_value(e, (uint32_t)e->max_magnitude), mantissa = 0x7fffff;
    uint32_t carry = 0, less = 0;
    struct mx c = {.rounding = rounding_init(e)};
    switch (args->recipe->mx) {
    case DTI_MX_FLOOR:
        break;
    case DTI_MX_CEIL:
        carry = mantissa;
        break;
    case DTI_MX_RCEIL:
        carry = mantissa - (max & mantissa);
        break;
    case DTI_MX_EVEN:
        carry = UINT32_C(1) << (22 - e->man_bits);
        break;
    case DTI_MX_RFLOOR: /* 1 less, unless the mantissa reaches that of the largest element */
        carry = mantissa + 1 - (max & mantissa);
        less = 1;
        break;
    }
    c.carry = lanes_of(carry);
    c.emax = lanes_of((max >> 23) - 127 + less);
    return c;
}

/* e8m0 codes, one per lane: at most 254, because emax is at least 2. The lowest for magnitudes
 * below 2^-127 and for zeros. */
DTI_INLINE vector exponents_of(const struct mx *c, vector amax)
{
    const vector sum = VECTOR_BITS(srli_epi32)(VECTOR_BITS(add_epi32)(amax, c->carry), 23);
    return VECTOR_BITS(max_epi32)(VECTOR_BITS(sub_epi32)(sum, c->emax), VECTOR_WHOLE(setzero)());
}

DTI_INLINE bool mx_scales(const void *constants, const unsigned char *x, unsigned char *scales,
                          struct factors *ret_factors)
{
    const struct mx *c = constants;
    const vector amax = tile_amax(x, LENGTH);
    if (!all_ordinary(amax, 0, LARGEST_FINITE))
        return false;
    const vector exponents = exponents_of(c, amax);
    store_bytes(scales, exponents);
    /* 2^(127 - code), a normal number */
    keep_factors(ret_factors, as_floats(VECTOR_BITS(slli_epi32)(
                                  VECTOR_BITS(sub_epi32)(lanes_of(254), exponents), 23)));
    return true;
}

DTI_INLINE void mx_codes(const void *constants, const unsigned char *x,
                         const struct factors *factors, unsigned char *codes,
                         struct dti_quant_count *count, bool stream, struct tile_shape shape)
{
    const struct mx *c = constants;
    struct dti_quant_count some = {0};
    for (unsigned group = 0; group < LENGTH * LANES / DTI_GROUP; group++) {
        floats y[4];
        byte_mask over;
        take_group(x, group, factors, LENGTH, y);
        store_codes(codes, group, round_group(&c->rounding, y, y, false, &over), shape, stream);
        count_clipped(over, LENGTH, &some);
    }
    count->clipped += some.clipped;
    count->blocks += some.blocks;
}

TILE_ORDERS(mx_tiles, mx_scales, mx_codes, 1, true)

/* 8-bit codes, and 6-bit codes in bytes. */
void VECTOR_NAME(dti_quantize_mx)(const struct dti_block_args *args, void *codes, void *scales,
                                  const float *x, size_t n, struct dti_quant_count *count)
{
    const struct mx c = mx_init(args);
    mx_tiles_bytes(&c, args, codes, scales, x, n, count);
}

void VECTOR_NAME(dti_quantize_mxfp4)(const struct dti_block_args *args, void *codes, void *scales,
                                     const float *x, size_t n, struct dti_quant_count *count)
{
    const struct mx c = mx_init(args);
    mx_tiles(&c, args, codes, scales, x, n, count);
}
#endif
