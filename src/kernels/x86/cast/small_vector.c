/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of at most 8 bits with AVX2 and AVX-512, and its loss. */
#include "kernels/x86/cast/small_vector.h"

#include "kernels/kernels.h"
#include "kernels/x86/cast/odd_vector.h"
#include "kernels/x86/scan/loss_cast_vector.h"

#define MODE(mode)                                                           \
    case DTI_ROUND_##mode:                                                   \
        if (c->fixes == FIX_NOTHING)                                         \
            small_block(c, dst, src, stream, FIX_NOTHING, DTI_ROUND_##mode); \
        else                                                                 \
            small_block(c, dst, src, stream, FIX_ALL, DTI_ROUND_##mode);     \
        break;

/* Called, not inlined, so that the loop for the rare modes is small. */
DTI_NOINLINE static void modes_block(const void *constants, unsigned char *dst,
                                     const unsigned char *src, bool stream)
{
    const struct small_encode *const c = constants;
    switch (c->round) {
    default: /* no row has others */
        MODE(ZERO)
        MODE(UP)
        MODE(DOWN)
        MODE(NEAREST_AWAY)
        MODE(ODD)
    }
}

void VECTOR_NAME(dti_fp32_to_small)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_blocks modes = {modes_block, 64, 4, 1, true};
    struct small_encode c;
    small_init(args->encoder, &c);
    if (c.round == DTI_ROUND_NEAREST_EVEN)
        small_run(&c, dst, src, n, args->stream);
    else
        dti_blocks_run(modes, &c, dst, src, n, args->stream);
}

/* odd_normal() is enough where infinity becomes what large numbers become, and where half of the
 * smallest number is well above 2^-126. */
struct wide_encode {
    struct small_encode to;
    bool normal;
};

DTI_NOINLINE static void fp64_to_small_block(const void *constants, unsigned char *dst,
                                             const unsigned char *src, bool stream)
{
    const struct wide_encode *const c = constants;
    _Alignas(VECTOR) unsigned char between[4 * ODD_NUMBERS];
    if (c->normal)
        (void)odd_normal(between, src);
    else
        odd_exact(between, src);
    if (c->to.fixes == FIX_NOTHING)
        plain_block(&c->to, dst, between, stream);
    else if (c->to.fixes == FIX_PAYLOAD)
        payload_block(&c->to, dst, between, stream);
    else if (c->to.fixes == FIX_NAN)
        nan_block(&c->to, dst, between, stream);
    else
        all_block(&c->to, dst, between, stream);
}

void VECTOR_NAME(dti_fp64_to_small)(const struct dti_kernel_args *args, void *restrict dst,
                                    const void *restrict src, size_t n)
{
    const struct dti_blocks blocks = {fp64_to_small_block, ODD_NUMBERS, 8, 1, false};
    const struct dti_encoder *const e = args->encoder;
    struct wide_encode c;
    small_init(e, &c.to);
    c.normal = e->inf[0] == e->overflow[0] && e->inf[1] == e->overflow[1] &&
               e->min_exponent - (int32_t)e->man_bits > -120;
    dti_blocks_run(blocks, &c, dst, src, n, args->stream);
}

/* Only receives numbers that do not overflow: the sum of small_round(), and that sum minus the
 * magic number. */
DTI_INLINE vector_ps small_number(const void *constants, const struct loss_bars *bars, vector_ps x,
                                  vector size, vector *ret_code, vector *ret_error)
{
    const struct small_encode *const c = constants;
    const vector field = VECTOR_WHOLE(and)(loss_bits(x), VECTOR_BITS(set1_epi32)(0x7f800000));
    const vector_ps m =
        (vector_ps)VECTOR_BITS(add_epi32)(VECTOR_BITS(max_epu32)(field, c->least), c->magic);
    const vector_ps from = (vector_ps)size, sum = VECTOR_BITS(add_ps)(from, m);
    const vector_ps y = VECTOR_BITS(sub_ps)(sum, m);
    *ret_code = VECTOR_BITS(madd_epi16)(loss_bits(sum), c->join);
    *ret_error = loss_size_by(bars, VECTOR_BITS(sub_ps)(y, from));
    return y;
}

DTI_INLINE void small_put(const void *constants, unsigned char *dst, const vector code[4],
                          const vector x[4], bool stream, bool count, struct loss_group *group)
{
    const struct small_encode *const c = constants;
    const vector sizes = VECTOR_BITS(packus_epi16)(small_joined(c, code[0], code[1]),
                                                   small_joined(c, code[2], code[3]));
    const vector signs = VECTOR_BITS(packs_epi16)(VECTOR_BITS(packs_epi32)(x[0], x[1]),
                                                  VECTOR_BITS(packs_epi32)(x[2], x[3]));
    store_vector(dst, order_packed(small_fix(c, sizes, signs, FIX_NOTHING)), stream);
    if (!count)
        return;
    const unsigned nonzero = loss_nonzero_bytes(sizes);
    group->high = VECTOR_BITS(max_epu8)(group->high, sizes);
    group->small.to_zero += VECTOR - nonzero;
    group->small.to_subnormal += nonzero - loss_bytes_from(sizes, c->normal);
}

/* Codes continue beyond the largest as if they were numbers, and end at 255. */
DTI_INLINE flags small_number_beyond(const void *constants, const struct loss_bars *bars,
                                     const struct loss_group *group)
{
    const struct small_encode *const c = constants;
    (void)bars;
    return BUT_NOT(all_flags(), are_zero(VECTOR_BITS(subs_epu8)(group->high, c->largest)));
}
LOSS_CAST_ROUNDED(small_loss, struct small_encode, LOSS_BY_CODE, 1, small_number, small_put)

void VECTOR_NAME(dti_fp32_to_small_loss)(LOSS_CAST_PARAMETERS)
{
    struct small_encode c;
    small_init(cast->args->encoder, &c);
    LOSS_CAST_RUN(small_loss_add, &c, false, LOSS_BY_CODE);
}
