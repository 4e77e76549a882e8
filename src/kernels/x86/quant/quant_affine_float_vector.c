/* SPDX-License-Identifier: MIT
 *
 * fp32 -> codes that are signed floats of at most 8 bits with a minus zero: a quotient, then the
 * rounding of quant_small.h. Steps with numbers or quotients that are not finite, other formats
 * and exact division go to the portable kernel. Also fp8 back to fp32, and 4-bit floats with one
 * scale each. */
#include "kernels/x86/quant/quant_affine.h"
#include "kernels/x86/quant/quant_back.h"
#include "kernels/x86/quant/quant_refined.h"
#include "kernels/x86/quant/quant_small.h"

#ifdef __AVX2__
struct encode {
    struct affine_common common;
    struct rounding rounding;
};

static bool suits(const struct dti_affine_args *args)
{
    const struct dti_encoder *e = args->encoder;
    return args->affine->division != DTI_DIVIDE_EXACT && e->man_bits > 0 && e->zero[1] != 0 &&
           e->min_exponent >= -62 && dti_small_value(e, (uint32_t)e->max_magnitude) < 0x60000000 &&
           (e->max_magnitude >> e->man_bits) > 0;
}

DTI_INLINE void encode_step(const struct encode *c, struct affine_place p,
                            struct dti_quant_count *count, enum dti_quant_division division,
                            bool refined, bool columns, bool stream)
{
    const vector magnitude = lanes_of(0x7fffffff), largest = lanes_of(0x7f7fffff);
    vector most = VECTOR_WHOLE(setzero)();
    floats q[4], x[4];
    byte_mask over;
    for (unsigned i = 0; i < 4; i++) {
        x[i] = load_floats(p.x + i * VECTOR);
        q[i] = refined ? refined_quotient(x[i], c->common.scale, c->common.inverse)
                       : quotient_of(&c->common, p, i, division, columns);
        most = VECTOR_BITS(max_epu32)(most, VECTOR_WHOLE(and)(as_bits(q[i]), magnitude));
    }
    if (numbers_that_differ(VECTOR_BITS(max_epu32)(most, largest), largest) != 0) {
        go_portable(&c->common, p, STEP, count);
        return;
    }
    store_vector(p.codes, round_group(&c->rounding, q, x, true, &over), stream);
    count->clipped += (unsigned)__builtin_popcountll(over);
}

DTI_INLINE void encode_loop(const struct encode *c, struct affine_place p, size_t n,
                            struct dti_quant_count *count, enum dti_quant_division division,
                            bool refined, bool columns, bool stream)
{
    size_t at = stream ? units_before_vector(p.codes, 1) : 0;
    if (at > 0)
        go_portable(&c->common, p, at, count);
    for (; n - at >= STEP; at += STEP) {
        prefetch_lines(p.x + 4 * at, c->common.ahead, 4 * STEP);
        encode_step(c, place_at(p, at, 1, columns), count, division, refined, columns, stream);
    }
    if (at < n)
        go_portable(&c->common, place_at(p, at, 1, columns), n - at, count);
}

/* Whether all limits of the codes and the scale are as quant_refined.h wants them. */
static bool refines(const struct encode *c)
{
    return c->common.args->encoder->min_exponent >= -30 && may_refine(c->common.scale);
}

DTI_INLINE void encode_by(const struct encode *c, struct affine_place p, size_t n,
                          struct dti_quant_count *count, bool columns, bool stream)
{
    if (c->common.args->affine->division == DTI_DIVIDE_RECIPROCAL)
        encode_loop(c, p, n, count, DTI_DIVIDE_RECIPROCAL, false, columns, stream);
    else if (!columns && refines(c))
        encode_loop(c, p, n, count, DTI_DIVIDE_TRUE, true, false, stream);
    else
        encode_loop(c, p, n, count, DTI_DIVIDE_TRUE, false, columns, stream);
}

