/* SPDX-License-Identifier: MIT
 *
 * fp32 -> signed floats of at most 8 bits; small.h explains the method. Arm separates the halves of
 * a sum by UZP and joins them by MLA. What rounding alone does not give is replaced in bytes. */
#include "kernels/arm/neon.h"
#include "kernels/cast/small.h"
#include "kernels/kernels.h"

/* Results that the rounding alone does not give. */
enum fixes_neon { FIX_NOTHING, FIX_NAN, FIX_ALL /* also overflow, infinity and -0 */ };

struct small_neon {
    uint32x4_t top, least, magic; /* as in struct dti_small */
    uint16x8_t offset, factor;
    int16x8_t zeros; /* negative: a shift to the right */
    uint8x16_t top_code, sign, payload;
    uint8x16_t zero[2], overflow[2], inf[2], nan[2]; /* by sign */
    int8x16_t sign_shift;                            /* from the top of a byte, negative */
    int drop; /* from a number's payload to that of a code, negative */
};

DTI_INLINE uint32x4_t magnitude_of(uint32x4_t bits)
{
    return vbicq_u32(bits, vdupq_n_u32(UINT32_C(0x80000000)));
}

/* |x| + M, for |x| at most `top`. */
DTI_INLINE uint32x4_t rounded(const struct small_neon *c, uint32x4_t bits)
{
    const uint32x4_t x = vminq_u32(magnitude_of(bits), c->top);
    const uint32x4_t e = vmaxq_u32(vandq_u32(x, vdupq_n_u32(UINT32_C(0x7f800000))), c->least);
    const uint32x4_t m = vaddq_u32(e, c->magic);
    return vreinterpretq_u32_f32(vaddq_f32(vreinterpretq_f32_u32(x), vreinterpretq_f32_u32(m)));
}

/* The codes of eight numbers, without sign. */
DTI_INLINE uint16x8_t words_of(const struct small_neon *c, uint32x4_t a, uint32x4_t b)
{
    const uint32x4_t s = rounded(c, a), t = rounded(c, b);
    const uint16x8_t upper = vsubq_u16(neon_upper16(s, t), c->offset);
    return vshlq_u16(vmlaq_u16(upper, neon_lower16(s, t), c->factor), c->zeros);
}

DTI_INLINE uint8x16_t by_sign(const uint8x16_t pair[2], uint8x16_t negative)
{
    return vbslq_u8(negative, pair[1], pair[0]);
}

/* Replaces what is not a number within the range. tops: bytes with the signs of the numbers. */
DTI_INLINE uint8x16_t fixed(const struct small_neon *c, const uint32x4_t bits[4], uint8x16_t code,
                            uint8x16_t answer, uint8x16_t tops, enum fixes_neon fixes)
{
    const uint32x4_t inf = vdupq_n_u32(UINT32_C(0x7f800000));
    const uint8x16_t negative = vcltzq_s8(vreinterpretq_s8_u8(tops));
    uint32x4_t is_nan[4], is_inf[4], payload[4];
    for (unsigned i = 0; i < 4; i++) {
        is_nan[i] = vcgtq_u32(magnitude_of(bits[i]), inf);
        is_inf[i] = vceqq_u32(magnitude_of(bits[i]), inf);
        payload[i] = vshlq_u32(bits[i], vdupq_n_s32(c->drop));
    }
    if (fixes == FIX_ALL) {
        const uint8x16_t is_zero = vceqzq_u8(code);
        answer = vbslq_u8(is_zero, by_sign(c->zero, negative), answer);
        answer = vbslq_u8(vceqq_u8(code, c->top_code), by_sign(c->overflow, negative), answer);
        answer = vbslq_u8(neon_lowest8(is_inf), by_sign(c->inf, negative), answer);
    }
    const uint8x16_t kept = vandq_u8(neon_lowest8(payload), c->payload);
    return vbslq_u8(neon_lowest8(is_nan), vorrq_u8(by_sign(c->nan, negative), kept), answer);
}

DTI_INLINE void small_step(const struct small_neon *c, unsigned char *dst, const unsigned char *src,
                           enum fixes_neon fixes)
{
    uint32x4_t bits[4];
    for (unsigned i = 0; i < 4; i++)
        bits[i] = neon_load32(src + 16 * i);
    const uint8x16_t code =
        neon_lower8(words_of(c, bits[0], bits[1]), words_of(c, bits[2], bits[3]));
    const uint8x16_t tops =
        neon_upper8(neon_upper16(bits[0], bits[1]), neon_upper16(bits[2], bits[3]));
    const uint8x16_t signs = vshlq_u8(tops, c->sign_shift);
    uint8x16_t answer = vbslq_u8(c->sign, signs, code);
    if (fixes != FIX_NOTHING)
        answer = fixed(c, bits, code, answer, tops, fixes);
    vst1q_u8(dst, answer);
}

DTI_INLINE void plain_step(const void *constants, unsigned char *dst, const unsigned char *src)
{
    small_step(constants, dst, src, FIX_NOTHING);
}

DTI_INLINE void nan_step(const void *constants, unsigned char *dst, const unsigned char *src)
{
    small_step(constants, dst, src, FIX_NAN);
}

DTI_INLINE void all_step(const void *constants, unsigned char *dst, const unsigned char *src)
{
    small_step(constants, dst, src, FIX_ALL);
}

DTI_INLINE uint8x16_t bytes_of(uint64_t code)
{
    return vdupq_n_u8((uint8_t)code);
}

DTI_INLINE struct small_neon small_init(const struct dti_encoder *e, const struct dti_small *s)
{
    struct small_neon c = {.drop = (int)e->man_bits - 23};
    c.top = vdupq_n_u32(s->top);
    c.least = vdupq_n_u32(s->least);
    c.magic = vdupq_n_u32(s->magic);
    c.offset = vdupq_n_u16((uint16_t)s->offset);
    c.factor = vdupq_n_u16((uint16_t)(1U << s->zeros));
    c.zeros = vdupq_n_s16((int16_t) - (int)s->zeros);
    c.top_code = vdupq_n_u8(s->top_code);
    c.sign = bytes_of(e->sign_bit);
    c.payload = bytes_of(e->nan_payload);
    c.sign_shift = vdupq_n_s8((int8_t) - (int)s->sign_shift);
    for (unsigned i = 0; i < 2; i++) {
        c.zero[i] = bytes_of(e->zero[i]);
        c.overflow[i] = bytes_of(e->overflow[i]);
        c.inf[i] = bytes_of(e->inf[i]);
        c.nan[i] = bytes_of(e->nan[i]);
    }
    return c;
}

void dti_fp32_to_small_neon(const struct dti_kernel_args *args, void *restrict dst,
                            const void *restrict src, size_t n)
{
    const struct dti_small s = dti_small_init(args->encoder);
    const struct small_neon c = small_init(args->encoder, &s);
    if (!s.top_is_overflow || !s.top_is_inf || args->encoder->zero[1] == 0)
        neon_run(all_step, &c, dst, src, n, 4, 1);
    else if (s.top_is_nan)
        neon_run(plain_step, &c, dst, src, n, 4, 1);
    else
        neon_run(nan_step, &c, dst, src, n, 4, 1);
}
