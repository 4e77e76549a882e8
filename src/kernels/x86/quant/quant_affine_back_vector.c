/* SPDX-License-Identifier: MIT
 *
 * Integer codes of at most 16 bits -> fp32: (code - zero point) x scale. Flipping the sign bit
 * of a code adds half its range; the zero point compensates for that. */
#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
enum { STEP = 4 * LANES };

struct back {
    vector mask, sign, zero; /* replicated in all lanes */
    floats scale;
};

static struct back back_init(const struct dti_affine_args *args)
{
    const struct dti_format *format = &args->affine->code;
    const uint32_t sign = (uint32_t)dti_format_sign_bit(format);
    struct back c;
    c.mask = lanes_of((uint32_t)dti_low_bits(format->width));
    c.sign = lanes_of(sign);
    c.zero = lanes_of((uint32_t)args->zero_point + sign);
    c.scale = floats_of(args->scale);
    return c;
}

/* One vector of codes minus the zero point. */
DTI_INLINE floats numbers_of(const struct back *c, const unsigned char *codes, vector zero,
                             bool wide)
{
    const vector code = wide ? words_to_numbers(codes) : bytes_to_numbers(codes);
    const vector flipped = VECTOR_WHOLE(xor)(VECTOR_WHOLE(and)(code, c->mask), c->sign);
    return VECTOR_BITS(cvtepi32_ps)(VECTOR_BITS(sub_epi32)(flipped, zero));
}

DTI_INLINE void back_block(const void *constants, unsigned char *dst, const unsigned char *src,
                           bool stream, bool wide)
{
    const struct back *c = constants;
    for (size_t i = 0; i < 4; i++) {
        const floats number = numbers_of(c, src + i * LANES * (wide ? 2 : 1), c->zero, wide);
        store_floats(dst + i * VECTOR, VECTOR_BITS(mul_ps)(number, c->scale), stream);
    }
}

DTI_INLINE void bytes_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    back_block(constants, dst, src, stream, false);
}

DTI_INLINE void words_block(const void *constants, unsigned char *dst, const unsigned char *src,
                            bool stream)
{
    back_block(constants, dst, src, stream, true);
}

void VECTOR_NAME(dti_dequantize_int8)(const struct dti_affine_args *args, float *x,
                                      const void *codes, size_t n)
{
    const struct dti_blocks blocks = {bytes_block, STEP, 1, 4, true};
    const struct back c = back_init(args);
    dti_blocks_run(blocks, &c, x, codes, n, args->stream);
}

void VECTOR_NAME(dti_dequantize_int16)(const struct dti_affine_args *args, float *x,
                                       const void *codes, size_t n)
{
    const struct dti_blocks blocks = {words_block, STEP, 2, 4, true};
    const struct back c = back_init(args);
    dti_blocks_run(blocks, &c, x, codes, n, args->stream);
}

/* Processes n elements, fewer than a vector, with the portable kernel. */
static DTI_NOINLINE void go_portable(const struct dti_affine_args *given, unsigned char *x,
                                     const unsigned char *codes, size_t at, size_t n)
{
    struct dti_affine_args args = *given;
    args.scales += at;
    args.inverses = args.inverses ? args.inverses + at : NULL;
    args.zero_points = args.zero_points ? args.zero_points + at : NULL;
    VECTOR_NAME(dti_dequantize_columns)(&args, (float *)(void *)x, codes, n);
}

DTI_INLINE void columns(const struct dti_affine_args *args, float *x, const void *codes, size_t n,
                        bool wide, bool stream)
{
    const struct back c = back_init(args);
    const unsigned char *scales = (const unsigned char *)args->scales, *from = codes;
    const unsigned char *zeros = (const unsigned char *)args->zero_points;
    const size_t bytes = wide ? 2 : 1;
    unsigned char *to = (unsigned char *)x;
    size_t at = stream ? units_before_vector(to, 4) : 0;
    at = at < n ? at : n;
    if (at > 0)
        go_portable(args, to, from, 0, at);
    for (; n - at >= LANES; at += LANES) {
        const vector zero =
            zeros ? VECTOR_BITS(add_epi32)(load_vector(zeros + 4 * at), c.sign) : c.zero;
        const floats number = numbers_of(&c, from + bytes * at, zero, wide);
        store_floats(to + 4 * at, VECTOR_BITS(mul_ps)(number, load_floats(scales + 4 * at)),
                     stream);
    }
    if (at < n)
        go_portable(args, to + 4 * at, from + bytes * at, at, n - at);
}

#define COLUMNS(name, wide)                                                                 \
    void VECTOR_NAME(name)(const struct dti_affine_args *args, float *x, const void *codes, \
                           size_t n)                                                        \
    {                                                                                       \
        if (args->stream && (uintptr_t)x % sizeof *x == 0)                                  \
            columns(args, x, codes, n, wide, true);                                         \
        else                                                                                \
            columns(args, x, codes, n, wide, false);                                        \
    }
COLUMNS(dti_dequantize_int8_columns, false)
COLUMNS(dti_dequantize_int16_columns, true)
#endif