DTI_INLINE void encode(const struct dti_affine_args *args, void *codes, const float *x, size_t n,
                       struct dti_quant_count *count, bool columns)
{
    const struct affine_place p = place_of(args, codes, x);
    struct encode c = {.common = affine_common(args, codes, n)};
    if (!suits(args)) {
        go_portable(&c.common, p, n, count);
        return;
    }
    c.rounding = rounding_init(args->encoder);
    if (c.common.stream)
        encode_by(&c, p, n, count, columns, true);
    else
        encode_by(&c, p, n, count, columns, false);
}

void VECTOR_NAME(dti_quantize_small)(const struct dti_affine_args *args, void *codes,
                                     const float *x, size_t n, struct dti_quant_count *count)
{
    encode(args, codes, x, n, count, false);
}

void VECTOR_NAME(dti_quantize_small_columns)(const struct dti_affine_args *args, void *codes,
                                             const float *x, size_t n,
                                             struct dti_quant_count *count)
{
    encode(args, codes, x, n, count, true);
}

DTI_INLINE void decode(const struct dti_affine_args *args, unsigned char *x,
                       const unsigned char *codes, size_t n, enum element element, bool stream)
{
    for (; n >= FLOAT_BLOCK; n -= FLOAT_BLOCK) {
        if (!float_block(x, codes, args->scale, element, stream))
            VECTOR_NAME(dti_dequantize_affine)
        (args, (float *)(void *)x, codes, FLOAT_BLOCK);
        x += 4 * FLOAT_BLOCK;
        codes += FLOAT_BLOCK;
    }
    if (n > 0)
        VECTOR_NAME(dti_dequantize_affine)(args, (float *)(void *)x, codes, n);
}

void VECTOR_NAME(dti_dequantize_small)(const struct dti_affine_args *args, float *x,
                                       const void *codes, size_t n)
{
    const struct dti_format *format = &args->affine->code;
    const bool stream = args->stream && (uintptr_t)x % VECTOR == 0;
    unsigned char *to = (unsigned char *)x;
    if (format->id == DTI_FP8_E4M3FN && is_number(args->scale * 256) && stream)
        decode(args, to, codes, n, E4M3, true);
    else if (format->id == DTI_FP8_E4M3FN && is_number(args->scale * 256))
        decode(args, to, codes, n, E4M3, false);
    else if (format->id == DTI_FP8_E5M2 && stream)
        decode(args, to, codes, n, E5M2, true);
    else if (format->id == DTI_FP8_E5M2)
        decode(args, to, codes, n, E5M2, false);
    else
        VECTOR_NAME(dti_dequantize_affine)(args, x, codes, n);
}

static struct numbers16 numbers_of(const struct dti_affine_args *args)
{
    static const unsigned char codes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct dti_affine_args plain = *args;
    float numbers[16];
    plain.scale = 1;
    VECTOR_NAME(dti_dequantize_affine)(&plain, numbers, codes, 16);
    const unsigned char *const from = (const unsigned char *)numbers;
    return (struct numbers16){load_floats(from), load_floats(from + 64 - VECTOR)};
}

void VECTOR_NAME(dti_dequantize_small_columns)(const struct dti_affine_args *args, float *x,
                                               const void *codes, size_t n)
{
    const unsigned char *const from = codes, *const scales = (const unsigned char *)args->scales;
    unsigned char *const to = (unsigned char *)x;
    size_t at = 0;
    if (args->affine->code.width == 4 && n >= LANES) {
        const struct numbers16 numbers = numbers_of(args);
        for (; n - at >= LANES; at += LANES) {
            const floats number = look_up(numbers, bytes_to_numbers(from + at));
            const floats scaled = VECTOR_BITS(mul_ps)(number, load_floats(scales + 4 * at));
            store_floats(to + 4 * at, plain_nans(scaled), false);
        }
    }
    if (at == n)
        return;
    struct dti_affine_args rest = *args;
    rest.scales += at;
    rest.inverses += at;
    rest.zero_points = rest.zero_points ? rest.zero_points + at : NULL;
    VECTOR_NAME(dti_dequantize_columns)(&rest, (float *)(void *)(to + 4 * at), from + at, n - at);
}
#endif
